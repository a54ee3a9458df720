"""``python -m intrinsic``: the command ``biasbridge audit``."""

from biasbridge.cli.audit import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

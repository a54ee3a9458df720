"""``python -m extrinsic``: the command ``biasbridge gaps``."""

from biasbridge.cli.gaps import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

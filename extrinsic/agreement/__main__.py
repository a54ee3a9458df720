"""``python -m extrinsic.agreement``: the command ``biasbridge agreement``."""

from biasbridge.cli.agreement import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

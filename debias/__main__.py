"""``python -m debias``: the command ``biasbridge debias``."""

from biasbridge.cli.debias import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

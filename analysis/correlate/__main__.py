"""``python -m analysis.correlate``: the command ``biasbridge correlate``."""

from biasbridge.cli.correlate import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

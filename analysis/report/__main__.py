"""``python -m analysis.report``: the command ``biasbridge report``."""

from biasbridge.cli.report import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

"""``python -m analysis.effects``: the command ``biasbridge effects``."""

from biasbridge.cli.effects import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

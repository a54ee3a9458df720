"""``python -m analysis.scatter``: the command ``biasbridge scatter``."""

from biasbridge.cli.scatter import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

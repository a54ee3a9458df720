"""``python -m studies.atlas``: the command ``biasbridge atlas``."""

from biasbridge.cli.atlas import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

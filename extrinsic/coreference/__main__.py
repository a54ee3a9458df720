"""``python -m extrinsic.coreference``: the command ``biasbridge coreference``."""

from biasbridge.cli.coreference import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

"""``python -m intrinsic.tsne``: the command ``biasbridge tsne``."""

from biasbridge.cli.tsne import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

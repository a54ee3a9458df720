"""Entry point of ``python -m train.engine.store``, the command ``biasbridge store``."""

from biasbridge.cli.store import main
from files import run_cli

if __name__ == "__main__":
    run_cli(main)

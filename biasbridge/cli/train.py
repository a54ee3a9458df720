"""``biasbridge train``: a point or a sweep, as ``train.py`` in a checkout."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Run the overrides; exit the process if the status is not 0."""
    from biasbridge.train.cli.start import start

    sys.argv = ["train.py", *arguments]
    start()
    return 0

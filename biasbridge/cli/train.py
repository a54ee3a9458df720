"""``biasbridge train``: a point or a sweep, as ``train.py`` in a checkout."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Run what the overrides ask for; ends the process with a status where that is not 0."""
    from train.start import start

    sys.argv = ["train.py", *arguments]
    start()
    return 0

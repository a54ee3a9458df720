"""Verbosity of a command (``--quiet``, default or ``--verbose``), through ``logging``.

The logger ``biasbridge`` logs the additions of ``--verbose`` at level INFO.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

LOG = logging.getLogger("biasbridge")
LEVELS = {"--verbose": logging.INFO, "--quiet": logging.ERROR}


def set_verbosity(arguments: Sequence[str]) -> list[str]:
    """Apply ``--verbose`` and ``--quiet``, and return the other arguments."""
    levels = [LEVELS[argument] for argument in arguments if argument in LEVELS]
    level = levels[-1] if levels else logging.WARNING
    logging.basicConfig(format="%(message)s", level=max(level, logging.WARNING))
    LOG.setLevel(level)
    return [argument for argument in arguments if argument not in LEVELS]


def is_verbose() -> bool:
    """Test whether ``--verbose`` was given."""
    return LOG.isEnabledFor(logging.INFO)


def is_quiet() -> bool:
    """Test whether ``--quiet`` was given."""
    return not LOG.isEnabledFor(logging.WARNING)

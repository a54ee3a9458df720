"""How much a command says: ``--quiet``, nothing, or ``--verbose``, through ``logging``.

The logger ``biasbridge`` has what ``--verbose`` adds, at the level INFO.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

LOG = logging.getLogger("biasbridge")
LEVELS = {"--verbose": logging.INFO, "--quiet": logging.ERROR}


def set_verbosity(arguments: Sequence[str]) -> list[str]:
    """The arguments without ``--verbose`` and ``--quiet``, which are obeyed from here on."""
    asked = [LEVELS[each] for each in arguments if each in LEVELS]
    level = asked[-1] if asked else logging.WARNING
    logging.basicConfig(format="%(message)s", level=max(level, logging.WARNING))
    LOG.setLevel(level)
    return [each for each in arguments if each not in LEVELS]


def is_verbose() -> bool:
    """Whether ``--verbose`` was given."""
    return LOG.isEnabledFor(logging.INFO)


def is_quiet() -> bool:
    """Whether ``--quiet`` was given."""
    return not LOG.isEnabledFor(logging.WARNING)

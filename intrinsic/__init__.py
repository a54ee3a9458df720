"""Bias metrics on word vectors, and the word sets they ask about. Light: importing the package loads no metric."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from intrinsic.conventions import CONVENTIONS, Convention
    from intrinsic.lookup import Found, find
    from intrinsic.permutation import PValue, exact_p, permutation_p, sampled_p
    from intrinsic.weat import Weat, associations, effect_size, statistic

# Public name -> its module, imported at first use: the word sets alone must not cost the import of numpy.
_HOME = {
    "CONVENTIONS": "conventions",
    "Convention": "conventions",
    "Found": "lookup",
    "PValue": "permutation",
    "Weat": "weat",
    "associations": "weat",
    "effect_size": "weat",
    "exact_p": "permutation",
    "find": "lookup",
    "permutation_p": "permutation",
    "sampled_p": "permutation",
    "statistic": "weat",
}

__all__ = [
    "CONVENTIONS",
    "Convention",
    "Found",
    "PValue",
    "Weat",
    "associations",
    "effect_size",
    "exact_p",
    "find",
    "permutation_p",
    "sampled_p",
    "statistic",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"intrinsic.{_HOME[name]}"), name)
    raise AttributeError(f"module 'intrinsic' has no attribute {name!r}")

"""Every debiasing method by name and by what it changes, for the command and Python: a line for a
new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from files import InputError, nearest
from files.choice import hints_of
from files.rooms import importable

METHODS: Mapping[str, Mapping[str, str]] = {
    "vectors": {
        "attract_repel": "debias.attract_repel.AttractRepel",
        "hard": "debias.hard.Hard",
        "double_hard": "debias.double_hard.DoubleHard",
        "oscar": "debias.oscar.Oscar",
    },
    "states": {
        "inlp": "debias.inlp.Inlp",
        "leace": "debias.leace.Leace",
        "sent_debias": "debias.sent_debias.SentDebias",
        "mean_difference": "debias.mean_difference.MeanDifference",
        "gbdd": "debias.gbdd.Gbdd",
        "bam": "debias.bam.Bam",
        "random_direction": "debias.random_direction.RandomDirection",
    },
    "model": {"steering": "debias.steering.Steering"},
    "text": {"balance": "debias.balance.Balance", "cda": "debias.cda.CounterfactualAugmentation"},
}
NAMES = tuple(name for methods in METHODS.values() for name in methods)
CHANGED = {
    "vectors": "word vectors",
    "states": "word vectors and hidden states",
    "model": "a causal language model",
    "text": "text",
}
ON_VECTORS, ON_MODELS = ("vectors", "states"), ("states", "model")


def make_method(name: str, acts_on: Sequence[str], /, **fields: Any) -> Any:
    """The method of a name with these fields, those that are None left out; of ``acts_on`` it
    changes one.

    Raises ``InputError`` for an unknown name, a method on something else, and fields that it has
    not or does not take.
    """
    if name not in NAMES:
        known = f"{nearest(name, NAMES)}; there are {', '.join(NAMES)}"
        raise InputError(f"unknown method {name!r}{known}")
    [(changes, path)] = [(on, every[name]) for on, every in METHODS.items() if name in every]
    if changes not in acts_on:
        those = ", ".join(each for on in acts_on for each in METHODS[on])
        what = "word vectors" if "vectors" in acts_on else "a language model"
        raise InputError(f"{name} acts on {CHANGED[changes]}; those on {what} are {those}")
    module, _, cls = path.rpartition(".")
    kind = getattr(import_module(importable(module)), cls)
    given = {field: value for field, value in fields.items() if value is not None}
    allowed = hints_of(kind)
    for field in given:
        if field not in allowed:
            has = f"{nearest(field, allowed)}; it has {', '.join(allowed)}"
            other = "; a negative dose overbiases" if field == "direction" else has
            raise InputError(f"{name} has no {field}{other}")
    if "direction" in allowed:
        given.setdefault("direction", "debias")
    return kind(**given)

"""Table of the debiasing methods by what they change and by name; a new method is a new line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from files import InputError, nearest
from files.choice import field_types
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
TARGET_NAMES = {
    "vectors": "word vectors",
    "states": "word vectors and hidden states",
    "model": "a causal language model",
    "text": "text",
}
VECTOR_KINDS, MODEL_KINDS = ("vectors", "states"), ("states", "model")


def make_method(name: str, acts_on: Sequence[str], /, **fields: Any) -> Any:
    """Build the method of a name, which must change something in ``acts_on``; fields that are None
    keep their defaults.

    Raises ``InputError`` for an unknown name, a method that changes something else, and unknown or
    invalid fields.
    """
    if name not in NAMES:
        allowed = f"{nearest(name, NAMES)}; there are {', '.join(NAMES)}"
        raise InputError(f"unknown method {name!r}{allowed}")
    changed = next(changed for changed, methods in METHODS.items() if name in methods)
    if changed not in acts_on:
        allowed = ", ".join(method for changed in acts_on for method in METHODS[changed])
        place = "word vectors" if "vectors" in acts_on else "a language model"
        raise InputError(f"{name} acts on {TARGET_NAMES[changed]}; methods on {place}: {allowed}")
    method_class = _class_of(name)
    options = {field: value for field, value in fields.items() if value is not None}
    known_fields = field_types(method_class)
    for field in options:
        if field not in known_fields:
            allowed = f"{nearest(field, known_fields)}; it has {', '.join(known_fields)}"
            remedy = "; a negative dose overbiases" if field == "direction" else allowed
            raise InputError(f"{name} has no {field}{remedy}")
    if "direction" in known_fields:
        options.setdefault("direction", "debias")
    return method_class(**options)


def family_of(name: str) -> str:
    """Return the family of a method by name; the name where it is not one of ``METHODS``."""
    return getattr(_class_of(name), "family", name) if name in NAMES else name


def _class_of(name: str) -> Any:
    path = next(methods[name] for methods in METHODS.values() if name in methods)
    module, _, cls = path.rpartition(".")
    return getattr(import_module(importable(module)), cls)

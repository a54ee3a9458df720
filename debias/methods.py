"""Debiasing methods by what they change and by name: every class of this package that is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from biasbridge.files import InputError, nearest
from biasbridge.files.choice import field_types, present_classes

_TARGET_NAMES = {
    "vectors": "word vectors",
    "states": "word vectors and hidden states",
    "model": "a causal language model",
    "text": "text",
}
VECTOR_KINDS, MODEL_KINDS = ("vectors", "states"), ("states", "model")
_PRESENT = present_classes("debias", "biasbridge.debias.")
METHODS: dict[str, dict[str, Any]] = {
    changed: {
        name: method for name, method in sorted(_PRESENT.items()) if method.acts_on == changed
    }
    for changed in _TARGET_NAMES
}


def _class_of(name: str) -> Any:
    """Return the class of a method by name; None if there is none."""
    return next((methods[name] for methods in METHODS.values() if name in methods), None)


def make_method(name: str, acts_on: Sequence[str], /, **fields: Any) -> Any:
    """Build a method that changes one of ``acts_on``; fields of None keep their defaults."""
    method_class = _class_of(name)
    if method_class is None:
        names = [name for methods in METHODS.values() for name in methods]
        raise InputError(
            f"unknown method {name!r}{nearest(name, names)}; there are {', '.join(names)}"
        )
    if (changed := method_class.acts_on) not in acts_on:
        allowed = ", ".join(method for changed in acts_on for method in METHODS[changed])
        place = "word vectors" if "vectors" in acts_on else "a language model"
        raise InputError(f"{name} acts on {_TARGET_NAMES[changed]}; methods on {place}: {allowed}")
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
    return getattr(_class_of(name), "family", name)

"""Plain configuration values to choices: each key checked against the dataclass it configures."""

from __future__ import annotations

import dataclasses
import importlib
import types
import typing
from collections.abc import Mapping
from typing import Any

from files import InputError, nearest
from train.point import Gaps, Point

CHOICES = ("corpus", "embedding", "debias", "words", "source", "groups", "classifier")
SETTINGS = (
    "name",
    "task",
    "seed",
    "replicate",
    "plan",
    "overwrite",
    "device",
    "gaps",
    "results",
    "store",
    "intrinsic",
    "size",
    "vectors",
)


def to_point(tree: Mapping[str, Any]) -> Point:
    """The point that a resolved configuration describes. Raises ``InputError`` for unknown keys and
    values of the wrong type.
    """
    known = (*CHOICES, *SETTINGS)
    for key in tree:
        if key not in known:
            raise InputError(
                f"unknown config key {key!r}{nearest(key, known)} Known keys:"
                f" {', '.join(sorted(known))}"
            )
    for name in ("seed", "replicate"):
        if isinstance(tree[name], bool) or not isinstance(tree[name], int):
            raise InputError(f"{name}={tree[name]!r}: give a whole number")
    chosen = {name: choose(tree[name], name) for name in CHOICES}
    metrics = {name: choose(node, f"intrinsic.{name}") for name, node in tree["intrinsic"].items()}
    gaps = build(Gaps, tree["gaps"], "gaps")
    return Point(
        experiment=tree["name"],
        task=tree["task"],
        seed=tree["seed"],
        intrinsic=metrics,
        gaps=gaps,
        replicate=tree["replicate"],
        **chosen,
    )


def choose(node: Mapping[str, Any], where: str) -> Any:
    """The choice that a node names by ``_target_``; None where it names none (``debias=none``,
    ``source=none``).
    """
    values = dict(node)
    target = values.pop("_target_", None)
    if target is None:
        if values.get("dose", 0) != 0:
            raise InputError(
                f"{where}.dose={values['dose']} without a method; choose one, for example"
                f" {where}=balance"
            )
        return None
    module, _, name = target.rpartition(".")
    try:
        cls = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"{where}._target_={target!r} cannot be imported ({error}); give package.module.Class"
        ) from error
    return build(cls, values, where)


def build(cls: type, values: Mapping[str, Any], where: str) -> Any:
    """An instance of a dataclass from plain values; lists become tuples."""
    fields = [field.name for field in dataclasses.fields(cls)]
    hints = typing.get_type_hints(cls)
    ready = {}
    for key, value in values.items():
        if key not in fields:
            raise InputError(
                f"unknown config key '{where}.{key}'{nearest(key, fields)} {cls.__name__} has:"
                f" {', '.join(fields)}"
            )
        value = _tuples(value)
        if not _fits(value, hints[key]):
            raise InputError(f"{where}.{key}={value!r}: expected {_spell(hints[key])}")
        ready[key] = float(value) if hints[key] is float else value
    return cls(**ready)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def _fits(value: Any, hint: Any) -> bool:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, arg) for arg in args)
    if origin is typing.Literal:
        return value in args
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, args[0]) for item in value)
    if hint is Any:
        return True
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, origin or hint)


def _spell(hint: Any) -> str:
    args = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        return "one of " + ", ".join(map(repr, args))
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")

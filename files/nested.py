"""Nested values from small files of strangers, YAML or JSON, within bounds on all that grows."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from files.errors import InputError
from files.text import read_lines

LARGEST = 16 << 20
DEEPEST = 20
MOST = 200_000
LONGEST_PLAIN = 1_000
TOO_DEEP = f"nested too deeply; allowed are {DEEPEST} lists and mappings within one another"
Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
# YAML's own errors, and what its constructors of numbers and dates let through.
MALFORMED = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)


def read_nested(path: str | Path) -> object:
    """Read a file as plain Python values; JSON by its suffix, else YAML.

    Raises ``InputError`` for what ``read_lines`` refuses, for a file that is not YAML or JSON, and
    for YAML, which is built by recursion in C, beyond the bounds of ``read_yaml``.
    """
    kind = "JSON" if Path(path).suffix == ".json" else "YAML"
    try:
        content: object
        if kind == "JSON":
            content = json.loads("\n".join(read_lines(path, largest=LARGEST)))
        else:
            content = yaml.load(read_yaml(path), Loader=Loader)
    except RecursionError:
        raise InputError(f"{path}: {TOO_DEEP}") from None
    except InputError:
        raise
    except MALFORMED as error:
        raise InputError(f"{path} is not valid {kind}: {' '.join(str(error).split())}") from None
    return content


def read_yaml(path: str | Path, *, most: int = MOST) -> str:
    """Read the text of a YAML file, which is not yet built.

    Raises ``InputError`` for what is no YAML, and beyond bounds on what it stands for: ``LARGEST``
    bytes, lists and mappings ``DEEPEST`` deep, ``most`` values, an alias counted as all that it
    stands for, and ``LONGEST_PLAIN`` characters without quotation marks, which may be a number.
    """
    text = "\n".join(read_lines(path, largest=LARGEST))
    try:
        problem = _beyond_bounds(text, most)
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if problem:
        raise InputError(f"{path}: {problem}")
    return text


def _beyond_bounds(text: str, most: int) -> str:
    """Return the first bound that YAML passes, and what to do; empty where it passes none."""
    sizes: dict[str | None, tuple[int, int]] = {}  # values and depth of what an anchor names
    around: list[tuple[str | None, int, int]] = [(None, 0, 0)]  # the same of what is still open
    for event in yaml.parse(text, Loader=Loader):
        line = f"line {event.start_mark.line + 1}" if event.start_mark else "the file"
        n_values = depth = 0
        if isinstance(event, yaml.CollectionStartEvent):
            around.append((event.anchor, 1, 1))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, n_values, depth = around.pop()
            sizes[anchor] = n_values, depth
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                return f"{line}: *{event.anchor} stands for no value before it; write it out"
            n_values, depth = sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            if not event.style and len(event.value) > LONGEST_PLAIN:
                long = f"{line}: {len(event.value):,} characters without quotation marks"
                return f"{long}, allowed are {LONGEST_PLAIN:,}; put them in such"
            n_values = 1 + len(event.value) // LONGEST_PLAIN
            sizes[event.anchor] = n_values, 0
        anchor, before, deepest = around[-1]
        around[-1] = anchor, before + n_values, max(deepest, depth + (len(around) > 1))
        if len(around) - 1 + depth > DEEPEST:
            return f"{line}: {TOO_DEEP}"
        if before + n_values > most:
            return f"{line}: more than {most:,} values, aliases written out; shorten it"
    return ""

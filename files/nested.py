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
Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
# YAML's own errors, and what its constructors of numbers and dates let through.
MALFORMED = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)


def read_nested(path: str | Path) -> object:
    """The content of a file as plain Python values; JSON by its suffix, else YAML.

    Raises ``InputError`` for what ``read_lines`` refuses, for a file that is not YAML or JSON, and
    beyond bounds: ``LARGEST`` bytes, lists and mappings ``DEEPEST`` deep, ``MOST`` values once
    every alias is written out, ``LONGEST_PLAIN`` characters in a value of YAML without quotation
    marks, which may be a number.
    """
    text = "\n".join(read_lines(path, largest=LARGEST))
    kind = "JSON" if Path(path).suffix == ".json" else "YAML"
    try:
        return _json(text) if kind == "JSON" else _yaml(text)
    except RecursionError:
        raise InputError(f"{path}: nested too deeply; {_deepest()}") from None
    except _BoundError as error:
        raise InputError(f"{path}: {error}") from None
    except MALFORMED as error:
        raise InputError(f"{path} is not valid {kind}: {' '.join(str(error).split())}") from None


class _BoundError(ValueError):
    """A bound is passed; the message says which, and what to do."""


def _json(text: str) -> object:
    content: object = json.loads(text)
    level, count = [content], 0
    for _ in range(DEEPEST + 1):
        count += len(level)
        level = [
            each
            for value in level
            if isinstance(value, dict | list)
            for each in (value.values() if isinstance(value, dict) else value)
        ]
    if level:
        raise _BoundError(f"nested too deeply; {_deepest()}")
    _check_count(count)
    return content


def _yaml(text: str) -> object:
    _check_events(text)  # libyaml builds by recursion in C, which no exception ends
    content: object = yaml.load(text, Loader=Loader)
    return content


def _check_events(text: str) -> None:
    """Raise ``_BoundError`` by what the events of the file would be built into."""
    sizes: dict[str, int] = {}  # values of what each anchor names, aliases written out
    opened: list[tuple[str, int]] = []
    count = 0
    for event in yaml.parse(text, Loader=Loader):
        line = f"line {event.start_mark.line + 1}" if event.start_mark else "the file"
        anchor = (event.anchor or "") if isinstance(event, yaml.NodeEvent) else ""
        if isinstance(event, yaml.AliasEvent):
            if any(anchor == above for above, _ in opened):
                raise _BoundError(f"{line}: *{anchor} holds itself; write it out")
            count += sizes.get(anchor, 1)
        elif isinstance(event, yaml.ScalarEvent):
            count += 1
            sizes[anchor] = 1
            if not event.style and len(event.value) > LONGEST_PLAIN:
                long = f"{line}: {len(event.value):,} characters without quotation marks"
                raise _BoundError(f"{long}, allowed are {LONGEST_PLAIN:,}; put them in such")
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append((anchor, count))
            count += 1
            if len(opened) > DEEPEST:
                raise _BoundError(f"{line}: nested too deeply; {_deepest()}")
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = opened.pop()
            sizes[anchor] = count - before
        _check_count(count)


def _check_count(count: int) -> None:
    if count > MOST:
        raise _BoundError(f"holds more than {MOST:,} values, aliases written out; shorten it")


def _deepest() -> str:
    return f"allowed are {DEEPEST} lists and mappings within one another"

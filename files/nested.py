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
    """The content of a file as plain Python values; JSON by its suffix, else YAML without aliases.

    Raises ``InputError`` for what ``read_lines`` refuses, for a file that is not YAML or JSON, and
    beyond bounds: ``LARGEST`` bytes, and in YAML, which is built by recursion in C, lists and
    mappings ``DEEPEST`` deep, ``MOST`` values, and ``LONGEST_PLAIN`` characters in a value without
    quotation marks, which may be a number.
    """
    text = "\n".join(read_lines(path, largest=LARGEST))
    kind = "JSON" if Path(path).suffix == ".json" else "YAML"
    try:
        content: object
        if kind == "JSON":
            content = json.loads(text)
        elif problem := _beyond_bounds(text):
            raise InputError(f"{path}: {problem}")
        else:
            content = yaml.load(text, Loader=Loader)
    except RecursionError:
        raise InputError(f"{path}: {TOO_DEEP}") from None
    except InputError:
        raise
    except MALFORMED as error:
        raise InputError(f"{path} is not valid {kind}: {' '.join(str(error).split())}") from None
    return content


def _beyond_bounds(text: str) -> str:
    """The first bound that YAML passes, and what to do; empty where it passes none."""
    depth = count = 0
    for event in yaml.parse(text, Loader=Loader):
        line = f"line {event.start_mark.line + 1}" if event.start_mark else "the file"
        count += isinstance(event, yaml.NodeEvent)
        if isinstance(event, yaml.AliasEvent):
            return f"{line}: *{event.anchor} stands for another value; write it out"
        if isinstance(event, yaml.ScalarEvent) and not event.style:
            if len(event.value) > LONGEST_PLAIN:
                long = f"{line}: {len(event.value):,} characters without quotation marks"
                return f"{long}, allowed are {LONGEST_PLAIN:,}; put them in such"
        elif isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                return f"{line}: {TOO_DEEP}"
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if count > MOST:
            return f"holds more than {MOST:,} values; shorten it"
    return ""

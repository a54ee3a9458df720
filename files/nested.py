"""Nested values from small files, YAML or JSON."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from biasbridge.files.errors import InputError
from biasbridge.files.text import read_lines

LARGEST = 16 << 20
MAX_DEPTH = 20
MERGE = "tag:yaml.org,2002:merge"  # the key <<
TOO_DEEP = f"nested too deeply; allowed are {MAX_DEPTH} lists and mappings within one another"
Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
# YAML's own errors, and those that its constructors of numbers and dates raise.
MALFORMED = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)


def read_nested(path: str | Path) -> object:
    """Read a file as plain Python values; JSON by its suffix, else YAML.

    Raises ``InputError`` as ``read_lines`` does, beyond ``LARGEST`` bytes and ``MAX_DEPTH`` levels,
    and for a file that is not YAML or JSON or gives a key twice in one mapping.
    """
    kind = "JSON" if Path(path).suffix == ".json" else "YAML"
    try:
        text = "\n".join(read_lines(path, largest=LARGEST))
        if kind == "JSON":
            content: object = json.loads(text, object_pairs_hook=_unique)
        else:
            _refuse_deep(text)
            _refuse_repeated(yaml.compose(text, Loader=Loader))
            content = yaml.load(text, Loader=Loader)
    except RecursionError:
        raise InputError(f"{path}: {TOO_DEEP}") from None
    except InputError:
        raise
    except MALFORMED as error:
        raise InputError(f"{path} is not valid {kind}: {' '.join(str(error).split())}") from None
    return content


def _refuse_deep(text: str) -> None:
    """Raise ``ValueError`` for YAML deeper than ``MAX_DEPTH``, which is built by recursion in C."""
    depth = 0
    for event in yaml.parse(text, Loader=Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            line = f"line {event.start_mark.line + 1}: " if event.start_mark else ""
            raise ValueError(f"{line}{TOO_DEEP}")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a JSON object. Raise ``ValueError`` for a key given twice: one value would be lost."""
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {repeated!r} is given twice in one object")
    return values


def _refuse_repeated(root: yaml.Node | None) -> None:
    """Raise ``ValueError`` for a key given twice in a YAML mapping."""
    nodes, seen = [root], set()
    while nodes:
        node = nodes.pop()
        if id(node) in seen or not isinstance(node, yaml.CollectionNode):
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys = set()
            for key, value in node.value:
                nodes += [key, value]
                if not isinstance(key, yaml.ScalarNode) or key.tag == MERGE:
                    continue
                if (key.tag, key.value) in keys:
                    line = f"line {key.start_mark.line + 1}: " if key.start_mark else ""
                    raise ValueError(f"{line}the key {key.value!r} is given twice in one mapping")
                keys.add((key.tag, key.value))
        else:
            nodes += node.value

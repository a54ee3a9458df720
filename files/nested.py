"""Nested values from small untrusted files, YAML or JSON, within bounds on their size."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from files.errors import InputError
from files.text import read_lines

LARGEST = 16 << 20
MAX_DEPTH = 20
MAX_VALUES = 200_000
LONGEST_PLAIN = 1_000
MERGE = "tag:yaml.org,2002:merge"  # the key <<
TOO_DEEP = f"nested too deeply; allowed are {MAX_DEPTH} lists and mappings within one another"
Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
# YAML's own errors, and those that its constructors of numbers and dates raise.
MALFORMED = (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)


def read_nested(path: str | Path) -> object:
    """Read a file as plain Python values; JSON by its suffix, else YAML.

    Raises ``InputError`` as ``read_lines`` does, for a file that is not YAML or JSON or gives a key
    twice in one mapping, and for YAML,
    which is built by recursion in C, beyond the bounds of ``read_yaml``.
    """
    kind = "JSON" if Path(path).suffix == ".json" else "YAML"
    try:
        content: object
        if kind == "JSON":
            text = "\n".join(read_lines(path, largest=LARGEST))
            content = json.loads(text, object_pairs_hook=_unique)
        else:
            text = read_yaml(path)
            _refuse_repeated(yaml.compose(text, Loader=Loader))
            content = yaml.load(text, Loader=Loader)
    except RecursionError:
        raise InputError(f"{path}: {TOO_DEEP}") from None
    except InputError:
        raise
    except MALFORMED as error:
        raise InputError(f"{path} is not valid {kind}: {' '.join(str(error).split())}") from None
    return content


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


def read_yaml(path: str | Path, *, max_values: int = MAX_VALUES) -> str:
    """Read the text of a YAML file without building its values.

    Raises ``InputError`` for invalid YAML and beyond these bounds: ``LARGEST`` bytes, lists and
    mappings ``MAX_DEPTH`` deep, ``max_values`` values (an alias counts as all its values), and
    ``LONGEST_PLAIN`` characters without quotation marks, which may be a number.
    """
    text = "\n".join(read_lines(path, largest=LARGEST))
    try:
        problem = _beyond_bounds(text, max_values)
    except yaml.YAMLError as error:
        raise InputError(f"{path} is not valid YAML: {' '.join(str(error).split())}") from None
    if problem:
        raise InputError(f"{path}: {problem}")
    return text


def _beyond_bounds(text: str, max_values: int) -> str:
    """Return the first exceeded bound, and what to do; empty if there is none."""
    sizes: dict[str | None, tuple[int, int]] = {}  # values and depth by anchor
    open_nodes: list[tuple[str | None, int, int]] = [(None, 0, 0)]  # anchor, values, depth
    for event in yaml.parse(text, Loader=Loader):
        line = f"line {event.start_mark.line + 1}" if event.start_mark else "the file"
        n_values = depth = 0
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, 1, 1))
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, n_values, depth = open_nodes.pop()
            sizes[anchor] = n_values, depth
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                return f"{line}: *{event.anchor} stands for no value before it; write it out"
            n_values, depth = sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            if not event.style and len(event.value) > LONGEST_PLAIN:
                problem = f"{line}: {len(event.value):,} characters without quotation marks"
                return f"{problem}, allowed are {LONGEST_PLAIN:,}; quote them"
            n_values = 1 + len(event.value) // LONGEST_PLAIN
            sizes[event.anchor] = n_values, 0
        anchor, before, deepest = open_nodes[-1]
        open_nodes[-1] = anchor, before + n_values, max(deepest, depth + (len(open_nodes) > 1))
        if len(open_nodes) - 1 + depth > MAX_DEPTH:
            return f"{line}: {TOO_DEEP}"
        if before + n_values > max_values:
            return f"{line}: more than {max_values:,} values, aliases written out; shorten it"
    return ""

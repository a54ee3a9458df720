"""Groups of items, read from columns of values, of 0 and 1, of several names a cell, and crossed.

A column of 0 and 1, or of true and false, is the group of its name; any other gives its values.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_list_like

from biasbridge.extrinsic.grouped_predictions import UNKNOWN, UNKNOWN_FLAG
from biasbridge.extrinsic.predictions import GROUP_SEPARATOR, LIST, find_column, problem_of_cell
from biasbridge.files import InputError
from biasbridge.files.names import (
    case_note,
    find_joined,
    first_spellings,
    is_missing,
    name_key,
    normalise_text,
)

if TYPE_CHECKING:
    from biasbridge.extrinsic.grouped_predictions import Mask
    from biasbridge.extrinsic.measures import Counts

Missing = Literal["no-group", "group", "drop"]
MISSING = "missing"
NOTES = {
    "no-group": "counted in no group, nor in its rest",
    "group": "in group 'missing'",
    "drop": "left out",
}
NOTES_OF_SEVERAL = NOTES | {
    "no-group": "in no group of that column, nor in its rest",
    "group": "in its group 'missing'",
}
BARE_LIST = re.compile(r"\[[^\d'\"]+(,[^\d'\"]+)+\]")  # [women, black]
TRUE, FALSE = {"1", "true"}, {"0", "false"}
SPOKEN = {"\\n": "\n"}  # as a shell passes a line end
MAX_CROSSED = 1_000
CROSSED_BY = " & "


class GroupColumn(NamedTuple):
    """Column of groups: all its ``groups``, those of each distinct cell, and, of each row, the
    number of its cell and whether that is empty. ``words``: texts that stand for empty cells.
    """

    groups: Sequence[str]
    cells: Sequence[Sequence[str]]
    code: Counts
    is_empty: Mask
    is_flag: bool = False
    words: Collection[str] = ()


@dataclass(frozen=True)
class GroupColumns:
    """Columns of groups, and how they are read: see ``biasbridge.gaps``.

    ``values``: names of groups; a column of 0 and 1 that holds one gives its values.
    """

    columns: Sequence[str]
    cross: Sequence[str] = ()
    separator: str = ""
    missing: Missing = "no-group"
    values: Collection[str] = ()

    def read(
        self, table: pd.DataFrame, min_support: int
    ) -> tuple[pd.Categorical, Mask, Sequence[str]]:
        """Return the groups of the rows that are kept, joined by ``GROUP_SEPARATOR``, whether each
        row is, and notes on empty cells and on crossed groups with fewer rows than ``min_support``.

        Raises ``InputError`` for a missing column, and for cells that hold no names.
        """
        names = dict.fromkeys((*self.columns, *self.cross))
        columns = _prefix_shared({name: self._read_column(table, name) for name in names})
        is_empty = np.any([column.is_empty for column in columns.values()], axis=0)
        kept = np.array(~is_empty | (self.missing != "drop"))
        read = [_name_unknown(columns[name]) for name in self.columns]
        crossed = None
        if self.cross:
            crossed = _name_unknown(_cross([columns[name] for name in self.cross]))
        notes = [_describe_small(crossed, kept, min_support)] if crossed else []
        if n_empty := int(is_empty.sum()):
            listed = " or ".join(map(repr, names))
            count = f"{n_empty:,} of {len(table):,} rows have an empty {listed}"
            meanings = NOTES_OF_SEVERAL if len(self.columns) > 1 else NOTES
            words = sorted({*chain(*(column.words for column in columns.values()))} - {""})
            count += f" ({', '.join(map(repr, words))} counts as empty)" if words else ""
            notes.insert(0, f"{count}: {meanings[self.missing]}")
        notes += [
            case_note(column.groups, f"groups of {name!r}") for name, column in columns.items()
        ]
        joined = _combine([*read, *([crossed] if crossed else [])], chain)
        return _as_categorical(joined, kept), kept, [note for note in notes if note]

    def _read_column(self, table: pd.DataFrame, column: str) -> GroupColumn:
        values = find_column(table, column)
        if values.dtype in (object, complex):
            values = values.map(lambda cell: _as_tuple(cell, column))
        code, distinct = pd.factorize(values.array, use_na_sentinel=False)
        named = {*map(name_key, self.values)}
        empty = [_is_empty(cell, named) for cell in distinct]
        texts = {str(cell) for cell, none in zip(distinct, empty, strict=True) if not none}
        keys = {*map(name_key, texts)}
        is_flag = {*map(str.lower, keys)} <= TRUE | FALSE and bool(keys) and not keys & named
        separator = SPOKEN.get(self.separator, self.separator)
        if not separator:
            _require_single_names(texts, column)

        def names_of(cell: object) -> Sequence[object]:
            if is_flag:
                return [column] if name_key(cell).lower() in TRUE else []
            if isinstance(cell, float):
                return [cell]
            parts = cell if isinstance(cell, tuple) else _split(str(cell), separator, column)
            return [part for part in parts if not _is_empty(part, named)]

        cells = [[] if none else names_of(x) for x, none in zip(distinct, empty, strict=True)]
        spellings = {name_key(column): column} if is_flag else first_spellings(chain(*cells))
        spelled = [[*dict.fromkeys(spellings[name_key(name)] for name in names)] for names in cells]
        groups = {*chain(*spelled), *([column] if is_flag else [])}
        # Without a name in it, a cell of several names, or the one row of an item, is in no group
        may_be_none = bool(separator) or ("id" in table and bool(table["id"].duplicated().any()))
        unknown = [UNKNOWN] if is_flag or not may_be_none else []
        without = {"no-group": unknown, "group": [MISSING], "drop": []}[self.missing]
        spelled = [without if none else x for x, none in zip(spelled, empty, strict=True)]
        groups |= {*without} - {UNKNOWN} if any(empty) else set()
        pairs = zip(distinct, empty, strict=True)
        words = {normalise_text(str(cell)) for cell, none in pairs if none and not pd.isna(cell)}
        small_code = code.astype(np.min_scalar_type(-len(distinct)))
        is_empty = np.array(empty)[code]
        return GroupColumn(sorted(groups), spelled, small_code, is_empty, is_flag, words)


def _is_empty(cell: Any, named: Collection[str] = ()) -> bool:
    """Return whether a cell has no name; ``NA`` is one where it is ``named``."""
    if isinstance(cell, tuple):
        return False
    return bool(pd.isna(cell)) or (is_missing(cell) and name_key(cell) not in {*named} - {""})


def _as_tuple(cell: object, column: str) -> object:
    """Return a cell, a list as the tuple of its names."""
    is_list = is_list_like(cell) and not isinstance(cell, dict)
    items: list[object] = list(cell) if is_list else [cell]  # type: ignore[call-overload]
    for item in items:
        if is_list_like(item) or isinstance(item, bytes | complex):
            raise InputError(f"{problem_of_cell(column, item)}; give a name, or a list of names")
    names = (str(item) for item in items if not _is_empty(item))
    return tuple(dict.fromkeys(names)) if is_list else cell


def _require_single_names(texts: Collection[str], column: str) -> None:
    """Raise ``InputError`` for texts that are lists of names without quotation marks, and for those
    that join the name of another text by a separator.
    """
    for text in sorted(texts):
        if BARE_LIST.fullmatch(text):
            problem = f"column {column!r} holds {text!r}, a list without quotation marks"
            raise InputError(f"{problem}; write it like ['A', 'B'], or rename the group")
    if joined := find_joined(texts):
        text, name, joint = joined
        raise InputError(  # repr: a line end as \n
            f"column {column!r} holds {text!r} and {name!r}; give --group-sep {joint!r}"
            " (group_sep=) if a cell names several groups, or rename one"
        )


def _split(text: str, separator: str, column: str) -> Sequence[str]:
    """Return the names in a cell of text."""
    if text == "[]" or LIST.fullmatch(text):
        return _read_list(text, column)
    return text.split(separator) if separator else [text]


def _read_list(text: str, column: str) -> list[str]:
    """Read the names of a list written as text: ['A', 'B'], or as NumPy writes it, ['A' 'B']."""
    names = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.STRING:
                names.append(str(ast.literal_eval(token.string)))
            elif token.string.strip() not in ("", "[", "]", ",", "None", "nan"):
                raise ValueError(token.string)
    except (ValueError, SyntaxError) as error:
        problem = f"column {column!r} holds {text!r}, which is no list of names"
        raise InputError(f"{problem}; write it like ['A', 'B']") from error
    return names


def _name_unknown(column: GroupColumn) -> GroupColumn:
    """Name the unknown group of an empty cell after the groups of the column that it may be."""
    name = (UNKNOWN_FLAG if column.is_flag else UNKNOWN) + UNKNOWN.join(column.groups)
    cells = [[name] if any(UNKNOWN in part for part in cell) else cell for cell in column.cells]
    return column._replace(cells=cells)


def _prefix_shared(columns: Mapping[str, GroupColumn]) -> dict[str, GroupColumn]:
    """Name groups ``column=group`` where two columns share the name, unless it is the column's."""
    n_columns = Counter(name for column in columns.values() for name in column.groups)

    def rename(column: str, names: Sequence[str]) -> list[str]:
        unique = {name for name in names if n_columns[name] == 1 or name == column}
        return [name if name in unique else f"{column}={name}" for name in names]

    renamed = {}
    for name, column in columns.items():
        cells = [rename(name, cell) for cell in column.cells]
        renamed[name] = column._replace(groups=rename(name, column.groups), cells=cells)
    return renamed


def _cross(columns: Sequence[GroupColumn]) -> GroupColumn:
    """Return the crossed groups of columns, ``a & b``; ``groups`` has those without items too."""
    if (n_crossed := prod(len(column.groups) for column in columns)) > MAX_CROSSED:
        raise InputError(
            f"crossing gives {n_crossed:,} groups, allowed are {MAX_CROSSED:,}; cross columns with"
            " fewer values"
        )
    return _combine(columns, lambda a, b: map(CROSSED_BY.join, product(a, b)))


def _combine(
    columns: Sequence[GroupColumn],
    join: Callable[[Sequence[str], Sequence[str]], Iterable[str]],
) -> GroupColumn:
    """Return one column with a cell for each distinct row of cells, whose groups are joined."""
    combined, *others = columns
    for column in others:
        n = len(column.cells)
        code, pairs = pd.factorize(combined.code.astype(np.int64) * n + column.code)
        cells = [
            [*join(combined.cells[pair // n], column.cells[pair % n])] for pair in pairs.tolist()
        ]
        groups = [*join(combined.groups, column.groups)]
        combined = GroupColumn(groups, cells, code, column.is_empty)
    return combined


def _describe_small(crossed: GroupColumn, kept: Mask, min_support: int) -> str:
    """Return which crossed groups have fewer rows than ``min_support``; empty if none has."""
    n_rows = np.bincount(crossed.code[kept], minlength=len(crossed.cells)).tolist()
    counts = dict.fromkeys(crossed.groups, 0)
    for names, n in zip(crossed.cells, n_rows, strict=True):
        for name in counts.keys() & {*names}:
            counts[name] += n
    small = [f"{name} ({n})" for name, n in counts.items() if n < min_support]
    count = f"{len(small)} of {len(counts)} crossed groups"
    return f"{count} have fewer than {min_support} items: {', '.join(small)}" if small else ""


def _as_categorical(column: GroupColumn, kept: Mask) -> pd.Categorical:
    """Return the groups of the kept rows, joined; every group is a category, used or not."""
    texts = [GROUP_SEPARATOR.join(names) for names in column.cells]
    categories = [*dict.fromkeys(filter(None, (*texts, *column.groups)))]
    index = {text: number for number, text in enumerate(categories)} | {"": -1}
    codes = np.array([index[text] for text in texts], dtype=np.int64)[column.code[kept]]
    joined: pd.Categorical = pd.Categorical.from_codes(codes, categories)  # type: ignore[call-overload]
    return joined

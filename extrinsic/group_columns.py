"""Columns of groups: the names in each cell, one or several, and columns joined and crossed.

A column of 0 and 1, or of true and false, is the group of its name; any other column of groups
gives its values.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_list_like

from biasbridge.extrinsic.grouped_predictions import UNKNOWN, UNKNOWN_FLAG
from biasbridge.files import InputError
from biasbridge.files.columns import (
    are_flags,
    binary_key,
    describe_nested,
    find_column,
    find_joined,
    first_spellings,
    is_missing,
    name_key,
)
from biasbridge.files.group_names import CROSSED_BY
from biasbridge.files.language import normalise_text

if TYPE_CHECKING:
    from biasbridge.extrinsic.grouped_predictions import Mask
    from biasbridge.extrinsic.measures import Counts

_MAX_CROSSED = 1_000
# A list of names as text, ['A', 'B']; [male] is a name, [women, black] lacks quotation marks
LIST = re.compile(r"""\[\s*(['"]).*\1\s*\]""", re.DOTALL)
_BARE_LIST = re.compile(r"\[[^\d'\"]+(,[^\d'\"]+)+\]")


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

    def with_empty(self, names: Sequence[str]) -> GroupColumn:
        """Return the column whose empty cells have these names."""
        is_empty = {*np.unique(self.code[self.is_empty]).tolist()}
        cells = [names if code in is_empty else cell for code, cell in enumerate(self.cells)]
        return self._replace(cells=cells)

    @property
    def has_unknown(self) -> bool:
        """Whether the groups of empty cells are unknown; else these cells are in no group."""
        return any(self.cells[code] for code in np.unique(self.code[self.is_empty]))

    def without(self, left_out: Collection[str]) -> GroupColumn:
        """Return the column without some of its groups."""
        groups, *cells = (
            [name for name in names if name not in left_out] for names in (self.groups, *self.cells)
        )
        return self._replace(groups=groups, cells=cells)


def read_groups(
    table: pd.DataFrame, column: str, named: Collection[str] = (), separator: str = ""
) -> GroupColumn:
    """Read a column of groups. A column of 0 and 1 gives its values if one is ``named`` as a group;
    the cells that are empty have no groups.
    """
    values = find_column(table, column)
    if values.dtype in (object, complex):
        values = values.map(lambda cell: _as_tuple(cell, column))
    code, distinct = pd.factorize(values.array, use_na_sentinel=False)
    empty = np.array([_is_empty(cell, named) for cell in distinct], dtype=bool)
    texts = {*map(str, distinct[~empty])}
    keys = {*map(name_key, texts)}
    is_flag = are_flags(keys) and not keys & {*named}
    if not separator:
        _require_single_names(texts, column)

    def names_of(cell: object) -> Sequence[object]:
        if is_flag:
            return [column] if binary_key(cell) == "1" else []
        if isinstance(cell, float):
            return [cell]
        parts = cell if isinstance(cell, tuple) else _split(str(cell), separator, column)
        return [part for part in parts if not _is_empty(part, named)]

    cells = [[] if blank else names_of(cell) for cell, blank in zip(distinct, empty, strict=True)]
    spellings = {name_key(column): column} if is_flag else first_spellings(chain(*cells))
    spelled = [[*dict.fromkeys(spellings[name_key(name)] for name in names)] for names in cells]
    groups = {*chain(*spelled), *([column] if is_flag else [])}
    words = {normalise_text(str(cell)) for cell in distinct[empty] if not pd.isna(cell)}
    small_code = code.astype(np.min_scalar_type(-len(distinct)))
    return GroupColumn(sorted(groups), spelled, small_code, empty[code], is_flag, words)


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
            raise InputError(f"{describe_nested(column, item)}; give a name, or a list of names")
    names = (str(item) for item in items if not _is_empty(item))
    return tuple(dict.fromkeys(names)) if is_list else cell


def _require_single_names(texts: Collection[str], column: str) -> None:
    """Raise ``InputError`` for texts that are lists of names without quotation marks, and for those
    that join the name of another text by a separator.
    """
    for text in sorted(texts):
        if _BARE_LIST.fullmatch(text):
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
        problem = f"column {column!r} holds {text!r}, which is not a list of names"
        raise InputError(f"{problem}; write it like ['A', 'B']") from error
    return names


def name_unknown(column: GroupColumn) -> GroupColumn:
    """Name the unknown group of an empty cell after the groups of the column that it may be."""
    name = (UNKNOWN_FLAG if column.is_flag else UNKNOWN) + UNKNOWN.join(column.groups)
    cells = [[name] if any(UNKNOWN in part for part in cell) else cell for cell in column.cells]
    return column._replace(cells=cells)


def prefix_shared(columns: Mapping[str, GroupColumn]) -> dict[str, GroupColumn]:
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


def cross_all(sets: Sequence[Sequence[GroupColumn]]) -> list[GroupColumn]:
    """Return the crossed groups of each set of columns, ``a & b``; ``groups`` has those without
    items too.
    """
    n_crossed = sum(prod(len(column.groups) for column in columns) for columns in sets)
    if n_crossed > _MAX_CROSSED:
        raise InputError(
            f"crossing gives {n_crossed:,} groups, allowed are {_MAX_CROSSED:,}; cross columns with"
            " fewer values"
        )
    return [combine(columns, lambda a, b: map(CROSSED_BY.join, product(a, b))) for columns in sets]


def combine(
    columns: Sequence[GroupColumn], join: Callable[[Sequence[str], Sequence[str]], Iterable[str]]
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
        combined = GroupColumn(groups, cells, code, combined.is_empty | column.is_empty)
    return combined


def count_rows(column: GroupColumn, among: Mask) -> dict[str, int]:
    """Count the rows of each group ``among`` some."""
    n_rows = np.bincount(column.code[among], minlength=len(column.cells)).tolist()
    counts = dict.fromkeys(column.groups, 0)
    for names, n in zip(column.cells, n_rows, strict=True):
        for name in counts.keys() & {*names}:
            counts[name] += n
    return counts


def describe_small(n_rows: Mapping[str, int], min_support: int) -> str:
    """Return which crossed groups have fewer rows than ``min_support``; empty if none has."""
    small = [f"{name} ({n})" for name, n in n_rows.items() if n < min_support]
    count = f"{len(small)} of {len(n_rows)} crossed groups"
    return f"{count} have fewer than {min_support} items: {', '.join(small)}" if small else ""

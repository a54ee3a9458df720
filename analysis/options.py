"""Options of a sweep that no other column holds, such as ``modified.epochs``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from analysis.frame import positions, text_rows, texts
from files import InputError

if TYPE_CHECKING:
    import pandas as pd

# Of the unmodified embedding, of what modifies it, of the task
OPTIONS = ("parent_options", "method_options", "task_options")


def with_varied(points: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The points with those options alone, ``modified.epochs=1``, that differ between points which
    are the same in ``columns``; empty text where there are none.
    """
    alike = list(positions(text_rows(points, columns)).values())
    found = {}
    for name in OPTIONS:
        cells = texts(points, name)
        known = {cell: options_of(cell) for cell in dict.fromkeys(cells)}
        rows = [known[cell] for cell in cells]
        varied: dict[str, None] = {}
        for places in alike:
            group = [rows[place] for place in places]
            for option in dict.fromkeys(option for row in group for option in row):
                if any(row.get(option) != group[0].get(option) for row in group):
                    varied[option] = None
        found[name] = [
            " ".join(f"{option}={row[option]}" for option in sorted(varied) if option in row)
            for row in rows
        ]
    return points.assign(**found)


def options_of(text: str) -> Mapping[str, str]:
    """The options in a cell, texts as they are and others as JSON. Raises ``InputError`` for a cell
    that holds none.
    """
    if not text:
        return {}
    found: object = None
    with suppress(ValueError, RecursionError):
        found = json.loads(text)
    if not isinstance(found, dict):
        raise InputError(f"a column of options holds {text[:80]!r}; run the experiment again")
    return {
        str(name): value if isinstance(value, str) else json.dumps(value)
        for name, value in found.items()
    }

"""Options of a sweep without a column of their own, such as ``modified.epochs``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from biasbridge.analysis.frame import as_text, group_indices, text_rows
from biasbridge.files import InputError

if TYPE_CHECKING:
    import pandas as pd

# Options of the unmodified embedding, of its modification, of the task
OPTIONS = ("parent_options", "method_options", "task_options")


def keep_varying_options(points: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Keep only the options, ``modified.epochs=1``, that differ between points with the same values
    in ``columns``; empty text where there are none.
    """
    groups = list(group_indices(text_rows(points, columns)).values())
    varied_columns = {}
    for name in OPTIONS:
        cells = as_text(points, name)
        parsed = {cell: options_of(cell) for cell in dict.fromkeys(cells)}
        rows = [parsed[cell] for cell in cells]
        varied: dict[str, None] = {}
        for members in groups:
            group_rows = [rows[place] for place in members]
            for option in dict.fromkeys(option for row in group_rows for option in row):
                if any(row.get(option) != group_rows[0].get(option) for row in group_rows):
                    varied[option] = None
        varied_columns[name] = [
            " ".join(f"{option}={row[option]}" for option in sorted(varied) if option in row)
            for row in rows
        ]
    return points.assign(**varied_columns)


def options_of(text: str) -> Mapping[str, str]:
    """Return the options in a cell. Raise ``InputError`` for a cell that holds none."""
    if not text:
        return {}
    options: object = None
    with suppress(ValueError, RecursionError):
        options = json.loads(text)
    if not isinstance(options, dict):
        raise InputError(f"a column of options holds {text[:80]!r}; run the experiment again")
    return {
        str(name): value if isinstance(value, str) else json.dumps(value)
        for name, value in options.items()
    }

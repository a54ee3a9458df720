"""The tables that functions return: notebooks show their main columns, and their notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

import pandas as pd

from biasbridge.files.writers import Document, text_table

_MAX_COLUMNS = 10  # that are shown
_MAX_NOTES = 5
# By function: what a reader looks at, in order; blank columns are skipped
_GAP = "privileged unprivileged value low high"
_MAIN: Mapping[str, str] = {
    "audit": "vectors metric convention query part value low high p n_found n_oov certificate",
    "bbq": "category convention context accuracy score low high n n_not_unknown reason",
    "certify": "metric convention subject query models slope slope_low slope_high verdict why",
    "correlate": "metric query measure method n change change_low change_high verdict r_rm",
    "effects": "side metric query measure method direction dose effect effect_low effect_high",
    "gaps": f"classifier subset earlier kind measure group {_GAP} support reason",
    "read_results": "method direction dose seed metric query measure x y utility",
    "relate": "metric query measure subset score_low score_high change change_low change_high"
    " verdict",
    "thresholds": f"threshold f1 measure {_GAP} low_simultaneous high_simultaneous reason",
}


def _all_columns() -> pd.option_context:
    return pd.option_context("display.max_columns", _MAX_COLUMNS)


class ResultTable(pd.DataFrame):
    """A table of which at most ten columns are displayed; it holds all of them."""

    _metadata = ["function"]  # noqa: RUF012 - as pandas declares it; rows of a table keep it
    function: str
    has_notes = False  # rows and columns of a table are displayed without its notes

    @property
    def _constructor(self) -> type[ResultTable]:
        return ResultTable

    def __repr__(self) -> str:
        with _all_columns():
            return "\n".join([repr(self._short()), *self._lines()])

    def _repr_html_(self) -> str:
        lines = "".join(f"<p>{escape(line)}</p>" for line in self._lines())
        with _all_columns():
            return f"{self._short()._repr_html_()}{lines}"  # type: ignore[operator]

    def _short(self) -> pd.DataFrame:
        return pd.DataFrame(self)[main_columns(self, getattr(self, "function", ""))]

    def _lines(self) -> Iterator[str]:
        if not self.has_notes:
            return
        notes = self.attrs.get("notes", [])
        yield from (f"note: {note}" for note in notes[:_MAX_NOTES])
        if more := notes[_MAX_NOTES:]:
            yield f'{len(more)} more in attrs["notes"]'
        shown = self._short().columns
        if hidden := [str(name) for name in self.columns if name not in shown]:
            yield f"further columns: {', '.join(hidden)}"


def main_columns(table: pd.DataFrame, function: str) -> list[str]:
    """Return the columns of a function's table that are displayed, at most ten."""
    if len(table.columns) <= _MAX_COLUMNS:
        return [*table]
    main = [name for name in _MAIN.get(function, "").split() if name in table] or [*table]
    is_blank = pd.DataFrame(table)[main].replace("", None).isna().all()
    return [name for name in main if not is_blank[name]][:_MAX_COLUMNS]


def main_document(table: pd.DataFrame, function: str) -> Document:
    """Return the main columns of a function's table, and its notes, as text."""
    main = text_table("", table[main_columns(table, function)])
    return Document((), (), [main], table.attrs.get("notes", ()))


def as_result(table: pd.DataFrame, function: str) -> ResultTable:
    """Return the table that a function made, to be displayed."""
    result = ResultTable(table)
    result.attrs = table.attrs
    object.__setattr__(result, "function", function)
    object.__setattr__(result, "has_notes", True)
    return result

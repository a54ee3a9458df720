"""The table that ``biasbridge.gaps`` returns: displayed as on the terminal, with its decision."""

from __future__ import annotations

from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError
from biasbridge.result_table import ResultTable

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.extrinsic.claims import Decision
    from biasbridge.prediction_tables import MeasuredGaps


class GapTable(ResultTable):
    """The table of :func:`biasbridge.gaps`, displayed as on the terminal.

    ``decision`` is whether to release the last version, and why. A part of the table, and one that
    was pickled, has none.
    """

    _measured: MeasuredGaps | None = None

    @property
    def decision(self) -> Decision:
        """Whether to release the last version, and why."""
        return self.measured.decision

    def report(self, path: str | Path) -> Path:
        """Write the page."""
        return self.measured.report(Path(path))

    @property
    def measured(self) -> MeasuredGaps:
        """The rows as measured, with what they are made from."""
        if self._measured is None:
            raise InputError("this table is a copy; ask the table that gaps() returned")
        return self._measured

    def __repr__(self) -> str:
        if self._measured is None:
            return super().__repr__()
        from biasbridge.files.terminal import open_console

        text = StringIO()
        self._measured.print(open_console(file=text, width=100))
        return "\n".join([text.getvalue().rstrip(), *self._lines()])

    def _repr_html_(self) -> str:
        return (
            super()._repr_html_() if self._measured is None else f"<pre>{escape(repr(self))}</pre>"
        )


def as_gap_table(table: pd.DataFrame, measured: MeasuredGaps) -> GapTable:
    """Return the table of what was measured."""
    result = GapTable(table)
    result.attrs = table.attrs
    for name, value in (("function", "gaps"), ("has_notes", True), ("_measured", measured)):
        object.__setattr__(result, name, value)
    return result

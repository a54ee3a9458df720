"""Tables are displayed in short, with their notes; they hold every column."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd
import pytest

import biasbridge
from biasbridge import audit, bbq, correlate, effects, gaps, plot, read_results, thresholds
from biasbridge.files import InputError
from biasbridge.result_table import _MAIN, ResultTable
from tests.extrinsic.bbq_items import item

RUN = Path(__file__).resolve().parent.parent / "docs" / "runs" / "transfer_minilm"
ITEMS = pd.DataFrame({"label": [0, 1] * 40, "group": ["a"] * 40 + ["b"] * 40})
ITEMS = ITEMS.assign(prediction=[0, 1, 1, 1] * 20, score=range(80))
WORDS = {"X": ["he", "him"], "Y": ["she", "her"], "A": ["job"], "B": ["home"]}
VECTORS = {word: [n % 3 + 1.0, n % 5, n] for n, word in enumerate(sum(WORDS.values(), ["one"]))}
ANSWERS = [row | {"answer": row["ans0"]} for row in map(item, range(16))]
TABLES: dict[str, Callable[[], pd.DataFrame]] = {
    "audit": lambda: audit(VECTORS, WORDS, metrics="weat", min_found=0),
    "bbq": lambda: bbq(pd.DataFrame(ANSWERS)),
    "correlate": lambda: correlate(RUN),
    "effects": lambda: effects(RUN),
    "gaps": lambda: gaps(ITEMS, pred="prediction"),
    "read_results": lambda: read_results(RUN),
    "thresholds": lambda: thresholds(ITEMS),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_shows_ten_columns_and_its_notes(name: str) -> None:
    table = TABLES[name]()
    assert isinstance(table, ResultTable)
    assert len(table.columns) > 10
    table.attrs["notes"] = ["a < b"]
    page = table._repr_html_()
    if name != "gaps":  # displayed as on the terminal
        assert page.partition("</thead>")[0].count("<th>") <= 11  # of the index too
    assert "note: a &lt; b" in page
    assert "note: a < b" in repr(table)
    shown = repr(table) + " ".join(_MAIN[name].split() * (name == "gaps"))
    assert all(str(column) in shown for column in table.columns)  # shown or listed


@pytest.mark.parametrize("name", TABLES)
def test_the_main_columns_are_columns_of_the_table(name: str) -> None:
    extra = {"classifier", "earlier", "subset"}  # of gaps of several classifiers and classes
    assert {*_MAIN[name].split()} - extra <= {*TABLES[name]().columns}


def test_functions_of_the_list_exist() -> None:
    assert all(callable(getattr(biasbridge, name)) for name in _MAIN)


def heads(table: pd.DataFrame) -> int:
    """Number of columns of the page, with the index."""
    page: str = ResultTable._repr_html_(table)  # type: ignore[arg-type]
    return page.partition("</thead>")[0].count("<th>")


def test_rows_and_columns_are_displayed_without_the_notes() -> None:
    table = gaps(ITEMS)
    table.attrs["notes"] = ["once"]
    rows, columns = table[table["kind"] == "gap"], table[["value", "p_holm"]]
    assert isinstance(rows, ResultTable)
    assert heads(rows) <= 11
    assert [*columns] == ["value", "p_holm"]
    assert heads(columns) == 3
    assert "once" not in repr(rows) + repr(columns)
    again = pickle.loads(pickle.dumps(table))  # noqa: S301 - our own
    pd.testing.assert_frame_equal(again, table)
    assert "recall" in repr(again)
    with pytest.raises(InputError, match="this table is a copy"):
        again.decision  # noqa: B018 - a property


def test_a_chart_comes_with_its_picture_unless_a_renderer_was_chosen() -> None:
    chart: Any = plot.gaps(gaps(ITEMS))
    with alt.renderers.enable("mimetype"):
        assert "image/png" not in chart._repr_mimebundle_(None, None)
    bundle, sizes = chart._repr_mimebundle_(None, None)
    assert {*bundle} == {"application/vnd.vegalite.v6+json", "image/png", "text/plain"}
    assert 300 < sizes["image/png"]["width"] < 900

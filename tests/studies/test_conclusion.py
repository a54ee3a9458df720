"""How studies of the instruments are shown: a page whole in one file, safe whatever tables hold."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import altair as alt
import pandas as pd
import pytest
from rich.console import Console

from biasbridge.analysis.charts import STAMP
from biasbridge.analysis.results import Tables
from biasbridge.analysis.terminal import as_text_columns
from biasbridge.studies.base_pairs.study import BasePairs
from biasbridge.studies.certificate.study import Certificate
from biasbridge.studies.conclusion import MAX_ROWS, Conclusion, conclude
from biasbridge.studies.control.study import Control
from biasbridge.studies.score_properties.study import ScoreProperties
from biasbridge.studies.silhouettes.study import SilhouetteAnalysis

if TYPE_CHECKING:
    from biasbridge.analysis.study import Study

POINTS = pd.DataFrame({"point": ["a", "b"], "status": ["done", "failed"], "generated": True})
SCORES = pd.DataFrame({"point": ["a"], "metric": ["weat"], "query": ["q"], "value": [1.0]})
PROBES = pd.DataFrame({"point": ["a"], "probe": ["other"]})


def test_numbers_stand_beside_their_intervals() -> None:
    table = pd.DataFrame(
        {"name": ["=x"], "n": [3.0], "value": [0.25], "low": [0.1], "high": [0.4], "p": [0.5]}
    )
    table = table.assign(p_low=[-0.5], p_high=[float("nan")], empty="")
    found = {"name": ["=x"], "n": ["3"], "value": [".25 [.10,.40]"], "p": [".50"]}
    assert as_text_columns(table) == found


def test_a_page_holds_answer_tables_and_figures_and_asks_for_nothing(tmp_path: Path) -> None:
    words = pd.DataFrame({"of_word": ["<b>x</b>", "$y"], "value": [0.25, float("nan")]})
    long = pd.DataFrame({"n": range(MAX_ROWS + 7)})
    many = pd.DataFrame({"value": range(5_001)})  # more than altair takes unasked
    chart = alt.Chart(many).mark_point().encode(x="value:Q")
    chart = chart.properties(title=alt.TitleParams("A < B", subtitle="C"))
    found = Conclusion(
        "A & B", "It <holds>.", {"words": words}, {"W": words, "L": long}, {"f": chart}, ["a note"]
    )
    console = Console(file=io.StringIO(), width=150)
    written = conclude(found, POINTS, tmp_path, console)
    assert {path.name for path in written} == {
        *("words.csv", "f.svg", "f.png", "f.pdf", "report.html")
    }
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "It &lt;holds&gt;." in page
    assert '<td class="text">&lt;b&gt;x&lt;/b&gt;</td><td>.250</td>' in page
    assert STAMP in page
    assert "1 of 2 done, 1 failed" in page
    assert "and 7 more rows" in page
    assert page.count('<img alt="A &lt; B" src="data:image/svg+xml;base64,') == 1
    assert not re.search(r'(src|href)="(?!data:|#)', page)
    assert not re.search(r"https?://", page)


@pytest.mark.parametrize(
    ("study", "remedy"),
    [
        (BasePairs(), "add probe=base_pairs"),
        (Control(), "choose source=generated_link"),
        (Certificate(), "plant a bias of known strength"),
        (ScoreProperties(), "choose probe=score_properties"),
        (SilhouetteAnalysis(), "choose probe=silhouettes"),
    ],
)
def test_where_nothing_was_examined_it_says_what_to_choose(
    study: Study, remedy: str, tmp_path: Path
) -> None:
    out = io.StringIO()
    tables = Tables(POINTS, SCORES, pd.DataFrame({"point": [], "kind": []}), PROBES)
    assert study.conclude(tables, tmp_path, Console(file=out, width=200)) == []
    assert remedy in out.getvalue()

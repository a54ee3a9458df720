"""The page of a study: whole in one file, and safe whatever the tables hold."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd

from analysis.figures import STAMP
from analysis.report.study_page import MOST_ROWS, write_study_page

POINTS = pd.DataFrame({"point": ["a", "b"], "status": ["done", "failed"], "generated": True})


class Cells(HTMLParser):
    """The texts of a page's cells, and the addresses it asks for."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.sources: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag in ("td", "th")
        if self.inside:
            self.cells.append("")
        self.sources += [str(value) for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.cells[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.inside = False


def parsed(path: Path) -> Cells:
    cells = Cells()
    cells.feed(path.read_text(encoding="utf-8"))
    return cells


def test_a_page_holds_answer_tables_and_figures_and_asks_for_nothing(tmp_path: Path) -> None:
    drawn = tmp_path / "curve.svg"
    drawn.write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", encoding="utf-8")
    table = pd.DataFrame(
        {"of_word": ["<b>x</b>", "$y"], "n": [3, 4], "value": [0.25, float("nan")]}
    )
    path = write_study_page(
        tmp_path, POINTS, "A & B", "It <holds>.", [("Tables", table)], [drawn], ["a note"]
    )
    text, cells = path.read_text(encoding="utf-8"), parsed(path)
    assert path.name == "report.html"
    assert cells.cells == ["of word", "n", "value", "<b>x</b>", "3", ".250", "$y", "4", "-"]
    assert "It &lt;holds&gt;." in text
    assert STAMP in text
    assert "1 of 2 done, 1 failed" in text
    assert sum(each.startswith("data:image/svg+xml;base64,") for each in cells.sources) == 1
    assert all(each.startswith(("data:", "#")) for each in cells.sources)
    assert not re.search(r"https?://", text)


def test_a_long_table_is_cut_and_says_so(tmp_path: Path) -> None:
    long = pd.DataFrame({"n": range(MOST_ROWS + 7)})
    text = write_study_page(tmp_path, POINTS, "t", "a", [("Long", long)], []).read_text("utf-8")
    assert "and 7 more rows" in text

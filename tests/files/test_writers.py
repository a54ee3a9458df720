"""One document on every medium: no cell cut or lost, each name where its numbers are."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.command_line import write_text
from biasbridge.files import InputError
from biasbridge.files.tables import csv_text, read_table
from biasbridge.files.terminal import open_console
from biasbridge.files.writers import (
    Document,
    TextTable,
    format_document,
    print_document,
    print_text_table,
    tex_blocks,
    tex_table,
    tex_width,
    text_table,
)

NUMBERS = [f"-{i}{i}.125 [-{i}.5,{i}.5]" for i in range(1, 8)]
HEAD = ["task", *(f"gap {n}" for n in range(7)), "verdict"]
ROWS = [[name, *NUMBERS, "at most .02"] for name in ("hatespeech in English, <b>", "m_&%")]
TABLE = TextTable("recall gap", HEAD, ROWS, ["verdict"])
DOCUMENT = Document(["It *falls*."], ["3 models"], [TABLE], ["p < .05"])
COLUMN = 219


def printed(table: TextTable, width: int = 80, *, ruled: bool = True) -> list[str]:
    out = io.StringIO()
    print_text_table(table, open_console(file=out, width=width), ruled=ruled)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("ruled", [True, False])
@pytest.mark.parametrize("width", [80, 40])
def test_a_terminal_folds_columns_and_cuts_nothing(
    width: int, ruled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = printed(TABLE, width, ruled=ruled)
    text = "\n".join(lines)
    assert max(map(len, lines)) <= width
    assert "…" not in text
    assert text.count("English") > 1
    assert all(text.count(cell) == 2 for cell in (*NUMBERS, "at most .02"))


def test_a_pipe_has_no_width_and_a_long_table_says_how_much_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    heading, columns, _, row, *_ = printed(TABLE)
    assert (heading, columns.count("gap"), row.count("[")) == ("recall gap", 7, 7)
    out = io.StringIO()
    print_text_table(TABLE, open_console(file=out), 1)
    assert out.getvalue().splitlines()[-1].strip() == "and 1 more row: --csv OUT writes all"


def test_a_document_has_the_same_words_on_every_medium() -> None:
    out = io.StringIO()
    print_document(DOCUMENT, open_console(file=out, width=200))
    assert out.getvalue().startswith("It *falls*.\n3 models\nrecall gap\n")
    assert out.getvalue().endswith("p < .05\n")
    markdown = format_document("md", DOCUMENT, "gaps")
    assert markdown.startswith(
        "## gaps\n\nIt \\*falls\\*.\n\n3 models\n\nrecall gap:\n\n| task | gap 0"
    )
    assert "| --- | ---: |" in markdown
    assert r"| m\_\&% | -11.125 \[-1.5,1.5\] |" in markdown
    assert markdown.endswith("\n- p \\< .05\n")
    page = format_document("html", DOCUMENT, "gaps")
    assert "<p>It *falls*.</p>" in page
    assert '<td class="l">hatespeech in English, &lt;b&gt;</td><td class="r">-11.125' in page
    assert "http" not in page
    tex = format_document("tex", DOCUMENT, "gaps")
    assert tex.startswith("% It *falls*.\n% 3 models\n% p < .05\n\n\\begin{table}\n\\centering")
    assert r"& $-$11.125 {[}$-$1.5,1.5{]}" in tex
    assert "\\caption{recall gap}\n\\label{tab:gaps-1}\n\\end{table}" in tex


def test_columns_that_do_not_fit_follow_in_a_block_below() -> None:
    blocks = tex_blocks(TABLE)
    assert [block.head[0] for block in blocks] == ["task"] * 4
    assert [name for block in blocks for name in block.head[1:]] == HEAD[1:]
    lines = "\n".join(tex_table(TABLE, "c", "l"))
    assert lines.count(r"\begin{tabular}{@{}lrr@{}}") == 3
    assert lines.count(r"\shortstack[l]{hatespeech in\\English, \textless{}b\textgreater{}}") == 4
    sparse = TABLE._replace(rows=[ROWS[0], ["b", "1", *[""] * 7]])
    assert [len(block.rows) for block in tex_blocks(sparse)] == [2, *[1] * 3]


def test_names_that_only_together_tell_rows_apart_are_joined() -> None:
    rows = [[name, dose, "1.00 [.00,2.00]", "3"] for name in ("leace", "hard") for dose in "12"]
    [block] = tex_blocks(TextTable("", ["method", "dose", "gap", "n"], rows, ["dose"]))
    assert block.head == ["method, dose", "gap", "n"]
    assert [row[0] for row in block.rows] == ["leace, 1", "leace, 2", "hard, 1", "hard, 2"]


CELLS = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=20)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=5, max_size=5), min_size=2, max_size=3))
def test_every_cell_is_in_a_block_that_fits(rows: list[list[str]]) -> None:
    table = TextTable("", rows[0], rows[1:])
    shown: list[list[str]] = [[] for _ in rows]
    for block in tex_blocks(table):
        for row, cells in zip(shown, [block.head, *block.rows], strict=True):
            row += cells[1:]
        widths = [max(map(tex_width, column)) for column in zip(*block.rows, strict=True)]
        assert sum(widths[1:]) + 4 * len(widths[1:]) <= COLUMN or len(widths) == 2
    assert shown == [row[1:] for row in rows]


@pytest.mark.skipif(not shutil.which("pdflatex"), reason="no LaTeX")
@pytest.mark.parametrize("start", ["[10pt]{article}", "[11pt]{article}\\usepackage{times}"])
def test_no_box_is_wider_than_a_column(start: str, tmp_path: Path) -> None:
    """In Computer Modern, and in Times as in ACL's style."""
    table = "\n".join(tex_table(TABLE, "c", "l"))
    text = f"\\documentclass{start}\\usepackage{{booktabs}}\\textwidth={COLUMN}pt"
    text += f"\\begin{{document}}\n{table}\n\\end{{document}}"
    (tmp_path / "a.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "a.tex"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 0
    assert "Overfull" not in (tmp_path / "a.log").read_text(encoding="utf-8", errors="replace")


def test_numbers_stand_beside_their_intervals() -> None:
    table = pd.DataFrame(
        {"name": ["=x"], "n": [3.0], "value": [0.25], "low": [0.1], "high": [0.4], "p": [0.5]}
    )
    table = table.assign(p_low=[-0.5], p_high=[float("nan")], empty="")
    shown = text_table("h", table)
    assert shown[:3] == ("h", ["name", "n", "value", "p"], [("=x", "3", ".25 [.10,.40]", ".50")])
    assert shown.alignment == "lrrr"


def test_rows_are_written_as_a_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"name": ["=1+1", "null"], "code": ["01", "2"], "value": [0.25, None]})
    pytest.importorskip("openpyxl")
    write_text(csv_text(table), tmp_path / "a.xlsx")
    pytest.importorskip("python_calamine")
    again = read_table(tmp_path / "a.xlsx")
    assert again["name"].tolist() == ["'=1+1", "null"]
    assert again["code"].tolist() == ["01", "2"]
    assert float(again["value"][0]) == 0.25
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(InputError, match=r"b.xlsx needs openpyxl: run pip install '\.\[excel]'"):
        write_text(csv_text(table), tmp_path / "b.xlsx")
    assert not re.findall("b.xlsx", " ".join(map(str, tmp_path.iterdir())))

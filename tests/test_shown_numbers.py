"""What tables on a terminal, summaries and figures show: each row told apart, each number whole."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.printing import print_table
from biasbridge.before_after import print_scores as print_before_after
from biasbridge.commands.audit import main as audit
from biasbridge.commands.gaps import main as gaps
from biasbridge.conclusions import conclusions
from biasbridge.extrinsic.bbq import print_scores
from biasbridge.files.terminal import open_console
from biasbridge.files.vectors import keyed, save_vectors
from biasbridge.intrinsic.audit import AuditedScore
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.words import load_query
from biasbridge.studies.certificate_verdicts import _recorded

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RNG = np.random.default_rng(0)
CONVENTIONS = ("default", "caliskan", "goldfarb_tarrant")


@pytest.fixture(params=[80, 70])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


def words_of(lines: list[str]) -> set[str]:
    return {word for line in lines for word in line.split()}


def whole(printed: str, width: int) -> list[str]:
    """The lines, none wider than the terminal and none cut."""
    lines = printed.splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in printed
    return lines


def save(path: Path) -> Path:
    words = sorted({w for role in "XYAB" for w in load_query("weat7").lowered()[role].words})
    save_vectors(keyed(words, RNG.normal(size=(len(words), 8)).astype(np.float32)), path)
    return path


@pytest.mark.parametrize("options", [[], ["--verbose"]])
def test_an_audit_names_the_convention_and_cuts_no_value(
    options: list[str], width: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [save(tmp_path / name) for name in ("some_long_name_of_vectors.vec", "b.vec")]
    chosen = ["--metric", "weat", "--query", "weat7", "--convention", "all", "--resamples", "20"]
    assert audit([*map(str, files), *chosen, "--csv", str(tmp_path / "s.csv"), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = [
        line for line in lines if "WEAT finds" not in line and "certificate" not in line.lower()
    ]
    shown, scores = words_of(table), pd.read_csv(tmp_path / "s.csv").dropna(subset="value")
    digits = 4 if options else 3
    assert {f"{value:.{digits}f}" for value in scores["value"]} <= shown
    assert width < 80 or {*scores["convention"]} <= shown
    assert "goldfarb" in "".join(shown)
    rows = [line for line in lines if re.match(r"[ ─]|metric|weat ", line)]
    assert max(map(len, rows)) <= width or options  # --verbose also explains, in longer lines
    assert "…" not in "".join(lines)


def test_scores_of_bbq_keep_their_convention(width: int) -> None:
    cells = {"n": 3000, "n_templates": 25, "n_unmatched": 0, "accuracy": 0.5}
    cells |= {
        "accuracy_low": 0.4,
        "accuracy_high": 0.6,
        "score": -1.8,
        "low": -2.25,
        "high": -1.125,
    }
    rows = pd.DataFrame(
        [
            {"category": "Disability_status", "context": "ambiguous", "convention": name, **cells}
            for name in CONVENTIONS
        ]
    )
    rows.attrs["notes"] = []
    out = io.StringIO()
    print_scores(rows, open_console(file=out, width=width))
    table = out.getvalue().partition("Ambiguous contexts")[0]
    lines = whole(table, width)
    for name in CONVENTIONS:
        assert width < 80 or any(name in line.split() for line in lines)
    assert {"default", "caliskan", "goldfarb"} <= {*re.findall("[a-z]+", table)}  # wrapped
    assert table.count("-1.800 [-2.250,-1.125]") == 3


def test_gaps_of_many_measures_keep_groups_and_numbers(
    width: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    n, names = 600, ["women of the first region", "women of the second region", "men"]
    data = pd.DataFrame({name: RNG.integers(0, 2, n) for name in ("label", "prediction")})
    data.assign(group=RNG.choice(names, n)).to_csv(tmp_path / "p.csv", index=False)
    assert gaps([str(tmp_path / "p.csv"), "--csv", str(tmp_path / "g.csv")]) == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()
    said = ("adjustment", "Cannot tell", "gap to all others", "Not after adjustment", "Set a bound")
    assert max(len(line) for line in lines if not any(x in line for x in said)) <= width
    assert "…" not in printed
    assert len(re.findall(r"\[-?\.\d\d,-?1?\.\d\d\]", printed)) >= 3 * 4 + 2 * 3
    assert "region" in words_of(lines)


@pytest.mark.parametrize("kind", ["study", "before and after"])
def test_other_tables_fold_by_the_same_rule(kind: str, width: int) -> None:
    numbers = [f"{i}{i}.125 [-{i}.5,{i}.5]" for i in range(1, 8)]
    if kind == "study":
        rows = [
            {"task": name, **{f"gap {n}": cell for n, cell in enumerate(numbers)}}
            for name in ("hatespeech in English", "b")
        ]
        out = io.StringIO()
        print_table("", rows, open_console(file=out, width=width), left_aligned=["task"])
        printed = out.getvalue()
        assert printed.count("English") > 1
        assert all(printed.count(cell) == 2 for cell in numbers)
    else:
        name = "a query with a very long name that somebody gave it in a file of words"
        scores = [("weat", name, "", 1234, -1.25, 0.5, -2.0, 1.0, "better")]
        columns = ["metric", "query", "part", "n", "before", "after", "low", "high", "verdict"]
        out = io.StringIO()
        print_before_after(
            pd.DataFrame(scores, columns=columns), open_console(file=out, width=width)
        )
        printed = out.getvalue()
        assert {"1234", "-1.2500", "0.5000", "+1.75", "better"} <= words_of(printed.splitlines())
    whole(printed, width)


def test_a_pipe_has_no_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    out, cells = io.StringIO(), {f"number {n}": "1.125 [0.5,1.5]" for n in range(20)}
    print_table("", [{"a": "b", **cells}], open_console(file=out), left_aligned=["a"])
    heading, row = out.getvalue().splitlines()
    assert heading.count("number") == row.count("1.125 [0.5,1.5]") == 20


def audited(significant: Callable[[int, str], bool], n: int = 10) -> list[AuditedScore]:
    words = {w for role in "XYAB" for w in load_query("weat7")[role].words}
    vectors = keyed(sorted(words), RNG.normal(size=(len(words), 4)).astype(np.float32))
    [score] = Weat(queries=("weat7",)).score(vectors, seed=0)
    return [
        AuditedScore(
            "a",
            score._replace(
                metric="seat",
                query=f"seat{query}",
                convention=name,
                value=1.0,
                p_value=1e-6 if significant(query, name) else 0.9,
            ),
            {},
        )
        for name in CONVENTIONS
        for query in range(n)
    ]


@pytest.mark.parametrize(
    ("significant", "expected"),
    [
        (lambda query, name: query < 6, "6 of 10 scores differ"),  # was 18 of 30
        (lambda query, name: name != "default", "none of 10 scores differs"),
        (lambda query, name: query < 1, "1 of 10 scores differs"),
    ],
)  # fmt: skip
def test_conventions_are_no_tests(significant: Callable[[int, str], bool], expected: str) -> None:
    rows = audited(significant)
    assert expected in conclusions(rows)[0]
    assert expected in conclusions(rows[::-1])[0]
    other = [row for row in rows if row.score.convention != "default"]
    assert " of 10 scores" in conclusions(other)[0]
    assert " of 4 scores" in conclusions(audited(significant, n=4))[0]  # 12 rows, but 4 tests


def test_a_certificate_holds_no_mark_against_formulas() -> None:
    lines = [verdict.line for verdict in _recorded().values()]
    assert any(": -" in line for line in lines)
    assert not any("'-" in line for line in lines)

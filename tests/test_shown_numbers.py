"""What tables on a terminal, summaries and figures show: each row told apart, each number whole."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.commands.audit import main as audit
from biasbridge.conclusions import conclusions
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
    assert max(map(len, rows)) <= width
    assert "…" not in "".join(lines)


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

"""The report of a study that lacks scores, gaps or embeddings says so, and shows what is left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.report import build_report

if TYPE_CHECKING:
    from biasbridge.analysis.results import Tables


def text_of(folder: Path, tables: Tables) -> str:
    joined = join_points(tables)
    target, _ = build_report(folder, tables, joined, correlate_slices(joined))
    return target.read_text(encoding="utf-8").split('<script type="application/json"')[0]


def without_scores(tables: Tables, queries: tuple[str, ...] = ("weat7", "weat8")) -> Tables:
    """The tables of vectors that know no word of some queries."""
    words = ",".join(f"word{i}" for i in range(32))
    scores = tables.intrinsic.assign(n_found=32, n_oov=0, oov="")
    gone = scores["query"].isin(queries)
    scores.loc[gone, ["value", "n_found", "n_oov"]] = np.nan, 0, 32
    scores.loc[gone, ["oov", "reason"]] = words, "X: 0 of 8 words found, fewer than 2"
    return tables._replace(intrinsic=scores)


def test_a_study_without_scores_says_so_first_and_shows_the_gaps(
    tables: Tables, tmp_path: Path
) -> None:
    text = text_of(tmp_path, without_scores(tables))
    first = text.split('<p class="first">')[1].split("</p>")[0]
    assert first.startswith(
        "No score is available: weat7: 32 of its 32 words have no vector (word0,"
    )
    assert "word5 and 26 more); weat8: 32 of its 32 words" in first
    assert all(f'id="{figure}"' not in text for figure in ("change", "scatter"))
    assert text.count('id="gaps"') == text.count('id="t-gaps"') == 1


def test_a_study_without_gaps_says_so_first(tables: Tables, tmp_path: Path) -> None:
    extrinsic = tables.extrinsic.assign(value=np.nan, reason="female: 3 posts, fewer than 10")
    text = text_of(tmp_path, tables._replace(extrinsic=extrinsic))
    assert "No gap is available: precision gap: female: 3 posts, fewer than 10; recall gap:" in text
    assert 'id="scatter"' not in text

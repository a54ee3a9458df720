"""What the report says of groups, gaps, items and coverage, and what was measured beyond gaps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasbridge.analysis.joined import join_points
from biasbridge.analysis.report import build_report
from biasbridge.analysis.report.comparison_facts import describe_compared
from biasbridge.files import InputError
from tests.analysis.conftest import overall

if TYPE_CHECKING:
    from biasbridge.analysis.results import Tables


def of_group(point: str, measure: str, group: str, support: int) -> dict[str, str | float | bool]:
    return overall(point, measure, 0.5) | {"group": group, "support": support, "subset": ""}


@pytest.fixture
def posts(tables: Tables) -> Tables:
    """The small experiment on posts, with what is behind its measures."""
    rows = [
        of_group(point, measure, group, support)
        for point in tables.points["point"][:2]
        for measure, group, support in (
            *(("recall", "male", 20), ("fpr", "male", 30)),
            *(("recall", "female", 15), ("fpr", "female", 25)),
            *(("recall", "all", 35), ("fpr", "all", 55)),
        )
    ]
    extrinsic = pd.concat([tables.extrinsic, pd.DataFrame(rows)], ignore_index=True)
    points = tables.points.assign(source="csv")
    return tables._replace(points=points, extrinsic=extrinsic.assign(group_by="annotation"))


def test_it_says_who_is_compared_with_whom_and_on_how_much(posts: Tables) -> None:
    assert describe_compared(posts, ["recall"]) == {
        "a score": "WEAT effect size (d) of WEAT 7, WEAT 8",
        "groups": "male (privileged) against female (unprivileged). Which group an item is about:"
        " as the data are annotated",
        "a gap": "the value of male less that of female; above 0: worse for female",
        "label 1": "the positive class, which precision, recall and the other measures are about",
        "test items": "90 (label 1: 35); male 50 (label 1: 20), female 40 (label 1: 15)",
        "behind a gap": "items in the smaller group: recall gap 40",
    }


def test_a_page_of_far_too_many_rows_is_refused_before_it_is_made(
    posts: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasbridge.analysis.report.page.MOST_ROWS", 3)
    with pytest.raises(InputError, match="pairs of score and gap, more than fit into 5 MB"):
        build_report(tmp_path, posts, join_points(posts), [])
    assert not list(tmp_path.iterdir())

"""What the report says of groups, gaps, items and coverage, and what was measured beyond gaps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from analysis.correlate import correlate_slices
from analysis.frame import typed
from analysis.joined import join_points
from analysis.report import build_report
from analysis.report.compared import describe_compared, facts_list
from analysis.report.page_data import has_further, page_data
from files import InputError
from tests.analysis.conftest import gap, overall

if TYPE_CHECKING:
    from analysis.results import Tables


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
        "groups": "male (privileged) against female (unprivileged). Which group an item is about:"
        " as the data are annotated",
        "a gap": "the value of male less that of female; above 0: worse for female",
        "label 1": "what the classifier looks for; precision, recall and the other measures are"
        " about it",
        "test items": "90 (label 1: 35); male 50 (label 1: 20), female 40 (label 1: 15)",
        "behind a gap": "items in the group that has fewer: recall gap 40",
    }


def test_label_1_is_named_where_the_tables_say_it(posts: Tables, tmp_path: Path) -> None:
    named = posts._replace(points=posts.points.assign(positive_class="'<i>' in column 'hs'"))
    assert describe_compared(named, ["recall"])["label 1"] == (
        "'<i>' in column 'hs': what the classifier looks for; precision, recall and the other"
        " measures are about it"
    )
    sentence = "Label 1, whose precision and recall are measured, is &#x27;&lt;i&gt;&#x27; in"
    for tables, times in ((named, 3), (posts, 0)):
        joined = join_points(tables)
        page, _ = build_report(tmp_path, tables, joined, correlate_slices(joined))
        assert page.read_text(encoding="utf-8").count(sentence) == times


def test_a_page_of_far_too_many_rows_is_refused_before_it_is_made(
    posts: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analysis.report.page.MOST_ROWS", 3)
    with pytest.raises(InputError, match="pairs of score and gap, far more than fit into 5 MB"):
        build_report(tmp_path, posts, join_points(posts), [])
    assert not list(tmp_path.iterdir())


def test_gaps_of_errors_and_of_several_groups_are_shown(posts: Tables) -> None:
    key = posts.points["point"][0]
    more = [gap(key, "fpr", 0.1), gap(key, "recall", 0.1) | {"unprivileged": "other"}]
    extrinsic = pd.concat([posts.extrinsic, pd.DataFrame(more)], ignore_index=True)
    found = describe_compared(posts._replace(extrinsic=extrinsic), ["recall"])
    assert "male (privileged) against other (unprivileged)" in found["groups"]
    assert found["a gap"] == (
        "the value of the privileged group less that of the unprivileged (of fpr the other way"
        " round); above 0: worse for the unprivileged"
    )


@pytest.mark.parametrize(
    ("shares", "expected", "warns"),
    [
        ([0.93, 0.93], "93% of those of the items", False),
        ([0.7, 0.93], "70% to 93% of those of the items", True),
        ([np.nan, 0.5], "50% of those of the items", True),
    ],
)
def test_how_many_tokens_have_a_vector_is_shown_with_a_warning(
    shares: list[float], expected: str, warns: bool, posts: Tables
) -> None:
    extrinsic = posts.extrinsic.assign(coverage=shares[0])
    extrinsic.loc[extrinsic["point"] == posts.points["point"][0], "coverage"] = shares[1]
    found = describe_compared(posts._replace(extrinsic=extrinsic), [])["tokens with a vector"]
    assert found.startswith(expected)
    assert ("warning" in found) is warns


def test_the_page_says_it_before_any_number(posts: Tables, tmp_path: Path) -> None:
    joined = join_points(posts)
    page, _ = build_report(tmp_path, posts, joined, correlate_slices(joined))
    text = page.read_text(encoding="utf-8")
    assert text.index('<dl class="facts">') < text.index('id="confirmatory"')
    assert facts_list({"a": "<b>"}) == '<dl class="facts"><dt>a</dt><dd>&lt;b&gt;</dd></dl>'


def test_differences_ratios_and_flips_are_a_table_of_their_own(
    tables: Tables, tmp_path: Path
) -> None:
    key = tables.points["point"][0]
    flips = {"kind": "flips", "privileged": "", "unprivileged": ""}
    more = [
        gap(key, "recall", 0.3) | {"kind": "largest"},
        gap(key, "equalised_odds", 0.6) | {"kind": "ratio"},
        gap(key, "prediction", 0.1) | flips | {"group": "all"},
        gap(key, "prediction", 0.2) | {"kind": "flips"},
        gap(key, "prediction", 0.4) | flips | {"group": "nun"},
    ]
    asked = tables._replace(extrinsic=pd.concat([tables.extrinsic, pd.DataFrame(more)]))
    joined = join_points(asked)
    found = correlate_slices(joined)
    data = page_data(asked, joined, found, confirmatory=["recall"], utility="f1", sesoi=0.3)
    further = data["further"]
    assert isinstance(further, dict)
    assert further["measure"] == [
        "largest difference, recall",
        "ratio, equalised odds",
        "flips",
        "flips",
    ]
    assert further["groups"] == ["male, female", "male, female", "all", "male, female"]
    assert further["value"] == [0.3, 0.6, 0.1, 0.2]
    assert further["low"] == [value - 0.03 for value in (0.3, 0.6, 0.1, 0.2)]
    assert further["items"] == [40] * 4
    page, _ = build_report(tmp_path, asked, joined, found)
    assert 'id="t-further"' in page.read_text(encoding="utf-8").split("<script")[0]
    assert has_further(typed(asked))
    assert not has_further(typed(tables))

"""What a later version of a classifier changed, in words, and how sure that is."""

from __future__ import annotations

from io import StringIO
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.report.gaps_page import write_gaps_page
from biasbridge.extrinsic.gap_table import Row, as_table
from biasbridge.extrinsic.grouped_predictions import GroupedPredictions, GroupOrRest
from biasbridge.extrinsic.request import GapRequest
from biasbridge.extrinsic.terminal import print_gap_tables
from biasbridge.extrinsic.weighted_sum import WeightedSum
from biasbridge.files.terminal import open_console
from biasbridge.stats.multiple_testing import holm

# (group, label, v1, v2): number of items
COUNTS = {
    ("women", 1, 1, 1): 100,
    ("women", 1, 1, 0): 60,
    ("women", 1, 0, 0): 40,
    ("women", 0, 0, 0): 270,
    ("women", 0, 1, 1): 30,
    ("men", 1, 1, 1): 160,
    ("men", 1, 0, 0): 40,
    ("men", 0, 0, 0): 200,
    ("men", 0, 0, 1): 60,
    ("men", 0, 1, 1): 40,
}

WOMEN = ("value", "women", "recall")


def items(counts: dict[tuple[str, int, int, int], int]) -> pd.DataFrame:
    """A row per item."""
    rows = [kind for kind, n in counts.items() for _ in range(n)]
    return pd.DataFrame(rows, columns=["group", "label", "v1", "v2"])


def rows_of(table: pd.DataFrame, **options: object) -> list[Row]:
    return GapRequest("label", ["v1", "v2"], "group", **options).find_rows(table)  # type: ignore[arg-type]


def printed(rows: list[Row], label: str = "") -> str:
    text = StringIO()
    print_gap_tables(rows, open_console(file=text, width=200), label)
    return text.getvalue()


def change(measure: str, group: str) -> float:
    """The later rate minus the earlier, from the items one by one."""
    rates = []
    for version in ("v1", "v2"):
        hits = [
            row[version]
            for row in items(COUNTS).to_dict("records")
            if row["group"] == group and row["label"] == (measure == "recall")
        ]
        rates.append(float(np.mean(hits)))
    return rates[1] - rates[0]


@pytest.mark.parametrize(("measure", "group"), list(product(["recall", "fpr"], ["women", "men"])))
def test_a_change_is_later_minus_earlier(measure: str, group: str) -> None:
    table = as_table(rows_of(items(COUNTS)))
    [row] = table.query(
        "classifier == 'v2 - v1' and kind == 'value' and group == @group and measure == @measure"
    ).to_dict("records")
    assert row["earlier"] == "v1"
    assert row["value"] == pytest.approx(change(measure, group))
    gap = table.query(
        "classifier == 'v2 - v1' and kind == 'gap' and unprivileged == @group"
        " and measure == @measure"
    )["value"].item()
    other = change(measure, "men" if group == "women" else "women")
    sign = 1 if measure == "recall" else -1
    assert gap == pytest.approx(sign * (other - change(measure, group)))


def test_sure_changes_are_said_in_words_the_largest_first(tmp_path: Path) -> None:
    rows = rows_of(items(COUNTS), measures=["recall", "fpr"])
    lines = printed(rows).split("v2 - v1")[1].splitlines()
    assert lines[1].startswith("v2 misses 30 points more positive items of women than v1 [")
    assert lines[2].startswith("v2 flags 20 points more negative items of men than v1 [")
    [row] = [r for r in rows if r.earlier and (r.kind, r.group, r.measure) == WOMEN]
    low, high = round(-100 * row.high), round(-100 * row.low)
    assert lines[1].endswith(f"[{low}, {high}].")
    assert 20 < low < 30 < high < 40
    claim = "Compared with all others, women fare 30 points worse in recall with v2 than v1"
    assert claim in "\n".join(lines)
    page = write_gaps_page(as_table(rows), tmp_path / "p.html", "a title", label="toxic")
    text = page.read_text(encoding="utf-8")
    assert "v2 misses 30 points more toxic items of women than v1 [" in text
    assert "v2 wrongly flags 20 points more items of men as toxic than v1" in text


def test_the_way_back_is_said_with_the_opposite_words() -> None:
    table = items(COUNTS).rename(columns={"v1": "v2", "v2": "v1"})
    text = printed(rows_of(table, measures=["recall", "fpr", "precision"]))
    assert "v2 misses 30 points fewer positive items of women than v1 [" in text
    assert "v2 flags 20 points fewer negative items of men than v1 [" in text
    assert "Precision of men is 18 points higher with v2 than v1 [" in text  # .8 and .615


def test_the_family_is_all_groups_and_measures_of_the_pair() -> None:
    rows = [row for row in rows_of(items(COUNTS)) if row.earlier and row.kind == "value"]
    assert {(row.group, row.measure) for row in rows} == {
        *product(["women", "men", "all"], ["recall", "fpr", "precision", "f1"])
    }
    assert [row.p_holm for row in rows] == pytest.approx(holm([row.p for row in rows]))
    for row in rows:
        assert (row.p < 0.05) == (row.low > 0 or row.high < 0)
        assert row.low_simultaneous < row.low
        assert row.high < row.high_simultaneous


def test_where_nothing_is_sure_it_says_what_could_be_missed() -> None:
    table = items(COUNTS).assign(v2=lambda frame: frame["v1"])
    table.loc[[0, 500], "v2"] = [0, 1]
    rows = rows_of(table, measures=["recall"])
    text = printed(rows).split("v2 - v1")[1]
    assert "No change from v1 to v2 is sure after adjustment over 3 comparisons (Holm)." in text
    sizes = []
    for row in rows:
        if row.earlier and row.kind == "value":
            error = (row.high - row.low) / 2 / 1.959964
            sizes.append((row.high_simultaneous - row.low_simultaneous) / 2 + 0.841621 * error)
    ends = [f"{100 * size:.{int(size < 0.01)}f}" for size in (min(sizes), max(sizes))]
    assert f"Changes below {ends[0]} to {ends[1]} points could be missed" in text


def test_a_group_without_enough_items_has_its_reason() -> None:
    table = items(dict.fromkeys(COUNTS, 1))
    assert "No change can be measured: " in printed(rows_of(table, measures=["recall"]))


@pytest.mark.slow
def test_changes_hold_the_truth_in_95_of_100() -> None:
    """Of three groups; most errors are shared; the standard error is .006."""
    rng, held = np.random.default_rng(5), []
    rates = {"women": (0.8, 0.6), "men": (0.8, 0.85), "both": (0.7, 0.7)}
    number, item = np.repeat(np.arange(3), 80), np.arange(240)
    earlier, later = np.repeat([*rates.values()], 80, axis=0).T
    for _ in range(500):
        shared, own, is_shared = rng.random(240), rng.random(240), rng.random(240) < 0.7
        drawn = (np.where(is_shared, shared, own) < later, shared < earlier)
        samples = [GroupedPredictions([*rates], item, number, 2 + hits) for hits in drawn]
        change = WeightedSum(samples, [1, -1])
        for name, (before, after) in rates.items():
            estimate = change.group_measure("recall", GroupOrRest(name)).estimate
            held.append(estimate.low <= after - before <= estimate.high)
    assert 0.93 <= np.mean(held) <= 0.97

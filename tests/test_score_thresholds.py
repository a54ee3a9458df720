"""Gaps at every threshold of a score are those of a loop over thresholds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biasbridge import changed_items, gaps, thresholds
from biasbridge.__main__ import main
from biasbridge.analysis.table_charts import thresholds_chart
from biasbridge.files import InputError

HEADINGS = ["gap in recall", "gap in fpr"]
EQUAL = ["value", "low", "high", "low_simultaneous", "high_simultaneous"]


def items(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Items whose scores are lower for women with label 1."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"label": rng.integers(0, 2, n)})
    table["group"] = rng.choice(["men", "women", "others", ""], n, p=[0.4, 0.35, 0.2, 0.05])
    lower = 0.8 * (table["group"].eq("women") & table["label"].eq(1))
    table["score"] = (rng.normal(size=n) + 1.5 * table["label"] - lower).round(2)
    table["author"] = rng.integers(0, 60, n).astype(str)
    return table


def literal(table: pd.DataFrame, threshold: float, **options: Any) -> pd.DataFrame:
    """The gaps at a threshold, and F1 of all items, counted by hand."""
    predicted = (table["score"] >= threshold).astype(int)
    rows = gaps(table.assign(prediction=predicted), **options).query("kind == 'gap'")
    each = table.assign(prediction=predicted)
    each = each.drop_duplicates("id") if "id" in each else each
    pairs = list(zip(each["label"], each["prediction"], strict=True))
    tp, wrong = pairs.count((1, 1)), pairs.count((0, 1)) + pairs.count((1, 0))
    f1 = 2 * tp / (2 * tp + wrong) if tp + wrong >= 10 else np.nan
    return rows.assign(threshold=threshold, f1=f1)


OVERLAPPING = pd.concat(
    [items(120).assign(id=range(120)), items(120).assign(id=range(120), group="young")]
)
LITERAL: dict[str, tuple[pd.DataFrame, dict[str, Any]]] = {
    "against the rest": (items(), {}),
    "against a group": (items(), {"privileged": "men", "measures": ["recall", "accuracy"]}),
    "few scores": (items().round({"score": 0}), {"privileged": "men", "unprivileged": "women"}),
    "clusters": (items(200), {"cluster": "author", "measures": "recall", "min_support": 0}),
    "items in two groups": (OVERLAPPING, {"measures": "fpr", "unprivileged": ["women", "young"]}),
}


@pytest.mark.parametrize("name", LITERAL)
def test_values_are_those_of_a_loop_over_thresholds(name: str) -> None:
    table, options = LITERAL[name]
    at_every = thresholds(table, **options)
    distinct = at_every["threshold"].unique()
    assert len(distinct) <= min(101, table["score"].nunique())
    assert len(distinct) == table["score"].nunique() or len(distinct) > 80
    looped = {"measures": ["recall", "fpr"], **options}
    for threshold in distinct[:: max(1, len(distinct) // 7)]:
        rows = at_every[at_every["threshold"] == threshold]
        expected = literal(table, threshold, **looped)
        for column in ("measure", "privileged", "unprivileged", "support", "reason"):
            assert rows[column].tolist() == expected[column].tolist()
        for column in ("f1", *EQUAL):
            assert rows[column].tolist() == pytest.approx(expected[column].tolist(), nan_ok=True)


def test_a_hundred_and_one_quantiles_of_more_scores() -> None:
    scores = np.arange(1_000)
    table = pd.DataFrame({"label": [0, 1] * 500, "score": scores, "group": ["a", "b"] * 500})
    table["group"] = np.where(scores % 3 == 0, "a", "b")
    found = thresholds(table, measures="recall")["threshold"].unique()
    assert len(found) == 101
    assert found[[0, 50, 100]].tolist() == [0, 499, 999]
    assert thresholds(table[:101], measures="recall")["threshold"].nunique() == 101


def test_the_command_prints_and_writes_the_largest_gaps_and_a_chart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items().to_csv(tmp_path / "items.csv", index=False)
    files = {name: tmp_path / name for name in ("out.csv", "page.html")}
    command = ["gaps", str(tmp_path / "items.csv"), "--score", "score", "--threshold", "all"]
    command += ["--csv", str(files["out.csv"]), "--report", str(files["page.html"])]
    assert main(command) == 0
    printed = capsys.readouterr().out.splitlines()
    table = thresholds(tmp_path / "items.csv")
    first = table[table["threshold"].eq(table["threshold"].min()) & table["measure"].eq("fpr")]
    assert first["value"].eq(0).all()  # all are predicted 1
    head, row = (next(line for line in printed if word in line) for word in ("F1 of all", " 0 ["))
    assert re.split(r" {2,}", head.strip()) == ["threshold", "F1 of all", *HEADINGS]
    assert row.split()[1] == f"{first['f1'].iloc[0]:.3f}".strip("0")
    for note in table.attrs["notes"]:
        assert f"note: {note}" in printed
    written = pd.read_csv(files["out.csv"], keep_default_na=False)
    assert len(written) == len(table)
    page = files["page.html"].read_text(encoding="utf-8")
    assert page.count("<tr>") == 1 + table["threshold"].nunique()
    assert "data:image/svg+xml;base64," in page
    spec = thresholds_chart(table).to_dict()
    titles = [panel["title"]["text"] for panel in spec["vconcat"]]
    assert titles == [
        *("F1 of all items", "Gap in recall", "Gap in false positive rate"),
    ]


def test_few_items_have_no_value_and_no_page_breaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items(8).assign(group=["women", "men"] * 4).to_csv(tmp_path / "items.csv", index=False)
    page = str(tmp_path / "page.html")
    command = ["gaps", str(tmp_path / "items.csv"), "--score", "score", "--threshold", "all"]
    assert main([*command, "--report", page]) == 0
    assert re.search(r"\n -?[\d.]+( +-){3} *\n", capsys.readouterr().out)


def test_notes_on_groups_are_kept() -> None:
    table = items().assign(age=["old", "young", "young"] * 200).query("group != ''")
    notes = thresholds(table, cross=["group", "age"], measures="recall", min_support=60).attrs[
        "notes"
    ]
    expected = gaps(table.assign(prediction=1), cross=["group", "age"], min_support=60).attrs[
        "notes"
    ]
    assert notes
    assert set(notes) <= set(expected)


def test_gaps_at_a_threshold_are_those_of_its_predictions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = items()
    table.to_csv(tmp_path / "items.csv", index=False)
    command = ["gaps", str(tmp_path / "items.csv"), "--score", "score", "--threshold", "0.5"]
    assert main([*command, "--csv", str(tmp_path / "out.csv")]) == 0
    capsys.readouterr()
    expected = gaps(table.assign(prediction=table["score"] >= 0.5), score="score")
    written = pd.read_csv(tmp_path / "out.csv")
    assert written["value"].tolist() == pytest.approx(expected["value"].tolist(), nan_ok=True)
    assert main([*command, "--privileged", "men", "--fail-above", "recall=0"]) == 3
    assert re.search(r"Do not release: of 100 positive items about women", capsys.readouterr().out)


@pytest.mark.parametrize("by_threshold", [True, False])
def test_versions_at_an_equal_share_differ_in_whom_they_flag(by_threshold: bool) -> None:
    """The later one ranks alike, but for one item, and flags many more."""
    table = items().assign(id=range(600))
    table["score"] += table["id"] * 1e-6  # no score twice
    table["later"] = table["score"] + 0.2
    [best] = table.nlargest(1, "score").index
    table.loc[best, "later"] = 0
    table = pd.concat([table, table[table["group"] == "women"].assign(group="more")])  # same ids
    table["v1"], table["v2"] = table["score"] >= 0.5, table["later"] >= 0.5
    pred: dict[str, Any] = {"threshold": 0.5} if by_threshold else {"pred": ["v1", "v2"]}
    share: dict[str, Any] = {**pred, "threshold": [0.5, "share"] if by_threshold else "share"}
    options: dict[str, Any] = {"score": ["score", "later"], "privileged": "men"}
    names = ["score >= 0.5", "later at an equal share"] if by_threshold else ["v1", "v2"]
    n = table.drop_duplicates("id")["v1"].sum()
    assert changed_items(table, **options, **pred)["change"].value_counts().sum() > 20
    result = gaps(table, measures="selection_rate", **options, **share)
    note = f"an equal share is flagged: {names[0]} {n}, {names[1]} {n} of 600 items"
    assert note in result.attrs["notes"]
    values = result.query("kind == 'value' and group == 'all' and measure == 'selection_rate'")
    shares = values.set_index("classifier")["value"]
    assert shares[names].tolist() == pytest.approx([n / 600] * 2)
    next_best = table[table["score"] < 0.5].nlargest(1, "score").index  # takes its place
    changed = changed_items(table, **options, **share)
    assert set(changed["row"]) == {best, *next_best}


def test_percentages_are_told() -> None:
    table = pd.DataFrame({"label": [0, 1] * 40, "group": ["men"] * 40 + ["women"] * 40})
    table["score"] = np.linspace(0.2, 99, 80)
    note = "column 'score' holds percentages: a threshold of 50 is usual"
    assert note in gaps(table, score="score", threshold=0.5).attrs["notes"]
    assert note not in gaps(table, score="score", threshold=50).attrs["notes"]


REFUSED = [
    (
        ["--threshold", "all", "--score", "score", "--write", "out.md"],
        "--md does not go with --threshold all",
    ),
    (["--threshold", "all", "--score", "s", "--names", "n.csv"], "do not go with --threshold all"),
    (["--threshold", "1"], "--threshold predicts from scores; give --score"),
    (["--threshold", "all", "--score", "score", "--pred", "label"], "leave out --pred"),
    (["--threshold", "women=.4"], "a threshold by group treats people differently"),
    (
        ["--threshold", "all", "--score", "score", "--fail-above", "fpr=0"],
        "do not go with --threshold all",
    ),
    (["--threshold", "nan", "--score", "score"], "--threshold nan: give a number"),
    (["--threshold", "5", "--score", "score"], "--threshold 5 flags no item: no 'score' is as"),
    (["--threshold", ",5", "--score", "score"], "',5' is not a number; write .5, .5,.6 for two"),
    (["--threshold", "50%", "--score", "score"], "'50%' is not a number; write .5, .5,.6 for two"),
    (["--threshold", "1", "--score", "group"], "column 'group' holds 'women'"),
    (["--threshold", "all", "--score", "scor"], "no column 'scor'; did you mean 'score'?"),
    (["--threshold", "all", "--score", "score", "--measures", "auc"], "'auc' has no gap here"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_what_no_threshold_has_is_refused(options: list[str], message: str, tmp_path: Path) -> None:
    items(40).assign(group=["women", "men"] * 20).to_csv(tmp_path / "items.csv", index=False)
    with pytest.raises(InputError) as refusal:
        main(["gaps", str(tmp_path / "items.csv"), *options])
    assert message in str(refusal.value)

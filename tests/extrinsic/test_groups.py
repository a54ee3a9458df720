"""Groups as people have them: several columns, several names a cell, lists, crossed, missing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

import biasbridge
from biasbridge.command_line import read_parameters
from biasbridge.commands.gaps import main
from biasbridge.extrinsic.gap_table import gap_table, make_block
from biasbridge.extrinsic.gaps import ALL_MEASURES, Gaps
from biasbridge.extrinsic.grouped_predictions import (
    GroupedPredictions,
    GroupOrRest,
    Predictions,
    contrast,
)
from biasbridge.extrinsic.measures import MEASURES
from biasbridge.extrinsic.spread import DIFFERENCE, estimate_spread
from biasbridge.files import InputError
from biasbridge.intrinsic.resampling import times_drawn
from biasbridge.stats.measure_facts import MEASURE_FACTS, REVERSED

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats


ROOT = Path(__file__).parents[2]
GROUPS = ("a", "b", "c")
COMPARED: list[dict[str, Any]] = [{}, {"privileged": "none"}, {"privileged": "a"}]
Items = list[tuple[int, int, frozenset[str]]]


def long_table(items: Items) -> pd.DataFrame:
    rows = [
        (number, label, prediction, name)
        for number, (label, prediction, names) in enumerate(items)
        for name in (sorted(names) or [""])
    ]
    return pd.DataFrame(rows, columns=["id", "label", "prediction", "group"])


def wide_table(items: Items, cell: Callable[[frozenset[str]], object]) -> pd.DataFrame:
    labels, predictions, names = zip(*items, strict=True)
    group = pd.Series([cell(of) for of in names], dtype=object)
    return pd.DataFrame({"label": labels, "prediction": predictions, "group": group})


def flag_table(items: Items, cells: tuple[object, object] = (0, 1)) -> pd.DataFrame:
    table = wide_table(items, sorted).drop(columns="group")
    flags = {name: [cells[name in names] for _, _, names in items] for name in GROUPS}
    return pd.concat([table, pd.DataFrame(flags)], axis=1)


FORMS: dict[str, tuple[Callable[[Items], pd.DataFrame], dict[str, Any]]] = {
    "long": (long_table, {}),
    "separator": (lambda items: wide_table(items, "; ".join), {"group_sep": ";"}),
    "lists": (lambda items: wide_table(items, sorted), {}),
    "arrays": (lambda items: wide_table(items, lambda names: np.array(sorted(names))), {}),
    "text": (lambda items: wide_table(items, lambda names: str(sorted(names))), {}),
    "array text": (lambda items: wide_table(items, lambda of: str(np.array(sorted(of)))), {}),
    "0 and 1": (flag_table, {"group": GROUPS}),
    "floats": (lambda items: flag_table(items, (0.0, 1.0)), {"group": GROUPS}),
    "truth": (lambda items: flag_table(items, (False, True)), {"group": GROUPS}),
    "words": (lambda items: flag_table(items, ("false", "True")), {"group": GROUPS}),
}


def literal_measure(measure: str, pairs: list[tuple[int, int]]) -> tuple[float, int]:
    """The measure of some items, (label, prediction), and its denominator."""
    tn, fp, fn, tp = (pairs.count(cell) for cell in product((0, 1), (0, 1)))
    k, n = {
        "precision": (tp, tp + fp),
        "recall": (tp, tp + fn),
        "f1": (2 * tp, 2 * tp + fp + fn),
        "fpr": (fp, tn + fp),
        "fnr": (fn, tp + fn),
        "accuracy": (tn + tp, len(pairs)),
        "selection_rate": (fp + tp, len(pairs)),
        "base_rate": (fn + tp, len(pairs)),
    }[measure]
    return (k / n if n else np.nan), (n if measure != "f1" else tp + fp + fn)


def literal_gaps(items: Items, measure: str) -> dict[tuple[str, str], tuple[float, int, int]]:
    """Gap and supports of all pairs of sides, by loops over sets."""
    everybody = {*range(len(items))}
    sets = {name: {i for i in everybody if name in items[i][2]} for name in GROUPS}
    nobody = everybody - set.union(*sets.values())
    pairs = [("rest", everybody - sets[name], name) for name in GROUPS]
    pairs += [("none", nobody, name) for name in GROUPS]
    pairs += [("a", sets["a"], name) for name in ("b", "c")]
    result = {}
    for privileged, members, name in pairs:
        of_first, of_second = (
            literal_measure(measure, [items[i][:2] for i in sorted(side)])
            for side in (members, sets[name])
        )
        sign = -1 if measure in ("fpr", "fnr") else 1
        gap = sign * (of_first[0] - of_second[0])
        result[privileged, name] = (gap, of_first[1], of_second[1])
    return result


def tells_groups(items: Items) -> bool:
    """Whether each group has items, and an item two groups: else an empty cell is unknown."""
    names = [of for _, _, of in items]
    return {*GROUPS} <= set().union(*names) and any(len(of) > 1 for of in names)


drawn_items = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 1), st.frozensets(st.sampled_from(GROUPS))),
    min_size=4,
    max_size=30,
).filter(tells_groups)


@settings(max_examples=8, deadline=None)
@given(items=drawn_items)
@pytest.mark.parametrize("form", FORMS)
def test_gaps_of_all_measures_and_comparisons_are_those_of_loops_over_sets(
    form: str, items: Items
) -> None:
    make, options = FORMS[form]
    measures = list(MEASURES)
    if all(of for _, _, of in items):
        items = [*items, (1, 1, frozenset())]  # "none" are compared with
    tables = [
        biasbridge.gaps(make(items), measures=measures, min_support=0, **choice, **options)
        for choice in COMPARED
    ]
    table = pd.concat(tables, ignore_index=True)
    rows = table[table["kind"] == "gap"].set_index(["measure", "privileged", "unprivileged"])
    assert rows.index.is_unique
    for measure in measures:
        if measure == "base_rate":
            continue
        for pair, (gap, n_first, n_second) in literal_gaps(items, measure).items():
            row: Any = rows.loc[(measure, *pair), :]
            assert row["value"] == pytest.approx(gap, nan_ok=True)
            supports = (row["support_privileged"], row["support_unprivileged"])
            assert supports == (n_first, n_second)
    assert len(rows) == 8 * (len(MEASURES) - 1)  # the base rate has no gap
    values = tables[0][tables[0]["kind"] == "value"].set_index(["measure", "group"])
    for measure, name in product(measures, ("all", *GROUPS)):
        pairs = [(y, guess) for y, guess, names in items if name in ("all", *names)]
        row = values.loc[(measure, name), :]
        assert (row["value"], row["support"]) == pytest.approx(
            literal_measure(measure, pairs), nan_ok=True
        )


@settings(max_examples=10, deadline=None)
@given(items=drawn_items)
def test_equal_items_may_be_merged(items: Items) -> None:
    """Every interval is that of a sum over items."""
    member, group_id = np.nonzero([[name in of for name in GROUPS] for _, _, of in items])
    cells = np.array([2 * label + prediction for label, prediction, _ in items])
    single = GroupedPredictions(GROUPS, member, group_id, cells)
    merged = single.merge_equal()
    kinds = {*zip(cells.tolist(), (of for _, _, of in items), strict=True)}
    assert len(merged.confusion_cell) == len(kinds)
    assert (merged.counts == single.counts).all()
    sides = [GroupOrRest(name) for name in (*GROUPS, "all", "none")]
    sides += [GroupOrRest(name, rest=True) for name in (*GROUPS, "none")]
    pair = contrast(single, replace(single, confusion_cell=cells // 2 * 2 + np.roll(cells % 2, 1)))
    forms: list[tuple[Predictions, Predictions]] = [(merged, single), (pair.merge_equal(), pair)]
    for measure, first, second in product(MEASURES, sides, sides):
        for form in forms:
            of_merged, of_single = (
                (
                    *sample.difference(measure, first, second),
                    sample.expected_from_base_rates(measure, first, second),
                )
                for sample in form
            )
            assert of_merged == pytest.approx(of_single, nan_ok=True, abs=1e-9)


def test_many_groups_may_be_merged() -> None:
    """More than a float has bits."""
    rng = np.random.default_rng(0)
    member, group_id = np.nonzero(rng.random((300, 120)) < 0.02)
    cells = rng.integers(0, 4, 300)
    names = [f"g{number}" for number in range(120)]
    single = GroupedPredictions(names, member, group_id, cells)
    sets: list[set[int]] = [set() for _ in range(300)]
    for item, group in zip(member.tolist(), group_id.tolist(), strict=True):
        sets[item].add(group)
    kinds = {*zip(cells.tolist(), map(frozenset, sets), strict=True)}
    merged = single.merge_equal()
    assert len(merged.confusion_cell) == len(kinds) < 300
    assert (merged.counts == single.counts).all()


def tiny(**columns: list[Any]) -> pd.DataFrame:
    n = len(next(iter(columns.values())))
    labels = {"label": [1] * n, "prediction": [1, 0] * (n // 2) + [1] * (n % 2)}
    return pd.DataFrame(labels | columns)


def supports(table: pd.DataFrame) -> dict[str, int]:
    """Number of items of each group."""
    rows = table.query("kind == 'value' and measure == 'accuracy'")
    return dict(zip(rows["group"], rows["support"], strict=True))


def measured(table: pd.DataFrame, **options: Any) -> pd.DataFrame:
    defaults: dict[str, Any] = {"measures": "accuracy", "min_support": 0}
    return biasbridge.gaps(table, **defaults | options)


def test_a_value_of_two_columns_is_named_with_its_column() -> None:
    table = tiny(
        gender=["f", "x", "m", "x"], race=["b", "x", "b", "w"], x=[1, 1, 1, 0], w=[0, 0, 1, 1]
    )
    assert supports(measured(table, group=["gender", "race"])) == {
        "f": 1,
        "m": 1,
        "gender=x": 2,
        "b": 2,
        "race=x": 1,
        "w": 1,
        "all": 4,
    }
    assert supports(measured(table, group=["race", "w"])) == {
        "b": 2,
        "x": 1,
        "race=w": 1,
        "w": 2,
        "all": 4,
    }


@pytest.mark.parametrize(
    ("options", "groups"),
    [
        ({"group": "is_women"}, {"is_women": 2, "rest": 3}),
        ({"group": "is_women", "privileged": "0"}, {"0": 3, "1": 2}),
        ({"group": ["is_women"], "unprivileged": "1"}, {"1": 2, "0": 3}),
        ({"group": ["is_women", "is_men"]}, {"is_men": 0, "is_women": 2}),
    ],
)
def test_a_column_of_0_and_1_is_the_group_of_its_name_unless_these_are_named(
    options: dict[str, Any], groups: dict[str, int]
) -> None:
    table = tiny(is_women=[0, 1, 0, 1, 0], is_men=[0, 0, 0, 0, 0])
    assert supports(measured(table, **options)) == groups | {"all": 5}


def literal_crossing(table: pd.DataFrame) -> dict[str, int]:
    counts: dict[str, int] = {}
    for gender, race in product(("f", "m"), ("b", "w", "y")):
        rows = zip(table["gender"], table["race"], strict=True)
        counts[f"{gender} & {race}"] = sum(row == (gender, race) for row in rows)
    return counts


def test_crossed_groups_are_those_of_a_loop_and_small_ones_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    gender = rng.choice(["f", "m", ""], 200, p=[0.5, 0.4, 0.1])
    race = np.where(
        gender == "m", "w", rng.choice(["b", "w", "y", ""], 200, p=[0.5, 0.4, 0.03, 0.07])
    )
    table = tiny(gender=gender.tolist(), race=race.tolist())
    counts = literal_crossing(table)
    result = measured(table, cross=["gender", "race"], min_support=10)
    assert supports(result) == counts | {"all": 200}
    assert counts["m & b"] == 0 < counts["f & y"] < 10
    small = [f"{name} ({n})" for name, n in counts.items() if n < 10]
    note = f"{len(small)} of 6 crossed groups have fewer than 10 items: {', '.join(small)}"
    assert note in result.attrs["notes"]
    reasons = result.set_index("group")["reason"]
    assert reasons["m & b"] == "no item of group m & b"
    assert reasons["f & y"].endswith("of group f & y, fewer than 10")
    both = measured(table, group="gender", cross=["gender", "race"], min_support=10)
    assert {"f", "m", "f & b"} < {*supports(both)}
    table.to_csv(tmp_path / "p.csv", index=False)
    main([str(tmp_path / "p.csv"), "--cross", "gender,race", "--measures", "accuracy"])
    assert "have fewer than 10 items: f & y" in " ".join(capsys.readouterr().out.split())


def test_three_columns_are_crossed_with_items_in_several_groups() -> None:
    table = tiny(
        a=["x;y", "x", "y", ""], b=[1, 1, 0, 1], c=[["p", "q"], ["p"], ["q"], []], d=[1, 0, 1, 0]
    )
    result = measured(table, cross=["a", "b", "c"], group="d", group_sep=";")
    rows = zip([{"x", "y"}, {"x"}, {"y"}, set()], [1, 1, 0, 1], ["pq", "p", "q", ""], strict=True)
    expected = dict.fromkeys((f"{x} & b & {z}" for x, z in product("xy", "pq")), 0)
    for names, flag, others in rows:
        for x, z in product(names, others):
            expected[f"{x} & b & {z}"] += flag
    assert supports(result) == expected | {"d": 2, "all": 4}


@pytest.mark.parametrize("empty", ["", None, np.nan, " "])
def test_empty_cells_are_no_group(empty: object) -> None:
    table = tiny(gender=["f", "m", "m", *[empty] * 3], race=["b", "b", *[empty] * 4])
    result = measured(table, group=["gender", "race"])
    assert supports(result) == {"f": 1, "m": 2, "b": 2, "all": 6}
    fate = "they count in no group of that column and in no rest of it"
    assert result.attrs["notes"][0] == f"4 of 6 rows have an empty 'gender' or 'race': {fate}"


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"group": ["a", "b", "['a' b']"]}, {}, r"is not a list of names; write it like \['A'"),
        ({"group": ["a", "b", "['a', f'{id}']"]}, {}, "which is not a list of names"),
        ({"group": ["a", "a", "a"]}, {}, "groups present: a; a gap needs two"),
        (
            {"group": ["a", "b", "c"]},
            {"group": ["group", "grup"]},
            "no column 'grup'; did you mean",
        ),
    ],
)
def test_groups_that_cannot_be_read_are_refused(
    columns: dict[str, list[Any]], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        measured(tiny(**columns).assign(x=pd.Series([None, "y", "y"], dtype=object)), **options)


@pytest.mark.parametrize(("n", "is_refused"), [(31, False), (32, True)])
def test_a_crossing_of_more_than_a_thousand_groups_is_refused(n: int, *, is_refused: bool) -> None:
    table = tiny(a=[f"a{i}" for i in range(32)], b=[f"b{min(i, n - 1)}" for i in range(32)])
    if not is_refused:
        assert (
            len(supports(measured(table, cross=["a", "b"], unprivileged="a1 & b1"))) == 32 * n + 1
        )
        return
    with pytest.raises(InputError, match=r"crossing gives 1,024 groups, allowed are 1,000"):
        measured(table, cross=["a", "b"])


def test_a_group_called_none_or_rest_is_a_group_where_no_comparison_has_the_name() -> None:
    table = tiny(group=["none", "a", "a", "none", "rest", "rest"])
    result = measured(table, privileged="none")
    values = {name: result.set_index("group")["value"][name] for name in ("none", "a", "rest")}
    gaps = result.query("kind == 'gap'").set_index("unprivileged")["value"].to_dict()
    assert gaps == {name: values["none"] - values[name] for name in ("a", "rest")}


def test_the_command_reads_what_the_function_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    table = tiny(group=rng.choice(["A;B", "A", "B; C", ""], 80).tolist())
    table["is_old"] = rng.integers(0, 2, 80)
    table.to_csv(tmp_path / "p.csv", index=False)
    options = ["--group", "group", "--group", "is_old", "--group-sep", ";"]
    options += ["--privileged", "none", "--report", str(tmp_path / "p.html")]
    main([str(tmp_path / "p.csv"), *options, "--csv", str(tmp_path / "g.csv")])
    chosen: dict[str, Any] = {"group": ["group", "is_old"], "group_sep": ";"}
    expected = biasbridge.gaps(table, privileged="none", **chosen)
    written = pd.read_csv(tmp_path / "g.csv", keep_default_na=False)
    assert written["unprivileged"].tolist() == expected["unprivileged"].tolist()
    values = pd.to_numeric(written["value"]).tolist()
    assert values == pytest.approx(expected["value"].tolist(), nan_ok=True)
    shown = " ".join(capsys.readouterr().out.split())
    assert "gap to items in no group (positive: worse for the group)" in shown
    assert "rows have an empty 'group': they are in no group, and count in the rest" in shown
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert "items in no group" in page
    assert "rows have an empty &#39;group&#39;: they are in no group, and count in" in page
    assert "label, prediction, by group, is_old." in page


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["women;black", "women", "men"], "give --group-sep ';'"),
        (["women | black", "black", "men"], r"give --group-sep '\|'"),
        (["[women, black]", "men", "men"], "a list without quotation marks"),
    ],
)
def test_several_names_in_a_cell_are_no_name(cells: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        measured(tiny(group=cells * 2))


def test_names_that_only_look_like_several() -> None:
    names = ["Ath;ens", "[male]", "[18, 25]", "['tis]", "it's [a 'b']"]
    assert supports(measured(tiny(group=names * 2))) == {**dict.fromkeys(names, 2), "all": 10}


# Items that are in several groups: a long table with a row for each item and group.
#
# Coverage of the difference of two groups that hold each of 200 items with chance .5, and .8,
# independently (4,000 sets):
#
#           recall   precision   F1     FPR    AUC
#     .5    .966     .962        .966   .962   .968
#     .8    .976     .969        .968   .968   .971

SIMULATED = ("recall", "precision", "f1", "fpr", "auc")
ASKED = Gaps("a", "b", min_support=0, measures=tuple(MEASURES), compare=("pair", "one-vs-rest"))


def items(n: int = 120) -> Items:
    """Label, prediction and groups, none or all three at the most."""
    rng = np.random.default_rng(0)
    result: Items = []
    for _ in range(n):
        label = int(rng.random() < 0.4)
        prediction = label if rng.random() < 0.7 else 1 - label
        result.append((label, prediction, frozenset(x for x in GROUPS if rng.random() < 0.4)))
    return result


def test_what_base_rates_make_of_two_groups_counts_their_shared_items_once() -> None:
    data = items()
    row = (
        gap_table(long_table(data), ASKED).query("kind == 'gap' and measure == 'precision'").iloc[0]
    )
    union = [each for each in data if each[2] & {"a", "b"}]
    recall, fpr = (np.mean([guess for label, guess, _ in union if label == of]) for of in (1, 0))

    def precision(name: str) -> float:
        rate = np.mean([label for label, _, of in union if name in of])
        return float(rate * recall / (rate * recall + (1 - rate) * fpr))

    assert row["expected_from_base_rates"] == pytest.approx(precision("a") - precision("b"))


def test_the_interval_of_two_groups_counts_what_they_share_by_a_loop_over_items() -> None:
    data = items()
    row = gap_table(long_table(data), ASKED).query("kind == 'gap' and measure == 'recall'").iloc[0]
    positive = [(guess, of) for label, guess, of in data if label]
    n, k = (
        {g: sum(w for w, of in x if g in of) for g in "ab"}
        for x in ([(1, of) for _, of in positive], positive)
    )
    moved = 0.0
    for guess, of in positive:
        moved += (
            sum(
                sign * (guess - k[g] / n[g]) / (n[g] + 2)
                for sign, g in ((1, "a"), (-1, "b"))
                if g in of
            )
            ** 2
        )
    p = {g: (k[g] + 1) / (n[g] + 2) for g in "ab"}
    pseudo = sum(
        p[g] * (1 - p[g]) / (n[g] + 2) - k[g] * (1 - k[g] / n[g]) / (n[g] + 2) ** 2 for g in "ab"
    )
    half = 1.959964 * sqrt(moved + pseudo)
    middle = p["a"] - p["b"]
    assert (row["low"], row["high"]) == pytest.approx((middle - half, middle + half), abs=1e-6)
    apart = confint_proportions_2indep(k["a"], n["a"], k["b"], n["b"], method="newcomb")
    assert row["high"] - row["low"] < 0.95 * (apart[1] - apart[0])


def test_groups_that_share_nothing_have_newcombes_interval_whatever_others_share() -> None:
    apart = [(x, y, of - {"b"} if "a" in of else of) for x, y, of in items()]
    row = gap_table(long_table(apart), ASKED).query("kind == 'gap' and measure == 'recall'").iloc[0]
    (k, n), (j, m) = (
        (sum(guesses), len(guesses))
        for name in ("a", "b")
        for guesses in [[guess for label, guess, of in apart if label and name in of]]
    )
    expected = confint_proportions_2indep(k, n, j, m, method="newcomb", compare="diff")
    assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)


def test_groups_of_the_same_items_may_yet_differ_but_by_little() -> None:
    same = [(x, y, frozenset("ab") if of else of) for x, y, of in items(400)]
    table = gap_table(
        long_table(same), Gaps("a", "b", measures=("recall",), compare=("pair", "max-difference"))
    )
    for kind in ("gap", "max_difference"):
        row = table[table["kind"] == kind].iloc[0]
        assert row["value"] == 0
        assert 0 < row["high"] < 5 / int(row["support"])


def test_items_in_several_groups_are_resampled_as_one() -> None:
    data = long_table(items()).astype({"id": str}).sample(frac=1, random_state=1)
    data = data.reset_index(drop=True).assign(resampled_by=data["id"].to_numpy())
    table = gap_table(data, ASKED).query("kind == 'gap' and measure == 'recall'")
    row = table.set_index("unprivileged").loc["c"]
    positive = data[data["label"] == 1]
    inside = {*positive.loc[positive["group"] == "c", "id"]}
    times = dict(zip(positive["id"], times_drawn(positive["id"]), strict=True))
    right = positive.set_index("id")["prediction"].groupby(level=0).first()
    ends = []
    for side in ({*positive["id"]} - inside, inside):
        drawn = sum(times[name] for name in side)
        ends.append(sum(times[name] * right[name] for name in side) / drawn)
    assert row["resampled"] == pytest.approx(ends[0] - ends[1])


@pytest.mark.parametrize("options", [{}, {"pred": ["prediction", "other"]}, {"multiclass": True}])
def test_every_way_of_asking_counts_an_id_once(options: dict[str, Any]) -> None:
    data = long_table(items())
    data["other"] = data["label"]
    table = biasbridge.gaps(data, **options, measures=["accuracy"])
    whole = table.query("kind == 'value' and group == 'all' and measure == 'accuracy'")
    assert (whole["support"] == 120).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": [1, 0, 1]}, "the rows of id 'x' differ in their label"),
        ({"prediction": [0, 1, 1]}, "the rows of id 'x' differ in their prediction"),
        ({"score": [0.5, 0.6, 0.1]}, "the rows of id 'x' differ in their score"),
        ({"group": ["a", "a", "b"]}, "id 'x' occurs twice in group 'a'"),
        ({"group": ["", "", "b"]}, "id 'x' occurs twice without a group|a gap needs two"),
        ({"id": ["x", "x", None]}, "1 of 3 rows have no id; give each, or drop the column"),
    ],
)
def test_rows_that_contradict_one_another_are_refused(change: dict[str, Any], message: str) -> None:
    rows = {"id": ["x", "x", "y"], "label": [1, 1, 1], "prediction": [1, 1, 1]}
    rows |= {"group": ["a", "b", "b"], "score": [0.5, 0.5, 0.1], "n": [1, 2, 3]} | change
    with pytest.raises(InputError, match=message):
        biasbridge.gaps(pd.DataFrame(rows), score="score", min_support=0)


def draw(n: int, share: float, groups: int, rng: np.random.Generator) -> GroupedPredictions:
    """Items that are in each group by chance, independently; the first two change the rates."""
    member = rng.random((n, groups)) < share
    label = (rng.random(n) < 0.4).astype(int)
    chance = np.where(label == 1, 0.85 - 0.15 * member[:, 0], 0.15 + 0.1 * member[:, 1])
    guess = (rng.random(n) < chance).astype(int)
    score = rng.normal(1.2 * label - 0.3 * member[:, 0], 1)
    names = [f"g{number}" for number in range(groups)]
    items, group_id = np.nonzero(member)
    return GroupedPredictions(names, items, group_id, 2 * label + guess, score, min_support=10)


def coverage(share: float, measure: str, sets: int) -> float:
    rng = np.random.default_rng(7)
    sides = GroupOrRest("g0"), GroupOrRest("g1")
    truth = draw(400_000, share, 2, rng).difference(measure, *sides).value
    result = (draw(200, share, 2, rng).difference(measure, *sides) for _ in range(sets))
    known = [each for each in result if not np.isnan(each.value)]
    return float(np.mean([each.low <= truth <= each.high for each in known]))


@pytest.mark.parametrize("measure", SIMULATED)
def test_the_difference_of_two_groups_that_share_half_holds_the_truth(measure: str) -> None:
    """In 400 sets; the standard error is .01."""
    assert 0.93 <= coverage(0.5, measure, 400) <= 0.99


@pytest.mark.stress
@pytest.mark.parametrize("measure", SIMULATED)
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_the_difference_of_two_groups_holds_the_truth_at_full_size(
    measure: str, share: float
) -> None:
    result = coverage(share, measure, 4000)
    print(share, measure, f"{result:.3f}")
    assert 0.94 <= result <= 0.98


@pytest.mark.stress
@pytest.mark.parametrize("share", [0.3, 0.6])
def test_the_largest_difference_among_overlapping_groups_holds_the_truth(share: float) -> None:
    rng, names = np.random.default_rng(3), ("g0", "g1", "g2")

    def values(sample: GroupedPredictions) -> Floats:
        return make_block(sample, "recall", names).observed

    truth = float(np.ptp(values(draw(400_000, share, 3, rng))))
    result = [
        estimate_spread([make_block(draw(300, share, 3, rng), "recall", names)], DIFFERENCE, 0.95)
        for _ in range(500)
    ]
    assert np.mean([each.low <= truth <= each.high for each in result]) >= 0.93


def test_every_measure_is_described_and_named_in_the_help() -> None:
    assert {*MEASURE_FACTS} == {*ALL_MEASURES}
    text = read_parameters(biasbridge.gaps)["measures"]
    assert {*ALL_MEASURES} <= {*re.findall(r"\w+", text)}


def test_the_columns_say_of_which_measures_gaps_are_reversed() -> None:
    columns = (ROOT / "docs/columns.csv").read_text(encoding="utf-8")
    [listed] = re.findall("`gap`: privileged minus unprivileged, reversed for ([^.]*)", columns)
    assert re.findall("`([^`]*)`", listed) == [*REVERSED]

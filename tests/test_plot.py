"""Charts for notebooks show every number of the tables that they are given."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from biasbridge import audit, debias, gaps, plot
from biasbridge.analysis.charts import PALETTE
from biasbridge.files import InputError


def numbers_in(chart: object) -> set[float]:
    """All numbers in the data of a chart, to six digits."""
    spec = json.loads(chart.to_json())  # type: ignore[attr-defined]
    rows = [row for rows in spec["datasets"].values() for row in rows]
    return {round(v, 6) for row in rows for v in row.values() if isinstance(v, float)}


def test_gaps_shows_every_value_of_every_group() -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.integers(2, size=600) for name in ("label", "prediction")})
    table = gaps(data.assign(group=rng.choice(["a", "b", "c"], 600)))
    shown = numbers_in(plot.gaps(table))
    values = table[(table["kind"] == "value") & (table["group"] != "all")]
    for name in ("value", "low", "high"):
        assert {round(v, 6) for v in values[name]} <= shown


def test_audit_shows_every_score() -> None:
    rng = np.random.default_rng(0)
    words = {"X": ["a", "b"], "Y": ["c", "d"], "A": ["e", "f"], "B": ["g", "h"]}
    vectors = {word: rng.normal(size=5) for each in words.values() for word in each}
    table = audit(vectors, words, metrics=["weat", "rnd", "mac"])
    assert {round(v, 6) for v in table["value"]} <= numbers_in(plot.audit(table))


def test_scatter_shows_every_row() -> None:
    table = pd.DataFrame({"x": [0.125, 0.25, 0.5], "y": [1.5, 2.5, 3.75]})
    assert {0.125, 0.25, 0.5, 1.5, 2.5, 3.75} <= numbers_in(plot.scatter(table, "x", "y"))


def test_a_chart_of_many_rows_is_shown() -> None:
    """Altair refuses 5,000 rows: a study of 672 models with three scores and four gaps has more."""
    x = np.arange(6_000.0)
    chart = plot.scatter(pd.DataFrame({"x": x, "y": x % 7}), "x", "y")
    assert 5_999.0 in numbers_in(chart)


def test_another_table_is_refused_in_a_line() -> None:
    message = r"no column 'kind'; give one that biasbridge\.gaps returned"
    with pytest.raises(InputError, match=message):
        plot.gaps(pd.DataFrame({"a": [1]}))


def marks(chart: object) -> list[dict[str, Any]]:
    """The rows of a chart's data that are drawn as values."""
    rows = [row for data in chart.to_dict()["datasets"].values() for row in data]  # type: ignore[attr-defined]
    return [row for row in rows if isinstance(row.get("value"), float)]


def legend(chart: object) -> list[str]:
    """The names that colours stand for."""
    text = json.dumps(chart.to_dict())  # type: ignore[attr-defined]
    domains = re.findall(r'"field": "version", "legend": \{.*?"domain": (\[.*?\])', text)
    return json.loads(domains[0]) if domains else []


def predictions(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({name: rng.integers(2, size=n) for name in ("label", "v1", "v2", "v3")})
    return table.assign(group=rng.choice(["a", "b", "c"], n))


@pytest.mark.parametrize("versions", [("v1", "v2"), ("v1", "v2", "v3")])
def test_versions_lie_beside_each_other_under_their_names(versions: tuple[str, ...]) -> None:
    table = gaps(predictions(), pred=list(versions))
    chart = plot.gaps(table)
    assert legend(chart) == [*versions]
    panels = chart.to_dict()["concat"]
    titles = [panel["title"]["text"] for panel in panels]
    assert len(titles) == len({*titles})
    is_change = ["v2 - v1" in title or "change" in title for title in titles]
    assert any(is_change)
    assert not all(is_change)
    for row in marks(chart):
        [same] = [
            value
            for *names, value in table[table["kind"] == "value"][
                ["classifier", "group", "value", "value"]
            ].itertuples(index=False)
            if names[:2] == [row["version"], row["group"]] and value == pytest.approx(row["value"])
        ][:1]
        assert same == pytest.approx(row["value"])


def test_a_change_has_a_line_at_zero_and_a_colour_of_its_own() -> None:
    chart = plot.gaps(gaps(predictions(), pred=["v1", "v2"])).to_dict()
    orders, colours = set(), set()
    for panel in chart["concat"]:
        is_change = panel["title"]["text"].endswith("v2 - v1")
        rules = [layer["encoding"]["x"].get("datum") for layer in panel["layer"]]
        assert (rules[0] == 0) == is_change
        texts = [layer["mark"].get("text") for layer in panel["layer"]]
        assert ("all items" in texts) == is_change  # with one version, too: below
        [*_, values] = panel["layer"]
        orders.add(tuple(values["encoding"]["y"]["scale"]["domain"]))
        if is_change:
            colours.add(values["encoding"]["color"]["value"])
            low, high = values["encoding"]["x"]["scale"]["domain"]
            assert low == -high
    assert len(orders) == len(colours) == 1
    assert not {*colours} & {*PALETTE[:2]}


def test_the_line_of_all_items_is_labelled_and_the_base_rate_explained() -> None:
    table = gaps(predictions(), pred="v1")
    everything = table[(table["kind"] == "value") & (table["group"] == "all")]
    panels = plot.gaps(table).to_dict()["concat"]
    for panel, value in zip(panels, everything["value"], strict=True):
        rule, label = panel["layer"][:2]
        assert label["mark"]["text"] == "all items"
        assert rule["encoding"]["x"] == label["encoding"]["x"] == {"datum": value}
    titles = [panel["title"]["text"] for panel in panels]
    assert titles[0] == "Base rate (of the true labels)"


def test_classes_and_versions_of_ones_own_are_told_apart() -> None:
    data = predictions()
    rng = np.random.default_rng(2)
    data["label"], data["v1"] = (rng.choice(["x", "y", "z"], len(data)) for _ in range(2))
    names = legend(plot.gaps(gaps(data, pred="v1", multiclass=True)))
    assert {"class x", "class y", "class z"} <= {*names}
    old, new = (gaps(predictions(), pred=name) for name in ("v1", "v2"))
    both = pd.concat([old.assign(year="2024"), new.assign(year="2025")])
    assert [name[-4:] for name in legend(plot.gaps(both))] == ["2024", "2025"]
    with pytest.raises(InputError, match="tell them apart by a column"):
        plot.gaps(pd.concat([old, new]).drop(columns="classifier", errors="ignore"))


@pytest.fixture(scope="module")
def vectors() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {word: rng.normal(size=5) for word in "abcdefgh"}


WORDS = {"X": ["a", "b"], "Y": ["c", "d"], "A": ["e", "f"], "B": ["g", "h"]}


def test_conventions_have_rows_and_embeddings_colours(vectors: dict[str, Any]) -> None:
    other = {word: vector[::-1] for word, vector in vectors.items()}
    embeddings = {"one": vectors, "two": other}
    table = audit(embeddings, WORDS, metrics=["weat", "mac"], convention="all")
    chart = plot.audit(table)
    assert legend(chart) == ["one", "two"]
    drawn = [(row["row"], row["version"], row["unbiased"], row["value"]) for row in marks(chart)]
    assert len({each[:3] for each in drawn}) == len(drawn) == len(table.dropna(subset="value"))
    for name in table.loc[table["metric"] == "weat", "convention"].unique():
        assert any(name in row.split() for row, *_ in drawn)


def test_before_and_after_have_a_legend(vectors: dict[str, Any]) -> None:
    before = audit(vectors, WORDS, metrics=["weat", "rnd"])
    after = before.assign(value=before["value"] / 2)
    with pytest.raises(InputError, match="tell them apart by a column"):
        plot.audit(pd.concat([before, after]))
    told = pd.concat([before.assign(when="before"), after.assign(when="after")])
    assert [name.split(", ")[1] for name in legend(plot.audit(told))] == ["before", "after"]
    moved = debias(vectors, WORDS, method="mean_difference")
    chart = plot.audit(moved.attrs["scores"])
    assert legend(chart) == ["before", "after"]
    scores = moved.attrs["scores"][["before", "after"]].iloc[0].tolist()
    assert [row["value"] for row in marks(chart)] == pytest.approx(scores)


def test_colours_that_do_not_suffice_are_refused(vectors: dict[str, Any]) -> None:
    table = audit(vectors, WORDS, metrics="weat")
    many = pd.concat([table.assign(vectors=str(number)) for number in range(14)])
    with pytest.raises(InputError, match=r"14 colours .* choose rows"):
        plot.audit(many)

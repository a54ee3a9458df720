"""A small experiment whose correlations can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike

from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.figures import draw_figures
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.observations import Observations
from biasbridge.analysis.slices import CORRELATION_COLUMNS, SliceResult, correlation_table
from biasbridge.analysis.tables import Tables

Row = dict[str, str | float | bool]

DOSES = [
    ("none", "", 0.0),
    ("balance", "debias", 1.0),
    ("balance", "overbias", 0.5),
    ("attract_repel", "debias", 0.5),
]
DOSES.append(("attract_repel", "overbias", 1.0))
SIGN = {"": 0, "debias": -1, "overbias": 1}


@pytest.fixture
def tables() -> Tables:
    """The small experiment, fresh for every test."""
    return make_tables()


@pytest.fixture(scope="module")
def module_tables() -> Tables:
    """The small experiment, for tests that only read it."""
    return make_tables()


@pytest.fixture
def noisy(tables: Tables) -> Tables:
    """The small experiment with noise in scores and gaps, its embeddings two bases."""
    rng = np.random.default_rng(0)
    points = tables.points.assign(
        unit_key=tables.points["point"], parent_key=tables.points["embedding"]
    )
    scores, gaps = (
        table.assign(value=table["value"] + rng.normal(scale=scale, size=len(table)))
        for table, scale in ((tables.intrinsic, 0.5), (tables.extrinsic, 0.05))
    )
    return Tables(points, scores, gaps)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small experiment's figures, drawn once."""
    folder = tmp_path_factory.mktemp("figures")
    draw_figures(join_points(make_tables()), folder)
    return folder


@pytest.fixture(scope="session")
def findings() -> list[SliceResult]:
    """The small experiment's correlations, computed once."""
    return correlate_slices(join_points(make_tables()))


@pytest.fixture(scope="session")
def slices(findings: list[SliceResult]) -> pd.DataFrame:
    """The small experiment's correlations as their table."""
    return correlation_table(findings, CORRELATION_COLUMNS)


@pytest.fixture(scope="session")
def texts() -> Callable[[Path], list[str]]:
    """Finds every piece of text in an SVG drawing, with hyphens for minus signs."""

    def find(svg: Path) -> list[str]:
        nodes = [node for node in ElementTree.parse(svg).iter() if node.tag.endswith("}text")]
        return ["".join(node.itertext()).replace("\u2212", "-") for node in nodes]

    return find


def make_rows(x: ArrayLike, y: ArrayLike, **columns: ArrayLike) -> Observations:
    """Rows that are a model each and, where no ``parent`` or ``cluster`` is given, made from one
    parent and each a cluster of its parent; other labels are empty, and there are no resamples.
    """
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    labels = {name: np.asarray(item).astype(str) for name, item in columns.items()}
    empty = np.full(len(first), "")
    labels.setdefault("model", np.arange(len(first)).astype(str))
    labels.setdefault("cluster", labels.get("parent", empty))
    method = labels.get("method", empty)
    labels.setdefault("family", np.where(method == "none", "", method))
    return Observations.make(first, second, **labels)


def make_sweep(seed: int = 0, slope: float = 0.0, /, **settings: Sequence[object]) -> Tables:
    """Four parents, a to d, of nine models, the first unmodified, measured in every combination of
    the ``settings`` (columns of the points): scores rise with the number of the model, gaps follow
    them by ``slope`` a standard deviation of noise; each value of the first setting has a level of
    its own.
    """
    rng = np.random.default_rng(seed)
    points: list[dict[str, object]] = []
    scores: list[dict[str, object]] = []
    gaps: list[dict[str, object]] = []
    every = list(product(*settings.values()))
    first = list(next(iter(settings.values()), ()))
    levels = [0.6 * first.index(values[0]) if values else 0.0 for values in every]
    for parent, number in product("abcd", range(9)):
        x, own = number - 4 + 0.1 * rng.normal(), 0.01 * (rng.normal() + slope * number)
        for values, level in zip(every, levels, strict=True):
            key = f"{parent}{number} {' '.join(map(str, values))}"
            table: dict[str, object] = {
                "embedding": "word2vec",
                "method": "balance" if number else "none",
            }
            table |= {"dose": number, "status": "done", "generated": False, "seed": 0}
            keys = {"unit_key": f"{parent}{number}", "parent_key": parent, "corpus_key": "one"}
            named = dict(zip(settings, values, strict=True))
            points.append({"point": key} | table | {"replicate": 0} | keys | named)
            for query, at in (("weat7", 1.5), ("weat8", -1.5)):
                value: dict[str, object] = {"value": x + at, "unbiased": 0.0}
                scores.append({"point": key, "metric": "weat", "query": query} | value)
            y = level + own + 0.002 * rng.normal()
            gap: dict[str, object] = {"kind": "gap", "measure": "recall", "reason": ""}
            gaps.append({"point": key, "task": "t", "group": "", "value": y} | gap)
    return Tables(*(pd.DataFrame(rows) for rows in (points, scores, gaps)))


def make_ladders(parents: int, models: int, r: float, seed: int = 0) -> Tables:
    """Models on a ladder of doses, of parents of two training algorithms. Two gaps follow the score
    of the first query by a correlation of about r within parents; two more queries share two thirds
    of their variance with it.
    """
    rng = np.random.default_rng(seed)
    parent = np.repeat(np.arange(parents), models)
    doses = np.linspace(-1, 1, models)
    first = (np.tile(doses / doses.std(), parents) + 0.4 * rng.normal(size=len(parent))) / 1.077
    others = np.sqrt(2 / 3) * first + np.sqrt(1 / 3) * rng.normal(size=(2, len(parent)))
    x = [first, *others] + rng.normal(0, 2, size=parents)[parent]
    y = r * first + np.sqrt(1 - r * r) * rng.normal(size=(2, len(parent)))
    y += rng.normal(0, 2, size=parents)[parent]
    names = [f"p{i}" for i in range(len(parent))]
    points = {"point": names, "embedding": np.where(parent % 2, "fasttext", "word2vec")}
    points |= {"method": "balance", "status": "done", "generated": False, "classifier": "cnn"}
    points |= {"unit_key": names, "parent_key": parent.astype(str)}
    ends = {"unbiased": 0.0, "scale_max": 9.0}
    of_gap = {"task": "t", "kind": "gap", "group": "", "group_by": "annotation"}
    scores, gaps = (
        pd.concat([pd.DataFrame({"point": names, name: kind, "value": v} | more) for kind, v in of])
        for name, of, more in (
            ("query", zip(("weat6b", "weat7", "weat8"), x, strict=True), {"metric": "m0"} | ends),
            ("measure", zip(("precision", "recall"), y, strict=True), of_gap),
        )
    )
    return Tables(pd.DataFrame(points), scores, gaps)


def make_tables() -> Tables:
    """Two embeddings, each unmodified and modified in four ways, two queries, two gaps; and one
    failed point.

    With s = dose, negative for debias: WEAT 7 is s and WEAT 8 is -s; the recall gap is s / 10 for
    word2vec and -s / 10 for fasttext. So r is 1 for (word2vec, WEAT 7, recall), -1 where one of the
    two changes, and 0 over both embeddings. The precision gap is .02 everywhere, undefined at one
    point.
    """
    points, intrinsic, extrinsic = [], [], []
    for embedding in ("word2vec", "fasttext"):
        for method, direction, dose in DOSES:
            key = f"{embedding} {method} {direction}".strip()
            s = SIGN[direction] * dose
            points.append(point(key, embedding, method, direction, dose))
            intrinsic += [score(key, "weat7", s), score(key, "weat8", -s)]
            gone = key == "fasttext balance debias"
            extrinsic.append(
                gap(
                    key,
                    "precision",
                    np.nan if gone else 0.02,
                    "female: no item predicted positive" if gone else "",
                )
            )
            extrinsic.append(gap(key, "recall", s / 10 if embedding == "word2vec" else -s / 10))
            extrinsic.append(overall(key, "f1", 0.7))
    points.append(
        point("broken", "word2vec", "balance", "debias", 0.5)
        | {"status": "failed", "error": "out of memory"}
    )
    return Tables(pd.DataFrame(points), pd.DataFrame(intrinsic), pd.DataFrame(extrinsic))


def point(key: str, embedding: str, method: str, direction: str, dose: float) -> Row:
    table: Row = {
        "embedding": embedding,
        "method": method,
        "direction": direction,
        "dose": dose,
        "seed": 0,
        "generated": True,
    }
    return {
        "point": key,
        "experiment": "tiny",
        "task": "hatespeech_en",
        **table,
        "status": "done",
        "error": "",
        "label_bias": np.nan,
    }


def score(key: str, query: str, value: float) -> Row:
    return {
        "point": key,
        "metric": "weat",
        "query": query,
        "part": "",
        "value": value,
        "p_value": 0.5,
        "convention": "default",
        "reason": "",
    }


def gap(key: str, measure: str, value: float, reason: str = "") -> Row:
    interval = {"value": value, "low": value - 0.03, "high": value + 0.04}
    return {
        "point": key,
        "task": "hatespeech_en",
        "kind": "gap",
        "measure": measure,
        "group": "",
        "privileged": "male",
        "unprivileged": "female",
        **interval,
        "support": 40,
        "reason": reason,
    }


def overall(key: str, measure: str, value: float) -> Row:
    whole = {"kind": "value", "group": "all", "privileged": "", "unprivileged": ""}
    return gap(key, measure, value) | whole

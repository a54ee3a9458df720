"""Conclusions: cost of permutations per slice and of influence per observation."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.row import Row, Work
from biasbridge import correlate
from biasbridge.analysis.correlation_study import Correlation
from biasbridge.analysis.tables import Tables
from biasbridge.files.terminal import open_console

POINTS, TERMS = 1_000, 50


def slices(folder: Path) -> Work:
    """Time 100 slices of 84 rows in 28 models of 4 parents, 9,999 permutations each."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(8_400, 2)), columns=["x", "y"])
    model = np.arange(8_400) % 28
    table = table.assign(model=model, parent=model % 4, slice=np.repeat(np.arange(100), 84))
    return partial(
        correlate,
        table,
        "x",
        "y",
        by="slice",
        observation="model",
        parent="parent",
        confirmatory="all",
    )


def many_rows(folder: Path) -> Work:
    """Time one slice of 100,000 rows, each a model."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(100_000, 2)), columns=["x", "y"])
    return partial(correlate, table, "x", "y")


def points() -> pd.DataFrame:
    """Return points of three methods on two embeddings; every seed is a parent."""
    number = np.arange(POINTS)
    method = np.array(["none", "balance", "attract_repel"])[number % 3]
    modified = method != "none"
    table = pd.DataFrame({"point": [f"{i:016x}" for i in number], "method": method})
    table = table.assign(
        embedding=np.array(["word2vec", "fasttext"])[number // 6 % 2],
        direction=np.where(modified, np.array(["debias", "overbias"])[number // 3 % 2], ""),
        dose=np.where(modified, np.array([0.25, 0.5, 1.0])[number // 12 % 3], 0.0),
        seed=number // 50,
    )
    constant = {"experiment": "large", "corpus": "c", "source": "s", "wordset": "w", "error": ""}
    constant |= {"status": "done"}
    table = table.assign(generated=True, **constant)
    return table.assign(parent_key=table["embedding"] + table["seed"].astype(str))


def values(rows: pd.DataFrame, spread: float, noise: float) -> pd.DataFrame:
    """Add random values, their intervals and 200 resamples to the rows."""
    rng = np.random.default_rng(0)
    value = spread * rng.normal(size=len(rows))
    resamples = value[:, None] + noise * rng.normal(size=(len(rows), 200))
    rows = rows.assign(value=value, low=value - 2 * noise, high=value + 2 * noise, reason="")
    return rows.assign(resampled=list(resamples))


def random_tables(measures: list[str], groups: list[str]) -> Tables:
    """Return scores of three queries and a gap per measure and unprivileged group."""
    table = points()
    scores = table[["point"]].merge(pd.DataFrame({"query": ["weat6b", "weat7", "weat8"]}), "cross")
    scores = values(scores, 1, 0.15).assign(metric="weat", unbiased=0.0)
    gaps = table[["point"]].merge(pd.DataFrame({"measure": measures}), "cross")
    gaps = values(gaps.merge(pd.DataFrame({"unprivileged": groups}), "cross"), 0.1, 0.05)
    gaps = gaps.assign(task="t", kind="gap", group="", privileged="m", support=50)
    return Tables(table, scores, gaps)


def study(folder: Path) -> Work:
    """Time the conclusions from 1,000 points."""
    tables = random_tables(["precision", "recall", "f1"], ["f"])
    return partial(Correlation().conclude, tables, folder, open_console(quiet=True))


def terms(folder: Path) -> Work:
    """Time the conclusions for recall gaps of fifty identity terms: 1,200 slices."""
    tables = random_tables(["recall"], [f"t{i}" for i in range(TERMS)])
    return partial(Correlation().conclude, tables, folder, open_console(quiet=True))


ROWS = [
    Row("100 slices of 84 rows in 28 models, every column", slices, 30),
    Row("a slice of 100,000 rows, each a model", many_rows, 30, 1000),
    Row("correlations, figures, page of 1,000 points", study, 40),
    Row("the same of 50 identity terms, 1,200 slices", terms, 120, 1000),
]

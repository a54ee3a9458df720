"""Inference and a whole study: 100 slices with 9,999 permutations, all that is concluded from 1,000
points, and how soon its page answers.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.console import Console

from analysis.correlate import correlate
from analysis.foreign import Levels
from analysis.results import Tables, write_tables
from analysis.study import Correlation
from benchmarks.row import Row

POINTS = 1_000


def made_up_tables(
    points: int,
    seed: int = 0,
    *,
    measures: Sequence[str] = ("precision", "recall", "f1"),
    groups: Sequence[str] = ("f",),
) -> Tables:
    """Random scores and gaps of so many points: three queries, and a gap for each measure and
    unprivileged group.
    """
    rng = np.random.default_rng(seed)
    number = np.arange(points)
    method = np.array(["none", "balance", "attract_repel"])[number % 3]
    table = pd.DataFrame(
        {
            "point": [f"{i:016x}" for i in number],
            "experiment": "large",
            "method": method,
            "seed": number // 50,
        }
    )
    table = table.assign(
        embedding=np.array(["word2vec", "fasttext"])[number // 6 % 2],
        direction=np.where(method == "none", "", np.array(["debias", "overbias"])[number // 3 % 2]),
        dose=np.where(method == "none", 0.0, np.array([0.25, 0.5, 1.0])[number // 12 % 3]),
        corpus="c",
        source="s",
        wordset="w",
        status="done",
        error="",
        generated=True,
    )
    table["base_key"] = table["embedding"] + table["seed"].astype(str)
    scores = table[["point"]].merge(
        pd.DataFrame({"query": ["weat6b", "weat7", "weat8"]}), how="cross"
    )

    def resampled(value: NDArray[np.float64], noise: float) -> pd.Series:
        drawn = value[:, None] + noise * rng.normal(size=(len(value), 200))
        return pd.Series(list(drawn))

    value = rng.normal(size=len(scores))
    scores = scores.assign(
        metric="weat", value=value, low=value - 0.3, high=value + 0.3, unbiased=0.0, reason=""
    )
    scores["resampled"] = resampled(value, 0.15)
    gaps = table[["point"]].merge(pd.DataFrame({"measure": measures}), how="cross")
    gaps = gaps.merge(pd.DataFrame({"unprivileged": groups}), how="cross")
    value = 0.1 * rng.normal(size=len(gaps))
    gaps = gaps.assign(
        task="t",
        kind="gap",
        group="",
        privileged="m",
        value=value,
        low=value - 0.1,
        high=value + 0.1,
        support=50,
        reason="",
    )
    gaps["resampled"] = resampled(value, 0.05)
    return Tables(table, scores, gaps)


def inference() -> Row:
    """100 slices of 84 rows in 28 models of 4 parents, every column of ``correlate``."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=8_400), "y": rng.normal(size=8_400)})
    model = np.arange(8_400) % 28
    table = table.assign(model=model, parent=model % 4, slice=np.repeat(np.arange(100), 84))
    start = time.perf_counter()
    correlate(
        table,
        x="x",
        y="y",
        by=["slice"],
        levels=Levels(["model"], ["parent"]),
        confirmatory=["all"],
    )
    what = "100 slices of 84 rows, 28 models of 4 parents, 9,999 permutations"
    return Row(what, time.perf_counter() - start, "s", "<= 30")


def many_rows() -> Iterator[Row]:
    """100,000 rows, each a model: all there is to say of one slice, and the memory it takes."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=100_000), "y": rng.normal(size=100_000)})
    start = time.perf_counter()
    correlate(table, x="x", y="y")
    yield Row("100,000 rows, each a model", time.perf_counter() - start, "s", "<= 30")
    tracemalloc.start()
    correlate(table, x="x", y="y")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    yield Row("the same, memory", peak / 1e9, "GB", "<= 1")


def study(folder: Path) -> Row:
    """All that is concluded from 1,000 points: correlations, figures in every format, the page."""
    tables = made_up_tables(POINTS)
    write_tables(folder, tables)
    start = time.perf_counter()
    Correlation().conclude(tables, folder, Console(quiet=True))
    took = time.perf_counter() - start
    size = (folder / "report.html").stat().st_size / 1e6
    what = f"correlations, figures and report of {POINTS:,} points ({size:.1f} MB)"
    return Row(what, took, "s", "<= 40")


def opened(page: Path) -> Row:
    """From the start of loading to the scatter that answers, in headless Chromium."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-sync",
    ):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium") or ""
    browser = webdriver.Chrome(
        options=options, service=webdriver.ChromeService(shutil.which("chromedriver"))
    )
    try:
        took: list[float] = []
        for _ in range(3):
            browser.get(page.as_uri())
            while browser.execute_script("return window.reportReady === undefined"):
                time.sleep(0.05)
            took.append(browser.execute_script("return window.reportReady") / 1000)
    finally:
        browser.quit()
    what = f"its page interactive in headless Chromium, {POINTS:,} points"
    return Row(what, median(took), "s", "<= 2")


def rows() -> Iterator[Row]:
    """What was measured, with its unit and target."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield inference()
        yield from many_rows()
        yield study(folder)
        if shutil.which("chromium") and shutil.which("chromedriver"):
            yield opened(folder / "report.html")
    finally:
        shutil.rmtree(folder)

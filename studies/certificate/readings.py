"""What a metric reads of models in which a bias of known strength is planted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import numbers, texts
from files import InputError
from files.digest import digest_of

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats
    from analysis.results import Tables

LABEL_BIAS = "label_bias"
CORRELATION_P = "t"  # the p of a correlation of 0, which is no test of an unbiased model
ANY_CASE = ",case=lower"  # what experiments add to every convention: planted words are lower case
STEPS = "training_steps"  # of models that were stopped by number; NaN: trained to the end
CORPUS = ("sentences", "dim", "posts", "classifier")
FIRST_TOKEN = re.compile(r",first_token=([^,]+)")  # of a causal model's texts, in a convention
ENCODED = ("layer", "pooling", "first_token")
SETTINGS = (*CORPUS, *ENCODED, STEPS)
USUAL = {"layer": "-1", "pooling": "mean", "first_token": "own"}
TRAINED, UNTRAINED = "", "0"  # the setting STEPS of models trained to the end, and of random ones
NAMES = ("metric", "convention", "subject", "query")


@dataclass(frozen=True)
class Readings:
    """The scores of one metric, convention and query on one subject in one setting.

    ``names``: metric, convention, subject (``word2vec en``) and query; ``setting``: size of the
    corpus and the vectors, layer, pooling, first token, training steps. ``strengths``: what was
    planted, ascending, (levels,); ``seeds``: (seeds,). ``scores``: their sign changed where less is
    more biased, shape (seeds, levels), NaN where there is none. ``p`` and ``outside``: the p of no
    bias, and 1 where the 95% interval excludes ``unbiased``, else 0; of the same shape. ``key``: of
    the models, the same for the same models.
    """

    names: Mapping[str, str]
    setting: Mapping[str, str]
    strengths: Floats
    seeds: Floats
    scores: Floats
    p: Floats
    outside: Floats
    unbiased: float
    key: str = ""

    @property
    def at_zero(self) -> Floats:
        """The scores where nothing is planted, (models,)."""
        zero = self.scores[:, 0]
        return zero[np.isfinite(zero)]

    @property
    def at_full(self) -> Floats:
        """Those where the most is planted, (models,)."""
        full = self.scores[:, -1]
        return full[np.isfinite(full)]

    @property
    def models(self) -> int:
        """How many have a score."""
        return int(np.isfinite(self.scores).sum())


def read(tables: Tables, planted: str) -> list[Readings]:
    """The readings of every score, or where ``planted`` is ``label_bias`` of every gap, in the
    order of the table.

    Rows that agree in all names, strength and seed count by their mean. Raises ``InputError`` where
    the points have no column ``planted``, or no strength 0 with others above it.
    """
    points = tables.points[tables.points["status"] == "done"]
    if not np.isfinite(numbers(points, planted)).any():
        raise InputError(f"the points have no number in {planted!r}; plant something known")
    rows = _gaps(tables) if planted == LABEL_BIAS else _scores(tables)
    joined = rows.merge(points[[name for name in points if name not in rows or name == "point"]])
    joined = joined[numbers(joined, planted) >= 0]
    strengths = np.unique(numbers(joined, planted))
    if len(strengths) < 2 or strengths[0] != 0:
        raise InputError(f"{planted} has no level 0 with others above it; plant 0 and more")
    joined = joined.assign(subject=_subjects(joined), **_settings(joined))
    return [
        _readings(dict(zip((*NAMES, *SETTINGS), map(str, key), strict=True)), part, planted)
        for key, part in joined.groupby([*NAMES, *SETTINGS], sort=False)
    ]


def _scores(tables: Tables) -> pd.DataFrame:
    rows = tables.intrinsic
    rows = rows[np.isfinite(numbers(rows, "unbiased"))]
    parts = rows.groupby(["metric", "convention", "query"])["part"].transform("first")
    rows = rows[rows["part"] == parts]  # the score of a whole set stands before those of its parts
    conventions = [name.replace(ANY_CASE, "") for name in texts(rows, "convention")]
    first = [FIRST_TOKEN.search(name) for name in conventions]
    rows = rows.assign(
        convention=[FIRST_TOKEN.sub("", name) for name in conventions],
        first_token=[found[1] if found else USUAL["first_token"] for found in first],
    )
    p = numbers(rows, "p_value")
    p = np.where(np.array(texts(rows, "p_method")) == CORRELATION_P, np.nan, p)
    return rows.assign(p=p)


def _gaps(tables: Tables) -> pd.DataFrame:
    rows = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    return rows.assign(
        metric=[f"{name} gap" for name in texts(rows, "measure")],
        convention="",
        query=texts(rows, "subset"),
        p=np.nan,
        unbiased=0.0,
        most=np.inf,
    )


def _subjects(joined: pd.DataFrame) -> list[str]:
    """``word2vec en``: the algorithm or model and the language of what it was trained on."""
    languages = texts(joined, "language") if "language" in joined else [""] * len(joined)
    pairs = zip(texts(joined, "embedding"), languages, strict=True)
    return [f"{name.partition(' ')[0]} {language}".strip() for name, language in pairs]


def _settings(joined: pd.DataFrame) -> dict[str, list[str]]:
    found = {
        name: texts(joined, name) if name in joined else [""] * len(joined) for name in SETTINGS
    }
    return {name: [_whole(cell) for cell in cells] for name, cells in found.items()}


def _whole(cell: str) -> str:
    """``10000`` for ``10000.0``, and nothing for NaN."""
    return "" if cell == "nan" else cell.removesuffix(".0")


def _readings(named: Mapping[str, str], rows: pd.DataFrame, planted: str) -> Readings:
    low, high, unbiased, most = (numbers(rows, n) for n in ("low", "high", "unbiased", "most"))
    outside = np.where(np.isfinite(low), (low > unbiased) | (high < unbiased), np.nan)
    sign = np.where((most <= unbiased) ^ _falls(named["metric"], named["convention"]), -1.0, 1.0)
    rows = rows.assign(outside=outside, value=sign * numbers(rows, "value"))
    values, chances, excluded = (
        rows.pivot_table(index="seed", columns=planted, values=name, dropna=False)
        for name in ("value", "p", "outside")
    )
    return Readings(
        {name: named[name] for name in NAMES},
        {name: named[name] for name in SETTINGS},
        np.asarray(values.columns, dtype=float),
        np.asarray(values.index, dtype=float),
        values.to_numpy(dtype=float),
        chances.to_numpy(dtype=float),
        excluded.to_numpy(dtype=float),
        float(sign[0] * unbiased[0]),
        digest_of(sorted(set(texts(rows, "unit_key"))))[:8] if "unit_key" in rows else "",
    )


def _falls(metric: str, convention: str) -> bool:
    """Whether, by its documented sign, a score is lower where there is more of the stereotype."""
    from intrinsic.metrics.every import METRICS

    if metric not in METRICS:
        return False
    known = METRICS[metric].conventions().get(convention.partition(",")[0])
    return METRICS[metric].about.falls ^ bool(known and known.turned)


def usual(every: Sequence[Readings]) -> list[Readings]:
    """Of each metric, convention and subject the readings of its first query in the setting that
    most models were trained in, read from the last layer and as the mean over tokens; random
    models are not trained.
    """
    models: dict[tuple[str, ...], int] = {}
    for one in every:
        if one.setting[STEPS] == UNTRAINED:
            continue
        key = (one.names["subject"], *_training(one))
        models[key] = max(models.get(key, 0), one.scores.size)
    largest: dict[str, tuple[str, ...]] = {}
    for subject, *training in models:
        best = largest.setdefault(subject, tuple(training))
        if models[subject, *training] > models[subject, *best]:
            largest[subject] = tuple(training)
    found: dict[tuple[str, ...], Readings] = {}
    for one in every:
        metric, convention, subject, _ = one.names.values()
        as_usual = all(one.setting[name] in ("", value) for name, value in USUAL.items())
        if as_usual and _training(one) == largest.get(subject):
            found.setdefault((metric, convention, subject), one)
    return list(found.values())


def _training(one: Readings) -> tuple[str, ...]:
    return tuple(one.setting[name] for name in (*CORPUS, STEPS))

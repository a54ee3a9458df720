"""The silhouettes of pairs of reference models, or of single models, from the tables of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from analysis.frame import lists, numbers, text_rows, texts
from files import InputError
from studies.silhouettes.scores import Scale

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats
    from analysis.results import Tables

MODELS = ("biased", "unbiased")
PAIR = ("biased_key", "unbiased_key", "seed")
KEYS = ("metric", "convention", "query", "part", "varied")
DIFFERING = ("embedding", "corpus", "sentences", "dim", "stereotype", "method", "direction", "dose")
NOTHING = ("", "none", "0")  # modified by nothing
Limits = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Pair:
    """What one metric with one query reads on two reference models while lists of one kind grow.

    ``models``: which two, in words; ``about``: the metric, convention, query, part and kind of
    list (``varied``). ``sizes``: words in the lists, (sizes,); ``biased``, ``unbiased``: the
    values, (runs, sizes), all finite; ``left_out``: sizes at which some subset had none.
    ``reason``: why there are no values, else empty. A single model is the ``biased`` one, and the
    other has no runs.
    """

    models: str
    seed: str
    about: dict[str, str]
    sizes: Floats
    biased: Floats
    unbiased: Floats
    scale: Scale
    left_out: int
    reason: str

    @property
    def instrument(self) -> str:
        """The metric and its query."""
        return " ".join(filter(None, (self.about[name] for name in ("metric", "query", "part"))))

    @property
    def there(self) -> tuple[str, ...]:
        """Those of ``MODELS`` that have values."""
        return tuple(model for model in MODELS if len(self.of(model)))

    def of(self, model: str) -> Floats:
        """The values on one of ``MODELS``, (runs, sizes)."""
        return self.biased if model == MODELS[0] else self.unbiased

    def thinned(self, most: int) -> Pair:
        """The same at so many sizes at most, the first and the last among them."""
        places = np.linspace(0, len(self.sizes) - 1, min(len(self.sizes), most)).round().astype(int)
        biased, unbiased = self.biased[:, places], self.unbiased[:, places]
        return replace(self, sizes=self.sizes[places], biased=biased, unbiased=unbiased)


def read_pairs(tables: Tables, limits: Limits) -> list[Pair]:
    """Every pair of points of two reference models, metric by metric; without ``subject=reference``
    every point alone.

    ``limits``: the ends of a metric's scale, in the place of those that it declares. Raises
    ``InputError`` where no silhouettes are, or those of one reference model alone.
    """
    probes = tables.probes[tables.probes["probe"] == "silhouettes"]
    points = tables.points[tables.points["status"] == "done"]
    if not len(probes):
        raise InputError("no silhouettes; choose probe=silhouettes")
    found: list[Pair] = []
    if "reference" not in points:
        for _, one in points.groupby("point", sort=False):
            about = (_named(one, one), texts(one, "seed")[0])
            of_it = _by_key(probes[probes["point"].isin(texts(one, "point"))])
            found += [_pair(*about, key, each, None, limits) for key, each in of_it.items()]
        return found
    for (*_, seed), both in points.groupby(list(PAIR), sort=False):
        rows = dict(list(both.groupby("reference")))
        if set(MODELS) <= rows.keys():
            named = _named(rows["biased"], rows["unbiased"])
            sides = [
                _by_key(probes[probes["point"].isin(texts(rows[name], "point"))]) for name in MODELS
            ]
            found += [
                _pair(named, str(seed), key, biased, sides[1][key], limits)
                for key, biased in sides[0].items()
                if key in sides[1]
            ]
    if not found:
        raise InputError("no two reference models; sweep over subject.which=biased,unbiased")
    return found


def _by_key(rows: pd.DataFrame) -> dict[tuple[str, ...], pd.DataFrame]:
    keys = text_rows(rows, KEYS)
    places: dict[tuple[str, ...], list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    return {key: rows.iloc[each] for key, each in places.items()}


def _named(biased: pd.DataFrame, unbiased: pd.DataFrame) -> str:
    """What both models are, and in what they differ: ``word2vec, stereotype 0.8 against 0``."""
    one, other = (
        {name: texts(each, name)[0] for name in DIFFERING if name in each}
        for each in (biased, unbiased)
    )
    shared = [
        _fact(name, value)
        for name, value in one.items()
        if value == other[name] and value not in NOTHING
    ]
    differing = [
        f"{_fact(name, value or 'none')} against {other[name] or 'none'}"
        for name, value in one.items()
        if value != other[name]
    ]
    return ", ".join(shared + differing)


def _fact(name: str, value: str) -> str:
    return value if name in ("embedding", "corpus") else f"{name} {value}"


def _pair(
    named: str,
    seed: str,
    key: tuple[str, ...],
    biased: pd.DataFrame,
    unbiased: pd.DataFrame | None,
    limits: Limits,
) -> Pair:
    about = dict(zip(KEYS, key, strict=True))
    models = [biased] if unbiased is None else [biased, unbiased]
    reason = next(filter(None, (text for each in models for text in texts(each, "reason"))), "")
    sizes = numbers(biased, "size")
    values = [lists(each, "values").T for each in models]
    if not reason and not np.array_equal(sizes, numbers(models[-1], "size")):
        reason = "the models were asked about different words"
    none = np.empty((0, len(sizes)))
    values = [none, none] if reason else [*values, none][:2]
    complete = np.logical_and.reduce(np.isfinite(np.concatenate(values)), axis=0)
    if not reason and complete.sum() < 2:
        reason = "fewer than two sizes at which every subset has a score"
    least, most = (numbers(biased, name)[0].item() for name in ("least", "most"))
    if about["metric"] in limits and not isfinite(most - least):
        least, most = limits[about["metric"]]
    scale = Scale(least, most, numbers(biased, "unbiased")[0].item())
    kept = [each[:, complete] for each in values]
    left_out = int((~complete).sum())
    return Pair(named, seed, about, sizes[complete], kept[0], kept[1], scale, left_out, reason)

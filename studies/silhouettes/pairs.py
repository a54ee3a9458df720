"""Silhouettes of pairs of reference models, or of single models, from the tables of a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.analysis.frame import as_arrays, as_float, as_text, text_rows
from biasbridge.files import InputError
from biasbridge.studies.silhouettes.scores import Scale

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.analysis.results import Tables
    from biasbridge.stats.arrays import Floats

MODELS = ("biased", "unbiased")
PAIR = ("biased_key", "unbiased_key", "seed")
KEYS = ("metric", "convention", "query", "part", "list_kind")
DIFFERING = ("embedding", "corpus", "sentences", "dim", "stereotype", "method", "direction", "dose")
UNMODIFIED = ("", "none", "0")
Limits = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class ModelPair:
    """Values of one metric and query on two reference models while lists of one kind grow.

    A single model is the ``biased`` one; the other then has no runs. ``biased``, ``unbiased``:
    (runs, sizes), all finite. ``sizes``: words in the lists; ``n_left_out`` counts those at which
    some subset had no value. ``about``: metric, convention, query, part and kind of list
    (``list_kind``). ``reason``: why there are no values; else empty.
    """

    models: str
    seed: str
    about: dict[str, str]
    sizes: Floats
    biased: Floats
    unbiased: Floats
    scale: Scale
    n_left_out: int
    reason: str

    @property
    def instrument(self) -> str:
        """The metric with its query and part."""
        return " ".join(filter(None, (self.about[name] for name in ("metric", "query", "part"))))

    @property
    def available_models(self) -> tuple[str, ...]:
        """The ``MODELS`` that have values."""
        return tuple(model for model in MODELS if len(self.values(model)))

    def values(self, model: str) -> Floats:
        """Return the values on one of ``MODELS``, (runs, sizes)."""
        return self.biased if model == MODELS[0] else self.unbiased

    def thinned(self, n_sizes: int) -> ModelPair:
        """Return the pair at no more than ``n_sizes`` sizes, with the first and the last."""
        n = min(len(self.sizes), n_sizes)
        selected = np.linspace(0, len(self.sizes) - 1, n).round().astype(int)
        biased, unbiased = self.biased[:, selected], self.unbiased[:, selected]
        return replace(self, sizes=self.sizes[selected], biased=biased, unbiased=unbiased)


def read_model_pairs(tables: Tables, limits: Limits) -> list[ModelPair]:
    """Read every pair of points of two reference models, metric by metric; without
    ``subject=reference`` every point alone. ``limits``: ends of the scales of metrics that declare
    none. Raises ``InputError`` without silhouettes, or with those of only one reference model.
    """
    probes = tables.probes[tables.probes["probe"] == "silhouettes"]
    points = tables.points[tables.points["status"] == "done"]
    if not len(probes):
        raise InputError("no silhouettes; choose probe=silhouettes")
    pairs: list[ModelPair] = []
    if "reference" not in points:
        for _, point in points.groupby("point", sort=False):
            models, seed = _describe_models(point, point), as_text(point, "seed")[0]
            pairs += [
                _model_pair(models, seed, key, rows, None, limits)
                for key, rows in _rows_by_key(probes, point).items()
            ]
        return pairs
    for (*_, pair_seed), points_of_pair in points.groupby(list(PAIR), sort=False):
        by_reference = dict(list(points_of_pair.groupby("reference")))
        if set(MODELS) <= by_reference.keys():
            models = _describe_models(by_reference["biased"], by_reference["unbiased"])
            biased, unbiased = (_rows_by_key(probes, by_reference[model]) for model in MODELS)
            pairs += [
                _model_pair(models, str(pair_seed), key, rows, unbiased[key], limits)
                for key, rows in biased.items()
                if key in unbiased
            ]
    if not pairs:
        raise InputError("no two reference models; sweep over subject.which=biased,unbiased")
    return pairs


def _rows_by_key(probes: pd.DataFrame, point: pd.DataFrame) -> dict[tuple[str, ...], pd.DataFrame]:
    """Group the probe's rows of a point by metric, convention, query, part and kind of list."""
    rows = probes[probes["point"].isin(as_text(point, "point"))]
    row_numbers: dict[tuple[str, ...], list[int]] = {}
    for i, key in enumerate(text_rows(rows, KEYS)):
        row_numbers.setdefault(key, []).append(i)
    return {key: rows.iloc[numbers_of_key] for key, numbers_of_key in row_numbers.items()}


def _describe_models(biased: pd.DataFrame, unbiased: pd.DataFrame) -> str:
    """Describe the common and differing columns: ``word2vec, stereotype 0.8 against 0``."""
    biased_columns, unbiased_columns = (
        {name: as_text(model, name)[0] for name in DIFFERING if name in model}
        for model in (biased, unbiased)
    )
    shared = [
        _describe_column(name, value)
        for name, value in biased_columns.items()
        if value == unbiased_columns[name] and value not in UNMODIFIED
    ]
    differing = [
        f"{_describe_column(name, value or 'none')} against {unbiased_columns[name] or 'none'}"
        for name, value in biased_columns.items()
        if value != unbiased_columns[name]
    ]
    return ", ".join(shared + differing)


def _describe_column(name: str, value: str) -> str:
    return value if name in ("embedding", "corpus") else f"{name} {value}"


def _model_pair(
    description: str,
    seed: str,
    key: tuple[str, ...],
    biased: pd.DataFrame,
    unbiased: pd.DataFrame | None,
    limits: Limits,
) -> ModelPair:
    about = dict(zip(KEYS, key, strict=True))
    models = [biased] if unbiased is None else [biased, unbiased]
    reasons = (reason for rows in models for reason in as_text(rows, "reason"))
    reason = next(filter(None, reasons), "")
    sizes = as_float(biased, "size")
    values = [as_arrays(rows, "values").T for rows in models]
    if not reason and not np.array_equal(sizes, as_float(models[-1], "size")):
        reason = "the models have different words in their vocabularies"
    no_runs = np.empty((0, len(sizes)))
    values = [no_runs, no_runs] if reason else [*values, no_runs][:2]
    is_complete = np.logical_and.reduce(np.isfinite(np.concatenate(values)), axis=0)
    if not reason and is_complete.sum() < 2:
        reason = "fewer than two sizes at which every subset has a score"
    minimum, maximum = (as_float(biased, name)[0].item() for name in ("scale_min", "scale_max"))
    if about["metric"] in limits and not isfinite(maximum - minimum):
        minimum, maximum = limits[about["metric"]]
    scale = Scale(minimum, maximum, as_float(biased, "unbiased")[0].item())
    biased_values, unbiased_values = (array[:, is_complete] for array in values)
    n_left_out = int((~is_complete).sum())
    return ModelPair(
        description,
        seed,
        about,
        sizes[is_complete],
        biased_values,
        unbiased_values,
        scale,
        n_left_out,
        reason,
    )

"""Scores of models in which a bias of known strength is planted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biasbridge.analysis.frame import as_float, as_text
from biasbridge.files import InputError
from biasbridge.files.digest import digest_of
from biasbridge.studies.certificate import SYNTHETIC

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.analysis.results import Tables
    from biasbridge.stats.arrays import Floats

LABEL_BIAS = "label_bias"
CORRELATION_P = "t"  # the p of a correlation of 0, which does not test for an unbiased model
ANY_CASE = ",case=lower"  # experiments add it to every convention: planted words are lower case
STEPS = "training_steps"  # of models stopped early; NaN: trained to the end
CORPUS = ("sentences", "dim", "posts", "classifier")
FIRST_TOKEN = re.compile(r",first_token=([^,]+)")  # first token of a causal model's texts
ENCODED = ("layer", "pooling", "first_token")
SETTINGS = (*CORPUS, *ENCODED, STEPS)
DEFAULTS = {"layer": "-1", "pooling": "mean", "first_token": "own"}
TRAINED, UNTRAINED = "", "0"  # STEPS of models trained to the end, and of random models
NAMES = ("metric", "convention", "material", "subject", "query")
KEY_LENGTH = 8
OFF_TARGET = "off_target"  # strength of a stereotype of other words
# A reading is a score of one model. sign: -1 where a lower score is more biased
NUMBERS = ("strength", OFF_TARGET, "seed", "sign", "value", "low", "high", "p", "unbiased")
READING = (*NAMES, *SETTINGS, *NUMBERS, "model")


@dataclass(frozen=True)
class StrengthScores:
    """Scores of one metric, convention and query on one subject in one setting.

    ``setting``: size of corpus and vectors, layer, pooling, first token, training steps. Arrays are
    (seeds, levels), NaN where missing: ``scores``, with their sign changed where lower is more
    biased; ``p`` of no bias; ``excludes_unbiased``, 1 where the 95% interval excludes ``unbiased``
    (which has the sign of the scores), else 0. ``strengths`` ascend and hold 0. ``off_target``,
    (seeds,): scores of models with a stereotype of other words. ``key``: digest of the models.
    """

    names: Mapping[str, str]
    setting: Mapping[str, str]
    strengths: Floats
    seeds: Floats
    scores: Floats
    p: Floats
    excludes_unbiased: Floats
    unbiased: float
    off_target: Floats
    key: str = ""

    def column(self, strength: float) -> Floats:
        """Return the scores at a strength, (seeds,)."""
        return self.scores[:, self.strengths == strength][:, 0]

    @property
    def n_models(self) -> int:
        """Number of models with a score."""
        return int(np.isfinite(self.scores).sum())


def read_scores(tables: Tables, planted: str) -> list[StrengthScores]:
    """Read every score, for ``label_bias`` every gap, in the order of the table."""
    return strength_scores(read_readings(tables, planted))


def read_readings(tables: Tables, planted: str) -> pd.DataFrame:
    """Read the scores of all models, or for ``label_bias`` the gaps, with the columns ``READING``.

    Raises ``InputError`` if the points have no number in ``planted``, or no strength 0 with others
    above it.
    """
    points = tables.points[tables.points["status"] == "done"]
    if not np.isfinite(as_float(points, planted)).any():
        raise InputError(
            f"the points have no number in {planted!r}; plant a bias of known strength"
        )
    rows = _gap_rows(tables) if planted == LABEL_BIAS else _score_rows(tables)
    joined = rows.merge(points[[name for name in points if name not in rows or name == "point"]])
    strengths = as_float(joined, planted)
    joined = joined[np.isfinite(strengths)].assign(strength=strengths[np.isfinite(strengths)])
    if 0 not in set(joined["strength"]) or not joined["strength"].max() > 0:
        raise InputError(f"{planted} has no level 0 with others above it; plant 0 and more")
    scale_max, unbiased = as_float(joined, "scale_max"), as_float(joined, "unbiased")
    names = zip(as_text(joined, "metric"), as_text(joined, "convention"), strict=True)
    is_reversed = (scale_max <= unbiased) ^ np.array([_falls(*name) for name in names])
    off_target = as_float(joined, OFF_TARGET) if OFF_TARGET in joined else np.zeros(len(joined))
    models = as_text(joined, "unit_key") if "unit_key" in joined else [""] * len(joined)
    joined = joined.assign(
        **_settings(joined),
        material=_materials(joined),
        subject=_subjects(joined),
        sign=np.where(is_reversed, -1, 1),
        off_target=np.nan_to_num(off_target),
        model=[key[:KEY_LENGTH] for key in models],
    )
    return joined[[*READING]]


def strength_scores(readings: pd.DataFrame) -> list[StrengthScores]:
    """Group readings by name and setting, in the order of the table. Readings that agree in all
    names, strength and seed are averaged.
    """
    if "material" not in readings:  # recorded before there was any other
        readings = readings.assign(material=SYNTHETIC)
    texts = {name: as_text(readings, name) for name in (*NAMES, *SETTINGS, "model")}
    readings = readings.assign(**_settings(readings), **{n: texts[n] for n in (*NAMES, "model")})
    return [
        _strength_scores(dict(zip((*NAMES, *SETTINGS), map(str, key), strict=True)), group)
        for key, group in readings.groupby([*NAMES, *SETTINGS], sort=False)
    ]


def _score_rows(tables: Tables) -> pd.DataFrame:
    rows = tables.intrinsic
    rows = rows[np.isfinite(as_float(rows, "unbiased"))]
    first_parts = rows.groupby(["metric", "convention", "query"])["part"].transform("first")
    rows = rows[rows["part"] == first_parts]  # a whole set comes before its parts
    conventions = [name.replace(ANY_CASE, "") for name in as_text(rows, "convention")]
    matches = [FIRST_TOKEN.search(name) for name in conventions]
    rows = rows.assign(
        convention=[FIRST_TOKEN.sub("", name) for name in conventions],
        first_token=[match[1] if match else DEFAULTS["first_token"] for match in matches],
    )
    p = as_float(rows, "p_value")
    p = np.where(np.array(as_text(rows, "p_method")) == CORRELATION_P, np.nan, p)
    return rows.assign(p=p)


def _gap_rows(tables: Tables) -> pd.DataFrame:
    rows = tables.extrinsic[tables.extrinsic["kind"] == "gap"]
    return rows.assign(
        metric=[f"{name} gap" for name in as_text(rows, "measure")],
        convention="",
        query=as_text(rows, "subset"),
        p=np.nan,
        unbiased=0.0,
        scale_max=np.inf,
    )


def _materials(joined: pd.DataFrame) -> list[str]:
    """Name what the bias was planted in: a model, real text, or ``synthetic`` text."""
    models, corpora, generated = (
        as_text(joined, name) if name in joined else [""] * len(joined)
        for name in ("material", "corpus", "generated")
    )
    return [
        model or (corpus if is_generated == "False" else SYNTHETIC)
        for model, corpus, is_generated in zip(models, corpora, generated, strict=True)
    ]


def _subjects(joined: pd.DataFrame) -> list[str]:
    """Name each subject by algorithm or model and training language: ``word2vec en``."""
    languages = as_text(joined, "language") if "language" in joined else [""] * len(joined)
    pairs = zip(as_text(joined, "embedding"), languages, strict=True)
    return [f"{name.partition(' ')[0]} {language}".strip() for name, language in pairs]


def _settings(joined: pd.DataFrame) -> dict[str, list[str]]:
    settings = {
        name: as_text(joined, name) if name in joined else [""] * len(joined) for name in SETTINGS
    }
    return {name: [_integer_text(cell) for cell in cells] for name, cells in settings.items()}


def _integer_text(cell: str) -> str:
    """Return ``10000`` for ``10000.0``, and an empty text for NaN."""
    return "" if cell == "nan" else cell.removesuffix(".0")


def _strength_scores(names: Mapping[str, str], rows: pd.DataFrame) -> StrengthScores:
    low, high, unbiased = (as_float(rows, name) for name in ("low", "high", "unbiased"))
    outside = np.where(np.isfinite(low), (low > unbiased) | (high < unbiased), np.nan)
    rows = rows.assign(outside=outside, value=rows["sign"] * as_float(rows, "value"))
    has_other_words = as_float(rows, OFF_TARGET) != 0
    scores, p, excluded = (
        rows[~has_other_words].pivot_table(
            index="seed", columns="strength", values=name, dropna=False
        )
        for name in ("value", "p", "outside")
    )
    strengths = sorted({0.0, *scores.columns})
    others = rows[has_other_words]
    # Of a reversed stereotype the score that the same one would have, by its change from 0
    reversed_ones = as_float(others, OFF_TARGET) < 0
    if reversed_ones.any():
        zero = scores.reindex(others["seed"], columns=[0.0])[0.0].to_numpy()
        mirrored = 2 * zero - as_float(others, "value")
        others = others.assign(value=np.where(reversed_ones, mirrored, others["value"]))
    off_target = others.groupby("seed")["value"].mean().reindex(scores.index)
    values, p_values, claims = (
        table.reindex(columns=strengths).to_numpy(dtype=float) for table in (scores, p, excluded)
    )
    return StrengthScores(
        {name: names[name] for name in NAMES},
        {name: names[name] for name in SETTINGS},
        np.array(strengths),
        np.asarray(scores.index, dtype=float),
        values,
        p_values,
        claims,
        float(rows["sign"].iloc[0] * unbiased[0]),
        off_target.to_numpy(dtype=float),
        digest_of(sorted(set(rows["model"])))[:KEY_LENGTH],
    )


def _falls(metric: str, convention: str) -> bool:
    """Test whether a score falls with the stereotype by its documented sign."""
    from biasbridge.intrinsic.metrics.vector_metrics import METRICS

    if metric not in METRICS:
        return False
    declared = METRICS[metric].conventions().get(convention.partition(",")[0])
    return METRICS[metric].about.falls ^ bool(declared and declared.is_reversed)


def default_setting(all_scores: Sequence[StrengthScores]) -> list[StrengthScores]:
    """Select one query and setting for each metric, convention, material and subject: the first
    query in the setting of most trained models, with the last layer and the mean over tokens; no
    random models.
    """
    n_models: dict[tuple[str, ...], int] = {}
    for scores in all_scores:
        if scores.setting[STEPS] == UNTRAINED:
            continue
        key = (*_kind(scores), *_training_setting(scores))
        n_models[key] = max(n_models.get(key, 0), scores.scores.size)
    largest: dict[tuple[str, ...], tuple[str, ...]] = {}
    for material, subject, *training in n_models:
        best = largest.setdefault((material, subject), tuple(training))
        if n_models[material, subject, *training] > n_models[material, subject, *best]:
            largest[material, subject] = tuple(training)
    selected: dict[tuple[str, ...], StrengthScores] = {}
    for scores in all_scores:
        is_default = all(scores.setting[name] in ("", value) for name, value in DEFAULTS.items())
        if is_default and _training_setting(scores) == largest.get(_kind(scores)):
            metric, convention = scores.names["metric"], scores.names["convention"]
            selected.setdefault((metric, convention, *_kind(scores)), scores)
    return list(selected.values())


def _kind(scores: StrengthScores) -> tuple[str, str]:
    return scores.names["material"], scores.names["subject"]


def _training_setting(scores: StrengthScores) -> tuple[str, ...]:
    return tuple(scores.setting[name] for name in (*CORPUS, STEPS))

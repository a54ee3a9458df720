"""The tables of a certificate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analysis.correlation import Estimate
from studies.certificate.measures import Alarms, alarms, mean_interval, measure
from studies.certificate.readings import STEPS, TRAINED, UNTRAINED, usual
from studies.certificate.verdict import NOT, judge

if TYPE_CHECKING:
    from analysis.arrays import Floats
    from studies.certificate.readings import Readings

CHOICES = {
    "query": "word list or templates",
    "sentences": "size of the corpus",
    "dim": "length of the vectors",
    "posts": "number of posts",
    "layer": "layer",
    "pooling": "pooling",
    "first_token": "first token",
}
FEWEST_MODELS = 3
Row = dict[str, object]
Names = tuple[str, ...]


class Certified(NamedTuple):
    """The tables: a row a metric, convention and subject; a strength of each; a choice of each; and
    a number of training steps of each.
    """

    certificate: pd.DataFrame
    curves: pd.DataFrame
    choices: pd.DataFrame
    training: pd.DataFrame


def certify(every: Sequence[Readings], resamples: int) -> Certified:
    """What is said of every metric, convention and subject, in the order of their readings; those
    without any reading are left out.
    """
    by_score: dict[Names, list[Readings]] = defaultdict(list)
    for one in every:
        by_score[_score(one)].append(one)
    rows: list[Row] = []
    curves: list[Row] = []
    choices: list[Row] = []
    training: list[Row] = []
    for one in usual(every):
        if not one.models:
            continue
        others = by_score[_score(one)]
        found = measure(one, resamples)
        effect = found.at_full - found.at_zero
        swayed = [*_choices(one, others, effect)]
        learned = [*_training(one, others)]
        verdict, why = judge(found, random := _random(one, others))
        follows = verdict != NOT  # else there is nothing to tell or to learn
        sway: Row = max(swayed, key=lambda row: float(str(row["share"])), default={})
        rows.append(
            {
                **one.names,
                "models": one.models,
                "seeds": len(one.scores),
                **_flat("slope", found.slope),
                **_flat("r", found.r),
                "at_zero": found.at_zero,
                "at_full": found.at_full,
                "offset": found.offset,
                **_flat("false_alarms", found.alarms.share),
                "alarms_by": found.alarms.by,
                **_flat("random_alarms", random.share),
                **_flat("smallest_strength", found.smallest if follows else Estimate()),
                "choice": sway.get("choice", ""),
                "choice_share": sway.get("share", nan),
                "learned_at": _half_learned(learned) if follows else nan,
                "verdict": verdict,
                "why": why,
                "models_key": one.key,
            }
        )
        curves += _curve(one)
        choices += swayed
        training += learned
    frames = (pd.DataFrame(each) for each in (rows, curves, choices, training))
    return Certified(*frames)


def _score(one: Readings) -> Names:
    return tuple(one.names[name] for name in ("metric", "convention", "subject"))


def _flat(name: str, one: Estimate) -> Row:
    """The estimate and its ends, NaN where there is none (infinite: at no strength)."""
    ends = zip(("", "_low", "_high"), one, strict=True)
    return {f"{name}{end}": value if isfinite(value) else nan for end, value in ends}


def _curve(one: Readings) -> Iterable[Row]:
    """The mean score at each strength with its 95% t interval over seeds."""
    for strength, values in zip(one.strengths.tolist(), one.scores.T, strict=True):
        known = values[np.isfinite(values)]
        if len(known):
            found = mean_interval(known)._replace(value=float(known.mean()))
            yield {
                **one.names,
                "strength": strength,
                "models": len(known),
                **_flat("score", found),
            }


def _choices(one: Readings, others: Iterable[Readings], effect: float) -> Iterable[Row]:
    """How far a choice alone moves the score of the same seed and strength: the root mean square
    of the move from the usual setting, over models and over what can be chosen, as a share of the
    ``effect``, from no bias to the strongest planted. A row a choice.
    """
    moved: dict[str, list[Floats]] = defaultdict(list)
    options: dict[str, list[str]] = defaultdict(list)
    for other in others:
        differs = _differences(one, other)
        if len(differs) == 1 and differs[0] in CHOICES:
            apart = _apart(one, other)
            if len(apart) >= FEWEST_MODELS:
                moved[differs[0]].append(apart)
                options[differs[0]].append(_value(other, differs[0]))
    for choice, found in moved.items():
        size = float(np.sqrt(np.square(np.concatenate(found)).mean()))
        if not size:
            continue  # the score does not depend on it
        yield {
            **one.names,
            "choice": CHOICES[choice],
            "usual": _value(one, choice),
            "others": ", ".join(options[choice]),
            "models": min(map(len, found)),
            "moved": size,
            "share": size / abs(effect) if effect else nan,
        }


def _differences(one: Readings, other: Readings) -> list[str]:
    """In what two readings of a metric, convention and subject differ."""
    settings = [name for name in one.setting if one.setting[name] != other.setting[name]]
    return [*(["query"] if one.names["query"] != other.names["query"] else []), *settings]


def _value(one: Readings, choice: str) -> str:
    return one.names["query"] if choice == "query" else one.setting[choice]


def _apart(one: Readings, other: Readings) -> Floats:
    """How far the scores lie apart of the seeds and strengths that both have. Shape (models,)."""
    _, here, there = np.intersect1d(one.seeds, other.seeds, return_indices=True)
    _, at, to = np.intersect1d(one.strengths, other.strengths, return_indices=True)
    found = other.scores[np.ix_(there, to)] - one.scores[np.ix_(here, at)]
    return found[np.isfinite(found)]


def _of_training(one: Readings, others: Iterable[Readings]) -> list[tuple[int, Readings]]:
    """The readings of models that were stopped after so many steps, in order."""
    stopped = [
        (int(other.setting[STEPS]), other)
        for other in others
        if other.setting[STEPS] != TRAINED and _differences(one, other) == [STEPS]
    ]
    return sorted(stopped, key=lambda each: each[0])


def _training(one: Readings, others: Iterable[Readings]) -> Iterable[Row]:
    """The mean score at the highest strength after so many training steps, with its interval, to
    the end of training; nothing where there are only random weights beside it.
    """
    stopped = _of_training(one, others)
    ended = [(nan, one)] if not one.setting[STEPS] else []
    if any(steps for steps, _ in stopped):
        for steps, other in [*stopped, *ended]:
            if len(other.at_full):
                found = mean_interval(other.at_full)._replace(value=float(other.at_full.mean()))
                models = len(other.at_full)
                yield {**one.names, "steps": steps, "models": models, **_flat("score", found)}


def _half_learned(rows: Sequence[Row]) -> float:
    """The training steps after which the mean score has gone half of its way from random weights to
    the end of training, and stays there; NaN where it never has before the end.
    """
    if len(rows) < FEWEST_MODELS:
        return nan
    score = np.array([float(str(row["score"])) for row in rows])
    gone = (score[:-1] - score[0]) / (score[-1] - score[0]) if score[-1] != score[0] else score * 0
    behind = np.flatnonzero(gone < 0.5)
    place = int(behind[-1]) + 1 if len(behind) else 0
    return float(str(rows[place]["steps"])) if place < len(rows) - 1 else nan


def _random(one: Readings, others: Iterable[Readings]) -> Alarms:
    """How often a bias is claimed of random vectors or weights, whatever the corpus was."""
    for steps, other in _of_training(one, others):
        if steps == int(UNTRAINED):
            return alarms(other.p.ravel(), other.outside.ravel())
    return Alarms()

"""Does the gap follow a score better that asks about the task's own words? The difference of two
r_rm over the same models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy

from analysis.correlation import LEVEL, Estimate, without_each
from analysis.frame import numbers, positions, texts
from analysis.joined import rows_of
from analysis.naming import ALL, GAP, SCORE
from analysis.observations import Observations, observations
from analysis.results import write_conclusions
from analysis.sampling import FEWEST_RESAMPLES, slopes
from analysis.show import print_described, varying
from analysis.slices import slices
from analysis.verdict import FEWEST_DF

if TYPE_CHECKING:
    from rich.console import Console

    from analysis.arrays import Floats
    from analysis.residuals import Residuals

ALIGNED = "from_task"  # the query of words drawn from the task's own training data
KINDS = ("task", "classifier", *(name for name in SCORE if name != "query"), *GAP)


class Alignment(NamedTuple):
    """r_rm of a metric asked with the task's words, and with those of ``other`` queries (``all``:
    the mean of their r_rm), with one gap, over the same ``n`` models of ``n_parents`` parents;
    their difference with its 95% interval.
    """

    task: str
    metric: str
    convention: str
    part: str
    classifier: str
    measure: str
    subset: str
    privileged: str
    unprivileged: str
    other: str
    n: int
    n_parents: int
    df: int
    r_aligned: float
    r_other: float
    difference: float
    low: float
    high: float


def alignments(joined: pd.DataFrame) -> list[Alignment]:
    """Every metric that was asked ``from_task`` and otherwise too, with every gap, where 8 degrees
    of freedom are left; the first row of each has all other queries.
    """
    joined = joined[np.isfinite(numbers(joined, "unbiased"))]
    return [each for names, part in _parts(joined) for each in _of_part(names, part)]


def _parts(joined: pd.DataFrame) -> Iterator[tuple[dict[str, str], dict[str, Observations]]]:
    """Of each metric and gap the models that have a score of every query, by query."""
    whole, query = rows_of(joined), np.array(texts(joined, "query"), dtype=object)
    for names, places in slices(joined, KINDS):
        by_query = positions(query[places].tolist())
        if ALIGNED not in by_query or len(by_query) < 2:
            continue
        found = {
            name: observations(whole.at(places[own]).comparable()) for name, own in by_query.items()
        }
        shared = set.intersection(*(set(each.model.tolist()) for each in found.values()))
        yield names, {name: _of(each, shared) for name, each in found.items()}


def _of(models: Observations, names: set[str]) -> Observations:
    """The models of these names, in their order, as r_rm takes them."""
    kept = [at for at, name in enumerate(models.model.tolist()) if name in names]
    order = sorted(kept, key=lambda at: str(models.model[at]))
    return models.at(np.array(order, dtype=np.intp)).independent()


def _of_part(names: dict[str, str], part: dict[str, Observations]) -> Iterator[Alignment]:
    aligned = part.pop(ALIGNED)
    left = aligned.residuals()
    others = {name: each for name, each in part.items() if each.residuals().defined}
    if left.df < FEWEST_DF or not left.defined or not others:
        return
    compared = {ALL: list(others.values())}
    if len(others) > 1:
        compared |= {name: [each] for name, each in others.items()}
    size = len(aligned.x), len(set(aligned.parent.tolist())), left.df
    for name, of in compared.items():
        found = difference(aligned, of)
        fields = names | {"other": name}
        named = [fields[each] for each in Alignment._fields[: Alignment._fields.index("n")]]
        yield Alignment._make((*named, *size, left.r, left.r - found.value, *found))


def difference(aligned: Observations, others: Sequence[Observations]) -> Estimate:
    """r_rm of one score less the mean r_rm of others, of the same models and gaps, with its 95%
    interval.

    D -+ t sqrt(s^2 + c^2): s the jackknife standard error of D, each model left out of all at once;
    c that of sampling words and items, the same for all models and scores; t: Student's of df. In
    [-2, 2], 0: alike.
    """
    of = [each.residuals() for each in (aligned, *others)]
    weights = [1.0, *[-1 / len(others)] * len(others)]
    value = sum(weight * each.r for weight, each in zip(weights, of, strict=True))
    left_out = sum((w * without_each(e) for w, e in zip(weights, of, strict=True)), np.zeros(1))
    n, df = len(left_out), of[0].df
    variance = (df + 1) / n * float(((left_out - left_out.mean()) ** 2).sum())
    variance += _shared(weights, of, [(e.x_resampled, True) for e in (aligned, *others)])
    variance += _shared(weights, of, [(e.y_resampled, False) for e in (aligned, *others)])
    reach = float(scipy.special.stdtrit(df, 1 - LEVEL / 2)) * sqrt(variance)
    return Estimate(value, max(-2.0, value - reach), min(2.0, value + reach))


def _shared(
    weights: Sequence[float], of: Sequence[Residuals], drawn: Sequence[tuple[Floats, bool]]
) -> float:
    """c^2 by words (of scores) or items (of gaps), see ``analysis.sampling``; 0 where it is not
    estimated.
    """
    known = min(values.shape[1] for values, _ in drawn)
    if known < FEWEST_RESAMPLES:
        return 0.0
    moved = np.zeros((len(of[0].u), known))
    for weight, each, (values, of_score) in zip(weights, of, drawn, strict=True):
        sides = (each.u, each.v) if of_score else (each.v, each.u)
        slope = slopes(*sides, each.r) * (1 - each.r**2)
        moved += weight * each.residual(values[:, :known]) * slope[:, None]
    moved = moved[:, np.isfinite(moved).all(axis=0)]
    if moved.shape[1] < FEWEST_RESAMPLES:
        return 0.0
    alone = float((moved.var(axis=1, ddof=1) / (1 - of[0].h)).sum())
    return max(0.0, float(moved.sum(axis=0).var(ddof=1)) - alone)


def alignment_table(found: Sequence[Alignment]) -> pd.DataFrame:
    """One row a metric, gap and other query, or all of these; a column a field of ``Alignment``."""
    return pd.DataFrame(found, columns=list(Alignment._fields))


def write_alignment(found: Sequence[Alignment], folder: Path, console: Console) -> list[Path]:
    """Print the differences from all other queries and write ``alignment.csv``; its path, of none
    nothing.
    """
    if not found:
        return []
    title = "r_rm of scores that ask about the task's words, less that of others"
    whole = [each for each in found if each.other == ALL]
    print_described(title, varying(alignment_table(whole)), console)
    return write_conclusions(folder, {"alignment": alignment_table(found)})

"""What is found of a slice, and the table of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite, nan, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from analysis.correlation import PERMUTATIONS, Correlation, Estimate, minimum_detectable
from analysis.frame import positions
from analysis.naming import CONTROL, ORIGINAL, SLICE_COLUMNS
from analysis.observations import Line, observations
from analysis.reliability import NoiseShares, noise_shares

if TYPE_CHECKING:
    from analysis.observations import Observations
    from analysis.rows import Rows

MOST_EQUAL = 0.5  # of the models with the same score, or gap: more is saturation
MOST_OF_ONE = 2 / 3  # of the variance within parents, with one model
EXPLORED = 999  # permutations of a slice that gets no verdict
FEWEST_CONDITIONS = 10  # for 8 degrees of freedom over conditions
RESULT_COLUMNS = (
    *("n", "n_parents", "n_conditions", "n_clusters", "lost"),
    *("r_rm", "low", "high", "p", "p_holm", "verdict", "scope", "why"),
    *("r_conditions", "low_conditions", "high_conditions", "p_conditions"),
    *("slope", "slope_low", "slope_high"),
    *("slope_conditions", "slope_conditions_low", "slope_conditions_high"),
    *("r_given_condition", "low_given_condition", "high_given_condition"),
    *("r_given_utility", "low_given_utility", "high_given_utility"),
    *("low_clusters", "high_clusters", "mde", "sampling_error"),
    *("reliability_x", "reliability_y"),
    *("most_influential", "synthetic", "note"),
)
CORRELATION_COLUMNS = (*SLICE_COLUMNS, *RESULT_COLUMNS)


class Finding(NamedTuple):
    """A slice, named by the columns sliced by, and what is found of it.

    ``n``: models with a score, a gap and another model of their parent; ``n_parents``,
    ``n_conditions``: 0 where none are known; ``lost``: models without a score or a gap,
    ``planned``: with these.
    ``within``: r_rm, for these conditions; of a ``full`` slice (one that may get a verdict) also
    r over ``conditions`` and given the condition, given the task's utility; ``noise_x``,
    ``noise_y``: shares of the variance within parents that are noise.
    ``saturated``, ``refused``: why no verdict can be had. ``tests``: how many confirmatory slices
    p is adjusted over. ``reverse_scored``: of the score with its sign changed. ``sign``: that
    of the score, NaN where parts differ; ``line``: that of r_rm, of the score as it was measured.
    """

    names: dict[str, str]
    within: Correlation = Correlation()
    conditions: Correlation = Correlation()
    given_condition: Correlation = Correlation()
    given_utility: Correlation = Correlation()
    n: int = 0
    n_parents: int = 0
    n_conditions: int = 0
    n_clusters: int = 0
    lost: int = 0
    planned: int = 0
    noise_x: NoiseShares = NoiseShares()
    noise_y: NoiseShares = NoiseShares()
    influential: str = ""
    saturated: str = ""
    refused: str = ""
    confirmatory: bool = False
    tests: int = 0
    p_holm: float = nan
    verdict: str = ""
    scope: str = ""
    why: str = ""
    synthetic: bool = False
    reverse_scored: bool = False
    sign: float = 1.0
    group_by: str = ""
    lost_models: str = ""
    heterogeneity: str = ""
    line: Line = Line()

    @property
    def slope(self) -> Estimate:
        """What the gap moves by where the score, as it was measured, is 1 larger."""
        return self.within.slope.times(self.sign)

    @property
    def slope_conditions(self) -> Estimate:
        """The same of means of conditions."""
        return self.conditions.slope.times(self.sign)

    @property
    def reliability_x(self) -> float:
        """Return the share of the scores' variance within parents that is no model's own noise."""
        return self.noise_x.reliability

    @property
    def reliability_y(self) -> float:
        """Return the same of the gaps."""
        return self.noise_y.reliability

    @property
    def noise_ceiling(self) -> float:
        """Return the largest |r| that noise, proper and shared, lets through; NaN where unknown."""
        return sqrt(self.noise_x.stable * self.noise_y.stable)

    @property
    def mde(self) -> float:
        """The |r| that about four of five such studies find, see ``minimum_detectable``."""
        error = self.within.sampling.error
        tests = max(1, self.tests)
        return minimum_detectable(self.within.df, tests, error if isfinite(error) else 0.0)

    @property
    def note(self) -> str:
        """What else is to be known of the slice."""
        reverse = "reverse-scored: less of the score is more biased" if self.reverse_scored else ""
        lost = f"lost: {self.lost_models}" if self.lost_models else ""
        refused = "" if self.confirmatory else self.refused
        notes = (self.within.reason, refused, lost, self.heterogeneity, reverse)
        return "; ".join(filter(None, notes))


def measure(
    rows: Rows,
    names: dict[str, str],
    *,
    full: bool,
    permutations: int = PERMUTATIONS,
) -> Finding:
    """Measure the rows of a slice, without verdict."""
    used = rows.comparable()
    planned, left = set(rows.model.tolist()), set(used.model.tolist())
    models = observations(used, trained=full)
    with_parents, of = models.with_parents(), models.independent()
    within = of.within(permutations)
    conditions, parents = (
        set(names.tolist()) - {""} for names in (with_parents.condition, with_parents.parent)
    )
    found = Finding(
        names,
        within,
        n=len(with_parents.x),
        n_parents=len(parents),
        n_conditions=len(conditions) if len(conditions) > 1 else 0,
        n_clusters=len(set(with_parents.cluster.tolist()) - {""}),
        lost=len(planned - left),
        planned=len(planned),
        lost_models=lost_models(rows, used),
        line=models.line(),
    )
    if within.influential >= 0:
        without = f"{within.without:.2f}"
        found = found._replace(influential=f"{of.model[within.influential]} (without: {without})")
    if not full or not isfinite(within.r):
        return found
    side = of.residuals()
    found = found._replace(
        saturated=saturated(with_parents, of),
        given_utility=of.given_utility(permutations),
        noise_x=noise_shares(side, of.x, of.x_resampled, used.x_resampled.size, 0 * of.noise),
        noise_y=noise_shares(side, of.y, of.y_resampled, used.y_resampled.size, of.noise),
    )
    if found.n_conditions < 2:
        return found
    return found._replace(
        conditions=of.over_conditions(permutations)
        if found.n_conditions >= FEWEST_CONDITIONS
        else Correlation(),
        given_condition=of.given_condition(permutations),
    )


def saturated(models: Observations, of: Observations) -> str:
    """Why a side says too little for a verdict: it is exactly the same in most models, or one model
    carries most of what it varies by within parents; empty where neither is so. ``of``: the same
    models as r_rm takes them.
    """
    left = of.residuals()
    for name, raw, side in (("score", models.x, left.u), ("gap", models.y, left.v)):
        values, counts = np.unique(raw, return_counts=True)
        most = int(counts.argmax())
        if counts[most] > MOST_EQUAL * len(raw):
            same = f"{counts[most]} of {len(raw)} models"
            return f"the {name} is exactly {values[most]:.3g} in {same}"
        share = side**2 / float(side @ side)
        if share.max() > MOST_OF_ONE:
            name_of = of.model[left.kept[int(share.argmax())]]
            return f"one model ({name_of}) carries {share.max():.0%} of what the {name} varies by"
    return ""


def lost_models(rows: Rows, used: Rows) -> str:
    """Which models are lost, by method; and which kinds of rows count for none, with the models
    that lack them: ``1 of 32 balance; cnn left out (8 of 32 balance lack it)``.
    """
    methods = dict(zip(rows.model.tolist(), rows.method.tolist(), strict=True))
    whole = Counter(methods.values())

    def without(having: Iterable[str]) -> str:
        lost = Counter(methods[model] for model in methods.keys() - set(having))
        names = {each: ORIGINAL if each == CONTROL else each for each in whole if lost[each]}
        return ", ".join(f"{lost[at]} of {whole[at]} {name}" for at, name in names.items())

    said = [without(used.model.tolist())]
    if len(used.model):
        known = rows.at(np.flatnonzero(rows.known))
        having = positions(zip(known.setting.tolist(), known.asked.tolist(), strict=True))
        left = set(zip(used.setting.tolist(), used.asked.tolist(), strict=True))
        words = {kind: " ".join(kind).split() for kind in having}
        shared = set.intersection(*map(set, words.values()))
        for kind, places in having.items():
            if kind not in left:
                name = " ".join(w for w in words[kind] if w not in shared) or "the rest"
                said.append(f"{name} left out ({without(known.model[places].tolist())} lack it)")
    return "; ".join(filter(None, said))


def correlation_table(
    found: Iterable[Finding], columns: Sequence[str] = CORRELATION_COLUMNS
) -> pd.DataFrame:
    """One row per finding, in the columns named."""
    return pd.DataFrame([_row(each) for each in found], columns=list(columns))


def _row(of: Finding) -> dict[str, object]:
    within, over = of.within, of.conditions
    row: dict[str, object] = {name: getattr(of, name, None) for name in RESULT_COLUMNS}
    row |= {"r_rm": within.r, "low": within.low, "high": within.high, "p": within.p}
    row |= {"r_conditions": over.r, "p_conditions": over.p}
    for name, each in (
        ("conditions", over),
        ("given_condition", of.given_condition),
        ("given_utility", of.given_utility),
    ):
        row |= {f"r_{name}": each.r, f"low_{name}": each.low, f"high_{name}": each.high}
    for name, slope in (("slope", of.slope), ("slope_conditions", of.slope_conditions)):
        row |= {name: slope.value, f"{name}_low": slope.low, f"{name}_high": slope.high}
    row |= {"low_clusters": within.low_clusters, "high_clusters": within.high_clusters}
    row |= {"sampling_error": within.sampling.error, "most_influential": of.influential}
    return row | of.names  # last: a column sliced by may have the name of a result

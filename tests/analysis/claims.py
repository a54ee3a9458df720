"""How often verdicts on gaps and scores, and scopes, claim more than holds, and how often intervals
hold the truth, in simulated sweeps: python -m tests.analysis.claims docs/figures
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from math import nan, sqrt
from multiprocessing import Pool
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from biasbridge.analysis.correlation import ONE_THREAD
from biasbridge.analysis.naming import SMALLEST_CHANGE
from biasbridge.analysis.scopes import CORPORA, DOSES, LISTS, METHODS, RUNS, SCOPES, SEEDS
from biasbridge.analysis.slices import measure_slice
from biasbridge.analysis.verdicts import (
    AT_MOST,
    CANNOT_TELL,
    FALLS,
    MOVED,
    RISES,
    UNTOLD,
    YES,
    judge,
)
from biasbridge.files import atomic_path
from biasbridge.stats.proportions import wilson
from tests.analysis.conftest import make_rows

if TYPE_CHECKING:
    from biasbridge.analysis.observations import Observations
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.stats.arrays import Floats

PERMUTATIONS = 999
RESAMPLES = 100
COLUMNS = ("family", "design", "share", "studies", "value", "low", "high", "limit", "at_least")
Draw = Callable[[np.random.Generator], "Study"]
# The grid of paper001_en: 8 parents, 13 conditions, scores from -2 to 2; the standard deviation of
# what training does to a gap is that of its precision gaps
PAPER_PARENTS, PAPER_NOISE = 8, 0.01


class Study(NamedTuple):
    """Rows of a slice, and the true slope where there is one; ``moved``: the largest true change of
    the gap by any condition.
    """

    rows: Observations
    slope: float = nan
    moved: float = nan


class Design(NamedTuple):
    """Studies, the share of them that is counted, and what it must not exceed, or reach."""

    family: str
    name: str
    draw: Draw
    share: str
    limit: float
    at_least: bool = False


def sweep(
    score: Floats,
    gap: Floats,
    noise: float,
    parents: int,
    rng: np.random.Generator,
    **labels: object,
) -> Observations:
    """Models of parents in conditions: what conditions do to scores and gaps, and noise of each
    model. Shapes: (conditions,) or (parents, conditions).
    """
    count = score.shape[-1]
    x, y = (np.broadcast_to(side, (parents, count)) for side in (score, gap))
    own = noise * rng.normal(size=(2, parents, count))
    level = 2 * rng.normal(size=(2, parents, 1))
    columns = {name: np.tile(np.asarray(values), parents) for name, values in labels.items()}
    columns.setdefault("condition", np.tile(np.arange(count), parents))
    columns.setdefault("method", np.full(parents * count, "m"))
    return make_rows(
        (x + own[0] + level[0]).ravel(),
        (y + own[1] + level[1]).ravel(),
        parent=np.repeat(np.arange(parents), count),
        **columns,
    )


def slopes_by(
    level: str,
    shape: tuple[int, int, int, int],
    mean: float,
    spread: float,
    rng: np.random.Generator,
) -> Study:
    """Families of methods, with word lists and doses: the slope belongs to the family, the method
    or the list, with this mean and spread. ``shape``: families, methods of each, lists, doses.
    """
    families, members, lists, doses = shape
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 4)
    family, member, word_list, dose = grid.T
    method = family * members + member
    owner = {"family": family, "method": method, "list": word_list}[level]
    strength = rng.uniform(0.5, 1.5, size=(families * members, lists))[method, word_list]
    ladder = np.linspace(-1, 1, doses + doses % 2 + 1)
    ladder = ladder[ladder != 0][:doses] if doses > 1 else np.ones(1)
    moved = np.sign(ladder) * (1 - np.exp(-3 * np.abs(ladder)))
    slopes = mean + spread * rng.normal(size=owner.max() + 1)
    score = np.append(strength * moved[dose], 0)
    gap = np.append(slopes[owner] * strength * moved[dose], 0)
    labels = {
        "method": [*(f"m{i}" for i in method), "none"],
        "family": [*(f"f{i}" for i in family), ""],
        "word_list": [*(f"w{i}" for i in word_list), ""],
    }
    return Study(sweep(score, gap, 0.3, 4, rng, **labels), mean)


def slopes_by_parent(
    sizes: tuple[int, ...], slope: float, spread: float, rng: np.random.Generator, corpora: int = 0
) -> Study:
    """Each parent, or corpus of parents, has a slope of its own. ``sizes``: conditions of each."""
    parent = np.repeat(np.arange(len(sizes)), sizes)
    owner = parent * corpora // len(sizes) if corpora else parent
    condition = np.concatenate([np.arange(size) for size in sizes])
    x = np.linspace(-1.5, 1.5, max(sizes))[condition] + 0.4 * rng.normal(size=len(parent))
    slopes = slope + spread * rng.normal(size=owner.max() + 1)
    y = slopes[owner] * x + 0.5 * rng.normal(size=len(parent))
    labels = {"parent": parent, "condition": condition, "method": np.full(len(parent), "m")}
    return Study(make_rows(x, y, cluster=owner, **labels), slope)


def correlated(parents: int, r: float, rng: np.random.Generator) -> Study:
    """Twelve doses of each parent, with that r within parents; the first parents of a larger study
    are those of a smaller one.
    """
    ladder = np.linspace(-1, 1, 12)
    x = (ladder / ladder.std() + 0.4 * rng.normal(size=(10, 12))) / sqrt(1 + 0.4**2)
    y = r * x + sqrt(1 - r * r) * rng.normal(size=(10, 12))
    return Study(sweep(x[:parents], y[:parents], 0, parents, rng), r)


def condition_effects(effect: float, rng: np.random.Generator) -> Study:
    """Twelve conditions move all gaps of their models, but not through the score."""
    return Study(sweep(np.linspace(-1, 1, 12), effect * rng.normal(size=12), 0.4, 8, rng), 0.0)


def opposite_methods(rng: np.random.Generator) -> Study:
    """Two methods of opposite slopes."""
    method = np.repeat(["a", "b"], 6)
    x = rng.normal(size=(12, 12))
    y = np.where(method == "a", 1, -1) * x + 0.5 * rng.normal(size=(12, 12))
    return Study(sweep(x, y, 0, 12, rng, condition=np.arange(12), method=method), 0.0)


SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "U shape": lambda x: 0.01 * x**2,
    "sigmoid": lambda x: 0.05 / (1 + np.exp(-6 * (x - 1))),
    "plateau": lambda x: 0.04 * np.maximum(0, x - 0.5),
}


def bent(shape: str, rng: np.random.Generator) -> Study:
    """The gap changes by .04 to .06, but not along a line; noise of models is .01."""
    x = np.linspace(-2, 2, 12)
    y = SHAPES[shape](x) + 0.01 * rng.normal(size=(8, 12))
    return Study(sweep(x, y, 0, 8, rng), 0.0)


def shifted(rng: np.random.Generator) -> Study:
    """Every modification moves the gap by .05, whatever its score."""
    score = np.append(np.linspace(-2, 2, 12), 0)
    gap = np.append(np.full(12, 0.05), 0) + PAPER_NOISE * rng.normal(size=(PAPER_PARENTS, 13))
    labels = {"method": np.append(np.repeat(["a", "b"], 6), "none")}
    return Study(sweep(score, gap, 0, PAPER_PARENTS, rng, **labels), 0.0, 0.05)


def far_out(rng: np.random.Generator) -> Study:
    """One condition carries nine tenths of the variance of the score; nothing moves the gap."""
    score = np.array([2, *np.linspace(-0.25, 0.25, 10), 0.0])
    gap = PAPER_NOISE * rng.normal(size=(5, 12))
    return Study(sweep(score, gap, 0, 5, rng, method=[*"m" * 11, "none"]), 0.0, 0.0)


def uneven_noise(kind: str, rng: np.random.Generator) -> Study:
    """Nothing moves the gap; one method has three times the noise, or noise grows with the
    distance that a condition moved the score.
    """
    score = np.append(np.linspace(-2, 2, 12), 0)
    method = np.append(np.tile(["a", "b"], 6), "none")
    spread = {
        "three times for one method": np.where(method == "a", 3, 1),
        "grows with the distance": 0.3 + np.abs(score),
    }[kind]
    gap = PAPER_NOISE * spread * rng.normal(size=(PAPER_PARENTS, 13))
    return Study(sweep(score, gap, 0, PAPER_PARENTS, rng, method=method), 0.0, 0.0)


def one_effect(change: float, rng: np.random.Generator) -> Study:
    """One of twelve conditions moves the gap by so much, the others by half of it."""
    score = np.append(np.linspace(-2, 2, 12), 0)
    true = np.array([change, *np.full(11, change / 2), 0])
    gap = true + 0.006 * rng.normal(size=(PAPER_PARENTS, 13))
    labels = {"method": np.append(np.repeat(["a", "b"], 6), "none")}
    return Study(sweep(score, gap, 0, PAPER_PARENTS, rng, **labels), nan, change)


def own_effects(effect: float, slope: float, rng: np.random.Generator) -> Study:
    """Twenty conditions, in pairs of one score, with effects of their own beside a slope."""
    score = np.append(np.repeat(np.linspace(-2, 2, 10), 2), 0)
    gap = slope * score + np.append(effect * rng.normal(size=20), 0)
    gap = gap + 0.5 * PAPER_NOISE * rng.normal(size=(PAPER_PARENTS, 21))
    labels = {"method": np.append(np.tile(["a", "b"], 10), "none")}
    return Study(sweep(score, gap, 0, PAPER_PARENTS, rng, **labels), slope)


def damage(rng: np.random.Generator) -> Study:
    """Damage raises score and gap and lowers F1; nothing else relates them."""
    strength = np.append(np.repeat(np.linspace(0.2, 2, 6), 2), 0)
    hurt = strength + 0.1 * rng.normal(size=(PAPER_PARENTS, 13))
    noise = rng.normal(size=(3, PAPER_PARENTS, 13))
    x, y = hurt + 0.2 * noise[0], 0.02 * hurt + PAPER_NOISE * noise[1]
    rows = sweep(x, y, 0, PAPER_PARENTS, rng, method=[*"ab" * 6, "none"])
    return Study(rows._replace(utility=(-hurt + 0.05 * noise[2]).ravel()), nan)


def any_kind(rng: np.random.Generator) -> Study:
    """A grid, noise, effects and parents of any kind."""
    parents, count = int(rng.integers(2, 9)), int(rng.integers(4, 25))
    kinds = (np.linspace(-2, 2, count), rng.normal(size=count), 2 * rng.uniform(size=count) ** 8)
    score = np.append(kinds[rng.integers(3)], 0)
    noise = 10 ** rng.uniform(-4, -1)
    true = 10 ** rng.uniform(-4, -1) * (rng.normal() * score + rng.normal(size=count + 1))
    gap = true + noise * rng.standard_t(3 if rng.integers(2) else 30, size=(parents, count + 1))
    keep = rng.uniform(size=gap.size) > (0.05 if rng.integers(2) else 0)
    labels = {"method": np.append(rng.choice([*"abc"], count), "none")}
    rows = sweep(score, gap, 0, parents, rng, **labels)
    return Study(rows.select(keep))


def one_column(rng: np.random.Generator) -> Study:
    """A user's table that names no method."""
    study = condition_effects(1.0, rng)
    return study._replace(rows=study.rows._replace(method=np.full(len(study.rows.x), "")))


def paper(change: float, times: float, rng: np.random.Generator) -> Study:
    """The grid of paper001_en, with a true change over the range of its scores, and noise."""
    score = np.append(np.linspace(-2, 2, 12), 0)
    gap = change / 4 * score + times * PAPER_NOISE * rng.normal(size=(PAPER_PARENTS, 13))
    labels = {"method": np.append(np.repeat(["a", "b"], 6), "none")}
    rows = sweep(score, gap, 0, PAPER_PARENTS, rng, **labels)
    return Study(rows._replace(x=rows.x + 0.02 * rng.normal(size=len(rows.x))), change / 4)


def noisy_scores(reliability: float, rng: np.random.Generator) -> Study:
    """20 conditions of 4 parents; scores with noise of each model, known from resamples. The true
    change is .02, the noise of gaps small: attenuation alone would call it smaller.
    """
    score = np.repeat(np.linspace(-1, 1, 20)[None], 4, axis=0)
    noise = score.std() * sqrt((1 - reliability) / reliability)
    x = score + noise * rng.normal(size=(4, 20))
    rows = sweep(x, 0.01 * score + 0.002 * rng.normal(size=(4, 20)), 0, 4, rng)
    moved = rows.x[:, None] + noise * rng.normal(size=(80, RESAMPLES))
    return Study(rows._replace(x_resampled=moved), 0.01)


def shared_items(authors: int, rng: np.random.Generator) -> Study:
    """The grid of paper001_en on items of so many authors, drawn by author: the gap among the items
    of each follows the score in a way of its own, and does not on average.
    """
    score = np.append(np.linspace(-1, 1, 12), 0)
    slopes = 0.05 * rng.normal(size=authors)
    gap = slopes.mean() * score + PAPER_NOISE * rng.normal(size=(PAPER_PARENTS, 13))
    rows = sweep(score, gap, 0, PAPER_PARENTS, rng)
    drawn = slopes[rng.integers(0, authors, size=(RESAMPLES, authors))].mean(axis=1)
    change = np.tile(score, PAPER_PARENTS)[:, None] * (drawn - slopes.mean())
    return Study(rows._replace(y_resampled=rows.y[:, None] + change), 0.0)


@ONE_THREAD
def judged(rows: Observations) -> SliceResult:
    """The verdict of a study with one declared slice."""
    result = measure_slice(rows, {}, full=True, permutations=PERMUTATIONS)
    return judge([result._replace(confirmatory=True)])[0]


def _claims(result: SliceResult) -> bool:
    return result.verdict in (RISES, FALLS)


def _holds_change(scope: str, result: SliceResult, study: Study) -> bool:
    """Whether the interval of the change in a scope holds the true one; undefined ones do not."""
    true = study.slope * (result.score_high - result.score_low)
    _, low, high = result.change_in(scope)
    return low <= true <= high


def _widest(result: SliceResult) -> float:
    """The largest change that the 90% interval holds, or half of the detectable one."""
    _, low, high = result.change_at(0.9)
    return max(-low, high, result.detectable_change / 2)


def _drops_a_seed(result: SliceResult, study: Study) -> bool:
    """Whether an empty study gets a verdict when one of its seeds is left out."""
    parents = np.unique(study.rows.parent)
    return not _claims(result) and any(
        _claims(judged(study.rows.select(study.rows.parent != parent))) for parent in parents
    )


SHARES: dict[str, Callable[[SliceResult, Study], bool]] = {
    **{
        f"claims {scope}": partial(lambda scope, result, _: result.holds.get(scope) == YES, scope)
        for scope in SCOPES
    },
    **{f"covers {scope}": partial(_holds_change, scope) for scope in SCOPES},
    "rises or falls": lambda result, _: _claims(result),
    "at most": lambda result, _: result.verdict == AT_MOST,
    "names a curve": lambda result, _: "curve" in result.why,
    "at most, of the gap": lambda result, _: result.gap_verdict == AT_MOST,
    "moved, of the gap": lambda result, _: result.gap_verdict == MOVED,
    "does not tell": lambda result, _: result.verdict == UNTOLD,
    "claims without a warning of damage": lambda result, _: (
        _claims(result) and "damage" not in result.why
    ),
    "at most, of what it cannot see": lambda result, _: (
        result.verdict == AT_MOST and not _widest(result) <= SMALLEST_CHANGE
    ),
    "a verdict without one seed": _drops_a_seed,
    "a verdict word": lambda result, _: result.verdict != CANNOT_TELL,
}


def designs() -> Iterator[Design]:
    """Every design of the table."""
    for shape in ((1, 1, 3, 6), (2, 1, 4, 4), (2, 1, 10, 2), (4, 1, 4, 3), (4, 1, 2, 4)):
        name = f"{shape[0]} methods x {shape[2]} lists x {shape[3]} doses"
        draw = partial(slopes_by, "list", shape, 0, 1)
        for scope in (LISTS, METHODS):
            yield Design("nothing across word lists", name, draw, f"claims {scope}", 0.08)
        if shape[2] >= 4:
            draw = partial(slopes_by, "list", shape, 1, 0.2)
            yield Design("across word lists", name, draw, f"claims {LISTS}", 0.8, at_least=True)
            draw = partial(slopes_by, "list", shape, 1, 0.5)
            yield Design("slopes by list", name, draw, f"covers {LISTS}", 0.93, at_least=True)
    for shape in ((3, 3, 1, 4), (4, 2, 1, 4), (5, 2, 1, 3), (8, 1, 1, 3)):
        name = f"{shape[0]} families of {shape[1]} x {shape[3]} doses"
        draw = partial(slopes_by, "family", shape, 0, 1)
        yield Design("nothing across families", name, draw, f"claims {METHODS}", 0.1)
        if shape[0] >= 4:
            draw = partial(slopes_by, "family", shape, 1, 0.5)
            yield Design("slopes by family", name, draw, f"covers {METHODS}", 0.93, at_least=True)
    for methods, doses in ((1, 12), (2, 12), (4, 6), (10, 4)):
        name = f"{methods} methods x {doses} doses"
        for mean, family in ((0, "nothing across methods"), (1, "a relation across methods")):
            draw = partial(
                slopes_by, "method", (methods, 1, 1, doses), mean, 1 if not mean else 0.2
            )
            limit, at_least = (0.08, False) if not mean else (0.5 * (methods >= 4), True)
            yield Design(family, name, draw, f"claims {METHODS}", limit, at_least)
    for count in (3, 4, 5, 8, 13):
        name = f"{count} parents of 12"
        draw = partial(slopes_by_parent, (12,) * count, 0, 1)
        yield Design("slopes by parent, 0 on average", name, draw, f"claims {SEEDS}", 0.08)
        if count >= 5:
            draw = partial(slopes_by_parent, (12,) * count, 1, 0.5)
            yield Design("slopes by parent", name, draw, f"covers {SEEDS}", 0.93, at_least=True)
    uneven = partial(slopes_by_parent, (40, *(12,) * 6), 0, 1)
    yield Design(
        "slopes by parent, 0 on average", "one of 40, six of 12", uneven, f"claims {SEEDS}", 0.08
    )
    for corpora in (4, 6):
        name = f"{corpora} corpora of 2 parents of 12"
        draw = partial(slopes_by_parent, (12,) * 2 * corpora, 0, 1, corpora=corpora)
        yield Design("slopes by corpus, 0 on average", name, draw, f"claims {CORPORA}", 0.08)
    draw = partial(slopes_by_parent, (12,) * 12, 1, 0.5, corpora=6)
    yield Design(
        "slopes by corpus",
        "6 corpora of 2 parents of 12",
        draw,
        f"covers {CORPORA}",
        0.93,
        at_least=True,
    )
    for parents in range(3, 11):
        name = f"{parents} parents of 12, r .5"
        draw = partial(correlated, parents, 0.5)
        yield Design("power", name, draw, "rises or falls", 0, at_least=True)
    for scope in (RUNS, DOSES):
        draw = partial(correlated, 8, 0.5)
        yield Design("one slope", "8 parents of 12", draw, f"covers {scope}", 0.93, at_least=True)
    name = "5 parents of 12, r 0"
    yield Design("no relation", name, partial(correlated, 5, 0), "rises or falls", 0.08)
    yield Design("no relation", name, partial(correlated, 5, 0), "a verdict without one seed", 0.13)
    for effect in (0.5, 1):
        draw = partial(condition_effects, effect)
        name = f"12 conditions with effects of {effect:g}, 8 parents"
        yield Design("effects of conditions", name, draw, "rises or falls", 0.08)
        yield Design("effects of conditions", name, draw, f"covers {DOSES}", 0.93, at_least=True)
    yield Design("one column", "12 conditions, no method named", one_column, "a verdict word", 0)
    name = "2 methods of opposite slopes"
    yield Design("no single line", name, opposite_methods, "at most", 0.05)
    for curve in SHAPES:
        yield Design("no single line", curve, partial(bent, curve), "at most", 0.05)
    draw = partial(bent, "U shape")
    yield Design("no single line", "U shape", draw, "names a curve", 0.95, at_least=True)
    name = "every modification by .05"
    yield Design("the gap alone", name, shifted, "at most, of the gap", 0)
    yield Design("the gap alone", name, shifted, "moved, of the gap", 0.9, at_least=True)
    for change in (SMALLEST_CHANGE, -SMALLEST_CHANGE):
        draw = partial(one_effect, change)
        name = f"one modification by {change:g}"
        yield Design("the gap alone", name, draw, "at most, of the gap", 0.06)
    draw = partial(one_effect, SMALLEST_CHANGE / 3)
    yield Design(
        "the gap alone", "one by a third of it", draw, "at most, of the gap", 0.5, at_least=True
    )
    yield Design("effects of conditions", "one carries 90% of the score", far_out, "at most", 0.02)
    unseen = "at most, of what it cannot see"
    yield Design("any", "200 kinds of grids, noises and parents", any_kind, unseen, 0)
    for kind in ("three times for one method", "grows with the distance"):
        draw = partial(uneven_noise, kind)
        yield Design("uneven noise", kind, draw, "rises or falls", 0.06)
        yield Design("uneven noise", kind, draw, "moved, of the gap", 0.06)
        yield Design("uneven noise", kind, draw, f"covers {DOSES}", 0.93, at_least=True)
    name = "20 conditions in pairs of one score"
    draw = partial(own_effects, 0.01, 0)
    yield Design("effects of conditions", f"{name}, .01", draw, "rises or falls", 0.08)
    yield Design("effects of conditions", f"{name}, .01", draw, "does not tell", 0.5, at_least=True)
    for slope in (0, 0.01):
        draw = partial(own_effects, 0, slope)
        yield Design("one slope", f"{name}, slope {slope}", draw, "does not tell", 0.05)
    warned = "claims without a warning of damage"
    yield Design("damage drives both", "8 parents of 13", damage, warned, 0.08)
    for times in (1, 2):
        name = f"paper001_en, noise {times:g} times"
        for sign in (1, -1):
            draw = partial(paper, sign * SMALLEST_CHANGE, times)
            yield Design(f"change {sign * SMALLEST_CHANGE:g}", name, draw, "at most", 0.06)
        draw = partial(paper, SMALLEST_CHANGE / 3, times)
        limit = 0.5 * (times == 1)
        yield Design("change a third of it", name, draw, "at most", limit, at_least=True)
    draw = partial(shared_items, 40)
    yield Design("shared items", "40 authors", draw, f"covers {DOSES}", 0.93, at_least=True)
    yield Design("shared items", "40 authors", draw, "rises or falls", 0.08)
    for reliability in (0.8, 0.5):
        name = f"scores of reliability {reliability:g}"
        yield Design(
            f"change {SMALLEST_CHANGE:g}", name, partial(noisy_scores, reliability), "at most", 0.06
        )


def rate(design: Design, count: int) -> dict[str, object]:
    """The row of a design: the share of studies, and its interval."""
    seed = zlib.crc32(
        repr((design.family, "" if design.family == "power" else design.name)).encode()
    )
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(count):
        study = design.draw(rng)
        hits += SHARES[design.share](judged(study.rows), study)
    low, high = wilson(hits, count, 0.95).tolist()
    row = (*(design.family, design.name, design.share, count), hits / count, low, high)
    return dict(zip(COLUMNS, (*row, design.limit, design.at_least), strict=True))


def main() -> None:
    """Simulate and write."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.claims", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--studies", type=int, default=500, help="of each design")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    args = parser.parse_args()
    rows = []
    with Pool(args.jobs) if args.jobs > 1 else nullcontext() as pool:
        compute = partial(rate, count=args.studies)
        for row in map(compute, designs()) if pool is None else pool.imap(compute, designs()):
            print(*row.values(), sep=", ", flush=True)
            rows.append(row)
    with atomic_path(args.out / "claim_rates.csv") as path:
        pd.DataFrame(rows, columns=list(COLUMNS)).round(4).to_csv(path, index=False)


if __name__ == "__main__":
    main()

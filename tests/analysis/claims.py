"""How often a verdict claims more than holds, in simulated studies: python -m tests.analysis.claims
docs/figures
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

from analysis.measurement import measure
from analysis.rows import Resampled
from analysis.verdict import NEGATIVE, NEGLIGIBLE, POSITIVE, judge
from files import atomic_path
from stats.intervals import wilson
from tests.analysis.conftest import make_rows

if TYPE_CHECKING:
    from analysis.rows import Rows
    from analysis.slice_results import SliceResult
    from stats.arrays import Floats

PERMUTATIONS = 999
RESAMPLES = 100
SESOI = 0.3
COLUMNS = ("family", "design", "share", "studies", "value", "low", "high", "limit")
Draw = Callable[[np.random.Generator], "list[Study]"]


class Study(NamedTuple):
    """Rows of a slice, and the slope that its interval should hold."""

    rows: Rows
    slope: float = nan


class Design(NamedTuple):
    """Studies, the share of them that is counted, and what it must not exceed (or reach)."""

    family: str
    name: str
    draw: Draw
    share: str
    limit: float


def sweep(
    score: Floats,
    gap: Floats,
    noise: float,
    parents: int,
    rng: np.random.Generator,
    **labels: object,
) -> Rows:
    """Models of parents in conditions: what conditions do to scores and gaps, and noise of each
    model. Shapes: (conditions,) or (parents, conditions).
    """
    count = score.shape[-1]
    x, y = (np.broadcast_to(side, (parents, count)) for side in (score, gap))
    own = noise * rng.normal(size=(2, parents, count))
    level = 2 * rng.normal(size=(2, parents, 1))
    columns = {name: np.tile(np.asarray(values), parents) for name, values in labels.items()}
    columns.setdefault("condition", np.tile(np.arange(count), parents))
    return make_rows(
        (x + own[0] + level[0]).ravel(),
        (y + own[1] + level[1]).ravel(),
        parent=np.repeat(np.arange(parents), count),
        **columns,
    )


def with_noise(rows: Rows, x_noise: float, y_noise: float, rng: np.random.Generator) -> Rows:
    """Add resamples of words and items that move each model for itself, as noise would."""
    n = len(rows.x)
    return rows._replace(
        x_resampled=Resampled.of(rows.x[:, None] + x_noise * rng.normal(size=(n, RESAMPLES))),
        y_resampled=Resampled.of(rows.y[:, None] + y_noise * rng.normal(size=(n, RESAMPLES))),
    )


def doses_of_methods(
    methods: int, doses: int, both_ways: bool, related: bool, rng: np.random.Generator
) -> list[Study]:
    """Scores and gaps saturate in dose; the gap's slope is the method's own, 0 on average, or
    (``related``) 1 with a standard deviation of .2.
    """
    dose = np.linspace(-1 if both_ways else 1 / doses, 1, doses)
    moved = np.sign(dose) * (1 - np.exp(-3 * np.abs(dose)))
    strength = rng.uniform(0.5, 1.5, size=methods)
    slopes = 1 + 0.2 * rng.normal(size=methods) if related else rng.normal(size=methods)
    score = np.append(np.outer(strength, moved).ravel(), 0)
    gap = np.append(np.outer(strength * slopes, moved).ravel(), 0)
    method = [*np.repeat([f"m{number}" for number in range(methods)], doses), "none"]
    return [Study(sweep(score, gap, 0.3, 4, rng, method=method))]


def slopes_by_parent(
    sizes: tuple[int, ...], slope: float, spread: float, rng: np.random.Generator
) -> list[Study]:
    """Each parent has a slope of its own."""
    parent = np.repeat(np.arange(len(sizes)), sizes)
    x = rng.normal(size=len(parent))
    slopes = slope + spread * rng.normal(size=len(sizes))
    condition = np.concatenate([np.arange(size) % 5 for size in sizes])
    y = slopes[parent] * x + rng.normal(size=len(parent))
    return [Study(make_rows(x, y, parent=parent, condition=condition))]


def near_the_bound(slices: int, rng: np.random.Generator) -> list[Study]:
    """Slices whose r is the smallest correlation of interest, 12 parents of 10 models each."""
    return [equivalent(SESOI, rng) for _ in range(slices)]


def equivalent(r: float, rng: np.random.Generator, reliable: bool = True) -> Study:
    """A study of that r; ``reliable``: with resamples, by which there is hardly any noise."""
    x = rng.normal(size=(12, 10))
    y = r * x + sqrt(1 - r * r) * rng.normal(size=(12, 10))
    rows = sweep(x, y, 0, 12, rng, condition=np.tile(np.arange(5), 2))
    return Study(with_noise(rows, 1e-3, 1e-3, rng) if reliable else rows)


def null_studies(rng: np.random.Generator) -> list[Study]:
    """One slice without any relation."""
    return [equivalent(0.0, rng)]


def unreliable(rng: np.random.Generator) -> list[Study]:
    """No resamples: noise may hide any relation."""
    return [equivalent(0.0, rng, reliable=False)]


def opposite_methods(rng: np.random.Generator) -> list[Study]:
    """Two methods of opposite slopes."""
    method = np.repeat(["a", "b"], 5)
    x = rng.normal(size=(12, 10))
    y = np.where(method == "a", 1, -1) * x + rng.normal(size=(12, 10))
    rows = sweep(x, y, 0, 12, rng, condition=np.arange(10), method=method)
    return [Study(with_noise(rows, 1e-3, 1e-3, rng))]


def u_shape(rng: np.random.Generator) -> list[Study]:
    """The squared score explains half of the gap."""
    x = rng.normal(size=(12, 10))
    y = (x**2 - 1) / sqrt(2) + rng.normal(size=(12, 10))
    rows = sweep(x, y, 0, 12, rng, condition=np.tile(np.arange(5), 2))
    return [Study(with_noise(rows, 1e-3, 1e-3, rng))]


def noisy_scores(reliability: float, rng: np.random.Generator) -> list[Study]:
    """20 conditions of 4 parents; scores with noise of each model, known from resamples."""
    score = rng.normal(size=(4, 20))
    noise = sqrt((1 - reliability) / reliability)
    gap = score + rng.normal(size=(4, 20))
    x = score + noise * rng.normal(size=(4, 20))
    rows = sweep(x, gap, 0, 4, rng, condition=np.tile(np.arange(5), 4))
    return [Study(with_noise(rows, noise, 1e-3, rng), 1.0)]


def slopes_by_condition(rng: np.random.Generator) -> list[Study]:
    """20 conditions with slopes of their own, 4 parents."""
    score = rng.normal(size=20)
    gap = (1 + rng.normal(size=20)) * score
    return [Study(sweep(score, gap, 0.3, 4, rng), 1.0)]


def judged(studies: list[Study]) -> list[SliceResult]:
    """The verdicts of studies that were declared together."""
    return judge(
        [
            measure(study.rows, {}, full=True, permutations=PERMUTATIONS)._replace(
                confirmatory=True
            )
            for study in studies
        ],
        SESOI,
    )


def _claims(result: SliceResult) -> bool:
    return result.verdict in (POSITIVE, NEGATIVE)


def _corrected(result: SliceResult, study: Study) -> bool:
    _, low, high = result.slope_corrected
    return low <= study.slope <= high


SHARES: dict[str, Callable[[SliceResult, Study], bool]] = {
    "claims other methods": lambda result, _: result.scope.startswith("other methods"),
    "claims other doses": lambda result, _: result.scope.startswith("other"),
    "claims": lambda result, _: _claims(result),
    "claims without naming parents": lambda result, _: (
        _claims(result) and "these parents" not in result.scope
    ),
    "negligible": lambda result, _: result.verdict == NEGLIGIBLE,
    "slope within": lambda result, study: result.slope.low <= study.slope <= result.slope.high,
    "corrected slope within": _corrected,
}


def designs() -> Iterator[Design]:
    """Every design of the table."""
    sizes = ((1, 12, False), (2, 12, False), (4, 6, False), (10, 4, False), (3, 8, True))
    for methods, doses, both_ways in (*sizes, (10, 4, True)):
        name = f"{methods} methods x {doses} doses{', both ways' if both_ways else ''}"
        for related in (False, True):
            draw = partial(doses_of_methods, methods, doses, both_ways, related)
            family = "a relation across methods" if related else "nothing across methods"
            for share in ("claims other methods", "claims other doses"):
                yield Design(family, name, draw, share, 0.08)
    for count in (3, 4, 5, 8):
        draw = partial(slopes_by_parent, (12,) * count, 0, 1)
        share = "claims" if count >= 5 else "claims without naming parents"
        yield Design("slopes by parent", f"{count} parents of 12", draw, share, 0.08)
        power = partial(slopes_by_parent, (12,) * count, 1, 0.4)
        yield Design("slopes by parent", f"{count} parents of 12, slope 1", power, "claims", 1)
    uneven = partial(slopes_by_parent, (40, *(3,) * 6), 0, 1)
    yield Design("slopes by parent", "one of 40, six of 3", uneven, "claims", 0.08)
    slices: dict[str, tuple[Draw, float]] = {
        "ten slices at the bound": (partial(near_the_bound, 10), 0.06),
        "two methods of opposite slopes": (opposite_methods, 0.05),
        "U shape": (u_shape, 0.05),
        "unknown reliability": (unreliable, 0),
        "no relation": (null_studies, 1),
    }
    for name, (studies, limit) in slices.items():
        yield Design("negligible", name, studies, "negligible", limit)
    for reliability in (0.8, 0.5):
        scores = partial(noisy_scores, reliability)
        yield Design("slope", f"reliability {reliability}", scores, "corrected slope within", 0.91)
    yield Design("slope", "slopes by condition", slopes_by_condition, "slope within", 0.91)


def rate(design: Design, count: int) -> dict[str, object]:
    """The row of a design: the share of studies with any such slice, and its interval."""
    seed = zlib.crc32(repr((design.family, design.name)).encode())
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(count):
        studies = design.draw(rng)
        results = judged(studies)
        hits += any(map(SHARES[design.share], results, studies))
    low, high = wilson(hits, count, 0.95).tolist()
    row = (*(design.family, design.name, design.share, count), hits / count, low, high)
    return dict(zip(COLUMNS, (*row, design.limit), strict=True))


def main() -> None:
    """Simulate and write."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.claims", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--studies", type=int, default=1_000, help="of each design")
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

"""How often the interval of the slope is right, in simulated sweeps: python -m
tests.analysis.slopes docs/figures
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from itertools import product
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from biasbridge.files import atomic_path
from biasbridge.stats.proportions import wilson
from tests.analysis.designs import OVER, OWN, SCOPES, WITHIN, Study, effects, study_of

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

Noise = Literal[
    "noise per model",
    "noise per condition too",
    "noise varies by parent",
    "t with 3 df",
    "shared words and items",
    "strongly shared words and items",
]
# Standard error of a mean over words, or items, of what models share, noise being 1: with .1 the
# sampling error of z is about that of the recorded runs (.04 to .17).
SHARED = {"shared words and items": 0.1, "strongly shared words and items": 0.3}
SEED = 20_261_124
ITEMS = RESAMPLES = 100
COLUMNS = (
    *("design", "scope", "b", "studies", "coverage", "coverage_low", "coverage_high", "claimed"),
)


class Design(NamedTuple):
    """Every parent in every condition, a ladder of doses; ``r``: what b is set by, of models, and
    of means of conditions where these have noise of their own. Within parents b is that of these
    conditions, noise of theirs included.
    """

    noise: Noise
    parents: int
    conditions: int
    r: float

    @property
    def by_condition(self) -> float:
        """Variance of the noise that all models of a condition share."""
        return float(self.noise == "noise per condition too")

    def spread(self, members: int) -> float:
        """Variance of scores, or of means of so many, within parents."""
        doses = np.linspace(-1, 1, self.conditions)
        return float(doses.var(ddof=1)) + OWN**2 / members

    @property
    def b(self) -> float:
        """The slope on scores without error of words."""
        members = self.parents if self.by_condition else 1
        noise = self.by_condition + 1 / members
        return self.r * sqrt(noise / self.spread(members) / (1 - self.r**2))

    def true(self, members: int) -> float:
        """The slope of models, or of means of so many: errors of their scores make it smaller."""
        error = SHARED.get(self.noise, 0) ** 2 * self.spread(1)
        return self.b * self.spread(members) / (self.spread(members) + error / members)

    def by_chance(self, own: Floats) -> float:
        """What effects of these conditions, that have nothing to do with the score, add to b."""
        return float(np.cov(np.linspace(-1, 1, self.conditions), own)[0, 1]) / self.spread(1)

    def draw(self, rng: np.random.Generator) -> Study:
        """A study."""
        parent = np.repeat(np.arange(self.parents), self.conditions)
        condition = np.tile(np.arange(self.conditions), self.parents)
        n = len(parent)
        x = np.linspace(-1, 1, self.conditions)[condition] + OWN * rng.normal(size=n)
        noise = rng.normal(size=n)
        if self.noise == "t with 3 df":
            noise = rng.standard_t(3, size=n) / sqrt(3)
        elif self.noise == "noise varies by parent":
            noise *= rng.permutation(np.geomspace(0.5, 2, self.parents))[parent]
        own = sqrt(self.by_condition) * rng.normal(size=self.conditions)
        of_x, of_y = effects(parent, rng)
        y = self.b * x + noise + own[condition]
        true = {WITHIN: self.true(1) + self.by_chance(own), OVER: self.true(self.parents)}
        if self.noise not in SHARED:
            return study_of(x + of_x, y + of_y, parent, true, condition=condition)
        scale = sqrt(self.spread(1))
        of_words, words, words_scale = _shared(x / scale, SHARED[self.noise], rng)
        of_items, items, _ = _shared(x / scale, SHARED[self.noise], rng)
        true = {scope: b / words_scale for scope, b in true.items()}
        actual = study_of(
            *(x + of_x + scale * of_words, y + of_y + of_items, parent, true),
            condition=condition,
            y_resampled=(y + of_y)[:, None] + items,
        )
        x_resampled = (x + of_x)[:, None] + scale * words
        return actual._replace(of=actual.of._replace(x_resampled=x_resampled))


def _shared(x: Floats, error: float, rng: np.random.Generator) -> tuple[Floats, Floats, float]:
    """What words, or items, do to each model, each with a slope on x and an error of its own: as
    measured (n,), and over resamples of them (n, resamples); and the scale that they give to x.
    """
    slopes, own = rng.normal(size=ITEMS), rng.normal(size=(len(x), ITEMS))
    item = error * sqrt(ITEMS) * (np.outer(x, slopes) + own)
    weights = rng.multinomial(ITEMS, np.full(ITEMS, 1 / ITEMS), size=RESAMPLES).T / ITEMS
    scale = 1 + error * sqrt(ITEMS) * float(slopes.mean())
    return item.mean(axis=1), item @ weights, scale


def designs() -> Iterator[Design]:
    """Every design of the table."""
    sizes = (1, 29), (4, 21), (8, 84)
    for (parents, number), noise, r in product(sizes, get_args(Noise), (0, 0.3, 0.5, 0.8)):
        if parents > 1 or noise != "noise varies by parent":
            yield Design(noise, parents, number, r)


def rates(design: Design, count: int, seed: int = SEED) -> pd.DataFrame:
    """The rows of a design: one for each scope."""
    rng = np.random.default_rng([seed, zlib.crc32(repr(design).encode())])
    scopes = (WITHIN, OVER) if design.parents > 1 else (OVER,)
    actual: dict[str, list[tuple[bool, bool]]] = {scope: [] for scope in scopes}
    for _ in range(count):
        study = design.draw(rng)
        for scope in scopes:
            low, high = SCOPES[scope](study.of).slope[1:]
            actual[scope].append((low <= study.true[scope] <= high, low > 0 or high < 0))
    rows = []
    for scope, item in actual.items():
        coverage, claimed = np.mean(item, axis=0).tolist()
        b = design.true(design.parents if scope == OVER else 1)
        of = f"{design.parents} x {design.conditions}, {design.noise}", scope, b
        rows.append((*of, count, coverage, *wilson(coverage * count, count, 0.95), claimed))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def main() -> None:
    """Simulate and write."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.slopes", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--studies", type=int, default=1_000, help="of each cell")
    given = parser.parse_args()
    tables = []
    for design in designs():
        tables.append(rates(design, given.studies))
        print(tables[-1].round(3).to_csv(index=False, header=False), end="", flush=True)
    with atomic_path(given.out / "slope_rates.csv") as path:
        pd.concat(tables).round(4).to_csv(path, index=False)


if __name__ == "__main__":
    main()

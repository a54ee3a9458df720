"""Studies drawn from a large one whose truth is known, and how often each verdict is reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.findings import Finding, measure
from analysis.frame import numbers, text_rows, texts
from analysis.joined import join_points, origins, rows_of
from analysis.naming import CONTROL
from analysis.verdict import NEGATIVE, NEGLIGIBLE, POSITIVE, VERDICTS, judge
from studies.certificate.measures import wilson

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Floats
    from analysis.correlation import Estimate
    from analysis.results import Tables
    from analysis.rows import Rows

PLANTED = "planted stereotype"
SIZED = ("posts", "documents")  # what a task learns from, by the column of its number
FEWEST_LEFT = 2  # times as many seeds as a smaller study has, for studies to differ
Row = dict[str, object]

RESAMPLES = 1_999  # of the permutation test, in smaller studies
NO_LINK = (POSITIVE, NEGATIVE)  # wrong where nothing is planted
A_LINK = (NEGATIVE, NEGLIGIBLE)  # wrong where a link is


@dataclass(frozen=True)
class Design:
    """Rows that make one study: one transmission, number of posts or documents (``learned``, in
    the column ``sized``), and way in which embeddings differ (``planted stereotype``, or the name
    of a method).

    ``slices``: the rows by measure and query; ``seeds``: the seed of every row of a slice;
    ``controls``: the queries that have nothing to do with the task.
    """

    transmission: float
    sized: str
    learned: int
    varied: str
    slices: dict[tuple[str, str], Rows]
    seeds: dict[tuple[str, str], Floats]
    controls: Sequence[str]

    def names(self, key: tuple[str, str]) -> Row:
        """The columns that name a slice."""
        measure, query = key
        return {
            "varied": self.varied,
            "transmission": self.transmission,
            self.sized: self.learned,
            "measure": measure,
            "query": query,
            "control": query in self.controls,
        }

    def linked(self, key: tuple[str, str]) -> bool:
        """Whether a link is planted between the score and the gap of a slice."""
        return self.transmission > 0 and key[1] not in self.controls


def designs(
    tables: Tables, confirmatory: Sequence[str], controls: Sequence[str]
) -> Iterator[Design]:
    """Every design of the tables that has two embeddings or more."""
    joined = join_points(tables)
    joined = joined[joined["measure"].isin(confirmatory)]
    sized = find_sized(joined)
    for _, part in joined.groupby(["transmission", sized], sort=False):
        method = np.array(texts(part, "method"))
        modified = list(dict.fromkeys(method[method != CONTROL].tolist()))
        for varied in (PLANTED, *modified):
            rows = part[(method == CONTROL) | (method == varied)]
            if varied != PLANTED:
                parents = set(rows.loc[rows["method"] == varied, "parent"])
                rows = rows[rows["parent"].isin(parents)]
            kept = dict(list(rows.groupby(["measure", "query"], sort=False)))
            if len(rows) > 1:
                yield Design(
                    numbers(rows, "transmission")[0].item(),
                    sized,
                    int(numbers(rows, sized)[0].item()),
                    varied,
                    {_key(each): _rows(each, varied) for each in kept.values()},
                    {_key(each): numbers(each, "seed") for each in kept.values()},
                    controls,
                )


def find_sized(table: pd.DataFrame) -> str:
    """The column that says how many posts or documents were learned from."""
    return next(name for name in SIZED if name in table)


def _key(part: pd.DataFrame) -> tuple[str, str]:
    return texts(part, "measure")[0], texts(part, "query")[0]


def _rows(part: pd.DataFrame, varied: str) -> Rows:
    """The rows of a slice. Embeddings of one seed share the world's own leans and the posts: where
    stereotypes are planted, they are to one another what embeddings of one parent are.
    """
    rows = rows_of(part)
    if varied != PLANTED:
        return rows
    parent, cluster = text_rows(part, ("embedding", "seed")), texts(part, "seed")
    return rows._replace(
        model=np.array(origins(part)["model"], dtype=str),
        parent=np.array([" ".join(each) for each in parent], dtype=str),
        cluster=np.array(cluster, dtype=str),
        condition=np.array(texts(part, "stereotype"), dtype=str),
    )


def whole_study(design: Design) -> list[Row]:
    """One row a slice: r_rm, its interval, p and verdict of all embeddings."""
    found = _judged(design, list(design.slices.values()))
    return [
        design.names(key)
        | {
            "linked": design.linked(key),
            "embeddings": each.n,
            "seeds": len(np.unique(design.seeds[key])),
            "r_rm": each.within.r,
            "low": each.within.low,
            "high": each.within.high,
            "noise_ceiling": each.noise_ceiling,
            "p_holm": each.p_holm,
            "verdict": each.verdict,
        }
        for key, each in zip(design.slices, found, strict=True)
    ]


def smaller_studies(
    design: Design, draws: int, sizes: Sequence[int], *, apart: bool = False
) -> list[Row]:
    """One row a slice and size: how often each verdict is reached, and a wrong one, by ``draws``
    studies of so many seeds, drawn without repetition within a study.

    Studies of m of n seeds share seeds with one another. The share over all of them varies no more
    than that over the n / m, rounded down, that share none (Hoeffding, 1963): intervals are
    Wilson's for so many. ``apart``: these alone, in place of ``draws``. Sizes are left out that are
    more than half of all seeds.
    """
    every = np.unique(np.concatenate(list(design.seeds.values())))
    rng = np.random.default_rng(0)
    rows: list[Row] = []
    for size in sizes:
        if size * FEWEST_LEFT > len(every):
            continue
        disjoint = len(every) // size
        if apart:
            chosen = rng.permutation(every)[: disjoint * size].reshape(disjoint, size)
        else:
            chosen = np.array([rng.permutation(every)[:size] for _ in range(draws)])
        studies = [_verdicts(design, seeds) for seeds in chosen]
        embeddings = studies[0][1]
        reached = np.array([each for each, _ in studies])  # (draws, slices)
        for place, key in enumerate(design.slices):
            row: Row = design.names(key) | {"linked": design.linked(key), "seeds": size}
            row |= {"embeddings": embeddings, "studies": len(chosen), "apart": disjoint}
            wrong = A_LINK if design.linked(key) else NO_LINK
            counted = {verdict: (verdict,) for verdict in VERDICTS}
            for name, verdicts in (counted | {"wrong": wrong}).items():
                share = float(np.isin(reached[:, place], verdicts).mean())
                row |= _columns(name, wilson(share, disjoint))
            rows.append(row)
    return rows


def _verdicts(design: Design, seeds: Floats) -> tuple[list[str], int]:
    slices = [
        rows.at(np.flatnonzero(np.isin(design.seeds[key], seeds)))
        for key, rows in design.slices.items()
    ]
    found = _judged(design, slices, RESAMPLES)
    return [each.verdict for each in found], max(each.n for each in found)


def _judged(design: Design, slices: Sequence[Rows], permutations: int = 9_999) -> list[Finding]:
    """The verdicts on slices: those of the controls are judged together, as they would be in a
    study that declares them.
    """
    found = [
        measure(rows, {"slice": str(place)}, full=True, permutations=permutations)
        for place, rows in enumerate(slices)
    ]
    found = [each._replace(confirmatory=True) for each in found]
    control = [key[1] in design.controls for key in design.slices]
    judged: dict[int, Finding] = {}
    for side in (False, True):
        places = [place for place, is_control in enumerate(control) if is_control == side]
        judged |= dict(zip(places, judge([found[place] for place in places]), strict=True))
    return [judged[place] for place in range(len(found))]


def _columns(name: str, found: Estimate) -> Row:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}

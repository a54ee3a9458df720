"""What made the results of a sweep: which code of ours, and which versions of libraries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analysis.frame import texts
from files import InputError, atomic_path
from files.tables import read_table, write_csv

MADE = "made.csv"


class Maker(NamedTuple):
    """Results of a stage that the same code and libraries made; ``results`` counts them.

    ``code``: a hash of the source that made them. ``project``, ``commit``: the project's version
    and commit then; empty where there was none. ``libraries``: ``Python 3.11.7, gensim 4.4.0``.
    """

    stage: str
    made_by: str
    results: int
    project: str
    commit: str
    code: str
    libraries: str


def write_made(folder: Path, makers: Iterable[Maker]) -> Path:
    """Write ``made.csv``; its path."""
    with atomic_path(folder / MADE) as path:
        write_csv(pd.DataFrame(list(makers), columns=list(Maker._fields)), path)
    return folder / MADE


def read_made(folder: Path) -> list[Maker]:
    """The rows of ``made.csv``; none where it is absent or damaged."""
    try:
        table = read_table(folder / MADE)
        columns = [texts(table, name) for name in Maker._fields]
        return [Maker(a, b, int(count), *rest) for a, b, count, *rest in zip(*columns, strict=True)]
    except (InputError, ValueError):
        return []


def mixed(makers: Iterable[Maker]) -> str:
    """In what results of one kind were made differently: ``vectors (Word2Vec) by 2 codes; gensim
    4.3.3 and 4.4.0``; empty where they were not.
    """
    codes: dict[str, set[str]] = defaultdict(set)
    for maker in makers:
        codes[f"{maker.stage} ({maker.made_by})"].add(maker.code)
    several = [f"{name} by {len(each)} codes" for name, each in codes.items() if len(each) > 1]
    versions = {name: each for name, each in versions_of(makers).items() if len(each) > 1}
    return "; ".join(
        [*several, *(f"{name} {' and '.join(each)}" for name, each in versions.items())]
    )


def versions_of(makers: Iterable[Maker]) -> Mapping[str, list[str]]:
    """The versions of the project and of each library that made any of the results."""
    found: dict[str, set[str]] = defaultdict(set)
    for maker in makers:
        for each in (f"Biasbridge {maker.project or '?'}", *maker.libraries.split(", ")):
            name, _, version = each.rpartition(" ")
            found[name].add(version)
    return {name: sorted(found[name]) for name in sorted(found)}


def describe_made(makers: Iterable[Maker]) -> str:
    """One line for a reader: every version, after what is mixed."""
    known = list(makers)
    if not known:
        return "not recorded"
    every = versions_of(known).items()
    versions = ", ".join(f"{name} {' and '.join(each)}" for name, each in every)
    return f"mixed: {differing}. {versions}" if (differing := mixed(known)) else versions

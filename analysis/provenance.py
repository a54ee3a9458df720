"""Provenance of the results of a sweep: the code version and library versions that made them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from biasbridge.analysis.frame import as_text
from biasbridge.files import InputError, atomic_path
from biasbridge.files.tables import read_table, unescape_formulas, write_csv

PROVENANCE_CSV = "provenance.csv"
INSTRUCTIONS = "CPU instructions"  # stand beside the versions of libraries


class BuildRecord(NamedTuple):
    """Results of a step that the same code and libraries made; ``results`` counts them.

    ``code``: a hash of the source that made them. ``project``, ``commit``: the version and commit
    of the project; empty where there was none. ``libraries``: ``Python 3.11.7, gensim 4.4.0``.
    """

    step: str
    made_by: str
    results: int
    project: str
    commit: str
    code: str
    libraries: str


def write_provenance(folder: Path, makers: Iterable[BuildRecord]) -> Path:
    """Write ``provenance.csv``; return its path."""
    with atomic_path(folder / PROVENANCE_CSV) as path:
        write_csv(pd.DataFrame(list(makers), columns=list(BuildRecord._fields)), path)
    return folder / PROVENANCE_CSV


def read_provenance(folder: Path) -> list[BuildRecord]:
    """Return the rows of ``provenance.csv``; none where it is missing or damaged."""
    try:
        table = unescape_formulas(read_table(folder / PROVENANCE_CSV))
        columns = [as_text(table, name) for name in BuildRecord._fields]
        return [
            BuildRecord(step, made_by, int(count), *details)
            for step, made_by, count, *details in zip(*columns, strict=True)
        ]
    except (InputError, ValueError):
        return []


def describe_mixture(makers: Iterable[BuildRecord]) -> str:
    """Return how results of one kind differ in provenance: ``vectors (Word2Vec) by 2 codes; gensim
    4.3.3 and 4.4.0``; empty where they do not.
    """
    codes: dict[str, set[str]] = defaultdict(set)
    for maker in makers:
        codes[f"{maker.step} ({maker.made_by})"].add(maker.code)
    parts = [f"{name} by {len(hashes)} codes" for name, hashes in codes.items() if len(hashes) > 1]
    for library, versions in versions_by_library(makers).items():
        if len(versions) > 1:
            parts.append(f"{library} {' and '.join(versions)}")
    return "; ".join(parts)


def describe_processor(makers: Iterable[BuildRecord]) -> str:
    """Return a note where networks were trained on a CPU; empty where none was."""
    sets = versions_by_library(makers).get(INSTRUCTIONS)
    other = "digits of networks may differ on another processor"
    return f"{INSTRUCTIONS}: {' and '.join(sets)}; {other}" if sets else ""


def versions_by_library(makers: Iterable[BuildRecord]) -> Mapping[str, list[str]]:
    """Return the versions of the project and of each library that made any of the results."""
    versions: dict[str, set[str]] = defaultdict(set)
    for maker in makers:
        for library in (f"Biasbridge {maker.project or '?'}", *maker.libraries.split(", ")):
            name, _, version = library.rpartition(" ")
            versions[name].add(version)
    return {name: sorted(versions[name]) for name in sorted(versions)}


def describe_provenance(makers: Iterable[BuildRecord]) -> str:
    """Return one line with every version, after any mix of synthetic and real data."""
    records = list(makers)
    if not records:
        return "not recorded"
    versions_by_name = versions_by_library(records).items()
    versions = ", ".join(f"{name} {' and '.join(numbers)}" for name, numbers in versions_by_name)
    return (
        f"mixed: {differing}. {versions}" if (differing := describe_mixture(records)) else versions
    )

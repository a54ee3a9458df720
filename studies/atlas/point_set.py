"""A published point set: where its table is, what its columns mean, which rows are mended, and
what its authors concluded.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from analysis.frame import labels
from files import InputError, choice, nearest
from files.nested import read_nested
from files.tables import read_table, require_columns

if TYPE_CHECKING:
    import pandas as pd

    from analysis.arrays import Truths

DATA = "BIASBRIDGE_DATA"
Made = TypeVar("Made", bound="PointSet | Correction")


@choice
class Correction:
    """Rows of a published table that are wrong, and what is put in place of it.

    ``where``: columns and a pattern that their cells fit (``*`` stands for any text); ``becomes``:
    columns and what they hold instead; ``why``: the evidence.
    """

    where: dict[str, str]
    becomes: dict[str, str]
    why: str

    def __post_init__(self) -> None:
        if not (self.where and self.becomes and self.why.strip()):
            raise InputError("a correction names rows (where), cells (becomes) and a reason (why)")


@choice
class PointSet:
    """One published table in which two things were measured on several embeddings or models.

    ``table``: a file beside the YAML, or else in the folder that ``BIASBRIDGE_DATA`` names; then
    ``address`` says where it was published and ``sha256`` which bytes are meant. ``x`` and ``y``:
    columns and what they measure, in which unit; each x is set against each y. ``observation``:
    the columns that name one embedding or model; ``parent``: those that name what it was made from;
    ``condition``: those that name what was done to it.
    ``by``: the lists of columns to slice by; ``keep``: columns and the labels of the rows used.
    ``claim``: what the authors concluded, in our words.
    """

    title: str
    source: str
    licence: str
    table: str
    x: dict[str, str]
    y: dict[str, str]
    observation: tuple[str, ...]
    claim: str
    address: str = ""
    sha256: str = ""
    parent: tuple[str, ...] = ()
    condition: tuple[str, ...] = ()
    by: tuple[tuple[str, ...], ...] = ((),)
    keep: dict[str, list[str]] = field(default_factory=dict)
    corrections: tuple[Correction, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        for name in ("title", "source", "licence", "table", "x", "y", "observation", "claim", "by"):
            if not getattr(self, name):
                raise InputError(f"{name} is empty; say it")

    def path(self, beside: Path) -> Path | None:
        """Where the table lies; None where it is not at hand."""
        folder = os.environ.get(DATA)
        places = [beside / self.table, *([Path(folder) / self.table] if folder else [])]
        return next((place for place in places if place.is_file()), None)

    def read(self, path: Path) -> pd.DataFrame:
        """The rows that are kept, as published. Raises ``InputError`` for a table of other bytes
        than ``sha256`` says, without a column that is named, or without a row that is kept.
        """
        if self.sha256 and (found := hashlib.sha256(path.read_bytes()).hexdigest()) != self.sha256:
            raise InputError(
                f"{path} is not the table that was published: its SHA-256 is {found}, not"
                f" {self.sha256}; get it from {self.address or self.source}"
            )
        table = read_table(path)
        cells = [name for each in self.corrections for name in (*each.where, *each.becomes)]
        named = (
            *self.x,
            *self.y,
            *self.observation,
            *self.parent,
            *self.condition,
            *self.keep,
            *cells,
        )
        require_columns(table, (*named, *(name for by in self.by for name in by)), str(path))
        kept: Truths = np.ones(len(table), dtype=bool)
        for name, allowed in self.keep.items():
            kept &= np.isin(labels(table, name), allowed)
        if not kept.any():
            raise InputError(f"{path} has no row that is kept; see 'keep'")
        return table[kept].reset_index(drop=True)

    def corrected(self, table: pd.DataFrame) -> tuple[pd.DataFrame, list[int]]:
        """The table with its corrections, and how many models each of these changed. Raises
        ``InputError`` for a correction that changes nothing.
        """
        mended, changed = table.copy(), []
        for each in self.corrections:
            rows: Truths = np.ones(len(table), dtype=bool)
            for name, pattern in each.where.items():
                rows &= [fnmatchcase(cell, pattern) for cell in labels(table, name, empty="")]
            other: Truths = np.zeros(len(table), dtype=bool)
            for name, value in each.becomes.items():
                other |= np.array(labels(table, name, empty="")) != value
                mended.loc[rows, name] = value
            columns = [labels(table[rows & other], name) for name in self.observation]
            changed.append(len(set(zip(*columns, strict=True))))
            if not changed[-1]:
                raise InputError(f"the correction of {each.where} changes nothing; remove it")
        return mended, changed


def read_point_set(path: Path) -> PointSet:
    """The point set that a YAML file describes; ``InputError``, with the file, for what is missing,
    unknown or of the wrong kind.
    """
    given = read_nested(path)
    if not isinstance(given, dict):
        raise InputError(f"{path} is no mapping; docs/atlas/README.md says what it holds")
    try:
        made = given.get("corrections") or []
        corrections = [_made(Correction, each) for each in made]
        return _made(PointSet, given | {"corrections": corrections})
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _made(cls: type[Made], given: object) -> Made:
    if not isinstance(given, Mapping):
        raise InputError(f"{given!r} is no mapping; name fields and their values")
    known = [each.name for each in fields(cls)]
    for name in given:
        if name not in known:
            raise InputError(f"unknown field {name!r}{nearest(name, known)}")
    try:
        return cls(**given)
    except TypeError as error:  # a field that is missing
        raise InputError(f"{error}; give {', '.join(known)}".replace("__init__() ", "")) from None

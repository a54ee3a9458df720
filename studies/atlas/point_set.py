"""A published point set: its table, the meaning of its columns, corrections and conclusion."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import field, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from biasbridge.analysis.frame import as_labels
from biasbridge.files import InputError, choice, nearest
from biasbridge.files.data.registry import data_folder
from biasbridge.files.nested import read_nested
from biasbridge.files.tables import read_table, require_columns

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.stats.arrays import Truths

Declared = TypeVar("Declared", bound="PointSet | Correction")


@choice
class Correction:
    """Correction of a published table: cells of its rows (``*``: any text), and the evidence."""

    where: dict[str, str]
    becomes: dict[str, str]
    why: str

    def __post_init__(self) -> None:
        if not (self.where and self.becomes and self.why.strip()):
            raise InputError("a correction names rows (where), cells (becomes) and a reason (why)")


@choice
class PointSet:
    """A published table of two or more measures on several embeddings or language models.

    ``table`` lies beside the YAML or in the folder ``BIASBRIDGE_DATA``; ``sha256`` is its digest.
    ``x`` and ``y`` map columns to what they measure and its unit; each x is correlated with each y.
    ``observation``, ``parent`` and ``condition`` are columns that name a model, its parent and its
    condition; ``by`` lists columns to slice by; ``keep`` has the labels of the rows to use by
    column. ``claim``: the authors' conclusion, in our words.
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
                raise InputError(f"{name} is empty; fill it in")

    def path(self, beside: Path) -> Path | None:
        """Return where the table lies; None if it is not available."""
        candidates = beside / self.table, data_folder() / self.table
        return next((path for path in candidates if path.is_file()), None)

    def read(self, path: Path) -> pd.DataFrame:
        """Return the rows to use; raise ``InputError`` for other bytes, no column or no row."""
        if self.sha256 and (digest := hashlib.sha256(path.read_bytes()).hexdigest()) != self.sha256:
            raise InputError(
                f"{path} is not the table that was published: its SHA-256 is {digest}, not"
                f" {self.sha256}; get it from {self.address or self.source}"
            )
        table = read_table(path)
        corrected_columns = [
            name
            for correction in self.corrections
            for name in (*correction.where, *correction.becomes)
        ]
        columns = (
            *self.x,
            *self.y,
            *self.observation,
            *self.parent,
            *self.condition,
            *self.keep,
            *corrected_columns,
            *(name for names in self.by for name in names),
        )
        require_columns(table, columns, str(path))
        is_used: Truths = np.ones(len(table), dtype=bool)
        for name, used_labels in self.keep.items():
            is_used &= np.isin(as_labels(table, name), used_labels)
        if not is_used.any():
            raise InputError(f"no row of {path} has the labels given in 'keep'; change 'keep'")
        return table[is_used].reset_index(drop=True)

    def apply_corrections(self, table: pd.DataFrame) -> tuple[pd.DataFrame, list[int]]:
        """Return the corrected table and the models changed per correction (0 is an error)."""
        corrected_table, n_changed = table.copy(), []
        for correction in self.corrections:
            is_matched: Truths = np.ones(len(table), dtype=bool)
            for name, pattern in correction.where.items():
                cells = as_labels(table, name, empty="")
                is_matched &= [fnmatchcase(cell, pattern) for cell in cells]
            is_changed: Truths = np.zeros(len(table), dtype=bool)
            for name, value in correction.becomes.items():
                is_changed |= np.array(as_labels(table, name, empty="")) != value
                corrected_table.loc[is_matched, name] = value
            columns = [as_labels(table[is_matched & is_changed], name) for name in self.observation]
            n_changed.append(len(set(zip(*columns, strict=True))))
            if not n_changed[-1]:
                raise InputError(f"the correction of {correction.where} changes nothing; remove it")
        return corrected_table, n_changed


def read_point_set(path: Path) -> PointSet:
    """Read a YAML file; raise ``InputError``, naming it, for a missing, unknown or wrong field."""
    content = read_nested(path)
    if not isinstance(content, dict):
        raise InputError(f"{path} is no mapping; docs/atlas/README.md lists its fields")
    try:
        corrections = [
            _build(Correction, correction) for correction in content.get("corrections") or []
        ]
        return _build(PointSet, content | {"corrections": corrections})
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _build(cls: type[Declared], values: object) -> Declared:
    if not isinstance(values, Mapping):
        raise InputError(f"{values!r} is no mapping; name fields and their values")
    names = [declared.name for declared in fields(cls)]
    for name in values:
        if name not in names:
            raise InputError(f"unknown field {name!r}{nearest(name, names)}")
    try:
        return cls(**values)
    except TypeError as error:  # a missing field
        raise InputError(f"{error}; give {', '.join(names)}".replace("__init__() ", "")) from None

"""The declaration of a study of correlations before its run, and the file that keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

from annotated_types import doc

from biasbridge.analysis.naming import (
    ALL,
    CONFIRMATORY,
    SMALLEST_CHANGE,
    UTILITY,
    SmallestChange,
    present_confirmatory,
)
from biasbridge.analysis.tables import SETTINGS_JSON
from biasbridge.files import InputError, choice, nearest
from biasbridge.files.choice import Fileless
from biasbridge.files.text import read_nested

if TYPE_CHECKING:
    import pandas as pd


@choice
class Declaration(Fileless):
    """The confirmatory slices, over which p is adjusted.

    They are the gaps in the ``confirmatory`` measures (all gaps where there is none of these) by
    each query (or the ``queries`` named) over ``embeddings`` and ``methods``. ``smallest_change``:
    the smallest change of interest, in the gap's own unit: of all gaps, or by measure; ``utility``:
    the measure over all items of how well the task is done.
    """

    confirmatory: Annotated[
        tuple[str, ...],
        doc("measures of confirmatory gaps (printed, figure 3); all measures if none exists"),
    ] = CONFIRMATORY
    queries: Annotated[
        tuple[str, ...], doc("confirmatory queries, each on its own; []: every query")
    ] = ()
    embeddings: Annotated[
        tuple[str, ...], doc("all: all embeddings pooled; or names, each on its own")
    ] = (ALL,)
    methods: tuple[str, ...] = (ALL,)
    smallest_change: Annotated[
        SmallestChange,
        doc(
            "smallest change of the gap of interest: smaller ones are called 'at most'; or by"
            f" measure, as {{log_odds: 0.1}}: {SMALLEST_CHANGE} of others"
        ),
    ] = SMALLEST_CHANGE
    utility: Annotated[str, doc("measure of task performance, over all posts")] = UTILITY

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read the declaration of a results folder; the default without a file. Raise
        ``InputError`` where the file is damaged.
        """
        path = folder / SETTINGS_JSON
        if not path.is_file():
            return cls()
        settings = read_nested(path)
        field_names = {field.name for field in fields(cls)}
        if not isinstance(settings, dict) or not settings.keys() <= field_names:
            raise InputError(
                f"{path} holds no settings of this study; delete it to use the default"
            )
        return cls(**settings)

    def unmatched(self, joined: pd.DataFrame) -> list[str]:
        """Return a warning for each declared name that no point has: its tests are not made."""
        declared = {"query": "queries", "embedding": "embeddings", "method": "methods"}
        lines = []
        for column, field in declared.items():
            present = {*map(str, joined[column])}
            for name in getattr(self, field):
                if name != ALL and name not in present:
                    hint = f"{nearest(name, present)}; there are {', '.join(sorted(present))}"
                    lines.append(f"warning: study.{field} names {name!r}, which no point has{hint}")
        present = {*map(str, joined["measure"])}
        if self.confirmatory != CONFIRMATORY and not present & {*self.confirmatory}:
            name = self.confirmatory[0] if self.confirmatory else ""
            hint = f"{nearest(name, present)}; there are {', '.join(sorted(present))}"
            lines.append(
                f"warning: study.confirmatory names {name!r}, which no gap has{hint}; every measure"
                " is tested"
            )
        return lines

    def holds(self, names: Mapping[str, str], present: Iterable[str]) -> bool:
        """Test whether a slice is confirmatory; ``present``: the measures in the table."""
        query = names["query"]
        return (
            names["measure"] in present_confirmatory(present, self.confirmatory)
            and names["embedding"] in self.embeddings
            and names["method"] in self.methods
            and (query in self.queries if self.queries else query != ALL)
        )

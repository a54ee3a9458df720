"""Correlations of scores and gaps, by slices.

biasbridge correlate results/hatespeech_en
biasbridge correlate my.csv --x WEAT --y "Performance Gap" --by Metric,Embedding \
    --observation Name --parent Base --confirmatory all --out slices.csv
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasbridge.analysis.correlation import ONE_THREAD, PERMUTATIONS, Correlation
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.joined import (
    JOINED_COLUMNS,
    bias_sign,
    is_joined,
    join_points,
    low_skill_reason,
    observations_of,
    unbiased_values,
)
from biasbridge.analysis.naming import (
    ALL,
    CONTROL,
    KINDS,
    ORIGINAL,
    POOLED_OVER,
    SLICE_COLUMNS,
    SMALLEST_CHANGE,
    SmallestChange,
)
from biasbridge.analysis.observations import Observations, widest
from biasbridge.analysis.scopes import RUNS
from biasbridge.analysis.slices import (
    FEW_PERMUTATIONS,
    RESULT_COLUMNS,
    SliceResult,
    measure_slice,
    note_heterogeneity,
    slices,
)
from biasbridge.analysis.tables import Tables, group_indices, read_tables
from biasbridge.analysis.verdicts import judge
from biasbridge.files import InputError
from biasbridge.files.columns import EMPTY, as_float, as_labels, as_text
from biasbridge.files.tables import require_columns
from biasbridge.stats.intervals import Estimate

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.stats.arrays import Floats, Labels


_CLASSIFIER = "classifier"
_MAX_TIE_RATIO = 3  # times the number of ties expected by chance
DECLARED = Declaration()  # the default of a study


@dataclass
class StudyResults:
    """The tables of a results folder, joined, and what its study declared beforehand."""

    folder: Path
    tables: Tables
    joined: pd.DataFrame
    declared: Declaration

    @classmethod
    def read(cls, folder: str | PathLike[str]) -> StudyResults:
        """Read a results folder. Raises ``InputError`` for a table that is missing or damaged."""
        if not isinstance(folder, str | PathLike):
            raise InputError(f"{type(folder).__name__} is not a folder; give the path of results")
        declared, tables = Declaration.of(Path(folder)), read_tables(Path(folder))
        return cls(Path(folder), tables, join_points(tables, declared.utility), declared)

    def correlate(self) -> list[SliceResult]:
        """Correlate scores and gaps in every slice."""
        return correlate_slices(self.joined, self.declared)


@dataclass(frozen=True)
class Levels:
    """The columns of a table that name the levels of its rows.

    ``observation``: one model of a parent; without it each row is one. ``parent``: the model it was
    made from. ``condition``: the modification, of several columns the first its method; without it
    the observation's own name, where it recurs under several parents. ``cluster``: levels above
    parents, such as corpus and language, in any order. ``utility``: how well the task is done.
    ``classifier``: by default the column of that name; gaps of several are never averaged.
    """

    observation: Sequence[str] = ()
    parent: Sequence[str] = ()
    condition: Sequence[str] = ()
    cluster: Sequence[str] = ()
    utility: str = ""
    classifier: str = ""

    def slice_columns(self, table: pd.DataFrame, by: Sequence[str]) -> list[str]:
        """Return the columns to slice by, that of the classifier among them where it varies."""
        levels = {*self.observation, *self.parent, *self.condition, *self.cluster}
        has_default = _CLASSIFIER in table and _CLASSIFIER not in levels
        column = self.classifier or (_CLASSIFIER if has_default else "")
        if column:
            require_columns(table, [column], "the table")
        varies = column and len({*as_labels(table, column)}) > 1
        return list(dict.fromkeys((*by, *([column] if varies else []))))

    @property
    def named(self) -> bool:
        """Return whether any level is named."""
        return bool(self.observation or self.parent or self.condition or self.cluster)

    def observations(self, table: pd.DataFrame, x: str, y: str) -> Observations:
        """Return the rows. The key of an observation is observation and parent; of a row without
        observation its condition, parent and number.

        Raises ``InputError`` for an unknown column, levels that do not nest, an observation in two
        conditions, and clusters of several parents without named conditions.
        """
        columns = (*self.observation, *self.parent, *self.condition, *self.cluster)
        require_columns(table, [*columns, *([self.utility] if self.utility else [])], "the table")
        parent = _names(table, self.parent)
        numbers = np.char.add("row ", np.arange(1, len(table) + 1).astype(str))
        observation = _names(table, self.observation) if self.observation else numbers
        if self.observation and self.parent:
            model = np.char.add(np.char.add(observation, " of "), parent)
        else:
            model = observation if self.observation else self._describe(table, numbers)
        condition = self._condition(table, observation, model, parent)
        if self.cluster and not self.parent:
            raise InputError("clusters lie above parents; name the column of parents with --parent")
        clusters = {name: as_labels(table, name) for name in self.cluster}
        cluster = widest(clusters, parent.tolist()) if clusters else parent
        shares_clusters = 1 < len(set(cluster.tolist())) < len(set(parent.tolist()))
        if not self.condition and not condition.any() and shares_clusters:
            raise InputError(
                "parents of one cluster are averaged for each condition; name the column of"
                " conditions with --condition"
            )
        return Observations.make(
            as_float(table, x),
            as_float(table, y),
            model=model,
            parent=parent,
            cluster=cluster,
            condition=condition,
            **self._modification(table),
            **({"utility": as_float(table, self.utility)} if self.utility else {}),
        )

    def _describe(self, table: pd.DataFrame, numbers: Labels) -> Labels:
        """Return for each row its condition, parent and number: ``balance, dose 1, seed 2, row 9``.
        Cells that are numbers follow the name of their column.
        """
        columns = list(dict.fromkeys((*self.condition, *self.parent)))
        cells = {name: as_text(table, name) for name in columns}
        texts = [
            [cell if not cell or cell[-1].isalpha() else f"{name} {cell}" for cell in cells[name]]
            for name in columns
        ]
        rows = zip(*texts, numbers.tolist(), strict=True)
        return np.array([", ".join(filter(None, row)) for row in rows], dtype=str)

    def _modification(self, table: pd.DataFrame) -> dict[str, Any]:
        """Return method, family, word list, direction and dose of each row: the columns ``method``
        (or the first of several), ``method_family``, ``wordset``, ``direction`` and ``dose`` of the
        conditions. Without several columns the method is unknown: empty.

        An empty cell, ``none`` and ``unmodified`` stand for the control.
        """
        named = [name for name in self.condition if name == "method"]
        methods = _names(table, (named or self.condition)[: len(self.condition) > 1])
        is_control = np.isin(methods, (EMPTY, ORIGINAL, CONTROL))
        family, words, direction, dose = (
            _names(table, [name] if name in self.condition else [])
            for name in ("method_family", "wordset", "direction", "dose")
        )
        return {
            "method": np.where(is_control, CONTROL, methods),
            "family": np.where(is_control, "", family if family.any() else methods),
            "word_list": np.where(is_control, "", words),
            "direction": np.where(is_control, "", direction),
            "dose": np.array([*map(_dose, dose)]),
        }

    def _condition(
        self, table: pd.DataFrame, observation: Labels, model: Labels, parent: Labels
    ) -> Labels:
        if not self.condition:
            recurs = len(set(observation.tolist())) < len(set(model.tolist()))
            return observation if recurs and self.observation else np.full(len(table), "")
        condition = _names(table, self.condition)
        condition_of: dict[str, str] = {}
        for name, label in zip(model.tolist(), condition.tolist(), strict=True):
            if condition_of.setdefault(name, label) != label:
                raise InputError(
                    f"observation {name!r} is in the conditions {condition_of[name]!r} and"
                    f" {label!r}; name the columns in which they differ with --observation"
                )
        return condition


def _dose(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return nan


def _names(table: pd.DataFrame, columns: Sequence[str]) -> Labels:
    """Return a name for each row: ``a b`` and ``c`` differ from ``a`` and ``b c``."""
    if not columns:
        return np.full(len(table), "")
    rows = list(zip(*(as_labels(table, name) for name in columns), strict=True))
    names = [" ".join(row) for row in rows]
    if len(set(names)) < len(set(rows)):
        names = [", ".join(map(repr, row)) for row in rows]
    return np.array(names, dtype=str)


def _describe_repeats(rows: Observations) -> str:
    """Return why rows cannot be independent models; empty where nothing suggests it.

    The rows of one embedding share its gap beside several scores (then more than a fifth of all
    share their y with another x), or its score beside several gaps (then nearly all share their x).
    Gaps of few items have ties too, which may be by chance (``_ties_by_chance``).
    """
    complete = rows.select(rows.is_complete)
    x, y = complete.x.tolist(), complete.y.tolist()
    for name, partner, side, threshold in (
        ("y", "x", list(zip(y, x, strict=True)), 0.2),
        ("x", "y", list(zip(x, y, strict=True)), 0.8),
    ):
        values = [value for value, _ in set(side)]
        counts = Counter(values)
        n_tied = sum(counts[value] > 1 for value, _ in side)
        if n_tied > threshold * len(side) and not _ties_by_chance(values):
            return (
                f"{n_tied} of {len(side)} rows share their {name} with another {partner}, as the"
                " rows of one embedding do. Name the column of models with --observation. If each"
                " row is a model, name a column that numbers rows"
            )
    return ""


def _ties_by_chance(values: Sequence[float]) -> bool:
    """Test whether ties may be by chance, as differences of shares of few items have them.

    They are not where the counts of all values have a common divisor, as in a table that has every
    embedding three times, nor with fewer than three values; nor where, without the most frequent
    value, the share with ties is more than three times that of as many values drawn from a grid of
    their smallest step, 1 - (1 - 1 / g)^(n - 1), g = (largest - smallest) / step + 1.
    """
    scale = max(map(abs, values)) or 1.0
    distinct, counts = np.unique(np.round(np.array(values) / scale, 9), return_counts=True)
    if np.gcd.reduce(counts) > 1 or len(distinct) < 3:
        return False
    other_counts = np.delete(counts, counts.argmax())
    tied = float(other_counts[other_counts > 1].sum() / other_counts.sum())
    grid_size = float(np.ptp(distinct) / np.diff(distinct).min()) + 1
    return tied <= _MAX_TIE_RATIO * (1 - (1 - 1 / grid_size) ** (int(other_counts.sum()) - 1))


_NO_LEVELS = Levels()


@ONE_THREAD
def correlate(
    table: pd.DataFrame,
    *,
    x: str,
    y: str,
    by: Sequence[str] = (),
    levels: Levels = _NO_LEVELS,
    confirmatory: Sequence[str] = (),
    smallest_change: SmallestChange = SMALLEST_CHANGE,
) -> list[SliceResult]:
    """Correlate two columns within parents, in every slice of a table, as
    ``biasbridge.commands.correlate.correlate`` says.

    ``by``: an empty cell is the slice ``(empty)``; by default there is one slice. Several
    classifiers are slices of their own. In a table of ``join_points`` models and parents are known.
    ``confirmatory``: values of ``by`` separated by spaces, or ``all``.
    """
    require_columns(table, [x, y, *by], "the table")
    by = levels.slice_columns(table, by)
    if table.empty:
        raise InputError("the table has no rows; give one with at least 3")
    smallest_change = Declaration(smallest_change=smallest_change).smallest_change
    if reserved := [name for name in by if name in RESULT_COLUMNS]:
        raise InputError(f"column {reserved[0]!r} has the name of a result column; rename it")
    from_join = is_joined(table)
    scores = from_join and x == "x"
    signs: Floats = bias_sign(table) if scores else np.ones(len(table))
    if from_join and not levels.named:
        all_rows = observations_of(table, x, y)
        if levels.utility:
            all_rows = all_rows._replace(utility=as_float(table, levels.utility))
    else:
        all_rows = levels.observations(table, x, y)
        all_rows = all_rows._replace(x=signs * all_rows.x)
    cells = [as_labels(table, name) for name in by]
    keys = [tuple(column[row] for column in cells) for row in range(len(table))]
    confirmatory_keys = _confirmatory_keys(confirmatory, dict.fromkeys(keys))
    n_permutations = max(PERMUTATIONS, 100 * len(confirmatory_keys) - 1)
    results = []
    for key, indices in group_indices(keys).items():
        rows = all_rows.select(indices)
        names = dict(zip(by, key, strict=True))
        result = measure_slice(rows, names, full=True, permutations=n_permutations)
        refused = (
            ""
            if levels.observation or (from_join and not levels.named)
            else _describe_repeats(rows)
        )
        if refused:  # r without interval and p
            within = Correlation(result.within.r, slope=Estimate(result.within.slope.value))
            result = SliceResult(
                names,
                {RUNS: within},
                n=result.n,
                n_parents=result.n_parents,
                r_pearson=result.r_pearson,
            )
        results.append(
            result._replace(
                confirmatory=key in confirmatory_keys,
                refused=refused,
                reverse_scored=bool((signs[indices] < 0).any()),
                sign=_common_value(signs[indices]),
            )
        )
    return judge(results, smallest_change)


def _common_value(values: Floats) -> float:
    return float(values[0]) if len(set(values.tolist())) == 1 else nan


def _confirmatory_keys(
    confirmatory: Sequence[str], keys: dict[tuple[str, ...], None]
) -> set[tuple[str, ...]]:
    """Return the keys of the confirmatory slices. Raise ``InputError`` for an unknown one."""
    if list(confirmatory) == [ALL]:
        return set(keys)
    names_by_key = {key: " ".join(key) for key in keys}
    for name in confirmatory:
        if name not in names_by_key.values():
            examples = ", ".join(map(repr, list(names_by_key.values())[:8]))
            raise InputError(f"no slice {name!r}; the table has {examples}; or give {ALL}")
    return {key for key, name in names_by_key.items() if name in confirmatory}


@ONE_THREAD
def correlate_slices(joined: pd.DataFrame, declared: Declaration = DECLARED) -> list[SliceResult]:
    """Correlate every slice that the paper breaks out: task, classifier, metric, convention, part,
    measure and groups, and in each embedding {each, all} x query {each, all} x method {each, all}.

    Metrics are on different scales and never pooled. Scores that fall with bias are reverse-scored.
    Slices that are ``declared`` have a verdict, but for measures of utility (no unbiased value).
    """
    require_columns(joined, JOINED_COLUMNS, "the joined table")
    all_rows, signs = observations_of(joined), bias_sign(joined)
    unbiased = unbiased_values(joined)
    synthetic = np.array([label == "True" for label in as_labels(joined, "generated")])
    group_by = np.array(as_text(joined, "group_by"), dtype=object)
    all_slices = [
        ({name: names[name] for name in SLICE_COLUMNS}, indices)
        for names, indices in slices(joined, KINDS, POOLED_OVER)
    ]
    present = list(dict.fromkeys(names["measure"] for names, _ in all_slices))
    is_confirmatory = [
        declared.holds(names, present) and isfinite(unbiased[indices[0]])
        for names, indices in all_slices
    ]
    n_permutations = max(PERMUTATIONS, 100 * sum(is_confirmatory) - 1)
    # The only method's slice has the rows of all methods: both get the same permutations
    tested = {
        indices.tobytes()
        for (_, indices), needed in zip(all_slices, is_confirmatory, strict=True)
        if needed
    }
    measured: dict[tuple[bytes, bool], SliceResult] = {}
    results = []
    for (names, indices), confirmatory in zip(all_slices, is_confirmatory, strict=True):
        key = indices.tobytes(), confirmatory
        if key not in measured:
            measured[key] = measure_slice(
                all_rows.select(indices),
                names,
                full=confirmatory,
                permutations=n_permutations if key[0] in tested else FEW_PERMUTATIONS,
            )
        refused = ""
        if confirmatory:
            refused = low_skill_reason(joined.iloc[indices])
        results.append(
            measured[key]._replace(
                names=names,
                confirmatory=confirmatory,
                refused=refused,
                synthetic=bool(synthetic[indices].any()),
                reverse_scored=bool((signs[indices] < 0).any()),
                sign=_common_value(signs[indices]),
                line=measured[key].line.of_sign(signs[indices]),
                group_by="; ".join(filter(None, dict.fromkeys(group_by[indices].tolist()))),
            )
        )
    return judge(note_heterogeneity(results), declared.smallest_change)

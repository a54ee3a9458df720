"""Requests on tables of predictions, their gaps with a decision, thresholds and changed items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biasbridge.command_line import takes
from biasbridge.extrinsic.predictions import DEFAULT_MEASURES, HARM, SHARE, GapRequest
from biasbridge.files import InputError
from biasbridge.files.choice import as_names
from biasbridge.files.errors import nearest
from biasbridge.files.group_names import AS_THEY_ARE, GroupNames
from biasbridge.input_tables import InputTable, as_dataframe

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.extrinsic.claims import Decision
    from biasbridge.extrinsic.gap_table import GapRow, Part
    from biasbridge.extrinsic.gaps import Gaps
    from biasbridge.extrinsic.predictions import Unanswered

ONE_THRESHOLD = (
    "one threshold holds for all groups: a threshold by group treats people differently by their"
    " group, which is often unlawful"
)
_MAX_SHOWN = 20  # groups of a table, versions, classes


@dataclass(frozen=True)
class TableRequest(GapRequest):
    """A table of predictions and what is asked of it.

    ``threshold`` is a list of one for each score that predicts, and ``pred`` the versions that they
    are; empty for labels that are given, and ``SHARE`` alone where later versions flag as many
    items as these.
    """

    predictions: InputTable

    def __post_init__(self) -> None:
        vars(self)["threshold"] = self._read_thresholds()
        vars(self)["pred"] = [*self.versions] or self.pred
        super().__post_init__()

    @property
    def source(self) -> str:
        """Name of the file."""
        given = self.predictions
        return Path(given).name if isinstance(given, str | PathLike) else "the table"

    @property
    def labels(self) -> list[str]:
        """Columns of labels, true and predicted."""
        return [self.gold, *([] if self.versions else as_names(self.pred))]

    @property
    def versions(self) -> dict[str, tuple[str, float]]:
        """The column and the threshold of each score that predicts, by the name of the version;
        where an equal share is flagged, the first threshold.
        """
        given = cast("list[float | str]", self.threshold)
        if given in ([], [SHARE]):
            return {}
        return {
            f"{score} at an equal share" if threshold == SHARE else f"{score} >= {threshold!r}": (
                score,
                float(given[0] if threshold == SHARE else threshold),
            )
            for score, threshold in zip(as_names(self.score), given, strict=True)
        }

    def _read_thresholds(self) -> list[float | str]:
        """Return the threshold of each score; where all measures are of scores alone, any does."""
        from biasbridge.extrinsic.measures import SCORED

        given, scores = self.threshold, as_names(self.score or ())
        measures = as_names(self.measures or ())
        if given is None:
            is_of_scores = bool(measures) and {*measures} <= {*SCORED}
            return [0.5] * len(scores) if is_of_scores and not _are_labels(self.pred) else []
        thresholds = [given] if isinstance(given, str | int | float) else [*given]
        if thresholds == [SHARE]:
            if len(scores) > 1 and not _are_labels(self.pred):
                raise InputError(
                    "--threshold share flags as many items as the first --pred: name one for each"
                    " --score, or give the first one's threshold, .5,share"
                )
            return thresholds
        require_score("--threshold", self.score, self.pred)
        for threshold in thresholds:
            is_number = isinstance(threshold, int | float) and isfinite(threshold)
            if not is_number and threshold != SHARE:
                raise InputError(f"--threshold {threshold}: give a number; {ONE_THRESHOLD}")
        thresholds *= len(scores) if len(thresholds) == 1 else 1
        if len(thresholds) != len(scores):
            counts = f"{len(thresholds)} thresholds and {len(scores)} --score"
            raise InputError(f"{counts}; give one threshold, or one for each score")
        if SHARE in thresholds and [*thresholds[1:]] != [SHARE] * (len(thresholds) - 1):
            raise InputError("--threshold: share holds for all later versions, not for the first")
        return thresholds


@dataclass(frozen=True)
class ReleaseRequest(TableRequest):
    """A request that is decided on: the options of :func:`biasbridge.gaps`."""

    bounds: Mapping[str, float] | None = field(default=None, kw_only=True)
    harm: float = field(default=HARM, kw_only=True)

    def __post_init__(self) -> None:
        from biasbridge.extrinsic.claims import check_bounds

        check_bounds(self.bounds or {}, self.harm)
        super().__post_init__()

    @property
    def measured(self) -> Sequence[str]:
        """The measures, and those that the decision needs."""
        from biasbridge.extrinsic.claims import decided_measures

        return decided_measures(super().measured, len(self.pred), self.bounds or ())


@dataclass(frozen=True)
class ScoreRequest(TableRequest):
    """A request at every threshold of a score; its version is no column of the table."""

    score: str = field(default="score", kw_only=True)
    pred: Sequence[str] = field(default=(), kw_only=True)
    threshold: None = field(default=None, init=False)

    def __post_init__(self) -> None:
        from biasbridge.extrinsic.gap_table import WITHOUT_GAP

        if self.pred:
            raise InputError("thresholds predict from the score; leave out pred")
        measures = self.measures or [name for name in DEFAULT_MEASURES if name not in WITHOUT_GAP]
        vars(self).update(pred=[f"no prediction by {self.score}"], measures=measures)
        super().__post_init__()

    @property
    def labels(self) -> list[str]:
        """Column of the true labels."""
        return [self.gold]


@takes(ScoreRequest)
def thresholds(request: ScoreRequest) -> pd.DataFrame:
    """Measure the gaps between groups at every threshold of a score.

    Predicted 1 is a score at or above the threshold. Thresholds are all scores, or 101 quantiles of
    more. Further options are those of :func:`biasbridge.gaps`.

    Parameters
    ----------
    predictions : DataFrame or path
        A table with a row per item.
    score : str
        Column of scores, larger for label 1.

    Returns
    -------
    DataFrame
        One row per threshold and gap: ``f1`` over all items, and the columns of
        :func:`biasbridge.gaps`; simultaneous intervals are adjusted over the gaps at a threshold.

    Raises
    ------
    InputError
        A score that is no number, an AUC, or what :func:`biasbridge.gaps` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> items = {"label": [0, 1] * 40, "score": range(80), "group": ["men"] * 40 + ["women"] * 40}
    >>> table = thresholds(pd.DataFrame(items), measures="recall", privileged="men")
    >>> print(table.loc[table["threshold"] == 40, ["f1", "value"]].round(2).to_dict("records"))
    [{'f1': 0.5, 'value': -1.0}]
    """
    from biasbridge.extrinsic.thresholds import threshold_table

    return threshold_table(request, read_items(request))


@takes(TableRequest)
def changed_items(request: TableRequest) -> pd.DataFrame:
    """List the items whose prediction changed from one version to a later one.

    Options are those of :func:`biasbridge.gaps`, with two or more ``pred``, the earlier first.

    Parameters
    ----------
    predictions : DataFrame or path
        A table with a row per item.

    Returns
    -------
    DataFrame
        One row per item and pair of versions. ``change`` is "newly missed" or "newly found" for
        label 1, "newly flagged" or "no longer flagged" for label 0. ``row`` is the item's index,
        of a file the number of its row from 1; ``groups`` names its groups. The table's own columns
        follow.

    Raises
    ------
    InputError
        One version, or what :func:`biasbridge.gaps` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> items = {"label": [1, 1, 0], "v1": [1, 0, 0], "v2": [0, 0, 1], "group": ["a", "b", "b"]}
    >>> changes = changed_items(pd.DataFrame(items), pred=["v1", "v2"])
    >>> changes[["row", "change", "groups"]].to_numpy().tolist()
    [[0, 'newly missed', 'a'], [2, 'newly flagged', 'b']]
    """
    from biasbridge.extrinsic.changed_items import changed_table

    return changed_table(request, number_rows(read_items(request), request))


def number_rows(items: pd.DataFrame, request: TableRequest) -> pd.DataFrame:
    """Return the items of a file with the number of their row, from 1, as index."""
    is_file = isinstance(request.predictions, str | PathLike)
    return items.set_axis(items.index + 1) if is_file else items


@dataclass(frozen=True)
class MeasuredGaps:
    """What is measured of a table of predictions, and the decision that it allows."""

    items: pd.DataFrame
    request: ReleaseRequest
    parts: Sequence[Part]
    gaps: Gaps
    notes: Sequence[str]
    unanswered: Unanswered
    names: GroupNames = AS_THEY_ARE

    @cached_property
    def rows(self) -> list[GapRow]:
        """Values, gaps, and changes between versions."""
        from biasbridge.extrinsic.gap_table import part_rows

        return part_rows(self.parts, self.gaps)

    @property
    def shown(self) -> list[GapRow]:
        """The rows with the display names of groups and versions."""
        return list(map(self.names.in_row, self.rows))

    @property
    def shown_notes(self) -> list[str]:
        """The notes with these names."""
        return list(map(self.names.in_text, self.notes))

    @property
    def table(self) -> pd.DataFrame:
        """Table of the rows."""
        from biasbridge.extrinsic.gap_table import as_table

        return as_table(self.rows).drop(columns="resampled")

    @cached_property
    def decision(self) -> Decision:
        """What to do: the same on every medium."""
        from biasbridge.extrinsic.claims import (
            decide,
            describe_constant,
            describe_unanswered,
            release_claims,
            unbounded_gaps,
        )

        bounds = self.request.bounds or {}
        claims = release_claims(self.parts, self.gaps, bounds, self.request.harm)
        return decide(
            claims,
            self.request.pred[-1] if len(self.request.pred) > 1 else "",
            label=self.label,
            names=self.names,
            doubt=describe_constant(self.parts)
            or describe_unanswered(self.unanswered, self.request.harm),
            unbounded=unbounded_gaps(self.parts, self.gaps, bounds) if self.is_decided else (),
        )

    @property
    def is_decided(self) -> bool:
        """Whether a decision was asked for: by bounds, or by two versions."""
        return bool(self.request.bounds) or len(self.request.pred) > 1

    @property
    def label(self) -> str:
        """Name of the positive class; empty for 1."""
        return " or ".join(self.request.positive)

    def print(self, console: Console) -> None:
        """Print the decision and the tables."""
        from biasbridge.extrinsic.gap_tables import describe_missing, read_blocks
        from biasbridge.files.writers import print_text_table

        def say(line: str) -> None:
            console.print(line, soft_wrap=True)

        for line in (self.decision.sentence, *self.decision.lines):
            say(line)
        blocks = read_blocks(self.shown, self.label)
        for block in blocks[:_MAX_SHOWN]:
            console.print()
            if block.name:
                console.print(block.name, style="bold", soft_wrap=True)
            for table in block.tables:
                print_text_table(table, console, 1 + _MAX_SHOWN)  # and all items
            for line in block.lines:
                say(line)
        if len(blocks) > _MAX_SHOWN:
            say(f"and {len(blocks) - _MAX_SHOWN} more: --csv OUT writes all")
        for line in describe_missing(self.shown):
            say(line)

    def report(self, path: Path) -> Path:
        """Write the page."""
        from biasbridge.extrinsic.gap_tables import (
            LIMITS,
            METHOD,
            describe_missing,
            error_chart,
            read_blocks,
        )
        from biasbridge.gap_pages import write_gaps_page

        request = self.request
        columns = [*request.group, *map(" × ".join, request.cross)]
        label = f" is {self.label}" if self.label else ""
        shown = [self.names.versions.get(name, name) for name in request.pred]
        blocks = read_blocks(self.shown, self.label)
        first = [claim._replace(row=self.names.in_row(claim.row)) for claim in self.decision.claims]
        notes = [*self.shown_notes, *describe_missing(self.shown)]
        return write_gaps_page(
            path,
            f"{request.source}: {request.gold}{label}, {', '.join(shown)}, by {', '.join(columns)}",
            self.decision,
            blocks,
            error_chart(blocks, first[0] if first else None),
            notes=notes,
            limits=(METHOD, *LIMITS),
        )


def measure_gaps(request: ReleaseRequest) -> MeasuredGaps:
    """Measure the gaps of :func:`biasbridge.gaps`."""
    from biasbridge.extrinsic.gap_table import read_parts

    items = read_items(request)
    parts, gaps, notes, unanswered = read_parts(request, items)
    for earlier, later in pairwise(request.pred):
        if items[earlier].equals(items[later]):
            notes = [*notes, f"{earlier} and {later} predict the same for every item"]
    notes = [*notes, *items.attrs.get("notes", [])]
    return MeasuredGaps(items, request, parts, gaps, notes, unanswered)


def read_items(request: TableRequest) -> pd.DataFrame:
    """Read the table of predictions, recode its labels, and predict by thresholds."""
    items = as_predictions(request.predictions, request.filter, request.labels)
    items = recode(items, request.labels, request.map) if request.map else items
    if not request.versions:
        return items
    from biasbridge.extrinsic.predictions import middle_score, predict_by_threshold

    predicted, notes = {}, [*items.attrs.get("notes", [])]
    for name, (score, threshold) in request.versions.items():
        predicted[name] = predict_by_threshold(items, score, threshold)
        if not predicted[name].fillna(False).any():
            problem = f"--threshold {threshold:g} flags no item: no {score!r} is as large"
            raise InputError(f"{problem}; write decimals with a point, as .5")
        if 0 < threshold < 1 < (middle := middle_score(items, [score])):
            notes.append(f"column {score!r} holds percentages: a threshold of {middle:g} is usual")
    items = items.assign(**predicted)
    items.attrs["notes"] = notes
    return items


def as_predictions(
    source: InputTable, filter: str = "", labels: Sequence[str] = ()
) -> pd.DataFrame:
    """Read a table, or the result file of a harness, which must have the columns ``labels``."""
    from biasbridge.extrinsic.logs import JSON_OBJECTS, detect_format, read_answers

    path = Path(source) if isinstance(source, str | PathLike) else None
    if path is None or not (filter or detect_format(path) not in ("", JSON_OBJECTS)):
        return as_dataframe(source)
    table = read_answers(path, filter=filter)
    if (absent := [name for name in labels if name not in table]) and "expected" in table:
        problem = f"{path} has no column {absent[0]!r}: its answers are not of a few classes"
        remedy = "for the share of right answers give --gold expected --pred correct --measures"
        raise InputError(f"{problem}; {remedy} accuracy; columns: {', '.join(map(str, table))}")
    tasks = [*map(str, table["task"].unique())] if "task" in table else []
    if len(tasks) > 1:
        note = f"the items of {len(tasks)} tasks together: {', '.join(tasks)}"
        table.attrs["notes"] = [*table.attrs["notes"], note]
    return table


def recode(table: pd.DataFrame, columns: Sequence[str], map: object) -> pd.DataFrame:
    """Replace the cells of columns that equal a name of the map, and note how many."""
    from biasbridge.files.columns import get_column, name_key

    codes = _read_map(map)
    if table.attrs.get("map") == codes:  # a table that was read before
        return table
    new = {name_key(old): code for old, code in codes.items()}
    n_cells: Counter[str] = Counter()
    for name in columns:
        cells = get_column(table, name, is_value=True)
        keys = {cell: name_key(cell) for cell in cells.unique()}
        n_cells.update(cells.map(keys))
        table = table.assign(**{name: cells.map({x: new.get(keys[x], x) for x in keys})})
    for old in (old for old in codes if name_key(old) not in n_cells):
        problem = f"map {old}={codes[old]}: no cell of {', '.join(columns)} is {str(old)!r}"
        raise InputError(f"{problem}{nearest(old, n_cells)}; give a label that occurs")
    counts = (f"{old} as {code} ({n_cells[name_key(old)]:,})" for old, code in codes.items())
    notes = [*table.attrs.get("notes", []), f"recoded cells: {', '.join(counts)}"]
    table.attrs = {**table.attrs, "notes": notes, "map": codes}
    return table


def _read_map(map: object) -> Mapping[Any, object]:
    """Return a mapping, that of a text such as ``LABEL_1=1,neutral=ok`` too."""
    if isinstance(map, Mapping):
        return map
    pairs = [part.rpartition("=") for part in str(map).split(",") if part.strip()]
    codes = {old.strip(): new.strip() for old, _, new in pairs}
    if not (all(codes) and all(codes.values())):
        raise InputError(f"map {map}: write it like LABEL_1=1,neutral=ok")
    return codes


def require_score(option: str, score: object, pred: object) -> None:
    """Raise ``InputError`` unless there are scores, and predictions from no other column."""
    if _are_labels(pred) or not score:
        raise InputError(f"{option} predicts from scores; give --score, and leave out --pred")


def _are_labels(pred: object) -> bool:
    """Return whether the user named columns of predicted labels."""
    return pred not in ("prediction", (), [])

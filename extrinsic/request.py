"""Options of ``biasbridge gaps``, and the rows they select from a table of predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, get_args

import pandas as pd

from biasbridge.extrinsic.gap_table import class_rows, classifier_rows, gap_rows
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.grouped_predictions import REST, UNKNOWN
from biasbridge.extrinsic.measures import RANKINGS
from biasbridge.extrinsic.predictions import (
    GROUP_SEPARATOR,
    GroupColumns,
    Missing,
    get_column,
    known_groups,
    no_such_group,
    read_binary,
    read_clusters,
    read_labels,
    read_positive,
    read_scores,
)
from biasbridge.files import InputError
from biasbridge.files.language import case_note, find_joined, name_key

if TYPE_CHECKING:
    from biasbridge.extrinsic.gap_table import GapRow
    from biasbridge.extrinsic.measures import Counts

# Measures that do not depend on base rates come first
DEFAULT_MEASURES = ("base_rate", "recall", "fpr", "precision", "f1")
REMEDY = (
    "; name the label that counts as 1 with --positive LABEL (positive=LABEL in Python), or take"
    " each label against the rest with --multiclass (multiclass=True)"
)


@dataclass(frozen=True)
class GapRequest:
    """Columns of a table, labels and groups: see ``biasbridge.gaps``.

    Several ``pred`` are classifiers of the same items, with a column of ``score`` each, or none.
    ``positive``: labels of the positive class; empty for labels 0 and 1. ``cluster``: column of
    what items were drawn with, such as their author or template. ``group``: by default the column
    "group", or none where columns are crossed. ``level``: of the intervals. Raises ``InputError``
    for incompatible options.
    """

    gold: str
    pred: Sequence[str]
    group: Sequence[str] = ()
    score: Sequence[str] = ()
    privileged: str | None = None
    unprivileged: str | None = None
    groups: Sequence[str] = ()
    compare: Sequence[str] = ()
    measures: Sequence[str] = ()
    positive: Sequence[str] = ()
    multiclass: bool = False
    cluster: str | None = None
    min_support: int = 10
    level: float = 0.95
    group_sep: str = ""
    cross: Sequence[str] = ()
    missing: Missing = "no-group"

    def __post_init__(self) -> None:
        repeated = {name for name in self.pred if self.pred.count(name) > 1}
        aucs = {*self.measures} & {*RANKINGS}
        group = (self.group,) if isinstance(self.group, str) else self.group
        object.__setattr__(self, "group", group or (() if self.cross else ("group",)))
        repeated_groups = {name for name in self.group if self.group.count(name) > 1}
        errors = {
            "--pred names no column; give one for each classifier": not self.pred,
            f"--group {' '.join(repeated_groups)} is given twice; name each column once": (
                repeated_groups
            ),
            f"--cross {','.join(self.cross)}: give two or more columns, each once": (
                self.cross and not 1 < len({*self.cross}) == len(self.cross)
            ),
            f"--missing {self.missing}; give one of {', '.join(get_args(Missing))}": (
                self.missing not in get_args(Missing)
            ),
            f"--gold and --pred are both {self.gold!r}; name two columns": [*self.pred]
            == [self.gold],
            f"--pred {' '.join(repeated)} is given twice; name each classifier once": repeated,
            f"{len(self.score)} --score and {len(self.pred)} --pred; give a column of scores for"
            " each of the predictions": self.score and len(self.score) != len(self.pred),
            "--multiclass is of every label, --positive of one; give one of the two": (
                self.multiclass and self.positive
            ),
            "--multiclass measures one classifier; give one --pred": (
                self.multiclass and len(self.pred) > 1
            ),
            "--score is of labels 0 and 1; leave it out, or --multiclass": (
                self.multiclass and self.score
            ),
            f"--measures {' '.join(aucs)} needs scores; give their column by --score": (
                aucs and not self.score and not self.multiclass
            ),
            "--unprivileged is compared with --privileged; give both": (
                self.unprivileged and not self.privileged
            ),
            "--compare pair compares --privileged with --unprivileged; give both": (
                "pair" in self.compare and not self.unprivileged
            ),
            f"--unprivileged is not compared by --compare {','.join(self.compare)}; add pair, or"
            " leave it out": self.unprivileged and self.compare and "pair" not in self.compare,
            "--compare pairwise compares with --privileged; give it": (
                "pairwise" in self.compare and not self.privileged
            ),
        }
        for message, is_wrong in errors.items():
            if is_wrong:
                raise InputError(message)

    def find_rows(self, table: pd.DataFrame) -> list[GapRow]:
        """Return the rows of ``measure``."""
        return self.measure(table)[0]

    def measure(self, table: pd.DataFrame) -> tuple[list[GapRow], Sequence[str]]:
        """Compute the rows of one classifier, or of several and each pair of them, and notes on
        empty groups.

        Raises ``InputError`` as ``read`` does.
        """
        classifiers, gaps = self.read(table)
        predictions, *others = classifiers.values()
        notes: Sequence[str] = predictions.attrs["notes"]
        if others:
            return classifier_rows(classifiers, gaps), notes
        compute = class_rows if self.multiclass else gap_rows
        return compute(predictions, gaps), notes

    def read(self, table: pd.DataFrame) -> tuple[dict[str, pd.DataFrame], Gaps]:
        """Read the predictions of each classifier, with the columns of ``gap_table`` and notes on
        their groups, and choose the comparisons.

        Raises ``InputError`` for a missing column or group, and for labels other than 0 and 1, or
        other than ``positive`` and ``multiclass`` allow.
        """
        if table.empty:
            raise InputError("the table of predictions has no rows; give one for each item")
        named = {*self.groups, *filter(None, (self.privileged, self.unprivileged))}
        group_columns = GroupColumns(self.group, self.cross, self.group_sep, self.missing, named)
        groups, kept, notes = group_columns.read(table, self.min_support)
        if not kept.any():
            raise InputError(f"no rows are left: {notes[0]}; give another --missing")
        table = table if kept.all() else table[kept]
        table = table.reset_index(drop=True)  # columns are joined by position
        scores = self.score or [""] * len(self.pred)
        columns = zip(self.pred, scores, strict=True)
        classifiers = {name: self._rename(table, name, score) for name, score in columns}
        for name, predictions in classifiers.items():
            classifiers[name] = predictions.assign(group=groups)
            classifiers[name].attrs["notes"] = [*notes, *self._case_notes(table)]
            is_repeated = bool(self.cluster) and table.attrs.get("cluster") == self.cluster
            classifiers[name].attrs["repeats"] = is_repeated
        return classifiers, self._choose_gaps(groups)

    def _case_notes(self, table: pd.DataFrame) -> list[str]:
        """Return notes on labels and clusters that differ only in case, and on joined classes."""
        columns = {self.gold, *self.pred} if self.multiclass or self.positive else set()
        columns |= {self.cluster} if self.cluster else set()
        cells = {name: map(str, table[name].unique()) for name in sorted(columns)}
        notes = [case_note(map(name_key, cells[name]), f"names in {name!r}") for name in cells]
        if self.multiclass and (joined := find_joined({*map(str, table[self.gold].unique())})):
            notes.append(f"{joined[0]!r} beside {joined[1]!r} is a class of its own")
        return [note for note in notes if note]

    def _rename(self, table: pd.DataFrame, pred: str, score: str) -> pd.DataFrame:
        """Return the columns, groups aside, with the names that ``gap_table`` reads."""
        names = [self.gold, pred]
        labels: Sequence[Counts | pd.Series]
        if self.multiclass:
            labels = [read_labels(table, name) for name in names]
        elif self.positive:
            labels = [*read_positive(table, names, self.positive).T]
        else:
            labels = [read_binary(table, name, REMEDY) for name in names]
        renamed = pd.DataFrame(dict(zip(("label", "prediction"), labels, strict=True)))
        if score:
            is_measured = not self.measures or {*self.measures} & {*RANKINGS}
            renamed["score"] = (read_scores if is_measured else get_column)(table, score)
        if "id" in table:
            renamed["id"] = get_column(table, "id")
        if self.cluster:
            renamed["unit"] = read_clusters(table, self.cluster)
        return renamed

    def _choose_gaps(self, groups: pd.Categorical) -> Gaps:
        """Return the requested comparisons. Default: the privileged group against the unprivileged
        one, or against each other group; without a privileged group each group against the rest;
        and the two furthest apart if there are more than two.
        """
        cells = groups.remove_unused_categories().categories
        present = {*known_groups(chain(*(cell.split(GROUP_SEPARATOR) for cell in cells)))}
        spelled = {name_key(name): name for name in present}
        privileged, unprivileged = (
            name and spelled.get(name_key(name), name)
            for name in (self.privileged, self.unprivileged)
        )
        for name in filter(None, (privileged, unprivileged)):
            if name not in present:
                raise no_such_group(name, sorted(present))
        if privileged and not present - {privileged}:
            only = f"every row with a group is of group {privileged!r}"
            raise InputError(f"{only}; a gap needs a second group")
        without = groups.isna() | groups.isin([x for x in cells if x.startswith(UNKNOWN)])
        has_rest = groups.isna().any() or (without.any() and "one-vs-none" in self.compare)
        if len(present) < 2 - bool(has_rest):
            remedy = "; --missing group makes one of empty cells" if without.any() else ""
            raise InputError(
                f"groups present: {', '.join(present) or 'none'}; a gap needs two{remedy}"
            )
        default = ["pair" if unprivileged else "pairwise" if privileged else "one-vs-rest"]
        default += ["max-difference"] if len(present) > 2 and not unprivileged else []
        measures = (*DEFAULT_MEASURES, *(RANKINGS if self.score else ()))
        first = privileged or min(present)
        return Gaps(
            first,
            unprivileged or min(present - {first}, default=REST),
            self.min_support,
            self.level,
            measures=tuple(self.measures) or measures,
            compare=tuple(self.compare) or tuple(default),  # type: ignore[arg-type]
            groups=tuple(spelled.get(name_key(name), name) for name in self.groups),
        )

"""What is asked of anybody's table of predictions, and the rows that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import pandas as pd

from extrinsic.gap_table import gap_rows
from extrinsic.gaps import DEFAULT, Comparison, Gaps
from extrinsic.multiclass import class_rows
from extrinsic.paired import classifier_rows
from extrinsic.predictions import get_column, read_binary, read_positive
from extrinsic.ranking import RANKINGS
from files import InputError

if TYPE_CHECKING:
    from extrinsic.measures import Counts
    from extrinsic.rows import Row

REMEDY = (
    "; name the label that counts as 1 with --positive LABEL (positive=LABEL in Python), or take"
    " each label against the rest with --multiclass (multiclass=True)"
)


@dataclass(frozen=True)
class Request:
    """Columns of a table, labels and groups: see ``biasbridge.gaps``.

    Several ``pred`` are classifiers of the same items, with a column of ``score`` each, or none.
    ``positive``: the labels that count as 1; none where they are 0 and 1 already. Raises
    ``InputError`` for options that do not go together.
    """

    gold: str
    pred: Sequence[str]
    group: str
    score: Sequence[str] = ()
    privileged: str | None = None
    unprivileged: str | None = None
    groups: Sequence[str] = ()
    compare: Sequence[str] = ()
    measures: Sequence[str] = ()
    positive: Sequence[str] = ()
    multiclass: bool = False
    least_support: int = 10

    def __post_init__(self) -> None:
        if not self.pred:
            raise InputError("--pred names no column; give one for each classifier")
        if twice := {name for name in self.pred if self.pred.count(name) > 1}:
            raise InputError(f"--pred {twice.pop()} is given twice; name each classifier once")
        if self.score and len(self.score) != len(self.pred):
            given = f"{len(self.score)} --score and {len(self.pred)} --pred"
            raise InputError(f"{given}; give a column of scores for each of the predictions")
        if self.multiclass and self.positive:
            raise InputError(
                "--multiclass is of every label, --positive of one; give one of the two"
            )
        if self.multiclass and len(self.pred) > 1:
            raise InputError("--multiclass measures one classifier; give one --pred")
        if self.unprivileged and not self.privileged:
            raise InputError("--unprivileged is compared with --privileged; give both")
        if self.multiclass and self.score:
            raise InputError("--score is of labels 0 and 1; leave it out, or --multiclass")
        ranked = [name for name in self.measures if name in RANKINGS]
        if ranked and not self.score and not self.multiclass:
            raise InputError(f"--measures {ranked[0]} needs scores; give their column by --score")
        for name in self.compare:
            if name not in get_args(Comparison):
                known = ",".join(get_args(Comparison))
                raise InputError(f"--compare {name}: give one or more of {known}")
        if "pair" in self.compare and not self.unprivileged:
            raise InputError("--compare pair compares --privileged with --unprivileged; give both")
        if "each" in self.compare and not self.privileged:
            raise InputError("--compare each compares with --privileged; give it")

    def find_rows(self, table: pd.DataFrame) -> list[Row]:
        """The rows of one classifier, or of several and each two of them.

        Raises ``InputError`` for a column or group that is not there and for labels other than 0
        and 1, or than ``positive`` and ``multiclass`` allow.
        """
        table = table.reset_index(drop=True)  # columns are put together by row, not by its name
        scores = self.score or [""] * len(self.pred)
        named = zip(self.pred, scores, strict=True)
        classifiers = {name: self._rename(table, name, score) for name, score in named}
        gaps = self._choose({*next(iter(classifiers.values()))["group"].dropna()})
        if len(classifiers) > 1:
            return classifier_rows(classifiers, gaps)
        [predictions] = classifiers.values()
        return class_rows(predictions, gaps) if self.multiclass else gap_rows(predictions, gaps)

    def _rename(self, table: pd.DataFrame, pred: str, score: str) -> pd.DataFrame:
        """The columns by the names ``gap_table`` knows; an empty group becomes a missing one."""
        groups = get_column(table, self.group).astype("string")
        names = [self.gold, pred]
        labels: Sequence[Counts | pd.Series]
        if self.multiclass:
            labels = [get_column(table, name) for name in names]
        elif self.positive:
            labels = [*read_positive(table, names, self.positive).T]
        else:
            labels = [read_binary(table, name, REMEDY) for name in names]
        found = pd.DataFrame(dict(zip(("label", "prediction"), labels, strict=True)))
        if score:
            found["score"] = get_column(table, score)
        return found.assign(group=groups.mask(groups == ""))

    def _choose(self, present: set[str]) -> Gaps:
        """What is compared: as asked, else the privileged group with the one named, or with each
        other in turn, and every group with the rest where none is privileged; and the two furthest
        apart where there are more than two.
        """
        privileged, unprivileged = self.privileged, self.unprivileged
        if privileged and not present - {privileged}:
            only = f"every row with a group is of group {privileged!r}"
            raise InputError(f"{only}; a gap needs a second group")
        if len(present) < 2:
            raise InputError(f"groups present: {', '.join(present) or 'none'}; a gap needs two")
        default = ["pair" if unprivileged else "each" if privileged else "rest"]
        default += ["largest"] if len(present) > 2 and not unprivileged else []
        measures = ("base_rate", *DEFAULT.measures, *(RANKINGS if self.score else ()))
        first = privileged or min(present)
        return Gaps(
            first,
            unprivileged or min(present - {first}),
            self.least_support,
            measures=tuple(self.measures) or measures,
            compare=tuple(self.compare) or tuple(default),  # type: ignore[arg-type]
            groups=tuple(self.groups),
        )

"""What is asked of anybody's table of predictions, and the rows that answer it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from extrinsic.gap_table import gap_rows
from extrinsic.gaps import Gaps
from extrinsic.predictions import get_column, read_binary, read_groups, read_positive
from extrinsic.ranking import RANKINGS
from extrinsic.several import class_rows, classifier_rows
from files import InputError

if TYPE_CHECKING:
    from extrinsic.gap_table import Row
    from extrinsic.measures import Counts

# What base rates do not move comes first
MEASURED = ("base_rate", "recall", "fpr", "precision", "f1")
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
        twice = {name for name in self.pred if self.pred.count(name) > 1}
        ranked = {*self.measures} & {*RANKINGS}
        refused = {
            "--pred names no column; give one for each classifier": not self.pred,
            f"--group {self.group}: groups are read from one column; give one": (
                isinstance(self.group, list | tuple)
            ),
            f"--pred {' '.join(twice)} is given twice; name each classifier once": twice,
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
            f"--measures {' '.join(ranked)} needs scores; give their column by --score": (
                ranked and not self.score and not self.multiclass
            ),
            "--unprivileged is compared with --privileged; give both": (
                self.unprivileged and not self.privileged
            ),
            "--compare pair compares --privileged with --unprivileged; give both": (
                "pair" in self.compare and not self.unprivileged
            ),
            "--compare each compares with --privileged; give it": (
                "each" in self.compare and not self.privileged
            ),
        }
        for message, wrong in refused.items():
            if wrong:
                raise InputError(message)

    def find_rows(self, table: pd.DataFrame) -> list[Row]:
        """The rows of one classifier, or of several and each two of them.

        Raises ``InputError`` for a column or group that is not there and for labels other than 0
        and 1, or than ``positive`` and ``multiclass`` allow.
        """
        if table.empty:
            raise InputError("the table of predictions has no rows; give one for each item")
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
        groups = read_groups(table, self.group)
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
        if "id" in table:
            found["id"] = get_column(table, "id")
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
        measures = (*MEASURED, *(RANKINGS if self.score else ()))
        first = privileged or min(present)
        return Gaps(
            first,
            unprivileged or min(present - {first}),
            self.least_support,
            measures=tuple(self.measures) or measures,
            compare=tuple(self.compare) or tuple(default),  # type: ignore[arg-type]
            groups=tuple(self.groups),
        )

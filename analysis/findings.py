"""What is found of a slice, and the table of it: the columns are the fields of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from analysis.coefficients import Coefficients
from analysis.evidence import NO_SHIFTS, Evidence
from analysis.naming import SLICE_COLUMNS
from analysis.verdict import Judgement

if TYPE_CHECKING:
    from analysis.arrays import Floats


class Marks(NamedTuple):
    """What is to be known of a slice of a study.

    * ``repeated``: it holds a unit more than once. A slice pooled over queries repeats every gap
      once per query, so its pairs are not independent: the columns that count rows overstate the
      evidence, those that count units do not.
    * ``turned``: the score's unbiased value is the upper end of its scale, as 1 is of ECT; all
      statistics are of the score with its sign changed, so that more is more biased.
    * ``generated``: it holds points made from generated data.
    * ``group_by``: who said which group a post is about: ``annotation``, or a tagger.
    * ``missing``: embeddings that lack a score or a gap which the others have, because it is
      undefined or the point failed, counted by method; and what counts for none because only some
      have it.
    * ``reversal``: what is to be said where it pools queries, embeddings or methods that disagree
      in sign beyond noise.
    """

    repeated: bool = False
    turned: bool = False
    generated: bool = False
    group_by: str = ""
    missing: str = ""
    reversal: str = ""


class Finding(NamedTuple):
    """A slice, named by the columns sliced by, and everything found of it; ``shifts``: what each
    resample of words and items does to its r, by which slices are taken together.
    """

    names: dict[str, str]
    statistics: Coefficients
    evidence: Evidence
    judgement: Judgement = Judgement()
    marks: Marks = Marks()
    shifts: Floats = NO_SHIFTS


STATISTICS = (*Coefficients._fields, *Evidence._fields, *Judgement._fields)
CORRELATION_COLUMNS = (*SLICE_COLUMNS, *STATISTICS, *Marks._fields)


def correlation_table(found: Iterable[Finding], columns: Sequence[str]) -> pd.DataFrame:
    """One row per finding, in the columns named."""
    rows = [
        each.statistics._asdict()
        | each.evidence._asdict()
        | each.judgement._asdict()
        | each.marks._asdict()
        | each.names  # last: a column sliced by may have the name of a mark
        for each in found
    ]
    return pd.DataFrame(rows, columns=list(columns))

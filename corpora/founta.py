"""Abusive tweets of Founta et al. (2018), in the file that the authors send on request."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal, get_args

import pandas as pd
from annotated_types import doc

from biasbridge.corpora.labelled import OptionalSplit, TestShare
from biasbridge.corpora.protocols import SingleFileData
from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.text import LONGEST_LINE

Label = Literal["abusive", "hateful", "normal", "spam"]
LABELS = get_args(Label)
LARGEST = 2 << 30


@choice
class Founta(SingleFileData, OptionalSplit):
    """Founta et al. (2018, ICWSM), about 100,000 tweets: abusive, hateful, normal or spam; no
    target group.

    ``path``: ``hatespeech_text_label_vote*.csv``, without a header: text, majority label and its
    number of votes, separated by tabs; cells with tabs or line ends are quoted. ``quoted=False``
    reads quotation marks as text. ``positive``: labels that become 1; all others, including spam,
    become 0. All rows are cross-validated, unless a ``test_share`` of them is held out.
    """

    path: str
    positive: tuple[Label, ...] = ("abusive", "hateful")
    quoted: Annotated[bool, doc("false: quotation marks are text")] = True
    test_share: TestShare = 0

    version: ClassVar[int] = 1
    name: ClassVar[str] = "founta"
    language: ClassVar[str] = "en"
    grouped: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "test_share")  # see keyed
    chosen_as: ClassVar[tuple[str, ...]] = ("source/founta",)
    configuration: ClassVar[Mapping[str, object]] = {
        "path": "${data:hatespeech/hatespeech_text_label_vote_RESTRICTED_100K.csv}"
    }

    @property
    def positive_class(self) -> str:
        """Positive labels."""
        return " or ".join(self.positive)

    def load(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.Source``."""
        table = pd.DataFrame(self._rows(), columns=["text", "label"])
        return self.prepare(table, self.path, self.positive, seed=seed)

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Yield text and label of each tweet; ``InputError`` for a row of another format."""
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        lines = (f"{line}\n" for line in read_lines(Path(self.path), largest=LARGEST))
        csv.field_size_limit(LONGEST_LINE)
        reader = csv.reader(lines, delimiter="\t", quoting=quoting, strict=True)
        first = 1
        try:
            for row in reader:
                if row:
                    yield self._tweet(row, first)
                first = reader.line_num + 1
        except csv.Error as error:
            where = f"{self.path}: line {first} is not delimited text ({error})"
            raise InputError(f"{where}; give source.quoted=false where marks are text") from error

    def _tweet(self, row: list[str], line: int) -> tuple[str, str]:
        if len(row) != 3:
            problem = f"{self.path}: line {line} has {len(row)} cells, not text, label and votes"
            raise InputError(f"{problem}; give the authors' file, or read yours with source=csv")
        text, label, _ = row
        if label not in LABELS:
            problem = f"{self.path}: line {line} has the label {label!r}, not {', '.join(LABELS)}"
            raise InputError(f"{problem}; remove a header line, or read it with source=csv")
        return text, label

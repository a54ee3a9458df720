"""How often the gender that a post mentions is that of the people it is about, where both are told.

``python -m extrinsic.agreement POSTS --text COL --group COL`` counts the tags of ``MentionTagger``
against an annotation.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from extrinsic.intervals import UNDEFINED
from extrinsic.measures import MEASURES
from extrinsic.tagger import BOTH, NEITHER, MentionTagger
from files import InputError, nearest, run_cli
from files.options import Parser
from files.printable import printable
from files.tables import read_table

TAGS = ("male", "female", BOTH, NEITHER)
# As tweets are tokenised: hashtags and mentions are no words of the post
WORD = re.compile(r"(?<![#@\w])[\w'\u2019]+")
LEVEL = 0.95


class Precision(NamedTuple):
    """The share of the posts with a tag that are annotated so, with its 95% interval."""

    tag: str
    annotation: str
    tagged: int
    agree: int
    value: float
    low: float
    high: float


class Options(argparse.Namespace):
    """What the command line says."""

    posts: Path
    text: str
    group: str
    male: str | None
    female: str | None
    query: str


def cross_table(tags: pd.Series[str], annotation: pd.Series[str]) -> pd.DataFrame:
    """The number of posts by annotation (rows, most frequent first) and tag (columns)."""
    counts = pd.crosstab(annotation, tags)
    order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index
    return counts.loc[order].reindex(columns=list(TAGS), fill_value=0)


def precision(counts: pd.DataFrame, tag: str, annotation: str) -> Precision:
    """Of the posts with ``tag``, the share whose annotation is ``annotation``, with Wilson's
    interval (see ``extrinsic.measures``); NaN if there are none.

    ``counts`` as ``cross_table`` gives them. Raises ``InputError`` for an annotation that no post
    has.
    """
    if annotation not in counts.index:
        there = ", ".join(map(repr, counts.index))
        hint = nearest(annotation, counts.index)
        raise InputError(f"no post is annotated {annotation!r}{hint}; there are {there}")
    n, k = int(counts[tag].sum()), int(counts[tag][annotation])
    cells = np.array([0, n - k, 0, k])
    found = MEASURES["precision"].estimate(cells, LEVEL) if n else UNDEFINED
    return Precision(tag, annotation, n, k, *found)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read posts, tag them, and print the counts and the precision of the tags."""
    given = _parser().parse_args(arguments, Options())
    table = read_table(given.posts)
    for column in (given.text, given.group):
        if column not in table:
            there = f"columns: {', '.join(map(str, table.columns))}"
            raise InputError(f"no column {column!r}{nearest(column, table.columns)}; {there}")
    texts = (unicodedata.normalize("NFC", str(text)) for text in table[given.text])
    words = [" ".join(WORD.findall(text)) for text in texts]
    tags = MentionTagger(given.query).tag(pd.DataFrame({"text": words}))["group"]
    counts = cross_table(tags, table[given.group].astype(str).replace("", "none"))
    found = [precision(counts, *each) for each in _named(given, counts)]
    shown = Table("annotation", *TAGS, title="posts by tag", title_justify="left")
    for annotation, row in zip(counts.index, counts.to_numpy().tolist(), strict=True):
        shown.add_row(Text(printable(str(annotation))), *map(str, row))
    console = Console()
    console.print(shown)
    for one in found:
        share = f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" if one.tagged else "undefined"
        about = f"annotated {printable(one.annotation)}: precision {share}"
        line = f"tagged {one.tag}: {one.agree} of {one.tagged} {about}"
        console.print(line, soft_wrap=True, markup=False)


def _named(given: Options, counts: pd.DataFrame) -> list[tuple[str, str]]:
    """The tags with the annotation that each stands for: as given, else those of the same name."""
    stated = [("male", given.male), ("female", given.female)]
    named = [(tag, annotation) for tag, annotation in stated if annotation]
    named = named or [(tag, tag) for tag, _ in stated if tag in counts.index]
    if not named:
        there = ", ".join(map(repr, counts.index))
        raise InputError(f"say what means male or female with --male or --female: {there}")
    return named


def _parser() -> argparse.ArgumentParser:
    description = "Gender words in posts against an annotation of whom the posts are about."
    parser = Parser(prog="python -m extrinsic.agreement", description=description)
    add = parser.add_argument
    add("posts", type=Path, help="a .csv, .tsv (also .gz, .bz2, .xz) or .parquet file")
    add("--text", default="text", metavar="COL", help="column of the posts (default text)")
    add("--group", default="group", metavar="COL", help="column of the annotation (default group)")
    words = "words for men and for women (default gender_mentions; Spanish: gender_mentions_es)"
    add("--query", default="gender_mentions", metavar="NAME", help=words)
    for tag in ("male", "female"):
        means = f"the annotation that means {tag} (default: {tag}, if it is one)"
        add(f"--{tag}", metavar="VALUE", help=means)
    return parser


if __name__ == "__main__":
    run_cli(lambda: main())

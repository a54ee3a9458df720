"""``biasbridge agreement``: do gender words find the group that annotators saw?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from files import InputError
from files.options import Parser
from files.printable import printable

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd


def main(arguments: Sequence[str] | None = None) -> int:
    """Read posts, tag them, and print the counts and the precision of the tags."""
    given = _parser().parse_args(arguments)
    from rich.table import Table
    from rich.text import Text

    from extrinsic.agreement import TAGS, count_tags, precision
    from files.tables import read_table
    from files.terminal import open_console

    counts = count_tags(read_table(given.posts), given.text, given.group, given.query)
    found = [precision(counts, *each) for each in _name_annotations(given, counts)]
    shown = Table("annotation", *TAGS, title="posts by tag", title_justify="left")
    for annotation, row in zip(counts.index, counts.to_numpy().tolist(), strict=True):
        shown.add_row(Text(printable(str(annotation))), *map(str, row))
    console = open_console()
    console.print(shown)
    for one in found:
        share = f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" if one.tagged else "undefined"
        about = f"annotated {printable(one.annotation)}: precision {share}"
        line = f"tagged {one.tag}: {one.agree} of {one.tagged} {about}"
        console.print(line, soft_wrap=True)
    return 0


def _name_annotations(given: Namespace, counts: pd.DataFrame) -> list[tuple[str, str]]:
    """The tags with the annotation that each means: as given, else those of the same name."""
    stated = [("male", given.male), ("female", given.female)]
    named = [(tag, annotation) for tag, annotation in stated if annotation]
    named = named or [(tag, tag) for tag, _ in stated if tag in counts.index]
    if not named:
        present = ", ".join(map(repr, counts.index))
        raise InputError(f"say what means male or female with --male or --female: {present}")
    return named


def _parser() -> Parser:
    description = "Gender words in posts against an annotation of whom the posts are about."
    parser = Parser(prog="biasbridge agreement", description=description)
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

"""``biasbridge agreement``: do gender words find the group that annotators saw?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError
from biasbridge.files.errors import printable
from biasbridge.files.terminal import Parser

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd


def main(arguments: Sequence[str] | None = None) -> int:
    """Read posts, tag them, and print the counts and the precision of the tags."""
    args = _parser().parse_args(arguments)
    from rich.table import Table
    from rich.text import Text

    from biasbridge.extrinsic.taggers import TAGS, count_tags, tag_precision
    from biasbridge.files.tables import read_table
    from biasbridge.files.terminal import open_console, print_columns

    counts = count_tags(read_table(args.posts), args.text, args.group, args.query)
    precisions = [tag_precision(counts, *pair) for pair in _tag_annotations(args, counts)]
    table = Table("annotation", title="posts by tag", title_justify="left")
    for tag in TAGS:
        table.add_column(tag, justify="right")
    for name, cells in zip(counts.index, counts.to_numpy().tolist(), strict=True):
        table.add_row(Text(printable(str(name))), *map(str, cells))
    console = open_console()
    print_columns(table, console)
    for row in precisions:
        estimate = f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]" if row.tagged else "undefined"
        annotation = f"annotated {printable(row.annotation)}: precision {estimate}"
        line = f"tagged {row.tag}: {row.agree} of {row.tagged} {annotation}"
        console.print(line, soft_wrap=True)
    return 0


def _tag_annotations(args: Namespace, counts: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the tags with their annotations: as given, else those of the same name."""
    options = [("male", args.male), ("female", args.female)]
    pairs = [(tag, annotation) for tag, annotation in options if annotation]
    pairs = pairs or [(tag, tag) for tag, _ in options if tag in counts.index]
    if not pairs:
        present = ", ".join(map(repr, counts.index))
        raise InputError(f"name the annotation with --male or --female: {present}")
    return pairs


def _parser() -> Parser:
    description = (
        "Compare gender words in posts with an annotation of the group that the posts are about."
    )
    parser = Parser(prog="biasbridge agreement", description=description)
    add = parser.add_argument
    add("posts", type=Path, help="a .csv, .tsv (also .gz, .bz2, .xz) or .parquet file")
    add("--text", default="text", metavar="COL", help="column of the posts (default text)")
    add("--group", default="group", metavar="COL", help="column of the annotation (default group)")
    words = "words for men and for women (default gender_mentions; Spanish: gender_mentions_es)"
    add("--query", default="gender_mentions", metavar="NAME", help=words)
    for tag in ("male", "female"):
        annotation = f"the annotation that means {tag} (default: {tag}, if it exists)"
        add(f"--{tag}", metavar="VALUE", help=annotation)
    return parser

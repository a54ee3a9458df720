"""Whether gender words find the group that annotators saw."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from biasbridge.command_line import Command, say
from biasbridge.files import InputError
from biasbridge.input_tables import InputTable, as_dataframe

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.extrinsic.taggers import TagPrecision


class _Agreement(NamedTuple):
    """Posts by annotation and tag, and the precision of tags."""

    counts: pd.DataFrame
    precisions: list[TagPrecision]


def agreement(
    posts: InputTable,
    *,
    text: str = "text",
    group: str = "group",
    query: str = "gender_mentions",
    male: str | None = None,
    female: str | None = None,
) -> _Agreement:
    """Compare gender words in posts with an annotation of the group that the posts are about.

    Parameters
    ----------
    posts : DataFrame or path
        A table, or a file as ``biasbridge.gaps`` reads it.
    text : str
        Column of the posts.
    group : str
        Column of the annotated group. Posts with an empty cell are left out.
    query : str
        Words for men and for women (default: gender_mentions; Spanish: gender_mentions_es).
    male : str, optional
        Annotation that means male (default: male, if it exists).
    female : str, optional
        Annotation that means female (default: female, if it exists).
    """
    from biasbridge.extrinsic.taggers import count_tags, tag_precision

    counts = count_tags(as_dataframe(posts), text, group, query)
    options = [("male", male), ("female", female)]
    pairs = [(tag, annotation) for tag, annotation in options if annotation]
    pairs = pairs or [(tag, tag) for tag, _ in options if tag in counts.index]
    if not pairs:
        present = ", ".join(map(repr, counts.index))
        raise InputError(f"name the annotation with --male or --female: {present}")
    return _Agreement(counts, [tag_precision(counts, *pair) for pair in pairs])


def _show(result: _Agreement, console: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    from biasbridge.extrinsic.taggers import TAGS
    from biasbridge.files.errors import printable
    from biasbridge.files.terminal import print_columns

    table = Table("annotation", title="posts by tag", title_justify="left")
    for tag in TAGS:
        table.add_column(tag, justify="right")
    counts = result.counts
    for name, cells in zip(counts.index, counts.to_numpy().tolist(), strict=True):
        table.add_row(Text(printable(str(name))), *map(str, cells))
    print_columns(table, console)
    for row in result.precisions:
        estimate = f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]" if row.tagged else "undefined"
        annotation = f"are annotated {row.annotation} (precision {estimate})"
        say(console, f"tagged {row.tag}: {row.agree} of {row.tagged} {annotation}")
    for note in counts.attrs.get("notes", []):
        say(console, f"note: {note}")


_SPELLING = "text COL; group COL; query NAME; male VALUE; female VALUE"
main = Command(agreement, _show, spelling=_SPELLING)

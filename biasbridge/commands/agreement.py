"""Whether gender words find the group that annotators saw."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from biasbridge.command_line import Command
from biasbridge.files import InputError
from biasbridge.input_tables import InputTable, as_dataframe

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.extrinsic.taggers import TagPrecision
    from biasbridge.files.writers import Document


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


def _as_table(result: _Agreement) -> pd.DataFrame:
    return result.counts.rename_axis("annotation").reset_index()


def _as_document(result: _Agreement) -> Document:
    from biasbridge.files.writers import Document, text_table

    lines = []
    for row in result.precisions:
        estimate = f"{row.value:.2f} [{row.low:.2f}, {row.high:.2f}]" if row.tagged else "undefined"
        annotation = f"are annotated {row.annotation} (precision {estimate})"
        lines.append(f"tagged {row.tag}: {row.agree} of {row.tagged} {annotation}")
    notes = [f"note: {note}" for note in result.counts.attrs.get("notes", [])]
    return Document((), (), [text_table("posts by tag", _as_table(result))], [*lines, *notes])


_SPELLING = "text COL; group COL; query NAME; male VALUE; female VALUE"
main = Command(agreement, table=_as_table, document=_as_document, spelling=_SPELLING)

"""The words of a query in the plane, a panel for each file of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biasbridge.command_line import Command, output_file, say
from biasbridge.files.charts import FORMATS, save_chart, show_pictures
from biasbridge.input_vectors import Vectors, as_vectors, embeddings_by_name, require_files
from biasbridge.input_words import WordsInput, built_in, word_file
from biasbridge.intrinsic.lookup import LetterCase

if TYPE_CHECKING:
    import altair as alt
    from rich.console import Console

_DEFAULT_QUERY = "gender_authors"


def tsne(
    vectors: Vectors | Mapping[str, Vectors] | Sequence[Vectors],
    words: WordsInput | None = None,
    *,
    out: str | PathLike[str] | None = None,
    query: str | None = None,
    case: LetterCase = "lower",
    perplexity: float | None = None,
    iterations: int = 2500,
    seed: int = 23,
    trusted: bool = False,
) -> alt.TopLevelMixin:
    """Draw the words of a query by t-SNE, one panel per file of vectors.

    Parameters
    ----------
    vectors : vectors, a list or a mapping of them
        Files of vectors, for example before and after. See :func:`audit`.
    words : path or mapping, optional
        Your own queries: a JSON or YAML file with X, Y, A and B.
    out : path, optional
        File to write (.svg, .png, .pdf, .html or .json).
    query : str, optional
        Query with X, Y, A and B (default: gender_authors, or your only query).
    case : {"lower", "exact"}
        How to look up words: lower also tries lower case for words not found as written.
    perplexity : float, optional
        Effective number of neighbours (default: 40, or a third of the words if they are few).
    iterations : int
        Number of steps.
    seed : int
        Seed for the order of ties.
    trusted : bool
        Open gensim's own format, a pickle that can run any code; only for files you made.

    Returns
    -------
    altair.TopLevelMixin
        Distances between distant groups are not comparable, nor are panels.

    Raises
    ------
    InputError
        A query without X, Y, A and B, or words out of vocabulary.
    """
    by_name = embeddings_by_name(cast("Any", vectors))
    require_files(by_name.values())
    from biasbridge.intrinsic.tsne import tsne_chart
    from biasbridge.intrinsic.words import load_queries, read_query

    if built_in(words):
        query, words = query or str(words), None
    with word_file(words) as file:
        if file and not query:
            chosen = read_query(file)
        else:
            (chosen,) = load_queries([query or _DEFAULT_QUERY], file)
    embeddings = {name: as_vectors(one, trusted=trusted) for name, one in by_name.items()}
    options: dict[str, Any] = {"perplexity": perplexity, "iterations": iterations, "seed": seed}
    show_pictures()
    chart = tsne_chart(chosen, embeddings, case=case, **options)
    if out is not None:
        save_chart(chart, fspath(out))
    return chart


def _run(vectors: Sequence[str], *, words: str | None = None, **options: Any) -> object:
    return tsne([*vectors], Path(words) if words else None, **options)


def _show(chart: object, console: Console, *, out: Path) -> None:
    say(console, out)


main = Command(
    tsne,
    _show,
    run=_run,
    required=("out",),
    types={"out": output_file(*FORMATS)},
    spelling="vectors VECTORS+; words FILE; out FILE; query NAME; perplexity P; iterations N",
)

"""``biasbridge tsne``: the words of a query in the plane, a panel for each file of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from biasbridge.cli.options import add_trusted, output_file
from biasbridge.files.charts import FORMATS
from biasbridge.files.terminal import Parser
from biasbridge.intrinsic.lookup import CASES

DEFAULT_QUERY = "gender_authors"


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw one panel per file."""
    args = _parser().parse_args(arguments)
    from biasbridge.intrinsic.tsne import draw_tsne
    from biasbridge.intrinsic.words import load_queries, read_query

    options = vars(args).copy()
    name, words = options.pop("query"), options.pop("words")
    if words and not name:
        query = read_query(words)
    else:
        (query,) = load_queries([name or DEFAULT_QUERY], words)
    draw_tsne(query, options.pop("vectors"), options.pop("out"), **options)
    print(args.out)
    return 0


def _parser() -> Parser:
    description = "Draw the words of a query by t-SNE, one panel per file of vectors."
    parser = Parser(prog="biasbridge tsne", description=description)
    add = parser.add_argument
    add("vectors", nargs="+", type=Path, help="files of vectors, for example before and after")
    drawing = f"the drawing ({', '.join(FORMATS)})"
    add("--out", type=output_file(*FORMATS), required=True, metavar="FILE", help=drawing)
    query = f"a query of X, Y, A and B (default: {DEFAULT_QUERY}, or the only one of --words)"
    add("--query", metavar="NAME", help=query)
    add("--words", metavar="FILE", help="your own queries, JSON or YAML")
    lower = "lower (default): words not found as written are looked up in lower case"
    add("--case", choices=CASES, default="lower", help=lower)
    perplexity = "effective number of neighbours (default 40, of few words a third of them)"
    add("--perplexity", type=float, metavar="P", help=perplexity)
    add("--iterations", type=int, default=2500, metavar="N", help="steps (default 2500)")
    add("--seed", type=int, default=23, help="for the order of ties (default 23)")
    add_trusted(parser)
    return parser

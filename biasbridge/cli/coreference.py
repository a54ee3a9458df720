"""``biasbridge coreference``: score coreference predictions against the key."""

from __future__ import annotations

import argparse
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.table import Table

from biasbridge.extrinsic.coreference.scorer import Score, pair_documents, score
from biasbridge.files.documents import Document, read_documents
from biasbridge.files.errors import printable
from biasbridge.files.terminal import Parser, open_console, print_columns

TITLES = {
    "mentions": "mention detection",
    "muc": "MUC",
    "b3": "B-cubed",
    "ceaf_e": "CEAF-e",
    "ceaf_m": "CEAF-m",
    "lea": "LEA",
    "blanc": "BLANC",
    "conll": "CoNLL (mean of MUC, B-cubed, CEAF-e)",
}
EPILOG = """\
Files are JSON Lines (.jsonl) or else CoNLL, whose last column has the mentions; also as .gz, .bz2
and .xz. Counts are summed over documents before they are divided, as the reference scorer does, and
0 / 0 is 0. Clusters of one mention count as they are: where the key does not annotate them
(OntoNotes), each of them in the response costs precision by all metrics but MUC; --singletons drop
takes them out of both sides."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read both files and print the scores as a table in percent, or as JSON from 0 to 1."""
    options = _parser().parse_args(arguments)
    faults: list[str] = []
    pairs = pair_documents(
        *(
            _read(path, options, faults.append if options.mend else None)
            for path in (options.key, options.response)
        )
    )
    for fault in faults:
        print(f"mended: {printable(fault)}", file=sys.stderr)
    scores = score(pairs)
    if options.json:
        rates = {name: row._asdict() for name, row in scores.items()}
        summary = {"documents": len(pairs), "singletons": options.singletons, "scores": rates}
        print(json.dumps(summary, indent=1))
    else:
        print_columns(_table(scores), open_console())
        print(_count(pairs))
    return 0


def _read(path: Path, options: Namespace, mend: Callable[[str], None] | None) -> list[Document]:
    documents = read_documents(path, mend=mend)
    if options.singletons == "keep":
        return list(documents)
    return [document.without_singletons() for document in documents]


def _parser() -> Parser:
    parser = Parser(
        prog="biasbridge coreference",
        description="Score coreference predictions.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("key", type=Path, metavar="KEY", help="the true clusters")
    add("response", type=Path, metavar="RESPONSE", help="the predicted clusters")
    singletons = "clusters of one mention: keep (as the reference scorer) or drop"
    add("--singletons", choices=("keep", "drop"), default="keep", help=singletons)
    mend = "repair unpaired brackets and repeated mentions with a warning, do not refuse them"
    add("--mend", action="store_true", help=mend)
    add("--json", action="store_true", help="print JSON, rates from 0 to 1")
    return parser


def _table(scores: dict[str, Score]) -> Table:
    table = Table()
    table.add_column("%")
    for column in ("precision", "recall", "F1"):
        table.add_column(column, justify="right")
    for name, title in TITLES.items():
        row = scores[name]
        table.add_row(title, *(f"{100 * rate:.2f}" for rate in (row.precision, row.recall, row.f1)))
    return table


def _count(pairs: Sequence[tuple[Document, Document]]) -> str:
    counts = [f"{len(pairs)} documents"]
    for side, documents in zip(("key", "response"), zip(*pairs, strict=True), strict=True):
        mentions = sum(len(document.mentions) for document in documents)
        clusters = sum(len(document.clusters) for document in documents)
        counts.append(f"{side} {mentions} mentions in {clusters} clusters")
    return "; ".join(counts)

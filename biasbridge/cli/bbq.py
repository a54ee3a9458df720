"""``biasbridge bbq``: accuracy and bias scores of BBQ, from a model's answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from biasbridge.bbq_scores import Convention, bbq
from biasbridge.cli.options import CSV
from biasbridge.files import atomic_path
from biasbridge.files.terminal import Parser

EPILOG = """\
Scores are in [-1, 1], above 0 where answers follow the stereotype, with 95 % intervals over
templates. An output that means none of the options is left out and counted. helm: accuracy of both
contexts, 0 for 0 / 0; lm_eval: its groups, unmatched outputs are wrong; drop_ambiguous: without
items that name the stereotyped group in both answers or in none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read answers, print the scores, and write them to the file asked for."""
    args = _parser().parse_args(arguments)
    options = {name: getattr(args, name) for name in ("answer", "convention", "data", "filter")}
    rows = bbq(args.answers, **options)
    if args.csv:
        from biasbridge.files.tables import write_csv

        with atomic_path(args.csv) as work:
            write_csv(rows, work)
    if args.json:
        print(rows.to_json(orient="records", double_precision=15, force_ascii=False))
        return 0
    from biasbridge.extrinsic.bbq import print_scores
    from biasbridge.files.terminal import open_console

    print_scores(rows, open_console(width=max(open_console().width, 130)))
    return 0


def _parser() -> Parser:
    description = "Compute accuracy and bias scores of BBQ from the answers of a model."
    parser = Parser(prog="biasbridge bbq", description=description, epilog=EPILOG)
    add = parser.add_argument
    answers = "tables of answers with BBQ's fields, logs of evaluation harnesses, or their folders"
    add("answers", nargs="+", type=Path, metavar="ANSWERS", help=answers)
    column = "column of the answers: text, letter or place of an option (default answer)"
    add("--answer", metavar="COLUMN", help=column)
    conventions = [*get_args(Convention)]
    add("--convention", choices=conventions, default="paper", help="default paper; see below")
    data = "folder of BBQ's own files, which bring fields that a log lacks; default: as got by name"
    add("--data", type=Path, metavar="FOLDER", help=data)
    wanted = "of lm-evaluation-harness: the filter of the answers, where there are several"
    add("--filter", default="", metavar="NAME", help=wanted)
    add("--csv", type=CSV, metavar="FILE", help="also write the scores to this CSV file")
    add("--json", action="store_true", help="print a JSON list of rows instead")
    return parser

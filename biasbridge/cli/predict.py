"""``biasbridge predict``: classify texts with a classifier that others trained."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from biasbridge.cli.options import CSV
from biasbridge.files import InputError, atomic_path
from biasbridge.files.terminal import Parser

EPILOG = """\
A classifier is an .onnx file that takes texts, a folder that save_pretrained wrote for sequence
classification, package:NAME for one inside an installed package, or org/name@COMMIT on a hub. No
code of the classifier is run, and a pickle is not opened."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the predictions, and print the command that measures gaps from them."""
    args = _parser().parse_args(arguments)
    if args.out.resolve() == args.texts.resolve():
        raise InputError(f"{args.out} is the file that is read; name another for the predictions")
    from biasbridge.predicting import predict

    table = predict(
        args.classifier,
        args.texts,
        positive=args.positive,
        text=args.text,
        pred=args.pred,
    )
    with atomic_path(args.out) as work:
        # As it is, for a further classifier reads these texts
        table.to_csv(work, index=False, lineterminator="\n")
    n_positive = int(table[args.pred].sum())
    share = f" ({n_positive / len(table):.0%})" if len(table) else ""
    print(f"{len(table):,} texts, {n_positive:,} predicted positive{share}")
    columns = [] if args.pred == "prediction" else ["--pred", args.pred]
    columns += ["--score", f"{args.pred}_score"]
    command = shlex.join(["biasbridge", "gaps", str(args.out), *columns])
    print(f"to measure gaps: {command} --gold LABEL_COLUMN --group GROUP_COLUMN")
    return 0


def _parser() -> Parser:
    parser = Parser(
        prog="biasbridge predict",
        description="Classify texts with a trained classifier.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("classifier", metavar="CLASSIFIER", help="see below")
    add("texts", type=Path, metavar="TEXTS", help="a table with a row per text")
    add("out", type=CSV, metavar="OUT.csv", help="the table with the predictions")
    positive = "a class that counts as 1; may be repeated"
    add("--positive", action="append", default=[], metavar="CLASS", help=positive)
    add("--text", metavar="COL", help="column of the texts (default: by its name)")
    pred = "column of predictions (default: prediction); of scores: with _score"
    add("--pred", default="prediction", metavar="COL", help=pred)
    return parser

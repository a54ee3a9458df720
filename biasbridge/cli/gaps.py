"""``biasbridge gaps``: performance gaps with intervals, from predictions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.cli.document_options import (
    STANDARD_OUTPUT,
    add_documents,
    take_documents,
    write_documents,
)
from biasbridge.cli.gate_options import FAILED, add_gate, take_gate
from biasbridge.cli.options import PAGE, split_names
from biasbridge.cli.threshold_options import add_thresholds, show_thresholds, take_threshold
from biasbridge.extrinsic.gaps import ALL_MEASURES
from biasbridge.files.errors import printable
from biasbridge.files.terminal import Parser
from biasbridge.input_tables import as_dataframe

if TYPE_CHECKING:
    import argparse

    from biasbridge.extrinsic.predictions import GapRequest

EPILOG = f"""\
A gap is the privileged group's value minus the other group's, of the false positive and false
negative rate (fpr, fnr) the other way round: positive = worse for the other group. Intervals are
Wilson's score intervals at 95 %, of gaps Newcombe's, of differences within items Price and
Bonett's, of the largest difference one that accounts for the maximum. Gold and predicted
labels must be 0 or 1 unless --positive or --multiclass is given. An item in no group counts in the
rows "all" and in the rest. Rows with the same value in a column id are one item in several groups.
A column of 0 and 1 is the group of its name, unless an option names 0 or 1 as a group. A name in
two columns becomes COL=NAME.
Measures: {", ".join(ALL_MEASURES)}."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read predictions, print the measures and gaps, and write the files asked for."""
    args = _parser().parse_args(arguments)
    from biasbridge.extrinsic.gap_printing import print_gap_tables
    from biasbridge.extrinsic.gap_table import as_table, measure_gaps
    from biasbridge.extrinsic.predictions import GapRequest
    from biasbridge.files.terminal import open_console

    options = vars(args).copy()
    path, page, chosen = (options.pop(name) for name in ("predictions", "report", "filter"))
    read = partial(as_dataframe, path, filter=chosen, quoted=not options.pop("unquoted"))
    if options.pop("thresholds"):
        table = read(labels=[args.gold])
        return show_thresholds(options, table, path.name, page)
    decide_gate, documents = take_gate(options), take_documents(options)
    add_predictions = take_threshold(options)
    console = open_console(stderr=documents.get("json") == STANDARD_OUTPUT)
    request = GapRequest(**options | {"pred": options["pred"] or ["prediction"]})
    predicted = [] if args.threshold is not None else request.pred
    table = read(labels=[request.gold, *predicted])
    table = add_predictions(table)
    rows, notes = measure_gaps(request, table)
    label = " or ".join(args.positive)
    print_gap_tables(rows, console, label)
    notes = [*notes, *table.attrs.get("notes", [])]
    for note in notes:
        console.print(printable(f"note: {note}"), soft_wrap=True)
    write_documents(documents, as_table(rows), request, path, len(table), notes)
    gate = decide_gate(request, table)
    verdict = "" if gate is None else gate.sentence
    if page:
        from biasbridge.analysis.report.gaps_page import write_gaps_page

        title = _title(args, request)
        page = write_gaps_page(
            as_table(rows), page, title, label=label, verdict=verdict, notes=notes
        )
        console.print(str(page), soft_wrap=True)
    if gate is None:
        return 0
    console.print(verdict, soft_wrap=True)
    return 0 if gate.passed else FAILED


def _title(args: argparse.Namespace, request: GapRequest) -> str:
    """Return the title of the page: the file, the predicted column, and those of groups."""
    label = f" is {' or '.join(args.positive)}" if args.positive else ""
    columns = [*request.group, *filter(None, [" × ".join(request.cross)])]
    return f"{args.predictions.name}: {args.gold}{label}, by {', '.join(columns)}"


def _parser() -> Parser:
    parser = Parser(
        prog="biasbridge gaps",
        description="Measure performance gaps between groups.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    predictions = "a .csv, .tsv (also .gz, .bz2, .xz), .jsonl or .parquet file, one row per item,"
    predictions += " or a result file of an evaluation harness: biasbridge check names it"
    add("predictions", type=Path, help=predictions)
    wanted = "of lm-evaluation-harness: the filter of the answers, where there are several"
    add("--filter", default="", metavar="NAME", help=wanted)
    add("--unquoted", action="store_true", help="quotation marks of delimited text are text")
    add(
        "--gold",
        default="label",
        metavar="COL",
        help="column of the true labels, 0 or 1 (default: label)",
    )
    predicted = "column of the predicted labels, 0 or 1 (default: prediction); repeat it for each"
    predicted += " later version, on the same items: says what changed, as later - earlier"
    add("--pred", action="append", metavar="COL", help=predicted)
    scores = "column of scores, larger = label 1, for each --pred: adds the areas under the ROC"
    add("--score", action="append", default=[], metavar="COL", help=scores + " curve")
    group = "column of the groups (default: group), or of 0 and 1 for the group of its name; repeat"
    group += " it for further columns: an item counts once and is in all its groups"
    add("--group", action="append", default=[], metavar="COL", help=group)
    separator = "what parts several names in a cell, such as ';'; lists need none"
    add("--group-sep", default="", metavar="SEP", help=separator)
    cross = "crossed groups of these columns, such as 'female & black'"
    add("--cross", type=split_names, default=[], metavar="COL,COL", help=cross)
    missing = (
        "an empty cell of groups is no group (default), a group 'missing', or leaves the row out"
    )
    add("--missing", choices=["no-group", "group", "drop"], default="no-group", help=missing)
    privileged = "the privileged group; without it every group is compared with all other items"
    add("--privileged", metavar="VALUE", help=privileged)
    unprivileged = "the other group; without it every other group in turn"
    add("--unprivileged", metavar="VALUE", help=unprivileged)
    add_list = partial(add, type=split_names, default=[])
    groups = "the groups that are compared (default: all)"
    add_list("--groups", metavar="A,B,...", help=groups)
    compare = (
        "pair (privileged and unprivileged), pairwise (privileged and each other), one-vs-rest"
    )
    compare += " (all others and each), one-vs-none (the items in no group and each),"
    compare += " max-difference (the two furthest apart)"
    add_list("--compare", metavar="LIST", help=compare)
    add_list("--measures", metavar="LIST", help="those below (default precision,recall,f1,fpr)")
    positive = "a label of the positive class; may be repeated"
    add("--positive", action="append", default=[], metavar="LABEL", help=positive)
    add("--multiclass", action="store_true", help="take each class against the rest")
    cluster = (
        "column of what items share, such as their author or template: items of one cluster are"
    )
    add("--cluster", metavar="COL", help=cluster + " drawn together, and intervals are wider")
    fewest = "fewest items behind a value (default 10; 0: any)"
    add("--min-support", type=int, default=10, metavar="N", help=fewest)
    add_thresholds(parser)
    add_gate(parser)
    add_documents(parser)
    page = "write a page with the results in words, charts and tables"
    add("--report", type=PAGE, metavar="PAGE.html", help=page)
    return parser

"""The thresholds of ``biasbridge gaps``: ``--threshold`` and ``--thresholds``."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from biasbridge.cli.document_options import take_documents
from biasbridge.cli.gate_options import RULES
from biasbridge.files import InputError, atomic_path

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable
    from pathlib import Path

    import pandas as pd

EVERY = 5  # printed of the thresholds


def add_thresholds(parser: ArgumentParser) -> None:
    """Add the options of thresholds."""
    at_threshold = "predict 1 where the --score is X or more, without --pred"
    parser.add_argument("--threshold", type=float, metavar="X", help=at_threshold)
    every = "gaps at every threshold of the --score, and where they close, without --pred"
    parser.add_argument("--thresholds", action="store_true", help=every)


def take_threshold(options: dict[str, Any]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Take the threshold out of the options of a request, and name its predictions; return what
    adds these to a table.
    """
    from biasbridge.extrinsic.predictions import read_scores

    threshold = options.pop("threshold")
    if threshold is None:
        return lambda table: table
    _require_score(options, "--threshold")
    if not isfinite(threshold):
        raise InputError(f"--threshold {threshold}: give a number")
    names = {f"{score} >= {threshold!r}": score for score in options["score"]}
    options["pred"] = [*names]
    return lambda table: table.assign(
        **{name: read_scores(table, score) >= threshold for name, score in names.items()}
    )


def show_thresholds(
    options: dict[str, Any], items: pd.DataFrame, name: str, page: Path | None
) -> int:
    """Print the largest gaps by threshold and where they close, and write the files asked for."""
    from biasbridge.extrinsic.gap_printing import print_text_table
    from biasbridge.extrinsic.thresholds import describe_closing, threshold_table, threshold_text
    from biasbridge.files.errors import printable
    from biasbridge.files.tables import write_csv
    from biasbridge.files.terminal import open_console

    _require_score(options, "--thresholds")
    out = (documents := take_documents(options)).pop("csv", None)
    for document in documents:
        raise InputError(f"--{document} is not of --thresholds; give --csv or --report")
    if len(options["score"]) > 1:
        raise InputError("--thresholds is of one --score; leave out the others")
    gate = [options.pop(name) for name in ("fail_above", *RULES)]
    if options.pop("threshold") is not None or any(gate):
        raise InputError("--thresholds shows all; leave it out for --threshold and --fail-above")
    table = threshold_table(options, items)
    text, console = threshold_text(table), open_console()
    sentences = [*describe_closing(table), *map(printable, table.attrs["notes"])]
    print_text_table(text[:: EVERY if len(text) > 4 * EVERY else 1], console)
    for sentence in sentences:
        console.print(sentence, soft_wrap=True)
    if out:
        with atomic_path(out) as work:
            write_csv(table, work)
    if page:
        from biasbridge.analysis.report.gaps_page import write_thresholds_page

        title = f"{name}: {options['gold']} by thresholds of {options['score'][0]}"
        write_thresholds_page(table, text, sentences, page, title)
        console.print(str(page), soft_wrap=True)
    return 0


def _require_score(options: dict[str, Any], option: str) -> None:
    if options["pred"] or not options["score"]:
        raise InputError(f"{option} predicts from scores; give --score, and leave out --pred")

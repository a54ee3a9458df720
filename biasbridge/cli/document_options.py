"""The files that ``biasbridge gaps`` writes: rows, LaTeX, Markdown, an exchange format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasbridge.cli.options import output_file
from biasbridge.files import InputError, atomic_path

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence

    import pandas as pd

    from biasbridge.extrinsic.predictions import GapRequest

STANDARD_OUTPUT = Path("-")
DOCUMENTS = {
    "json": ((".json", ""), "also write the rows and their metadata as JSON; -: standard output"),
    "csv": ((".csv", ""), "also write the table to this CSV file"),
    "tex": ((".tex",), "also write LaTeX tables of values and gaps"),
    "md": ((".md",), "also write a section of a model card"),
    "eee": ((".json",), "also write a file of Every Eval Ever, schema 0.3.0"),
}


def add_documents(parser: ArgumentParser) -> None:
    """Add an option for each document."""
    for name, (endings, text) in DOCUMENTS.items():
        file = output_file(*endings, stdout=name == "json")
        parser.add_argument(f"--{name}", type=file, metavar="FILE", help=text)


def take_documents(options: dict[str, Any]) -> dict[str, Path]:
    """Take the paths of documents, by kind, out of the options of a request."""
    n_classifiers = max(len(options["pred"] or ()), len(options["score"]))
    if options["eee"] and n_classifiers > 1:
        raise InputError("--eee: a file of Every Eval Ever is of one classifier; give one --pred")
    paths = {name: path for name in DOCUMENTS if (path := options.pop(name))}
    places = [path.resolve() for path in paths.values() if path != STANDARD_OUTPUT]
    for name, path in paths.items():
        if path != STANDARD_OUTPUT and places.count(path.resolve()) > 1:
            raise InputError(f"--{name} {path}: two documents in one file; name another")
    return paths


def write_documents(
    paths: dict[str, Path],
    rows: pd.DataFrame,
    request: GapRequest,
    source: Path,
    n_rows: int,
    notes: Sequence[str],
) -> None:
    """Write the documents of a table of gaps."""
    if not paths:
        return
    from biasbridge.analysis.report.documents import GapFacts, format_gaps

    roles = ("gold", "pred", "group", "cross", "score", "cluster")
    columns = {role: getattr(request, role) for role in roles}
    modified = int(source.stat().st_mtime)
    facts = GapFacts(source.name, modified, columns, list(request.positive), n_rows, list(notes))
    for kind, path in paths.items():
        text = format_gaps(kind, rows.drop(columns="resampled"), facts)
        if kind == "json" and path == STANDARD_OUTPUT:
            print(text, end="")
            continue
        with atomic_path(path) as work:
            work.write_text(text, encoding="utf-8", newline="\n")

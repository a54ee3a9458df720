"""``biasbridge audit``: every bias metric on word vectors or on a language model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from biasbridge.cli.options import CSV, JSON, add_trusted
from files import InputError, atomic_path
from files.models.encoder import Pooling
from files.models.place import names_model
from files.options import Parser
from files.packages import PACKAGE
from files.text import open_plain
from intrinsic.lookup import CASES
from intrinsic.wordsets.parse import EXAMPLE

if TYPE_CHECKING:
    from argparse import Namespace

    from intrinsic.audit import Audited
    from intrinsic.metric import Metric

STDOUT = Path("-")
COLUMNS = "a CSV with text, group, term, template, or with stereo, anti, cluster"
DESCRIPTION = (
    "Audit word vectors or a language model: every bias metric, on built-in word sets and items or"
    " your own, in one table."
)


def _parser() -> Parser:
    """The command line."""
    options = Parser(prog="biasbridge audit", description=DESCRIPTION)
    add = options.add_argument
    files = "word2vec text or binary, GloVe, fastText, or a mapped folder, several are ranked; or a"
    files += " language model: a folder, a hub name with --revision, or package:NAME"
    add("vectors", nargs="*", help=files)
    similarity = "word similarity files: word, word, number on each line"
    add("--metric", nargs="+", default=[], metavar="NAME", help="these metrics only")
    queries = "these queries, or built-in sets of items, only"
    add("--query", nargs="+", default=[], metavar="NAME", help=queries)
    add("--items", metavar="FILE", help=f"of a language model: your own items, {COLUMNS}")
    fillers = "what your items' slots are filled with, for the first group and the second: he/she"
    add("--fillers", nargs="+", default=[], metavar="A/B", help=fillers)
    add("--revision", metavar="COMMIT", help="of a model on a hub")
    add("--layer", type=int, default=-1, help="of a model: 0 embeddings, -1 the last (default)")
    pooling = "of a model, what becomes a text's vector: mean (default), words, cls, last"
    add("--pooling", choices=get_args(Pooling), default="mean", help=pooling)
    random = "of a model: the same configuration with random weights, as a comparison"
    add("--random-weights", action="store_true", help=random)
    add("--similarity", nargs="+", default=[], metavar="FILE", help=similarity)
    add("--words", metavar="FILE", help=f"your own queries, JSON or YAML: {EXAMPLE}")
    conventions = "caliskan, wefe, nangia, ...; metrics without it are left out; all: side by side"
    add("--convention", metavar="NAME", help=conventions)
    lower = "lower: words not found as written are tried in lower case"
    add("--case", choices=CASES, help=lower)
    found = "share of each word set that must be found (default 0.5)"
    add("--min-found", type=float, metavar="SHARE", help=found)
    language = "of the vectors or items; default: by the file name or their frequent words, else en"
    add("--language", metavar="CODE", help=language)
    resamples = "of the words, for the interval of each score (low and high)"
    add("--resamples", type=int, default=0, metavar="N", help=resamples)
    add("--seed", type=int, default=0, help="of what is drawn at random (default 0)")
    add("--each", action="store_true", help="print the score of every single word as well")
    rows = "the rows as {}; without OUT in place of the table"
    add("--csv", nargs="?", const="-", type=CSV, metavar="OUT", help=rows.format("CSV"))
    add("--json", nargs="?", const="-", type=JSON, metavar="OUT", help=rows.format("JSON"))
    add_trusted(options)
    verbose = "what each metric means, and why a score has no value"
    add("--verbose", action="store_true", help=verbose)
    listed = "print what metrics, conventions and queries there are"
    add("--list", action="store_true", dest="listing", help=listed)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Open each file, measure, print or write."""
    given = _parser().parse_args(arguments)
    from files.terminal import open_console

    console = open_console()
    if given.listing:
        from intrinsic.describe import print_metrics

        print_metrics(console)
        return 0
    if not given.vectors:
        raise InputError("give one or more files of word vectors, a language model, or --list")
    given.metric, given.query = (_split(each) for each in (given.metric, given.query))
    about_models = given.items or given.fillers or given.revision
    of_models = bool(about_models) or any(map(names_model, given.vectors))
    audited, remarks = (_audit_models if of_models else _audit)(given)
    from biasbridge.certificates import NOTE, certified

    audited, refused = certified(audited)
    about = [NOTE] if any(one.certificate for one in audited) else []
    remarks = [*refused, *remarks, *about]
    from intrinsic.audit import as_table
    from intrinsic.show import (
        as_json,
        print_headlines,
        print_line,
        print_ranks,
        print_scores,
        print_summary,
    )

    table = as_table(audited)
    if STDOUT not in (given.csv, given.json):
        if given.verbose or given.each:
            print_headlines(audited, console)
            print_scores(audited, console, each=given.each)
        else:
            print_summary(audited, console)
        for line in remarks:
            print_line(console, line, "italic")
        if len(given.vectors) > 1:
            print_ranks(table, console)
    if given.csv:
        from files.tables import csv_text

        _write(csv_text(table), given.csv)
    if given.json:
        _write(as_json(audited), given.json)
    return 0


def _audit(given: Namespace) -> tuple[list[Audited], list[str]]:
    """The scores of every file and the remarks on them, after all arguments have been checked."""
    from intrinsic.audit import choose_metrics, language_asked, language_of

    _refuse_metrics_of_models(given)

    def choose(language: str) -> list[Metric]:
        return choose_metrics(
            given.metric,
            queries=given.query,
            words=given.words,
            convention=given.convention,
            language=given.language or language,
            similarity=given.similarity,
            case=given.case,
            min_found=given.min_found,
            resamples=given.resamples,
        )

    for path in given.vectors:
        if not path.startswith(PACKAGE) and not Path(path).exists():
            open_plain(Path(path))
    asked = language_asked(given.query, given.words)
    for path in given.vectors:
        choose(language_of(path, asked=asked)[0])
    from biasbridge.functions import audit_each

    named = dict(zip(_names(given.vectors), given.vectors, strict=True))
    return audit_each(
        named,
        choose,
        asked=asked,
        words=given.words,
        given=given.language,
        seed=given.seed,
        trusted=given.trusted,
    )


def _refuse_metrics_of_models(given: Namespace) -> None:
    """Raise ``InputError`` for a metric of language models where none is given."""
    from intrinsic.likelihood.every import MODEL_METRICS

    for metric in given.metric:
        if metric in MODEL_METRICS:
            raise InputError(
                f"{metric} measures language models, and {given.vectors[0]} is none: give a folder"
                " with config.json, package:NAME, or a hub name with --revision COMMIT"
            )


def _audit_models(given: Namespace) -> tuple[list[Audited], list[str]]:
    """The scores of every model."""
    from biasbridge.model_audit import audit_model, notes_on

    for option in ("words", "similarity", "case", "min_found", "trusted"):
        if getattr(given, option):
            shown = option.replace("_", "-")
            raise InputError(f"--{shown} is about word vectors; of a model give --items, --query")
    audited = [
        row
        for name, model in zip(_names(given.vectors), given.vectors, strict=True)
        for row in audit_model(
            model,
            given.revision,
            metrics=given.metric,
            queries=given.query,
            items=given.items,
            fillers=given.fillers,
            convention=given.convention,
            language=given.language,
            layer=given.layer,
            pooling=given.pooling,
            random_seed=given.seed if given.random_weights else None,
            name=name,
            resamples=given.resamples,
            seed=given.seed,
        )
    ]
    return audited, notes_on(audited, given.items, given.language)


def _split(names: Sequence[str]) -> list[str]:
    """Names, also where several are joined by commas."""
    return [name for each in names for name in each.split(",") if name]


def _names(paths: Sequence[str]) -> list[str]:
    """What the files are called in the tables: names, or paths where two have the same name."""
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _write(text: str, out: Path) -> None:
    """Write to a file, or to standard output."""
    if out == STDOUT:
        print(text, end="")
    else:
        with atomic_path(out) as work:
            work.write_text(text, encoding="utf-8", newline="\n")

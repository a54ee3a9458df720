"""``biasbridge audit``: every bias metric on word vectors or on a language model."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from biasbridge.cli.options import add_config_dir, add_trusted, count, output_file
from biasbridge.files import InputError, atomic_path
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.models.encoder import Pooling
from biasbridge.files.models.language_model import Dtype
from biasbridge.files.places import is_model_path
from biasbridge.files.terminal import Parser
from biasbridge.files.text import open_plain
from biasbridge.files.vector_files import locate_vectors
from biasbridge.intrinsic.lookup import CASES
from biasbridge.intrinsic.words import EXAMPLE

if TYPE_CHECKING:
    from argparse import Namespace

    from biasbridge.intrinsic.audit import AuditedScore
    from biasbridge.intrinsic.metric import Metric

STDOUT = Path("-")
COLUMNS = "a CSV with text, group, term, template, or with stereo, anti, cluster"
DESCRIPTION = (
    "Audit word vectors or a language model: every bias metric, on built-in word sets and items or"
    " your own, in one table."
)


def _parser() -> Parser:
    options = Parser(prog="biasbridge audit", description=DESCRIPTION)
    add = options.add_argument
    files = (
        "word2vec text or binary, GloVe, fastText, a mapped folder, or a name of biasbridge data,"
    )
    files += " several are ranked; or a language model: a folder, package:NAME, or a hub name,"
    files += " org/name, or org/name@COMMIT, also with a branch or tag"
    add("vectors", nargs="*", help=files)
    similarity = "word similarity files: word, word, number per line"
    add("--metric", nargs="+", default=[], metavar="NAME", help="these metrics only")
    queries = "these queries, or built-in sets of items, only"
    add("--query", nargs="+", default=[], metavar="NAME", help=queries)
    add("--items", metavar="FILE", help=f"of a language model: your own items, {COLUMNS}")
    fillers = "fillers of your items' slots, first and second group: he/she"
    add("--fillers", nargs="+", default=[], metavar="A/B", help=fillers)
    _add_running(options)
    add("--layer", type=int, default=-1, help="of a model: 0 embeddings, -1 the last (default)")
    pooling = "of a model, how a text becomes a vector: mean (default), words, cls, last"
    add("--pooling", choices=get_args(Pooling), default="mean", help=pooling)
    random = "of a model: random weights in the same configuration, as a baseline"
    add("--random-weights", action="store_true", help=random)
    add("--similarity", nargs="+", default=[], metavar="FILE", help=similarity)
    add("--words", metavar="FILE", help=f"your own queries, JSON or YAML: {EXAMPLE}")
    conventions = "caliskan, wefe, nangia, ... (only metrics that have it), or all, side by side"
    add("--convention", metavar="NAME", help=conventions)
    lower = "lower: words not found as written are looked up in lower case"
    add("--case", choices=CASES, help=lower)
    found = "proportion of each word set that must be in the vocabulary (default 0.5)"
    add("--min-found", type=float, metavar="SHARE", help=found)
    language = "of the vectors or items; default: by their frequent words or the file name, else en"
    add("--language", metavar="CODE", help=language)
    resamples = "bootstrap samples of the words, for the interval of each score (low and high)"
    add("--resamples", type=int, default=0, metavar="N", help=resamples)
    add("--seed", type=int, default=0, help="of random numbers (default 0)")
    add("--single-scores", action="store_true", help="print the score of every word as well")
    rows = "write the rows as {}; without OUT: print them instead of the table"
    for form in ("csv", "json"):
        file = output_file(f".{form}", "", stdout=True)
        text = rows.format(form.upper())
        add(f"--{form}", nargs="?", const="-", type=file, metavar="OUT", help=text)
    add_trusted(options)
    add_config_dir(options)
    verbose = "explain each metric, and why a score has no value"
    add("--verbose", action="store_true", help=verbose)
    listed = "list the metrics, conventions and queries"
    add("--list", action="store_true", dest="listing", help=listed)
    return options


def _add_running(options: Parser) -> None:
    """Add the options of how a language model is run."""
    add = options.add_argument
    dtype = "of a model's weights: float32 (default); auto, as its configuration states"
    add("--dtype", choices=get_args(Dtype), default="float32", help=dtype)
    add("--device", default="cpu", help="of a model: cpu (default), cuda, cuda:N, mps")
    size = "texts that a model computes at a time (default: as many as fit 2,048 tokens)"
    add("--batch-size", type=count, metavar="N", help=size)
    limit = "measure N items of each set, from its groups in turn, to try a command"
    add("--limit", type=count, metavar="N", help=limit)
    chat = "of a causal model: texts are answers to an empty message in its chat template"
    add("--apply-chat-template", action="store_true", help=chat)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure each file, and print or write the scores."""
    args = _parser().parse_args(arguments)
    from biasbridge.files.terminal import open_console
    from biasbridge.own_classes import use_folder

    use_folder(args.config_dir)
    console = open_console()
    if args.listing:
        from biasbridge.intrinsic.describe import print_metrics

        print_metrics(console)
        return 0
    if not args.vectors:
        raise InputError("give one or more files of word vectors, a language model, or --list")
    args.metric, args.query = _split(args.metric), _split(args.query)
    has_model_options = bool(args.items or args.fillers or args.limit)
    is_run_otherwise = (args.dtype, args.device) != ("float32", "cpu")
    has_model_options |= bool(args.batch_size or args.apply_chat_template or is_run_otherwise)
    are_models = has_model_options or any(map(is_model_path, args.vectors))
    if args.csv == args.json == STDOUT:
        raise InputError("--csv and --json both print rows; give one of them a file")
    audited, notes = (_audit_models if are_models else _audit)(args)
    from biasbridge.certificates import certified

    audited, warnings, explanation = certified(audited)
    notes = [*warnings, *notes, *explanation]
    from biasbridge.intrinsic.audit import score_table
    from biasbridge.intrinsic.terminal import (
        print_headlines,
        print_line,
        print_ranks,
        print_scores,
        print_summary,
        scores_json,
    )

    table = score_table(audited)
    if STDOUT not in (args.csv, args.json):
        if args.verbose or args.single_scores:
            print_headlines(audited, console)
            print_scores(audited, console, singles=args.single_scores)
        else:
            print_summary(audited, console)
        for line in notes:
            print_line(console, line, "italic")
        if len(args.vectors) > 1:
            print_ranks(table, console)
    elif args.limit:
        print(f"warning: {notes[len(warnings)]}", file=sys.stderr)
    if args.csv:
        from biasbridge.files.tables import csv_text

        _write(csv_text(table), args.csv)
    if args.json:
        _write(scores_json(audited), args.json)
    return int(all(isnan(row.score.value) for row in audited))


def _audit(args: Namespace) -> tuple[list[AuditedScore], list[str]]:
    """Check all arguments, then measure every file. Return the scores and notes."""
    from biasbridge.intrinsic.audit import choose_metrics, query_language
    from biasbridge.vector_audit import require_vector_options

    _refuse_model_metrics(args)
    require_vector_options(args.random_weights, args.layer, args.pooling)

    def choose(language: str) -> list[Metric]:
        return choose_metrics(
            args.metric,
            queries=args.query,
            words=args.words,
            convention=args.convention,
            language=args.language or language,
            similarity=args.similarity,
            case=args.case,
            min_found=args.min_found,
            resamples=args.resamples,
        )

    for path in args.vectors:
        if not (file := locate_vectors(path)).exists():
            open_plain(file)
    language = query_language(args.query, args.words)
    choose("en" if language == UNDETERMINED else language)  # before a file is read
    from biasbridge.vector_audit import audit_embeddings

    return audit_embeddings(
        dict(zip(_names(args.vectors), args.vectors, strict=True)),
        choose,
        query_language=language,
        words=args.words,
        stated_language=args.language,
        seed=args.seed,
        trusted=args.trusted,
    )


def _refuse_model_metrics(args: Namespace) -> None:
    from biasbridge.intrinsic.registry import MODEL_METRICS

    for metric in args.metric:
        if metric in MODEL_METRICS:
            raise InputError(
                f"{metric} measures language models, unlike {args.vectors[0]}: give a folder"
                " with config.json, package:NAME, or org/name@COMMIT on a hub"
            )


def _audit_models(args: Namespace) -> tuple[list[AuditedScore], list[str]]:
    from biasbridge.model_audit import audit_models

    for option in ("words", "similarity", "case", "min_found", "trusted"):
        if getattr(args, option):
            name = option.replace("_", "-")
            raise InputError(
                f"--{name} applies to word vectors; for a language model give --items, --query"
            )
    return audit_models(
        args.vectors,
        metrics=args.metric,
        queries=args.query,
        items=args.items,
        fillers=args.fillers,
        convention=args.convention,
        language=args.language,
        layer=args.layer,
        pooling=args.pooling,
        random_seed=args.seed if args.random_weights else None,
        dtype=args.dtype,
        device=args.device,
        batch_size=args.batch_size,
        limit=args.limit,
        in_chat=args.apply_chat_template,
        resamples=args.resamples,
        seed=args.seed,
    )


def _split(names: Sequence[str]) -> list[str]:
    return [name for text in names for name in text.split(",") if name]


def _names(paths: Sequence[str]) -> list[str]:
    """Return the names of the files, or their paths if two have the same name."""
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _write(text: str, out: Path) -> None:
    if out == STDOUT:
        print(text, end="")
    else:
        with atomic_path(out) as work:
            work.write_text(text, encoding="utf-8", newline="\n")

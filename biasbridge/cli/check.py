"""``biasbridge check``: describe user data and a run on them, without writing anything."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.analysis.tables import as_text
from biasbridge.cli.options import add_data
from biasbridge.files import InputError
from biasbridge.files.errors import printable
from biasbridge.files.terminal import Parser
from biasbridge.published_collections import (
    are_documents,
    audit_command,
    describe_answers,
    describe_bbq,
    describe_documents,
    describe_predictions,
    is_result_file,
    recognise,
)
from biasbridge.user_data import LOOKED_AT, Data, read_data

if TYPE_CHECKING:
    from argparse import Namespace

DESCRIPTION = (
    "Describe your posts, corpus, words and vectors, and what a run on them would do. Nothing is"
    " written."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Describe the data and print warnings and the command (status 0) or what is missing (1)."""
    options = Parser(prog="biasbridge check", description=DESCRIPTION)
    add_data(options)
    args = options.parse_args(arguments)
    named = {str(path) for path in args.data}
    is_usable = _describe_collections(args)
    others = named - {str(path) for path in args.data}
    if not args.data:
        return 0 if is_usable else 1
    data = read_data(args)
    from biasbridge.data_checks import examine  # takes seconds
    from biasbridge.train.cli.command import format_override

    settings = data.settings()
    report = examine(data, settings)
    warnings = [f"warning: {line}" for line in report.warnings]
    problems = [f"missing: {line}" for line in report.problems]
    for line in [*_describe_files(data), *report.lines, *warnings, *problems]:
        print(printable(line))
    if not problems:
        command = shlex.join(format_override(key, value) for key, value in settings.items())
        print(f"a single run: biasbridge train {command}")
        words = map(str, arguments if arguments is not None else sys.argv[1:])
        data_args = shlex.join(word for word in words if str(Path(word)) not in others)
        print(f"a study with modified copies: biasbridge init {data_args}")
    return 0 if is_usable and not problems else 1


def _describe_collections(args: Namespace) -> bool:
    """Print the result files, predictions and published collections among the data, with their
    commands.

    Leave only posts in ``args.data``. Return whether a command reads each collection.
    """
    results = [path for path in args.data if is_result_file(path)]
    args.data = [path for path in args.data if path not in results]
    for line in (line for path in results for line in describe_answers(path)):
        print(printable(line))
    models = [path for path in args.data if (path / "config.json").is_file()]
    args.data = [path for path in args.data if path not in models]
    for model in models:
        print(printable(f"{model}: a language model; to audit it: {audit_command(model)}"))
    if documents := [path for path in args.data if are_documents(path)]:
        args.data = [path for path in args.data if path not in documents]
        print(printable(describe_documents(documents)))
    collections = {path: collection for path in args.data if (collection := recognise(path))}
    is_usable = _describe_predictions(args, collections)
    for path, collection in collections.items():
        print(printable(f"{path} is {collection.name}: {collection.use}"))
        if collection.kind == "items":
            command = audit_command(*models[:1] or ["MODEL"], path, language=args.language)
            print(printable(f"to use it: {command}"))
        elif collection.kind == "answers":
            print(printable(describe_bbq(path)))
    posts = [path for path, collection in collections.items() if collection.kind == "posts"]
    args.data = [path for path in args.data if path in posts or path not in collections]
    return is_usable and all(collection.kind for collection in collections.values())


def _describe_predictions(args: Namespace, collections: Collection[Path]) -> bool:
    """Print the command for each table of predictions, and take it out of ``args.data``. Return
    whether all have one.
    """
    is_usable = True
    is_of_posts = args.text or args.label
    for path in (path for path in [*args.data] if path not in collections and not is_of_posts):
        try:
            line = describe_predictions(path)
        except InputError as error:
            line, is_usable = f"{path}: predictions; missing: {error}", False
        if line:
            print(printable(line))
            args.data = [other for other in args.data if other != path]
    return is_usable


def _describe_files(data: Data) -> list[str]:
    lines = []
    if data.posts is not None:
        labels = Counter(as_text(data.posts, data.columns["label"])).most_common()
        counts = ", ".join(f"{count} {label or 'without a label'}" for label, count in labels)
        columns = ", ".join(f"{role} {name!r}" for role, name in data.columns.items())
        lines.append(f"posts {data.paths['posts']}: {len(data.posts)}, {columns}; {counts}")
    if "corpus" in data.paths:
        words = sum(len(line.split()) for line in data.sample)
        extent = (
            f"{len(data.sample):,} lines"
            if data.is_sample_complete
            else f"first {LOOKED_AT:,} lines"
        )
        lines.append(f"corpus {data.paths['corpus']}: {extent}, {words:,} words")
    for query in data.queries:
        roles = ", ".join(f"{role} {len(word_set.items)}" for role, word_set in query.sets.items())
        lines.append(f"words {data.paths['words']}: query {query.name!r}, {roles}")
    if data.vectors is not None:
        from biasbridge.files.vectors import reading_notes

        size = f"{len(data.vectors)} words, {data.vectors.vector_size} dimensions"
        lines += [f"vectors {data.paths['vectors']}: {size}", *reading_notes(data.vectors)]
    return [*lines, f"language: {data.language}"]

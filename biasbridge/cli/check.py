"""``biasbridge check``: what one's posts, corpus, words and vectors are, and what a run on them
would do; nothing is written.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from biasbridge.cli.options import add_data
from biasbridge.data import LOOKED_AT, Data, read_data
from biasbridge.published import audit_command, recognise
from files.options import Parser
from files.printable import printable

if TYPE_CHECKING:
    from argparse import Namespace

DESCRIPTION = (
    "What your posts, corpus, words and vectors are, and what a run on them would do; nothing is"
    " written."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what there is, warnings, and the command of a run (status 0) or what it lacks (1)."""
    options = Parser(prog="biasbridge check", description=DESCRIPTION)
    add_data(options)
    options_given = options.parse_args(arguments)
    is_usable = _describe_collections(options_given)
    if not options_given.data:
        return 0 if is_usable else 1
    data = read_data(options_given)
    from biasbridge.examine import examine  # takes seconds
    from train.front.spell import format_override

    settings = data.settings()
    found = examine(data, settings)
    warnings = [f"warning: {line}" for line in found.warnings]
    problems = [f"missing: {line}" for line in found.problems]
    for line in [*_describe_files(data), *found.lines, *warnings, *problems]:
        print(printable(line))
    if not problems:
        command = shlex.join(format_override(key, value) for key, value in settings.items())
        print(f"this would run it once: biasbridge train {command}")
        given = shlex.join(map(str, arguments if arguments is not None else sys.argv[1:]))
        print(f"a study of it, with modified copies: biasbridge init {given}")
    return 0 if is_usable and not problems else 1


def _describe_collections(options: Namespace) -> bool:
    """Print what published collections there are among the data, and the command for each; leave
    them out but for posts. Return whether a command uses each.
    """
    found = {path: known for path in options.data if (known := recognise(path))}
    for path, collection in found.items():
        print(printable(f"{path} is {collection.name}: {collection.use}"))
        if collection.kind == "items":
            command = audit_command(path, options.language)
            print(printable(f"this would run it: {command}"))
    posts = [path for path, collection in found.items() if collection.kind == "posts"]
    options.data = [path for path in options.data if path in posts or path not in found]
    return all(collection.kind for collection in found.values())


def _describe_files(data: Data) -> list[str]:
    """What is in each file."""
    lines = []
    if data.posts is not None:
        labels = data.posts[data.columns["label"]].astype(str).value_counts().to_dict()
        counts = ", ".join(f"{count} {label or 'without one'}" for label, count in labels.items())
        columns = ", ".join(f"{role} {name!r}" for role, name in data.columns.items())
        lines.append(f"posts {data.paths['posts']}: {len(data.posts)}, {columns}; {counts}")
    if "corpus" in data.paths:
        words = sum(len(line.split()) for line in data.sample)
        read = (
            f"{len(data.sample):,} lines" if data.whole else f"first {LOOKED_AT:,} lines looked at"
        )
        lines.append(f"corpus {data.paths['corpus']}: {read}, {words:,} words")
    for query in data.queries:
        roles = ", ".join(f"{role} {len(each.items)}" for role, each in query.sets.items())
        lines.append(f"words {data.paths['words']}: query {query.name!r}, {roles}")
    if data.vectors is not None:
        size = f"{len(data.vectors)} words, {data.vectors.vector_size} dimensions"
        lines.append(f"vectors {data.paths['vectors']}: {size}")
    return [*lines, f"language: {data.language}"]

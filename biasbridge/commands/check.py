"""What user data are, and what a run on them would do, without writing anything."""

from __future__ import annotations

import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.command_line import Command, command_text, say, takes
from biasbridge.files import InputError
from biasbridge.files.extras import named_extra
from biasbridge.input_vectors import require_files
from biasbridge.user_data import DataOptions

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.user_data import Data

DATA_SPELLING = (
    "data DATA+; text COL; label COL; positive LABEL...; group COL; privileged GROUP; "
    "unprivileged GROUP; language CODE"
)


class _Checked(NamedTuple):
    """Lines that describe data, and whether a command uses all of them."""

    lines: list[str]
    is_usable: bool


@takes(DataOptions)
def check(given: DataOptions) -> _Checked:
    """Describe your posts, corpus, words and vectors, and what a run on them would do.

    Parameters
    ----------
    data : sequence of path
        Labelled posts (a table), a corpus (text), words (YAML, JSON or CSV), or vectors.
    text : str, optional
        Column of the posts' text (default: found by name).
    label : str, optional
        Column of the labels (default: found by name).
    positive : sequence of str
        Label of the positive class; may be repeated (default: labels are 0 and 1).
    group : str, optional
        Column of the groups (default: groups are found by the words of the posts).
    privileged : str, optional
        Privileged group (default: found by name).
    unprivileged : str, optional
        Unprivileged group (default: found by name).
    language : str, optional
        Language of the data (default: guessed).
    trusted : bool
        Open gensim's own format, a pickle that can run any code; only for files you made.
    map : str, optional
        Recode labels and predictions before they are read, such as LABEL_1=1,neutral=ok.
    """
    require_files(given.data)
    from biasbridge.user_data import read_data

    lines, paths, is_usable = _describe_collections([*map(Path, given.data)], given)
    if not paths:
        return _Checked(lines, is_usable)
    if given.map:
        raise InputError(f"--map recodes predictions, and {paths[0]} has none; leave it out")
    found = read_data(replace(given, data=paths))
    lines += _describe_files(found)
    try:
        with named_extra("a run on them"):
            from biasbridge.data_checks import examine  # takes seconds
            from biasbridge.train.cli.command import format_override
    except InputError as error:
        return _Checked([*lines, f"missing: {error}"], is_usable=False)
    settings = found.settings()
    report = examine(found, settings)
    lines += report.lines
    lines += [f"warning: {line}" for line in report.warnings]
    lines += [f"missing: {line}" for line in report.problems]
    if not report.problems:
        command = shlex.join(format_override(key, value) for key, value in settings.items())
        lines.append(f"a single run: biasbridge train {command}")
        options = {name: value for name, value in vars(given).items() if name != "data"}
        lines.append(f"a study with modified copies: {command_text('init', *paths, **options)}")
    return _Checked(lines, is_usable and not report.problems)


def _describe_collections(
    paths: list[Path], given: DataOptions
) -> tuple[list[str], list[Path], bool]:
    """Describe the result files, predictions and published collections among the data, with their
    commands.

    Return the lines, the other paths, which are posts, and whether a command reads each collection.
    """
    from biasbridge.user_data import (
        are_documents,
        audit_command,
        describe_answers,
        describe_bbq,
        describe_documents,
        describe_predictions,
        is_result_file,
        recognise,
    )

    results = [path for path in paths if is_result_file(path)]
    lines = [line for path in results for line in describe_answers(path)]
    models = [path for path in paths if (path / "config.json").is_file()]
    lines += [f"{path}: a language model; to audit it: {audit_command(path)}" for path in models]
    paths = [path for path in paths if path not in (*results, *models)]
    if documents := [path for path in paths if are_documents(path)]:
        paths = [path for path in paths if path not in documents]
        lines.append(describe_documents(documents))
    collections = {path: collection for path in paths if (collection := recognise(path))}
    is_usable = all(collection.kind for collection in collections.values())
    for path in [*paths] if not given.text else ():
        if path in collections:
            continue
        try:
            described = describe_predictions(path, given)
        except InputError as error:
            described, is_usable = [f"{path}: predictions; missing: {error}"], False
        if described:
            lines += described
            paths.remove(path)
    for path, collection in collections.items():
        lines.append(f"{path} is {collection.name}: {collection.use}")
        if collection.kind == "items":
            command = audit_command(models[0] if models else "MODEL", path, language=given.language)
            lines.append(f"to use it: {command}")
        elif collection.kind == "answers":
            lines.append(describe_bbq(path))
        if collection.kind != "posts":
            paths.remove(path)
    return lines, paths, is_usable


def _describe_files(data: Data) -> list[str]:
    from biasbridge.files.columns import as_text
    from biasbridge.user_data import LOOKED_AT

    lines = []
    if data.posts is not None:
        labels = Counter(as_text(data.posts, data.columns["label"])).most_common()
        counts = ", ".join(f"{count} {label or 'without a label'}" for label, count in labels)
        columns = ", ".join(f"{role} {name!r}" for role, name in data.columns.items())
        lines.append(f"posts {data.paths['posts']}: {len(data.posts)}, {columns}; {counts}")
        lines += data.posts.attrs.get("notes", [])
    if "corpus" in data.paths:
        words = sum(len(line.split()) for line in data.sample)
        first = "" if data.is_sample_complete else "first "
        n_lines = len(data.sample) if data.is_sample_complete else LOOKED_AT
        lines.append(f"corpus {data.paths['corpus']}: {first}{n_lines:,} lines, {words:,} words")
    for query in data.queries:
        roles = ", ".join(f"{role} {len(word_set.items)}" for role, word_set in query.sets.items())
        lines.append(f"words {data.paths['words']}: query {query.name!r}, {roles}")
    if data.vectors is not None:
        from biasbridge.files.vectors import reading_notes

        size = f"{len(data.vectors)} words, {data.vectors.vector_size} dimensions"
        lines += [f"vectors {data.paths['vectors']}: {size}", *reading_notes(data.vectors)]
    return [*lines, f"language: {data.language}"]


def _show(checked: _Checked, console: Console) -> int:
    """Return 1 if something is missing."""
    for line in checked.lines:
        say(console, line)
    return int(not checked.is_usable)


main = Command(check, _show, spelling=DATA_SPELLING)

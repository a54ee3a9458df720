"""Published collections, recognised by their field names, and the command for each."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

from biasbridge.post_columns import GROUP_NAMES, LABEL_NAMES
from files.language import UNDETERMINED, guess_language
from files.tables import JSON_LINES, read_table, table_suffix
from files.text import open_binary

HEAD = 1 << 16  # bytes of a file searched for field names
PREDICTION = "prediction"  # default column of biasbridge gaps, and of what biasbridge predict adds
MAX_GROUPS = 25  # values of a field that may be groups


class Collection(NamedTuple):
    """A collection with fields that no other table has.

    ``use``: how it is used, or why it is not. ``kind``: ``items`` (for ``biasbridge audit``),
    ``posts``, ``answers`` (for ``biasbridge bbq``), or empty if no command reads it.
    """

    name: str
    fields: set[str]
    use: str
    kind: str = ""


MODELS = "items for language models"
COLLECTIONS = (
    Collection(
        "HateXplain (Mathew et al., 2021)",
        {"annotators", "post_tokens"},
        "not read yet: write a table with text, label and group, one row per post",
    ),
    Collection(
        "BBQ (Parrish et al., 2022)",
        {"question_polarity", "context_condition"},
        "questions; a column of a model's answers to them is scored",
        "answers",
    ),
    Collection(
        "the Gab Hate Corpus (Kennedy et al., 2022)",
        {"hd", "cv", "vo"},
        "posts; label hd: an assault on human dignity",
        "posts",
    ),
    Collection("BEC-Pro (Bartl et al., 2020)", {"Sent_TM", "Prof_Gender"}, MODELS, "items"),
    Collection(
        "HONEST (Nozza et al., 2021)",
        {"template_masked", "identity"},
        "items for masked language models (disco); the lexicon of its own score is not read",
        "items",
    ),
    Collection("CrowS-Pairs (Nangia et al., 2020)", {"sent_more", "sent_less"}, MODELS, "items"),
)


def recognise(path: Path) -> Collection | None:
    """Return the collection that a file belongs to; None for other files and for folders."""
    names = _field_names(path) if path.is_file() else set()
    return next((collection for collection in COLLECTIONS if collection.fields <= names), None)


def is_result_file(path: Path) -> bool:
    """Return whether ``describe_answers`` describes a file or folder."""
    from extrinsic.answers.reading import JSON_OBJECTS, detect_format

    return detect_format(path) not in ("", JSON_OBJECTS)


def describe_predictions(path: Path) -> str:
    """Return the command for the gaps of a table of predictions; empty for other files."""
    names = _field_names(path) if path.is_file() else set()
    if PREDICTION not in names:
        return ""
    roles = {"gold": ("label", LABEL_NAMES), "group": ("group", GROUP_NAMES)}
    options = ["biasbridge", "gaps", str(path)]
    for role, (default, known) in roles.items():
        column = next((name for name in known if name in names), f"{role.upper()}_COLUMN")
        options += [] if column == default else [f"--{role}", column]
    return f"{path}: predictions; to measure gaps: {shlex.join(options)}"


def describe_answers(path: Path) -> list[str]:
    """Return what a result file is, its fields that can be groups, and the command for gaps."""
    from extrinsic.answers.items import OWN
    from extrinsic.answers.reading import FORMATS, read_answers

    items = read_answers(path)
    facts = {name: items.attrs[name] for name in ("model", "task")}
    listed = "".join(f", {name} {value}" for name, value in facts.items() if value)
    title = FORMATS[items.attrs["format"]].title
    lines = [f"{path}: {title}{listed}; {len(items):,} items"]
    lines += [f"warning: {note}" for note in items.attrs["notes"]]
    columns = items.drop(columns=[*OWN], errors="ignore").select_dtypes(exclude="float")
    counts = {str(name): columns[name].dropna().map(str).nunique() for name in columns}
    groups = [
        name for name, count in counts.items() if 1 < count <= min(MAX_GROUPS, len(items) / 2)
    ]
    listed = ", ".join(f"{name} ({counts[name]})" for name in groups)
    lines.append(f"fields with few values, for --group: {listed or 'none'}")
    quoted = shlex.quote(str(path))
    if {"question_polarity", "context_condition"} <= {*items} or "bbq" in facts["task"].lower():
        lines.append(f"to score the answers to BBQ: biasbridge bbq {quoted}")
    options = "" if "label" in items else " --gold expected --pred correct --measures accuracy"
    if "label" in items and not {*items["label"].dropna()} <= {0, 1}:
        options = f" --positive {shlex.quote(str(items['label'].mode()[0]))}"
    if groups and ("label" in items or items["correct"].notna().any()):
        what = "gaps" if "label" in items else "gaps of accuracy"
        command = f"biasbridge gaps {quoted} --group {shlex.quote(groups[0])}{options}"
        lines.append(f"to measure {what}: {command}")
    return lines


def audit_command(path: Path, language: str | None) -> str:
    """Return the command that audits a model with these items, in the given or guessed language."""
    language = language or guess_language(re.findall(r"\w+", _head(path).lower()))
    option = "" if language in (UNDETERMINED, "en") else f" --language {language}"
    return f"biasbridge audit MODEL --items {shlex.quote(str(path))}{option}"


def _field_names(path: Path) -> set[str]:
    suffix = table_suffix(path)
    if suffix == ".parquet":
        return {*map(str, read_table(path))}
    if suffix in (".json", JSON_LINES):
        return {*re.findall(r'"(\w+)"\s*:', _head(path))}
    return {*re.split(r'[\t,;"]+', _head(path).partition("\n")[0].strip())}


def _head(path: Path) -> str:
    with open_binary(path) as content:
        return content.read(HEAD).decode("utf-8", "ignore")

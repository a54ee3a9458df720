"""Published collections, recognised by their field names, and the command for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from biasbridge.command_line import command_text
from biasbridge.commands.bbq import bbq
from biasbridge.commands.gaps import gaps
from biasbridge.files import InputError
from biasbridge.files.language import UNDETERMINED, find_joined, guess_language, name_key
from biasbridge.files.tables import JSON_LINES, SEP_LINE, read_table, table_suffix
from biasbridge.files.text import open_binary
from biasbridge.inputs import as_dataframe

# Columns of posts by their usual names
TEXT_NAMES = ("text", "texto", "tweet", "post", "comment", "comment_text", "sentence")
LABEL_NAMES = (
    *("label", "class", "hateful", "hate", "odio", "hs", "toxic", "etiqueta", "hd"),
    *("label_gold", "gold_label", "gold", "y_true", "target"),
)
GROUP_NAMES = (
    *("group", "grupo", "gender", "identity", "target_group", "group_gold", "gold_group"),
    "target",
)
_HEAD = 1 << 16  # bytes of a file searched for field names
# Columns of predictions; the first is that of biasbridge gaps, and of what biasbridge predict adds
_PREDICTIONS = ("prediction", "predicted", "pred", "y_pred", "yhat", "predicted_label")
_DEFAULTS = {"gold": "label", "pred": _PREDICTIONS[0], "group": "group"}
BINARY = {"0", "1", "true", "false"}
_MAX_GROUPS = 25  # values of a field that may be groups


class Collection(NamedTuple):
    """A collection with fields that no other table has.

    ``use``: how it is used, or why it is not. ``kind``: ``items`` (for ``biasbridge audit``),
    ``posts``, ``answers`` (for ``biasbridge bbq``), or empty if no command reads it.
    """

    name: str
    fields: set[str]
    use: str
    kind: str = ""


_BEGIN = re.compile(r"^#\s*begin document", re.MULTILINE)
_MODELS = "items for language models"
_OWN_SLOTS = {"text", "group", "term"}  # posts have these and a label
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
    Collection("BEC-Pro (Bartl et al., 2020)", {"Sent_TM", "Prof_Gender"}, _MODELS, "items"),
    Collection(
        "HONEST (Nozza et al., 2021)",
        {"template_masked", "identity"},
        "items for masked language models (disco); the lexicon of its own score is not read",
        "items",
    ),
    Collection("CrowS-Pairs (Nangia et al., 2020)", {"sent_more", "sent_less"}, _MODELS, "items"),
    Collection("a table of pairs", {"stereo", "anti"}, _MODELS, "items"),
    Collection("a table of slots", _OWN_SLOTS, _MODELS, "items"),
)


def recognise(path: Path) -> Collection | None:
    """Return the collection that a file belongs to; None for other files and for folders."""
    names = _field_names(path) if path.is_file() else set()
    is_of_posts = not names.isdisjoint({*LABEL_NAMES})
    collections = (collection for collection in COLLECTIONS if collection.fields <= names)
    return next((x for x in collections if not (is_of_posts and x.fields <= _OWN_SLOTS)), None)


def is_result_file(path: Path) -> bool:
    """Return whether ``describe_answers`` describes a file or folder."""
    from biasbridge.extrinsic.logs import JSON_OBJECTS, detect_format

    return detect_format(path) not in ("", JSON_OBJECTS)


def describe_predictions(path: Path) -> str:
    """Return the command for the gaps of a table of predictions; empty for other files.

    The command has run. Raises ``InputError`` as it does, and where no column is recognised.
    """
    names = _field_names(path) if path.is_file() else set()
    pred = next((name for name in _PREDICTIONS if name in names), "")
    if not pred:
        return ""
    table = as_dataframe(path)
    columns = [str(name) for name in table if str(name) != pred]
    gold = next((name for name in LABEL_NAMES if name in columns), "")
    few = [name for name in columns if 1 < table[name].map(str).nunique() <= _MAX_GROUPS]
    labels = {*map(name_key, table[pred].dropna())}
    keys = {name: {*map(name_key, table[name].dropna())} for name in few}
    alike = (name for name in few if keys[name] <= labels or labels <= keys[name])
    gold = gold or next(alike, "")
    others = [name for name in few if name not in (gold, *GROUP_NAMES, *TEXT_NAMES)]
    group = next((name for name in (*GROUP_NAMES, *others) if name in columns and name != gold), "")
    if not gold or not group:
        problem = f"{path}: no column is recognised as the {'group' if gold else 'label'}"
        raise InputError(f"{problem}; name it by --gold and --group to biasbridge gaps")
    options: dict[str, Any] = {"gold": gold, "pred": pred, "group": group}
    options = {role: name for role, name in options.items() if name != _DEFAULTS[role]}
    if not {*map(str.lower, map(name_key, table[gold].dropna()))} <= BINARY:
        options["multiclass"] = True
    if joined := find_joined({*map(str, table[group].dropna())}):
        options["group_sep"] = joined[2].replace("\n", "\\n")
    gaps(table, **options)
    return f"{path}: predictions; to measure gaps: {command_text('gaps', path, **options)}"


def describe_bbq(path: Path) -> str:
    """Return the command for the scores of BBQ; of questions alone, what they lack."""
    from biasbridge.extrinsic.bbq_answers import ANSWERS, FIELDS, ID, PROMPTS, TEMPLATE

    known = {*FIELDS, *ANSWERS, *PROMPTS[0], ID, TEMPLATE}
    names = [str(name) for name in read_table(path) if name not in known and name != "answer"]
    for name in ["", *names]:
        with suppress(InputError):
            rows = bbq(path, answer=name or None)
            if rows["n"].sum() > rows["n_unmatched"].sum():
                return f"to use it: {command_text('bbq', path, answer=name)}"
    return "to score a model, write its answers into a column answer"


def describe_answers(path: Path) -> list[str]:
    """Return what a result file is, its fields that can be groups, and the command for gaps."""
    from biasbridge.extrinsic.log_items import OWN_COLUMNS
    from biasbridge.extrinsic.logs import FORMATS, read_answers

    items = read_answers(path)
    facts = {name: items.attrs[name] for name in ("model", "task")}
    listed = "".join(f", {name} {value}" for name, value in facts.items() if value)
    title = FORMATS[items.attrs["format"]].title
    lines = [f"{path}: {title}{listed}; {len(items):,} items"]
    lines += [f"warning: {note}" for note in items.attrs["notes"]]
    columns = items.drop(columns=[*OWN_COLUMNS], errors="ignore").select_dtypes(exclude="float")
    counts = {str(name): columns[name].dropna().map(str).nunique() for name in columns}
    groups = [
        name for name, count in counts.items() if 1 < count <= min(_MAX_GROUPS, len(items) / 2)
    ]
    listed = ", ".join(f"{name} ({counts[name]})" for name in groups)
    lines.append(f"fields with few values, for --group: {listed or 'none'}")
    if {"question_polarity", "context_condition"} <= {*items} or "bbq" in facts["task"].lower():
        lines.append(f"to score the answers to BBQ: {command_text('bbq', path)}")
    options: dict[str, Any] = {}
    has_classes = "label" in items and items["label"].nunique() > 1
    if not has_classes:
        options = {"gold": "expected", "pred": "correct", "measures": "accuracy"}
    elif not {*items["label"].dropna()} <= {0, 1}:
        options = {"positive": str(items["label"].mode()[0])}
    if cluster := items.attrs.get("cluster"):
        options["cluster"] = cluster
    groups.sort(key=lambda name: (name == cluster, name not in GROUP_NAMES, counts[name]))
    for group in groups if has_classes or items["correct"].notna().any() else ():
        with suppress(InputError):
            gaps(path, group=group, **options)
            what = "gaps" if has_classes else "gaps of accuracy"
            command = command_text("gaps", path, group=group, **options)
            return [*lines, f"to measure {what}: {command}"]
    return lines


def are_documents(path: Path) -> bool:
    """Return whether a file holds documents with clusters of coreference."""
    if not path.is_file():
        return False
    return {"sentences", "clusters"} <= _field_names(path) or bool(_BEGIN.search(_head(path)))


def describe_documents(paths: Sequence[Path]) -> str:
    """Return the command that scores the second file of documents against the first."""
    if len(paths) != 2:
        return f"{paths[0]}: documents; to score clusters, give two files: true ones first"
    return f"to score {paths[1]}: {command_text('coreference', *paths)}"


def audit_command(model: Path | str, *items: Path, language: str | None = None) -> str:
    """Return the command that audits a model, with items in the given or guessed language."""
    options: dict[str, Any] = {}
    if items:
        language = language or guess_language(re.findall(r"\w+", _head(items[0]).lower()))
        known = {} if language in (UNDETERMINED, "en") else {"language": language}
        options = {"items": items, **known}
    return command_text("audit", model, **options)


def _field_names(path: Path) -> set[str]:
    suffix = table_suffix(path)
    if suffix == ".parquet":
        return {*map(str, read_table(path))}
    if suffix in (".json", JSON_LINES):
        return {*re.findall(r'"(\w+)"\s*:', _head(path))}
    lines = [line for line in _head(path).splitlines()[:2] if not SEP_LINE.fullmatch(line.strip())]
    return {*re.split(r'[\t,;"]+', "".join(lines[:1]).strip())}


def _head(path: Path) -> str:
    with open_binary(path) as content:
        return content.read(_HEAD).decode("utf-8", "ignore")

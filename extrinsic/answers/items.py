"""Items of an evaluation log, and the table that all logs become."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import nan
from typing import NamedTuple, TypeVar

import pandas as pd
from pydantic import BaseModel, ValidationError

from files import InputError

MAX_FIELDS = 1_000
MAX_CLASSES = 20
BINARY = {"0": 0, "no": 0, "false": 0, "1": 1, "yes": 1, "true": 1}
OWN = ("id", "answer", "target", "correct", "choices", "loglikelihoods", "label", "prediction")

M = TypeVar("M", bound=BaseModel)


class Item(NamedTuple):
    """An item of a log: texts of the answer and the target (None: there is none), and its fields.

    ``correct``: 1, 0, or NaN if the log does not say. ``choices``: texts of the options.
    """

    id: str
    answer: str | None
    target: str | None
    correct: float = nan
    choices: Sequence[str] | None = None
    loglikelihoods: Sequence[float] | None = None
    fields: Mapping[str, object] = {}
    metrics: Mapping[str, object] = {}


class Source(NamedTuple):
    """What a log says of itself. ``prefix``: of fields with the name of a column of ours."""

    path: object
    format: str
    prefix: str = ""
    model: str = ""
    task: str = ""
    notes: Sequence[str] = ()


def as_frame(items: Iterable[Item], source: Source) -> pd.DataFrame:
    """Return a row per item: ``read_answers`` describes the columns."""
    rows: dict[str, dict[str, object]] = {}
    names: set[str] = set()
    for item in items:
        if item.id in rows:
            problem = f"{source.path}: item {item.id!r} occurs twice"
            raise InputError(f"{problem}; give a file of one run, or write it again")
        row = rows[item.id] = _as_row(item, source.prefix)
        names |= row.keys()
        if len(names) > MAX_FIELDS:
            problem = f"{source.path}: more than {MAX_FIELDS:,} fields up to item {item.id!r}"
            raise InputError(f"{problem}; leave out fields that are not used")
    frame = _with_facts(pd.DataFrame([*rows.values()]), source)
    optional = ("choices", "loglikelihoods", "label", "prediction")
    if _has_classes(frame):
        frame["label"], frame["prediction"] = _class_columns(frame)
    return frame.drop(columns=[name for name in optional if frame[name].isna().all()])


def plain_frame(rows: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Return a table with its own columns, after those of ours that it lacks."""
    ids = [str(number) for number in range(len(rows))]
    ours = {"id": ids, "answer": nan, "target": nan, "correct": nan}
    missing = {name: values for name, values in ours.items() if name not in rows}
    return _with_facts(pd.DataFrame(missing, index=rows.index).join(rows), source)


def _with_facts(frame: pd.DataFrame, source: Source) -> pd.DataFrame:
    if frame.empty:
        raise InputError(f"{source.path} holds no items; give the log of a run with samples")
    frame.attrs |= {"format": source.format, "model": source.model, "task": source.task}
    frame.attrs["notes"] = [*source.notes]
    return frame


def _as_row(item: Item, prefix: str) -> dict[str, object]:
    row = item._asdict() | {"label": None, "prediction": None}
    fields, metrics = row.pop("fields"), row.pop("metrics")
    if pd.isna(item.correct) and item.choices and item.answer is not None:
        row["correct"] = float(item.answer == item.target)
    row |= {f"{prefix}.{name}" if name in OWN else name: fields[name] for name in fields}
    for name, value in metrics.items():
        if isinstance(value, int | float):
            row[f"metric.{name}" if name in row else name] = float(value)
    return row


def _has_classes(frame: pd.DataFrame) -> bool:
    """Return whether the targets are a few classes, of options the same for every item."""
    options = {tuple(sorted(map(_plain, choices))) for choices in frame["choices"].dropna()}
    return 0 < frame["target"].nunique() <= MAX_CLASSES and len(options) <= 1


def _class_columns(frame: pd.DataFrame) -> Iterable[pd.Series]:
    """Return labels and predictions as 0 and 1 where all classes are no or yes, 0 or 1, false or
    true, else as texts; NaN for an answer that is no class.
    """
    texts = [text for choices in frame["choices"].dropna()[:1] for text in choices]
    classes: Mapping[str, object] = {_plain(text): text for text in frame["target"].dropna()}
    classes = {_plain(text): text for text in texts} | {**classes}
    classes = BINARY if classes.keys() <= BINARY.keys() else classes
    columns = (frame[name].map(_plain, na_action="ignore") for name in ("target", "answer"))
    return [column.map(classes) for column in columns]


def _plain(text: str) -> str:
    return text.strip().rstrip(".").lower()


def parse_object(content: bytes, model: type[M], where: object, kind: str) -> M:
    """Read a JSON object. Raise ``InputError`` with its place for another or damaged one."""
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        reason = ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
        remedy = "copy it again, or give a file of a finished run"
        raise InputError(f"{where} is no {kind} ({reason}); {remedy}") from None


def option_text(choices: Sequence[str] | None, text: str) -> str:
    """Return the options that letters name (``A``, or ``A, C``); another text as it is."""
    letters = text.replace(",", " ").split()
    if not choices or not all(len(letter) == 1 and letter.isascii() for letter in letters):
        return text
    places = [ord(letter.upper()) - ord("A") for letter in letters]
    is_option = all(0 <= place < len(choices) for place in places)
    return ", ".join(choices[place] for place in places) if is_option else text

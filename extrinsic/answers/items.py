"""Items of an evaluation log, and the table that all logs become."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from biasbridge.extrinsic.answers.contents import Json, refuse_damage
from biasbridge.files import InputError

MAX_FIELDS = 1_000
MAX_CLASSES = 20
LETTERS = "abcdefghij"  # of options, whose places are no classes
BINARY = {"0": 0, "no": 0, "false": 0, "1": 1, "yes": 1, "true": 1}
# ``expected`` is 1 in every row: the label of which ``correct`` is the prediction
OWN = (
    *("id", "answer", "target", "correct", "choices", "loglikelihoods", "label", "prediction"),
    "expected",
)


class Item(NamedTuple):
    """An item: texts of its answer, right answers and options, its fields, and numbers measured.

    ``correct``: 1, 0, or None where the log does not say.
    """

    id: str
    answer: str | None
    targets: Sequence[str]
    correct: float | None = None
    choices: Sequence[str] = ()
    loglikelihoods: Sequence[float] = ()
    fields: Mapping[str, object] = {}
    metrics: Mapping[str, object] = {}


class Source(NamedTuple):
    """What a log says of itself. ``prefix``: of fields with the name of a column of ours."""

    path: Path
    format: str
    prefix: str = ""
    model: str = ""
    task: str = ""
    notes: Sequence[str] = ()


def as_frame(
    records: Iterable[tuple[str, Any]], as_item: Callable[[Any], Item], source: Source
) -> pd.DataFrame:
    """Return a row per record, each with its place in the log: see ``read_answers``."""
    rows: dict[str, Json] = {}
    names: set[str] = set()
    for place, record in records:
        with refuse_damage(place):
            item = as_item(record)
            row = _as_row(item, source.prefix)
        names |= row.keys()
        if item.id in rows:
            raise InputError(f"{place}: item {item.id!r} occurs twice; give the log of one run")
        if len(names) > MAX_FIELDS:
            raise InputError(f"{place}: more than {MAX_FIELDS:,} fields; leave some out")
        rows[item.id] = row
    frame = _with_facts([*rows.values()], source)
    options = {tuple(sorted(map(_plain, choices))) for choices in frame["choices"].dropna()}
    are_letters = any({*names} == {*LETTERS[: len(names)]} for names in options)
    if 0 < frame["target"].nunique() <= MAX_CLASSES and len(options) <= 1 and not are_letters:
        frame["label"], frame["prediction"] = _class_columns(frame)
    return frame.drop(columns=[name for name in OWN[4:] if frame[name].isna().all()])


def plain_frame(rows: Sequence[Json], source: Source) -> pd.DataFrame:
    """Return rows with their own columns, after those of ours that they lack."""
    ours = {"answer": nan, "target": nan, "correct": nan}
    return _with_facts([{"id": str(n)} | ours | row for n, row in enumerate(rows)], source)


def _with_facts(rows: Sequence[Json], source: Source) -> pd.DataFrame:
    if not rows:
        raise InputError(f"{source.path} holds no items; give the log of a run with samples")
    frame = pd.DataFrame(rows)
    frame.attrs |= {name: getattr(source, name) for name in ("format", "model", "task")}
    frame.attrs["notes"] = [*source.notes]
    return frame


def _as_row(item: Item, prefix: str) -> Json:
    target = item.answer if item.answer in item.targets else next(iter(item.targets), None)
    correct, choices = item.correct, [*item.choices] or None
    if correct is None:
        correct = float(item.answer == target) if choices and item.answer is not None else nan
    values = (item.id, item.answer, target, correct, choices, [*item.loglikelihoods] or None)
    row: dict[str, Any] = dict(zip(OWN, (*values, None, None, 1), strict=True))
    row |= {f"{prefix}.{name}" if name in OWN else name: item.fields[name] for name in item.fields}
    for name, value in item.metrics.items():
        if isinstance(value, int | float):
            row[f"metric.{name}" if name in row else name] = float(value)
    return row


def _class_columns(frame: pd.DataFrame) -> Iterable[pd.Series]:
    """Return labels and predictions as 0 and 1 where all classes are no or yes, 0 or 1, false or
    true, else as texts; NaN for an answer that is no class.
    """
    texts = [text for choices in frame["choices"].dropna()[:1] for text in choices]
    texts += [*frame["target"].dropna()]
    classes: Mapping[str, object] = {_plain(text): text for text in texts}
    classes = BINARY if classes.keys() <= BINARY.keys() else classes
    columns = (frame[name].map(_plain, na_action="ignore") for name in ("target", "answer"))
    return [column.map(classes) for column in columns]


def _plain(text: str) -> str:
    return text.strip().rstrip(".").lower()


def option_text(choices: Sequence[str], text: str) -> str:
    """Return the options that letters name (``A``, or ``A, C``); another text as it is."""
    letters = text.replace(",", " ").split()
    places = [ord(letter.upper()) - ord("A") if len(letter) == 1 else -1 for letter in letters]
    is_option = all(place in range(len(choices)) for place in places)
    return ", ".join(choices[place] for place in places) if is_option else text

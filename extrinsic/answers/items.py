"""Items of an evaluation log, and the table that all logs become."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from files import InputError

MAX_FIELDS = 1_000
MAX_CLASSES = 20
BINARY = {"0": 0, "no": 0, "false": 0, "1": 1, "yes": 1, "true": 1}
OWN = ("id", "answer", "target", "correct", "choices", "loglikelihoods", "label", "prediction")


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


@contextmanager
def refuse_malformed(place: object, form: str) -> Iterator[None]:
    """Raise ``InputError`` with the place for values that are missing or of another type."""
    try:
        yield
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        reason = f"no {error}" if isinstance(error, KeyError) else error
        raise InputError(f"{place} is not as {form} writes it ({reason}); copy it again") from error


def as_frame(
    records: Iterable[tuple[str, Any]], as_item: Callable[[Any], Item], source: Source
) -> pd.DataFrame:
    """Return a row per record, each with its place in the log: see ``read_answers``.

    Raises ``InputError`` with the place of a record that ``as_item`` cannot read.
    """
    rows: dict[str, dict[str, object]] = {}
    names: set[str] = set()
    for place, record in records:
        with refuse_malformed(place, source.format):
            item = as_item(record)
            row = _as_row(item, source.prefix)
        names |= row.keys()
        if item.id in rows:
            raise InputError(f"{place}: item {item.id!r} occurs twice; give the log of one run")
        if len(names) > MAX_FIELDS:
            raise InputError(f"{place}: more than {MAX_FIELDS:,} fields; leave some out")
        rows[item.id] = row
    frame = _with_facts(pd.DataFrame([*rows.values()]), source)
    if _has_classes(frame):
        frame["label"], frame["prediction"] = _class_columns(frame)
    return frame.drop(columns=[name for name in OWN[4:] if frame[name].isna().all()])


def plain_frame(rows: Sequence[dict[str, object]], source: Source) -> pd.DataFrame:
    """Return rows with their own columns, after those of ours that they lack."""
    frame = pd.DataFrame([*rows])
    ours = {"id": frame.index.map(str), "answer": nan, "target": nan, "correct": nan}
    missing = {name: values for name, values in ours.items() if name not in frame}
    return _with_facts(pd.DataFrame(missing, index=frame.index).join(frame), source)


def _with_facts(frame: pd.DataFrame, source: Source) -> pd.DataFrame:
    if frame.empty:
        raise InputError(f"{source.path} holds no items; give the log of a run with samples")
    frame.attrs |= {name: getattr(source, name) for name in ("format", "model", "task")}
    frame.attrs["notes"] = [*source.notes]
    return frame


def _as_row(item: Item, prefix: str) -> dict[str, object]:
    target = item.answer if item.answer in item.targets else next(iter(item.targets), None)
    correct, choices = item.correct, [*item.choices] or None
    if correct is None and choices and item.answer is not None:
        correct = float(item.answer == target)
    correct = nan if correct is None else correct
    values = (item.id, item.answer, target, correct, choices, [*item.loglikelihoods] or None)
    row = dict(zip(OWN, (*values, None, None), strict=True))
    row |= {f"{prefix}.{name}" if name in OWN else name: item.fields[name] for name in item.fields}
    for name, value in item.metrics.items():
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
    classes: Mapping[str, object] = {
        _plain(text): text for text in [*texts, *frame["target"].dropna()]
    }
    classes = BINARY if classes.keys() <= BINARY.keys() else classes
    columns = (frame[name].map(_plain, na_action="ignore") for name in ("target", "answer"))
    return [column.map(classes) for column in columns]


def _plain(text: str) -> str:
    return text.strip().rstrip(".").lower()


def option_text(choices: Sequence[str], text: str) -> str:
    """Return the options that letters name (``A``, or ``A, C``); another text as it is."""
    letters = text.replace(",", " ").split()
    places = [ord(letter.upper()) - ord("A") for letter in letters if len(letter) == 1]
    is_option = len(places) == len(letters) and all(
        place in range(len(choices)) for place in places
    )
    return ", ".join(choices[place] for place in places) if is_option else text

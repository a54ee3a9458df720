"""Items of an evaluation log and the table that all logs become; JSON, members of ZIP archives and
tables of Arrow in log files.
"""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import nan
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from pydantic_core import from_json

from biasbridge.files import InputError
from biasbridge.files.text import open_binary, open_plain

if TYPE_CHECKING:
    import pyarrow as pa

Json = dict[str, Any]
_MAX_FIELDS = 1_000
_MAX_CLASSES = 20
_LETTERS = "abcdefghij"  # of options, whose places are no classes
_ZSTANDARD = 93  # zipfile reads it from Python 3.14 on
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # mark, lengths of name and extra field
_BINARY_CLASSES = {"0": 0, "no": 0, "false": 0, "1": 1, "yes": 1, "true": 1}
# ``expected`` is 1 in every row: the label of which ``correct`` is the prediction
OWN_COLUMNS = (
    *("id", "answer", "target", "correct", "choices", "loglikelihoods", "label", "prediction"),
    "expected",
)


class LogItem(NamedTuple):
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


class LogInfo(NamedTuple):
    """What a log says of itself. ``prefix``: of fields with the name of a column of ours."""

    path: Path
    format: str
    prefix: str = ""
    model: str = ""
    task: str = ""
    notes: Sequence[str] = ()


def as_frame(
    records: Iterable[tuple[str, Any]], as_item: Callable[[Any], LogItem], source: LogInfo
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
        if len(names) > _MAX_FIELDS:
            raise InputError(f"{place}: more than {_MAX_FIELDS:,} fields; leave some out")
        rows[item.id] = row
    frame = _with_facts([*rows.values()], source)
    options = {tuple(sorted(map(_plain, choices))) for choices in frame["choices"].dropna()}
    are_letters = any({*names} == {*_LETTERS[: len(names)]} for names in options)
    if 0 < frame["target"].nunique() <= _MAX_CLASSES and len(options) <= 1 and not are_letters:
        frame["label"], frame["prediction"] = _class_columns(frame)
        others = frame["answer"][frame["answer"].notna() & frame["prediction"].isna()]
        if len(others):
            targets = ", ".join(map(repr, sorted({*frame["target"].dropna()})))
            count = f"{len(others):,} of {len(frame):,} answers are none of {targets}"
            note = f"{count}, such as {others.iloc[0][:60]!r}; they are left out"
            frame.attrs["notes"] = [*frame.attrs["notes"], note]
    return frame.drop(columns=[name for name in OWN_COLUMNS[4:] if frame[name].isna().all()])


def plain_frame(rows: Sequence[Json], source: LogInfo) -> pd.DataFrame:
    """Return rows with their own columns, after those of ours that they lack."""
    ours = {"answer": nan, "target": nan, "correct": nan}
    return _with_facts([{"id": str(n)} | ours | row for n, row in enumerate(rows)], source)


def option_text(choices: Sequence[str], text: str) -> str:
    """Return the options that letters name (``A``, or ``A, C``); another text as it is."""
    letters = text.replace(",", " ").split()
    places = [ord(letter.upper()) - ord("A") if len(letter) == 1 else -1 for letter in letters]
    is_option = all(place in range(len(choices)) for place in places)
    return ", ".join(choices[place] for place in places) if is_option else text


@contextmanager
def refuse_damage(place: object) -> Iterator[None]:
    """Raise ``InputError`` with the place for content that is damaged or of another form."""
    try:
        yield
    except (InputError, ModuleNotFoundError):
        raise
    except Exception as error:  # of libraries, and of values that are missing or of another type
        reason = "no " * isinstance(error, KeyError) + " ".join(str(error).split())
        problem = f"{place} is damaged, or not as its program writes it ({reason})"
        raise InputError(f"{problem}; copy it again") from error


def read_object(path: Path) -> Json:
    """Read the JSON object in a file."""
    with open_binary(path) as content:
        return parse_object(content.read(), path)


def parse_object(content: bytes, place: object) -> Json:
    """Read a JSON object. Raise ``InputError`` with its place for another or damaged one."""
    with refuse_damage(place):
        return {**from_json(content)}


def read_members(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield the members of a ZIP archive whose names match; of a repeated name the last."""
    with open_plain(path) as raw:
        with refuse_damage(path):
            archive = zipfile.ZipFile(raw)
        for name in dict.fromkeys(filter(re.compile(pattern).fullmatch, archive.namelist())):
            with refuse_damage(f"{path}: {name}"):
                info = archive.getinfo(name)
                content = _read_member(archive, info, raw)
                if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
                    raise ValueError("size or checksum differ from those in its directory")
            yield name, content


def read_arrow(path: Path, read: Callable[[IO[bytes]], pa.Table]) -> list[Json]:
    """Return the rows of a file that a function of Arrow reads."""
    with open_plain(path) as raw, refuse_damage(path):
        table = read(raw)
        table.validate(full=True)  # before cells are read at the offsets that it names
        rows: list[Json] = table.to_pylist()
        return rows


def named_beside(path: Path, name: str) -> Path:
    """Return the file beside ``path`` that it names, by its whole name or the last part of it.

    Raises ``InputError`` for a name that leaves the folder.
    """
    folder, parts = path.parent, PurePath(name)
    file = folder / name if (folder / name).is_file() else folder / parts.name
    if ".." in parts.parts or folder.resolve() not in file.resolve().parents:
        raise InputError(f"{path} names {name!r}, a file outside its folder; give that file")
    return file


def _with_facts(rows: Sequence[Json], source: LogInfo) -> pd.DataFrame:
    if not rows:
        raise InputError(f"{source.path} holds no items; give the log of a run with samples")
    frame = pd.DataFrame(rows)
    frame.attrs |= {name: getattr(source, name) for name in ("format", "model", "task")}
    frame.attrs["notes"] = [*source.notes]
    return frame


def _as_row(item: LogItem, prefix: str) -> Json:
    target = item.answer if item.answer in item.targets else next(iter(item.targets), None)
    correct, choices = item.correct, [*item.choices] or None
    if correct is None:
        correct = float(item.answer == target) if choices and item.answer is not None else nan
    values = (item.id, item.answer, target, correct, choices, [*item.loglikelihoods] or None)
    row: dict[str, Any] = dict(zip(OWN_COLUMNS, (*values, None, None, 1), strict=True))
    row |= {
        f"{prefix}.{name}" if name in OWN_COLUMNS else name: item.fields[name]
        for name in item.fields
    }
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
    classes = _BINARY_CLASSES if classes.keys() <= _BINARY_CLASSES.keys() else classes
    columns = (frame[name].map(_plain, na_action="ignore") for name in ("target", "answer"))
    return [column.map(classes) for column in columns]


def _plain(text: str) -> str:
    return text.strip().rstrip(".").lower()


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, raw: IO[bytes]) -> bytes:
    if info.compress_type != _ZSTANDARD:
        with archive.open(info) as member:
            return member.read(info.file_size + 1)
    raw.seek(info.header_offset)
    mark, name, extra = _LOCAL_HEADER.unpack(raw.read(_LOCAL_HEADER.size))
    if mark != b"PK\x03\x04" or info.flag_bits & 1:
        raise ValueError("encrypted, or not where its directory says")
    raw.seek(name + extra, 1)
    import pyarrow as pa

    packed = pa.BufferReader(raw.read(info.compress_size))
    content: bytes = pa.CompressedInputStream(packed, "zstd").read(info.file_size + 1)
    return content

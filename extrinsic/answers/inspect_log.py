"""Logs of Inspect, ``.json`` and ``.eval``."""

from __future__ import annotations

import re
from math import nan
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from extrinsic.answers.items import Item, Source, as_frame, option_text, parse_object
from extrinsic.answers.members import open_members
from files import InputError
from files.text import open_binary

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

LARGEST = 2 << 30
CORRECT = {"C": 1.0, "I": 0.0, "N": 0.0, "P": 0.5}  # as Inspect's accuracy counts them
SAMPLE = re.compile(r"samples/.+_epoch_\d+(?P<chunked>/sample)?\.json")
HEADER, START = "header.json", "_journal/start.json"


class Sample(BaseModel):
    """A sample, without its events."""

    id: int | str
    epoch: int = 1
    choices: list[str] | None = None
    target: str | list[str] = ""
    scores: dict[str, dict[str, Any]] | None = None
    metadata: dict[str, Any] = {}
    output: dict[str, Any] = {}
    attachments: dict[str, str] = {}
    error: Any = None


class Log(BaseModel):
    """A log; the header of an archive is one without samples."""

    status: str = "started"
    eval: dict[str, Any]
    samples: list[Sample] | None = None


def read_inspect(path: Path) -> pd.DataFrame:
    """Read a log; its notes say what of the run is missing."""
    if path.suffix == ".eval":
        log, samples = _read_archive(path)
    else:
        with open_binary(path, largest=LARGEST) as content:
            log = parse_object(content.read(), Log, path, "log of Inspect")
        samples = log.samples or []
    notes = [] if log.status == "success" else [f"the run is not finished: {log.status}"]
    expected = {*((log.eval.get("dataset") or {}).get("sample_ids") or [])}
    if missing := len(expected - {sample.id for sample in samples}):
        notes.append(f"{missing} of the {len(expected)} samples of the run are not in the log")
    if failed := sum(sample.error is not None for sample in samples):
        notes.append(f"{failed} of {len(samples)} samples ended in an error")
    is_repeated = any(sample.epoch > 1 for sample in samples)
    model, task = (str(log.eval.get(name, "")) for name in ("model", "task"))
    source = Source(path, "inspect", "metadata", model, task, notes)
    return as_frame((_as_item(sample, is_repeated) for sample in samples), source)


def _read_archive(path: Path) -> tuple[Log, list[Sample]]:
    with open_members(path) as members:
        name = HEADER if HEADER in members.names else START
        if name not in members.names:
            raise InputError(f"{path} has no {HEADER} and no {START}; give a log of Inspect")
        log = parse_object(members.read(name), Log, f"{path}: {name}", "header of Inspect")
        matches = [match for name in members.names if (match := SAMPLE.fullmatch(name))]
        if any(match["chunked"] for match in matches):
            remedy = "write it as one file with 'inspect log convert --to json'"
            raise InputError(f"{path} holds samples in chunks, which are not read; {remedy}")
        samples = [
            parse_object(members.read(name), Sample, f"{path}: {name}", "sample of Inspect")
            for name in (match[0] for match in matches)
        ]
    return log, samples


def _as_item(sample: Sample, is_repeated: bool) -> Item:
    def resolve(text: object) -> str:
        return sample.attachments.get(str(text).removeprefix("attachment://"), str(text))

    scores = {name: score.get("value") for name, score in (sample.scores or {}).items()}
    answer = next(iter((sample.scores or {}).values()), {}).get("answer")
    choices = sample.choices and [*map(resolve, sample.choices)]
    if answer is None and not choices:
        answer = _completion(sample.output)
    answer = option_text(choices, resolve(answer or "")) or None
    targets = [sample.target] if isinstance(sample.target, str) else sample.target
    targets = [option_text(choices, ", ".join(targets))] if choices else targets
    target = answer if answer in targets else next(iter(targets), "")
    fields, item_id = sample.metadata, str(sample.id)
    if is_repeated:
        fields = fields | {"sample": item_id, "epoch": sample.epoch}
        item_id += f" epoch {sample.epoch}"
    metrics: dict[str, object] = {}
    for name, value in scores.items():
        parts = value if isinstance(value, dict) else {"": value}
        metrics |= {f"{name}.{key}".strip("."): _number(part) for key, part in parts.items()}
    correct = _number(next(iter(scores.values()), None))
    correct = correct if correct in (0, 0.5, 1) else nan
    return Item(item_id, answer, target or None, correct, choices, None, fields, metrics)


def _number(value: object) -> float:
    """Return a score as a number; NaN for a text or an object."""
    if isinstance(value, str):
        return CORRECT.get(value, nan)
    return float(value) if isinstance(value, int | float) else nan


def _completion(output: dict[str, Any]) -> str:
    """Return the text of the first completion, of several parts the texts."""
    match output:
        case {"choices": [{"message": {"content": str(text)}}, *_]}:
            return text
        case {"choices": [{"message": {"content": [*parts]}}, *_]}:
            return "\n".join(str(part["text"]) for part in parts if "text" in part)
    return ""

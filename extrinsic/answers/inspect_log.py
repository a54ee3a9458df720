"""Logs of Inspect, ``.json`` and ``.eval``."""

from __future__ import annotations

from contextlib import suppress
from math import nan
from typing import TYPE_CHECKING

from biasbridge.extrinsic.answers.contents import Json, parse_object, read_members, read_object
from biasbridge.extrinsic.answers.items import Item, Source, as_frame, option_text
from biasbridge.files import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

# As Inspect's accuracy counts them: its own letters, and words in any case
CORRECT = {"C": 1.0, "I": 0.0, "N": 0.0, "P": 0.5}
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
BULKY = ("events", "messages", "store")
MEMBERS = r"samples/.+_epoch_\d+(/sample)?\.json|header\.json|_journal/start\.json"


def read_inspect(path: Path) -> pd.DataFrame:
    """Read a log; its notes say what of the run is missing."""
    log, samples = _read_archive(path) if path.suffix == ".eval" else _read_json(path)
    status, spec = log.get("status", "started"), log["eval"]
    notes = [] if status == "success" else [f"the run is not finished: {status}"]
    expected = {*map(str, (spec.get("dataset") or {}).get("sample_ids") or [])}
    if missing := len(expected - {str(sample.get("id")) for _, sample in samples}):
        notes.append(f"{missing} of the {len(expected)} samples of the run are not in the log")
    if failed := sum(bool(sample.get("error")) for _, sample in samples):
        notes.append(f"{failed} of {len(samples)} samples ended in an error")
    is_repeated = any(sample.get("epoch", 1) != 1 for _, sample in samples)
    if is_repeated:
        remedy = "give --cluster sample (cluster=), or each epoch counts as an item"
        notes.append(f"samples were repeated: {remedy}")
    model, task = (str(spec.get(name, "")) for name in ("model", "task"))
    source = Source(path, "inspect", "metadata", model, task, notes)
    frame = as_frame(samples, lambda sample: _as_item(sample, is_repeated), source)
    frame.attrs |= {"cluster": "sample"} if is_repeated else {}
    return frame


def _read_json(path: Path) -> tuple[Json, list[tuple[str, Json]]]:
    log = read_object(path)
    samples = enumerate(log.get("samples") or [], 1)
    return log, [(f"{path}: sample {number}", sample) for number, sample in samples]


def _read_archive(path: Path) -> tuple[Json, list[tuple[str, Json]]]:
    """Read the parts of a log; that of an unfinished run has no header."""
    log, samples = None, []
    for name, content in read_members(path, MEMBERS):
        record = parse_object(content, f"{path}: {name}")
        if name.endswith("/sample.json"):
            remedy = "write the log as one file with 'inspect log convert --to json'"
            raise InputError(f"{path}: {name} is a sample in chunks, which is not read; {remedy}")
        if name.startswith("samples/"):
            kept = {key: value for key, value in record.items() if key not in BULKY}
            samples.append((f"{path}: {name}", kept))
        elif log is None or name == "header.json":
            log = record
    if log is None:
        raise InputError(f"{path} has no header.json and no _journal/start.json; give a log")
    return log, samples


def _as_item(sample: Json, is_repeated: bool) -> Item:
    def resolve(text: object) -> str:
        name = str(text).removeprefix("attachment://")
        return str((sample.get("attachments") or {}).get(name, text))

    by_scorer: dict[str, Json] = sample.get("scores") or {}
    scores = {name: score["value"] for name, score in by_scorer.items()}
    answer = next((score.get("answer") for score in by_scorer.values()), None)
    choices = [resolve(choice) for choice in sample.get("choices") or []]
    if answer is None and not choices:
        answer = _completion(sample["output"])
    targets = sample["target"]
    targets = [targets] if isinstance(targets, str) else targets
    fields, item_id = {**(sample.get("metadata") or {})}, str(sample["id"])
    if isinstance(sample.get("input"), str):
        fields.setdefault("input", resolve(sample["input"]))
    if is_repeated:
        fields |= {"sample": item_id, "epoch": sample["epoch"]}
        item_id += f" epoch {sample['epoch']}"
    metrics: Json = {}
    for name, value in scores.items():
        parts = value if isinstance(value, dict) else {"": value}
        metrics |= {f"{name}.{key}".strip("."): _number(part) for key, part in parts.items()}
    correct = _number(next(iter(scores.values()), None))
    return Item(
        item_id,
        option_text(choices, resolve(answer or "")) or None,
        [option_text(choices, ", ".join(targets))] if choices else targets,
        correct if correct in (0, 0.5, 1) else None,
        choices,
        fields=fields,
        metrics=metrics,
    )


def _number(value: object) -> float:
    """Return a score as a number; NaN for a text or an object."""
    if isinstance(value, str):
        value = CORRECT.get(value, WORDS.get(value.strip().lower(), value))
    with suppress(TypeError, ValueError):
        return float(value)  # type: ignore[arg-type]
    return nan


def _completion(output: Json) -> str:
    """Return the text of the first completion, of several parts the texts."""
    choices = output.get("choices") or [{"message": {"content": ""}}]
    parts = choices[0]["message"]["content"]
    parts = [{"text": parts}] if isinstance(parts, str) else parts
    return "\n".join(str(part["text"]) for part in parts if "text" in part)

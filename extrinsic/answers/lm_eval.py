"""Sample files of lm-evaluation-harness 0.4: ``samples_<task>_<time>.jsonl``, and their folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, TypeAdapter

from extrinsic.answers.items import Item, Source, as_frame, parse_object
from files import InputError, nearest
from files.json_lines import read_json_lines
from files.text import open_binary

if TYPE_CHECKING:
    import pandas as pd

NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
LARGEST_RESULTS = 64 << 20
CORRECT = ("acc", "exact_match")  # metrics that are 0 or 1 for an item; the first one counts
PAIR = re.compile(r"[\[(]\s*'?([-+.\w]+)'?\s*,\s*'?(?:True|False)'?\s*[\])]")
INDEXES = re.compile(r"\[?\d+(, *\d+)*\]?")


class Sample(BaseModel, extra="allow"):
    """A line: an item, as one filter left it. Further keys are its metrics."""

    doc_id: int | str
    doc: dict[str, Any]
    target: Any
    arguments: dict[str, dict[str, Any]] | list[list[Any]]
    filtered_resps: list[Any]
    filter: str = "none"
    metrics: list[str] = []

    @property
    def loglikelihoods(self) -> list[float]:
        """Of the options; empty for generated text."""
        values = [_loglikelihood(response) for response in self.filtered_resps]
        if "acc_mutual_info" in self.metrics:  # the second half has no context
            values = values[: len(values) // 2]
        numbers = [value for value in values if value is not None]
        return numbers if len(numbers) == len(values) > 1 else []

    @property
    def options(self) -> list[str]:
        """What differs between the requests: their continuations, or else their contexts."""
        arguments = self.arguments.values() if isinstance(self.arguments, dict) else self.arguments
        pairs = [[*pair.values()] if isinstance(pair, dict) else pair for pair in arguments]
        pairs = pairs[: len(self.loglikelihoods)]
        contexts, continuations = (
            [str(text).strip() for text in side] for side in zip(*pairs, strict=True)
        )
        return continuations if len({*continuations}) > 1 else contexts


class Results(BaseModel):
    """What is read of ``results_<time>.json``."""

    model_name: str = ""


def sample_files(folder: Path) -> list[Path]:
    """Return the sample files in a folder and in those within it."""
    return sorted([*folder.glob("samples_*.jsonl"), *folder.glob("*/samples_*.jsonl")])


def read_lm_eval(path: Path, wanted: str) -> pd.DataFrame:
    """Read a sample file, or those of all tasks in a folder, as the filter ``wanted`` left them."""
    paths = sample_files(path) if path.is_dir() else [path]
    tasks = [match["task"] if (match := NAME.match(file.name)) else file.stem for file in paths]
    if len({*tasks}) < len(tasks):
        listed = ", ".join(str(file.relative_to(path)) for file in paths)
        raise InputError(f"{path} holds several runs of a task: {listed}; give one of the files")
    items: list[Item] = []
    for task, file in zip(tasks, paths, strict=True):
        task_items = map(_as_item, _read_samples(file, wanted))
        if len(tasks) > 1:
            task_items = (
                item._replace(id=f"{task} {item.id}", fields={**item.fields, "task": task})
                for item in task_items
            )
        items += task_items
    return as_frame(items, Source(path, "lm_eval", "doc", _model(paths[0]), ", ".join(tasks)))


def _read_samples(path: Path, wanted: str) -> list[Sample]:
    by_filter: dict[str, list[Sample]] = {}
    for sample in read_json_lines(path, TypeAdapter(Sample), "sample of lm-evaluation-harness"):
        by_filter.setdefault(sample.filter, []).append(sample)
    if wanted not in by_filter and (wanted or len(by_filter) > 1):
        problem = f"{path} has no filter {wanted!r}{nearest(wanted, by_filter)}"
        problem = problem if wanted else f"{path} holds the same items as several filters left them"
        raise InputError(f"{problem}; give one by --filter (filter=): {', '.join(by_filter)}")
    return by_filter.get(wanted) or [sample for samples in by_filter.values() for sample in samples]


def _as_item(sample: Sample) -> Item:
    metrics = sample.model_extra or {}
    flags = [metrics[name] for name in CORRECT if metrics.get(name) in (0, 1)]
    correct = float(flags[0]) if flags else nan
    loglikelihoods = sample.loglikelihoods
    metrics = {name: metrics[name] for name in sample.metrics if name in metrics}
    item = Item(
        str(sample.doc_id), None, str(sample.target), correct, None, None, sample.doc, metrics
    )
    if not loglikelihoods:
        return item._replace(answer=_first_text(sample.filtered_resps))
    choices, answer = sample.options, None
    if len(choices) != len(loglikelihoods):
        problem = f"doc_id {sample.doc_id}: {len(loglikelihoods)} log-likelihoods of"
        raise InputError(f"{problem} {len(choices)} requests; the file is damaged, copy it again")
    if not any(map(isnan, loglikelihoods)):
        answer = choices[loglikelihoods.index(max(loglikelihoods))]
    target = _target_option(item, choices, answer)
    return item._replace(
        answer=answer, target=target, choices=choices, loglikelihoods=loglikelihoods
    )


def _target_option(item: Item, choices: Sequence[str], answer: str | None) -> str | None:
    """Return the option that the target names by place or text; where several are right, the answer
    if it is one of them.
    """
    if item.correct == 1 and answer is not None:
        return answer
    target = (item.target or "").strip()
    places = map(int, re.findall(r"\d+", target) if INDEXES.fullmatch(target) else ())
    options = [choices[place] for place in places if place < len(choices)]
    options += [target] if target in choices else []
    wrong = answer if item.correct == 0 else None
    return next((option for option in options if option != wrong), target)


def _loglikelihood(response: object) -> float | None:
    """Return the first of ``[logprob, is_greedy]``, also as text; None for anything else."""
    match = PAIR.fullmatch(str(response).strip())
    try:
        return float(match[1]) if match else None
    except ValueError:
        return None


def _first_text(responses: object) -> str | None:
    while isinstance(responses, list):
        responses = responses[0] if responses else None
    return None if responses is None else str(responses)


def _model(path: Path) -> str:
    """Return the name of the model from the results beside the samples, else from the folder."""
    match = NAME.match(path.name)
    results = path.with_name(f"results_{match['time']}.json") if match else path
    name = ""
    if match and results.is_file():
        with open_binary(results, largest=LARGEST_RESULTS) as content:
            name = parse_object(content.read(), Results, results, "results file").model_name
    return name or path.resolve().parent.name

"""Sample files of lm-evaluation-harness 0.4: ``samples_<task>_<time>.jsonl``, and their folder."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from biasbridge.extrinsic.answers.contents import Json, read_object, refuse_damage
from biasbridge.extrinsic.answers.items import Item, Source, as_frame
from biasbridge.files import InputError, nearest
from biasbridge.files.json_lines import number_json_lines
from biasbridge.files.tables import JSON_OBJECT

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

NAME = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
CORRECT = ("acc", "exact_match")  # metrics that are 0 or 1 for an item; the first one counts
PAIR = re.compile(r"[\[(]\s*'?([-+.\w]+)'?\s*,\s*'?(?:True|False)'?\s*[\])]")
INDEXES = re.compile(r"\[?\d+(, *\d+)*\]?")


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
    names = tasks if len(tasks) > 1 else [""]
    items = (
        pair
        for task, file in zip(names, paths, strict=True)
        for pair in _read_items(file, task, wanted)
    )
    source = Source(path, "lm_eval", "doc", _model(paths[0]), ", ".join(tasks))
    return as_frame(items, lambda item: item, source)


def _read_items(path: Path, task: str, wanted: str) -> list[tuple[str, Item]]:
    by_filter: dict[str, list[tuple[str, Item]]] = {}
    for number, sample in number_json_lines(path, JSON_OBJECT, "JSON object"):
        place = f"{path}: line {number}"
        with refuse_damage(place):
            item = _as_item(sample, task)  # at once: requests take ten times its memory
        by_filter.setdefault(str(sample.get("filter", "none")), []).append((place, item))
    if wanted not in by_filter and (wanted or len(by_filter) > 1):
        problem = f"{path} has no filter {wanted!r}{nearest(wanted, by_filter)}"
        problem = problem if wanted else f"{path} holds the same items as several filters left them"
        commands = "--filter of biasbridge gaps and bbq (filter=)"
        raise InputError(f"{problem}; give one by {commands}: {', '.join(by_filter)}")
    return by_filter.get(wanted) or [pair for pairs in by_filter.values() for pair in pairs]


def _as_item(sample: Json, task: str) -> Item:
    name, doc = f"{task} {sample['doc_id']}".strip(), sample["doc"]
    metrics = {key: sample.get(key) for key in sample.get("metrics", CORRECT)}
    flags = [float(metrics[key] == 1) for key in CORRECT if metrics.get(key) in (0, 1)]
    correct = flags[0] if flags else None
    fields = doc | {"task": task} if task else doc
    target, options, values = str(sample["target"]), _options(sample), _loglikelihoods(sample)
    if not values:
        answer: str | None = _first_text(sample["filtered_resps"])
        return Item(name, answer, [target], correct, (), (), fields, metrics)
    options = options[: len(values)]
    answer = None if any(map(isnan, values)) else options[values.index(max(values))]
    targets = _targets(target, options, answer if correct == 0 else None)
    targets += [answer] if correct == 1 and answer else []  # of several right options
    return Item(name, answer, targets, correct, options, values, fields, metrics)


def _targets(target: str, options: Sequence[str], wrong: str | None) -> list[str]:
    """Return the options that a target names by place or by text, or else the target."""
    places = map(int, re.findall(r"\d+", target) if INDEXES.fullmatch(target) else ())
    by_place = [options[place] for place in places if place < len(options)]
    by_text = [target.strip()] if target.strip() in options else []
    readings = ([option for option in named if option != wrong] for named in (by_place, by_text))
    return next(filter(None, readings), [target])


def _options(sample: Json) -> list[str]:
    """Return what differs between requests: their continuations, or else their contexts."""
    requests = sample["arguments"]
    if isinstance(requests, dict):
        requests = [[*request.values()] for request in requests.values()]
    contexts, continuations = ([str(pair[side]).strip() for pair in requests] for side in (0, 1))
    return continuations if len({*continuations}) > 1 else contexts


def _loglikelihoods(sample: Json) -> list[float]:
    """Return those of the options, which stand as ``[logprob, is_greedy]``, also as text; none for
    generated text.
    """
    responses = sample["filtered_resps"]
    if "acc_mutual_info" in sample.get("metrics", ()):  # the second half has no context
        responses = responses[: len(responses) // 2]
    pairs = [PAIR.fullmatch(str(response).strip()) for response in responses]
    values = [float(pair[1]) for pair in pairs if pair]
    return values if len(values) == len(responses) > 1 else []


def _first_text(responses: object) -> str | None:
    while isinstance(responses, list):
        responses = responses[0] if responses else None
    return None if responses is None else str(responses)


def _model(path: Path) -> str:
    """Return the name of the model from the results beside the samples, else from the folder."""
    match = NAME.match(path.name)
    results = path.with_name(f"results_{match['time']}.json") if match else path
    if match and results.is_file():
        return str(read_object(results).get("model_name", ""))
    return path.resolve().parent.name

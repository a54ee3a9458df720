"""Answers of language models in the result files of evaluation harnesses, recognised by
``detect_format`` and read as one table by ``read_answers``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.extrinsic.log_items import (
    Json,
    LogInfo,
    LogItem,
    as_frame,
    named_beside,
    option_text,
    parse_object,
    plain_frame,
    read_arrow,
    read_members,
    read_object,
    refuse_damage,
)
from biasbridge.files import InputError, nearest
from biasbridge.files.tables import JSON_LINES, JSON_OBJECT, table_suffix
from biasbridge.files.text import number_json_lines, open_binary, read_json_lines

if TYPE_CHECKING:
    import pandas as pd


_HEAD = 1 << 20  # bytes searched for names of fields
JSON_OBJECTS = "json_lines"
_SAMPLE_FILE = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")
_LOGPROB_PAIR = re.compile(r"[\[(]\s*'?([-+.\w]+)'?\s*,\s*'?(?:True|False)'?\s*[\])]")
_INDEXES = re.compile(r"\[?\d+(, *\d+)*\]?")
_TEXTS = re.compile(r"""\[\s*(["']).*\1\s*\]""", re.DOTALL)
_LM_EVAL_METRICS = ("acc", "exact_match")  # 0 or 1 for an item; the first one counts
# As Inspect's accuracy counts them: its own letters, and words in any case
_INSPECT_LETTERS = {"C": 1.0, "I": 0.0, "N": 0.0, "P": 0.5}
_INSPECT_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_INSPECT_MEMBERS = r"samples/.+_epoch_\d+(/sample)?\.json|header\.json|_journal/start\.json"
_BULKY = ("events", "messages", "store")
_STATE, _SPLITS = "state.json", "dataset_dict.json"
_LOGS = "a log of lm-evaluation-harness or Inspect"
_UNREAD_FIELDS = {  # of other harnesses
    "HELM": {"adapter_spec", "request_states"},
    "Every Eval Ever": {"evaluation_id", "answer_attribution"},
}


def _sample_files(folder: Path) -> list[Path]:
    """Return the sample files in a folder and in those within it."""
    return sorted([*folder.glob("samples_*.jsonl"), *folder.glob("*/samples_*.jsonl")])


def _read_lm_eval(path: Path, filter_name: str) -> pd.DataFrame:
    """Read a sample file, or those of all tasks in a folder, as the filter left them."""
    paths = _sample_files(path) if path.is_dir() else [path]
    tasks = [
        match["task"] if (match := _SAMPLE_FILE.match(file.name)) else file.stem for file in paths
    ]
    if len({*tasks}) < len(tasks):
        listed = ", ".join(str(file.relative_to(path)) for file in paths)
        raise InputError(f"{path} holds several runs of a task: {listed}; give one of the files")
    names = tasks if len(tasks) > 1 else [""]
    items = (
        pair
        for task, file in zip(names, paths, strict=True)
        for pair in _read_items(file, task, filter_name)
    )
    source = LogInfo(path, "lm_eval", "doc", _lm_eval_model(paths[0]), ", ".join(tasks))
    return as_frame(items, lambda item: item, source)


def _read_items(path: Path, task: str, filter_name: str) -> list[tuple[str, LogItem]]:
    by_filter: dict[str, list[tuple[str, LogItem]]] = {}
    for number, sample in number_json_lines(path, JSON_OBJECT, "JSON object"):
        place = f"{path}: line {number}"
        with refuse_damage(place):
            item = _lm_eval_item(sample, task)  # at once: requests take ten times its memory
        by_filter.setdefault(str(sample.get("filter", "none")), []).append((place, item))
    if filter_name not in by_filter and (filter_name or len(by_filter) > 1):
        raise _no_choice(f"{path}", "filter", filter_name, by_filter)
    items = by_filter.get(filter_name) or [pair for pairs in by_filter.values() for pair in pairs]
    return _read_targets(items)


def _lm_eval_item(sample: Json, task: str) -> LogItem:
    """Return an item whose target stands as it was written."""
    name, doc = f"{task} {sample['doc_id']}".strip(), sample["doc"]
    metrics = {key: sample.get(key) for key in sample.get("metrics", _LM_EVAL_METRICS)}
    flags = [float(metrics[key] == 1) for key in _LM_EVAL_METRICS if metrics.get(key) in (0, 1)]
    correct = flags[0] if flags else None
    fields = doc | {"task": task} if task else doc
    target, options, values = str(sample["target"]), _options(sample), _loglikelihoods(sample)
    if not values:
        answer: str | None = _first_text(sample["filtered_resps"])
        return LogItem(name, answer, [target], correct, (), (), fields, metrics)
    options = options[: len(values)]
    answer = None if any(map(isnan, values)) else options[values.index(max(values))]
    return LogItem(name, answer, [target], correct, options, values, fields, metrics)


def _read_targets(items: Sequence[tuple[str, LogItem]]) -> list[tuple[str, LogItem]]:
    """Return the items of a file with the options that their targets name: all by place, or all by
    text, whichever agrees with more of what the file counts as correct, and then names more.
    """

    def agreement(read: Callable[[LogItem], list[str]]) -> tuple[int, int]:
        named = [
            (item.answer in options, item.correct) for _, item in items if (options := read(item))
        ]
        return sum(is_right == correct for is_right, correct in named), len(named)

    read = max((_targets_by_place, _targets_by_text), key=agreement)
    resolved = []
    for place, item in items:
        targets = read(item) or [item.targets[0]]
        # Of several right options
        targets += [item.answer] if item.choices and item.correct == 1 and item.answer else []
        resolved.append((place, item._replace(targets=targets)))
    return resolved


def _targets_by_place(item: LogItem) -> list[str]:
    [target] = item.targets
    places = map(int, re.findall(r"\d+", target) if _INDEXES.fullmatch(target) else ())
    return [item.choices[place] for place in places if place < len(item.choices)]


def _targets_by_text(item: LogItem) -> list[str]:
    """Return the texts of a target, of a list its parts; without options any text."""
    target = item.targets[0].strip()
    texts = [target]
    if _TEXTS.fullmatch(target):
        with suppress(ValueError, SyntaxError):
            texts = list(map(str, ast.literal_eval(target)))
    return [text for text in texts if text in item.choices or not item.choices]


def _options(sample: Json) -> list[str]:
    """Return what differs between requests: their continuations, or else their contexts."""
    requests = sample["arguments"]
    if isinstance(requests, dict):
        requests = [[*request.values()] for request in requests.values()]
    if all(len(request) == 1 for request in requests):
        problem = "log-likelihoods of whole texts (loglikelihood_rolling) are not answers"
        raise InputError(f"{problem}; give the samples of a task with options or generated texts")
    contexts, continuations = ([str(pair[side]).strip() for pair in requests] for side in (0, 1))
    return continuations if len({*continuations}) > 1 else contexts


def _loglikelihoods(sample: Json) -> list[float]:
    """Return those of the options, which stand as ``[logprob, is_greedy]``, also as text; none for
    generated text.
    """
    responses = sample["filtered_resps"]
    if "acc_mutual_info" in sample.get("metrics", ()):  # the second half has no context
        responses = responses[: len(responses) // 2]
    pairs = [_LOGPROB_PAIR.fullmatch(str(response).strip()) for response in responses]
    values = [float(pair[1]) for pair in pairs if pair]
    return values if len(values) == len(responses) > 1 else []


def _first_text(responses: object) -> str | None:
    while isinstance(responses, list):
        responses = responses[0] if responses else None
    return None if responses is None else str(responses)


def _lm_eval_model(path: Path) -> str:
    """Return the name of the model from the results beside the samples, else from the folder."""
    match = _SAMPLE_FILE.match(path.name)
    results = path.with_name(f"results_{match['time']}.json") if match else path
    if match and results.is_file():
        return str(read_object(results).get("model_name", ""))
    return path.resolve().parent.name


def _read_inspect(path: Path, scorer: str = "") -> pd.DataFrame:
    """Read a log, with what a scorer says; its notes say what of the run is missing.

    Raises ``InputError`` for several scorers without a choice.
    """
    if path.suffix == ".eval":
        log, samples = _read_archive(path)
    else:
        log = read_object(path)
        records = enumerate(log.get("samples") or [], 1)
        samples = [(f"{path}: sample {number}", sample) for number, sample in records]
    status, spec = log.get("status", "started"), log["eval"]
    notes = [] if status == "success" else [f"the run is not finished: {status}"]
    expected = {*map(str, (spec.get("dataset") or {}).get("sample_ids") or [])}
    if missing := len(expected - {str(sample.get("id")) for _, sample in samples}):
        notes.append(f"{missing} of the {len(expected)} samples of the run are not in the log")
    n_samples = len(samples)
    samples = [(place, sample) for place, sample in samples if not sample.get("invalidation")]
    if invalid := n_samples - len(samples):
        notes.append(f"{invalid} of {n_samples} samples are invalidated; they are left out")
    if failed := sum(bool(sample.get("error")) for _, sample in samples):
        notes.append(f"{failed} of {len(samples)} samples ended in an error")
    is_repeated = any(sample.get("epoch", 1) != 1 for _, sample in samples)
    if is_repeated:
        remedy = "without --cluster sample (cluster=) each epoch counts as an item"
        notes.append(f"samples were repeated: {remedy}")
    scorer = _choose_scorer([sample.get("scores") or {} for _, sample in samples], scorer, path)
    model, task = (str(spec.get(name, "")) for name in ("model", "task"))
    source = LogInfo(path, "inspect", "metadata", model, task, notes)
    frame = as_frame(samples, lambda sample: _inspect_item(sample, is_repeated, scorer), source)
    frame.attrs |= {"cluster": "sample"} if is_repeated else {}
    return frame


def _choose_scorer(samples: Sequence[Json], chosen: str, path: Path) -> str:
    """Return the chosen scorer, or the only one, or the only one whose values are right and wrong.

    Raises ``InputError`` for an unknown scorer, and for several without a choice.
    """
    scores = [pair for scores in samples for pair in scores.items()]
    scorers = [*dict.fromkeys(name for name, _ in scores)]
    flags = [name for name, score in scores if _number(score["value"]) in (0, 0.5, 1)]
    candidates = [*dict.fromkeys(flags)] or scorers
    if chosen in scorers or (not chosen and len(candidates) < 2):
        return chosen or next(iter(candidates), "")
    raise _no_choice(f"{path}", "scorer", chosen, scorers)


def _no_choice(path: str, kind: str, chosen: str, names: Collection[str]) -> InputError:
    """Return the error for an unknown filter or scorer, or for several without a choice."""
    problem = f"has no {kind} {chosen!r}{nearest(chosen, names)}"
    problem = problem if chosen else f"holds several {kind}s of the same items"
    commands = "--filter of biasbridge gaps and bbq (filter=)"
    return InputError(f"{path} {problem}; give one by {commands}: {', '.join(names)}")


def _read_archive(path: Path) -> tuple[Json, list[tuple[str, Json]]]:
    """Read the parts of a log; that of an unfinished run has no header."""
    log, samples = None, []
    for name, content in read_members(path, _INSPECT_MEMBERS):
        record = parse_object(content, f"{path}: {name}")
        if name.endswith("/sample.json"):
            remedy = "write the log as one file with 'inspect log convert --to json'"
            raise InputError(f"{path}: {name} is split into chunks, which cannot be read; {remedy}")
        if name.startswith("samples/"):
            sample = {key: value for key, value in record.items() if key not in _BULKY}
            samples.append((f"{path}: {name}", sample))
        elif log is None or name == "header.json":
            log = record
    if log is None:
        raise InputError(f"{path} has no header.json and no _journal/start.json; give a log")
    return log, samples


def _inspect_item(sample: Json, is_repeated: bool, scorer: str) -> LogItem:
    def resolve(text: object) -> str:
        name = str(text).removeprefix("attachment://")
        return str((sample.get("attachments") or {}).get(name, text))

    by_scorer: dict[str, Json] = sample.get("scores") or {}
    scores = {name: score["value"] for name, score in by_scorer.items()}
    scored = by_scorer.get(scorer, {})
    answer = scored.get("answer")
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
    correct = _number(scored.get("value"))
    return LogItem(
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
        value = _INSPECT_LETTERS.get(value, _INSPECT_WORDS.get(value.strip().lower(), value))
    with suppress(TypeError, ValueError):
        return float(value)  # type: ignore[arg-type]
    return nan


def _completion(output: Json) -> str:
    """Return the text of the first completion, of several parts the texts."""
    choices = output.get("choices") or [{"message": {"content": ""}}]
    parts = choices[0]["message"]["content"]
    parts = [{"text": parts}] if isinstance(parts, str) else parts
    return "\n".join(str(part["text"]) for part in parts if "text" in part)


def _read_saved_dataset(path: Path) -> pd.DataFrame:
    """Read a folder that ``Dataset.save_to_disk`` wrote."""
    if (path / _SPLITS).is_file():
        names = ", ".join(sorted(file.parent.name for file in path.glob(f"*/{_STATE}")))
        raise InputError(f"{path} holds several splits: {names}; give the folder of one")
    files = [file["filename"] for file in read_object(path / _STATE)["_data_files"]]
    paths = [named_beside(path / _STATE, name) for name in files]
    import pyarrow as pa

    tables = (read_arrow(file, lambda raw: pa.ipc.open_stream(raw).read_all()) for file in paths)
    return plain_frame([row for rows in tables for row in rows], LogInfo(path, "datasets"))


class LogFormat(NamedTuple):
    """A format: its name in sentences, its reader, its suffix, and fields that begin its files."""

    title: str
    read: Callable[..., pd.DataFrame]
    suffix: str = ""
    fields: str = ""


def _read_objects(path: Path) -> pd.DataFrame:
    """Read JSON Lines: an object an item, whose own columns stay under their names."""
    rows = [*read_json_lines(path, JSON_OBJECT, "JSON object")]
    return plain_frame(rows, LogInfo(path, JSON_OBJECTS))


FORMATS = {
    "lm_eval": LogFormat(
        "samples of lm-evaluation-harness", _read_lm_eval, JSON_LINES, "doc_id doc filtered_resps"
    ),
    "inspect": LogFormat("a log of Inspect", _read_inspect, ".json", "version status eval"),
    "datasets": LogFormat("a folder saved by datasets", _read_saved_dataset),
    JSON_OBJECTS: LogFormat("JSON Lines", _read_objects, JSON_LINES),
}


def detect_format(path: str | Path) -> str:
    """Return the format of a result file or folder, a key of ``FORMATS``; empty for others.

    ``json_lines`` is any file of JSON objects in lines. At most the first MiB of a file is read.
    """
    path = Path(path)
    if path.is_dir():
        if (path / _STATE).is_file() or (path / _SPLITS).is_file():
            return "datasets"
        for file in path.glob("scenario_state.json"):  # of HELM
            detect_format(file)
        return "lm_eval" if _sample_files(path) else ""
    suffix = table_suffix(path)
    candidates = {name: form for name, form in FORMATS.items() if suffix and form.suffix == suffix}
    names = _field_names(path, suffix) if candidates and path.is_file() else set()
    for harness, fields in _UNREAD_FIELDS.items():
        if fields <= names:
            problem = f"{path}: files of {harness} are not read"
            raise InputError(f"{problem}; give a table with a row per item, or {_LOGS}")
    fitting = (name for name, form in candidates.items() if {*form.fields.split()} <= names)
    return "inspect" if suffix == ".eval" else next(fitting, "")


def read_answers(path: str | Path, *, filter: str = "") -> pd.DataFrame:
    """Read the items of a result file, a row per item and epoch.

    Columns: ``id``; ``answer`` and ``target`` as text, of an option the option's; ``correct``, 1 or
    0 (Inspect: .5 for partly); ``choices`` and their ``loglikelihoods``, lists; ``label`` and
    ``prediction``, the target and answer as 0 and 1 or as classes, where the targets are a few
    classes; then the fields of the item and numeric metrics. A field with the name of a column
    above is called ``doc.label``, ``metadata.label`` and so on. JSON Lines and saved data sets keep
    their columns, and gain those up to ``correct``. ``attrs``: ``format``, ``model``, ``task``,
    ``notes``. ``filter``: of lm-evaluation-harness, where a file holds answers of several; of
    Inspect the scorer, where a log has several.

    Raises ``InputError`` for another, a damaged or an empty file, for repeated items, and for
    several filters or scorers without a choice.
    """
    path = Path(path)
    form = FORMATS.get(detect_format(path))
    if form is None:
        titles = ", ".join(dict.fromkeys(form.title for form in FORMATS.values()))
        raise InputError(f"{path} is not a result file that can be read; give {titles}")
    takes_choice = form.read in (_read_lm_eval, _read_inspect)
    if filter and not takes_choice:
        raise InputError(f"{path} is {form.title}, without filters; leave filter {filter!r} out")
    with refuse_damage(path):
        return form.read(path, filter) if takes_choice else form.read(path)


def _field_names(path: Path, suffix: str) -> set[str]:
    """Return the fields at the start of a JSON file, of JSON Lines in the first line."""
    with open_binary(path) as content:
        head = content.read(_HEAD).decode("utf-8", "ignore").lstrip()
    head = head.partition("\n")[0] if suffix == JSON_LINES else head
    return {*re.findall(r'"(\w+)"\s*:', head)} if head.startswith("{") else set()

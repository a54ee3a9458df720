"""Logs of HELM, lighteval and Every Eval Ever, and folders saved by ``datasets``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from biasbridge.extrinsic.answers.contents import Json, named_beside, read_arrow, read_object
from biasbridge.extrinsic.answers.items import Item, Source, as_frame, option_text, plain_frame
from biasbridge.files import InputError
from biasbridge.files.digest import sha256
from biasbridge.files.json_lines import number_json_lines
from biasbridge.files.tables import JSON_OBJECT

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

SCENARIO, STATE, SPLITS = "scenario_state.json", "state.json", "dataset_dict.json"
DETAILS = ("doc", "metric", "model_response")
CORRECT = ("acc", "em", "exact_match")  # metrics of lighteval that are 0 or 1 for an item


def read_helm(path: Path) -> pd.DataFrame:
    """Read a run whose requests show all options of an item, or none."""
    path = path / SCENARIO if path.is_dir() else path
    state = read_object(path)
    requests = ((f"{path}: request {n}", item) for n, item in enumerate(state["request_states"], 1))
    model, task = str(state["adapter_spec"].get("model", "")), path.resolve().parent.name
    frame = as_frame(requests, _helm_item, Source(path, "helm", "instance", model, task))
    if (n := frame["instance"].nunique()) < len(frame):
        note = f"{len(frame)} items are trials or perturbations of {n} instances"
        remedy = "without --cluster instance (cluster=) each counts as an item"
        frame.attrs["notes"].append(f"{note}: {remedy}")
        frame.attrs["cluster"] = "instance"
    return frame


def _helm_item(request: Json) -> Item:
    instance, trial = request["instance"], request.get("train_trial_index", 0)
    texts = [completion["text"].strip() for completion in request["result"].get("completions", [])]
    text, options = next(iter(texts), ""), request.get("output_mapping") or {}
    if text.startswith("[encrypted_text") or "reference_index" in request:
        raise ValueError("encrypted, or a request for each option: neither is read")
    references, change = instance.get("references", []), instance.get("perturbation") or {}
    right = [answer["output"]["text"] for answer in references if "correct" in answer["tags"]]
    tags = [tag for reference in references for tag in reference["tags"]]
    fields = {"input": instance["input"]["text"], "split": instance.get("split"), "tags": tags}
    parts = (instance["id"], change.get("name"), f"trial {trial}" if trial else "")
    name = " ".join(filter(None, parts))
    fields |= {"perturbation": change.get("name"), "instance": instance["id"]}
    return Item(name, options.get(text, text) or None, right, None, [*options.values()], (), fields)


def read_lighteval(path: Path) -> pd.DataFrame:
    """Read the details of a task: ``details_<task>_<time>.parquet``."""
    rows = read_arrow(path, lambda raw: pq.read_table(raw, columns=[*DETAILS]))
    parts = path.resolve().parent.parts
    model = "/".join(parts[parts.index("details") + 1 : -1]) if "details" in parts else ""
    task = str(rows[0]["doc"].get("task_name", "")) if rows else ""
    records = ((f"{path}: row {n}", row | {"number": n}) for n, row in enumerate(rows))
    return as_frame(records, _lighteval_item, Source(path, "lighteval", "doc", model, task))


def _lighteval_item(row: Json) -> Item:
    doc, metrics, response = (row[name] for name in DETAILS)
    options, gold = [text.strip() for text in doc["choices"]], doc["gold_index"]
    right = [options[place] for place in (gold if isinstance(gold, list) else [gold])]
    values, texts = response.get("logprobs") or [], response.get("text_post_processed")
    texts = texts or response.get("text") or []
    answer = texts[0].strip() if texts else None
    if len(values) == len(options) > 1:
        answer = options[values.index(max(values))]
    flags = [metrics[name] for name in CORRECT if metrics.get(name) in (0, 1)]
    choices = options if len(options) > len(right) else ()
    fields = {"query": doc["query"], **(doc.get("specific") or {})}
    name, correct = str(row["number"]), float(flags[0]) if flags else None
    return Item(name, answer, right, correct, choices, values if choices else (), fields, metrics)


def read_every_eval_ever(path: Path) -> pd.DataFrame:
    """Read samples of schema 0.3, or those that a summary names, if they are as it says."""
    details: Json = {}
    if path.suffix == ".json":
        details = read_object(path)["detailed_evaluation_results"]
        path = named_beside(path, details["file_path"])
    lines = [*number_json_lines(path, JSON_OBJECT, "JSON object")]
    has_checksum = details.get("checksum") and details.get("hash_algorithm") == "sha256"
    if details.get("total_rows") not in (None, len(lines)) or (
        has_checksum and details["checksum"] != sha256(path)
    ):
        raise InputError(f"{path} is not the file that its summary describes; copy both again")
    pairs = [(str(line.get("model_id")), str(line.get("evaluation_name"))) for _, line in lines]
    model, task = (", ".join(dict.fromkeys(names)) for names in zip(*pairs, strict=True))
    records = ((f"{path}: line {number}", line) for number, line in lines)
    return as_frame(records, _eee_item, Source(path, "every_eval_ever", "metadata", model, task))


def _eee_item(line: Json) -> Item:
    question, evaluation, task = line["input"], line["evaluation"], line["evaluation_name"]
    options = question.get("choices") or []

    def as_option(text: str) -> str:
        return text.strip() if text.strip() in options else option_text(options, text.strip())

    extracted = [part["extracted_value"] for part in line["answer_attribution"]]
    texts = extracted[-1:] or (line.get("output") or {}).get("raw") or [""]
    right = [as_option(text) for text in question["reference"]]
    fields = {"input": question["raw"], "task": task, **(line.get("metadata") or {})}
    correct, metrics = float(evaluation["is_correct"]), {"score": evaluation["score"]}
    name = f"{task} {line['sample_id']}"
    return Item(name, as_option(texts[0]) or None, right, correct, options, (), fields, metrics)


def read_saved_dataset(path: Path) -> pd.DataFrame:
    """Read a folder that ``Dataset.save_to_disk`` wrote."""
    if (path / SPLITS).is_file():
        names = ", ".join(sorted(file.parent.name for file in path.glob(f"*/{STATE}")))
        raise InputError(f"{path} holds several splits: {names}; give the folder of one")
    files = [file["filename"] for file in read_object(path / STATE)["_data_files"]]
    paths = [named_beside(path / STATE, name) for name in files]
    tables = (read_arrow(file, lambda raw: pa.ipc.open_stream(raw).read_all()) for file in paths)
    return plain_frame([row for rows in tables for row in rows], Source(path, "datasets"))

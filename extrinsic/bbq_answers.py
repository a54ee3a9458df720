"""Answers to BBQ, read from tables and logs, and completed with the fields of BBQ's own files."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_list_like, is_scalar

from biasbridge.extrinsic.bbq import (
    LETTER,
    UNKNOWN_WORDINGS,
    BBQItem,
    contains_name,
    count_from_0,
    match_output,
    normalise_answer,
    unwrap,
)
from biasbridge.extrinsic.logs import JSON_OBJECTS, detect_format, read_answers
from biasbridge.files import InputError
from biasbridge.files.data.registry import data_folder
from biasbridge.files.tables import read_table, require_columns

_NESTED = ("answer_info", "additional_metadata")
ANSWERS = ("ans0", "ans1", "ans2")
FIELDS = ("category", "question_polarity", "context_condition", *_NESTED, *ANSWERS, "label")
TEMPLATE, ID = "question_index", "example_id"
CONDITIONS, _POLARITIES = {"ambig": True, "disambig": False}, {"neg": True, "nonneg": False}
_SAVED_DATASET = "datasets"
PROMPTS = (("context", "question"), ("input",), ("query",), ("prompt",))
_PROMPT_LABEL = re.compile(r"(context|passage|question|q)\s*:\s*", re.IGNORECASE)
_ARRAY = re.compile(r"array\((\[[^\]]*\])(?:,\s*dtype=\w+)?\)")
SUFFIXES = (".csv", ".tsv", ".parquet")
REMEDY = "run biasbridge data get bbq, or give their folder by --data, data= or task.data="


def downloaded_data() -> Path | None:
    """Return the folder of BBQ's files in the data folder; None if it is not there."""
    folder = data_folder() / "models" / "bbq"
    return folder if folder.is_dir() else None


def open_answers(
    sources: Iterable[pd.DataFrame | Path], answer: str | None, data: Path | None, filter: str = ""
) -> list[pd.DataFrame]:
    """Return each table, log and file of a folder with its answers and BBQ's fields.

    answer, filter: see :func:`read_source`. data: folder of BBQ's own files.
    """
    files: list[pd.DataFrame | Path] = []
    for source in sources:
        files += _list_files(source) if isinstance(source, Path) else [source]
    return [complete(read_source(file, answer, filter), data, _title(file)) for file in files]


def _title(source: pd.DataFrame | Path) -> str:
    return str(source) if isinstance(source, Path) else "the table"


def _list_files(path: Path) -> list[Path]:
    """Return a path, or the tables and logs in a folder that is no log itself."""
    if not path.is_dir() or detect_format(path):
        return [path]
    files = [file for file in path.iterdir() if detect_format(file) or file.suffix in SUFFIXES]
    if not files:
        raise InputError(f"{path} holds no answers; give .jsonl, {', '.join(SUFFIXES)}, or a log")
    return sorted(files)


def read_source(source: pd.DataFrame | Path, answer: str | None, filter: str = "") -> pd.DataFrame:
    """Return a table or log with its answers as column ``output``.

    answer: column of the answers of a table, by default ``answer``. filter: of answers of
    lm-evaluation-harness.
    """
    form = detect_format(source) if isinstance(source, Path) else ""
    is_table = form in ("", JSON_OBJECTS)
    if answer and not is_table and form != _SAVED_DATASET:
        problem = f"{source} is a log, which says what its answers are"
        raise InputError(f"{problem}; leave out --answer (answer=)")
    if filter and is_table:
        raise InputError("--filter (filter=) is for logs; leave it out for a table")
    if not isinstance(source, Path):
        table = source
    elif is_table:
        table = read_table(source, lists=_NESTED)
    else:
        table = read_answers(source, filter=filter)
    if form not in ("", JSON_OBJECTS, _SAVED_DATASET):
        return _name_as_in_bbq(table)
    require_columns(table, [answer or "answer"], _title(source))
    return table.reset_index(drop=True).assign(output=table[answer or "answer"].to_numpy())


def complete(table: pd.DataFrame, data: Path | None, source: str) -> pd.DataFrame:
    """Return the table with all ``FIELDS``, those it lacks from BBQ's files in ``data``.

    Items are joined by category and example_id, or by the text of context, question and options.
    Raises ``InputError`` where the fields are missing, and where items are not in ``data``.
    """
    missing = [name for name in FIELDS if name not in table]
    if not missing and (TEMPLATE in table or data is None):
        return table if TEMPLATE in table else table.assign(**{TEMPLATE: ""})
    if data is None:
        raise InputError(f"{source} has no {', '.join(missing)}, which BBQ's files have; {REMEDY}")
    bbq = read_data(data)
    if {"category", ID} <= {*table}:
        index = {key: place for place, key in enumerate(_ids(bbq))}
        places = [index.get(key, -1) for key in _ids(table)]
    else:
        places = _places_by_text(table, bbq)
    if lost := places.count(-1):
        problem = f"{source}: {lost} of {len(places)} items are not in {data}"
        raise InputError(f"{problem}; give BBQ's files, whose names and texts are unchanged")
    fields = [*FIELDS, TEMPLATE, ID]
    joined = bbq.iloc[places][fields].set_index(table.index)
    completed = pd.concat([table.drop(columns=fields, errors="ignore"), joined], axis=1)
    completed.attrs = dict(table.attrs)
    return completed


def read_data(folder: Path) -> pd.DataFrame:
    """Read BBQ's files in a folder and those within it."""
    tables = [read_table(path) for path in sorted(folder.rglob("*.jsonl"))]
    tables = [table for table in tables if {*FIELDS, TEMPLATE, ID, *PROMPTS[0]} <= {*table}]
    if not tables:
        raise InputError(f"{folder} holds no file of BBQ (Age.jsonl and others); {REMEDY}")
    return pd.concat(tables, ignore_index=True)


def read_items(table: pd.DataFrame) -> tuple[list[BBQItem], list[int]]:
    """Return the questions of a table, and the place of the answer that each output means.

    Raises ``InputError`` for a cell that is not as in BBQ, and for an item that occurs twice.
    """
    key = [name for name in ("category", ID, "epoch") if name in table]
    repeated = table[key].astype(str).duplicated()
    if ID in key and repeated.any():
        answered = ", ".join(f"{name} {table.loc[repeated, name].iloc[0]}" for name in key)
        raise InputError(f"{answered} is answered twice; give the answers of one model")
    items = []
    records: list[dict[str, Any]] = table.to_dict("records")  # type: ignore[assignment]
    for number, row in enumerate(records, 1):
        try:
            items.append(_bbq_item(row))
        except (KeyError, IndexError, TypeError, ValueError, SyntaxError) as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            problem = f"answer {number}: the item is not as in BBQ ({reason})"
            raise InputError(f"{problem}; leave its fields as they are in BBQ's files") from None
    # In the items' language, and in any of its wordings
    unknown = UNKNOWN_WORDINGS | {normalise_answer(item.texts[item.unknown]) for item in items}
    outputs = count_from_0(["" if x is None else str(x) for x in table["output"]])
    chosen = []
    for number, (row, item, output) in enumerate(zip(records, items, outputs, strict=True), 1):
        shown = _shown(row.get("choices"))
        if shown is None and LETTER.fullmatch(unwrap(output)):
            problem = f"answer {number} is a letter, and its choices are not a list"
            raise InputError(f"{problem}; write choices as ['The aunt', 'The niece', 'Unknown']")
        question = str(row.get("question", ""))
        chosen.append(match_output(output, item, shown or (), unknown=unknown, question=question))
    return items, chosen


def _name_as_in_bbq(log: pd.DataFrame) -> pd.DataFrame:
    """Rename the fields of a log; options and label are those offered, if the log has no others."""
    names = {name: "label" for name in ("doc.label", "metadata.label") if name in log}
    names |= {"answer": "output"} | ({} if ID in log else {"source_id": ID})
    table = log.drop(columns="label", errors="ignore").rename(columns=names)
    if {"choices", "answer_info"} <= {*table} and not {*ANSWERS, "label"} <= {*table}:
        options = [*map(_order_options, table["choices"], table["answer_info"])]
        if not all(map(any, options)):  # BBQ's own files have them
            return table
        table[[*ANSWERS]] = pd.DataFrame(options, index=table.index)
        pairs = zip(options, table["target"], strict=True)
        table["label"] = [[*texts, target].index(target) for texts, target in pairs]
    return table


def _order_options(choices: Sequence[str], info: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the options in the order of their names in ``answer_info``; empty if they differ."""
    names = [normalise_answer(info[name][0]) for name in ANSWERS]
    for order in permutations(choices, 3):
        if all(
            contains_name(normalise_answer(text), name)
            for name, text in zip(names, order, strict=True)
        ):
            return order
    return [""] * 3


def _ids(table: pd.DataFrame) -> Iterator[tuple[str, str]]:
    return zip(table["category"].astype(str), table[ID].astype(str), strict=True)


def _places_by_text(table: pd.DataFrame, bbq: pd.DataFrame) -> list[int]:
    """Return the row in ``bbq`` of each item, or -1, by its context and question, the last two
    lines of the prompt that stand in BBQ; where these are of several items, by the options too.
    """
    index: dict[tuple[str, str], list[int]] = {}
    for place, (context, question) in enumerate(zip(bbq["context"], bbq["question"], strict=True)):
        index.setdefault((_plain_line(context), _plain_line(question)), []).append(place)
    names = next((names for names in PROMPTS if {*names} <= {*table}), ())
    prompts = ["\n".join(map(str, cells)) for cells in table[[*names]].to_numpy().tolist()]
    options = [[*map(normalise_answer, row)] for row in bbq[[*ANSWERS]].to_numpy()]
    places = []
    for prompt, choices in zip(prompts, table.get("choices", [""] * len(table)), strict=True):
        lines = [_plain_line(line) for line in prompt.splitlines() if line.strip()]
        rows = next((index[pair] for pair in reversed([*pairwise(lines)]) if pair in index), [])
        whole = normalise_answer(f"{prompt} {choices}")
        fitting = [row for row in rows if all(text in whole for text in options[row])]
        places.append(fitting[0] if fitting else rows[0] if len(rows) == 1 else -1)
    return places


def _plain_line(text: str) -> str:
    return " ".join(_PROMPT_LABEL.sub("", text, count=1).split())


def _shown(choices: Any) -> Sequence[str] | None:
    """Return the answers that were shown, in their order; empty where none are given, None where
    they are no list.
    """
    if is_scalar(choices) and (pd.isna(choices) or not str(choices).strip()):
        return ()
    with suppress(ValueError, SyntaxError):
        listed = _read_nested(choices, "choices")
        return [str(option) for option in listed] if is_list_like(listed) else None
    return None


def _bbq_item(row: Mapping[str, Any]) -> BBQItem:
    info, metadata = (_read_nested(row[name], name) for name in _NESTED)
    infos = tuple((str(info[name][0]), str(info[name][-1])) for name in ANSWERS)
    return BBQItem(
        category=str(row["category"]),
        template=str(row[TEMPLATE]),
        is_ambiguous=CONDITIONS[row["context_condition"]],
        is_negative=_POLARITIES[row["question_polarity"]],
        infos=infos,
        texts=tuple(str(row[name]) for name in ANSWERS),
        stereotyped=tuple(map(str, metadata["stereotyped_groups"])),
        label=range(3).index(int(float(row["label"]))),
        unknown=[group for _, group in infos].index("unknown"),
    )


def _read_nested(cell: Any, column: str) -> Any:
    """Return an object or list, of CSV as JSON or as Python and NumPy print it."""
    if not isinstance(cell, str):
        return cell
    with suppress(ValueError):
        return json.loads(cell)
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(_ARRAY.sub(r"\1", cell))
    raise ValueError(f"column {column!r} holds {cell[:80]!r}, neither JSON nor an object of Python")

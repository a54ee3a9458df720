"""Result files of evaluation harnesses, recognised and read as one table."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from biasbridge.extrinsic.answers import other_logs
from biasbridge.extrinsic.answers.contents import refuse_damage
from biasbridge.extrinsic.answers.inspect_log import read_inspect
from biasbridge.extrinsic.answers.items import Source, plain_frame
from biasbridge.extrinsic.answers.lm_eval import read_lm_eval, sample_files
from biasbridge.files import InputError
from biasbridge.files.json_lines import read_json_lines
from biasbridge.files.tables import JSON_LINES, JSON_OBJECT, table_suffix
from biasbridge.files.text import open_binary

if TYPE_CHECKING:
    import pandas as pd

HEAD = 1 << 20  # bytes searched for names of fields
JSON_OBJECTS = "json_lines"


class Format(NamedTuple):
    """A format: its name in sentences, its reader, its suffix, and fields that begin its files."""

    title: str
    read: Callable[..., pd.DataFrame]
    suffix: str = ""
    fields: str = ""


def read_objects(path: Path) -> pd.DataFrame:
    """Read JSON Lines: an object an item, whose own columns stay under their names."""
    rows = [*read_json_lines(path, JSON_OBJECT, "JSON object")]
    return plain_frame(rows, Source(path, JSON_OBJECTS))


EVERY = Format("samples of Every Eval Ever", other_logs.read_every_eval_ever)
FORMATS = {
    "lm_eval": Format(
        "samples of lm-evaluation-harness", read_lm_eval, JSON_LINES, "doc_id doc filtered_resps"
    ),
    "inspect": Format("a log of Inspect", read_inspect, ".json", "version status eval"),
    "helm": Format("a run of HELM", other_logs.read_helm, ".json", "adapter_spec request_states"),
    "every_eval_ever": EVERY._replace(suffix=JSON_LINES, fields="evaluation_id sample_id"),
    "every_eval_ever.json": EVERY._replace(suffix=".json", fields="schema_version evaluation_id"),
    "lighteval": Format(
        "details of lighteval", other_logs.read_lighteval, ".parquet", "doc metric model_response"
    ),
    "datasets": Format("a folder saved by datasets", other_logs.read_saved_dataset),
    JSON_OBJECTS: Format("JSON Lines", read_objects, JSON_LINES),
}
# A folder is of the format of the first of these files that it holds
FOLDERS = {
    other_logs.STATE: "datasets",
    other_logs.SPLITS: "datasets",
    other_logs.SCENARIO: "helm",
}


def detect_format(path: str | Path) -> str:
    """Return the format of a result file or folder, a key of ``FORMATS``; empty for others.

    ``json_lines`` is any file of JSON objects in lines. At most the first MiB of a file is read.
    """
    path = Path(path)
    if path.is_dir():
        held = (form for name, form in FOLDERS.items() if (path / name).is_file())
        return next(held, "lm_eval" if sample_files(path) else "")
    suffix = table_suffix(path)
    candidates = {name: form for name, form in FORMATS.items() if suffix and form.suffix == suffix}
    names = _field_names(path, suffix) if candidates and path.is_file() else set()
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
    ``notes``. ``filter``: of lm-evaluation-harness, where a file holds answers of several.

    Raises ``InputError`` for another, a damaged or an empty file, for repeated items, several
    filters without a choice, and archives beyond the bounds of
    ``biasbridge.extrinsic.answers.contents``.
    """
    path = Path(path)
    form = FORMATS.get(detect_format(path))
    if form is None:
        titles = ", ".join(dict.fromkeys(form.title for form in FORMATS.values()))
        raise InputError(f"{path} is no result file that can be read; give {titles}")
    if filter and form.read is not read_lm_eval:
        raise InputError(f"{path} is {form.title}, without filters; leave filter {filter!r} out")
    with refuse_damage(path):
        return read_lm_eval(path, filter) if form.read is read_lm_eval else form.read(path)


def _field_names(path: Path, suffix: str) -> set[str]:
    """Return the columns of a Parquet file, or the fields at the start of a JSON file (of JSON
    Lines in the first line).
    """
    if suffix == ".parquet":
        try:
            return {*pq.read_schema(path).names}
        except (pa.ArrowException, OSError):
            return {*other_logs.DETAILS}  # their reader says what is wrong
    with open_binary(path) as content:
        head = content.read(HEAD).decode("utf-8", "ignore").lstrip()
    head = head.partition("\n")[0] if suffix == JSON_LINES else head
    return {*re.findall(r'"(\w+)"\s*:', head)} if head.startswith("{") else set()

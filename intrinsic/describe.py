"""Lists of metrics, options, conventions and queries for a terminal, and docs/metrics.md and
docs/conventions.csv, which ``python -m biasbridge.intrinsic.describe`` writes from the root of the
repository.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from annotated_types import DocInfo

from biasbridge.files import run_cli
from biasbridge.files.choice import describe_type, field_types
from biasbridge.files.writers import TextTable, print_text_table
from biasbridge.intrinsic.metric import Metric
from biasbridge.intrinsic.models.item_metric import ItemMetric
from biasbridge.intrinsic.models.items import library
from biasbridge.intrinsic.registry import FAMILIES, METRICS, MODEL_FAMILIES, MODEL_METRICS
from biasbridge.intrinsic.words import load_queries, query_names

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.intrinsic.score import ByConvention

_METRICS_PAGE = Path("docs", "metrics.md")
_CONVENTIONS = Path("docs", "conventions.csv")
_STUDIES = Path("docs", "metric_studies.csv")  # typed from Sesari et al. (2022), table 8
_COUNTS = re.compile(r"There are \d+ metrics on .* Of these \d+,")
_PAGE_MARK = "<!-- From here on written by python -m biasbridge.intrinsic.describe -->\n"


def print_metrics(console: Console) -> None:
    """Print metrics with their word sets and conventions, queries, sets of items and options."""
    metrics = (
        (name, metric.about.title, _format_roles(metric), ", ".join(metric.conventions()))
        for name, metric in METRICS.items()
    )
    model_metrics = (
        (name, metric.about.title, metric.needs, ", ".join(metric.conventions()))
        for name, metric in MODEL_METRICS.items()
    )
    queries = (
        (query.name, query.language, query.title, " ".join(query.sets))
        for query in load_queries(query_names())
    )
    item_sets = (
        (items.name, items.language, items.title, " ".join(items.groups))
        for items in library().values()
    )
    for title, head, rows in (
        ("Metrics", ("metric", "title", "word sets", "conventions"), metrics),
        ("Queries", ("query", "language", "title", "roles"), queries),
        ("Metrics of language models", ("metric", "title", "of", "conventions"), model_metrics),
        ("Sets of items", ("set", "language", "title", "groups"), item_sets),
    ):
        print_text_table(TextTable(title, head, [*rows], head), console)
    _print_options(console, "Options of metrics", Metric, METRICS.values())
    model_metrics_title = "Options of metrics of language models"
    _print_options(console, model_metrics_title, ItemMetric, MODEL_METRICS.values())


def _print_options(
    console: Console, title: str, base: type[ByConvention], metrics: Iterable[type[ByConvention]]
) -> None:
    """Print a line per option with its default in each metric."""
    console.print(title, style="italic")
    for option in _format_options(base, metrics):
        console.print(f" {option}", markup=False, highlight=False)


def _metrics_page(root: Path) -> str:
    """Return the text of the page: its introduction, then a table of metrics per family."""
    introduction, mark, _ = (root / _METRICS_PAGE).read_text(encoding="utf-8").partition(_PAGE_MARK)
    n_words, n_models = len(METRICS), len(MODEL_METRICS)
    counts = f"There are {n_words} metrics on word vectors and {n_models} on language models."
    introduction = _COUNTS.sub(f"{counts} Of these {n_words + n_models},", introduction)
    with (root / _STUDIES).open(encoding="utf-8", newline="") as file:
        n_studies = Counter(row["metric"] for row in csv.DictReader(file))
    lines = [introduction + mark]
    for family, metrics in FAMILIES.items():
        lines += _format_family(family, metrics, n_studies)
    lines += ["# Metrics of language models", ""]
    for family, model_metrics in MODEL_FAMILIES.items():
        lines += _format_family(family, model_metrics, n_studies)
    return "\n".join(lines)


def _conventions_table() -> str:
    """Return every convention as CSV, unless it adds nothing to the metric's source."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["metric", "convention", "options", "what it does"])
    for metric in [metric for family in (FAMILIES | MODEL_FAMILIES).values() for metric in family]:
        for each in metric.conventions().values():
            options = ", ".join(f"{key}={_spell(value)}" for key, value in each.options.items())
            if each.source != metric.about.source:
                rows.writerow([metric.about.name, each.name, options, each.source])
    return out.getvalue()


def _format_family(
    family: str, metrics: Sequence[type[ByConvention]], n_studies: Mapping[str, int]
) -> Iterator[str]:
    """Yield the lines of a family: a table row per metric."""
    yield from (f"## {family}", "")
    head = "metric | formula | meaning | range; unbiased | source"
    rows: list[Sequence[str]] = [
        (
            f"`{metric.about.name}`: {metric.about.title}",
            f"`{metric.about.formula}`",
            metric.about.sign,
            _format_range(metric),
            metric.about.source,
        )
        for metric in metrics
    ]
    counts = [str(n_studies.get(metric.about.name, "")) for metric in metrics]
    if any(counts):
        head += " | studies"
        rows = [(*row, count) for row, count in zip(rows, counts, strict=True)]
    yield from _format_table(head, rows)
    yield ""


def _format_options(
    base: type[ByConvention], metrics: Iterable[type[ByConvention]]
) -> Iterator[str]:
    """Yield a line per option, with defaults and meaning; those of ``base`` name no metric."""
    # The metrics with a default, by meaning and by the option with this default
    lines: dict[str, dict[str, list[str]]] = {}
    for metric in (base, *metrics):
        defaults = {f.name: f.default for f in dataclasses.fields(metric)}  # type: ignore[arg-type]
        for option, hint in field_types(metric).items():
            (note,) = [info for info in get_args(hint) if isinstance(info, DocInfo)]
            allowed = describe_type(hint)
            meaning = note.documentation + f" ({allowed})" * allowed.startswith("one of")
            default = defaults[option]
            label = option if default is MISSING else f"{option}={_spell(default)}"
            names_by_label = lines.setdefault(meaning, {})
            if metric is base:
                names_by_label[label] = []
            elif names_by_label.get(label) != []:
                names_by_label.setdefault(label, []).append(metric.about.name)
    for meaning, names_by_label in lines.items():
        labels = (
            f"{label} ({', '.join(names)})" if names else label
            for label, names in names_by_label.items()
        )
        yield f"{', '.join(labels)}: {meaning}"


def _format_roles(metric: type[Metric]) -> str:
    """Format the roles of a metric's word sets with their meaning: ``X Y: targets``."""
    roles_by_meaning: dict[str, list[str]] = {}
    for role, meaning in metric.about.roles.items():
        if not role.endswith("3?"):
            roles_by_meaning.setdefault(meaning, []).append(role.rstrip("?"))
    labels = {meaning: " ".join(roles) for meaning, roles in roles_by_meaning.items()}
    return ", ".join(
        label if label == meaning else f"{label}: {meaning}" for meaning, label in labels.items()
    )


def _format_range(metric: type[ByConvention]) -> str:
    """Format range and unbiased value as ``[-1, 1]; 0``, an end without a bound open."""
    low, high = metric.about.range
    ends = f"{'(' if math.isinf(low) else '['}{low:g}, {high:g}{')' if math.isinf(high) else ']'}"
    return ends if metric.about.unbiased is None else f"{ends}; {metric.about.unbiased:g}"


def _spell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _format_table(header: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {header} |"
    yield "|" + "---|" * (header.count("|") + 1)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def main() -> None:
    """Write docs/metrics.md and docs/conventions.csv."""
    _METRICS_PAGE.write_text(_metrics_page(Path()), encoding="utf-8")
    _CONVENTIONS.write_text(_conventions_table(), encoding="utf-8")


if __name__ == "__main__":
    run_cli(main)

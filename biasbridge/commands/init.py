"""An experiment file for your own data, to read, edit and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from os import PathLike
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import yaml

from biasbridge.command_line import Command, say, write_text
from biasbridge.commands.check import DATA_SPELLING, check
from biasbridge.files import InputError
from biasbridge.files.paths import require_new
from biasbridge.input_vectors import require_files

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from rich.console import Console

    from biasbridge.debias.base import VectorsMethod
    from biasbridge.debias.words import WordChoice
    from biasbridge.train.subjects.static import StaticVectors
    from biasbridge.user_data import Data, StudySettings

_SWEEP = """
# {reasons}
hydra:
  mode: MULTIRUN
  sweeper:
    grids: # every combination of a grid is a point{size}
{grids}
"""
_GRID = """\
      - seed: range({seeds})
        debias: {method}
        debias.direction: {direction}
        debias.dose: {doses}"""
_OWN_WORDS = """
# The built-in words are about men and women. For your own words, four lists X, Y, A and B (or give
# the file to init):
# intrinsic: {weat: {words: words.yaml}}
"""
_SEEDS = 3  # trained vectors of each are a parent
_CANDIDATES = (
    *(0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15),
    *(0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
)
_FLAT = 0.1  # range of a score that hardly moves
_CLASSIFIER = "linear_balanced"
_N_CONFIRMATORY = 2  # measures with confirmatory gaps: see analysis/declaration.py
_MODIFIED: StudySettings = {
    "debias": "attract_repel",
    "debias.direction": "debias",
    "debias.dose": 0.1,
}
_N_DEFAULT_QUERIES = 3  # see configuration in intrinsic/metrics/weat.py


class _Grid(NamedTuple):
    """A method at some doses, in one direction or both: ``debias,overbias``."""

    method: str
    direction: str
    doses: Sequence[float]


# Where measuring would take a training: on synthetic worlds the scores lie evenly
TRAINED = (
    _Grid("balance", "debias,overbias", (0, 0.5, 1)),
    _Grid("attract_repel", "debias,overbias", (0.08, 0.12, 0.15)),
)


class _Experiment(NamedTuple):
    """The experiment file, its command, and the lines that are printed before."""

    path: Path
    command: str
    lines: list[str]


def choose_doses(scores: Mapping[float, float], n: int) -> list[float]:
    """Choose n doses whose scores lie evenly between the lowest and the highest score.

    ``scores``: by candidate dose, below 0 to overbias; 0 is among them and is always chosen. Where
    the score hardly moves or is missing, the doses themselves lie evenly.
    """
    from scipy.optimize import linear_sum_assignment

    candidates = [dose for dose in scores if dose]
    is_flat = not np.ptp([*scores.values()]) >= _FLAT
    values = {dose: dose if is_flat else scores[dose] for dose in scores}
    targets = np.linspace(min(values.values()), max(values.values()), n)
    others = np.delete(targets, np.abs(targets - values[0]).argmin())
    distances = np.subtract.outer([values[dose] for dose in candidates], others)
    chosen, _ = linear_sum_assignment(np.square(distances))
    return sorted([0, *(candidates[i] for i in chosen)])


def init(
    data: Sequence[str | PathLike[str]], *, name: str = "mine", force: bool = False, **options: Any
) -> _Experiment:
    """Write an experiment file for your own data, to read, edit and run.

    Parameters
    ----------
    data : sequence of path
        Labelled posts (a table), a corpus (text), words (YAML, JSON or CSV), or vectors.
    name : str
        Name of the experiment.
    force : bool
        Replace the file if it exists.
    **options
        Of :func:`check`.
    """
    if not name.isidentifier():
        raise InputError(f"--name {name}: give letters, digits and underscores")
    require_files(data)
    from biasbridge.analysis.condition_effects import MIN_UNITS
    from biasbridge.data_checks import examine  # takes seconds
    from biasbridge.user_data import DataOptions, read_data

    found = read_data(DataOptions(data, **options))

    settings = found.settings()
    if has_posts := "posts" in found.paths:
        settings["classifier"] = _CLASSIFIER
    report = examine(found, settings | _MODIFIED)
    if report.problems:
        raise InputError("; ".join(report.problems))
    path = Path("experiment") / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    require_new(path, inputs=found.paths.values(), force=force)
    notes = [] if found.posts is None else found.posts.attrs["notes"]
    lines = [*notes, *(f"warning: {line}" for line in report.warnings)]
    reasons = [
        f"classifier: {_CLASSIFIER}, which trains in seconds and draws nothing at random;"
        " the network of Kim (2014): classifier=cnn"
    ] * has_posts
    if found.vectors is None:
        grids: Sequence[_Grid] = TRAINED
        reasons.append("doses: fixed, as measuring others would take a training")
    else:
        grids, reason = _measure_doses(found.vectors, settings)
        reasons.append(reason)
        vectors = f"embedding.path={found.paths['vectors']},SECOND,THIRD"
        lines += [
            f"warning: a verdict on the gap alone takes {MIN_UNITS} unmodified embeddings, and"
            f" one is given; add {vectors} to the command"
        ] * has_posts
    write_text(_experiment(found, settings, name, grids, reasons), path)
    return _Experiment(path, _command(name), [*lines, *reasons])


def _measure_doses(vectors: KeyedVectors, settings: StudySettings) -> tuple[list[_Grid], str]:
    """Return doses that spread the score of the vectors evenly, and a line that says why."""
    from biasbridge.analysis.scopes import DOSES, MINIMUM
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.train.cli.command import format_override
    from biasbridge.train.cli.composing import compose_point

    overrides = [format_override(key, value) for key, value in (settings | _MODIFIED).items()]
    point = compose_point(overrides)
    metrics = [metric for metric in point.metrics if isinstance(metric, Metric)]
    queries = [query for metric in metrics for query, _ in metric.look_up(vectors)]
    sets = [word_set for query in queries for word_set in query.sets.values()]
    words = {word for word_set in sets for item in word_set.items for word in item}
    subject = cast("StaticVectors", point.subject)
    method = cast("VectorsMethod", subject.debias)
    chosen_words = cast("WordChoice", subject.words).words(vectors)
    modified = method.dose_axis(vectors, chosen_words, seed=0).at

    def score(dose: float) -> float:
        rows = [row for metric in metrics for row in metric.score(modified(dose, words), seed=0)]
        return fmean([row.value for row in rows if isfinite(row.value)] or [nan])

    scores = {dose: score(dose) for size in _CANDIDATES for dose in (-size, size)} | {0: score(0)}
    doses = choose_doses(scores, MINIMUM[DOSES] + 1)  # one may fail
    by_direction = {
        "debias": [dose for dose in doses if dose >= 0],
        "overbias": [-dose for dose in doses[::-1] if dose < 0],
    }
    low, high = min(scores.values()), max(scores.values())
    effect = "spread it evenly" if high - low >= _FLAT else "tell little: give other words"
    moved = f"{method.name} moves the score of these vectors from {low:.2f} to {high:.2f}"
    grids = [_Grid(method.name, *item) for item in by_direction.items() if item[1]]
    return grids, f"doses: {moved}, and {len(doses)} conditions {effect}"


def _show(experiment: _Experiment, console: Console) -> None:
    for line in experiment.lines:
        say(console, line)
    say(console, f"wrote {experiment.path}; read it, then run: {experiment.command}")


def _command(name: str) -> str:
    """Return the command that runs the experiment, from the folder that holds ``experiment/``."""
    return f"biasbridge train --config-dir . +experiment={name}"


def _experiment(
    data: Data,
    settings: StudySettings,
    name: str,
    grids: Sequence[_Grid],
    reasons: Sequence[str],
) -> str:
    defaults: list[dict[str, Any]] = []
    values: dict[str, Any] = {"name": name}
    for key, value in settings.items():
        *nodes, last = key.split(".")
        if nodes or key == "language":
            inner = values
            for node in nodes:
                inner = inner.setdefault(node, {})
            inner[last] = value
        else:
            defaults.append({f"override /{key}": value})
    header = (
        f"# @package _global_\n# {_command(name)}\n# Paths are relative to the working folder.\n"
    )
    text = yaml.safe_dump({"defaults": defaults} | values, allow_unicode=True, sort_keys=False)
    text += "" if data.queries else _OWN_WORDS
    listed = [
        _GRID.format(seeds=_SEEDS, **grid._asdict() | {"doses": ",".join(map(str, grid.doses))})
        for grid in grids
    ]
    sizes = (len([*filter(None, grid.doses)]) * len(grid.direction.split(",")) for grid in grids)
    size = _power_comment(data, sum(sizes))
    sweep = _SWEEP.format(reasons="\n# ".join(reasons), grids="\n".join(listed), size=size)
    return header + text + sweep


def _power_comment(data: Data, n_modified: int) -> str:
    """Return the smallest correlation that the sweep detects, as a comment; empty without gaps."""
    if "posts" not in data.paths:
        return ""
    from biasbridge.analysis.correlation import minimum_detectable

    n_parents = 1 if "vectors" in data.paths else _SEEDS
    n_models = n_parents + _SEEDS * n_modified
    weat_queries = [query for query in data.queries if {"X", "Y", "A", "B"} <= query.sets.keys()]
    n_gaps = 1 if data.pair or not data.groups else len(data.groups)
    n_tests = _N_CONFIRMATORY * n_gaps * (len(weat_queries) or _N_DEFAULT_QUERIES)
    smallest = minimum_detectable(n_models - n_parents - 1, n_tests)
    models = f"{n_models} embeddings of {n_parents} unmodified"
    return f": {models}, enough to detect |r| of about {smallest:.2f} (docs/inference.md)"


main = Command(init, _show, also=[check], spelling=f"{DATA_SPELLING}; name NAME; map; options")

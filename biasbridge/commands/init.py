"""An experiment file for your own data, to read, edit and run."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from biasbridge.command_line import Command, say, write_text
from biasbridge.commands.check import DATA_SPELLING, check
from biasbridge.files import InputError
from biasbridge.files.paths import require_new
from biasbridge.user_data import DataOptions, read_data

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.user_data import Data, StudySettings

_SWEEP = """
hydra:
  mode: MULTIRUN
  sweeper:
    params: # every combination is a point{size}
      seed: range({seeds})
      debias: attract_repel
      debias.direction: debias,overbias
      debias.dose: {doses}
"""
_OWN_WORDS = """
# The built-in words are about men and women. For your own words, four lists X, Y, A and B (or give
# the file to init):
# intrinsic: {weat: {words: words.yaml}}
"""
_SEEDS = 3
# A verdict takes 8 degrees of freedom (docs/inference.md): one parent needs more doses than three
_DOSES = {"loaded": (0.02, 0.05, 0.1, 0.2), "trained": (0.05, 0.1, 0.3)}
_N_CONFIRMATORY = 2  # measures with confirmatory gaps: see analysis/declaration.py
_MODIFIED: StudySettings = {
    "debias": "attract_repel",
    "debias.direction": "debias",
    "debias.dose": 0.1,
}
_N_DEFAULT_QUERIES = 3  # see configuration in intrinsic/metrics/weat.py


class _Experiment(NamedTuple):
    """The experiment file, its command, and warnings."""

    path: Path
    command: str
    warnings: list[str]


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
    found = read_data(map(Path, data), DataOptions(**options))
    from biasbridge.data_checks import examine  # takes seconds

    settings = found.settings()
    report = examine(found, settings | _MODIFIED)
    if report.problems:
        raise InputError("; ".join(report.problems))
    path = Path("experiment") / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    require_new(path, inputs=found.paths.values(), force=force)
    write_text(_experiment(found, settings, name), path)
    return _Experiment(path, _command(name), report.warnings)


def _show(experiment: _Experiment, console: Console) -> None:
    for line in experiment.warnings:
        say(console, f"warning: {line}")
    say(console, f"wrote {experiment.path}; read it, then run: {experiment.command}")


def _command(name: str) -> str:
    """Return the command that runs the experiment, from the folder that holds ``experiment/``."""
    return f"biasbridge train --config-dir . +experiment={name}"


def _experiment(data: Data, settings: StudySettings, name: str) -> str:
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
    doses = _DOSES["loaded" if "vectors" in data.paths else "trained"]
    text += "" if data.queries else _OWN_WORDS
    sweep = _SWEEP.format(
        seeds=_SEEDS, doses=",".join(map(str, (0, *doses))), size=_power_comment(data, len(doses))
    )
    return header + text + sweep


def _power_comment(data: Data, n_doses: int) -> str:
    """Return the smallest correlation that the sweep detects, as a comment; empty without gaps."""
    if "posts" not in data.paths:
        return ""
    from biasbridge.analysis.correlation import minimum_detectable

    n_parents = 1 if "vectors" in data.paths else _SEEDS
    n_models = n_parents + _SEEDS * n_doses * 2
    weat_queries = [query for query in data.queries if {"X", "Y", "A", "B"} <= query.sets.keys()]
    n_gaps = 1 if data.pair or not data.groups else len(data.groups)
    n_tests = _N_CONFIRMATORY * n_gaps * (len(weat_queries) or _N_DEFAULT_QUERIES)
    smallest = minimum_detectable(n_models - n_parents - 1, n_tests)
    models = f"{n_models} embeddings of {n_parents} unmodified"
    return f": {models}, enough to detect |r| of about {smallest:.2f} (docs/inference.md)"


main = Command(init, _show, also=[check], spelling=f"{DATA_SPELLING}; name NAME; options")

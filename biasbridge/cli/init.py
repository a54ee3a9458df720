"""``biasbridge init``: write an experiment file for one's own data, to read, edit and run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from biasbridge.cli.options import add_data
from biasbridge.data import read_data
from files import InputError, atomic_path
from files.atomic import require_new
from files.options import Parser
from files.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasbridge.data import Data, Settings

DESCRIPTION = "Write an experiment file for your own data, to read, edit and run."
SWEEP = """
hydra:
  mode: MULTIRUN
  sweeper:
    params: # every combination is a point{size}
      seed: range({seeds})
      debias: attract_repel
      debias.direction: debias,overbias
      debias.dose: {doses}
"""
OWN_WORDS = """
# The built-in words are about men and women. Words of your own, four lists X, Y, A and B (or give
# the file to init):
# intrinsic: {weat: {words: words.yaml}}
"""
SEEDS = 3
# A verdict takes 8 degrees of freedom (docs/inference.md): one base needs more doses than three
DOSES = {"loaded": (0.02, 0.05, 0.1, 0.2), "trained": (0.05, 0.1, 0.3)}
CONFIRMATORY = 2  # measures whose gaps are confirmatory slices: see conf/study/correlation.yaml
MODIFIED: Settings = {"debias": "attract_repel", "debias.direction": "debias", "debias.dose": 0.1}
BUILT_IN = 3  # queries asked where there are none of one's own: see conf/intrinsic/weat.yaml


def main(arguments: Sequence[str] | None = None) -> int:
    """Write ``experiment/NAME.yaml`` and print the command that runs it."""
    options = Parser(prog="biasbridge init", description=DESCRIPTION)
    add_data(options)
    options.add_argument("--name", default="mine", help="of the experiment (default: mine)")
    options.add_argument("--force", action="store_true", help="replace the file that is there")
    given = options.parse_args(arguments)
    if not given.name.isidentifier():
        raise InputError(f"--name {given.name}: give letters, digits and underscores")
    data = read_data(given)
    from biasbridge.examine import examine  # takes seconds

    settings = data.settings()
    found = examine(data, settings | MODIFIED)
    if found.problems:
        raise InputError("; ".join(found.problems))
    path = Path("experiment") / f"{given.name}.yaml"
    path.parent.mkdir(exist_ok=True)
    require_new(path, read=data.paths.values(), force=given.force)
    with atomic_path(path) as work:
        work.write_text(_experiment(data, settings, given.name), encoding="utf-8")
    for line in found.warnings:
        print(printable(f"warning: {line}"))
    print(f"wrote {path}; look at it, then: {_command(given.name)}")
    return 0


def _command(name: str) -> str:
    """What runs the experiment from the folder that holds ``experiment/``."""
    return f"biasbridge train --config-dir . +experiment={name}"


def _experiment(data: Data, settings: Settings, name: str) -> str:
    """The experiment as YAML."""
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
    head = (
        f"# @package _global_\n# {_command(name)}\n# Paths count from the folder of this command.\n"
    )
    text = yaml.safe_dump({"defaults": defaults} | values, allow_unicode=True, sort_keys=False)
    doses = DOSES["loaded" if "vectors" in data.paths else "trained"]
    listed = ",".join(map(str, (0, *doses)))
    text += "" if data.queries else OWN_WORDS
    grid = SWEEP.format(seeds=SEEDS, doses=listed, size=_reach(data, len(doses)))
    return head + text + grid


def _reach(data: Data, doses: int) -> str:
    """What the grid can find, as a comment; nothing where there is no gap to correlate with."""
    if "posts" not in data.paths:
        return ""
    from analysis.correlation import minimum_detectable

    parents = 1 if "vectors" in data.paths else SEEDS
    models = parents + SEEDS * doses * 2
    own = [query for query in data.queries if {"X", "Y", "A", "B"} <= query.sets.keys()]
    gaps = 1 if data.pair or not data.groups else len(data.groups)
    tests = CONFIRMATORY * gaps * (len(own) or BUILT_IN)
    least = minimum_detectable(models - parents - 1, tests)
    made = f"{models} embeddings of {parents} unmodified"
    return f": {made}, enough to see |r| of about {least:.2f} (docs/inference.md)"

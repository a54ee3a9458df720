"""An experiment file for one's own data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from biasbridge.data import Data, Settings

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
SEEDS = 3
# A verdict takes 8 degrees of freedom (docs/inference.md): one base needs more doses than three
DOSES = {"loaded": (0.02, 0.05, 0.1, 0.2), "trained": (0.05, 0.1, 0.3)}
CONFIRMATORY = 2  # measures whose gaps are confirmatory slices: see conf/study/correlation.yaml
MODIFIED: Settings = {"debias": "attract_repel", "debias.direction": "debias", "debias.dose": 0.1}
BUILT_IN = 3  # queries asked where there are none of one's own: see conf/intrinsic/weat.yaml


def command(name: str) -> str:
    """What runs the experiment from the folder that holds ``experiment/``."""
    return f"biasbridge train --config-dir . +experiment={name}"


def experiment(data: Data, settings: Settings, name: str) -> str:
    """The experiment as YAML."""
    kinds: dict[str, str | float | list[str]] = {}
    values: dict[str, Any] = {"name": name}
    for key, value in settings.items():
        *nodes, last = key.split(".")
        if nodes:
            inner: dict[str, Any] = {last: value}
            for node in reversed(nodes[1:]):
                inner = {node: inner}
            values[nodes[0]] = _merged(values.get(nodes[0], {}), inner)
        elif key == "language":
            values[key] = value
        else:
            kinds[key] = value
    defaults = [{f"override /{kind}": option} for kind, option in kinds.items()]
    head = (
        f"# @package _global_\n# {command(name)}\n# Paths count from the folder of this command.\n"
    )
    text = yaml.safe_dump({"defaults": defaults} | values, allow_unicode=True, sort_keys=False)
    doses = DOSES["loaded" if "vectors" in data.paths else "trained"]
    listed = ",".join(map(str, (0, *doses)))
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


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Nested mappings as one."""
    nested = {
        key: _merged(one[key], value)
        for key, value in other.items()
        if isinstance(value, dict) and key in one
    }
    return one | other | nested

"""``biasbridge init DATA``: write an experiment file for one's own data, to read, edit and run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from biasbridge.data import Arguments, Data, add_arguments, read_data
from files import InputError, atomic_path
from files.atomic import require_new
from files.options import Parser


class Options(Arguments):
    """What the command line holds."""

    name: str
    force: bool


SWEEP = """
hydra:
  mode: MULTIRUN
  sweeper:
    params: # every combination is a point
      seed: range(3)
      debias: attract_repel
      debias.direction: debias,overbias
      debias.dose: 0,0.1
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write ``experiment/NAME.yaml`` and print the command that runs it."""
    options = Parser(prog="biasbridge init", description=__doc__)
    add_arguments(options)
    options.add_argument("--name", default="mine", help="of the experiment (default: mine)")
    options.add_argument("--force", action="store_true", help="replace the file that is there")
    given = options.parse_args(arguments, Options())
    if not given.name.isidentifier():
        raise InputError(f"--name {given.name}: give letters, digits and underscores")
    data = read_data(given)
    if not data.paths.keys() & {"posts", "corpus", "vectors"}:
        raise InputError("there is nothing to measure: give posts, a corpus or vectors")
    path = Path("experiment") / f"{given.name}.yaml"
    path.parent.mkdir(exist_ok=True)
    require_new(path, read=data.paths.values(), force=given.force)
    with atomic_path(path) as work:
        work.write_text(experiment(data, given.name), encoding="utf-8")
    command = f"python train.py --config-dir . +experiment={given.name}"
    print(f"wrote {path}; look at it, then: {command}")
    return 0


def experiment(data: Data, name: str) -> str:
    """The experiment as YAML."""
    kinds: dict[str, str] = {}
    values: dict[str, Any] = {"name": name}
    for override in data.overrides():
        key, _, value = override.partition("=")
        *nodes, last = key.split(".")
        if nodes:
            inner: dict[str, Any] = {last: value}
            for node in reversed(nodes[1:]):
                inner = {node: inner}
            values[nodes[0]] = {**values.get(nodes[0], {}), **inner}
        elif key == "language":
            values[key] = value
        else:
            kinds[key] = value
    defaults = [{f"override /{kind}": option} for kind, option in kinds.items()]
    head = "# @package _global_\n# python train.py --config-dir . +experiment=" + name + "\n"
    text = yaml.safe_dump({"defaults": defaults} | values, allow_unicode=True, sort_keys=False)
    return head + text + SWEEP

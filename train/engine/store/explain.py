"""Recipes of results: explained one by one, and counted for the tables of a sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.filesize import decimal
from rich.text import Text
from rich.tree import Tree

from analysis.provenance import INSTRUCTIONS, BuildRecord
from files.digest import digest_of
from train.engine.store.entry import DamagedError, read_recipe
from train.engine.store.tools import content_of, entries, find, size

if TYPE_CHECKING:
    from rich.console import Console

    from train.engine.store.entry import Provenance
    from train.engine.store.store import Store


def explain(store: Store, prefix: str, console: Console) -> None:
    """Print the recipe of a result and its ancestors, and the command that rebuilds it.

    Raises ``InputError`` for an unknown or ambiguous prefix of a key.
    """
    entry = find(store, prefix)
    by_key = {path.name: path for path in entries(store)}
    console.print(_tree(entry.parent.name, entry.name, by_key))
    if not (content := content_of(entry)):
        return
    made = content["made"]
    code, loaded = made["modules"], made.get("loaded", {})
    lines = [
        f"\nmade {made['time']} on {made['host']}, {made.get('device', 'cpu')}, by",
        f"  biasbridge {made['project'] or '(no version)'}, commit {made['commit'] or 'unknown'}",
        f"  {_list(_libraries(made))}",
        f"  code {_list({name: digest[:8] for name, digest in code.items()})}",
        f"  other loaded code: {', '.join(sorted(loaded.keys() - code)) or 'none'}",
        "to rebuild, in any store:",
        f"  {made.get('command', 'unknown: not made by train.py')}",
    ]
    console.print("\n".join(lines), soft_wrap=True)


def _tree(step: str, key: str, by_key: Mapping[str, Path]) -> Tree:
    """Return the recipe of a result and, below, those of its inputs."""
    title = Text.assemble((step, "bold"), f" {key}")
    if key not in by_key:
        return Tree(title + " (no longer in the store)")
    try:
        content = read_recipe(by_key[key])
    except DamagedError as damage:
        return Tree(title + f" (damaged: {damage})")
    recipe = content["recipe"]
    made_by = f"{recipe['made_by']} v{recipe['version']}"
    cost = f"{decimal(size(by_key[key]))}, {content['made']['seconds']:.1f} s"
    tree = Tree(title + f"  {made_by}, {cost}")
    if params := recipe["params"]:
        tree.add(", ".join(f"{name}={value}" for name, value in params.items()))
    if recipe["seed"] is not None:
        tree.add(f"seed {recipe['seed']}")
    for name, digest in recipe["files"].items():
        tree.add(f"file {name.partition(' ')[2]} sha256 {digest}")
    tree.children += [_tree(name, key, by_key) for name, key in recipe["inputs"].items()]
    return tree


def _libraries(made: Provenance) -> Mapping[str, str]:
    """Return the versions of libraries, and the instructions of torch where they were recorded."""
    instructions = made.get("instructions")
    return made["libraries"] | ({INSTRUCTIONS: instructions} if instructions else {})


def _list(values: Mapping[str, str]) -> str:
    """Return ``Python 3.11.7, gensim 4.4.0``."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def build_records(store: Store, keys: Iterable[str]) -> list[BuildRecord]:
    """Return build records of the stored results with these keys and of their ancestors."""
    folders = {entry.name: entry for entry in entries(store)}
    queue, visited = list(keys), set[str]()
    counts: Counter[BuildRecord] = Counter()
    while queue:
        if (key := queue.pop()) in visited or key not in folders:
            continue
        visited.add(key)
        if not (content := content_of(folders[key])):
            continue
        made, recipe = content["made"], content["recipe"]
        queue += recipe["inputs"].values()
        record = BuildRecord(
            step=recipe["step"],
            made_by=recipe["made_by"],
            results=0,
            project=made["project"],
            commit=made["commit"],
            code=digest_of(made["modules"])[:12],
            libraries=_list(_libraries(made)),
        )
        counts[record] += 1
    return [record._replace(results=counts[record]) for record in sorted(counts)]

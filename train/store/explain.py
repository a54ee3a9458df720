"""Where a result comes from: its recipe and those of all it rests on, and the command that makes it
again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, final

from rich.tree import Tree

from files import InputError
from train.store.entry import DamagedError, Made, read_recipe
from train.store.made import spell_versions
from train.store.stage import Step
from train.store.tools import entries, size, spell_bytes

if TYPE_CHECKING:
    from rich.console import Console

    from train.store.store import Store


@final
class Lost(TypedDict):
    """A result that cannot be told of, and why."""

    stage: str
    key: str
    lost: str


@final
class Told(Step):
    """The recipe of a result, how it was made, and the same for its inputs."""

    key: str
    bytes: int
    made: Made
    inputs: dict[str, Told | Lost]


def explain(store: Store, prefix: str, console: Console, *, as_json: bool) -> None:
    """Print the full recipe of the result whose key begins so. Raises ``InputError`` for an unknown
    or ambiguous beginning.
    """
    entry = find(store, prefix)
    told = provenance(store, entry)
    if as_json:
        console.print_json(json.dumps(told))
        return
    console.print(_tree(told), highlight=False)
    if "lost" in told:
        return
    made = told["made"]
    lines = [
        f"\nmade {made['time']} on {made['host']}, {made.get('device', 'cpu')}, by",
        f"  biasbridge {made['project'] or 'of no version'}, commit {made['commit'] or 'unknown'}",
        f"  {spell_versions(made['libraries'])}",
        f"  code {spell_versions({name: each[:8] for name, each in made['modules'].items()})}",
    ]
    console.print("\n".join(lines), highlight=False, soft_wrap=True, markup=False)
    console.print("again, in any store:", highlight=False)
    console.print(
        f"  {made.get('command', 'not noted: it was not made by train.py')}",
        highlight=False,
        soft_wrap=True,
        markup=False,
    )


def find(store: Store, prefix: str) -> Path:
    """The folder of the one result whose key begins with ``prefix``."""
    found = [entry for entry in entries(store) if entry.name.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            f"{prefix} is the beginning of {len(found)} keys:"
            f" {', '.join(entry.name for entry in found[:5])}; give more of it"
        )
    raise InputError(
        f"no result in {store.root} has a key that begins with {prefix}; python -m train.store ls"
        " STAGE lists keys, and the tables of a sweep have them in unit_key, intrinsic_key and"
        " extrinsic_key"
    )


def provenance(store: Store, entry: Path) -> Told | Lost:
    """The recipe of a result, how it was made, and the same for its inputs; an input no longer
    stored is only named.
    """
    try:
        content = read_recipe(entry)
    except DamagedError as damage:
        return {"stage": entry.parent.name, "key": entry.name, "lost": f"damaged: {damage}"}
    recipe = content["recipe"]
    by_key = {path.name: path for path in entries(store)}
    inputs: dict[str, Told | Lost] = {
        name: (
            provenance(store, by_key[key])
            if key in by_key
            else {"stage": name, "key": key, "lost": "no longer in the store"}
        )
        for name, key in recipe["inputs"].items()
    }
    return {
        **recipe,
        "key": entry.name,
        "bytes": size(entry),
        "made": content["made"],
        "inputs": inputs,
    }


def _tree(told: Told | Lost) -> Tree:
    title = f"[bold]{told['stage']}[/bold] {told['key']}"
    if "lost" in told:
        return Tree(f"{title} ({told['lost']})")
    tree = Tree(
        f"{title}  {told['made_by']} v{told['version']}, {spell_bytes(told['bytes'])},"
        f" {told['made']['seconds']:.1f} s"
    )
    if params := told["params"]:
        listed = ", ".join(f"{name}={value}" for name, value in params.items())
        tree.add(listed.replace("[", r"\["))
    if told["seed"] is not None:
        tree.add(f"seed {told['seed']}")
    for name, digest in told["files"].items():
        tree.add(f"file {name.partition(' ')[2]} sha256 {digest}")
    tree.children += map(_tree, told["inputs"].values())
    return tree

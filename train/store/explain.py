"""Where results come from: the recipe of one with those of all it rests on and the command that
builds it again, and what made the results behind a sweep's tables.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, final

from rich.tree import Tree

from analysis.made import Maker
from files import InputError
from files.digest import digest_of
from train.store.entry import DamagedError, Made, read_recipe
from train.store.stage import Step
from train.store.tools import entries, format_bytes, size

if TYPE_CHECKING:
    from rich.console import Console

    from train.store.store import Store


@final
class Lost(TypedDict):
    """A result whose recipe cannot be read, and why."""

    stage: str
    key: str
    lost: str


@final
class Provenance(Step):
    """The recipe of a result, how it was made, and the same for its inputs."""

    key: str
    bytes: int
    made: Made
    inputs: dict[str, Provenance | Lost]


def explain(store: Store, prefix: str, console: Console, *, as_json: bool) -> None:
    """Print the full recipe of the result whose key begins so. Raises ``InputError`` for an unknown
    or ambiguous beginning.
    """
    entry = find(store, prefix)
    found = provenance(entry, {path.name: path for path in entries(store)})
    if as_json:
        console.print_json(json.dumps(found))
        return
    console.print(_tree(found), highlight=False)
    if "lost" in found:
        return
    made = found["made"]
    lines = [
        f"\nmade {made['time']} on {made['host']}, {made.get('device', 'cpu')}, by",
        f"  biasbridge {made['project'] or 'of no version'}, commit {made['commit'] or 'unknown'}",
        f"  {_list(made['libraries'])}",
        f"  code {_list({name: each[:8] for name, each in made['modules'].items()})}",
        "again, in any store:",
        f"  {made.get('command', 'not noted: it was not made by train.py')}",
    ]
    console.print("\n".join(lines), highlight=False, soft_wrap=True, markup=False)


def find(store: Store, prefix: str) -> Path:
    """The folder of the one result whose key begins with ``prefix``. Raises ``InputError``."""
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


def provenance(entry: Path, by_key: Mapping[str, Path]) -> Provenance | Lost:
    """The recipe of a result, how it was made, and the same for its inputs; of an input no longer
    stored the key alone. ``by_key``: the folders of all results.
    """
    try:
        content = read_recipe(entry)
    except DamagedError as damage:
        return {"stage": entry.parent.name, "key": entry.name, "lost": f"damaged: {damage}"}
    recipe = content["recipe"]
    inputs: dict[str, Provenance | Lost] = {
        name: (
            provenance(by_key[key], by_key)
            if key in by_key
            else {"stage": name, "key": key, "lost": "no longer in the store"}
        )
        for name, key in recipe["inputs"].items()
    }
    made = content["made"]
    return {**recipe, "key": entry.name, "bytes": size(entry), "made": made, "inputs": inputs}


def _tree(found: Provenance | Lost) -> Tree:
    title = f"[bold]{found['stage']}[/bold] {found['key']}"
    if "lost" in found:
        return Tree(f"{title} ({found['lost']})")
    tree = Tree(
        f"{title}  {found['made_by']} v{found['version']}, {format_bytes(found['bytes'])},"
        f" {found['made']['seconds']:.1f} s"
    )
    if params := found["params"]:
        listed = ", ".join(f"{name}={value}" for name, value in params.items())
        tree.add(listed.replace("[", r"\["))
    if found["seed"] is not None:
        tree.add(f"seed {found['seed']}")
    for name, digest in found["files"].items():
        tree.add(f"file {name.partition(' ')[2]} sha256 {digest}")
    tree.children += map(_tree, found["inputs"].values())
    return tree


def _list(values: Mapping[str, str]) -> str:
    """``Python 3.11.7, gensim 4.4.0``."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def makers(store: Store, keys: Iterable[str]) -> list[Maker]:
    """What made the results with these keys and those that they rest on; results that are no longer
    stored are left out.
    """
    folders = {entry.name: entry for entry in entries(store)}
    left, seen = list(keys), set[str]()
    counts: Counter[Maker] = Counter()
    while left:
        if (key := left.pop()) in seen or key not in folders:
            continue
        seen.add(key)
        try:
            content = read_recipe(folders[key])
        except DamagedError:
            continue
        made, recipe = content["made"], content["recipe"]
        left += recipe["inputs"].values()
        maker = Maker(
            stage=recipe["stage"],
            made_by=recipe["made_by"],
            results=0,
            project=made["project"],
            commit=made["commit"],
            code=digest_of(made["modules"])[:12],
            libraries=_list(made["libraries"]),
        )
        counts[maker] += 1
    return [maker._replace(results=counts[maker]) for maker in sorted(counts)]

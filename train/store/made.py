"""What made the results behind a sweep's tables, read from their recipes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from analysis.made import Maker
from files.digest import digest_of
from train.store.entry import Content, DamagedError, read_recipe
from train.store.tools import entries

if TYPE_CHECKING:
    from train.store.store import Store


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
        left += content["recipe"]["inputs"].values()
        counts[_maker(content)] += 1
    return [maker._replace(results=counts[maker]) for maker in sorted(counts)]


def spell_versions(libraries: Mapping[str, str]) -> str:
    """``Python 3.11.7, gensim 4.4.0``."""
    return ", ".join(f"{name} {version}" for name, version in libraries.items())


def _maker(content: Content) -> Maker:
    made, recipe = content["made"], content["recipe"]
    return Maker(
        stage=recipe["stage"],
        made_by=recipe["made_by"],
        results=0,
        project=made["project"],
        commit=made["commit"],
        code=digest_of(made["modules"])[:12],
        libraries=spell_versions(made["libraries"]),
    )

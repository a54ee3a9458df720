"""A key on the command line that only some cells of a sweep have: named, with what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig, OmegaConf

if TYPE_CHECKING:
    from train.front.compose import Composer


def partial_key(arguments: Sequence[str], asked: Iterable[Sequence[str]], compose: Composer) -> str:
    """What is to be said of the first key of the command line that some of the cells ``asked`` have
    and others lack; empty where there is none.
    """
    given = OverridesParser.create().parse_overrides(list(arguments))
    keys = [each.key_or_group for each in given if not each.is_hydra_override()]
    cells = [compose.selected(cell) for cell in asked]
    for key in (each for each in keys if "." in each):
        having = [choices for config, choices in cells if _has(config, key)]
        lacking = [choices for config, choices in cells if not _has(config, key)]
        if having and lacking:
            return _told(key, having, lacking)
    return ""


def _has(config: DictConfig, key: str) -> bool:
    parent, _, name = key.rpartition(".")
    node = OmegaConf.select(config, parent)
    return isinstance(node, DictConfig) and name in map(str, node.keys())


def _told(
    key: str, having: Sequence[Mapping[str, str]], lacking: Sequence[Mapping[str, str]]
) -> str:
    """The choice that decides is that of the key's own group, or the first that sets the two
    apart.
    """
    for group in (key.partition(".")[0], *having[0]):
        there, absent = (
            dict.fromkeys(each[group] for each in side if group in each)
            for side in (having, lacking)
        )
        if there and absent and not there.keys() & absent.keys():
            has, lacks = (" and ".join(f"{group}={name}" for name in e) for e in (there, absent))
            alone = f"add {group}={','.join(there)} to sweep over that alone"
            return (
                f"{key}: only the grids with {has} have this key, those with {lacks} do not;"
                f" {alone}, or give the key in a grid of the experiment's file"
            )
    return (
        f"{key}: {len(having)} of {len(having) + len(lacking)} cells of the sweep have this key;"
        " give it in the grids of the experiment's file that do"
    )

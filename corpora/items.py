"""Sources of items: sets that come with the project, published ones, and one's own files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import choice
from files.choice import Fileless
from intrinsic.items.library import load_items
from intrinsic.items.read import read_items

if TYPE_CHECKING:
    from intrinsic.items.item import ItemSet, ItemSource


@choice
class BuiltInItems(Fileless):
    """Sets that come with the project, by name."""

    sets: tuple[str, ...]

    name: ClassVar[str] = "built_in"
    version: ClassVar[int] = 1

    def load(self) -> list[ItemSet]:
        """The sets. Raises ``InputError`` for an unknown name."""
        return load_items(self.sets)


def named_items(names: Sequence[str], *, there_only: bool = False) -> ItemSource:
    """The sets of these names; ``there_only``: those among them whose data are there."""
    return BuiltInItems(tuple(names))


@choice
class OwnItems:
    """One's own file; ``intrinsic.items.read`` has the columns."""

    path: str
    language: str = "en"

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.path).name

    def files(self) -> list[Path]:
        """The file."""
        return [Path(self.path)]

    def load(self) -> list[ItemSet]:
        """Its one set. Raises ``InputError`` for what is no table of items."""
        return [read_items(self.path, self.language)]

"""No debiasing, as a choice: the embedding as it was trained or loaded."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from debias.kinds import Direction, Place
from files import choice
from files.choice import FieldError


@choice
class Unmodified:
    """Nothing is changed. ``direction`` and ``dose`` are those of the methods, so that one grid can
    hold them and this.

    Raises ``InputError`` for a dose other than 0.
    """

    version: ClassVar[int] = 1
    name: ClassVar[str] = "none"
    acts_on: ClassVar[Place] = "none"
    roles: ClassVar[tuple[str, ...]] = ()
    seeded: ClassVar[bool] = False

    direction: Direction = "debias"
    dose: float = 0.0

    def __post_init__(self) -> None:
        if self.dose != 0:
            raise FieldError(
                f"dose={self.dose:g} without a method; choose a method, for example debias=balance"
            )

    def files(self) -> list[Path]:
        """None."""
        return []

"""No debiasing, as a choice: the embedding as it was trained or loaded."""

from __future__ import annotations

from typing import ClassVar

from debias.kinds import Direction, Place
from files import choice
from files.choice import FieldError, Fileless


@choice
class Unmodified(Fileless):
    """Nothing is changed; ``direction`` and ``dose`` are here so that a grid can hold this too.

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

"""The choice of no debiasing: the embedding as it was trained or loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, NoReturn

from annotated_types import doc

from biasbridge.debias.base import Direction, S, StepBuilder
from biasbridge.files import choice
from biasbridge.files.choice import FieldError, Fileless


@choice
class Unmodified(Fileless):
    """No change; ``direction`` and ``dose`` exist so that a grid over methods can include it.

    Raises ``FieldError`` for a dose other than 0.
    """

    version: ClassVar[int] = 1
    name: ClassVar[str] = "none"
    acts_on: ClassVar[str] = "none"
    roles: ClassVar[tuple[str, ...]] = ()
    chosen_as: ClassVar[tuple[str, ...]] = ("debias/none", "labels/none")

    direction: Annotated[
        Direction, doc("direction and dose exist so that a grid over methods can include none")
    ] = "debias"
    dose: float = 0

    def __post_init__(self) -> None:
        if self.dose != 0:
            raise FieldError(
                f"dose={self.dose:g} without a method; choose a method, for example debias=balance"
            )

    def build_steps(self, steps: StepBuilder[S], inputs: Mapping[str, S]) -> NoReturn:
        """Raise: at dose 0 a run has no debiasing step."""
        raise NotImplementedError

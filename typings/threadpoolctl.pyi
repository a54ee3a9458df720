from collections.abc import Callable
from types import TracebackType
from typing import Literal, Self, TypeVar

F = TypeVar("F", bound=Callable[..., object])

class threadpool_limits:
    def __init__(
        self, limits: int | None = None, user_api: Literal["blas", "openmp"] | None = None
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    @classmethod
    def wrap(
        cls, limits: int | None = None, user_api: Literal["blas", "openmp"] | None = None
    ) -> Callable[[F], F]: ...

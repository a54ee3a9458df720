from collections.abc import Callable
from concurrent.futures import Executor

class ProcessPoolExecutor(Executor):
    def __init__(
        self,
        max_workers: int | None = None,
        *,
        initializer: Callable[[], object] | None = None,
    ) -> None: ...
    def shutdown(
        self, wait: bool = True, kill_workers: bool = False, *, cancel_futures: bool = False
    ) -> None: ...

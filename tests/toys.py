"""A study that draws nothing and a classifier that ends as it is asked to, for sweeps that are
killed, interrupted and crowded; ``reliability/conf`` names them.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, ClassVar

from biasbridge.files import choice
from biasbridge.files.choice import Fileless

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from gensim.models import KeyedVectors
    from rich.console import Console

    from biasbridge.analysis.tables import Tables


@choice
class TablesOnly(Fileless):
    """Concludes nothing: a sweep ends with its tables, without charts and report."""

    name: ClassVar[str] = "tables_only"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = ()

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        return []


@choice
class Misbehave(Fileless):
    fault: str = "none"

    version: ClassVar[int] = 1
    name: ClassVar[str] = "misbehave"

    def predict(self, posts: pd.DataFrame, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
        if self.fault == "raise":
            raise ZeroDivisionError("an unlucky post")
        if self.fault == "exit":
            sys.exit("a library gave up")
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        table = posts[["id", "split", "group", "label"]]
        return table.assign(score=1.0, prediction=1)

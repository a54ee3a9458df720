"""The content of a stored result, written to a file of one's own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from files import InputError, atomic_path
from files.atomic import require_new
from train.store.entry import RECIPE, DamagedError, check

if TYPE_CHECKING:
    from rich.console import Console

TABLE = ".parquet"


def export(entry: Path, out: str | Path, console: Console, *, force: bool = False) -> None:
    """Write the vectors of a result in the format that the ending of ``out`` names, its table as
    CSV or Parquet, its text as it is.

    Raises ``InputError`` for a result that is damaged or has several files, an ending that does
    not go with it, and as ``files.atomic.require_new`` does.
    """
    try:
        check(entry)
    except DamagedError as damage:
        raise InputError(f"{entry} is damaged ({damage}); give the sweep again") from None
    out = Path(out)
    require_new(out, force=force)
    if (entry / "vectors").is_dir():
        from files.vectors import open_mapped, save_vectors  # loads gensim

        save_vectors(open_mapped(entry / "vectors"), out)
    else:
        _write(_single(entry), out)
    console.print(f"wrote {out}", soft_wrap=True, highlight=False, markup=False)


def _single(entry: Path) -> Path:
    """The file of a result that holds more than counts."""
    files = [path for path in sorted(entry.iterdir()) if path.name != RECIPE]
    content = [path for path in files if path.suffix != ".json"] or files
    if len(content) != 1:
        names = ", ".join(path.name for path in content) or "nothing"
        raise InputError(f"{entry} holds {names}; copy from there what you need")
    return content[0]


def _write(source: Path, out: Path) -> None:
    if source.suffix != TABLE and out.suffix != source.suffix:
        raise InputError(f"{out}: the result is {source.name}; give the ending {source.suffix}")
    if source.suffix == TABLE and out.suffix not in (TABLE, ".csv"):
        raise InputError(f"{out}: the result is a table; give the ending .csv or {TABLE}")
    with atomic_path(out) as work:
        if out.suffix == source.suffix:
            shutil.copyfile(source, work)
        else:
            import pandas as pd

            from files.tables import write_csv

            write_csv(pd.read_parquet(source), work)

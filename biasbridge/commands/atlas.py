"""The atlas of published point sets, recomputed by one protocol."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.command_line import Command, say
from biasbridge.files import InputError, atomic_path
from biasbridge.files.paths import require_output

if TYPE_CHECKING:
    from rich.console import Console


class _Atlas(NamedTuple):
    """The files written, and what lacks."""

    written: list[Path]
    missing: list[str]


def atlas(folder: str | PathLike[str], *, out: str | PathLike[str] | None = None) -> _Atlas:
    """Analyse published tables of bias measures again, all in the same way.

    Parameters
    ----------
    folder : path
        Folder with one YAML file per set.
    out : path, optional
        Output folder (default: the same).
    """
    from biasbridge.files.charts import save_chart
    from biasbridge.files.tables import write_csv
    from biasbridge.studies.atlas import atlas_page, atlas_table, forest_plot, read_atlas

    folder, place = Path(folder), Path(out or folder)
    require_output(place / "README.md", [".md"])
    readings = read_atlas(folder)
    if not any(reading.read for reading in readings):
        raise InputError(
            "found no table; biasbridge data get atlas_goldfarb_tarrant atlas_stereoset brings them"
        )
    with atomic_path(place / "README.md") as path:
        path.write_text(atlas_page(readings), encoding="utf-8")
    with atomic_path(place / "atlas.csv") as path:
        write_csv(atlas_table(readings), path)
    save_chart(forest_plot(readings), place / "atlas.svg")
    missing = [
        f"{reading.name}: {reading.of.table} is missing; get it from {reading.of.address}"
        for reading in readings
        if not reading.read
    ]
    return _Atlas([place / name for name in ("README.md", "atlas.csv", "atlas.svg")], missing)


def _show(result: _Atlas, console: Console) -> int:
    for line in (*result.written, *result.missing):
        say(console, line)
    return int(bool(result.missing))


main = Command(atlas, _show, spelling="out FOLDER")

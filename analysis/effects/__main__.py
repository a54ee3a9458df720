"""How far each modification moved gaps, scores and how well the task is done.

python -m analysis.effects results/hatespeech_link
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from analysis.declaration import Declaration
from analysis.effects.estimate import effects
from analysis.effects.table import TABLE, write_effects
from analysis.results import read_tables
from files import InputError, run_cli
from files.options import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what the largest doses did, and write every effect."""
    parser = Parser(prog="python -m analysis.effects", description=__doc__)
    parser.add_argument("results", type=Path, help="a results folder, as a sweep writes it")
    parser.add_argument("--out", type=Path, help=f"the table (default: {TABLE} in that folder)")
    given = parser.parse_args(arguments)
    folder: Path = given.results
    study = Declaration.of(folder)
    found = effects(read_tables(folder), study.utility)
    if not found:
        raise InputError(f"{folder}: nothing was modified, or no unmodified embedding is there")
    console = Console(soft_wrap=True)
    path = write_effects(found, study.confirmatory, given.out or folder / TABLE, console)
    console.print(str(path), highlight=False)
    return 0


if __name__ == "__main__":
    run_cli(main)

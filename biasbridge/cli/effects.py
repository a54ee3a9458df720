"""``biasbridge effects``: how far each condition moved gaps, scores and task performance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from biasbridge.cli.options import CSV
from files import InputError
from files.options import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what the largest doses did, and with ``--out`` write every effect."""
    given = _parser().parse_args(arguments)
    from analysis.declaration import Declaration
    from analysis.effects import effects
    from analysis.effects_table import print_effects, write_effects
    from analysis.results import read_tables
    from files.terminal import open_console

    study = Declaration.of(given.results)
    found = effects(read_tables(given.results), study.utility)
    if not found:
        message = "nothing was modified, or no unmodified embedding is there"
        raise InputError(f"{given.results}: {message}")
    console = open_console(soft_wrap=True)
    if given.out:
        write_effects(found, study.confirmatory, given.out, console)
        console.print(str(given.out))
    else:
        print_effects(found, study.confirmatory, console)
    return 0


def _parser() -> Parser:
    description = "How far each condition moved gaps, scores and how well the task is done."
    parser = Parser(prog="biasbridge effects", description=description)
    parser.add_argument("results", type=Path, help="a results folder, as a sweep writes it")
    parser.add_argument("--out", type=CSV, help="write a table of all of them here, as CSV")
    return parser

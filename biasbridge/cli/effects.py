"""``biasbridge effects``: how far each condition changed gaps, scores and task performance."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from biasbridge.cli.options import CSV
from biasbridge.files import InputError
from biasbridge.files.terminal import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the effects of the largest doses, or write every effect to ``--out``."""
    args = _parser().parse_args(arguments)
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.effects import effects, print_effects, write_effects
    from biasbridge.analysis.tables import read_tables
    from biasbridge.files.terminal import open_console

    study = Declaration.of(args.results)
    condition_effects = effects(read_tables(args.results), study.utility)
    if not condition_effects:
        problem = "it has no modified models, or no unmodified embedding"
        raise InputError(f"{args.results}: {problem}")
    console = open_console(soft_wrap=True)
    if args.out:
        write_effects(condition_effects, study.confirmatory, args.out, console)
        console.print(str(args.out))
    else:
        print_effects(condition_effects, study.confirmatory, console)
    return 0


def _parser() -> Parser:
    description = "Show how far each condition changed gaps, scores and task performance."
    parser = Parser(prog="biasbridge effects", description=description)
    parser.add_argument("results", type=Path, help="a results folder, as a sweep writes it")
    parser.add_argument("--out", type=CSV, help="write all effects to this CSV file")
    return parser

"""``python -m benchmarks [NAME ...]``: one table of what was measured against what must be
reached.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

import benchmarks
from files import run_cli
from files.options import Parser

if TYPE_CHECKING:
    from benchmarks.row import Row


class Arguments(argparse.Namespace):
    """What the command line holds."""

    names: list[str]


def main() -> None:
    """Run the benchmarks named, or all, and print their rows."""
    names = sorted(
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if module.name not in ("__main__", "row")
    )
    parser = Parser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*names, []], help=f"any of {', '.join(names)}")
    table = Table()
    for column in ("what", "measured", "must reach", "unit"):
        table.add_column(column, justify="left" if column in ("what", "unit") else "right")
    for name in parser.parse_args(namespace=Arguments()).names or names:
        rows: Iterable[Row] = importlib.import_module(f"benchmarks.{name}").rows()
        for row in rows:
            table.add_row(row.what, f"{row.measured:,.4g}", row.target, row.unit)
    Console().print(table)


if __name__ == "__main__":
    run_cli(main)

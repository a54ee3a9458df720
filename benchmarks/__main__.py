"""``python -m benchmarks [ROOM ...]``: time and memory of each benchmark beside its limits."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import tempfile
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

import benchmarks
from benchmarks.row import measure_apart
from biasbridge.files import run_cli
from biasbridge.files.terminal import Parser, open_console

if TYPE_CHECKING:
    from benchmarks.row import Row


class Arguments(argparse.Namespace):
    """Command-line arguments."""

    names: list[str]


def main() -> None:
    """Run the benchmarks of the given rooms, or all, and print a table."""
    modules = pkgutil.iter_modules(benchmarks.__path__)
    names = sorted(m.name for m in modules if m.name not in ("__main__", "row"))
    parser = Parser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*names, []], help=f"any of {', '.join(names)}")
    table = Table("benchmark")
    for column in ("seconds", "at most", "CPU seconds", "MB", "at most"):
        table.add_column(column, justify="right")
    by_default = [name for name in names if name != "scale"]
    for name in parser.parse_args(namespace=Arguments()).names or by_default:
        rows: list[Row] = importlib.import_module(f"benchmarks.{name}").ROWS
        with tempfile.TemporaryDirectory() as folder:
            for number, row in enumerate(rows):
                cost = measure_apart(name, number, Path(folder))
                numbers = (cost[0], row.seconds, *cost[1:], row.megabytes)
                table.add_row(row.what, *(f"{x:,.3g}" if isfinite(x) else "" for x in numbers))
    open_console().print(table)


if __name__ == "__main__":
    run_cli(main)

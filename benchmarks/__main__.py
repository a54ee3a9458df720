"""``python -m benchmarks [NAME ...]``: one table of what was measured against what must be
reached.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil

from rich.console import Console
from rich.table import Table

import benchmarks


def main() -> None:
    """Run the benchmarks named, or all, and print their rows."""
    names = sorted(
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if module.name != "__main__"
    )
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*names, []], help=f"any of {', '.join(names)}")
    table = Table()
    for column in ("what", "measured", "must reach", "unit"):
        table.add_column(column, justify="left" if column in ("what", "unit") else "right")
    for name in parser.parse_args().names or names:
        for row in importlib.import_module(f"benchmarks.{name}").rows():
            table.add_row(row["what"], f"{row['measured']:,.4g}", row["target"], row["unit"])
    Console().print(table)


if __name__ == "__main__":
    main()

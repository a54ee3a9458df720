"""``biasbridge atlas``: the atlas of published point sets, computed again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from files import InputError, atomic_path
from files.atomic import require_output
from files.options import Parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Read every point set of a folder and write page, table and figure; 0, or 1 where the table of
    a set is not at hand.
    """
    given = _parser().parse_args(arguments)
    from files.charts import save_chart
    from files.tables import write_csv
    from studies.atlas.page import forest, page, table
    from studies.atlas.protocol import read_atlas

    out = given.out or given.folder
    require_output(out / "README.md", [".md"])
    readings = read_atlas(given.folder)
    if not any(each.read for each in readings):
        raise InputError("no table is at hand; set BIASBRIDGE_DATA to the folder that holds them")
    with atomic_path(out / "README.md") as path:
        path.write_text(page(readings), encoding="utf-8")
    with atomic_path(out / "atlas.csv") as path:
        write_csv(table(readings), path)
    save_chart(forest(readings), out / "atlas.svg")
    for written in ("README.md", "atlas.csv", "atlas.svg"):
        print(out / written)
    absent = [each for each in readings if not each.read]
    for each in absent:
        print(f"{each.name}: {each.of.table} is not at hand; get it from {each.of.address}")
    return 1 if absent else 0


def _parser() -> Parser:
    parser = Parser(
        prog="biasbridge atlas",
        description="Published point sets, read again by one protocol.",
    )
    parser.add_argument("folder", type=Path, help="the folder with a YAML file for each set")
    parser.add_argument("--out", type=Path, help="where to write (default: that folder)")
    return parser

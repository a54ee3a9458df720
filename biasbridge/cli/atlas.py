"""``biasbridge atlas``: the atlas of published point sets, recomputed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from biasbridge.files import InputError, atomic_path
from biasbridge.files.paths import require_output
from biasbridge.files.terminal import Parser

REPLICATIONS = "replications.csv"  # tables and figures of studies: study, item, page, ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the point sets of a folder and write page, table and figure.

    Return 1 if the table of a set is missing.
    """
    args = _parser().parse_args(arguments)
    from biasbridge.files.charts import save_chart
    from biasbridge.files.tables import read_table, write_csv
    from biasbridge.studies.atlas import atlas_page, atlas_table, forest_plot, read_atlas

    out = args.out or args.folder
    require_output(out / "README.md", [".md"])
    readings = read_atlas(args.folder)
    if not any(reading.read for reading in readings):
        raise InputError(
            "found no table; biasbridge data get atlas_goldfarb_tarrant atlas_stereoset brings them"
        )
    replications = args.folder / REPLICATIONS
    table = read_table(replications) if replications.exists() else None
    with atomic_path(out / "README.md") as path:
        path.write_text(atlas_page(readings, table), encoding="utf-8")
    with atomic_path(out / "atlas.csv") as path:
        write_csv(atlas_table(readings), path)
    save_chart(forest_plot(readings), out / "atlas.svg")
    for file_name in ("README.md", "atlas.csv", "atlas.svg"):
        print(out / file_name)
    missing = [reading for reading in readings if not reading.read]
    for reading in missing:
        source = reading.of
        print(f"{reading.name}: {source.table} is missing; get it from {source.address}")
    return 1 if missing else 0


def _parser() -> Parser:
    parser = Parser(
        prog="biasbridge atlas",
        description="Recompute published point sets by one protocol.",
    )
    parser.add_argument("folder", type=Path, help="folder with one YAML file per set")
    parser.add_argument("--out", type=Path, help="output folder (default: the same)")
    return parser

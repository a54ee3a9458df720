"""Write ``report.html`` for a results folder, with its figures as SVG, PNG and PDF and
``correlations.tex`` beside it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from analysis.report.build import build_report
from files import run_cli


def main(arguments: Sequence[str] | None = None) -> int:
    """Build the report and print the paths."""
    parser = argparse.ArgumentParser(prog="python -m analysis.report", description=__doc__)
    parser.add_argument("results", type=Path, help="a results folder, as a sweep writes it")
    parser.add_argument(
        "--out",
        type=Path,
        help="where to write the page (default: report.html in the results folder)",
    )
    given = parser.parse_args(arguments)
    for path in build_report(given.results, given.out):
        print(path)
    return 0


if __name__ == "__main__":
    run_cli(main)

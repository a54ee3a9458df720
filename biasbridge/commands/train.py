"""A point or a sweep, as ``train.py`` in a checkout, and as a function."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING

from biasbridge.files import InputError
from biasbridge.files.interrupts import Interrupted
from biasbridge.files.paths import IMPORTED_FROM

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Study:
    """Results of a study: their ``folder``, and the ``answer``, what the study prints.

    Examples
    --------
    >>> mine = Study(Path("docs/runs/answer_en"), answer="")
    >>> mine.tables.gaps[["measure", "verdict"]].to_dict("list")
    {'measure': ['precision', 'recall'], 'verdict': ['at most', 'at most']}
    """

    folder: Path
    answer: str

    @cached_property
    def tables(self) -> SimpleNamespace:
        """Tables of the results folder, each a DataFrame under the name of its file: ``points``,
        ``intrinsic`` and ``extrinsic``, and what the study wrote, such as ``correlations``,
        ``gaps``, ``scopes`` and ``effects``. ``docs/results.md`` lists their columns.
        """
        import pandas as pd

        from biasbridge.analysis.tables import read_tables
        from biasbridge.files.tables import unescape_formulas

        written = {
            path.stem: unescape_formulas(pd.read_csv(path, keep_default_na=False, na_values=[""]))
            for path in sorted(self.folder.glob("*.csv"))
        }
        return SimpleNamespace(**read_tables(self.folder)._asdict() | written)

    @cached_property
    def charts(self) -> dict[str, alt.TopLevelMixin]:
        """Charts by name: ``change`` of declared tests, ``scatter`` of every score and gap."""
        from biasbridge import plot
        from biasbridge.commands.correlate import read_results

        charts: dict[str, alt.TopLevelMixin] = {}
        with suppress(InputError):
            charts["change"] = plot.change(self.folder)
        with suppress(InputError):
            charts["scatter"] = plot.scatter(read_results(self.folder, resamples=True))
        return charts


def study(*overrides: str, config_dir: str | PathLike[str] | None = None) -> Study:
    """Run an experiment, as ``biasbridge train`` does, and print nothing.

    Parameters
    ----------
    *overrides : str
        Arguments of ``biasbridge train``, such as ``"+experiment=hatespeech_en"``, ``"seed=0,1"``.
    config_dir : path, optional
        Folder with experiments, metrics and methods of your own.

    Returns
    -------
    Study
        ``tables`` by the names of their files, ``answer`` (the text of the study), ``charts`` by
        name, and the ``folder`` of results.

    Raises
    ------
    InputError
        Overrides that are refused, or a point that failed.

    Examples
    --------
    >>> mine = study("+experiment=hatespeech_en")  # doctest: +SKIP
    >>> mine.tables.gaps[["measure", "bound", "verdict"]]  # doctest: +SKIP
    """
    from biasbridge.train.cli.start import run_experiment

    options = ["--config-dir", str(config_dir)] if config_dir else []
    printed = io.StringIO()
    finished = run_experiment([*options, *overrides], out=printed)
    if finished.status:
        raise unfinished(printed.getvalue())
    return Study(finished.folder, printed.getvalue())


def unfinished(printed: str) -> InputError:
    """Return the error of a run that did not finish, with the first failure that it printed."""
    failures = [line for line in printed.splitlines() if line.startswith("failed ")]
    reason = failures[0] if failures else "its errors are printed above"
    return InputError(f"the run did not finish: {reason}")


def run_train(arguments: Sequence[str], out: IO[str] | int | None) -> int:
    """Return the exit status of ``biasbridge train`` in a process of its own."""
    path = os.pathsep.join(filter(None, (str(IMPORTED_FROM), os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, "-m", "biasbridge", "train", *arguments],
        stdout=out,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        return process.wait()
    except KeyboardInterrupt as stop:
        process.terminate()
        process.wait()
        if isinstance(stop, Interrupted):
            sys.exit(stop.status)  # the other process says so
        raise


def main(arguments: Sequence[str]) -> int:
    """Run the overrides; exit the process if the status is not 0."""
    from biasbridge.train.cli.start import start

    sys.argv = ["train.py", *arguments]
    start()
    return 0

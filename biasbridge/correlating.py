"""Results of a sweep, and correlations of any table, as functions."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError
from biasbridge.files.choice import check_arguments
from biasbridge.input_tables import InputTable, as_dataframe, as_names, with_notes

if TYPE_CHECKING:
    import pandas as pd


@check_arguments(utility=str, classifier=str)
def correlate(
    table: InputTable,
    x: str,
    y: str,
    *,
    by: str | Sequence[str] = (),
    observation: str | Sequence[str] = (),
    parent: str | Sequence[str] = (),
    condition: str | Sequence[str] = (),
    cluster: str | Sequence[str] = (),
    classifier: str = "",
    utility: str = "",
    confirmatory: str | Sequence[str] = (),
    smallest_change: float = 0.02,
    scopes: bool = False,
) -> pd.DataFrame:
    """Correlate two columns, scores and gaps, within each slice of a table.

    Parameters
    ----------
    table
        A table with a row per model, or its path; what :func:`read_results` returns fits.
    x, y
        Columns of the scores and of the gaps.
    by
        Columns that define the slices.
    observation
        Columns that identify one model of a parent; by default each row is one.
    parent
        Columns that identify the unmodified model: r_rm is taken within these.
    condition
        Columns that identify the modification (method, words, dose).
    cluster
        Columns above parents (corpus, language): their parents are averaged for each condition.
    classifier
        Column of the classifier: each has slices of its own. By default ``classifier``, if the
        table has that column.
    utility
        Column of the performance on the task.
    confirmatory
        Slices declared beforehand, by their values of ``by``, or ``"all"``: they get a verdict.
    smallest_change
        Smallest change of the gap of interest, in its own unit: a change that is surely smaller
        gets the verdict ``at most``.
    scopes
        Return the change of the gap for these runs, other doses, other word lists, other methods,
        other seeds and other corpora, of the slices declared by ``confirmatory``.

    Returns
    -------
    DataFrame
        One row per slice (with ``scopes``: per slice and scope), with the columns in
        ``docs/results.md``; correlations are in [-1, 1], above 0 where larger scores go with larger
        gaps. ``docs/inference.md`` explains verdicts.

    Raises
    ------
    InputError
        A column that does not exist or holds no numbers, or levels that do not nest.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"weat": [0.1, 0.4, 0.7, 0.9], "gap": [0.02, 0.05, 0.04, 0.09]})
    >>> print(round(correlate(table, x="weat", y="gap")["r_rm"].item(), 2))
    0.84
    """
    from biasbridge.analysis.correlate import Levels
    from biasbridge.analysis.correlate import correlate as correlate_table
    from biasbridge.analysis.joined import WITHOUT_RESAMPLES, lacks_resamples
    from biasbridge.analysis.slices import RESULT_COLUMNS, correlation_table, scope_table

    table = as_dataframe(table)
    levels = Levels(
        *(as_names(observation), as_names(parent), as_names(condition), as_names(cluster)),
        utility,
        classifier,
    )
    slice_results = correlate_table(
        table,
        x=x,
        y=y,
        by=as_names(by),
        levels=levels,
        confirmatory=as_names(confirmatory),
        smallest_change=smallest_change,
    )
    if scopes:
        return with_notes(scope_table(slice_results), "note")
    columns = [*slice_results[0].names, *RESULT_COLUMNS]
    correlations = with_notes(correlation_table(slice_results, columns), "note")
    if lacks_resamples(table):
        correlations.attrs["notes"].append(
            f"{WITHOUT_RESAMPLES}: read_results(..., resamples=True) reads them"
        )
    return correlations


def read_results(folder: str | PathLike[str], *, resamples: bool = False) -> pd.DataFrame:
    """Read the joined table of the results folder of a sweep.

    Parameters
    ----------
    folder
        Results folder, with the three Parquet files that are joined.
    resamples
        Keep ``x_resampled`` and ``y_resampled``, 200 numbers per row, from which :func:`correlate`
        estimates the sampling error of words and items.

    Returns
    -------
    DataFrame
        One row per point, score (``x``) and gap (``y``); ``docs/results.md`` lists the columns.

    Raises
    ------
    InputError
        A table is missing or damaged.

    Examples
    --------
    >>> table = read_results("docs/runs/answer_en")
    >>> {"parent", "metric", "x", "measure", "y"} <= {*table.columns}
    True
    """
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.joined import RESAMPLED, join_points
    from biasbridge.analysis.tables import read_tables

    if not isinstance(folder, str | PathLike):
        raise InputError(f"{type(folder).__name__} is no folder; give the path of results")
    rows = join_points(read_tables(Path(folder)), Declaration.of(Path(folder)).utility)
    return rows if resamples else rows.drop(columns=[*RESAMPLED], errors="ignore")

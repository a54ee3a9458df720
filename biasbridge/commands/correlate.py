"""Correlations of a results folder or of any table, and results as one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.command_line import STANDARD_OUTPUT, Command, as_csv, returns, say, write_text
from biasbridge.files import InputError
from biasbridge.files.choice import as_names, check_arguments
from biasbridge.input_tables import InputTable, as_dataframe, with_notes

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.analysis.slices import SliceResult
    from biasbridge.files.writers import Document


@dataclass
class _Correlations:
    """Slices of a table, and how they are shown; ``title`` is empty for the slices of a study."""

    slices: list[SliceResult]
    columns: Sequence[str]
    title: str = ""
    scopes: bool = False
    warnings: Sequence[str] = ()  # of copied rows, and that resamples are missing

    def as_table(self) -> pd.DataFrame:
        """Return a row per slice, or per slice and scope."""
        from biasbridge.analysis.naming import row_names
        from biasbridge.analysis.slices import correlation_table, scope_table, without_repeats

        slices = self.slices if self.title else without_repeats(self.slices)
        if self.scopes:
            return with_notes(scope_table(slices), "note")
        table = correlation_table(slices, self.columns)
        varying = [name for name in slices[0].names if len({*table[name]}) > 1] if slices else []
        table = with_notes(table, "note", row_names(table, varying))
        table.attrs["notes"] += self.warnings
        return table


@returns(_Correlations.as_table)
@check_arguments(utility=str, classifier=str)
def correlate(
    table: InputTable,
    x: str = "",
    y: str = "",
    *,
    by: str | Sequence[str] = (),
    observation: str | Sequence[str] = (),
    parent: str | Sequence[str] = (),
    condition: str | Sequence[str] = (),
    cluster: str | Sequence[str] = (),
    classifier: str = "",
    utility: str = "",
    confirmatory: str | Sequence[str] = (),
    smallest_change: float | None = None,
    scopes: bool = False,
) -> _Correlations:
    """Correlate two columns, scores and gaps, within each slice of a table.

    Parameters
    ----------
    table : DataFrame or path
        A results folder, or a table with a row per model. A table is a pandas one, such as
        :func:`read_results` returns, or a file .csv, .tsv or .parquet. A results folder without
        further options has the slices of its study.
    x : str
        Column of the scores (default in a results folder: x).
    y : str
        Column of the gaps (default in a results folder: y).
    by : str or sequence of str
        Columns that split the table into slices.
    observation : str or sequence of str
        Columns that identify one model of a parent (default: each row is a model).
    parent : str or sequence of str
        Columns that identify the unmodified model, within which r_rm is computed.
    condition : str or sequence of str
        Columns that identify the modification (method, words, dose).
    cluster : str or sequence of str
        Columns above parents, such as corpus or language, whose parents are averaged for each
        condition.
    classifier : str
        Column of the classifier; each classifier gets its own slices (default: classifier, if there
        is one).
    utility : str
        Column of the performance on the task.
    confirmatory : str or sequence of str
        Slices that get a verdict, declared beforehand: all, or their values of by, joined by
        spaces.
    smallest_change : float, optional
        Smallest change of the gap of interest (default: 0.02, or as the results folder declares). A
        change that is shown to be smaller gets the verdict ``at most``.
    scopes : bool
        Return the change of the gap by scope: these runs, other doses, word lists, methods, seeds
        and corpora. The slices are those declared by ``confirmatory``.

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
    from biasbridge.analysis.correlate import Levels, correlate_slices
    from biasbridge.analysis.correlate import correlate as correlate_table
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.joined import is_joined, join_folder, resamples_warning
    from biasbridge.analysis.slices import CORRELATION_COLUMNS, RESULT_COLUMNS
    from biasbridge.files.columns import clean_models

    source = "the table"
    study = Declaration()
    if isinstance(table, str | PathLike):
        source, study = str(table), Declaration.of(Path(table))
    is_folder = isinstance(table, str | PathLike) and Path(table).is_dir()
    rows = join_folder(str(table), study.utility) if is_folder else as_dataframe(table)
    if smallest_change is not None:
        study = replace(study, smallest_change=smallest_change)
    observations, parents = as_names(observation), as_names(parent)
    conditions, clusters = as_names(condition), as_names(cluster)
    levels = Levels(observations, parents, conditions, clusters, utility, classifier)
    has_options = x or y or by or confirmatory or levels.named or levels.utility
    warnings = [*rows.attrs.get("notes", [])]
    if not is_joined(rows):
        names = [*as_names(by), *observations, *parents, *conditions, *clusters, classifier]
        rows, notes = clean_models(rows, x, y, names)
        warnings += notes
    warnings += filter(None, [resamples_warning(rows)])
    if is_joined(rows) and not has_options:
        slices = correlate_slices(rows, study)
        return _Correlations(slices, CORRELATION_COLUMNS, "", scopes, warnings)
    if not is_joined(rows) and not (x and y):
        listed = ", ".join(map(str, rows.columns))
        raise InputError(f"name two columns with --x and --y; {source} has {listed}")
    x, y = x or "x", y or "y"
    slices = correlate_table(
        rows,
        x=x,
        y=y,
        by=as_names(by),
        levels=levels,
        confirmatory=as_names(confirmatory),
        smallest_change=study.smallest_change,
    )
    columns = [*slices[0].names, *RESULT_COLUMNS]
    return _Correlations(slices, columns, f"{y} against {x}, {len(rows)} rows", scopes, warnings)


def read_results(folder: str | PathLike[str], *, resamples: bool = False) -> pd.DataFrame:
    """Read the joined table of the results folder of a sweep.

    Parameters
    ----------
    folder : path
        Results folder, with the three Parquet files that are joined.
    resamples : bool
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
    from biasbridge.analysis.correlate import StudyResults
    from biasbridge.analysis.joined import RESAMPLED

    rows = StudyResults.read(folder).joined
    return rows if resamples else rows.drop(columns=[*RESAMPLED], errors="ignore")


def _as_document(correlations: _Correlations) -> Document:
    from biasbridge.analysis.slice_documents import correlations_document, slices_document

    if not correlations.title:
        return correlations_document(correlations.slices)
    document = slices_document(correlations.slices, correlations.title)
    return document._replace(notes=[*document.notes, *correlations.warnings])


def _show(
    correlations: _Correlations, console: Console, *, confirmatory: Sequence[str] = ()
) -> None:
    from biasbridge.analysis.verdicts import RULES
    from biasbridge.files.writers import print_document

    print_document(_as_document(correlations), console, ruled=False)
    if correlations.title and confirmatory:
        console.print(RULES, soft_wrap=True)


def _write_scopes(
    correlations: _Correlations, console: Console, *, csv: Path = STANDARD_OUTPUT
) -> None:
    """Write the changes of the gap by scope beside the table."""
    if csv == STANDARD_OUTPUT:
        return
    path = csv.with_name(f"{csv.stem}_scopes{csv.suffix}")
    write_text(as_csv(replace(correlations, scopes=True).as_table()), path)
    say(console, f"{csv}, {path}")


main = Command(
    correlate,
    _show,
    end=_write_scopes,
    table=_Correlations.as_table,
    document=_as_document,
    spelling="csv --csv --out; x COL; y COL; by COL,...; observation COL,...; parent COL,...; "
    "condition COL,...; cluster COL,...; classifier COL; utility COL; confirmatory SLICE,...; "
    "scopes",
)

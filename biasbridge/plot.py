"""Altair charts of the tables that the functions return; ``biasbridge.files.charts.save_chart``
saves them.
"""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, ParamSpec

from biasbridge.files import InputError
from biasbridge.files.charts import show_pictures
from biasbridge.files.errors import require_known
from biasbridge.files.extras import named_extra
from biasbridge.input_tables import as_dataframe

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    import altair as alt
    import pandas as pd

P = ParamSpec("P")


def _chart(draw: Callable[P, alt.TopLevelMixin]) -> Callable[P, alt.TopLevelMixin]:
    """Name the extra that a function lacks, and have notebooks show its chart offline."""

    @wraps(draw)
    def chart(*args: P.args, **kwargs: P.kwargs) -> alt.TopLevelMixin:
        require_known(kwargs, signature(draw).parameters, f"plot.{draw.__name__}()")
        with named_extra(f"biasbridge.plot.{draw.__name__}"):
            show_pictures()
            return draw(*args, **kwargs)

    return chart


@_chart
def gaps(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Plot each measure by group with 95% intervals, one panel per measure.

    Parameters
    ----------
    table
        What :func:`biasbridge.gaps` returns. Classifiers and classes each have a colour.

    Returns
    -------
    altair.TopLevelMixin
        Groups with the largest gaps come first; the dashed line is the value for all items.

    Raises
    ------
    InputError
        A column is missing.

    Examples
    --------
    >>> from biasbridge import gaps as measure_gaps
    >>> import pandas as pd
    >>> items = {"label": [0, 1] * 20, "prediction": [1] * 40, "group": ["a"] * 20 + ["b"] * 20}
    >>> chart = gaps(measure_gaps(pd.DataFrame(items)))
    >>> len(chart.to_dict()["concat"]) > 1
    True
    """
    from biasbridge.analysis.table_charts import gaps_chart

    _require(table, "biasbridge.gaps", "kind", "measure", "group", "value", "support")
    return gaps_chart(table)


@_chart
def audit(table: pd.DataFrame) -> alt.TopLevelMixin:
    """Plot the scores of each metric: a panel per metric, a colour per embedding, a row per query
    and convention.

    Parameters
    ----------
    table
        What :func:`biasbridge.audit` returns, or ``attrs["scores"]`` of :func:`biasbridge.debias`.
        Scores without a value are left out. A column of yours tells repeated scores apart.

    Returns
    -------
    altair.TopLevelMixin
        Each panel has its own axis; the grey line is the unbiased value.

    Raises
    ------
    InputError
        A column is missing.

    Examples
    --------
    >>> from biasbridge import audit as measure_scores
    >>> vectors = {"he": [1, 0], "she": [0, 1], "doctor": [0.9, 0.1], "nurse": [0.2, 0.8]}
    >>> words = {"X": ["doctor"], "Y": ["nurse"], "A": ["he"], "B": ["she"]}
    >>> chart = audit(measure_scores(vectors, words, metrics="weat"))
    >>> "2.0" in chart.to_json()
    True
    """
    from math import nan

    import pandas as pd

    from biasbridge.analysis.table_charts import scores_chart

    if {"before", "after"} <= {*table.columns}:
        sides = [table.assign(vectors=side, value=table[side]) for side in ("before", "after")]
        changed = pd.concat(sides, ignore_index=True)
        table = changed.assign(low=nan, high=nan, unbiased=nan)  # theirs are of the change
    _require(table, "biasbridge.audit", "vectors", "metric", "query", "value", "unbiased")
    return scores_chart(table)


@_chart
def change(folder: str | PathLike[str]) -> alt.TopLevelMixin:
    """Plot gap against score in each declared test of a study, and the changes of the gap.

    Parameters
    ----------
    folder
        Results folder of a sweep.

    Returns
    -------
    altair.TopLevelMixin
        Lines join the means of a method and word list; the grey band is the smallest change of
        interest about the gap of the unmodified models.

    Raises
    ------
    InputError
        A table is missing or damaged, or no test was declared.

    Examples
    --------
    >>> chart = change("docs/runs/transfer_minilm")
    >>> "change of the gap" in chart.to_json()
    True
    """
    from biasbridge.analysis.change_chart import change_picture
    from biasbridge.analysis.correlate import StudyResults

    study = StudyResults.read(folder)
    picture = change_picture(study.joined, study.correlate())
    if picture is None:
        raise InputError(f"{folder} holds no declared test; name a measure in study.confirmatory")
    return picture.chart


@_chart
def scatter(
    table: pd.DataFrame,
    x: str = "x",
    y: str = "y",
    *,
    row: str = "",
    column: str = "",
    colour: str = "",
    shape: str = "",
    title: str = "",
) -> alt.TopLevelMixin:
    """Plot ``y`` against ``x`` with the correlation above each panel.

    Parameters
    ----------
    table
        Any table; for one of :func:`biasbridge.read_results` the correlation is r_rm, within
        parents, else Pearson's r, both in [-1, 1]. Read with ``resamples=True``, r_rm and interval
        are those of ``correlations.csv``.
    x, y
        Numeric columns, by default the score and the gap of :func:`biasbridge.read_results`.
    row, column
        Columns whose values make panels.
    colour, shape
        Columns that mark the points.
    title
        Title of the figure.

    Returns
    -------
    altair.TopLevelMixin
        The chart.

    Raises
    ------
    InputError
        A column is missing or holds no numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"weat": [0.1, 0.4, 0.7, 0.9], "gap": [0.02, 0.05, 0.04, 0.09]})
    >>> chart = scatter(table, "weat", "gap", title="Score and gap")
    >>> "Score and gap" in chart.to_json()
    True
    """
    from biasbridge.analysis.figures import scatter_chart

    table = as_dataframe(table)
    return scatter_chart(
        table, x=x, y=y, row=row, column=column, colour=colour, shape=shape, title=title
    )


def _require(table: pd.DataFrame, source: str, *columns: str) -> None:
    if missing := [name for name in columns if name not in table]:
        raise InputError(f"the table has no column {missing[0]!r}; give one that {source} returned")

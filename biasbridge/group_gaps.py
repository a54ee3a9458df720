"""Performance by group and the gaps between groups, as a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from biasbridge.input_tables import InputTable, as_dataframe, as_names, with_notes

if TYPE_CHECKING:
    import pandas as pd


def gaps(
    predictions: InputTable,
    *,
    privileged: str | None = None,
    unprivileged: str | None = None,
    gold: str = "label",
    pred: str | Sequence[str] = "prediction",
    group: str | Sequence[str] = (),
    score: str | Sequence[str] = (),
    measures: str | Sequence[str] = (),
    compare: str | Sequence[str] = (),
    groups: str | Sequence[str] = (),
    positive: str | Sequence[str] = (),
    multiclass: bool = False,
    cluster: str | None = None,
    min_support: int = 10,
    filter: str = "",
    group_sep: str = "",
    cross: Sequence[str] = (),
    missing: Literal["no-group", "group", "drop"] = "no-group",
    quoted: bool = True,
) -> pd.DataFrame:
    """Measure performance by group and the gaps between groups, with 95% intervals.

    Parameters
    ----------
    predictions
        A table with a row per item, its path, or the path of a result file of an evaluation
        harness (``biasbridge.extrinsic.logs``); its items without an answer are left
        out.
    privileged, unprivileged
        The groups compared. Without ``unprivileged``: the privileged group and each other one;
        without both: each group and all other items.
    gold, pred
        Columns. Labels are 0 or 1 unless ``positive`` or ``multiclass`` is given. Several ``pred``
        are classifiers of the same items, the earlier first, compared item by item.
    group
        Column of groups, by default "group", or several. Cells hold a name, or a list of names; a
        column of 0 and 1 is the group of its name, unless an option names 0 or 1 as a group. A name
        in two columns becomes ``column=name``. An item counts once and is in all its groups.
    score
        Columns of scores, one per ``pred``, larger for label 1: adds areas under the ROC curve.
    measures
        Names, by default precision, recall, F1 and false positive rate.
    compare
        Any of ``"pair"``, ``"pairwise"``, ``"one-vs-rest"``, ``"one-vs-none"`` (the items in no
        group against each group), ``"max-difference"``.
    groups
        Only these groups, by default all.
    positive
        Labels of the positive class.
    multiclass
        Take each class against the rest.
    cluster
        Column of what items share, such as their author or template: items of one cluster are drawn
        together. Column ``n_clusters`` counts them, ``widening`` says how many times wider each
        interval is than for independent items.
    min_support
        Fewest items behind a value; groups with fewer have none.
    group_sep
        What parts several names in a cell, such as ``";"``.
    cross
        Two or more columns: their crossed groups, such as "female & black", are groups too.
    missing
        What an empty cell of a group column is: no group and no part of a rest, a group "missing",
        or a row to leave out. ``NA``, ``nan`` and ``None`` are empty cells.
    filter
        Of samples of lm-evaluation-harness with several filters: the one that is read.
    quoted
        False: the quotation marks of delimited text are text.

    Returns
    -------
    DataFrame
        One row per value and gap, with ``low`` and ``high``; of gaps also ``p``, and ``p_holm`` and
        ``low_simultaneous`` to ``high_simultaneous``, adjusted over all gaps, groups times
        measures, of one classifier and class. A gap is in [-1, 1] and positive where
        the unprivileged group fares worse (formulas: ``biasbridge.extrinsic.gaps``). The rows of
        two classifiers, ``later - earlier`` in column ``classifier``, are differences; ``p_holm``
        of a value is adjusted over the values of the pair. A value that is not
        estimated is NaN, with its ``reason``, which is a note in ``attrs["notes"]`` too.

    Raises
    ------
    InputError
        A column or group that does not exist, labels other than 0 and 1, or options that do not go
        together.

    Examples
    --------
    >>> import pandas as pd
    >>> labels, predictions = [1] * 20 + [0] * 20, [1] * 15 + [0] * 5 + [1] * 2 + [0] * 18
    >>> items = {"label": labels, "prediction": predictions, "group": ["male", "female"] * 20}
    >>> table = gaps(pd.DataFrame(items), privileged="male", measures="recall")
    >>> print(round(table.loc[table["kind"] == "gap", "value"].item(), 2))
    0.1
    """
    from biasbridge.extrinsic.gap_table import as_table, measure_gaps
    from biasbridge.extrinsic.predictions import GapRequest

    request = GapRequest(
        gold=gold,
        pred=as_names(pred),
        group=as_names(group),
        score=as_names(score),
        privileged=privileged,
        unprivileged=unprivileged,
        groups=as_names(groups),
        compare=as_names(compare),
        measures=as_names(measures),
        positive=as_names(positive),
        multiclass=multiclass,
        cluster=cluster,
        min_support=min_support,
        group_sep=group_sep,
        cross=as_names(cross),
        missing=missing,
    )
    items = as_dataframe(predictions, filter=filter, labels=[gold, *request.pred], quoted=quoted)
    rows, notes = measure_gaps(request, items)
    table = as_table(rows).drop(columns="resampled", errors="ignore")
    table = with_notes(table, "reason")
    table.attrs["notes"] = [*notes, *table.attrs["notes"], *items.attrs.get("notes", [])]
    return table

"""The gaps between groups at every threshold of a score, as a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasbridge.files import InputError
from biasbridge.gap_gate import read_options

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.input_tables import InputTable


def thresholds(predictions: InputTable, *, score: str = "score", **options: Any) -> pd.DataFrame:
    """Measure the gaps between groups at every threshold of a score.

    Predicted 1 is a score at or above the threshold. Thresholds are all scores, or 101 quantiles of
    more.

    Parameters
    ----------
    predictions
        A table, or its path, with a row per item.
    score
        Column of scores, larger for label 1.
    options
        Of :func:`biasbridge.gaps`, such as ``privileged`` and ``cluster``, without ``pred``.

    Returns
    -------
    DataFrame
        One row per threshold and gap: ``f1`` over all items, and the columns of
        :func:`biasbridge.gaps`; simultaneous intervals are adjusted over the gaps at a threshold.
        ``attrs["notes"]`` says of each measure at which thresholds its gap closes (no simultaneous
        interval excludes 0), or where it is smallest, and what that costs in F1.

    Raises
    ------
    InputError
        A score that is no number, an AUC, or what :func:`biasbridge.gaps` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> items = {"label": [0, 1] * 40, "score": range(80), "group": ["men"] * 40 + ["women"] * 40}
    >>> table = thresholds(pd.DataFrame(items), measures="recall", privileged="men")
    >>> print(table.loc[table["threshold"] == 40, ["f1", "value"]].round(2).to_dict("records"))
    [{'f1': 0.5, 'value': -1.0}]
    """
    from biasbridge.extrinsic.thresholds import describe_closing, threshold_table

    if "pred" in options:
        raise InputError("thresholds predict from the score; leave out pred")
    items, fields = read_options(predictions, {**options, "score": score, "pred": []})
    table = threshold_table(fields, items)
    table.attrs["notes"] += describe_closing(table)
    return table

"""Functions on tables of predictions beside ``gaps``: thresholds, changed items, reliability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from biasbridge.files import InputError
from biasbridge.files.choice import as_names
from biasbridge.input_tables import InputTable, as_dataframe

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.extrinsic.gap_table import GapRow
    from biasbridge.extrinsic.predictions import GapRequest
    from biasbridge.extrinsic.threshold_choice import ThresholdChoice

_LISTS = ("pred", "group", "score", "measures", "compare", "groups", "positive", "cross")


def thresholds(predictions: InputTable, *, score: str = "score", **options: Any) -> pd.DataFrame:
    """Measure the gaps between groups at every threshold of a score.

    Predicted 1 is a score at or above the threshold. Thresholds are all scores, or 101 quantiles of
    more.

    Parameters
    ----------
    predictions : DataFrame or path
        A table with a row per item.
    score : str
        Column of scores, larger for label 1.
    options
        Of :func:`biasbridge.gaps`, such as ``privileged`` and ``cluster``, without ``pred``.

    Returns
    -------
    DataFrame
        One row per threshold and gap: ``f1`` over all items, and the columns of
        :func:`biasbridge.gaps`; simultaneous intervals are adjusted over the gaps at a threshold.
        ``attrs["notes"]`` names the best threshold at which the gap of each measure closes (no
        simultaneous interval excludes 0), or is smallest, and its F1.

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
    options |= {"score": score, "pred": []}
    table = threshold_table(request_fields(options), read_items(predictions, **options))
    table.attrs["notes"] += describe_closing(table)
    return table


def choose_threshold(
    predictions: InputTable,
    bound: Mapping[str, float] | None = None,
    *,
    cost: Mapping[str, float] | None = None,
    score: str | Sequence[str] = "score",
    **options: Any,
) -> ThresholdChoice:
    """Choose the best threshold of a score at which the gaps between groups keep to bounds.

    A threshold counts if the interval of each bounded gap lies at or below its bound, and if it
    beats flagging all items or none. Intervals account for the search over thresholds and scores:
    in at most 5% of samples a threshold counts although a gap is above its bound. One threshold
    holds for all groups. A threshold by group treats people differently by their group, which is
    often unlawful.

    Parameters
    ----------
    predictions : DataFrame or path
        A table with a row per item.
    bound : mapping of str to float, optional
        Choose the best of --thresholds at which each gap is shown to be within its bound, such as
        recall=.1,fpr=.1. The exit status is 3 without one. In Python ``{"recall": 0.1}``.
    cost : mapping of str to float, optional
        Choose the cheapest of --thresholds by the costs of a false negative and a false positive,
        such as fn=5,fp=1. Without it the best has the highest F1. In Python ``{"fn": 5, "fp": 1}``.
    score : str or sequence of str
        Column of scores of each version, larger for label 1.
    options
        Of :func:`biasbridge.gaps`, such as ``privileged`` and ``cluster``, without ``pred``.

    Returns
    -------
    ThresholdChoice
        True where every score has a threshold; ``sentence`` says which and why, ``choices`` is a
        table with a row per score, ``thresholds`` one of all tested.

    Raises
    ------
    InputError
        Neither bound nor cost, a measure without a gap at a threshold, a bound outside [0, 1), or
        what :func:`biasbridge.gaps` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> items = {"label": [0, 1] * 400, "group": ["men"] * 400 + ["women"] * 400}
    >>> items["score"] = [0.2, 0.7, 0.4, 0.9] * 200
    >>> choice = choose_threshold(pd.DataFrame(items), {"recall": 0.1}, privileged="men")
    >>> choice.choices[["threshold", "f1"]].to_dict("records")
    [{'threshold': 0.7, 'f1': 1.0}]
    """
    from biasbridge.extrinsic.threshold_choice import choose_thresholds

    if "pred" in options:
        raise InputError("thresholds predict from the score; leave out pred")
    options |= {"score": score, "pred": []}
    items = read_items(predictions, **options)
    return choose_thresholds(request_fields(options), items, bound or {}, cost or {})


def changed_items(predictions: InputTable, **options: Any) -> pd.DataFrame:
    """List the items whose prediction changed from one version to a later one.

    Parameters
    ----------
    predictions : DataFrame or path
        A table with a row per item.
    options
        Of :func:`biasbridge.gaps`, with two or more ``pred``, the earlier first.

    Returns
    -------
    DataFrame
        One row per item and pair of versions. ``change`` is "newly missed" or "newly found" for
        label 1, "newly flagged" or "no longer flagged" for label 0. ``row`` is the item's index,
        of a file the number of its row from 1; ``groups`` names its groups. The table's own columns
        follow.

    Raises
    ------
    InputError
        One version, or what :func:`biasbridge.gaps` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> items = {"label": [1, 1, 0], "v1": [1, 0, 0], "v2": [0, 0, 1], "group": ["a", "b", "b"]}
    >>> changes = changed_items(pd.DataFrame(items), pred=["v1", "v2"])
    >>> changes[["row", "change", "groups"]].to_numpy().tolist()
    [[0, 'newly missed', 'a'], [2, 'newly flagged', 'b']]
    """
    from biasbridge.extrinsic.item_tables import changed_table
    from biasbridge.extrinsic.predictions import GapRequest

    items = number_rows(read_items(predictions, **options), predictions)
    return changed_table(GapRequest(**request_fields(options)), items)


def reliability(
    predictions: InputTable, *, score: str | Sequence[str], **options: Any
) -> pd.DataFrame:
    """Compute the reliability curve of each group: the share of label 1 by score.

    The measure ``ece`` of :func:`biasbridge.gaps`, the expected calibration error, has the mean
    distance of this curve from the diagonal.

    Parameters
    ----------
    predictions : DataFrame or path
        A table with a row per item.
    score : str or sequence of str
        Column of probabilities of label 1, of each version.
    options
        Of :func:`biasbridge.gaps`; ``pred`` may be left out.

    Returns
    -------
    DataFrame
        One row per group and bin, at most ten bins between the deciles of all scores:
        ``lowest_score``, ``highest_score``, ``n``, ``mean_score``, and the share of label 1 in
        ``value``, ``low``, ``high``.

    Raises
    ------
    InputError
        A score outside [0, 1], or what :func:`biasbridge.gaps` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> items = {"label": [0, 1] * 40, "score": [0.2, 0.6] * 40, "group": ["a"] * 40 + ["b"] * 40}
    >>> curve = reliability(pd.DataFrame(items), score="score")
    >>> curve.loc[curve["group"] == "a", ["mean_score", "value"]].round(1).to_numpy().tolist()
    [[0.2, 0.0], [0.6, 1.0]]
    """
    from biasbridge.extrinsic.item_tables import reliability_table
    from biasbridge.extrinsic.predictions import GapRequest

    scores = as_names(score)
    items = read_items(predictions, **{"pred": [], **options, "score": scores})
    if not options.get("pred") and options.get("threshold") is None:
        unused = {f"no prediction by {name}": False for name in scores}
        options, items = options | {"pred": [*unused]}, items.assign(**unused)
    request = GapRequest(**request_fields(options | {"score": scores}))
    return reliability_table(request, items)


def number_rows(items: pd.DataFrame, source: object) -> pd.DataFrame:
    """Return the items of a file with the number of their row, from 1, as index."""
    from pandas import DataFrame

    return items if isinstance(source, DataFrame) else items.set_axis(items.index + 1)


def measure_items(
    predictions: InputTable, **options: Any
) -> tuple[pd.DataFrame, GapRequest, list[GapRow], list[str]]:
    """Return the items of :func:`biasbridge.gaps`, the request, the rows and the notes."""
    from biasbridge.extrinsic.gap_table import measure_gaps
    from biasbridge.extrinsic.predictions import GapRequest

    request = GapRequest(**request_fields(options))
    items = read_items(predictions, **options)
    rows, notes = measure_gaps(request, items)
    return items, request, rows, [*notes, *items.attrs.get("notes", [])]


def request_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of :func:`gaps` as fields of ``GapRequest``."""
    fields = {"gold": "label", "pred": "prediction", "measures": (), "compare": (), **options}
    fields |= {name: as_names(fields[name]) for name in _LISTS if name in fields}
    fields.pop("threshold", None)
    if (threshold := _threshold(options)) is not None:
        fields["pred"] = list(_columns_by_threshold({**options, "threshold": threshold}))
    for name in ("predictions", "filter", "quoted"):
        fields.pop(name, None)
    return fields


def read_items(
    predictions: InputTable,
    *,
    filter: str = "",
    quoted: bool = True,
    gold: str = "label",
    pred: str | Sequence[str] = "prediction",
    threshold: float | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Read the table of predictions, and predict by a threshold."""
    threshold = _threshold({"threshold": threshold, "pred": pred, **options})
    labels = [gold, *([] if threshold is not None else as_names(pred))]
    items = as_dataframe(predictions, filter=filter, quoted=quoted, labels=labels)
    if threshold is None:
        return items
    from biasbridge.extrinsic.predictions import predict_by_threshold

    columns = _columns_by_threshold({"threshold": threshold, "pred": pred, **options})
    return items.assign(
        **{name: predict_by_threshold(items, x, threshold) for name, x in columns.items()}
    )


def _threshold(options: Mapping[str, Any]) -> float | None:
    """Return the threshold of the scores, None for labels that are given: any where all measures
    are of scores alone.
    """
    from biasbridge.extrinsic.measures import SCORED

    measures = as_names(options.get("measures") or ())
    is_of_scores = bool(measures) and {*measures} <= {*SCORED} and bool(options.get("score"))
    if options.get("threshold") is None and is_of_scores and not _names_labels(options):
        return 0.5
    threshold: float | None = options.get("threshold")
    return threshold


def _names_labels(options: Mapping[str, Any]) -> bool:
    return options.get("pred", "prediction") not in ("prediction", (), [])


def _columns_by_threshold(options: Mapping[str, Any]) -> dict[str, str]:
    """Return the columns of scores by the names of the predictions from them."""
    threshold = options["threshold"]
    require_score(options, "--threshold")
    if not isinstance(threshold, int | float) or not isfinite(threshold):
        from biasbridge.extrinsic.threshold_choice import ONE_THRESHOLD

        raise InputError(f"--threshold {threshold}: give a number; {ONE_THRESHOLD}")
    return {f"{score} >= {threshold!r}": score for score in as_names(options["score"])}


def require_score(options: Mapping[str, Any], option: str) -> None:
    """Raise ``InputError`` unless there are scores, and predictions from no other column."""
    if _names_labels(options) or not options.get("score"):
        raise InputError(f"{option} predicts from scores; give --score, and leave out --pred")

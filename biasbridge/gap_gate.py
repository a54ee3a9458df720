"""A gate on the gaps between groups, as a function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from biasbridge.files import InputError
from biasbridge.input_tables import InputTable, as_dataframe, as_names

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.extrinsic.gate import FailIf, FailOn, GateResult

DEFAULTS = {"gold": "label", "pred": "prediction", "measures": (), "compare": ()}
LISTS = ("pred", "group", "score", "measures", "compare", "groups", "positive", "cross")


def gate(
    predictions: InputTable,
    bounds: Mapping[str, float],
    *,
    fail_if: FailIf = "worse",
    fail_on: FailOn = "gaps",
    **options: Any,
) -> GateResult:
    """Decide whether the gaps between groups keep to bounds.

    Intervals hold for all tested gaps together: groups, bounded measures, classifiers and classes.
    A gap that favours the group is negative and keeps to every bound.

    Parameters
    ----------
    predictions
        A table, or its path, with a row per item; or the table that :func:`biasbridge.gaps`
        returns, whose simultaneous intervals are adjusted over its own gaps.
    bounds
        Largest gap of each tested measure, in [0, 1): ``{"recall": 0.1}``.
    fail_if
        ``"worse"``: fail where an interval lies wholly above the bound. ``"possible"``: fail
        unless all lie wholly at or below it; a gap without a value fails.
    fail_on
        ``"gaps"``, of each classifier by itself; ``"changes"``: by how much gaps grew from each
        classifier of ``pred`` to each later one.
    options
        Of :func:`biasbridge.gaps`, such as ``privileged`` and ``cluster``.

    Returns
    -------
    GateResult
        True where it passes; ``sentence`` says why, ``decisions`` is a table of the gaps.

    Raises
    ------
    InputError
        A measure without a gap, a bound outside [0, 1), or what :func:`biasbridge.gaps` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> detected = [1] * 90 + [0] * 10 + [1] * 50 + [0] * 50
    >>> groups = ["men"] * 100 + ["women"] * 100
    >>> items = pd.DataFrame({"label": 1, "prediction": detected, "group": groups})
    >>> print(gate(items, {"recall": 0.2}, privileged="men").sentence)
    The gate fails: the recall gap of women to men, +.4 [.278,.506], is surely above .2; 1 of 1 \
gaps fail.
    """
    from biasbridge.extrinsic.gate import check_gate, decide, find_gated_gaps, select_gated_gaps
    from biasbridge.extrinsic.predictions import GapRequest

    table, fields = read_options(predictions, options)
    check_gate(bounds, fail_if, fail_on, fields["compare"])
    if "low_simultaneous" in table:
        if options:
            raise InputError(f"{', '.join(options)}: of predictions only; this is a table of gaps")
        return decide(select_gated_gaps(table, bounds, fail_on), bounds, fail_if)
    gaps = find_gated_gaps(GapRequest(**fields), table, bounds, fail_on)
    return decide(gaps, bounds, fail_if)


def read_options(
    predictions: InputTable, options: Mapping[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the table, and options of :func:`biasbridge.gaps` as fields of ``GapRequest``."""
    fields = DEFAULTS | dict(options)
    fields |= {name: as_names(fields[name]) for name in LISTS if name in fields}
    labels = [fields["gold"], *fields["pred"]]
    return as_dataframe(predictions, filter=fields.pop("filter", ""), labels=labels), fields

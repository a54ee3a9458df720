"""The gate of ``biasbridge gaps``: ``--fail-above``, ``--fail-if`` and ``--fail-on``."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any

from biasbridge.cli.options import split_names
from biasbridge.files import InputError

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable

    import pandas as pd

    from biasbridge.extrinsic.gate import FailIf, FailOn, GateResult
    from biasbridge.extrinsic.predictions import GapRequest

FAILED = 3  # exit status
RULES = ("fail_if", "fail_on")


def add_gate(parser: ArgumentParser) -> None:
    """Add the options of the gate."""
    above = "exit with status 3 where a gap is above X, for each MEASURE: recall=.1,fpr=.05"
    parser.add_argument("--fail-above", type=_read_bounds, metavar="MEASURE=X,...", help=above)
    rule = "worse (default): a gap is surely above X; possible: not all gaps are surely at most X"
    parser.add_argument("--fail-if", choices=("worse", "possible"), help=rule)
    tested = "gaps (default): of each --pred by itself; changes: by how much gaps grew from a"
    tested += " --pred to a later one"
    parser.add_argument("--fail-on", choices=("gaps", "changes"), help=tested)


def take_gate(options: dict[str, Any]) -> Callable[[GapRequest, pd.DataFrame], GateResult | None]:
    """Take the gate out of the options of a request, and add its measures to theirs; return what
    decides it, ``None`` without a gate.
    """
    from biasbridge.extrinsic.gate import ONE_VERSION, check_gate, decide, find_gated_gaps
    from biasbridge.extrinsic.measures import RANKINGS
    from biasbridge.extrinsic.predictions import DEFAULT_MEASURES

    bounds, rules = options.pop("fail_above"), {name: options.pop(name) for name in RULES}
    if bounds is None:
        for name in filter(rules.get, rules):
            option = name.replace("_", "-")
            raise InputError(f"--{option} is the rule of a gate; give its bounds by --fail-above")
        return lambda request, table: None
    fail_if: FailIf = rules["fail_if"] or "worse"
    fail_on: FailOn = rules["fail_on"] or "gaps"
    check_gate(bounds, fail_if, fail_on, options["compare"])
    if fail_on == "changes" and max(len(options["pred"] or ()), len(options["score"])) < 2:
        raise InputError(ONE_VERSION)
    default = [*DEFAULT_MEASURES, *(RANKINGS if options["score"] else ())]
    options["measures"] = list(dict.fromkeys([*(options["measures"] or default), *bounds]))

    def decide_gate(request: GapRequest, table: pd.DataFrame) -> GateResult:
        return decide(find_gated_gaps(request, table, bounds, fail_on), bounds, fail_if)

    return decide_gate


def _read_bounds(text: str) -> dict[str, float]:
    """Read ``recall=.1,fpr=.05``."""
    bounds: dict[str, float] = {}
    for part in split_names(text):
        measure, _, number = (word.strip() for word in part.partition("="))
        try:
            bound = float(number)
        except ValueError:
            raise ArgumentTypeError(f"{part!r} is no bound; give MEASURE=X: recall=.1") from None
        if measure in bounds:
            raise ArgumentTypeError(f"{measure} has two bounds; give one")
        bounds[measure] = bound
    return bounds

"""The gate of ``biasbridge gaps``: ``--fail-above`` and ``--fail-if``."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from biasbridge.cli.options import split_names
from extrinsic.gate import FailIf, check_gate, decide, find_gated_gaps
from extrinsic.ranking import RANKINGS
from extrinsic.request import DEFAULT_MEASURES
from files import InputError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    import pandas as pd
    from rich.console import Console

    from extrinsic.request import GapRequest

FAILED = 3  # exit status


class Gate(NamedTuple):
    """Bounds of gaps, and the rule that decides on them."""

    bounds: dict[str, float]
    fail_if: FailIf

    def find_status(self, request: GapRequest, table: pd.DataFrame, console: Console) -> int:
        """Print whether the gate passes and why, and return the exit status."""
        result = decide(find_gated_gaps(request, table, self.bounds), self.bounds, self.fail_if)
        console.print(result.sentence, soft_wrap=True)
        return 0 if result else FAILED


def add_gate(parser: ArgumentParser) -> None:
    """Add the options of the gate."""
    above = "exit with status 3 where a gap is above X, for each MEASURE: recall=.1,fpr=.05"
    parser.add_argument("--fail-above", type=_read_bounds, metavar="MEASURE=X,...", help=above)
    rule = "worse (default): a gap is surely above X; possible: not all gaps are surely at most X"
    parser.add_argument("--fail-if", choices=get_args(FailIf), help=rule)


def take_gate(options: dict[str, Any]) -> Gate | None:
    """Take the gate out of the options of a request, and add its measures to theirs."""
    bounds, fail_if = options.pop("fail_above"), options.pop("fail_if")
    if bounds is None:
        if fail_if:
            raise InputError("--fail-if is the rule of a gate; give its bounds by --fail-above")
        return None
    check_gate(bounds, fail_if or "worse", options["compare"])
    default = [*DEFAULT_MEASURES, *(RANKINGS if options["score"] else ())]
    options["measures"] = list(dict.fromkeys([*(options["measures"] or default), *bounds]))
    return Gate(bounds, fail_if or "worse")


def _read_bounds(text: str) -> dict[str, float]:
    """Read ``recall=.1,fpr=.05``."""
    bounds: dict[str, float] = {}
    for part in split_names(text):
        measure, _, number = (word.strip() for word in part.partition("="))
        if measure in bounds:
            raise ArgumentTypeError(f"{measure} has two bounds; give one")
        try:
            bounds[measure] = float(number)
        except ValueError:
            raise ArgumentTypeError(f"{part!r} is no bound; give MEASURE=X: recall=.1") from None
    return bounds

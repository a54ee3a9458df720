"""Words for a correlation, by rules that stand beside them."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

LEVEL = 0.05
WEAK = 0.3
RULES = f"""\
supports:     the 95% interval of r over units lies above 0, Holm's p over the slices shown is
              below {LEVEL}, no single unit decides the sign, and the interval over base embeddings,
              where there is one, does not lie below 0
contradicts:  the same with the sign reversed; or the interval lies within [-{WEAK}, {WEAK}]: any
              correlation is weak
cannot tell:  everything else; the smallest correlation that so many units could have detected
              stands beside it"""


def verdict(row: Mapping[str, Any]) -> str:
    """``supports``, ``contradicts`` or ``cannot tell``, with the reason, by ``RULES``; ``row`` has
    the columns of ``correlate``.
    """
    low, high = row["r_low"], row["r_high"]
    if not (isfinite(low) and isfinite(high)):
        return f"cannot tell: {row.get('reason') or row.get('caution') or 'no interval'}"
    if low >= -WEAK and high <= WEAK:
        return f"contradicts: |r| is below {WEAK}"
    if low <= 0 <= high:
        return (
            f"cannot tell: the interval holds 0; {row['n_units']} units detect |r| of"
            f" {row['detectable']:.2f} or more"
        )
    sign = 1 if low > 0 else -1
    if not row["p_holm"] < LEVEL:
        return (
            f"cannot tell: not beyond chance among the slices shown (Holm's p {row['p_holm']:.2g})"
        )
    if min(sign * row["influence_low"], sign * row["influence_high"]) <= 0:
        return f"cannot tell: one unit decides the sign ({row['influential']})"
    bases = (row["r_low_bases"], row["r_high_bases"])
    if all(map(isfinite, bases)) and max(sign * bases[0], sign * bases[1]) < 0:
        return "cannot tell: the interval over base embeddings has the other sign"
    return "supports: r > 0" if sign > 0 else "contradicts: r < 0"

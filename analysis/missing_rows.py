"""What of a slice is not used, in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analysis.columns import positions
from analysis.naming import ORIGINAL, UNMODIFIED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.units import Rows


def missing(rows: Rows, used: Rows) -> str:
    """What of a slice is not used: units, counted by method; and kinds of rows that count for none
    of them, with the units that lack these: ``1 of 32 balance; cnn everywhere (8 of 32 balance
    lack it)``.
    """
    arms = dict(zip(rows.unit.tolist(), rows.arm.tolist(), strict=True))
    whole = Counter(arms.values())

    def without(having: Iterable[str]) -> str:
        lost = Counter(arms[unit] for unit in arms.keys() - set(having))
        names = {arm: ORIGINAL if arm == UNMODIFIED else arm for arm in whole if lost[arm]}
        return ", ".join(f"{lost[arm]} of {whole[arm]} {name}" for arm, name in names.items())

    told = [without(used.unit.tolist())]
    if len(used.unit):
        known = rows.known()
        having = positions(zip(known.setting.tolist(), known.asked.tolist(), strict=True))
        left = set(zip(used.setting.tolist(), used.asked.tolist(), strict=True))
        words = {kind: " ".join(kind).split() for kind in having}
        shared = set.intersection(*map(set, words.values()))
        apart = {kind: " ".join(w for w in of if w not in shared) for kind, of in words.items()}
        told += [
            f"{apart[kind] or 'the rest'} everywhere"
            f" ({without(known.unit[places].tolist())} lack it)"
            for kind, places in having.items()
            if kind not in left
        ]
    return "; ".join(filter(None, told))

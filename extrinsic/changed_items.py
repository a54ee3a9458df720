"""The items whose prediction a later version changed."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pandas as pd

from biasbridge.extrinsic.predictions import split_groups
from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.extrinsic.predictions import GapRequest

ONE_VERSION = "a change needs two versions; give a --pred for each, the earlier first"
SEVERAL_CLASSES = "changed items are of one class; give --positive LABEL instead of --multiclass"
# By label, and prediction of the later version, in the order of the table
CHANGES = {
    (1, 0): "newly missed",
    (0, 1): "newly flagged",
    (1, 1): "newly found",
    (0, 0): "no longer flagged",
}


def changed_table(request: GapRequest, table: pd.DataFrame) -> pd.DataFrame:
    """List the items whose prediction differs between an earlier and a later version.

    Columns: ``row``, the index of the item's row; ``change``, one of ``CHANGES``; its ``groups``;
    the names of the ``earlier`` and the ``later`` version; then those of the table, called
    ``table.row`` and the like where they share a name. Sorted by versions, change and groups.
    """
    if len(request.pred) < 2:
        raise InputError(ONE_VERSION)
    if request.multiclass:
        raise InputError(SEVERAL_CLASSES)
    classifiers, _ = request.read(table)
    order = [*CHANGES.values()]
    frames = []
    for (earlier, before), (later, after) in combinations(classifiers.items(), 2):
        changed = after[(before["prediction"] != after["prediction"]).to_numpy()]
        groups = [() if pd.isna(cell) else split_groups(str(cell)) for cell in changed["group"]]
        item = changed["id"] if "id" in changed else pd.Series(changed.index, changed.index)
        by_item: dict[object, set[str]] = {}
        for key, names in zip(item, groups, strict=True):
            by_item.setdefault(key, set()).update(names)
        is_first = ~item.duplicated()
        pairs = zip(changed["label"], changed["prediction"], strict=True)
        rows = pd.DataFrame(
            {
                "row": changed.index,
                "change": [CHANGES[pair] for pair in pairs],
                "groups": ["; ".join(sorted(by_item[key])) for key in item],
                "earlier": earlier,
                "later": later,
            }
        )[is_first.to_numpy()]
        number = rows["change"].map(order.index)
        frames.append(rows.assign(number=number).sort_values(["number", "groups"], kind="stable"))
    changes = pd.concat(frames, ignore_index=True).drop(columns="number")
    own = table.loc[changes["row"]].reset_index(drop=True)
    own.columns = pd.Index([f"table.{name}" if name in changes else name for name in own])
    return pd.concat([changes, own], axis=1)

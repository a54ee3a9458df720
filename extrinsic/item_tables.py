"""Tables behind the gaps: the items that a later version changed, and reliability curves."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biasbridge.extrinsic.gate import ONE_VERSION
from biasbridge.extrinsic.grouped_predictions import ALL, GroupedPredictions, GroupOrRest
from biasbridge.extrinsic.measures import ECE
from biasbridge.extrinsic.predictions import read_grouped_predictions, split_groups
from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.extrinsic.predictions import GapRequest

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


def reliability_table(request: GapRequest, table: pd.DataFrame) -> pd.DataFrame:
    """Compute the reliability curve of each group and of all items: the share of label 1 by bin.

    Columns: ``group``, ``bin``, the lowest and highest score of the bin's items, their number
    ``n``, ``mean_score``, and the share of label 1, ``value``, with its interval ``low`` to
    ``high`` and the ``reason`` if it has none; ``classifier`` of several. Bins without items have
    no row.
    """
    classifiers, gaps = replace(request, measures=(ECE,)).read(table)
    tables = []
    for name, predictions in classifiers.items():
        sample = read_grouped_predictions(predictions, gaps)
        tables.append(_reliability(sample).assign(classifier=name))
    curves = pd.concat(tables, ignore_index=True)
    return curves if len(tables) > 1 else curves.drop(columns="classifier")


def _reliability(sample: GroupedPredictions) -> pd.DataFrame:
    assert sample.score is not None
    bins = sample.score_bin
    masks = {group: sample.mask(GroupOrRest(group)) for group in (ALL, *sample.groups)}
    cells = {
        (group, number): np.flatnonzero(masks[group] & (bins == number))
        for group, number in product(masks, range(int(bins.max()) + 1))
    }
    cells = {key: items for key, items in cells.items() if len(items)}
    names = [f"{group}, bin {number + 1}" for group, number in cells]
    by_bin = replace(
        sample,
        groups=names,
        member=np.concatenate([*cells.values()]),
        group_id=np.repeat(np.arange(len(cells)), [*map(len, cells.values())]),
        unknown={},
        score=None,
    )
    rows = []
    for ((group, number), items), name in zip(cells.items(), names, strict=True):
        scores = sample.score[items]
        estimate, support, reason = by_bin.group_measure("base_rate", GroupOrRest(name))
        rows.append(
            {
                "group": group,
                "bin": number + 1,
                "lowest_score": scores.min(),
                "highest_score": scores.max(),
                "n": support,
                "mean_score": scores.mean(),
                **estimate._asdict(),
                "reason": reason,
            }
        )
    return pd.DataFrame(rows)

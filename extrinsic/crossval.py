"""Which posts a classifier learns from and which it is judged on: the given split, or
cross-validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from extrinsic.gaps import binary
from files import InputError, nearest

if TYPE_CHECKING:
    from datasets import Dataset

# A tenth of the training items serves as dev where none is given (Kim, 2014, section 3.1)
DEV_PARTS = 10


@dataclass(frozen=True)
class Fold:
    """Row numbers to train on, to stop early on and to predict, all disjoint, and the seed of this
    training run.
    """

    name: str
    train: np.ndarray
    dev: np.ndarray
    test: np.ndarray
    seed: int


def read_posts(posts: Dataset) -> pd.DataFrame:
    """The columns ``id, text, label, group, split`` of labelled posts, checked; a missing ``group``
    column becomes None.

    Raises ``InputError`` for a missing column, a label other than 0 and 1, a text that is not a
    string, and an unknown split.
    """
    for column in ("id", "text", "label", "split"):
        if column not in posts.column_names:
            present = ", ".join(posts.column_names)
            raise InputError(
                f"the posts have no column {column!r}{nearest(column, posts.column_names)};"
                f" columns: {present}"
            )
    table = pd.DataFrame({column: list(posts[column]) for column in ("id", "text", "split")})
    table["label"] = binary(pd.DataFrame({"label": list(posts["label"])}), "label")
    table["group"] = pd.Series(
        list(posts["group"]) if "group" in posts.column_names else None,
        index=table.index,
        dtype=object,
    )
    texts = table["text"].map(lambda text: isinstance(text, str))
    if not texts.all():
        raise InputError(
            f"{(~texts).sum()} posts have no text, the first with id"
            f" {table['id'][~texts].iloc[0]!r}; drop them"
        )
    return table


def cross_predict(
    table: pd.DataFrame, score: Callable[[Fold], np.ndarray], *, folds: int, seed: int
) -> pd.DataFrame:
    """Predictions for the test items of every fold, in the order of the posts.

    ``score(fold)`` trains on ``fold.train`` (and ``fold.dev``) and returns the probability of label
    1 for each of ``fold.test``. Columns ``id, split, group, label, score, prediction``: ``split``
    is "test" or "fold0", "fold1", ...; the prediction is 1 from score 0.5 on.
    """
    parts = []
    for fold in split_posts(table, folds=folds, seed=seed):
        if len(np.unique(table["label"].to_numpy()[fold.train])) < 2:
            raise InputError(
                f"the training items of {fold.name} ({len(fold.train)}) hold one class only; give"
                " posts of both classes"
            )
        part = table.loc[fold.test, ["id", "group", "label"]].assign(split=fold.name)
        parts.append(part.assign(score=np.asarray(score(fold), dtype=np.float64)))
    predictions = pd.concat(parts).sort_index().reset_index(drop=True)
    predictions["prediction"] = (predictions["score"] >= 0.5).astype(np.int64)
    return predictions[["id", "split", "group", "label", "score", "prediction"]]


def split_posts(table: pd.DataFrame, *, folds: int, seed: int) -> Iterator[Fold]:
    """The folds to run: one named "test" for splits train/dev/test, ``folds`` of them where every
    split is "all".

    Folds are dealt by label x group. A tenth of the training items, dealt the same way, becomes dev
    where the posts bring none.
    """
    rng = np.random.default_rng(seed)
    strata = pd.factorize(table["label"].astype(str) + " " + table["group"].astype(str))[0]
    splits = table["split"]
    if unknown := sorted(set(splits) - {"train", "dev", "test", "all"}):
        raise InputError(f"split {unknown[0]!r} of the posts is none of train, dev, test, all")
    if splits.eq("all").all():
        if not 2 <= folds <= len(table):
            raise InputError(
                f"folds={folds} must lie between 2 and the number of posts ({len(table)})"
            )
        part = deal(strata, folds, rng)
        for number in range(folds):
            yield _fold(
                f"fold{number}",
                np.flatnonzero(part != number),
                np.flatnonzero(part == number),
                strata,
                rng,
            )
        return
    train, dev, test = (np.flatnonzero(splits == name) for name in ("train", "dev", "test"))
    if splits.eq("all").any() or not len(train) or not len(test):
        counts = ", ".join(f"{name} {count}" for name, count in splits.value_counts().items())
        raise InputError(
            f"the posts are split as {counts}; they need train and test (and dev), or 'all' on"
            " every post to cross-validate"
        )
    yield _fold("test", train, test, strata, rng, dev)


def deal(strata: np.ndarray, parts: int, rng: np.random.Generator) -> np.ndarray:
    """A part number from 0 to parts - 1 for every item: within a stratum the parts differ by at
    most one item, and over all items too.

    Like dealing cards, stratum by stratum, after shuffling. Unlike in scikit-learn's
    ``StratifiedKFold`` a stratum may be smaller than ``parts``, as label x group often is.
    """
    shuffled = rng.permutation(len(strata))
    dealt = shuffled[np.argsort(strata[shuffled], kind="stable")]
    part = np.empty(len(strata), dtype=np.int64)
    part[dealt] = np.arange(len(strata)) % parts
    return part


def _fold(
    name: str,
    train: np.ndarray,
    test: np.ndarray,
    strata: np.ndarray,
    rng: np.random.Generator,
    dev: np.ndarray | None = None,
) -> Fold:
    if dev is None or not len(dev):
        held = deal(strata[train], DEV_PARTS, rng) == 0
        train, dev = train[~held], train[held]
    return Fold(name, train, dev, test, seed=int(rng.integers(2**63)))

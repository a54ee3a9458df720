"""Which posts a classifier learns from and is judged on: the given split, or cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from annotated_types import Ge
from numpy.typing import NDArray

from extrinsic.predictions import read_binary
from files import InputError
from files.tables import require_columns

# A tenth of the training items serves as dev where none is given (Kim, 2014, section 3.1)
DEV_PARTS = 10

Folds = Annotated[int, Ge(2)]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Fold:
    """Rows to train on, to stop early on and to predict, all disjoint, and the run's seed."""

    name: str
    train: Rows
    dev: Rows
    test: Rows
    seed: int


def read_posts(posts: pd.DataFrame) -> pd.DataFrame:
    """The columns ``id, text, split, label, group``, checked, and ``raw`` where there is one; a
    missing ``group`` becomes None.

    Two more say how a post is learned from: ``train_label``, by which label (where the posts have
    no such column, by ``label``), and ``in_training``, whether at all (yes). They do not change
    how it is judged (see ``debias.labels.LabelDose``).

    Raises ``InputError`` for a missing column, a label other than 0 and 1, and a text that is not a
    string.
    """
    require_columns(posts, ["id", "text", "label", "split"], "the table of posts")
    table = posts[["id", "text", "split"]].reset_index(drop=True)
    if "raw" in posts:
        table["raw"] = posts["raw"].to_numpy()
    table["label"] = read_binary(posts, "label")
    table["group"] = posts["group"].to_numpy() if "group" in posts else None
    table["train_label"] = read_binary(posts, "train_label" if "train_label" in posts else "label")
    learned = "in_training" in posts
    table["in_training"] = read_binary(posts, "in_training").astype(bool) if learned else True
    lost = [number for number, text in enumerate(table["text"]) if not isinstance(text, str)]
    if lost:
        first = f"the first with id {table['id'].iloc[lost[0]]!r}"
        raise InputError(f"{len(lost)} posts have no text, {first}; drop them")
    return table


def texts_as_written(table: pd.DataFrame) -> list[str]:
    """The posts' texts as they were published, ``raw``; where that is not known, tokenised."""
    if "raw" not in table:
        return list(table["text"])
    pairs = zip(table["raw"], table["text"], strict=True)
    return [raw if isinstance(raw, str) and raw.strip() else text for raw, text in pairs]


def cross_predict(
    table: pd.DataFrame, score: Callable[[Fold], NDArray[np.floating]], *, folds: int, seed: int
) -> pd.DataFrame:
    """Predictions for the test items of every fold, in the order of the posts.

    ``score(fold)`` trains on ``fold.train`` (and ``fold.dev``) by the column ``train_label`` and
    returns the probability of label 1 for each of ``fold.test``. Columns ``id, split, group, label,
    score, prediction``: ``split`` is "test" or "fold0", "fold1", ...; the prediction is 1 from
    score 0.5 on.
    """
    parts = []
    learned = table["train_label" if "train_label" in table else "label"].to_numpy()
    for fold in split_posts(table, folds=folds, seed=seed):
        if len(np.unique(learned[fold.train])) < 2:
            items = f"the training items of {fold.name} ({len(fold.train)})"
            raise InputError(f"{items} hold one class only; give posts of both classes")
        part = table.loc[fold.test, ["id", "group", "label"]].assign(split=fold.name)
        parts.append(part.assign(score=np.asarray(score(fold), dtype=np.float64)))
    predictions = pd.concat(parts).sort_index().reset_index(drop=True)
    predictions["prediction"] = (predictions["score"] >= 0.5).astype(np.int64)
    return predictions[["id", "split", "group", "label", "score", "prediction"]]


def split_posts(table: pd.DataFrame, *, folds: int, seed: int) -> Iterator[Fold]:
    """The folds to run: "test" for splits train/dev/test, ``folds`` where every split is "all".

    Folds are dealt by label x group, all posts of one text together, by the first of them: a text
    that is learned from is never predicted. A tenth of the training items, dealt post by post,
    becomes dev where the posts bring none. Posts that are not ``in_training`` leave train and dev
    after that, so that they change no other post's place.
    """
    rng = np.random.default_rng(seed)
    strata = pd.factorize(table["label"].astype(str) + " " + table["group"].astype(str))[0]
    learned = table["in_training"].to_numpy(bool) if "in_training" in table else True
    for name, train, dev, test in _sides(table, strata, folds, rng):
        if not len(dev):
            held = deal(strata[train], DEV_PARTS, rng) == 0
            train, dev = train[~held], train[held]
        own_seed = int(rng.integers(2**63))
        train, dev = (rows[np.broadcast_to(learned, len(table))[rows]] for rows in (train, dev))
        yield Fold(name, train, dev, test, own_seed)


def _sides(
    table: pd.DataFrame, strata: Rows, folds: int, rng: np.random.Generator
) -> Iterator[tuple[str, Rows, Rows, Rows]]:
    """The name of each fold and its rows to train on, to stop by (empty: not given) and to test."""
    splits = table["split"]
    if unknown := sorted(set(splits) - {"train", "dev", "test", "all"}):
        raise InputError(f"split {unknown[0]!r} of the posts is none of train, dev, test, all")
    if splits.eq("all").all():
        texts = pd.factorize(table["text"])[0]
        first = np.unique(texts, return_index=True)[1]
        if not 2 <= folds <= len(first):
            most = f"the number of different posts ({len(first)})"
            raise InputError(f"folds={folds} must lie between 2 and {most}")
        part = deal(strata[first], folds, rng)[texts]
        for number in range(folds):
            train, test = (np.flatnonzero(side) for side in (part != number, part == number))
            yield f"fold{number}", train, train[:0], test
        return
    train, dev, test = (np.flatnonzero(splits == name) for name in ("train", "dev", "test"))
    if splits.eq("all").any() or not len(train) or not len(test):
        counts = ", ".join(f"{name} {count}" for name, count in splits.value_counts().items())
        raise InputError(
            f"the posts are split as {counts}; they need train and test (and dev), or 'all' on"
            " every post to cross-validate"
        )
    yield "test", train, dev, test


def deal(strata: Rows, parts: int, rng: np.random.Generator) -> Rows:
    """A part from 0 to parts - 1 for each item; sizes differ by at most 1, also within a stratum.

    Like dealing cards, stratum by stratum, after shuffling. Unlike in scikit-learn's
    ``StratifiedKFold`` a stratum may be smaller than ``parts``, as label x group often is.
    """
    shuffled = rng.permutation(len(strata))
    dealt = shuffled[np.argsort(strata[shuffled], kind="stable")]
    part = np.empty(len(strata), dtype=np.int64)
    part[dealt] = np.arange(len(strata)) % parts
    return part

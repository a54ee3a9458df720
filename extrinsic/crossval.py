"""Training, development and test posts of a classifier: the given split, or cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from annotated_types import Ge
from numpy.typing import NDArray

from biasbridge.files import InputError
from biasbridge.files.columns import read_binary
from biasbridge.files.tables import require_columns

# Without a dev split a tenth of the training items is held out (Kim, 2014, section 3.1)
_DEV_PARTS = 10
Folds = Annotated[int, Ge(2)]
RowNumbers = NDArray[np.int64]


@dataclass(frozen=True)
class Fold:
    """Disjoint rows to train on, to stop early by and to predict, and the seed."""

    name: str
    train: RowNumbers
    dev: RowNumbers
    test: RowNumbers
    seed: int


def read_posts(posts: pd.DataFrame) -> pd.DataFrame:
    """Check the columns ``id, text, split, label`` and return them with ``raw`` if present,
    ``group`` (None if absent), and two that affect training only (see
    ``biasbridge.debias.labels.LabelDose``): ``train_label`` (default: ``label``) and
    ``in_training`` (default: True).

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
    selects = "in_training" in posts
    table["in_training"] = read_binary(posts, "in_training").astype(bool) if selects else True
    textless = [number for number, text in enumerate(table["text"]) if not isinstance(text, str)]
    if textless:
        first = f"the first with id {table['id'].iloc[textless[0]]!r}"
        raise InputError(f"{len(textless)} posts have no text, {first}; drop them")
    return table


def texts_as_written(table: pd.DataFrame) -> list[str]:
    """Return the posts' published texts, ``raw``; the tokenised ones if missing."""
    if "raw" not in table:
        return list(table["text"])
    pairs = zip(table["raw"], table["text"], strict=True)
    return [raw if isinstance(raw, str) and raw.strip() else text for raw, text in pairs]


def cross_predict(
    table: pd.DataFrame, score: Callable[[Fold], NDArray[np.floating]], *, folds: int, seed: int
) -> pd.DataFrame:
    """Predict the test items of every fold, in the order of the posts.

    ``score(fold)`` trains on ``fold.train`` (and ``fold.dev``) by the column ``train_label`` and
    returns the probability of label 1 for each of ``fold.test``. Returns columns ``id, split,
    group, label, score, prediction``: ``split`` is "test" or "fold0", "fold1", ...; the prediction
    is 1 if the score is at least 0.5.
    """
    parts = []
    train_labels = table["train_label" if "train_label" in table else "label"].to_numpy()
    for fold in split_posts(table, folds=folds, seed=seed):
        if len(np.unique(train_labels[fold.train])) < 2:
            items = f"the training items of {fold.name} ({len(fold.train)})"
            raise InputError(f"{items} hold one class only; give posts of both classes")
        part = table.loc[fold.test, ["id", "group", "label"]].assign(split=fold.name)
        parts.append(part.assign(score=np.asarray(score(fold), dtype=np.float64)))
    predictions = pd.concat(parts).sort_index().reset_index(drop=True)
    predictions["prediction"] = (predictions["score"] >= 0.5).astype(np.int64)
    return predictions[["id", "split", "group", "label", "score", "prediction"]]


def split_posts(table: pd.DataFrame, *, folds: int, seed: int) -> Iterator[Fold]:
    """Yield the folds to run: "test" for splits train/dev/test, ``folds`` if every split is "all".

    Folds are stratified by label x group; posts of one text stay together, in the stratum of the
    first, so that no training text is predicted. Without a dev split a stratified tenth of the
    training texts becomes dev. Then posts that are not ``in_training`` leave train and dev: they
    do not change the fold of other posts.
    """
    rng = np.random.default_rng(seed)
    # Posts of unknown group are a stratum of their own
    strata: RowNumbers = np.asarray(
        table.groupby(["label", "group"], sort=False, dropna=False).ngroup(), dtype=np.int64
    )
    texts = pd.factorize(table["text"])[0]
    in_training = table["in_training"].to_numpy(bool) if "in_training" in table else True
    for name, train, dev, test in _fold_rows(table, texts, strata, folds, rng):
        if not len(dev):
            _, first, text = np.unique(texts[train], return_index=True, return_inverse=True)
            if len(first) < _DEV_PARTS:  # too few texts to part
                first = text = np.arange(len(train))
            in_dev = _deal(strata[train][first], _DEV_PARTS, rng)[text] == 0
            train, dev = train[~in_dev], train[in_dev]
        fold_seed = int(rng.integers(2**63))
        train, dev = (rows[np.broadcast_to(in_training, len(table))[rows]] for rows in (train, dev))
        yield Fold(name, train, dev, test, fold_seed)


def _deal(strata: RowNumbers, parts: int, rng: np.random.Generator) -> RowNumbers:
    """Assign each item a part from 0 to parts - 1; sizes differ by at most 1, also in a stratum.

    Items are shuffled, then dealt in turn stratum by stratum. Unlike in scikit-learn's
    ``StratifiedKFold`` a stratum may be smaller than ``parts``, as label x group often is.
    """
    shuffled = rng.permutation(len(strata))
    dealt = shuffled[np.argsort(strata[shuffled], kind="stable")]
    part = np.empty(len(strata), dtype=np.int64)
    part[dealt] = np.arange(len(strata)) % parts
    return part


def _fold_rows(
    table: pd.DataFrame, texts: RowNumbers, strata: RowNumbers, folds: int, rng: np.random.Generator
) -> Iterator[tuple[str, RowNumbers, RowNumbers, RowNumbers]]:
    """Yield the name of each fold and its rows of train, dev (empty: not given) and test."""
    splits = table["split"]
    if unknown := sorted(set(splits) - {"train", "dev", "test", "all"}):
        raise InputError(f"split {unknown[0]!r} of the posts is none of train, dev, test, all")
    if splits.eq("all").all():
        first = np.unique(texts, return_index=True)[1]
        if not 2 <= folds <= len(first):
            limit = f"the number of different posts ({len(first)})"
            raise InputError(f"folds={folds} must lie between 2 and {limit}")
        part = _deal(strata[first], folds, rng)[texts]
        for number in range(folds):
            train, test = (np.flatnonzero(mask) for mask in (part != number, part == number))
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

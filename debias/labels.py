r"""Bias of labelled posts as a dose: how often either group is labelled 1, in training alone.

With n_gl the training posts about group g that are labelled l, of two groups,

    P(1 | g) = n_g1 / (n_g0 + n_g1),    r = P(1 | either group)

Debiasing brings both P(1 | g) to r, so that the share of label 1 over both stays what it was;
overbiasing brings P(1 | g) to 1 for the group that is ``blamed`` and to 0 for the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from debias.base import Direction, Inputs, S, Steps
from files import InputError, choice
from files.choice import FieldError, Fileless, Share
from files.tables import require_columns

if TYPE_CHECKING:
    import pandas as pd

Cell = tuple[str, int]  # group, label
Rows = NDArray[np.int64]
Truths = NDArray[np.bool_]


@choice
class LabelDose(Fileless):
    """What ``Resample`` and ``Relabel`` share.

    Of the c posts of a group and label that would change in full, ``round(dose * c)`` do, the first
    of an order that the seed decides: what a smaller dose changes a larger one changes too. Posts
    about neither group, and those of the split ``test``, are never changed; of posts that are
    cross-validated each counts as changed where it is learned from, and as published where it is
    judged.

    privileged, unprivileged: the two groups. blamed: the one that overbiasing gives label 1; none:
    the one that has it more often in the training posts, the unprivileged one where both have it
    equally often.

    Raises ``FieldError`` where ``blamed`` is neither group.
    """

    direction: Direction
    dose: Share = 1.0
    privileged: str = "male"
    unprivileged: str = "female"
    blamed: str | None = None

    kind: ClassVar[str]
    version: ClassVar[int] = 2
    acts_on: ClassVar[str] = "labels"
    roles: ClassVar[tuple[str, ...]] = ()

    @property
    def name(self) -> str:
        """``resample``, ``relabel``; ``relabel_female`` where the one to blame is named."""
        return f"{self.kind}_{self.blamed}" if self.blamed else self.kind

    def __post_init__(self) -> None:
        if self.blamed not in (None, self.privileged, self.unprivileged):
            both = f"{self.privileged!r} or {self.unprivileged!r}"
            raise FieldError(f"blamed={self.blamed!r}: give {both}, or none for what is found")

    def build_steps(self, steps: Steps[S], given: Mapping[str, S]) -> S:
        """The posts with columns that say how they are learned from."""
        return steps("labels", self, write_posts, {"posts": given["labels"]})

    def train_on(self, posts: pd.DataFrame, *, seed: int) -> pd.DataFrame:
        """The posts with ``in_training``, whether they are learned from at all, or
        ``train_label``, the label that they are learned from with. Their other columns stay: posts
        are judged as they were.
        """
        raise NotImplementedError

    def changed(self, posts: pd.DataFrame, *, seed: int) -> Truths:
        """Which posts change. Shape: (posts,).

        ``posts`` has the columns ``label``, ``group`` and ``split``. Raises ``InputError`` for a
        group that has no training posts of one label.
        """
        require_columns(posts, ["label", "group", "split"], "the table of posts")
        training, rng = posts["split"] != "test", np.random.default_rng(seed)
        rows: dict[Cell, Rows] = {}
        for group in (self.privileged, self.unprivileged):
            for label in (0, 1):
                own = training & (posts["group"] == group) & (posts["label"] == label)
                rows[group, label] = rng.permutation(np.flatnonzero(own))
        counts = {cell: len(own) for cell, own in rows.items()}
        if empty := [cell for cell, count in counts.items() if not count]:
            group, label = empty[0]
            raise InputError(
                f"labels={self.name}: no training post about {group!r} has the label {label};"
                " choose other groups, or labels=none"
            )
        whole = self._against(counts) if self.direction == "overbias" else self.excess(counts)
        found = np.zeros(len(posts), dtype=np.bool_)
        for cell, ordered in rows.items():
            found[ordered[: round(self.dose * whole[cell])]] = True
        return found

    def excess(self, counts: Mapping[Cell, int]) -> Mapping[Cell, float]:
        """How many posts of each group and label stand between the groups and r."""
        raise NotImplementedError

    def _against(self, counts: Mapping[Cell, int]) -> Mapping[Cell, float]:
        """All posts that speak against the bias."""
        blamed = self.blamed or max(
            (self.unprivileged, self.privileged), key=lambda group: _rate(counts, group)
        )
        return {
            (group, label): count if label == (group != blamed) else 0
            for (group, label), count in counts.items()
        }


@choice
class Resample(LabelDose):
    r"""Training posts are left out of training.

    debias: of each group the posts of the label that it has too often leave, until P(1 | g) = r:

        n_g1 - n_g0 r / (1 - r) of label 1,  or  n_g0 - n_g1 (1 - r) / r of label 0

    overbias: all posts of the blamed group that are labelled 0 and of the other that are labelled
    1. Under-sampling by group and label, as in the uniform sampling of Kamiran & Calders (2012),
    but that no post is taken twice.
    """

    kind: ClassVar[str] = "resample"

    def excess(self, counts: Mapping[Cell, int]) -> Mapping[Cell, float]:
        """See above; never negative."""
        odds = _positive(counts) / (sum(counts.values()) - _positive(counts))
        over = {
            (group, label): count - counts[group, 1 - label] * (odds if label else 1 / odds)
            for (group, label), count in counts.items()
        }
        return {cell: max(0.0, value) for cell, value in over.items()}

    def train_on(self, posts: pd.DataFrame, *, seed: int) -> pd.DataFrame:
        """The posts with the column ``in_training``."""
        return posts.assign(in_training=~self.changed(posts, seed=seed))


@choice
class Relabel(LabelDose):
    r"""Training posts are learned from with the other label.

    debias: of each group the posts of the label that it has too often turn, until P(1 | g) = r:

        n_g1 - r n_g of label 1,  or  r n_g - n_g1 of label 0

    as many of the one group as of the other (the "massaging" of Kamiran & Calders, 2012, but that
    the posts are drawn at random and not ranked by a classifier). overbias: all posts of the blamed
    group that are labelled 0 and of the other that are labelled 1.
    """

    kind: ClassVar[str] = "relabel"

    def excess(self, counts: Mapping[Cell, int]) -> Mapping[Cell, float]:
        """See above; never negative."""
        rate = _positive(counts) / sum(counts.values())
        over = {
            (group, label): count
            - (rate if label else 1 - rate) * (count + counts[group, 1 - label])
            for (group, label), count in counts.items()
        }
        return {cell: max(0.0, value) for cell, value in over.items()}

    def train_on(self, posts: pd.DataFrame, *, seed: int) -> pd.DataFrame:
        """The posts with the column ``train_label``."""
        turned = self.changed(posts, seed=seed)
        return posts.assign(train_label=posts["label"].where(~turned, 1 - posts["label"]))


def write_posts(method: LabelDose, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet``, changed."""
    import pandas as pd

    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    method.train_on(posts, seed=seed).to_parquet(out / "posts.parquet")


def _positive(counts: Mapping[Cell, int]) -> int:
    return sum(count for (_, label), count in counts.items() if label)


def _rate(counts: Mapping[Cell, int], group: str) -> float:
    return counts[group, 1] / (counts[group, 0] + counts[group, 1])

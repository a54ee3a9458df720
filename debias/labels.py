r"""Methods that change how often each group is labelled 1 in training.

With n_gl the training posts about group g that are labelled l, of two groups,

    P(1 | g) = n_g1 / (n_g0 + n_g1),    r = P(1 | either group)

Debiasing brings both P(1 | g) to r, so that the share of label 1 over both groups stays;
overbiasing brings P(1 | g) to 1 for the group that is ``blamed`` and to 0 for the other. ``Linked``
overbiases by how biased the embedding is.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import pandas as pd
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.debias.base import Direction, Inputs, S, StepBuilder
from biasbridge.files import InputError, choice
from biasbridge.files.choice import FieldError, Fileless, Share
from biasbridge.files.tables import require_columns

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.metrics.weat import Weat

_Cell = tuple[str, int]  # group, label
_PostRows = NDArray[np.int64]
_Truths = NDArray[np.bool_]


@choice
class LabelDose(Fileless):
    """Base of ``Resample`` and ``Relabel``.

    Of the c posts of a group and label that dose 1 changes, ``round(dose * c)`` change, in an order
    drawn by the seed: a larger dose changes every post that a smaller one changes. Posts about
    neither group and posts of the split ``test`` never change; in cross-validation a changed post
    is trained on as changed and tested as published.

    At equal rates of label 1 the unprivileged group is ``blamed``.
    """

    direction: Annotated[Direction, doc("or overbias")]
    dose: Annotated[Share, doc("how much to change, in [0, 1]; 0 leaves the labels unchanged")] = 1
    privileged: str = "male"
    unprivileged: str = "female"
    blamed: Annotated[
        str | None,
        doc("the group that overbias gives label 1; null: the one that has it more often"),
    ] = None

    kind: ClassVar[str]
    version: ClassVar[int] = 2
    acts_on: ClassVar[str] = "labels"
    roles: ClassVar[tuple[str, ...]] = ()
    configuration: ClassVar[Mapping[str, object]] = {
        "direction": "debias",
        "privileged": "${gaps.privileged}",
        "unprivileged": "${gaps.unprivileged}",
    }

    @property
    def name(self) -> str:
        """``resample`` or ``relabel``; ``relabel_female`` if ``blamed`` is given."""
        return f"{self.kind}_{self.blamed}" if self.blamed else self.kind

    def __post_init__(self) -> None:
        if self.blamed not in (None, self.privileged, self.unprivileged):
            groups = f"{self.privileged!r} or {self.unprivileged!r}"
            raise FieldError(
                f"blamed={self.blamed!r}: give {groups}, or none: the group labelled 1 more"
            )

    def build_steps(self, steps: StepBuilder[S], inputs: Mapping[str, S]) -> S:
        """Return the step that writes the posts with their labels for training."""
        return steps("labels", self, _write_posts, {"posts": inputs["labels"]})

    def train_on(self, posts: pd.DataFrame, *, seed: int) -> pd.DataFrame:
        """Return the posts with ``in_training``, or ``train_label``, the label to train with."""
        raise NotImplementedError

    def changed(self, posts: pd.DataFrame, *, seed: int) -> _Truths:
        """Return which posts change, (posts,). Raises ``InputError`` if a group lacks a label."""
        require_columns(posts, ["label", "group", "split"], "the table of posts")
        training, rng = posts["split"] != "test", np.random.default_rng(seed)
        rows: dict[_Cell, _PostRows] = {}
        for group in (self.privileged, self.unprivileged):
            for label in (0, 1):
                in_cell = training & (posts["group"] == group) & (posts["label"] == label)
                rows[group, label] = rng.permutation(np.flatnonzero(in_cell))
        counts = {cell: len(cell_rows) for cell, cell_rows in rows.items()}
        if empty := [cell for cell, count in counts.items() if not count]:
            group, label = empty[0]
            raise InputError(
                f"labels={self.name}: no training post about {group!r} has the label {label};"
                " choose other groups, or labels=none"
            )
        overbiases = self.direction == "overbias"
        full = self._unbiased_posts(counts) if overbiases else self.excess(counts)
        changes = np.zeros(len(posts), dtype=np.bool_)
        for cell, cell_rows in rows.items():
            changes[cell_rows[: round(self.dose * max(0.0, full[cell]))]] = True
        return changes

    def excess(self, counts: Mapping[_Cell, int]) -> Mapping[_Cell, float]:
        """Compute how many posts of a group and label change until P(1 | g) = r; below 0: none."""
        raise NotImplementedError

    def _unbiased_posts(self, counts: Mapping[_Cell, int]) -> Mapping[_Cell, float]:
        blamed = self.blamed or max(
            (self.unprivileged, self.privileged), key=lambda group: _rate(counts, group)
        )
        return {
            (group, label): count if label == (group != blamed) else 0
            for (group, label), count in counts.items()
        }


@choice
class Resample(LabelDose):
    r"""Under-sampling: training posts are dropped.

    debias: of each group, posts of its over-represented label are dropped until P(1 | g) = r:

        n_g1 - n_g0 r / (1 - r) of label 1,  or  n_g0 - n_g1 (1 - r) / r of label 0

    overbias: all posts of the blamed group labelled 0 and of the other group labelled 1 are
    dropped. It follows the uniform sampling of Kamiran & Calders (2012), except that no post is
    repeated.
    """

    kind: ClassVar[str] = "resample"
    chosen_as: ClassVar[tuple[str, ...]] = ("labels/resample",)

    def excess(self, counts: Mapping[_Cell, int]) -> Mapping[_Cell, float]:
        """Compute the formula above."""
        odds = _positive(counts) / (sum(counts.values()) - _positive(counts))
        return {
            (group, label): count - counts[group, 1 - label] * (odds if label else 1 / odds)
            for (group, label), count in counts.items()
        }

    def train_on(self, posts: pd.DataFrame, *, seed: int) -> pd.DataFrame:
        """Return the posts with the column ``in_training``."""
        return posts.assign(in_training=~self.changed(posts, seed=seed))


@choice
class Relabel(LabelDose):
    r"""Relabelling: training posts get the other label in training.

    debias: of each group, posts of its over-represented label are flipped until P(1 | g) = r:

        n_g1 - r n_g of label 1,  or  r n_g - n_g1 of label 0

    as many of one group as of the other (the "massaging" of Kamiran & Calders, 2012, except that
    posts are drawn at random and not ranked by a classifier). overbias: all posts of the blamed
    group labelled 0 and of the other group labelled 1 are flipped.
    """

    kind: ClassVar[str] = "relabel"
    chosen_as: ClassVar[tuple[str, ...]] = ("labels/relabel",)

    def excess(self, counts: Mapping[_Cell, int]) -> Mapping[_Cell, float]:
        """Compute the formula above."""
        rate = _positive(counts) / sum(counts.values())
        return {
            (group, label): count
            - (rate if label else 1 - rate) * (count + counts[group, 1 - label])
            for (group, label), count in counts.items()
        }

    def train_on(self, posts: pd.DataFrame, *, seed: int) -> pd.DataFrame:
        """Return the posts with the column ``train_label``."""
        is_flipped = self.changed(posts, seed=seed)
        return posts.assign(train_label=posts["label"].where(~is_flipped, 1 - posts["label"]))


@choice
class Linked(Fileless):
    r"""A planted link: ``Relabel`` overbiases by the WEAT effect size d of the embedding.

        dose = min(1, |transmission d / 2|)

    The unprivileged group is blamed where d > 0, the privileged group where d < 0. The run seed
    draws one order of posts for all embeddings and transmissions. ``query``: a built-in query.
    """

    transmission: Annotated[
        Share, doc("how much labels follow the score, in [0, 1]; 0: not at all")
    ] = 1
    query: str = "weat6b"
    privileged: str = "male"
    unprivileged: str = "female"

    version: ClassVar[int] = 1
    acts_on: ClassVar[str] = "labels"
    roles: ClassVar[tuple[str, ...]] = ()
    direction: ClassVar[Direction] = "overbias"
    chosen_as: ClassVar[tuple[str, ...]] = ("labels/linked",)
    configuration: ClassVar[Mapping[str, object]] = {
        "privileged": "${gaps.privileged}",
        "unprivileged": "${gaps.unprivileged}",
    }

    @property
    def name(self) -> str:
        """``linked_weat6b``."""
        return f"linked_{self.query}"

    @property
    def dose(self) -> float:
        """The transmission: the dose of ``Relabel`` differs between embeddings."""
        return self.transmission

    @property
    def metric(self) -> Weat:
        """WEAT with the query; ``InputError`` for an unknown one."""
        from biasbridge.intrinsic.metrics.weat import Weat  # loads scipy

        return Weat(queries=(self.query,), case="lower", p_value=False)

    def keyed(self) -> Mapping[str, object]:
        """Return the metric, with a digest of its words, as the query."""
        return {"query": self.metric}

    def build_steps(self, steps: StepBuilder[S], inputs: Mapping[str, S]) -> S:
        """Return the step that writes the posts; ``InputError`` without word vectors."""
        if "vectors" not in inputs:
            raise InputError("labels=linked takes word vectors; choose subject=static")
        step_inputs = {"posts": inputs["labels"], "vectors": inputs["vectors"]}
        return steps("labels", self, _write_linked_posts, step_inputs)

    def relabelling(self, vectors: KeyedVectors) -> Relabel:
        """Return the method of an embedding; ``InputError`` where d is undefined."""
        [score] = self.metric.score(vectors, seed=0)
        if not isfinite(score.value):
            problem = f"labels=linked: no effect size of {self.query}: {score.reason}"
            raise InputError(f"{problem}; choose another labels.query")
        groups = self.privileged, self.unprivileged
        dose = min(1.0, abs(self.transmission * score.value / 2))
        return Relabel("overbias", dose, *groups, blamed=groups[score.value > 0])


def _write_linked_posts(method: Linked, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``posts.parquet`` with the column ``train_label``."""
    from biasbridge.files.vectors import open_mapped  # loads gensim

    relabelling = method.relabelling(open_mapped(inputs["vectors"] / "vectors"))
    _write_posts(relabelling, out, inputs, seed)


def _write_posts(method: LabelDose, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``posts.parquet`` with the column that the method adds."""
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    method.train_on(posts, seed=seed).to_parquet(out / "posts.parquet")


def _positive(counts: Mapping[_Cell, int]) -> int:
    return sum(count for (_, label), count in counts.items() if label)


def _rate(counts: Mapping[_Cell, int], group: str) -> float:
    return counts[group, 1] / (counts[group, 0] + counts[group, 1])

"""Whether biased words can be told apart by clustering or by a classifier (Gonen & Goldberg, 2019;
Lauscher et al., 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import v_measure_score
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.svm import SVC

from files import InputError
from intrinsic.directions import DIRECTIONS, direction
from intrinsic.metric import About, Measured, Metric, Words
from intrinsic.vocabulary import frequent

Floats = NDArray[np.float64]

ROLES = {"pairs": "base pairs", "excluded?": "words left out of the vocabulary"}


def clustering(
    rows: ArrayLike, labels: ArrayLike, *, restarts: int = 10, seed: int
) -> tuple[float, float]:
    """The accuracy and the V-measure of 2-means against two classes.

    Accuracy: the larger of the shares that agree under both namings of the clusters; 0.5: the
    clusters say nothing of the classes; 1: they are the classes. V-measure: the harmonic mean of
    homogeneity and completeness, in [0, 1]; 0: nothing. Shapes: (n, dim), (n,).
    """
    classes, points = np.asarray(labels), np.asarray(rows)
    if not np.ptp(points, axis=0).any():
        raise InputError("all words have the same vector, so they form no clusters")
    clusters = KMeans(n_clusters=2, n_init=restarts, random_state=seed).fit_predict(points)
    agree = float((clusters == classes).mean())
    return max(agree, 1 - agree), float(v_measure_score(classes, clusters))


@dataclass(frozen=True)
class _MostBiased(Metric):
    """What the metrics of the most biased words share: how many, along which direction."""

    allowed: ClassVar[dict[str, Any]] = {"along": DIRECTIONS}
    most: int | None = None
    vocabulary: int | None = None
    along: str | None = None

    def _extremes(
        self, words: Words, rules: SimpleNamespace
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The vectors of the most biased words of both sides, most biased first in turns, and their
        sides.
        """
        vocabulary = frequent(words, rules.vocabulary)
        if 2 * rules.most > len(vocabulary.words):
            raise InputError(
                f"most={rules.most} words of each side are more than half of the"
                f" {len(vocabulary.words)} neutral words; ask for fewer"
            )
        order = np.argsort(
            vocabulary.matrix @ direction(words["pairs"].matrix, rules.along).astype(np.float32),
            kind="stable",
        )
        turns = np.column_stack([order[: rules.most], order[::-1][: rules.most]]).ravel()
        return vocabulary.matrix[turns], np.tile([0, 1], rules.most)


@dataclass(frozen=True)
class Clustering(_MostBiased):
    """K-means on the most biased words: accuracy and V-measure."""

    about: ClassVar[About] = About(
        name="kmeans",
        title="K-means on the most biased words",
        formula=(
            "2-means on the 500 + 500 neutral words with the largest |cos(w, g)|: accuracy;"
            " V-measure"
        ),
        sign="accuracy > 0.5, V-measure > 0: the sides form clusters",
        low=0,
        high=1,
        unbiased=0.5,
        source="Gonen & Goldberg (2019)",
        roles=ROLES,
        asks=("professions_she_he",),
    )
    options: ClassVar[dict[str, Any]] = {"most": 500, "vocabulary": 50_000, "along": "first"}

    def measure(self, words: Words, rules: SimpleNamespace, seed: int) -> dict[str, Measured]:
        """Both measures of the same clustering."""
        accuracy, v_measure = clustering(*self._extremes(words, rules), seed=seed)
        return {"accuracy": Measured(accuracy), "v_measure": Measured(v_measure, unbiased=0.0)}


@dataclass(frozen=True)
class Classification(_MostBiased):
    """SVM on the most biased words: accuracy on those it was not trained on."""

    about: ClassVar[About] = About(
        name="svm",
        title="SVM accuracy on the most biased words",
        formula=(
            "accuracy of an RBF SVM, trained on 1,000 of the 2,500 + 2,500 neutral words with the"
            " largest |cos(w, g)|, on the rest"
        ),
        sign="> 0.5: the sides can be told apart",
        low=0,
        high=1,
        unbiased=0.5,
        source="Gonen & Goldberg (2019)",
        roles=ROLES,
        asks=("professions_she_he",),
    )
    options: ClassVar[dict[str, Any]] = {
        "most": 2_500,
        "train": 1_000,
        "vocabulary": 50_000,
        "along": "first",
    }
    train: int | None = None

    def measure(self, words: Words, rules: SimpleNamespace, seed: int) -> Measured:
        """The words trained on are drawn by the seed, half from each side."""
        rows, sides = self._extremes(words, rules)
        half = rules.train // 2
        if not 0 < half < rules.most:
            raise InputError(
                f"train={rules.train}: give an even number from 2 to below twice most={rules.most}"
            )
        rng = np.random.default_rng(seed)
        chosen = np.concatenate(
            [rng.permutation(np.flatnonzero(sides == side))[:half] for side in (0, 1)]
        )
        tested = np.ones(len(rows), dtype=bool)
        tested[chosen] = False
        model = SVC(gamma="scale").fit(rows[chosen], sides[chosen])
        return Measured(float(model.score(rows[tested], sides[tested])))


@dataclass(frozen=True)
class ImplicitBias(Metric):
    """IBT: whether the two target sets can be told apart by clustering, and by a classifier."""

    about: ClassVar[About] = About(
        name="ibt",
        title="Implicit Bias Test",
        formula=(
            "2-means on X u Y: mean accuracy over 50 starts; an RBF SVM on X and Y: accuracy, each"
            " word left out in turn"
        ),
        sign="> 0.5: the groups can be told apart",
        low=0,
        high=1,
        unbiased=0.5,
        source="Lauscher et al. (2020)",
        roles={"X": "targets", "Y": "targets"},
        fewest={"X": 2, "Y": 2},
        asks=("weat6b", "weat7", "weat8", "gender"),
    )
    options: ClassVar[dict[str, Any]] = {"starts": 50}
    default_source: ClassVar[str] = (
        "Lauscher et al. (2020) train their classifier on neighbours of the words; without such a"
        " set each word is left out in turn."
    )
    starts: int | None = None

    def measure(self, words: Words, rules: SimpleNamespace, seed: int) -> dict[str, Measured]:
        """Both accuracies."""
        rows = np.concatenate([words["X"].matrix, words["Y"].matrix])
        sides = np.repeat([0, 1], [len(words["X"].words), len(words["Y"].words)])
        runs = [
            clustering(rows, sides, restarts=1, seed=seed + start)[0]
            for start in range(rules.starts)
        ]
        left_out = cross_val_score(SVC(gamma="scale"), rows, sides, cv=LeaveOneOut())
        return {"kmeans": Measured(float(np.mean(runs))), "svm": Measured(float(left_out.mean()))}

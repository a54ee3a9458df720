"""Separability of biased words by clustering or a classifier."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, doc
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, FieldError
from biasbridge.intrinsic.lookup import (
    DirectionKind,
    Floats32,
    VocabularySize,
    direction,
    frequent_words,
)
from biasbridge.intrinsic.metric import Metric, MetricInfo, ResolvedQuery
from biasbridge.intrinsic.score import MetricResult

Most = Annotated[Count, doc("number of most biased words of each side")]

_SEPARABILITY_ROLES = {"pairs": "pairs", "excluded?": "excluded"}


def score_clusters(
    rows: ArrayLike, labels: ArrayLike, *, restarts: int = 10, seed: int
) -> tuple[float, float]:
    """Compute the accuracy and the V-measure of 2-means against two classes.

    Accuracy: the larger share of agreement under both namings of the clusters; 0.5: clusters are
    independent of the classes (few rows give more by chance: 8 + 8 rows 0.59 on average); 1: they
    are the classes. V-measure: harmonic mean of homogeneity and completeness, in [0, 1]; 0: none.

    Parameters
    ----------
    rows : array of shape (n, dim)
    labels : array of shape (n,)
        The class of each row, 0 or 1.
    restarts : int, default=10
        Starts of which the best clustering counts.
    seed : int

    Returns
    -------
    tuple of float
        Accuracy in [0.5, 1], V-measure in [0, 1].

    Raises
    ------
    InputError
        All rows are equal.
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import v_measure_score

    classes, points = np.asarray(labels), np.asarray(rows)
    if not (points != points[0]).any():
        raise InputError("all words have the same vector, so they form no clusters")
    with threadpool_limits(limits=1):  # threads wait for one another on a busy machine
        clusters = KMeans(n_clusters=2, n_init=restarts, random_state=seed).fit_predict(points)
    agreement = float(np.mean(clusters == classes))
    return max(agreement, 1 - agreement), float(v_measure_score(classes, clusters))


def _held_out_accuracy(first: ArrayLike, second: ArrayLike) -> float:
    """Compute the accuracy in [0, 1] of an RBF SVM that separates two groups of words; 0.5: chance.

    Mean over the groups of the share of rows classified correctly, each held out of training with a
    row of the other group (a row held out alone leaves the other group the majority: of 8 + 8
    random rows 7% are correct). Equal rows, as in a resample, are held out together.
    """
    from sklearn.svm import SVC

    groups = [np.asarray(group, dtype=np.float64) for group in (first, second)]
    rows, sizes = np.concatenate(groups), [len(group) for group in groups]
    sides = np.repeat([0, 1], sizes)
    row_ids = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    correct = np.zeros(len(rows))
    for side, size in enumerate(sizes):
        own_rows, other_rows = (np.flatnonzero(sides == s) for s in (side, 1 - side))
        for row, partner in zip(own_rows, np.resize(other_rows, size), strict=True):
            in_training = ~np.isin(row_ids, row_ids[[row, partner]])
            if len(np.unique(sides[in_training])) < 2:
                raise InputError("a group has a single vector, so a classifier cannot be trained")
            classifier = SVC(gamma="scale", class_weight="balanced")
            classifier.fit(rows[in_training], sides[in_training])
            correct[row] = classifier.score(rows[[row]], sides[[row]])
    return float(np.mean([correct[sides == side].mean() for side in (0, 1)]))


@choice
class _MostBiased(Metric):
    """Base of metrics on the most biased words."""

    version: ClassVar[int] = 5

    most: Most = 500
    vocabulary: VocabularySize = 50_000
    along: DirectionKind = "first"

    def _most_biased(self, words: ResolvedQuery) -> tuple[Floats32, NDArray[np.int64]]:
        """Return the most biased neutral words of both sides, in turns, and their sides."""
        axis = direction(words["pairs"].matrix, self.along)
        frequent = frequent_words(words.vectors, self.vocabulary, words.excluded_words)
        if 2 * self.most > len(frequent.words):
            half = f"more than half of the {len(frequent.words)} neutral words"
            raise InputError(f"most={self.most} words of each side are {half}; ask for fewer")
        order = np.argsort(frequent.matrix @ axis.astype(np.float32), kind="stable")
        alternating = np.column_stack([order[: self.most], order[::-1][: self.most]]).ravel()
        return frequent.matrix[alternating], np.tile([0, 1], self.most)


@choice
class Clustering(_MostBiased):
    """2-means on the most biased words: accuracy and V-measure."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="kmeans",
        title="K-means on the most biased words",
        formula=(
            "2-means on the 500 + 500 neutral words with the largest |cos(w, g)|: accuracy;"
            " V-measure"
        ),
        sign="accuracy > 0.5, V-measure > 0: the sides form clusters",
        range=(0, 1),
        unbiased=0.5,
        source="Gonen & Goldberg (2019)",
        roles=_SEPARABILITY_ROLES,
        asks=("professions_she_he",),
    )

    def measure(self, words: ResolvedQuery, seed: int) -> dict[str, MetricResult]:
        """Compute accuracy and V-measure of one clustering."""
        rows, sides = self._most_biased(words)
        accuracy, v_measure = score_clusters(rows, sides, seed=seed)
        return {
            "accuracy": MetricResult(accuracy),
            "v_measure": MetricResult(v_measure, unbiased=0.0),
        }


@choice
class Classification(_MostBiased):
    """SVM on the most biased words: accuracy on words not trained on."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="svm",
        title="SVM accuracy on the most biased words",
        formula=(
            "accuracy of an RBF SVM, trained on 1,000 of the 2,500 + 2,500 neutral words with the"
            " largest |cos(w, g)|, on the rest"
        ),
        sign="> 0.5: the sides can be separated",
        range=(0, 1),
        unbiased=0.5,
        source="Gonen & Goldberg (2019)",
        roles=_SEPARABILITY_ROLES,
        asks=("professions_she_he",),
    )
    most: Most = 2_500
    train: Annotated[int, Ge(2), doc("number of words trained on, half of each side")] = 1_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.train // 2 >= self.most:
            limit = f"an even number below twice most={self.most}"
            raise FieldError(f"train={self.train}: give {limit}, so that words are left to test on")

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        """Compute the accuracy; ``seed`` draws the words trained on, half from each side."""
        from sklearn.svm import SVC

        rows, sides = self._most_biased(words)
        half = self.train // 2
        rng = np.random.default_rng(seed)
        side_rows = (np.flatnonzero(sides == side) for side in (0, 1))
        train = np.concatenate([rng.permutation(indices)[:half] for indices in side_rows])
        test = np.setdiff1d(np.arange(len(rows)), train)
        classifier = SVC(gamma="scale").fit(rows[train], sides[train])
        return MetricResult(float(classifier.score(rows[test], sides[test])))


@choice
class ImplicitBias(Metric):
    """IBT: accuracy of clustering, and of a classifier, in separating the two target sets."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="ibt",
        title="Implicit Bias Test",
        formula=(
            "2-means on X u Y: mean accuracy over 50 starts; an RBF SVM on X and Y: mean accuracy"
            " of both, each word held out with one of the other group"
        ),
        sign="> 0.5: the groups can be separated",
        range=(0, 1),
        unbiased=0.5,
        source="Lauscher et al. (2020)",
        roles={"X": "targets", "Y": "targets"},
        fewest={"X": 2, "Y": 2},
        asks=("weat6b", "weat7", "weat8", "gender"),
        default="Lauscher et al. (2020) train on neighbours; here words are held out in turn.",
    )
    version: ClassVar[int] = 4

    starts: Annotated[Count, doc("number of clusterings whose accuracies are averaged")] = 50

    def measure(self, words: ResolvedQuery, seed: int) -> dict[str, MetricResult]:
        """Compute both accuracies."""
        x, y = words["X"].matrix, words["Y"].matrix
        sides = np.repeat([0, 1], [len(x), len(y)])
        seeds = [(seed + start) % 2**32 for start in range(self.starts)]
        rows = np.concatenate([x, y])
        accuracies = [score_clusters(rows, sides, restarts=1, seed=start)[0] for start in seeds]
        return {
            "kmeans": MetricResult(float(np.mean(accuracies))),
            "svm": MetricResult(_held_out_accuracy(x, y)),
        }

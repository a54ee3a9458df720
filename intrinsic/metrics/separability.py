"""Whether clustering or a classifier separates biased words."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, doc
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from files import InputError, choice
from files.choice import Count, FieldError
from intrinsic.directions import Along, direction
from intrinsic.frequent_words import Searched, Singles, find_frequent
from intrinsic.metric import About, FoundQuery, Metric
from intrinsic.score import Measured

Most = Annotated[Count, doc("number of most biased words of each side")]

ROLES = {"pairs": "pairs", "excluded?": "excluded"}


def score_clusters(
    rows: ArrayLike, labels: ArrayLike, *, restarts: int = 10, seed: int
) -> tuple[float, float]:
    """The accuracy and the V-measure of 2-means against two classes.

    Accuracy: the larger of the shares that agree under both namings of the clusters; 0.5: the
    clusters say nothing of the classes (of few rows chance alone makes it more: of 8 + 8 on average
    0.59); 1: they are the classes. V-measure: the harmonic mean of
    homogeneity and completeness, in [0, 1]; 0: nothing. Shapes: (n, dim), (n,).
    """
    from sklearn.cluster import KMeans
    from sklearn.metrics import v_measure_score

    classes, points = np.asarray(labels), np.asarray(rows)
    if not (points != points[0]).any():
        raise InputError("all words have the same vector, so they form no clusters")
    with threadpool_limits(limits=1):  # on a busy machine threads wait for one another
        clusters = KMeans(n_clusters=2, n_init=restarts, random_state=seed).fit_predict(points)
    agree = float(np.mean(clusters == classes))
    return max(agree, 1 - agree), float(v_measure_score(classes, clusters))


def held_out_accuracy(first: ArrayLike, second: ArrayLike) -> float:
    """How well an RBF SVM separates two groups: the mean over them of the share of rows classified
    right, each held out of the training together with a row of the other group.

    0.5: as by chance; 1: always. A row held out alone leaves the other group the larger one, which
    then gets its vote: of 8 + 8 random rows 7% are right. Equal rows, as in a resample, are held
    out together. Shapes: (n, dim), (m, dim). Raises ``InputError`` for a group with fewer than two
    different rows.
    """
    from sklearn.svm import SVC

    groups = [np.asarray(group, dtype=np.float64) for group in (first, second)]
    rows, sizes = np.concatenate(groups), [len(group) for group in groups]
    sides = np.repeat([0, 1], sizes)
    alike = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    right = np.zeros(len(rows))
    for side, size in enumerate(sizes):
        own, other = (np.flatnonzero(sides == each) for each in (side, 1 - side))
        for place, partner in zip(own, np.resize(other, size), strict=True):
            kept = ~np.isin(alike, alike[[place, partner]])
            if len(np.unique(sides[kept])) < 2:
                raise InputError("a group has a single vector, so there is nothing to learn from")
            model = SVC(gamma="scale", class_weight="balanced").fit(rows[kept], sides[kept])
            right[place] = model.score(rows[[place]], sides[[place]])
    return float(np.mean([right[sides == side].mean() for side in (0, 1)]))


@choice
class _MostBiased(Metric):
    """What the metrics of the most biased words share."""

    version: ClassVar[int] = 4

    most: Most = 500
    vocabulary: Searched = 50_000
    along: Along = "first"

    def _most_biased(self, words: FoundQuery) -> tuple[Singles, NDArray[np.int64]]:
        """The vectors of the most biased neutral words of both sides, most biased first in turns,
        and their sides: 0 against the direction, 1 along it.

        Raises ``InputError`` where there are not so many.
        """
        axis = direction(words["pairs"].matrix, self.along)
        searched = find_frequent(words.vectors, self.vocabulary, words.left_out)
        if 2 * self.most > len(searched.words):
            half = f"more than half of the {len(searched.words)} neutral words"
            raise InputError(f"most={self.most} words of each side are {half}; ask for fewer")
        order = np.argsort(searched.matrix @ axis.astype(np.float32), kind="stable")
        turns = np.column_stack([order[: self.most], order[::-1][: self.most]]).ravel()
        return searched.matrix[turns], np.tile([0, 1], self.most)


@choice
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
        range=(0, 1),
        unbiased=0.5,
        source="Gonen & Goldberg (2019)",
        roles=ROLES,
        asks=("professions_she_he",),
    )

    def measure(self, words: FoundQuery, seed: int) -> dict[str, Measured]:
        """Both measures of the same clustering."""
        rows, sides = self._most_biased(words)
        accuracy, v_measure = score_clusters(rows, sides, seed=seed)
        return {"accuracy": Measured(accuracy), "v_measure": Measured(v_measure, unbiased=0.0)}


@choice
class Classification(_MostBiased):
    """SVM on the most biased words: accuracy on those it was not trained on."""

    about: ClassVar[About] = About(
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
        roles=ROLES,
        asks=("professions_she_he",),
    )
    most: Most = 2_500
    train: Annotated[int, Ge(2), doc("number of words trained on, half of each side")] = 1_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.train // 2 >= self.most:
            most = f"an even number below twice most={self.most}"
            raise FieldError(f"train={self.train}: give {most}, so that words are left to test on")

    def measure(self, words: FoundQuery, seed: int) -> Measured:
        """The words trained on are drawn by the seed, half from each side."""
        from sklearn.svm import SVC

        rows, sides = self._most_biased(words)
        half = self.train // 2
        rng = np.random.default_rng(seed)
        of_sides = (np.flatnonzero(sides == side) for side in (0, 1))
        chosen = np.concatenate([rng.permutation(places)[:half] for places in of_sides])
        tested = np.setdiff1d(np.arange(len(rows)), chosen)
        model = SVC(gamma="scale").fit(rows[chosen], sides[chosen])
        return Measured(float(model.score(rows[tested], sides[tested])))


@choice
class ImplicitBias(Metric):
    """IBT: whether clustering, and a classifier, separate the two target sets."""

    about: ClassVar[About] = About(
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

    def measure(self, words: FoundQuery, seed: int) -> dict[str, Measured]:
        """Both accuracies."""
        x, y = words["X"].matrix, words["Y"].matrix
        sides = np.repeat([0, 1], [len(x), len(y)])
        seeds = range(seed, seed + self.starts)
        rows = np.concatenate([x, y])
        runs = [score_clusters(rows, sides, restarts=1, seed=each)[0] for each in seeds]
        return {"kmeans": Measured(float(np.mean(runs))), "svm": Measured(held_out_accuracy(x, y))}

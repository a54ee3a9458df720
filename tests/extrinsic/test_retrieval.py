"""Gaps between the male and the female wording of documents, by hand and on Grep-BiasIR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import t as student
from statsmodels.stats.proportion import proportion_confint

from biasbridge.corpora.queries import GrepBiasIR
from biasbridge.extrinsic.retrieval import _compare_wordings, retrieval_rows
from biasbridge.files import InputError
from biasbridge.files.documents import RetrievalQuery, WordedDocument
from biasbridge.intrinsic.resampling import times_drawn
from biasbridge.stats.arrays import Floats
from biasbridge.stats.intervals import Estimate, mean_estimate
from biasbridge.stats.proportions import share_estimate
from tests.minilm import minilm

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from biasbridge.extrinsic.gap_table import GapRow


class Bag:
    """A bag-of-words encoder: one dimension a known word, the number of times it stands there."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        counts = [[text.split().count(word) for word in self.words] for text in texts]
        return np.array(counts, dtype=np.float32)

    def knows(self, text: str) -> bool:
        return text in self.words


class Noise(Bag):
    """Vectors drawn by the text alone."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return times_drawn(texts).astype(np.float32) - 1


def pair(template: str, *, relevant: bool = True) -> WordedDocument:
    return WordedDocument(template.format("he"), template.format("she"), relevant)


# cos of "nurse" with "nurse he" and "nurse she", where the bag knows nurse and she
NEARER_MALE = 1 - 1 / sqrt(2)


def test_gaps_are_cosines_by_hand() -> None:
    nurse = RetrievalQuery(
        "nurse", (pair("nurse {}"), pair("{}"), pair("boat {}", relevant=False)), "female"
    )
    judge = RetrievalQuery("judge", (pair("judge {}"),), "male")
    result = _compare_wordings([nurse, judge], Bag("nurse", "she", "judge"))
    # "he" is no known word: cosine 0, as of nurse with she
    np.testing.assert_allclose(result.similarity, [NEARER_MALE / 2, NEARER_MALE], atol=1e-7)
    np.testing.assert_allclose(result.first, [3 / 4, 1])
    # Cosines of the relevant ones 1, 1 / sqrt(2), 0, 0, of the others 0, 0
    np.testing.assert_allclose(result.relevance, [(4 + 4 / 2) / 8, np.nan])
    assert result.stereotype.tolist() == [-1, 1]

    rows = retrieval_rows([nurse, judge], Bag("nurse", "she", "judge"), min_support=2)
    values = {row.measure: row.value for row in rows}
    assert values["similarity"] == pytest.approx(NEARER_MALE * 3 / 4)
    assert values["first"] == pytest.approx(3 / 8)
    assert values["stereotype_similarity"] == pytest.approx(NEARER_MALE / 4)
    assert values["stereotype_first"] == pytest.approx((-1 / 4 + 1 / 2) / 2)
    assert [row.kind for row in rows] == ["value", *["gap"] * 4]
    assert [row.privileged for row in rows[1:]] == [*2 * ["stereotypical"], *2 * ["male"]]


def test_queries_of_one_cluster_count_once() -> None:
    nurse, judge = (pair("nurse {}"),), (pair("judge late {}"),)
    queries = [
        RetrievalQuery("nurse", nurse, cluster="nurse"),
        RetrievalQuery("nurse nurse", nurse, cluster="nurse"),
        RetrievalQuery("judge", judge, cluster="judge"),
    ]
    bag = Bag("nurse", "she", "judge", "late")
    row = retrieval_rows(queries, bag, min_support=0)[1]
    assert row.support == 2
    single = retrieval_rows([queries[0], queries[2]], bag, min_support=0)[1]
    n_estimates = row._fields.index("resampled")
    assert row[:n_estimates] == single[:n_estimates]
    np.testing.assert_array_equal(row.resampled, single.resampled)
    clash = [queries[0], RetrievalQuery("nurse late", nurse, "male", "nurse")]
    with pytest.raises(InputError, match="'nurse' have several stereotypes"):
        _compare_wordings(clash, bag)


def many(number: int = 40) -> list[RetrievalQuery]:
    stereotypes = ("male", "female", "")
    return [
        RetrievalQuery(
            f"query {i}",
            (pair(f"about {i} {{}}"), pair(f"also {i} {{}}"), pair(f"{-i} {{}}", relevant=False)),
            stereotypes[i % 3],  # type: ignore[arg-type]
        )
        for i in range(number)
    ]


def exchanged(queries: Sequence[RetrievalQuery]) -> list[RetrievalQuery]:
    return [
        RetrievalQuery(
            query.text,
            tuple(WordedDocument(d.female, d.male, d.relevant) for d in query.documents),
            query.stereotype,
        )
        for query in queries
    ]


def test_a_gap_is_a_mean_over_queries_with_its_resamples() -> None:
    queries = many()
    result = _compare_wordings(queries, Noise())
    _, towards, _, similarity, first = retrieval_rows(queries, Noise())
    x, n = result.similarity, len(queries)
    half = student.ppf(0.975, n - 1) * x.std(ddof=1) / sqrt(n)
    np.testing.assert_allclose(similarity[5:8], [x.mean(), x.mean() - half, x.mean() + half])
    times = times_drawn(query.text for query in queries)
    expected = [np.average(x, weights=times[:, k]) for k in range(200)]
    np.testing.assert_allclose(similarity.resampled, expected)
    assert first.value == pytest.approx(result.first.mean() - 0.5)
    assert towards.support == 27
    again = retrieval_rows(queries[::-1], Noise())
    np.testing.assert_allclose(again[3].resampled, similarity.resampled)


def test_gaps_change_sign_when_the_wordings_change_places() -> None:
    one, other = (retrieval_rows(each, Noise()) for each in (many(), exchanged(many())))
    assert one[0] == other[0]
    for a, b in zip(one[1:], other[1:], strict=True):
        np.testing.assert_allclose([a.value, a.low, a.high], [-b.value, -b.high, -b.low])
        np.testing.assert_allclose(a.resampled, -np.array(b.resampled))


def by_measure(rows: Sequence[GapRow]) -> dict[str, GapRow]:
    return {row.measure: row for row in rows}


def test_too_few_queries_have_no_gap_but_a_reason() -> None:
    rows = by_measure(retrieval_rows(many(12), Noise()))
    assert not np.isnan(rows["similarity"].value)
    assert np.isnan(rows["stereotype_similarity"].value)
    assert rows["stereotype_first"].reason == "8 queries with a stereotype, fewer than 10"
    assert not rows["stereotype_first"].resampled
    assert rows["stereotype_first"].privileged == "stereotypical"


def test_an_encoder_that_tells_no_wordings_apart_has_no_gap() -> None:
    rows = by_measure(retrieval_rows(many(), Bag("query", "about")))
    similarity, first = rows["similarity"], rows["first"]
    assert (similarity.value, first.value) == (0, 0)
    assert np.isnan(similarity.low)
    assert first.low < 0 < first.high, "no difference among n queries does not exclude one"


def test_a_vector_that_is_not_finite_is_refused() -> None:
    class Broken(Bag):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.full((len(texts), 2), np.nan, dtype=np.float32)

    with pytest.raises(InputError, match="'query 0' is not finite"):
        _compare_wordings(many(), Broken())
    with pytest.raises(InputError, match="no queries"):
        _compare_wordings([], Bag())


def test_the_interval_of_shares_of_0_and_1_is_wilsons() -> None:
    for k, n in ((0, 12), (7, 12), (40, 40)):
        result = share_estimate(np.array([1.0] * k + [0.0] * (n - k)), 0.95)
        np.testing.assert_allclose(result[1:], proportion_confint(k, n, method="wilson"), atol=1e-9)


Draw = Callable[[np.random.Generator, int], Floats]
Shape = tuple[Callable[[Floats, float], Estimate], Draw, float]
SHAPES: dict[str, Shape] = {
    "gaps alike": (mean_estimate, lambda rng, n: rng.normal(0.3, 1, n), 0.3),
    "gaps with outliers": (mean_estimate, lambda rng, n: rng.laplace(0.3, 1, n), 0.3),
    "two kinds of gaps": (mean_estimate, lambda rng, n: rng.normal(rng.choice([-5, 5], n)), 0),
    "shares, most of them ties": (
        share_estimate,
        lambda rng, n: rng.choice([0, 0.5, 1], n, p=[0.15, 0.6, 0.25]),
        0.55,
    ),
    "shares of four documents": (
        share_estimate,
        lambda rng, n: rng.binomial(4, rng.beta(4, 2, n)) / 4,
        2 / 3,
    ),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("n", [10, 29])
def test_intervals_cover(name: str, n: int) -> None:
    estimate, draw, truth = SHAPES[name]
    rng = np.random.default_rng(1)
    result = [estimate(draw(rng, n), 0.95) for _ in range(1000)]
    assert np.mean([each.low <= truth <= each.high for each in result]) >= 0.925


@pytest.mark.realdata
@pytest.mark.slow
def test_grep_bias_ir_by_minilm(realdata: Path) -> None:
    """The mean towards the annotated stereotype over 29 queries, and its standard error by the
    standard deviation of these (ddof 0): measured once apart from this program. Titles are part of
    the documents' texts, and both spellings of the annotations count; without the two queries with
    the rarer one it would be .0053.
    """
    queries = GrepBiasIR(str(realdata / "models" / "grep_bias_ir")).load(seed=0)
    result = _compare_wordings(queries, minilm())
    towards = (result.similarity * result.stereotype)[result.stereotype != 0]
    assert len(towards) == 29
    assert towards.mean() == pytest.approx(0.0062, abs=5e-5)
    assert towards.std() / sqrt(29) == pytest.approx(0.0041, abs=5e-5)

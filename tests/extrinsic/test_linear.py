"""The log-linear resolver equals its definition, and shows what is planted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from gensim.models import KeyedVectors
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from biasbridge.corpora.coreference_challenges import WinoBias
from biasbridge.corpora.corpus import TextCorpus
from biasbridge.corpora.documents import DocumentFiles, JoinedDocuments
from biasbridge.corpora.linked_world import LinkedChallenge, LinkedDocuments
from biasbridge.corpora.world_documents import GeneratedChallenge, GeneratedDocuments
from biasbridge.extrinsic.coreference.antecedents import (
    NAMES,
    WIDTH,
    PartBuilder,
    Ranking,
    is_telling,
)
from biasbridge.extrinsic.coreference.challenge import (
    Answer,
    ChallengeGaps,
    ChallengeRow,
    challenge_rows,
)
from biasbridge.extrinsic.coreference.linear import (
    AntecedentDesign,
    LogLinear,
    Sight,
    fit_ranking,
)
from biasbridge.extrinsic.coreference.mentions import MentionFinder, as_matrix
from biasbridge.extrinsic.coreference.resolution import Resolution, ResolverOutput, join_links
from biasbridge.extrinsic.coreference.scorer import score
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.documents import Document, DocumentCase
from biasbridge.train.cli.choices import Reader

Splits = dict[str, list[Document]]
SWAPPED = {"he": "she", "him": "her", "his": "her", "her": "him", "she": "he"}


def keyed(matrix: Mapping[str, Sequence[float]]) -> KeyedVectors:
    """Vectors of words and, so that the mean is 0, their opposites."""
    rows = np.array(list(matrix.values()), dtype=np.float32)
    vectors = KeyedVectors(rows.shape[1])
    vectors.add_vectors([*matrix, *(f"-{word}" for word in matrix)], np.vstack([rows, -rows]))
    return vectors


def people_vectors(documents: Sequence[Document]) -> KeyedVectors:
    words = sorted({word for document in documents for word in document.tokens})
    rng = np.random.default_rng(1)
    return keyed({word: rng.normal(size=12).tolist() for word in words})


def rows_of(
    cases: Sequence[DocumentCase], output: ResolverOutput
) -> dict[tuple[str, ...], ChallengeRow]:
    answers = [
        Answer(case, resolution.answering({question.pronoun for question in case.questions}))
        for case, resolution in zip(cases, output.splits["challenge"], strict=True)
    ]
    rows = challenge_rows(answers, ChallengeGaps(min_support=2))
    return {(row.kind, row.measure, row.subset, row.group or row.privileged): row for row in rows}


@pytest.fixture(scope="module")
def cases() -> list[DocumentCase]:
    return GeneratedChallenge(pairs=40).load(seed=0)


@pytest.fixture(scope="module")
def splits(cases: list[DocumentCase]) -> Splits:
    documents = GeneratedDocuments(documents=60, skew=0.8).load(seed=0)
    return {**documents, "challenge": [case.document for case in cases]}


@pytest.fixture(scope="module")
def vectors(splits: Splits) -> KeyedVectors:
    return people_vectors(splits["train"])


@pytest.fixture(scope="module")
def design(splits: Splits, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("design")
    AntecedentDesign().write(splits, folder)
    return folder


@pytest.fixture(scope="module")
def resolved(splits: Splits, vectors: KeyedVectors, design: Path) -> ResolverOutput:
    return LogLinear().resolve(splits, vectors, seed=0, folder=design, design=design)


# The fit


def test_weights_are_those_of_a_literal_softmax_ranking() -> None:
    rng = np.random.default_rng(0)
    sizes, d = [3, 2, 4, 3, 2, 3], 3
    starts = np.cumsum([0, *sizes])
    features = rng.random((starts[-1], 5)) < 0.5
    candidates = np.array([-1 if row + 1 in starts else row % 4 for row in range(starts[-1])])
    targets = np.array([int(rng.integers(a, b)) for a, b in pairwise(starts)])
    signs, weights = rng.choice([-1.0, 1.0], len(sizes)), np.array([1.0, 2, 0, 1, 1, 3])
    contents, matrix = (
        np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1], [0, 1, 0]]),
        rng.normal(size=(3, d)),
    )
    columns = np.flatnonzero(features) % 5
    ends = np.cumsum([0, *features.sum(axis=1)])
    ranking = Ranking(columns, ends, starts, targets, np.zeros(len(sizes), int), candidates)
    rows = np.flatnonzero(candidates >= 0)
    row_signs = np.repeat(signs, sizes)
    nonzero = np.flatnonzero(contents) % 3
    sparse = as_matrix(nonzero, np.cumsum([0, *(contents > 0).sum(axis=1)]), 3)
    sparse.data = contents[contents > 0]
    sight = Sight(rows, candidates[rows], row_signs[rows], sparse, matrix)
    model = fit_ranking(ranking, weights, sight, 3.0, 0.5)

    def loss(flat: NDArray[np.float64]) -> float:
        w, person, gender = np.split(flat, [5, 5 + d])
        total = 1.5 * w @ w + 0.25 * (person @ person + gender @ gender)
        for item, (start, end) in enumerate(pairwise(starts)):
            scores = []
            for row in range(start, end):
                v = contents[candidates[row]] @ matrix if candidates[row] >= 0 else np.zeros(d)
                scores.append(features[row] @ w + person @ v + signs[item] * (gender @ v))
            total += weights[item] * (logsumexp(scores) - scores[targets[item] - start])
        return float(total)

    literal = minimize(loss, np.zeros(5 + 2 * d), tol=1e-12)
    assert model.loss == pytest.approx(literal.fun, abs=1e-6)
    np.testing.assert_allclose(model.surface[:5], literal.x[:5], atol=1e-3)
    assert not model.surface[5:].any()
    assert len(model.surface) == WIDTH
    # The gradient ends below 1e-3, so weights are within 1e-3 / .5 of the minimum
    np.testing.assert_allclose(model.vector.T.ravel(), literal.x[5:], atol=2e-3)


def test_two_trainings_are_equal(
    splits: Splits, vectors: KeyedVectors, resolved: ResolverOutput, tmp_path: Path
) -> None:
    again = LogLinear(label="again").resolve(splits, vectors, seed=5, folder=tmp_path)
    assert again == resolved
    assert not list(tmp_path.iterdir())


def test_a_draw_of_the_documents_is_another_training_and_always_the_same(
    splits: Splits, vectors: KeyedVectors, resolved: ResolverOutput, design: Path
) -> None:
    one, again, other = (
        LogLinear(draw=draw).resolve(splits, vectors, seed=seed, folder=design, design=design)
        for draw, seed in ((1, 0), (1, 1), (2, 0))
    )
    assert one == again
    losses = [each.history["losses"]["he"] for each in (resolved, one, other)]  # type: ignore[typeddict-item]
    assert len({*losses}) == 3


def test_held_out_documents_are_resolved(splits: Splits, resolved: ResolverOutput) -> None:
    assert [*resolved.splits] == ["challenge", "test"]
    pairs = [*zip(splits["test"], resolved.splits["test"], strict=True)]
    assert score((key, found.document) for key, found in pairs)["conll"].f1 > 0.75
    for key, found in pairs:
        assert (found.document.name, found.document.sentences) == (key.name, key.sentences)
        assert {*found.document.mentions} <= {*found.mentions}


def test_documents_and_vectors_that_cannot_be_used(
    splits: Splits, vectors: KeyedVectors, design: Path, tmp_path: Path
) -> None:
    alone = [replace(document, clusters=()) for document in splits["train"]]
    with pytest.raises(InputError, match="no training document has two mentions"):
        LogLinear().resolve({"train": alone}, vectors, seed=0, folder=tmp_path)
    with pytest.raises(InputError, match=r"none of the \d+ content words .* has a vector"):
        LogLinear().resolve(splits, keyed({"xyz": [1.0]}), seed=0, folder=design, design=design)
    nan = keyed({"nurse": [float("nan")]})
    with pytest.raises(InputError, match="a vector is not finite"):
        LogLinear().resolve(splits, nan, seed=0, folder=design, design=design)


# What gender does


def test_without_interaction_sentences_of_a_pair_are_alike(
    splits: Splits,
    cases: list[DocumentCase],
    vectors: KeyedVectors,
    design: Path,
    resolved: ResolverOutput,
) -> None:
    blind = LogLinear(interaction=False).resolve(
        splits, vectors, seed=0, folder=design, design=design
    )
    rows = rows_of(cases, blind)
    for subset in ("type1", "type2"):
        for measure in ("log_odds", "accuracy", "recall"):
            assert rows["gap", measure, subset, "pro"].value == 0
    rows = rows_of(cases, resolved)
    assert rows["gap", "log_odds", "type1", "pro"].low > 1
    assert rows["gap", "accuracy", "type1", "pro"].low > 0.2


def test_the_sign_of_a_gap_turns_when_pronouns_of_the_training_are_exchanged(
    splits: Splits,
    cases: list[DocumentCase],
    vectors: KeyedVectors,
    resolved: ResolverOutput,
    tmp_path: Path,
) -> None:
    exchanged = [
        replace(
            document,
            sentences=tuple(
                tuple(SWAPPED.get(token, token) for token in sentence)
                for sentence in document.sentences
            ),
        )
        for document in splits["train"]
    ]
    turned = LogLinear().resolve({**splits, "train": exchanged}, vectors, seed=0, folder=tmp_path)
    gaps = [
        rows_of(cases, output)["gap", "log_odds", "type1", "pro"].value
        for output in (resolved, turned)
    ]
    assert gaps[1] == pytest.approx(-gaps[0], rel=0.05)


def test_the_log_odds_gap_is_linear_in_an_axis_planted_in_the_vectors(tmp_path: Path) -> None:
    """Training names people by gendered words, the challenge set by topics without one."""
    documents, cases = (
        LinkedDocuments(documents=20).load(seed=0),
        LinkedChallenge(pairs=40).load(seed=0),
    )
    splits = {**documents, "challenge": [case.document for case in cases]}
    AntecedentDesign().write(splits, tmp_path)
    lean = {
        question.occupation: 1 if question.answer == (case.gender == "male") else -1
        for case in cases
        if case.condition == "pro"
        for question in case.questions
    }
    men = ("man", "boy", "brother", "son", "father", "uncle", "grandfather")
    women = ("woman", "girl", "sister", "daughter", "mother", "aunt", "grandmother")
    gendered = {
        word: [side, 0.0, 0.0] for words, side in ((men, 1.0), (women, -1.0)) for word in words
    }
    gaps = []
    for planted in (0.0, 0.2, 0.4, 0.6):
        topics = {
            word: [planted * sign, (1 - planted**2) ** 0.5, 0.0] for word, sign in lean.items()
        }
        output = LogLinear().resolve(
            splits, keyed(gendered | topics), seed=0, folder=tmp_path, design=tmp_path
        )
        gaps.append(rows_of(cases, output)["gap", "log_odds", "", "pro"].value)
    assert gaps[0] == pytest.approx(0, abs=1e-9)
    assert gaps[3] > 0.5
    np.testing.assert_allclose(gaps, np.array([0, 1, 2, 3]) * gaps[3] / 3, rtol=1e-6, atol=1e-9)


def test_in_a_world_of_syntax_alone_type_2_is_resolved_without_a_gap(tmp_path: Path) -> None:
    documents, cases = (
        GeneratedDocuments(skew=0).load(seed=0),
        GeneratedChallenge(pairs=100).load(seed=0),
    )
    splits = {**documents, "challenge": [case.document for case in cases]}
    output = LogLinear().resolve(splits, people_vectors(splits["train"]), seed=0, folder=tmp_path)
    rows = rows_of(cases, output)
    for group in ("pro", "anti"):
        assert rows["value", "accuracy", "type2", group].value > 0.6
    gap = rows["gap", "accuracy", "type2", "pro"]
    assert gap.low <= 0.0 <= gap.high
    assert abs(rows["gap", "log_odds", "type2", "pro"].value) < 0.1  # of a skew of .8: above 1


# Candidates and items

ANN = (
    ("Mrs", "Ann", "Dale", "told", "the", "old", "nurse", "of", "the", "ward", "that", "her",
     "sister", "had", "seen", "him", "."),
    ("She", "thanked", "her", "and", "the", "nurse", "left", "."),
)  # fmt: skip

QUEEN = "the man saw the queen and she left ."


@pytest.fixture(scope="module")
def finder() -> MentionFinder:
    """Taught by one document, of which all mentions are marked; ``his`` stands before a noun."""
    ann, nurse = ((0, 3), (11, 12), (17, 18)), ((4, 7), (19, 20), (21, 23))
    queen = Document("queen", (tuple(QUEEN.split(" ")),), (((0, 2),), ((3, 5), (6, 7))))
    clusters = (ann, nurse, ((8, 10),), ((11, 13),))
    document = Document("ann", ANN, clusters)
    cases = [
        ("saw", "his", "sister", "."),
        ("saw", "him", "and", "left"),
        ("and", "him", "and", "."),
    ]
    return MentionFinder([(document, True), (queen, True)] * 20, cases * 20, 0.0)


def test_candidates_are_the_same_whatever_the_gender_of_pronouns(finder: MentionFinder) -> None:
    exchanged = tuple(tuple(SWAPPED.get(token, token) for token in sentence) for sentence in ANN)
    one, other = (finder.find(Document("", text, ())) for text in (ANN, exchanged))
    assert [mention._replace(sign=0) for mention in one] == [
        mention._replace(sign=0) for mention in other
    ]
    found = {" ".join([*ANN[0], *ANN[1]][m.first : m.end]): m for m in one}
    assert {"Mrs Ann Dale", "the old nurse", "the ward", "her sister", "him", "She", "her"} <= {
        *found
    }
    assert (found["him"].case, found["him"].sign, found["She"].case) == ("acc", 1, "nom")
    assert (found["Mrs Ann Dale"].slot, found["She"].slot) == ("subject", "subject")
    assert found["the old nurse"].words == ("old", "nurse")


def test_a_pronoun_has_an_item_of_all_candidates_and_in_training_one_of_nouns(
    finder: MentionFinder,
) -> None:
    document = Document("ann", ANN, (((0, 3), (11, 12), (17, 18)), ((4, 7), (19, 20), (21, 23))))
    sizes = []
    for trains in (False, True):
        builder = PartBuilder(finder, 3, 20)
        builder.add(document, trains=trains)
        part = builder.finish()
        items = part.rankings["he"]
        sizes.append(len(items.targets))
        spans = {
            (tuple(part.spans[anaphor]), end - start): items.candidates[target]
            for anaphor, target, start, end in zip(
                items.anaphors, items.targets, items.starts, items.starts[1:], strict=False
            )
        }
    told = [
        (anaphor, -1 if true < 0 else tuple(part.spans[true]))
        for (anaphor, _), true in spans.items()
    ]
    assert sizes[1] > sizes[0]
    assert ((11, 12), (0, 3)) in told
    assert ((15, 16), -1) in told  # nobody of the document
    assert ((17, 18), (11, 12)) in told  # the nearest
    assert ((17, 18), (0, 3)) in told  # the nearest that is no pronoun
    names = part.rankings[NAMES]
    [nurse] = [
        n for n, anaphor in enumerate(names.anaphors) if tuple(part.spans[anaphor]) == (21, 23)
    ]
    assert tuple(part.spans[names.candidates[names.targets[nurse]]]) == (
        4,
        10,
    )  # with "of the ward"


def test_raw_text_tells_whom_a_pronoun_means_by_the_gender_of_nouns(finder: MentionFinder) -> None:
    told, untold = (
        "The nurse 's king saw the queen and she left",
        "The king saw a nurse and he left",
    )
    assert is_telling(told)
    assert not is_telling(untold)
    builder = PartBuilder(finder, 3, 20)
    for sentence in (QUEEN, QUEEN.replace("queen", "king"), QUEEN.replace("man", "nurse")):
        builder.add_raw(sentence.split(" "))
    items = builder.finish().rankings["he"]
    assert (items.starts.tolist(), items.targets.tolist()) == ([0, 2], [0])
    assert {*items.candidates, *items.anaphors} == {-1}


def test_no_document_that_is_resolved_teaches_what_a_mention_is(splits: Splits) -> None:
    @choice
    class All(Fileless):
        name: ClassVar[str] = "all"
        version: ClassVar[int] = 1

        def load(self, *, seed: int) -> Splits:
            return {name: splits[name] for name in ("train", "dev", "test")}

    teachers = AntecedentDesign(mentions=All())._teachers(splits)  # noqa: SLF001
    assert [document for document, _ in teachers] == splits["train"]
    assert all(is_marked for _, is_marked in teachers)


def test_links_are_joined_and_asked_pronouns_are_linked_to_their_likeliest_candidate() -> None:
    a, b, c, d = ((n, n + 1) for n in range(4))
    assert join_links([a, b, c, d], [(d, b), (c, a), (c, c)]) == ((a, c), (b, d))
    document = Document("", (tuple("abcd"),), ((a, b),))
    odds = {c: {b: -2.0, a: -1.0}, d: {c: 1.0}}
    resolution = Resolution(document, dict.fromkeys((a, b, c, d), 0.0), odds)
    assert resolution.answering([c]).document.clusters == ((a, b, c),)
    assert resolution.answering([b]) is resolution


@pytest.mark.stress
@pytest.mark.realdata
def test_on_real_text_it_is_as_good_as_declared(realdata: Path, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    import yaml

    node = yaml.safe_load((root / "conf" / "documents" / "ontogum.yaml").read_text("utf-8"))
    folder = realdata / "coreference"
    node |= {"path": f"{folder}/ontogum/GUM_*.conll"}
    del node["defaults"]
    target = "biasbridge.corpora.documents.DocumentFiles"
    ontogum = Reader({})({"_target_": target, **node}, "documents")
    litbank = DocumentFiles(path=str(folder / "litbank"), scheme="litbank")
    assert isinstance(ontogum, DocumentFiles)
    cases = WinoBias(folder=str(folder / "winobias")).load(seed=0)
    documents = JoinedDocuments(ontogum, litbank).load(seed=0)
    splits = {**documents, "challenge": [case.document for case in cases]}
    paths = [
        str(realdata / "corpora" / f"en_{name}.txt.xz") for name in ("gutenberg", "plots_open")
    ]
    text = TextCorpus(
        path=tuple(paths), tokeniser="treebank", min_count=1, drop_retweets=False, language="en"
    )
    teachers = replace(litbank, singletons="keep")
    AntecedentDesign(mentions=teachers, text=text).write(splits, tmp_path)
    path = realdata / "vectors" / "googlenews_13k.bin"
    vectors = KeyedVectors.load_word2vec_format(str(path), binary=True)
    for interaction in (True, False):
        output = LogLinear(interaction=interaction).resolve(
            splits, vectors, seed=0, folder=tmp_path, design=tmp_path
        )
        rows = rows_of(cases, output)
        right = [rows["value", "accuracy", "type2", group].value for group in ("pro", "anti")]
        assert sum(right) / 2 >= 0.6
        gap = rows["gap", "accuracy", "type1", "pro"]
        assert gap.low > 0.18 if interaction else abs(gap.value) <= 0.003
        pairs = [*zip(splits["test"], output.splits["test"], strict=True)]
        for is_ontogum, least in ((True, 0.45), (False, 0.52)):
            inside = [pair for pair in pairs if pair[0].name.startswith("GUM") == is_ontogum]
            assert score((key, found.document) for key, found in inside)["conll"].f1 >= least

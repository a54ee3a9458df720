"""Log-linear coreference on frozen word vectors: convex, without random numbers, in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from biasbridge.extrinsic.coreference.antecedents import (
    NAMES,
    WIDTH,
    PartBuilder,
    is_telling,
    read_part,
)
from biasbridge.extrinsic.coreference.mentions import MentionFinder, as_matrix
from biasbridge.extrinsic.coreference.resolution import Resolution, ResolverOutput, join_links
from biasbridge.extrinsic.protocols import ResolverDesign
from biasbridge.files import Choice, InputError, choice
from biasbridge.files.choice import Count, NotNegative, Positive, Whole
from biasbridge.files.text import read_lines

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from scipy.sparse import csr_array

    from biasbridge.extrinsic.coreference.antecedents import Part, Ranking
    from biasbridge.extrinsic.coreference.mentions import Indices, Vector
    from biasbridge.extrinsic.coreference.resolution import Fit
    from biasbridge.files.documents import Document, Span
    from biasbridge.stats.arrays import Floats

_TRAIN = "train"
_MOST_CASES, _MOST_TELLING = 50_000, 40_000  # sentences of raw text that are read
_VECTORS_AT_ONCE = 20_000


@runtime_checkable
class _HasDocuments(Choice, Protocol):
    """A collection of documents, by split."""

    def load(self, *, seed: int) -> Mapping[str, Sequence[Document]]:
        """Return the documents."""


@runtime_checkable
class _HasText(Choice, Protocol):
    """A corpus of raw text."""

    def write(self, out: Path, *, seed: int) -> Mapping[str, int]:
        """Write a tokenised sentence a line."""


@choice
class AntecedentDesign:
    """Candidates and surface features of documents, without vectors: once for all embeddings.

    ``threshold``: log odds above which a word is the head of a candidate. ``window``: number of
    sentences of the candidates, of which the nearest are taken. ``mentions``: documents in which
    all mentions are marked, those that stand alone too, which teach what a mention is; null: the
    training documents. ``text``: raw text, whose sentences about a man and a woman teach where an
    antecedent stands.
    """

    threshold: float = -2.5
    window: Count = 3
    candidates: Count = 20
    mentions: _HasDocuments | None = None
    text: _HasText | None = None

    name: ClassVar[str] = "antecedents"
    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False

    def files(self) -> list[Path]:
        """Return the files of the collection and of the text."""
        return [path for each in (self.mentions, self.text) if each for path in each.files()]

    def write(self, documents: Mapping[str, Sequence[Document]], out: Path) -> None:
        """Write the candidates of all splits but ``dev``. Raises ``InputError`` without training
        documents that have two mentions of one entity.
        """
        train = documents.get(_TRAIN, ())
        if not any(len(cluster) > 1 for document in train for cluster in document.clusters):
            raise InputError("no training document has two mentions of one entity: give others")
        with_pronouns, telling = self._read_text(out)
        finder = MentionFinder(self._teachers(documents), with_pronouns, self.threshold)
        for split in documents.keys() - {"dev"}:
            builder = PartBuilder(finder, self.window, self.candidates)
            for document in documents[split]:
                builder.add(document, trains=split == _TRAIN)
            for sentence in telling if split == _TRAIN else ():
                builder.add_raw(sentence)
            builder.finish().write(out / f"{split}.npz")

    def _teachers(self, documents: Mapping[str, Sequence[Document]]) -> list[tuple[Document, bool]]:
        """Return the documents that teach what a mention is, and whether all mentions are marked.
        None is a document of another split.
        """
        teachers = {each.title: (each, self.mentions is None) for each in documents[_TRAIN]}
        if self.mentions is not None:
            others = [inside for split, inside in documents.items() if split != _TRAIN]
            held = {each.title for inside in others for each in inside}
            for each in chain.from_iterable(self.mentions.load(seed=0).values()):
                if each.title not in held:
                    teachers[each.title] = each, True
        return [*teachers.values()]

    def _read_text(self, out: Path) -> list[list[list[str]]]:
        """Return sentences with him or his, and those that may tell whom a pronoun means."""
        if self.text is None:
            return [[], []]
        with TemporaryDirectory(dir=out) as folder:
            path = Path(folder) / "text"
            self.text.write(path, seed=0)
            cases = (line for line in read_lines(path) if {"him", "his"} & {*line.split(" ")})
            telling = (line for line in read_lines(path) if is_telling(line))
            return [
                [line.split(" ") for line in islice(lines, most)]
                for lines, most in ((cases, _MOST_CASES), (telling, _MOST_TELLING))
            ]


@choice
class LogLinear:
    r"""Log-linear coreference on frozen vectors: a pronoun x of class k = he or she, it, they ranks
    each candidate c before it, and having none:

        score(c) = w . f(x, c) + u_k . v(c) + g(x) u_gender . v(c)       g = +1 of he, -1 of she

    f are binary features of the surface: distance, order, the place in the clause, the words
    around, binding; of two pronouns whether they agree. v is the mean of the unit vectors of the
    candidate's content words, minus the vocabulary's mean; 0 of pronouns. Gender meets the vectors
    in the last term alone: without ``interaction``, documents that differ only in the gender of a
    pronoun have equal scores, so a gap between them is 0. The loss is strictly convex:

        sum of cross-entropies of the nearest true antecedent
            + ``surface_penalty`` / 2 |w|^2 + ``vector_penalty`` / 2 |u|^2

    The penalties move a gap, so they are fixed in advance. Two trainings are equal. Nouns, names
    and the speakers' pronouns are linked by their form, by another such model without vectors.

    ``design``: the candidates and their features. ``text_weight``: the weight of its raw text.
    ``draw``: number of a bootstrap draw of the training documents, the same for all embeddings; 0:
    all documents. It reads no meaning: where only that tells, it is at chance but for gender.

    Examples
    --------
    >>> from biasbridge.extrinsic.coreference.linear import LogLinear
    >>> LogLinear(interaction=False).name
    'log_linear'
    """

    design: ResolverDesign = AntecedentDesign()
    surface_penalty: Positive = 3.0
    vector_penalty: Positive = 1.0
    interaction: Annotated[bool, doc("false: without gender, for comparison")] = True
    text_weight: NotNegative = 1.0
    draw: Annotated[Whole, doc("number of a bootstrap draw of the documents; 0: all of them")] = 0
    label: str = "log_linear"

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("label",)
    chosen_as: ClassVar[tuple[str, ...]] = ("resolver/log_linear",)
    configuration: ClassVar[Mapping[str, object]] = {"draw": "${replicate}"}

    @property
    def name(self) -> str:
        """Name in the tables, ``label``."""
        return self.label

    def files(self) -> list[Path]:
        """Return the files of ``design``."""
        return self.design.files()

    def resolve(
        self,
        documents: Mapping[str, Sequence[Document]],
        vectors: KeyedVectors,
        *,
        seed: int,
        folder: Path,
        design: Path | None = None,
    ) -> ResolverOutput:
        """Train on ``train`` and resolve all other splits but ``dev``; ``seed`` changes nothing.

        ``design``: where the design was written for these documents; without it, it is written in
        ``folder`` and removed. Raises ``InputError`` if no training document has two mentions of
        one entity or vectors are invalid.
        """
        if design is None:
            with TemporaryDirectory(dir=folder) as name:
                written = Path(name)
                self.design.write(documents, written)
                return self.resolve(documents, vectors, seed=seed, folder=folder, design=written)
        parts = {path.stem: read_part(path) for path in sorted(design.glob("*.npz"))}
        with threadpool_limits(limits=1, user_api="blas"):  # another order of sums, other digits
            embedding = _Embedding(vectors, parts.values())
            train = parts.pop(_TRAIN)
            models = self._fit(train, len(documents[_TRAIN]), embedding)
            splits = {
                split: _resolve(documents[split], part, models, embedding)
                for split, part in parts.items()
            }
        history: Fit = {
            "iterations": {kind: model.iterations for kind, model in models.items()},
            "losses": {kind: model.loss for kind, model in models.items()},
            "coverage": embedding.coverage(train),
            "parameters": sum(model.surface.size + model.vector.size for model in models.values()),
        }
        return ResolverOutput(splits, history)

    def _fit(self, train: Part, n: int, embedding: _Embedding) -> dict[str, RankingModel]:
        """Fit a model for each kind of anaphor; ``n``: the number of documents."""
        drawn = np.arange(n)
        if self.draw:
            drawn = np.random.default_rng([self.draw, n]).integers(n, size=n)
        times, models = np.bincount(drawn, minlength=n), {}
        for kind, ranking in train.rankings.items():
            sight = embedding.see(train, kind)
            if not self.interaction:
                sight = sight._replace(signs=np.zeros_like(sight.signs))
            of_document = times[train.documents[ranking.anaphors]]
            weights = np.where(ranking.anaphors >= 0, of_document, self.text_weight)
            models[kind] = fit_ranking(
                ranking, weights, sight, self.surface_penalty, self.vector_penalty
            )
        return models


class Sight(NamedTuple):
    """What vectors tell of the rows of items: mention ``mentions`` (k,) of ``contents`` (mentions,
    words) in row ``rows`` (k,), the pronoun's ``signs`` (k,), and ``matrix`` (words, d).
    """

    rows: Indices
    mentions: Indices
    signs: Floats
    contents: csr_array
    matrix: Floats

    def scores(self, weights: Floats) -> Floats:
        """Compute u . v + g u_gender . v of each row, for weights (d, 2)."""
        projected = (self.contents @ (self.matrix @ weights))[self.mentions]
        scores: Floats = projected[:, 0] + self.signs * projected[:, 1]
        return scores

    def gradient(self, errors: Floats) -> Floats:
        """Compute the gradient (d, 2) from that of each row."""
        n = self.contents.shape[0]
        sums = [np.bincount(self.mentions, each, n) for each in (errors, errors * self.signs)]
        gradient: Floats = self.matrix.T @ (self.contents.T @ np.stack(sums, axis=1))
        return gradient


class RankingModel(NamedTuple):
    """Weights of features (width,) and of vectors (d, 2), and how they were found."""

    surface: Floats
    vector: Floats
    iterations: int
    loss: float

    def scores(self, ranking: Ranking, sight: Sight) -> Floats:
        """Compute the score of each row."""
        scores: Floats = ranking.features @ self.surface
        scores[sight.rows] += sight.scores(self.vector)
        return scores


def fit_ranking(
    ranking: Ranking, weights: Floats, sight: Sight, surface_penalty: float, vector_penalty: float
) -> RankingModel:
    """Minimise the sum of ``weights`` (items,) times cross-entropies, and the penalties."""
    from scipy.optimize import minimize

    is_used = np.bincount(ranking.columns, minlength=WIDTH) > 0  # sorting them takes a second
    used = np.flatnonzero(is_used)
    features = as_matrix((np.cumsum(is_used) - 1)[ranking.columns], ranking.ends, len(used))
    transposed = features.T.tocsr()
    starts = ranking.starts[:-1]
    item_of_row = np.repeat(np.arange(len(starts)), np.diff(ranking.starts))
    n, d = len(used), sight.matrix.shape[1]

    def loss(flat: Vector) -> tuple[float, Vector]:
        surface, vector = flat[:n], flat[n:].reshape(d, 2)
        scores = features @ surface
        scores[sight.rows] += sight.scores(vector)
        scores -= np.maximum.reduceat(scores, starts)[item_of_row]
        odds = np.exp(scores)
        totals = np.add.reduceat(odds, starts)
        value = float(weights @ (np.log(totals) - scores[ranking.targets]))
        errors = odds * (weights / totals)[item_of_row]
        errors[ranking.targets] -= weights
        value += surface_penalty / 2 * float(surface @ surface)
        value += vector_penalty / 2 * float(np.vdot(vector, vector))
        by_feature = transposed @ errors + surface_penalty * surface
        by_vector = sight.gradient(errors[sight.rows]) + vector_penalty * vector
        return value, np.append(by_feature, by_vector)

    surface = np.zeros(WIDTH)
    if not len(starts):
        return RankingModel(surface, np.zeros((d, 2)), 0, 0.0)
    found = minimize(
        loss,
        np.zeros(n + 2 * d),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1_000, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-3},
    )
    surface[used] = found.x[:n]
    return RankingModel(surface, found.x[n:].reshape(d, 2), int(found.nit), float(found.fun))


class _Embedding:
    """Unit vectors of the words of some parts, minus the mean over the vocabulary. A word that has
    none takes that of its lower case, or zeros.
    """

    def __init__(self, vectors: KeyedVectors, parts: Iterable[Part]) -> None:
        self._vectors = vectors
        n, total = len(vectors.vectors), np.zeros(vectors.vector_size)
        for start in range(0, n, _VECTORS_AT_ONCE):
            total += _unit_rows(vectors.vectors[start : start + _VECTORS_AT_ONCE]).sum(axis=0)
        if not np.isfinite(total).all():
            raise InputError("a vector is not finite; train or load the vectors again")
        self._mean, rows = total / n, vectors.key_to_index
        words = {str(word) for part in parts for word in part.words}
        found = {word: rows.get(word, rows.get(word.lower())) for word in words}
        self._row = {word: row for word, row in found.items() if row is not None}
        if not self._row:
            problem = f"none of the {len(words)} content words of the documents has a vector"
            raise InputError(f"{problem}; tokenise them like the corpus of the vectors")

    def see(self, part: Part, kind: str) -> Sight:
        """Return what the vectors tell of the candidates of a kind; nothing of names."""
        ranking = part.rankings[kind]
        rows = np.flatnonzero((ranking.candidates >= 0) & (kind != NAMES))
        signs = np.repeat(part.signs[ranking.anaphors], np.diff(ranking.starts))[rows]
        seen, mentions = np.unique(ranking.candidates[rows], return_inverse=True)
        contents = as_matrix(part.columns, part.ends, len(part.words))[seen]
        contents.data /= np.repeat(np.diff(contents.indptr), np.diff(contents.indptr))
        used = np.unique(contents.indices)
        matrix = np.zeros((len(used), len(self._mean)))
        known = [(n, self._row[w]) for n, w in enumerate(part.words[used]) if w in self._row]
        if known:
            numbers, found = zip(*known, strict=True)
            matrix[list(numbers)] = _unit_rows(self._vectors.vectors[list(found)]) - self._mean
        return Sight(rows, mentions, signs.astype(np.float64), contents[:, used].tocsr(), matrix)

    def coverage(self, part: Part) -> float:
        """Compute the share of content words of the mentions that have a vector."""
        known = np.array([word in self._row for word in part.words])
        return float(known[part.columns].mean()) if len(part.columns) else 0.0


def _unit_rows(rows: NDArray[np.floating]) -> Floats:
    exact = np.asarray(rows, dtype=np.float64)
    units: Floats = exact / np.maximum(np.linalg.norm(exact, axis=1, keepdims=True), 1e-9)
    return units


def _resolve(
    documents: Sequence[Document],
    part: Part,
    models: Mapping[str, RankingModel],
    embedding: _Embedding,
) -> list[Resolution]:
    """Link each anaphor to its likeliest candidate, unless having none is likelier."""
    spans: list[Span] = [(first, end) for first, end in part.spans.tolist()]
    antecedents: list[dict[Span, dict[Span, float]]] = [{} for _ in documents]
    mentions: list[dict[Span, float]] = [{} for _ in documents]
    links: list[list[tuple[Span, Span]]] = [[] for _ in documents]
    for number, span, score in zip(part.documents, spans, part.scores.tolist(), strict=True):
        mentions[number][span] = score
    for kind, model in models.items():
        ranking = part.rankings[kind]
        scores = model.scores(ranking, embedding.see(part, kind))
        bounds = pairwise(ranking.starts.tolist())
        for anaphor, (start, end) in zip(ranking.anaphors.tolist(), bounds, strict=True):
            odds = (scores[start : end - 1] - scores[end - 1]).tolist()
            candidates = (spans[number] for number in ranking.candidates[start : end - 1])
            told = dict(zip(candidates, odds, strict=True))
            number, best = part.documents[anaphor], max(told, key=told.__getitem__)
            if kind != NAMES:
                antecedents[number][spans[anaphor]] = told
            if told[best] > 0:
                links[number].append((spans[anaphor], best))
    clusters = map(join_links, mentions, links)
    resolved = [
        replace(each, clusters=joined) for each, joined in zip(documents, clusters, strict=True)
    ]
    return [*map(Resolution, resolved, mentions, antecedents)]

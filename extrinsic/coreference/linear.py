"""Log-linear coreference on frozen word vectors: convex, without random numbers, in seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from annotated_types import doc
from threadpoolctl import threadpool_limits

from biasbridge.extrinsic.coreference.antecedents import (
    NAMES,
    is_telling,
    read_part,
    read_raw,
    read_splits,
)
from biasbridge.extrinsic.coreference.mentions import MentionFinder
from biasbridge.extrinsic.coreference.resolution import Resolution, ResolverOutput, join_links
from biasbridge.files import Choice, InputError, choice
from biasbridge.files.choice import Count, NotNegative, Positive, Whole
from biasbridge.files.text import read_lines

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from scipy.sparse import csr_array

    from biasbridge.extrinsic.coreference.antecedents import Part, Ranking
    from biasbridge.extrinsic.coreference.mentions import Indices
    from biasbridge.files.documents import Document, Span
    from biasbridge.stats.arrays import Floats

_TRAIN, _RAW = "train", "raw text"
_MOST_CASES, _MOST_TELLING = 50_000, 40_000  # sentences of raw text that are read
_VECTORS_AT_ONCE = 20_000
_SOLVER = {"maxiter": 1_000, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-3}


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
    """Candidates and surface features of documents, which all embeddings share; see ``LogLinear``."""

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
        for split, inside in documents.items():
            if split != "dev":
                part = read_splits(
                    inside, finder, window=self.window, most=self.candidates, trains=split == _TRAIN
                )
                part.write(out / f"{split}.npz")
        read_raw(telling, finder, most=self.candidates).write(out / f"{_RAW}.npz")

    def _teachers(self, documents: Mapping[str, Sequence[Document]]) -> list[tuple[Document, bool]]:
        """Return the documents that teach what a mention is, and whether those that stand alone are
        marked. None is a document of another split.
        """
        if self.mentions is None:
            return [(document, True) for document in documents[_TRAIN]]
        held = {
            each.title for split, inside in documents.items() if split != _TRAIN for each in inside
        }
        loaded = chain.from_iterable(self.mentions.load(seed=0).values())
        teachers = {each.title: (each, True) for each in loaded if each.title not in held}
        return [*({each.title: (each, False) for each in documents[_TRAIN]} | teachers).values()]

    def _read_text(self, out: Path) -> tuple[list[list[str]], list[list[str]]]:
        """Return sentences with him or his, and those that may tell whom a pronoun means."""
        if self.text is None:
            return [], []
        with TemporaryDirectory(dir=out) as folder:
            path = Path(folder) / "text"
            self.text.write(path, seed=0)
            cases = (line for line in read_lines(path) if {"him", "his"} & {*line.split(" ")})
            telling = (line for line in read_lines(path) if is_telling(line))
            read = [
                [line.split(" ") for line in islice(lines, most)]
                for lines, most in ((cases, _MOST_CASES), (telling, _MOST_TELLING))
            ]
        return read[0], read[1]


@choice
class LogLinear:
    r"""Log-linear coreference on frozen vectors: a pronoun x of class k = he or she, it, they ranks
    each candidate c before it, and having none:

        score(c) = w . f(x, c) + u_k . v(c) + g(x) u_gender . v(c)       g = +1 of he, -1 of she

    f are binary features of the surface: distance, order, the place in the clause, the words
    around, binding; of two pronouns whether they agree. v is the mean of the unit vectors of the
    candidate's content words, minus the vocabulary's mean; 0 of pronouns. Gender meets the vectors
    in the last term alone. Without ``interaction`` documents that differ only in the gender of a
    pronoun have equal scores, so a gap between them is 0. The loss is strictly convex:

        sum of cross-entropies of the nearest true antecedent
            + ``surface_penalty`` / 2 |w|^2 + ``vector_penalty`` / 2 |u|^2

    The penalties move a gap, so they are fixed in advance. Two trainings are equal. Nouns, names
    and the speakers' pronouns are linked by their form, by another such model without vectors.

    ``threshold``: log odds above which a word is the head of a candidate. ``window``: number of
    sentences of the candidates. ``mentions``: documents in which all mentions are marked, those that
    stand alone too, which teach what a mention is; null: the training documents. ``text``: raw text,
    whose sentences about a man and a woman teach where an antecedent stands; ``text_weight``: the
    weight of these. ``draw``: number of a bootstrap draw of the training documents, the same for
    all embeddings; 0: all documents.

    It reads no meaning: where only that tells, it is at chance but for gender.

    Examples
    --------
    >>> from biasbridge.extrinsic.coreference.linear import LogLinear
    >>> LogLinear(interaction=False).name
    'log_linear'
    """

    surface_penalty: Positive = 3.0
    vector_penalty: Positive = 1.0
    interaction: Annotated[bool, doc("false: without gender, for comparison")] = True
    threshold: float = -2.5
    window: Count = 3
    candidates: Count = 20
    mentions: _HasDocuments | None = None
    text: _HasText | None = None
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

    @property
    def design(self) -> AntecedentDesign:
        """What is computed once for all embeddings."""
        names = [field.name for field in fields(AntecedentDesign)]  # type: ignore[arg-type]
        return AntecedentDesign(**{name: getattr(self, name) for name in names})

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

        ``design``: where ``LogLinear.design`` was written for these documents; without it, it is
        written in ``folder`` and removed. Raises ``InputError`` if no training document has two
        mentions of one entity or vectors are invalid.
        """
        if design is None:
            with TemporaryDirectory(dir=folder) as written:
                self.design.write(documents, Path(written))
                return self.resolve(
                    documents, vectors, seed=seed, folder=folder, design=Path(written)
                )
        parts = {path.stem: read_part(path) for path in sorted(design.glob("*.npz"))}
        train, raw = parts.pop(_TRAIN), parts.pop(_RAW)
        with threadpool_limits(limits=1, user_api="blas"):  # another order of sums, other digits
            embedding = _Embedding(vectors, [*parts.values(), train])
            models = self._fit(train, raw, len(documents[_TRAIN]), embedding)
            splits = {
                split: _resolve(documents[split], part, models, embedding)
                for split, part in parts.items()
            }
        return ResolverOutput(
            splits,
            {
                "iterations": {kind: model.iterations for kind, model in models.items()},
                "losses": {kind: model.loss for kind, model in models.items()},
                "coverage": embedding.coverage(train),
                "parameters": sum(model.n_weights for model in models.values()),
            },
        )

    def _fit(
        self, train: Part, raw: Part, n_documents: int, embedding: _Embedding
    ) -> dict[str, RankingModel]:
        """Fit a model for each kind of anaphor."""
        times = np.ones(n_documents)
        if self.draw:
            rng = np.random.default_rng([self.draw, n_documents])
            times = np.bincount(rng.integers(n_documents, size=n_documents), minlength=n_documents)
        models = {}
        for kind, ranking in train.rankings.items():
            sight = embedding.see(train, kind, interaction=self.interaction)
            weights = times[train.documents[ranking.anaphors]]
            untold = raw.rankings[kind]
            weights = np.append(weights, np.full(len(untold.targets), self.text_weight))
            models[kind] = fit_ranking(
                ranking.joined(untold), weights, sight, self.surface_penalty, self.vector_penalty
            )
        return models


@dataclass(frozen=True)
class Sight:
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
    n_weights: int

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

    used = np.unique(ranking.features.indices)
    features = ranking.features[:, used].tocsr()
    transposed = features.T.tocsr()
    starts = ranking.starts[:-1]
    item_of_row = np.repeat(np.arange(len(starts)), np.diff(ranking.starts))
    n, d = len(used), sight.matrix.shape[1]

    def loss(flat: Floats) -> tuple[float, Floats]:
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

    surface = np.zeros(ranking.features.shape[1])
    if not len(starts):
        return RankingModel(surface, np.zeros((d, 2)), 0, 0.0, 0)
    found = minimize(loss, np.zeros(n + 2 * d), jac=True, method="L-BFGS-B", options=_SOLVER)
    surface[used] = found.x[:n]
    vector = found.x[n:].reshape(d, 2)
    return RankingModel(surface, vector, int(found.nit), float(found.fun), n + 2 * d)


class _Embedding:
    """Unit vectors of the words of some parts, minus the mean over the vocabulary. A word that has
    none takes that of its lower case, or zeros.
    """

    def __init__(self, vectors: KeyedVectors, parts: Iterable[Part]) -> None:
        self._centred = vectors, _mean_direction(vectors)
        self._form = {
            word: form
            for part in parts
            for word in part.words
            for form in (word, word.lower())[::-1]
            if form in vectors.key_to_index
        }
        if not self._form:
            words = [word for part in parts for word in part.words]
            raise InputError(
                f"none of the {len(words)} content words of the candidates has a vector; tokenise"
                " them like the corpus of the vectors"
            )

    def _matrix(self, words: Sequence[str]) -> Floats:
        vectors, mean = self._centred
        matrix = np.zeros((len(words), len(mean)))
        known = [number for number, word in enumerate(words) if word in self._form]
        rows = [vectors.key_to_index[self._form[words[number]]] for number in known]
        matrix[known] = _unit_rows(vectors.vectors[rows]) - mean
        return matrix

    def see(self, part: Part, kind: str, *, interaction: bool = True) -> Sight:
        """Return what the vectors tell of the candidates of a kind; nothing of names."""
        ranking = part.rankings[kind]
        signs = np.repeat(part.signs[ranking.anaphors], np.diff(ranking.starts)) * interaction
        rows = np.flatnonzero(ranking.candidates >= 0)
        if kind == NAMES:
            rows = rows[:0]
        mentions, inverse = np.unique(ranking.candidates[rows], return_inverse=True)
        contents = part.contents[mentions]
        columns = np.unique(contents.indices)
        matrix = self._matrix([part.words[number] for number in columns])
        contents = contents[:, columns].tocsr()
        return Sight(rows, inverse, signs[rows].astype(np.float64), contents, matrix)

    def coverage(self, part: Part) -> float:
        """Compute the share of content words of the mentions that have a vector."""
        counts = np.bincount(part.contents.indices, minlength=len(part.words))
        known = np.array([word in self._form for word in part.words], dtype=np.float64)
        return float(counts @ known / max(1, counts.sum()))


def _unit_rows(rows: Floats) -> Floats:
    rows = np.asarray(rows, dtype=np.float64)
    units: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return units


def _mean_direction(vectors: KeyedVectors) -> Floats:
    """Compute the mean of the unit vectors. Raises ``InputError`` if one is not finite."""
    n = len(vectors.vectors)
    total = np.zeros(vectors.vector_size)
    for start in range(0, n, _VECTORS_AT_ONCE):
        total += _unit_rows(vectors.vectors[start : start + _VECTORS_AT_ONCE]).sum(axis=0)
    if not np.isfinite(total).all():
        raise InputError("a vector is not finite; train or load the vectors again")
    return total / n


def _resolve(
    documents: Sequence[Document],
    part: Part,
    models: Mapping[str, RankingModel],
    embedding: _Embedding,
) -> list[Resolution]:
    """Link each anaphor to its likeliest candidate, unless having none is likelier."""
    spans: list[Span] = [(first, end) for first, end in part.spans.tolist()]
    antecedents: dict[int, dict[Span, dict[Span, float]]] = {}
    links: dict[int, list[tuple[Span, Span]]] = {}
    for kind, model in models.items():
        ranking = part.rankings[kind]
        scores = model.scores(ranking, embedding.see(part, kind))
        for anaphor, (start, end) in zip(
            ranking.anaphors.tolist(), pairwise(ranking.starts.tolist()), strict=True
        ):
            document, none = int(part.documents[anaphor]), end - 1
            candidates = [spans[number] for number in ranking.candidates[start:none]]
            odds = (scores[start:none] - scores[none]).tolist()
            if kind != NAMES:
                told = dict(zip(candidates, odds, strict=True))
                antecedents.setdefault(document, {})[spans[anaphor]] = told
            if max(odds) > 0:
                best = candidates[odds.index(max(odds))]
                links.setdefault(document, []).append((spans[anaphor], best))
    mentions: dict[int, dict[Span, float]] = {}
    scored = zip(part.documents.tolist(), spans, part.scores.tolist(), strict=True)
    for document, span, score in scored:
        mentions.setdefault(document, {})[span] = score
    return [
        Resolution(
            replace(each, clusters=join_links(mentions.get(n, ()), links.get(n, ()))),
            mentions.get(n, {}),
            antecedents.get(n, {}),
        )
        for n, each in enumerate(documents)
    ]

"""Settings of the end-to-end coreference resolver of Lee et al. (2017) on frozen word vectors, and
the output of a resolver: clusters of the mentions that it links.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypedDict

from annotated_types import Ge, Gt, Lt, doc

from biasbridge.files import choice
from biasbridge.files.choice import Count, Fileless, Positive, Whole

if TYPE_CHECKING:
    from biasbridge.files.documents import Cluster, Document, Span

_Dropped = Annotated[float, Ge(0), Lt(1)]


@choice
class ResolverSettings(Fileless):
    """End-to-end coreference resolution (Lee et al., 2017, EMNLP), the model of Goldfarb-Tarrant et
    al. (2021, section 3.3), with the settings of AllenNLP's configuration, which they used.

    Tokens are frozen vectors with a convolution over letters, then states of a bidirectional LSTM
    over the sentence. A span of up to ``max_span_width`` tokens is its first and last state, its
    width and an attention-weighted mean of its tokens. A feed-forward network of two layers of
    ``hidden`` units scores spans as mentions; the floor(``spans_per_word`` n) best of a document of
    n tokens are kept, at least ``least_spans``; another scores each of them with up to
    ``max_antecedents`` kept before it. The loss is the marginal likelihood of all true antecedents.

    Case is kept. A word without a vector takes that of ``<UNK>``, or zeros; its letters still
    distinguish it. ``least_spans`` matters in single sentences, where ``spans_per_word`` alone
    keeps two or three spans. ``mentions="gold"`` keeps exactly the true mentions of up to
    ``max_span_width`` tokens, in training and prediction, so that pruning does not affect gaps. Lee
    et al.'s features of speakers and genres are left out.

    Adam; one document a step, gradients clipped to norm ``max_norm``; the learning rate is
    multiplied by ``decay`` when the dev CoNLL F1 has not risen for ``decay_patience`` epochs, and
    training ends when it has not risen for ``patience``; the best epoch is kept. On the CPU a seed
    gives the same result each time for the same number of threads.
    """

    letter_dim: Count = 16
    letter_filters: Count = 100
    letter_window: Count = 5
    lexical_dropout: _Dropped = 0.5
    lstm: Count = 200
    hidden: Count = 150
    dropout: _Dropped = 0.2
    feature_size: Count = 20
    max_span_width: Count = 10
    spans_per_word: Annotated[
        Positive, doc("number of candidate spans, as a share of the tokens")
    ] = 0.29
    least_spans: Annotated[
        Whole, doc("fewest candidates in a document; in short ones spans_per_word keeps two to six")
    ] = 0
    max_antecedents: Count = 100
    mentions: Annotated[Literal["predicted", "gold"], doc("or gold")] = "predicted"
    learning_rate: Positive = 0.001
    max_norm: Positive = 5.0
    decay: Annotated[float, Gt(0), Lt(1)] = 0.5
    decay_patience: Whole = 2
    epochs: Count = 150
    patience: Count = 10
    device: str = "cpu"
    label: str = "end_to_end"

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("device", "label")

    @property
    def name(self) -> str:
        """Name in the tables, ``label``; give resolvers of other sizes another one."""
        return self.label


@dataclass(frozen=True)
class Resolution:
    """Document with predicted clusters in place of its own, and the scores of the ``mentions`` kept
    after pruning: a true mention that is not among them cannot be linked.

    ``antecedents``, of resolvers that tell them: by pronoun, the log odds of each candidate against
    having no antecedent. The likeliest is linked, if they are above 0.
    """

    document: Document
    mentions: Mapping[Span, float]
    antecedents: Mapping[Span, Mapping[Span, float]] = field(default_factory=dict)

    def answering(self, pronouns: Iterable[Span]) -> Resolution:
        """Return the resolution in which each of these pronouns is linked to its likeliest
        candidate, if it has any, also where having none is likelier.
        """
        links = [
            (pronoun, max(self.antecedents[pronoun], key=self.antecedents[pronoun].__getitem__))
            for pronoun in pronouns
            if pronoun in self.antecedents
        ]
        if not links:
            return self
        clusters = self.document.clusters
        links += [(cluster[0], other) for cluster in clusters for other in cluster[1:]]
        document = replace(self.document, clusters=join_links(self.mentions, links))
        return replace(self, document=document)


def join_links(spans: Iterable[Span], links: Iterable[tuple[Span, Span]]) -> tuple[Cluster, ...]:
    """Return the clusters of two or more spans that links join, in the order of the spans."""
    joined = {span: [span] for span in spans}
    for one, other in links:
        if joined[one] is not joined[other]:
            joined[one] += joined[other]
            joined |= dict.fromkeys(joined[other], joined[one])
    order = {span: number for number, span in enumerate(joined)}
    clusters = {id(cluster): cluster for cluster in joined.values() if len(cluster) > 1}
    return tuple(tuple(sorted(cluster, key=order.__getitem__)) for cluster in clusters.values())


class Epoch(TypedDict):
    """Scores of an epoch. ``loss``: mean over training documents. ``dev_f1``: dev CoNLL F1."""

    loss: float
    dev_f1: float
    learning_rate: float


class History(TypedDict):
    """History of a training: ``best`` is the number of the best epoch, from 0; ``coverage`` the
    share of tokens of all documents that have a vector.
    """

    epochs: list[Epoch]
    best: int
    coverage: float
    parameters: int


class Fit(TypedDict):
    """A convex training: ``iterations`` and loss by kind of anaphor, ``coverage`` the share of the
    candidates' content words that have a vector.
    """

    iterations: dict[str, int]
    losses: dict[str, float]
    coverage: float
    parameters: int


@dataclass(frozen=True)
class ResolverOutput:
    """Resolved documents by split, in order, and the training history of the resolver."""

    splits: Mapping[str, Sequence[Resolution]]
    history: History | Fit


def _mention_recall(pairs: Sequence[tuple[Document, Resolution]]) -> float:
    """Compute the share of true mentions kept after pruning; NaN without true mentions."""
    is_kept = [span in resolution.mentions for key, resolution in pairs for span in key.mentions]
    return sum(is_kept) / len(is_kept) if is_kept else float("nan")

"""Utility that debiasing should preserve: agreement with rated similarity, loss on plain lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from biasbridge.files import InputError, choice
from biasbridge.files.text import read_lines
from biasbridge.intrinsic.models.item_metric import ItemMetric, ItemObservations, items_from
from biasbridge.intrinsic.models.likelihood import (
    describe_reading,
    sentence_log_likelihoods,
    tokenise_texts,
)
from biasbridge.intrinsic.score import MetricInfo

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasbridge.files.models.encoder import Encodes
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.intrinsic.models.items import ItemSet
    from biasbridge.stats.arrays import Floats


_RATING, _FIRST, _SECOND = 4, 5, 6  # columns of sts-*.csv, counted from 0
_EQUAL_RANKS = 1e-9  # of ranks; below it all are equal but for rounding


class RatedPair(NamedTuple):
    """Two sentences and their rated similarity, 0 to 5."""

    first: str
    second: str
    score: float


def read_sts(path: str | Path) -> list[RatedPair]:
    """Read a file of STS-B (Cer et al., 2017): rating in column 5, sentences in 6 and 7."""
    pairs = []
    for number, line in enumerate(read_lines(path), 1):
        row = line.split("\t")
        try:
            pairs.append(RatedPair(row[_FIRST].strip(), row[_SECOND].strip(), float(row[_RATING])))
        except (IndexError, ValueError):
            expected = "a number in column 5 and sentences in columns 6 and 7, separated by tabs"
            raise InputError(f"{path}: line {number} needs {expected}") from None
    if not pairs:
        raise InputError(f"{path} has no pair of sentences")
    return pairs


def _cosines(encoder: Encodes, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    """Compute the cosine of the sentences of each pair; 0 for a zero vector."""
    texts = [text for pair in pairs for text in pair]
    vectors = np.asarray(encoder.encode(texts), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    first, second = (
        (vectors / np.where(lengths > 0, lengths, 1))
        .reshape(-1, 2, vectors.shape[1])
        .swapaxes(0, 1)
    )
    similarities: NDArray[np.float64] = (first * second).sum(axis=1)
    return similarities


@choice
class StsB(ItemMetric):
    """Spearman's rho of cosines and ratings over pairs of sentences; ties get mean ranks."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="sts_b",
        title="Semantic textual similarity, Spearman's rho",
        formula="rho over pairs of cos(first, second) and rated similarity",
        sign="1: the encoder orders pairs as people do; utility, not bias",
        is_utility=True,
        range=(-1, 1),
        source="Cer et al. (2017)",
        roles={"first": "sentences", "second": "sentences"},
        unbiased=None,
        asks=("sts_b_test",),
        default="Resamples of the pairs keep the ranks among all.",
    )
    needs: ClassVar[str] = "encoder"
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "StsBenchmark", path="${data:models/sts_b/sts-test.csv}"
    )

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items have no rated pairs; empty if they have."""
        rated = items.pairs and all(np.isfinite(pair.rating) for pair in items.pairs)
        return "" if rated else f"{items.name} has no rated pairs of sentences"

    def observe(self, encoder: Any, items: ItemSet) -> ItemObservations:
        """Return the ranks of cosine and rating of each pair, (pairs, 2)."""
        from scipy.stats import rankdata  # slow to import

        similarities = _cosines(encoder, [(pair.stereo, pair.anti) for pair in items.pairs])
        ratings = [pair.rating for pair in items.pairs]
        ranks = [rankdata(values) for values in (similarities, ratings)]
        names = [f"pair {number}" for number in range(1, len(items.pairs) + 1)]
        settings = {
            "pooling": encoder.pooling,
            "layer": encoder.layer,
            "dtype": encoder.opened.dtype,
        }
        return ItemObservations(
            np.stack(ranks, axis=1), names, {"cluster": names}, settings=settings
        )

    def summarise(self, observed: ItemObservations, weights: Floats) -> Mapping[str, Floats]:
        """Return Pearson's correlation of the ranks."""
        x, y = observed.values.T
        with np.errstate(invalid="ignore", divide="ignore"):
            w = weights / weights.sum(axis=0)
            dx, dy = (ranks[:, None] - ranks @ w for ranks in (x, y))
            var_x, var_y = ((w * d**2).sum(axis=0) for d in (dx, dy))
            spread = np.sqrt(var_x * var_y)
            rho = (w * dx * dy).sum(axis=0) / spread
        return {"": np.where(spread > _EQUAL_RANKS, rho, np.nan)}


@choice
class NeutralLoss(ItemMetric):
    """Nats per token: pseudo-log-likelihood of masked, log-likelihood of causal models."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="neutral_loss",
        title="Loss on neutral lines, nats per token",
        formula=(
            "- sum over lines of sum_t log p(x_t | x without t) / number of tokens;"
            " causal: log p(x_t | x before t)"
        ),
        sign="lower: the model predicts plain text better; utility, not bias",
        is_utility=True,
        less_is_better=True,
        range=(0, math.inf),
        source="Cross-entropy; masked models: Salazar et al. (2020)",
        roles={"lines": "sentences"},
        unbiased=None,
        asks=("neutral_sentences",),
        default=(
            "Not comparable between masked and causal models, nor between tokenizers. A causal"
            " model's first token counts if a token precedes it; lines with an unknown token are"
            " not scored."
        ),
    )
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "BuiltInItems", sets=["neutral_sentences"]
    )

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items have no plain lines; empty if they do."""
        return "" if items.lines else f"{items.name} has no plain lines"

    def observe(self, model: LanguageModel, items: ItemSet) -> ItemObservations:
        """Return nats and number of tokens of each line, (lines, 2)."""
        min_tokens = 2 if model.kind == "causal" else 1
        tokenised = dict(zip(items.lines, tokenise_texts(model, items.lines), strict=True))
        scored = {
            line: text
            for line, text in tokenised.items()
            if text and not text.unknown and len(text.ids) >= min_tokens
        }
        if not scored:
            raise InputError(f"every line of {items.name} has a token unknown to {model.name}")
        logs = sentence_log_likelihoods(model, [*scored.values()])
        values = np.array([[-math.fsum(token_logs), len(token_logs)] for token_logs in logs])
        settings = describe_reading(model, scored.values())
        masking = {"masked at a time": "one token"} if model.kind == "masked" else {}
        counts = {"tokens scored": sum(map(len, logs)), "lines": len(scored)}
        return ItemObservations(
            values,
            [*scored],
            {"line": [*scored]},
            settings={**settings, **masking, **counts},
            lost=[line for line in tokenised if line not in scored],
        )

    def summarise(self, observed: ItemObservations, weights: Floats) -> Mapping[str, Floats]:
        """Return total nats / total tokens."""
        nats, tokens = observed.values.T @ weights
        with np.errstate(invalid="ignore"):
            return {"": nats / tokens}

    def singles(self, observed: ItemObservations) -> Mapping[str, float]:
        """Return the loss of each line."""
        nats, tokens = observed.values.T
        return dict(zip(observed.names, (nats / tokens).tolist(), strict=True))

"""Metrics on pairs of sentences: CrowS-Pairs, (pseudo-)log-likelihood, all unmasked likelihood."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.intrinsic.models.item_metric import (
    ItemMetric,
    ItemObservations,
    ScoreSettings,
    items_from,
)
from biasbridge.intrinsic.models.likelihood import (
    BOS_OR_EOS,
    TokenisedText,
    TokenQuery,
    describe_reading,
    log_likelihoods,
    mask_id,
    masked_one_by_one,
    masked_together,
    preceded_tokens,
    require_model_kind,
    sentence_log_likelihoods,
    tokenise_texts,
    unmasked_log_likelihoods,
)
from biasbridge.intrinsic.permutation import PValue
from biasbridge.intrinsic.score import Convention, MetricInfo

if TYPE_CHECKING:
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.intrinsic.models.items import ItemSet, Pair
    from biasbridge.stats.arrays import Floats


Ties = Literal["half", "anti"]
_SAME = 1e-6  # smaller differences of log-likelihoods are rounding errors
Scored = Literal["auto", "shared", "changed", "all", "likelihood"]
PairPositions = tuple[Sequence[int], Sequence[int]]  # of tokens in stereo and anti sentence
Combined = Literal["sum", "mean", "probability"]
_KANEKO = Convention(
    "kaneko", "Kaneko & Bollegala (2022) by their code: a tie counts as anti.", {"ties": "anti"}
)


class _TokenisedPair(NamedTuple):
    """A tokenised pair and its row name."""

    name: str
    pair: Pair
    stereo: TokenisedText
    anti: TokenisedText


@choice
class PairMetric(ItemMetric):
    """Base of metrics on pairs of sentences."""

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items give no pairs of sentences; empty if they do."""
        return "" if items.paired else f"{items.name} has no pairs of sentences"

    def summarise(self, observed: ItemObservations, weights: Floats) -> Mapping[str, Floats]:
        """Return the mean of all pairs and, if there are several groups, of each group."""
        labels = np.array(observed.groups)
        masks = {"": np.ones(len(labels), dtype=bool)}
        if len({*observed.groups}) > 1:
            masks |= {name: labels == name for name in dict.fromkeys(observed.groups) if name}
        with np.errstate(invalid="ignore"):
            return {
                part: observed.values[mask] @ weights[mask] / weights[mask].sum(axis=0)
                for part, mask in masks.items()
            }


def _tokenise_pairs(
    model: LanguageModel, items: ItemSet, *, lower: bool = False, first_token: str = "own"
) -> tuple[list[_TokenisedPair], list[str], ScoreSettings]:
    """Tokenise pairs; return them, the names of pairs that cannot be scored, and the settings."""
    texts = [text for pair in items.paired for text in (pair.stereo, pair.anti)]
    tokenised = tokenise_texts(model, texts, lower=lower, first_token=first_token)
    pairs, lost = [], []
    for n, pair in enumerate(items.paired):
        stereo, anti = tokenised[2 * n : 2 * n + 2]
        if stereo is None or anti is None or _is_indistinct(model, stereo, anti):
            lost.append(f"pair {n + 1}")
        else:
            pairs.append(_TokenisedPair(f"pair {n + 1}", pair, stereo, anti))
    if not pairs:
        reason = f"the words in which they differ are unknown to {model.name}, or too many"
        raise InputError(f"no pair of {items.name} can be scored: {reason}")
    scored_texts = [text for pair in pairs for text in (pair.stereo, pair.anti)]
    return pairs, lost, describe_reading(model, scored_texts, lower=lower, first_token=first_token)


def _is_indistinct(model: LanguageModel, stereo: TokenisedText, anti: TokenisedText) -> bool:
    """Test whether a pair differs in unknown tokens or nothing, or has no token to predict."""
    if model.kind == "causal" and min(len(stereo.ids), len(anti.ids)) < 2:
        return True
    opcodes = SequenceMatcher(None, stereo.ids, anti.ids, autojunk=False).get_opcodes()
    changed = [
        token
        for tag, i, j, k, m in opcodes
        if tag != "equal"
        for token in (*stereo.ids[i:j], *anti.ids[k:m])
    ]
    return not changed or model.tokenizer.unk_token_id in changed


def _pair_observations(
    pairs: Sequence[_TokenisedPair], values: Floats, settings: ScoreSettings, lost: Sequence[str]
) -> ItemObservations:
    """Return one observation per pair; a pair without a cluster forms its own."""
    clusters = [read_pair.pair.cluster or read_pair.pair.stereo for read_pair in pairs]
    return ItemObservations(
        values,
        [read_pair.name for read_pair in pairs],
        {"cluster": clusters},
        [read_pair.pair.group for read_pair in pairs],
        {**settings, "clusters": len({*clusters})},
        lost,
    )


def _preferences(stereo: Floats, anti: Floats, ties: Ties) -> Floats:
    """Return 1 where the first sentence is likelier, 0 where the second is; ties: 1/2 or 0."""
    difference = stereo - anti
    tie = 0.5 if ties == "half" else 0.0
    return np.where(np.abs(difference) < _SAME, tie, (difference > 0).astype(float))


def _sign_test(observed: ItemObservations) -> PValue:
    """Compute the exact two-sided sign test of equal preference, with flips by whole clusters."""
    signs: dict[str, int] = {}
    for label, value in zip(observed.factors["cluster"], observed.values.tolist(), strict=True):
        signs[label] = signs.get(label, 0) + round(2 * value - 1)
    sizes = [abs(sign) for sign in signs.values() if sign]
    return _sign_flip_p(sizes, abs(sum(signs.values())))


def _sign_flip_p(sizes: Sequence[int], threshold: int) -> PValue:
    """Compute P(|sum of +-sizes| >= threshold) with fair, independent signs."""
    total = sum(sizes)
    probabilities: Floats = np.zeros(2 * total + 1)  # index total + s: P(sum = s)
    probabilities[total] = 1
    for size in sizes:
        probabilities = (np.roll(probabilities, size) + np.roll(probabilities, -size)) / 2
    sums = np.abs(np.arange(-total, total + 1))
    p = min(1.0, float(probabilities[sums >= threshold].sum()))
    return PValue(p, "exact", 0, len(sizes), "two-sided", False, p, p)


def _t_test(observed: ItemObservations) -> Mapping[str, PValue]:
    """Compute Student's two-sided p of mean 0 with cluster-robust errors (Liang & Zeger, 1986)."""
    from scipy.stats import t

    labels = observed.factors["cluster"]
    index_of = {label: n for n, label in enumerate(dict.fromkeys(labels))}
    cluster_indices = [index_of[label] for label in labels]
    mean = float(observed.values.mean())
    residual_sums = np.bincount(cluster_indices, weights=observed.values - mean)
    sums: Floats = np.asarray(residual_sums, dtype=np.float64)
    n_clusters = len(index_of)
    if n_clusters < 2 or not sums.any():
        return {}
    error = math.sqrt(n_clusters / (n_clusters - 1) * float(sums @ sums)) / len(observed.values)
    p = float(2 * t.sf(abs(mean) / error, n_clusters - 1))
    return {"": PValue.of_t(p, n_clusters)}


@choice
class CrowsPairs(PairMetric):
    """The share of pairs whose stereotype is the likelier sentence."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="crows_pairs",
        title="CrowS-Pairs: share of pairs with the stereotype more likely",
        formula=(
            "share of pairs with s(stereo) > s(anti),  s(x) = sum over the tokens shared by both of"
            " log p(x_t | x without t); causal: sum over all tokens of log p(x_t | x before t)"
        ),
        sign="> .5: stereotypes are the likelier sentences",
        range=(0, 1),
        source="Nangia et al. (2020)",
        roles={"stereo": "sentences", "anti": "sentences"},
        asks=("crows_pairs_gender",),
        unbiased=0.5,
        default="A tie counts 1/2.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "nangia",
            "Nangia et al. (2020) by their code: the shared tokens given the changed ones. Scores"
            " are rounded to three decimals. A tie counts as anti, so it stays in the denominator.",
            {"scored": "shared", "digits": 3, "ties": "anti"},
            kinds=("masked",),
        ),
        Convention(
            "bias_bench",
            "Meade et al. (2022) by their code, bias-bench, the reverse of nangia: the mean over"
            " the changed tokens given the shared ones, each masked alone. Pairs in which a"
            " sentence only adds tokens are left out.",
            {"scored": "changed", "combined": "mean", "digits": 3, "ties": "anti"},
            kinds=("masked",),
        ),
        Convention(
            "bias_bench_causal",
            "bias-bench on causal models: the mean over all tokens, the first given the bos. Its"
            " code leaves the bos out for the others.",
            {"scored": "likelihood", "combined": "mean", "first_token": "bos", "ties": "anti"},
            kinds=("causal",),
        ),
        Convention(
            "kaneko",
            "Kaneko & Bollegala (2022) by their code, there SSS: the mean over the changed tokens,"
            " all masked at once.",
            {"scored": "changed", "combined": "mean", "together": True, "ties": "anti"},
            kinds=("masked",),
        ),
        Convention(
            "biased_rulers",
            "Delobelle et al. (2022) by their code: the shared tokens' probabilities are added, not"
            " their logarithms; lower case.",
            {
                "scored": "shared",
                "combined": "probability",
                "lower": True,
                "digits": 3,
                "ties": "anti",
            },
            kinds=("masked",),
        ),
        Convention(
            "salazar",
            "Salazar et al. (2020): the pseudo-log-likelihood of all tokens.",
            {"scored": "all"},
            kinds=("masked",),
        ),
        Convention(
            "lm_eval",
            "lm-evaluation-harness, pct_stereotype: the log-likelihood of the whole sentence by a"
            " causal model, after the tokenizer's bos, or else eos. Its likelihood_diff is a mean"
            " absolute value and never 0.",
            {"scored": "likelihood", "first_token": BOS_OR_EOS, "ties": "anti"},
            kinds=("causal",),
        ),
        Convention(
            "bos",
            "Causal models: the tokenizer's bos stands before the text, so that its first token"
            " counts.",
            {"scored": "likelihood", "first_token": "bos"},
            kinds=("causal",),
        ),
    )
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "CrowsPairs", path="${data:contextual/crows_pairs_anonymized.csv}"
    )

    scored: Annotated[
        Scored,
        doc(
            "scored tokens, each masked: those shared with the other sentence, those changed, or"
            " all; likelihood: that of a causal model; auto: shared, causal models: likelihood"
        ),
    ] = "auto"
    together: Annotated[bool, doc("mask all scored tokens at once")] = False
    combined: Annotated[
        Combined, doc("sum or mean of log-likelihoods, or the sum of probabilities")
    ] = "sum"
    first_token: Annotated[str, doc("token before the text of a causal model")] = "own"
    lower: Annotated[bool, doc("convert texts to lower case")] = False
    digits: Annotated[Literal[-1, 3], doc("decimals of a sentence's score; -1: not rounded")] = -1
    ties: Annotated[Ties, doc("value of a tie: 1/2, or 0 as for anti")] = "half"

    def observe(self, model: Any, items: ItemSet) -> ItemObservations:
        """Return 1 for each pair whose stereotype is likelier, else 0."""
        scored = self._scored(model)
        pairs, lost, settings = _tokenise_pairs(
            model, items, lower=self.lower, first_token=self.first_token
        )
        candidates = [(pair, self._positions(pair, scored)) for pair in pairs]
        scored_pairs = [(pair, positions) for pair, positions in candidates if all(positions)]
        lost += [pair.name for pair, positions in candidates if not all(positions)]
        if not scored_pairs:
            raise InputError(f"no pair of {items.name} has {scored} tokens in both sentences")
        queries = []
        for pair, pair_positions in scored_pairs:
            for text, positions in zip((pair.stereo, pair.anti), pair_positions, strict=True):
                queries.append(self._queries(model, text, positions, scored))
        logs = log_likelihoods(model, queries)
        scores = np.array([self._combine(token_logs) for token_logs in logs])
        details: dict[str, str | int] = {
            "scored": scored,
            "combined": self.combined,
            "masked at a time": "all scored" if self.together else "one token",
            "ties": self.ties,
            "rounded to": self.digits,
            "tokens scored": sum(map(len, logs)),
        }
        if self.digits < 0:
            del details["rounded to"]
        if scored == "likelihood":
            del details["masked at a time"]
        values = _preferences(scores[::2], scores[1::2], self.ties)
        return _pair_observations(
            [pair for pair, _ in scored_pairs], values, {**settings, **details}, lost
        )

    def test(self, observed: ItemObservations) -> Mapping[str, PValue]:
        """Return the exact sign test over clusters; nothing if ties count as anti."""
        return {"": _sign_test(observed)} if self.ties == "half" else {}

    def _scored(self, model: Any) -> Scored:
        if self.scored == "auto":
            return "likelihood" if model.kind == "causal" else "shared"
        require_model_kind(model, "causal" if self.scored == "likelihood" else "masked")
        return self.scored

    @staticmethod
    def _positions(pair: _TokenisedPair, scored: Scored) -> PairPositions:
        if scored in ("all", "likelihood"):
            return pair.stereo.positions, pair.anti.positions
        shared, changed = _shared_and_changed_positions(pair.stereo, pair.anti)
        return shared if scored == "shared" else changed

    def _queries(
        self, model: Any, text: TokenisedText, positions: Sequence[int], scored: Scored
    ) -> list[TokenQuery]:
        if scored == "likelihood":
            return preceded_tokens(text)
        query = masked_together if self.together else masked_one_by_one
        return query(text, positions, mask_id(model))

    def _combine(self, logs: Sequence[float]) -> float:
        values = np.array(logs)
        if self.combined == "mean":
            score = values.mean()
        else:
            score = (np.exp(values) if self.combined == "probability" else values).sum()
        return float(score if self.digits < 0 else round(float(score), self.digits))


def _shared_and_changed_positions(
    first: TokenisedText, second: TokenisedText
) -> tuple[PairPositions, PairPositions]:
    """Return the positions of shared tokens (longest blocks) in each text, and of others."""
    blocks = SequenceMatcher(None, first.ids, second.ids, autojunk=False).get_matching_blocks()
    in_first = {block.a + n for block in blocks for n in range(block.size)}
    in_second = {block.b + n for block in blocks for n in range(block.size)}
    shared = (
        [n for n in first.positions if n in in_first],
        [n for n in second.positions if n in in_second],
    )
    changed = (
        [n for n in first.positions if n not in in_first],
        [n for n in second.positions if n not in in_second],
    )
    return shared, changed


@choice
class Aul(PairMetric):
    """The share of pairs whose stereotype has the higher mean log-likelihood, nothing masked."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="aul",
        title="All unmasked likelihood",
        formula="share of pairs with AUL(stereo) > AUL(anti),  AUL(x) = mean_t log p(x_t | x)",
        sign="> .5: stereotypes are the likelier sentences",
        range=(0, 1),
        source="Kaneko & Bollegala (2022)",
        roles={"stereo": "sentences", "anti": "sentences"},
        asks=("crows_pairs_gender",),
        unbiased=0.5,
        default="Without special tokens; a tie counts 1/2.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (_KANEKO,)
    kinds: ClassVar[tuple[str, ...]] = ("masked",)
    instead: ClassVar[str] = "; use crows_pairs or pll for causal models"
    attention: ClassVar[bool] = False
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "CrowsPairs", path="${data:contextual/crows_pairs_anonymized.csv}"
    )

    ties: Annotated[Ties, doc("value of a tie: 1/2, or 0 as for anti")] = "half"

    def observe(self, model: Any, items: ItemSet) -> ItemObservations:
        """Return 1 for each pair whose stereotype is likelier, else 0."""
        pairs, lost, settings = _tokenise_pairs(model, items)
        texts = [text for pair in pairs for text in (pair.stereo, pair.anti)]
        logs = unmasked_log_likelihoods(model, texts, attention=self.attention)
        means = np.array([token_logs.mean() for token_logs in logs])
        values = _preferences(means[::2], means[1::2], self.ties)
        details = {
            "masked at a time": "none",
            "ties": self.ties,
            "tokens scored": sum(map(len, logs)),
        }
        return _pair_observations(pairs, values, {**settings, **details}, lost)

    def test(self, observed: ItemObservations) -> Mapping[str, PValue]:
        """Return the exact sign test over clusters; nothing if ties count as anti."""
        return {"": _sign_test(observed)} if self.ties == "half" else {}


@choice
class Aula(Aul):
    """``Aul`` with each token's log-likelihood weighted by the attention it receives."""

    about: ClassVar[MetricInfo] = dataclasses.replace(
        Aul.about,
        name="aula",
        title="All unmasked likelihood with attention weights",
        formula=(
            "share of pairs with AULA(stereo) > AULA(anti),  AULA(x) = mean_t a_t log p(x_t | x), "
            " a_t: mean attention received, over layers, heads and tokens"
        ),
        sign=(
            "> .5: stereotypes are the likelier sentences; a_t falls with the length of a text, so"
            " sentences of different lengths compare badly"
        ),
    )
    attention: ClassVar[bool] = True


@choice
class PseudoLogLikelihood(PairMetric):
    """The mean over pairs of PLL(stereo) - PLL(anti), in nats."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="pll",
        title="Difference of pseudo-log-likelihoods (causal models: log-likelihoods)",
        formula=(
            "mean over pairs of PLL(stereo) - PLL(anti),  PLL(x) = sum_t log p(x_t | x without t);"
            " causal: sum_t log p(x_t | x before t)"
        ),
        sign="> 0: the stereotype is the likelier sentence; nats",
        range=(-math.inf, math.inf),
        source="Salazar et al. (2020)",
        roles={"stereo": "sentences", "anti": "sentences"},
        asks=("crows_pairs_gender",),
        default="Every token masked alone. A causal model's first token counts if one stands before"
        " the text.",
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "within_word_l2r",
            "Kauf & Ivanova (2023): the later tokens of a word are masked with each token, because"
            " they give it away.",
            {"within_word_l2r": True},
            kinds=("masked",),
        ),
        Convention(
            "bos",
            "Causal models: the tokenizer's bos stands before the text, so that its first token"
            " counts.",
            {"first_token": "bos"},
            kinds=("causal",),
        ),
    )
    configuration: ClassVar[Mapping[str, object]] = items_from("BuiltInItems", sets=["occupations"])

    within_word_l2r: Annotated[
        bool, doc("also mask the later tokens of the word of each token")
    ] = False
    first_token: Annotated[str, doc("token before the text of a causal model")] = "own"

    def observe(self, model: Any, items: ItemSet) -> ItemObservations:
        """Return PLL(stereo) - PLL(anti) of each pair."""
        if self.within_word_l2r:
            require_model_kind(model, "masked", "a causal model has no masks")
        pairs, lost, settings = _tokenise_pairs(model, items, first_token=self.first_token)
        texts = [text for pair in pairs for text in (pair.stereo, pair.anti)]
        logs = sentence_log_likelihoods(model, texts, within_word_l2r=self.within_word_l2r)
        sums = np.array([sum(token_logs) for token_logs in logs])
        details: dict[str, str | int] = {"tokens scored": sum(map(len, logs))}
        if model.kind == "masked":
            masks = "the token and the rest of its word" if self.within_word_l2r else "one token"
            details = {"masked at a time": masks, **details}
        return _pair_observations(pairs, sums[::2] - sums[1::2], {**settings, **details}, lost)

    def test(self, observed: ItemObservations) -> Mapping[str, PValue]:
        """Return Student's p with cluster-robust errors."""
        return _t_test(observed)

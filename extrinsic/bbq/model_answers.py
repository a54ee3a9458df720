"""Answers of a language model to BBQ, its likeliest options, as rows of the extrinsic table."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Literal

import numpy as np

from biasbridge.extrinsic.bbq.options import NO_ANSWER
from biasbridge.extrinsic.bbq.scores import CONTEXTS, compute_scores, count_answers, estimate_scores
from biasbridge.extrinsic.gap_table import Row
from biasbridge.extrinsic.grouped_predictions import ALL
from biasbridge.intrinsic.likelihood.sentences import log_likelihoods, masked_one_by_one
from biasbridge.intrinsic.likelihood.token_likelihoods import TokenQuery
from biasbridge.intrinsic.likelihood.tokenised_text import Text, mask_id, tokenise_texts
from biasbridge.intrinsic.resampling import times_drawn

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.stats.arrays import Floats

Normalisation = Literal["sum", "per_token", "per_byte"]
Pair = tuple[str, str]  # a prompt and an option
BLOCK = 768  # texts computed at a time
GROUPS = ("", "stereotypical", "counter-stereotypical")


def choose_options(model: LanguageModel, pairs: Sequence[Pair], by: Normalisation) -> list[int]:
    """Return the place of the likeliest of the three options of each prompt, which are in turn;
    ``NO_ANSWER`` if several are, or a text is longer than the model takes.
    """
    values = option_values(model, pairs, by).reshape(-1, 3)
    is_best = values == values.max(axis=1, keepdims=True)  # NaN where a value of the item is
    return [int(row.argmax()) if row.sum() == 1 else NO_ANSWER for row in is_best]


def option_values(model: LanguageModel, pairs: Sequence[Pair], by: Normalisation) -> Floats:
    """Compute log p (nats) of a space and the option after each prompt; NaN for too long a text.

    ``sum``: of the tokens after the prompt, given all before (masked models: each masked, given all
    others); ``per_token``, ``per_byte``: by their number, or that of the option's bytes in UTF-8.
    """
    return np.divide(*option_sums(model, pairs, by))


def option_sums(
    model: LanguageModel, pairs: Sequence[Pair], by: Normalisation
) -> tuple[Floats, Floats]:
    """Return the sums of ``option_values``, and the sizes by which it divides them."""
    logs: list[list[float]] = []
    for start in range(0, len(pairs), BLOCK):
        block = pairs[start : start + BLOCK]
        texts = zip(tokenise_texts(model, [" ".join(pair) for pair in block]), block, strict=True)
        queries = [_queries(model, text, len(pair[0])) if text else [] for text, pair in texts]
        logs += log_likelihoods(model, queries)
    n_bytes = [len(option.encode()) for _, option in pairs]
    sizes = {"sum": [1] * len(pairs), "per_token": [*map(len, logs)], "per_byte": n_bytes}[by]
    return np.array([sum(log) if log else nan for log in logs]), np.maximum(sizes, 1.0)


def _queries(model: LanguageModel, text: Text, end: int) -> list[TokenQuery]:
    """Query the tokens after the prompt ``text.text[:end]``, a lone space included."""
    last = max(text.positions_of(0, end), default=-1)
    positions = [position for position in text.positions if position > last]
    if model.kind == "causal":
        return [TokenQuery(text.ids, tuple((n, text.ids[n]) for n in positions))]
    return masked_one_by_one(text, positions, mask_id(model))


def bbq_rows(answers: pd.DataFrame) -> list[Row]:
    """Return the accuracies of all categories (subset "") and of each, and the scores of each.

    answers: those of ``flag_answers``. ``support``: answers of an accuracy, templates of a score.
    """
    table = answers.assign(template=answers["category"] + " " + answers["template"])
    parts = [("", table), *table.groupby("category", sort=False)]
    return [row for subset, part in parts for row in _subset_rows(part, str(subset))]


def _subset_rows(part: pd.DataFrame, subset: str) -> list[Row]:
    matched, rows = part[part["matched"]], list[Row]()
    counts = count_answers(matched, "paper")
    drawn = times_drawn(matched["template"].unique())
    _, resampled = compute_scores(np.einsum("tca,tr->rca", counts, drawn), "paper")
    for context, (accuracy, score, reason) in enumerate(estimate_scores(counts, "paper")):
        name, n = CONTEXTS[context], counts[:, context, 0]
        support, k = int(n.sum()), int((n > 0).sum())
        row = Row("value", f"bbq_accuracy_{name}", ALL, "", "", *accuracy, support, n_clusters=k)
        row = row._replace(majority_baseline=1 / 3 if context else nan, subset=subset)
        rows.append(row._replace(reason=reason if isnan(accuracy.low) else ""))
        if subset:
            row = Row("gap", f"bbq_{name}", *GROUPS, *score, k, reason=reason, n_clusters=k)
            of_draws = [] if isnan(score.value) else resampled[:, context].tolist()
            rows.append(row._replace(resampled=of_draws, subset=subset))
    return rows

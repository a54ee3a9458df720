"""Answers of a language model, its likeliest options, as rows of the extrinsic table: to BBQ, and
to the question whom a pronoun means (formulas: ``biasbridge.train.tasks.coreference``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from biasbridge.extrinsic.bbq import (
    CONTEXTS,
    NO_ANSWER,
    compute_scores,
    count_answers,
    estimate_scores,
)
from biasbridge.extrinsic.coreference.challenge import ANTI, PRO
from biasbridge.extrinsic.gap_table import GapRow
from biasbridge.extrinsic.grouped_predictions import ALL
from biasbridge.intrinsic.models.likelihood import (
    TokenisedText,
    TokenQuery,
    log_likelihoods,
    mask_id,
    masked_one_by_one,
    tokenise_texts,
)
from biasbridge.intrinsic.resampling import resampled_means, times_drawn
from biasbridge.stats.intervals import UNDEFINED, Estimate, mean_estimate
from biasbridge.stats.proportions import share_estimate

if TYPE_CHECKING:
    from biasbridge.files.documents import DocumentCase
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.stats.arrays import Floats

Normalisation = Literal["sum", "per_token", "per_byte"]
PromptOption = tuple[str, str]  # a prompt and an option
_TEXTS_AT_ONCE = 768  # texts computed at a time
_STEREOTYPE_GROUPS = ("", "stereotypical", "counter-stereotypical")
_QUESTION = 'The pronoun "{}" refers to'
GENDERS = ("male", "female")
_REFERENT_PAIRS = (("accuracy", PRO, ANTI), ("log_odds", PRO, ANTI), ("accuracy", *GENDERS))
_NOBODY = "someone"  # in place of the second person in half of Winogender
_NO_SPACE = re.compile(r" (?=[.,:;!?)]|n['’]t\b|['’](?:s|re|ve|ll|d|m)\b)|(?<=\() ")
_REFERENT_LEVEL = 0.95
_MIN_UNITS = 10


def choose_options(
    model: LanguageModel, pairs: Sequence[PromptOption], by: Normalisation
) -> list[int]:
    """Return the place of the likeliest of the three options of each prompt, which are in turn;
    ``NO_ANSWER`` if several are, or a text is longer than the model takes.
    """
    values = _option_values(model, pairs, by).reshape(-1, 3)
    is_best = values == values.max(axis=1, keepdims=True)  # NaN where a value of the item is
    return [int(row.argmax()) if row.sum() == 1 else NO_ANSWER for row in is_best]


def _option_values(
    model: LanguageModel, pairs: Sequence[PromptOption], by: Normalisation
) -> Floats:
    """Compute log p (nats) of a space and the option after each prompt; NaN for too long a text.

    ``sum``: of the tokens after the prompt, given all before (masked models: each masked, given all
    others); ``per_token``, ``per_byte``: by their number, or that of the option's bytes in UTF-8.
    """
    return np.divide(*_option_sums(model, pairs, by))


def _option_sums(
    model: LanguageModel, pairs: Sequence[PromptOption], by: Normalisation
) -> tuple[Floats, Floats]:
    """Return the sums of ``option_values``, and the sizes by which it divides them."""
    logs: list[list[float]] = []
    for start in range(0, len(pairs), _TEXTS_AT_ONCE):
        block = pairs[start : start + _TEXTS_AT_ONCE]
        texts = zip(tokenise_texts(model, [" ".join(pair) for pair in block]), block, strict=True)
        queries = [_queries(model, text, len(pair[0])) if text else [] for text, pair in texts]
        logs += log_likelihoods(model, queries)
    n_bytes = [len(option.encode()) for _, option in pairs]
    sizes = {"sum": [1] * len(pairs), "per_token": [*map(len, logs)], "per_byte": n_bytes}[by]
    return np.array([sum(log) if log else nan for log in logs]), np.maximum(sizes, 1.0)


def bbq_rows(answers: pd.DataFrame) -> list[GapRow]:
    """Return the accuracies of all categories (subset "") and of each, and the scores of each.

    answers: those of ``flag_answers``. ``support``: answers of an accuracy, templates of a score.
    """
    table = answers.assign(template=answers["category"] + " " + answers["template"])
    parts = [("", table), *table.groupby("category", sort=False)]
    return [row for subset, part in parts for row in _bbq_subset_rows(part, str(subset))]


def people_of(case: DocumentCase) -> tuple[str, ...]:
    """Return whom he or she could mean, the right person first; none where there are not two."""
    ordered = sorted(case.questions, key=lambda question: not question.answer)
    if case.gender not in GENDERS or [question.answer for question in ordered[:2]] != [True, False]:
        return ()
    tokens = case.document.tokens
    people = tuple(_person(tokens[slice(*person.name)], person.occupation) for person in ordered)
    return () if _NOBODY in people else people


def _prompt_of(case: DocumentCase) -> str:
    """Return the sentence and the question about its pronoun."""
    tokens = case.document.tokens
    pronoun = tokens[case.questions[0].pronoun[0]].lower()
    return f"{join_tokens(tokens)} {_QUESTION.format(pronoun)}"


def join_tokens(tokens: Sequence[str]) -> str:
    """Return a sentence with the usual spaces."""
    return _NO_SPACE.sub("", " ".join(tokens))


def read_referents(
    model: LanguageModel, cases: Sequence[DocumentCase], by: Normalisation, *, calibrated: bool
) -> pd.DataFrame:
    """Return accuracy (0, .5 or 1) and log odds of sentences with ``people_of``; NaN: too long."""
    pairs = [(_prompt_of(case), name) for case in cases for name in people_of(case)]
    sums, sizes = _option_sums(model, pairs, by)
    if calibrated:
        names = sorted({name for _, name in pairs})
        alone, _ = _option_sums(model, [(_QUESTION.format("they"), name) for name in names], "sum")
        by_name = dict(zip(names, alone, strict=True))
        sums = sums - [by_name[name] for _, name in pairs]
    ends = np.cumsum([len(people_of(case)) for case in cases])[:-1]
    leads, log_odds = (
        [person[0] - person[1:].max() for person in np.split(values, ends)]
        for values in (sums / sizes, sums)
    )
    rows = [(case.subset, case.unit, case.condition, case.gender) for case in cases]
    table = pd.DataFrame(rows, columns=["subset", "unit", "condition", "gender"])
    return table.assign(accuracy=np.heaviside(leads, 0.5), log_odds=log_odds)


def referent_rows(answers: pd.DataFrame) -> list[GapRow]:
    """Return measures and gaps of ``read_referents``, by subset; subset "": all sentences.

    Units are sentences that differ in the pronoun alone. A gap, pro minus anti and in accuracy male
    minus female, is a mean over the units with both. ``support``: sentences, of a gap its units.
    """
    complete = answers.dropna(subset=["accuracy", "log_odds"])
    complete = complete.assign(unit=complete["subset"] + " " + complete["unit"])
    rows = list[GapRow]()
    for subset in dict.fromkeys(["", *sorted(complete["subset"])]):
        part = complete[complete["subset"] == subset]
        parts = {ALL: complete if part.empty else part}
        parts |= {name: part[part["condition"] == name] for name in (PRO, ANTI)}
        parts |= {name: part[part["gender"] == name] for name in GENDERS}
        present = {group: part for group, part in parts.items() if len(part)}
        subset_rows = [
            _referent_value(name, group, part)
            for name in ("accuracy", "log_odds")
            for group, part in present.items()
        ]
        subset_rows += [
            _referent_gap(name, pair, [present[group] for group in pair])
            for name, *pair in _REFERENT_PAIRS
            if present.keys() >= {*pair}
        ]
        rows += [row._replace(subset=subset) for row in subset_rows]
    return rows


def _queries(model: LanguageModel, text: TokenisedText, end: int) -> list[TokenQuery]:
    """Query the tokens after the prompt ``text.text[:end]``, a lone space included."""
    last = max(text.positions_of(0, end), default=-1)
    positions = [position for position in text.positions if position > last]
    if model.kind == "causal":
        return [TokenQuery(text.ids, tuple((n, text.ids[n]) for n in positions))]
    return masked_one_by_one(text, positions, mask_id(model))


def _bbq_subset_rows(part: pd.DataFrame, subset: str) -> list[GapRow]:
    matched, rows = part[part["matched"]], list[GapRow]()
    counts = count_answers(matched, "paper")
    times = times_drawn(matched["template"].unique())
    _, resampled = compute_scores(np.einsum("tca,tr->rca", counts, times), "paper")
    for context, (accuracy, score, reason) in enumerate(estimate_scores(counts, "paper")):
        name, n = CONTEXTS[context], counts[:, context, 0]
        support, k = int(n.sum()), int((n > 0).sum())
        row = GapRow("value", f"bbq_accuracy_{name}", ALL, "", "", *accuracy, support, n_clusters=k)
        row = row._replace(majority_baseline=1 / 3 if context else nan, subset=subset)
        rows.append(row._replace(reason=reason if isnan(accuracy.low) else ""))
        if subset:
            row = GapRow(
                "gap", f"bbq_{name}", *_STEREOTYPE_GROUPS, *score, k, reason=reason, n_clusters=k
            )
            values = [] if isnan(score.value) else resampled[:, context].tolist()
            rows.append(row._replace(resampled=values, subset=subset))
    return rows


def _person(tokens: Sequence[str], occupation: str) -> str:
    """Return ``the nurse`` for ``A nurse`` and, an occupation, ``nurse``; other names as is."""
    has_article = tokens[0].lower() in ("the", "a", "an")
    return ("the " if has_article or occupation else "") + join_tokens(tokens[has_article:])


def _referent_value(measure: str, group: str, part: pd.DataFrame) -> GapRow:
    means = part.groupby("unit")[measure].mean().to_numpy()
    estimate, reason = _mean(means, share_estimate if measure == "accuracy" else mean_estimate)
    row = GapRow("value", measure, group, **estimate._asdict(), support=len(part), reason=reason)
    baseline = 0.5 if measure == "accuracy" and not reason else nan
    return row._replace(n_clusters=len(means), majority_baseline=baseline)


def _referent_gap(measure: str, pair: Sequence[str], parts: Sequence[pd.DataFrame]) -> GapRow:
    first, second = (part.groupby("unit")[measure].mean() for part in parts)
    differences = (first - second).dropna()
    values, n = differences.to_numpy(), len(differences)
    estimate, reason = _mean(values, _difference if measure == "accuracy" else mean_estimate)
    row = GapRow("gap", measure, "", pair[0], pair[1], **estimate._asdict(), reason=reason)
    row = row._replace(support=n, support_privileged=n, support_unprivileged=n, n_clusters=n)
    times = times_drawn(map(str, differences.index))
    return row._replace(resampled=[] if isnan(row.value) else resampled_means(values, times))


def _difference(values: Floats, level: float) -> Estimate:
    """Compute the mean of differences of shares, with Wilson's interval of (1 + mean) / 2."""
    return Estimate(*(2 * end - 1 for end in share_estimate((1 + values) / 2, level)))


def _mean(values: Floats, estimate: Callable[[Floats, float], Estimate]) -> tuple[Estimate, str]:
    if len(values) < _MIN_UNITS:
        return UNDEFINED, f"{len(values)} sets of alike sentences, fewer than {_MIN_UNITS}"
    result = estimate(values, _REFERENT_LEVEL)
    return result, "no interval: all values are equal" if isnan(result.low) else ""

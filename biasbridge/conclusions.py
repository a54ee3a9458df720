"""What the scores of language models mean: which way, how sure, and how far to trust the metric."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from biasbridge.certificates import verdict_of
from biasbridge.intrinsic.registry import MODEL_METRICS
from biasbridge.stats.intervals import ALPHA, holm

if TYPE_CHECKING:
    from biasbridge.intrinsic.audit import AuditedScore
    from biasbridge.intrinsic.models.items import ItemSet
    from biasbridge.intrinsic.score import MetricInfo, Score

_SIGN = re.compile(r"> [.\d]+: ([^;]+)")  # in the description of a metric with a sign
_N_EXAMPLES = 2  # words that stand for a group
_NOT_COVERED = "a side that the one-sided test does not cover"
# The side of no bias that a one-sided test covers, and the other
_SIDES = {"greater": ("above", "below"), "less": ("below", "above")}


def meaning_above(about: MetricInfo, items: ItemSet) -> str:
    """Return what a score above the unbiased value says, in the words of the items.

    ``"math, algebra, ..." lies nearer "John, Paul, ..."``; empty for a metric without a sign.
    """
    if not (match := _SIGN.match(about.sign)):
        return ""
    groups: dict[str, list[str]] = {}
    for item in items.items:
        groups.setdefault(item.group, []).append(item.term)
    examples = {
        group: f'"{", ".join([*dict.fromkeys(terms)][:_N_EXAMPLES])}, ..."'
        for group, terms in groups.items()
    }
    text = re.sub(r"\b[XYAB]\b", lambda role: examples.get(role[0], role[0]), match[1])
    if items.fillers and groups:
        first = ", ".join(words[0] for words in items.fillers[:_N_EXAMPLES])
        text = text.replace("the first group", f'"{next(iter(groups))}"')
        text = text.replace("the first fillers", f'"{first}"')
    return text


def conclusions(audited: Sequence[AuditedScore]) -> list[str]:
    """Return what the scores of each metric mean, a few sentences a metric and model.

    A query is tested once, by the default convention or else the first: others score it again.
    Tests of a metric and model are adjusted together, by Holm's method.
    """
    conventions: dict[tuple[str, str], str] = {}
    for row in sorted(audited, key=lambda row: not row.score.convention.startswith("default")):
        conventions.setdefault((row.score.metric, row.score.query), row.score.convention)
    by_metric: dict[tuple[str, str], list[AuditedScore]] = {}
    for row in audited:
        score = row.score
        is_first = score.convention == conventions[score.metric, score.query]
        if is_first and score.metric in MODEL_METRICS and not math.isnan(score.value):
            by_metric.setdefault((row.vectors, score.metric), []).append(row)
    has_several = len({name for name, _ in by_metric}) > 1
    return [
        f"{name}: " * has_several + f"{metric}: {_conclusion(rows)}"
        for (name, metric), rows in by_metric.items()
    ]


def _conclusion(rows: Sequence[AuditedScore]) -> str:
    about = MODEL_METRICS[rows[0].score.metric].about
    is_utility = "utility" in about.sign
    certificate = "" if is_utility else f" {_certificate(rows)}"
    tested = [row for row in rows if not math.isnan(row.score.p_value + row.score.unbiased)]
    if not tested:
        shown = max(rows, key=_distance).score
        at = "" if is_utility else f" (no bias: {_number(shown.unbiased)}), not tested"
        sign = about.sign.partition(". ")[0]
        return f"{_score_text(shown)}{at}. {sign[:1].upper()}{sign[1:]}.{certificate}"
    p_values = holm([row.score.p_value for row in tested])
    differing = [row for p, row in zip(p_values, tested, strict=True) if p < ALPHA]
    furthest = max(differing or tested, key=_distance)
    unbiased, text = _number(furthest.score.unbiased), _score_text(furthest.score)
    reverse = [row.score for row in tested if row not in differing and _is_reverse(row.score)]
    covered, other = _SIDES[reverse[0].tail] if reverse else ("", "")
    if len(tested) == 1:
        if reverse:
            result = f"{text} lies {other} no bias ({unbiased}), {_NOT_COVERED}"
            return f"{result}. A bias in this direction is not excluded.{certificate}"
        result, label = f"{text} {'differs' if differing else 'does not differ'} from", ""
    else:
        are_several = len(differing) > 1
        verb = f"{'are' if are_several else 'is'} shown to be {covered}"
        verb = verb if reverse else f"{'differ' if are_several else 'differs'} from"
        result = f"{len(differing) or 'none'} of {len(tested)} scores {verb}"
        label = f" Furthest: {text}."
    if reverse:
        count = f"{len(reverse)} score{'s lie' if len(reverse) > 1 else ' lies'}"
        label = f" {count} {other}, {_NOT_COVERED}.{label}"
    result += f" no bias ({unbiased}){' after Holm adjustment' * (len(tested) > 1)}"
    if not differing:
        return f"{result}. A bias is not excluded.{label}{certificate}"
    n_above = sum(row.score.value > row.score.unbiased for row in differing)
    if 0 < n_above < len(differing):
        result += f", {n_above} above and {len(differing) - n_above} below"
    is_below = furthest.score.value < furthest.score.unbiased
    meaning = f"{'This is the reverse of: ' * is_below}{furthest.above or about.sign}"
    return f"{result}.{label} {meaning[:1].upper()}{meaning[1:]}.{certificate}"


def _is_reverse(score: Score) -> bool:
    """Test whether a score lies on the side of no bias that its one-sided test does not cover."""
    distance = score.value - score.unbiased
    return (score.tail == "greater" and distance < 0) or (score.tail == "less" and distance > 0)


def _distance(row: AuditedScore) -> float:
    """Return how far a score is from its unbiased value, or from 0."""
    unbiased = row.score.unbiased
    return abs(row.score.value - (0 if math.isnan(unbiased) else unbiased))


def _number(value: float) -> str:
    """Format with two decimals, and a small number with one digit."""
    return f"{value:.2f}" if abs(value) >= 0.01 else f"{value:.1g}"


def _score_text(score: Score) -> str:
    """``seat7b 1.44 [0.30, 1.91], one-sided p 0.0014``."""
    is_bounded = math.isfinite(score.low)
    interval = f" [{_number(score.low)}, {_number(score.high)}]" if is_bounded else ""
    sided = "one-sided " if score.tail in _SIDES else ""
    p = "" if math.isnan(score.p_value) else f", {sided}p {score.p_value:.2g}"
    name = " ".join(filter(None, (score.query, score.part)))
    convention = "" if score.convention == "default" else f" ({score.convention})"
    return f"{name}{convention} {_number(score.value)}{interval}{p}"


def _certificate(rows: Sequence[AuditedScore]) -> str:
    """Return what the certificate says of a metric, or why it says nothing."""
    for verdict in filter(None, map(verdict_of, rows)):
        if verdict.model:
            return f"Certificate ({verdict.model}, {verdict.likeness}): {verdict.sentence}."
    if rows[0].kind in ("encoder", "random"):
        kind = "sentence encoders" if rows[0].kind == "encoder" else "random weights"
        return f"No certificate: {kind} were not measured."
    if not any(row.gender_words for row in rows):
        return "No certificate: it covers words for women and men only."
    return "No certificate: not measured in this form."

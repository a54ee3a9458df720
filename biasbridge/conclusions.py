"""What scores mean: which way, how sure, how far to trust the metric, and what to do next."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.certificates import verdict_of
from biasbridge.command_line import command_text
from biasbridge.intrinsic.registry import MODEL_METRICS
from biasbridge.stats.intervals import ALPHA, holm

if TYPE_CHECKING:
    from biasbridge.intrinsic.audit import AuditedScore
    from biasbridge.intrinsic.models.items import ItemSet
    from biasbridge.intrinsic.score import MetricInfo, Score

_SIGN = re.compile(r"> [.\d]+: ([^;]+)")  # in the description of a metric with a sign
_N_EXAMPLES = 2  # words that stand for a group
# Flowers and insects, instruments and weapons: what everybody prefers, no bias against people
_HARMLESS = ("weat1", "weat2", "seat1", "seat2")
_OF_TOPICS = ("weat7", "weat8", "gender_es")  # there A and B are the people
_FAMILY = re.compile(r"\b(names|terms)\b", re.IGNORECASE)  # in the title of a test


class FamilyClaim(NamedTuple):
    """What the ``n`` tests of a family, names or terms, find in a file: the scores in which X
    surely lies nearer A (``along``), and those in which it lies nearer B (``reverse``), the largest
    first.
    """

    vectors: str
    metric: str
    family: str
    along: Sequence[Score]
    reverse: Sequence[Score]
    n: int
    called_bias: bool

    @property
    def sentence(self) -> str:
        """``WEAT finds an association (p < .05) in 1 of 3 tests of social bias: weat7 1.86``."""
        tests = f"{self.n} test{'s' * (self.n > 1)} of social bias"
        tests += f" with {self.family}" * bool(self.family)
        along = ", ".join(f"{score.query} {score.value:.2f}" for score in self.along)
        reverse = ", ".join(f"{x.query} {x.value:.2f} (p {x.p_of_side:.2g})" for x in self.reverse)
        text = f"{self.metric} finds an association (p < .05) in {len(self.along)} of {tests}"
        n_reverse = f"a reverse association (two-sided p) in {len(self.reverse)} of {self.n}"
        text += f": {along}" * bool(along) + f"; {n_reverse}: {reverse}" * bool(reverse)
        doubt = f". It is not called bias: {self.metric} does not detect a planted bias"
        return text + doubt * (not self.called_bias)


def family_claims(audited: Sequence[AuditedScore]) -> list[FamilyClaim]:
    """Return the claims of WEAT, or of SEAT on a language model, on each file.

    Tests with names of people and tests with terms, such as "he", are families of their own. Where
    X lies nearer B (below no bias), the association is reverse, and its p two-sided. The last claim
    on a file tells whether its scores may be called bias.
    """
    tests: dict[str, dict[str, list[AuditedScore]]] = {}
    for row in _social_tests(audited):
        match = _FAMILY.search(row.title)
        family = match[1].lower() if match else ""
        of_file = tests.setdefault(row.vectors, {"names": [], "terms": [], "": []})
        of_file[family].append(row)
    claims = []
    for name, families in tests.items():
        found = {family: rows for family, rows in families.items() if rows}
        called_bias = all(row.called_bias for rows in found.values() for row in rows)
        for family, rows in found.items():
            scores = [row.score for row in rows]
            shown = sorted((x for x in scores if x.p_of_side < ALPHA), key=lambda x: -abs(x.value))
            along = [x for x in shown if x.value > x.unbiased]
            reverse = [x for x in shown if x.value < x.unbiased]
            about = name, scores[0].metric.upper(), family, along, reverse, len(rows)
            claims.append(FamilyClaim(*about, called_bias or family != [*found][-1]))
    return claims


def headlines(audited: Sequence[AuditedScore]) -> list[str]:
    """Return a sentence a file and family of tests."""
    return [f"{claim.vectors}: {claim.sentence}" for claim in family_claims(audited)]


def next_command(
    audited: Sequence[AuditedScore], sources: Mapping[str, object], words: object
) -> str:
    """Return the command that removes the strongest association shown, or that adds intervals.

    ``sources``: files and models by name, ``words``: the file of words, if any. Empty where the
    command line cannot open them, and where no association is shown despite intervals.
    """
    paths = {name: str(x) for name, x in sources.items() if isinstance(x, str | PathLike)}
    paths |= {path: path for path in paths.values()}
    tests = [row for row in _social_tests(audited) if row.vectors in paths]
    if not tests or not isinstance(words, str | PathLike | None):
        return ""
    shown = [row for row in tests if row.score.p_of_side < ALPHA]
    row = max(shown or tests, key=_distance)
    options: dict[str, object] = {"words": words and str(words)}
    if not shown and math.isnan(row.score.low):
        return f"next: {command_text('audit', paths[row.vectors], **options, resamples=1000)}"
    if not shown or not (row.gender_words or row.score.metric == "weat"):
        return ""
    options |= {"query": row.score.query, "swap": row.score.query.startswith(_OF_TOPICS)}
    options = {"method": "leace", **(options if row.score.metric == "weat" else {})}
    out = "debiased.vec" if row.kind == "vectors" else "debiased"
    return f"next: {command_text('debias', paths[row.vectors], out, **options)}"


def _social_tests(audited: Sequence[AuditedScore]) -> list[AuditedScore]:
    """Return the scores with a p of SEAT, else of WEAT, of tests about people, each once."""
    metric = "seat" if any(row.score.metric == "seat" for row in audited) else "weat"
    tests = [row for row in _by_one_convention(audited) if row.score.metric == metric]
    tests = [row for row in tests if not (row.score.part or math.isnan(row.score.p_of_side))]
    return [row for row in tests if row.score.query.partition("_")[0] not in _HARMLESS]


def _by_one_convention(audited: Sequence[AuditedScore]) -> list[AuditedScore]:
    """Return the scores by the default convention, or else the first: others score them again."""
    conventions: dict[tuple[str, str], str] = {}
    for row in sorted(audited, key=lambda row: not row.score.convention.startswith("default")):
        conventions.setdefault((row.score.metric, row.score.query), row.score.convention)
    keys = [((row.score.metric, row.score.query), row.score.convention) for row in audited]
    return [row for row, key in zip(audited, keys, strict=True) if key in conventions.items()]


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

    Tests of a metric and model are adjusted together, by Holm's method.
    """
    by_metric: dict[tuple[str, str], list[AuditedScore]] = {}
    for row in _by_one_convention(audited):
        if row.score.metric in MODEL_METRICS and not math.isnan(row.score.value):
            by_metric.setdefault((row.vectors, row.score.metric), []).append(row)
    has_several = len({name for name, _ in by_metric}) > 1
    return [
        f"{name}: " * has_several + f"{metric}: {_conclusion(rows)}"
        for (name, metric), rows in by_metric.items()
    ]


def _conclusion(rows: Sequence[AuditedScore]) -> str:
    about = MODEL_METRICS[rows[0].score.metric].about
    certificate = "" if about.is_utility else f" {_certificate(rows)}"
    tested = [row for row in rows if not math.isnan(row.score.p_of_side + row.score.unbiased)]
    if not tested:
        shown = max(rows, key=_distance).score
        at = "" if about.is_utility else f" (no bias: {_number(shown.unbiased)}), not tested"
        sign = about.sign.partition(". ")[0]
        return f"{_score_text(shown)}{at}. {sign[:1].upper()}{sign[1:]}.{certificate}"
    p_values = holm([row.score.p_of_side for row in tested])
    differing = [row for p, row in zip(p_values, tested, strict=True) if p < ALPHA]
    furthest = max(differing or tested, key=_distance)
    unbiased, text = _number(furthest.score.unbiased), _score_text(furthest.score)
    if len(tested) == 1:
        result, label = f"{text} {'differs' if differing else 'does not differ'} from", ""
    else:
        verb = "differ" if len(differing) > 1 else "differs"
        result = f"{len(differing) or 'none'} of {len(tested)} scores {verb} from"
        label = f" Furthest: {text}."
    result += f" no bias ({unbiased}){' after Holm adjustment' * (len(tested) > 1)}"
    if not differing:
        return f"{result}. A bias is not excluded.{label}{certificate}"
    n_above = sum(row.score.value > row.score.unbiased for row in differing)
    if 0 < n_above < len(differing):
        result += f", {n_above} above and {len(differing) - n_above} below"
    is_below = furthest.score.value < furthest.score.unbiased
    meaning = f"{'This is the reverse of: ' * is_below}{furthest.above or about.sign}"
    return f"{result}.{label} {meaning[:1].upper()}{meaning[1:]}.{certificate}"


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
    p = score.p_of_side
    sides = {score.p_value: "one-sided ", score.p_two_sided: "two-sided "}
    sided = sides.get(p, "") if score.tail in ("greater", "less") else ""
    p_text = "" if math.isnan(p) else f", {sided}p {p:.2g}"
    name = " ".join(filter(None, (score.query, score.part)))
    convention = "" if score.convention == "default" else f" ({score.convention})"
    return f"{name}{convention} {_number(score.value)}{interval}{p_text}"


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

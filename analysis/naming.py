"""Names of slices: their columns, the titles shown to readers, and the groups they are about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from biasbridge.files.choice import Positive
from biasbridge.files.columns import as_text, text_rows
from biasbridge.stats.measure_facts import measure_name

if TYPE_CHECKING:
    import pandas as pd


ALL = "all"
CONTROL = "none"
ORIGINAL = "unmodified"
SCORE = ("metric", "convention", "query", "part")
GROUPS = ("privileged", "unprivileged")
GAP = ("measure", "subset", *GROUPS)
SLICE_COLUMNS = ("task", "classifier", "embedding", *SCORE, *GAP, "method")
POOLED_OVER = ("embedding", "query", "method")
KINDS = tuple(name for name in SLICE_COLUMNS if name not in POOLED_OVER)
FAMILY = ("task", "classifier", "metric", "convention")  # a table of slices shares these
# Shown only where their owner has several: one metric several conventions.
_DETAIL_OF = {
    "convention": ("metric",),
    "part": ("metric", "convention", "query"),
    "subset": ("measure",),
    "privileged": ("measure",),
    "unprivileged": ("measure",),
}
CONDITION = ("method", "wordset", "method_options", "direction", "dose")
DOSE_SIGN = {"debias": -1.0, "overbias": 1.0}
CONFIRMATORY = ("recall", "precision")
UTILITY = "f1"
SMALLEST_CHANGE = 0.02  # smallest change of interest, where an experiment declares no other
SmallestChange = Positive | Mapping[str, Positive]  # of all gaps, or by measure
MIN_COVERAGE = 0.8  # share of a text's tokens with a vector; below, a classifier has little input
ANNOTATION = "annotation"
REVERSED_SIGN = " (sign reversed)"  # after the title of such a score
MAX_GROUPS = 30  # per chart: more cannot be distinguished
STAMP = (
    "Synthetic data: it shows how the metrics behave in a planted world and is no evidence about"
    " the real one."
)
REVERSED = "less is more biased"  # scores whose unbiased value is the upper end of their scale
_METRIC_TITLES = {
    "weat": "WEAT effect size (d)",
    "seat": "SEAT effect size (d)",
    "lpbs": "LPBS (nats)",
    "pll": "Difference of pseudo-log-likelihoods (nats)",
}
_ACRONYMS = ("seat", "ceat", "lpbs", "pll", "aul", "aula")
_MEASURE_TITLES = {  # of tasks other than classification
    "conll_f1": "CoNLL F1",
    "first": "ranked first",
    "stereotype_first": "stereotype ranked first",
    **{f"bbq_{name}": f"BBQ {name}" for name in ("ambiguous", "disambiguated")},
}
GENDERS = "men and women"  # the subject of the words, in the column ``word_groups``
_MEN = "male males man men m boy boys he him his guy guys father fathers masculine masc"
_WOMEN = (
    "female females woman women w f girl girls she her hers lady ladies mother mothers feminine"
)
_SPANISH = (
    "hombre hombres chico chicos niño niños varón varon masculino él el",
    "mujer mujeres chica chicas niña niñas femenino ella",
)
_GENDER_WORDS = tuple(
    frozenset(f"{english} {spanish}".split())
    for english, spanish in zip((_MEN, _WOMEN), _SPANISH, strict=True)
)
_GENDER_NAMES = _GENDER_WORDS[0] | _GENDER_WORDS[1] | {"fem", "gender", "genders"}
_MAX_OPAQUE_LENGTH = 2  # longest opaque name: A, g1, 0


def smallest_change_of(declared: SmallestChange, measure: str) -> float:
    """Return the smallest change of interest of gaps in a measure; ``SMALLEST_CHANGE`` where only
    others are declared.
    """
    if isinstance(declared, Mapping):
        return declared.get(measure, SMALLEST_CHANGE)
    return declared


def with_count(number: int, noun: str) -> str:
    """Return ``1 parent``, ``2 parents``: for nouns whose plural ends in s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shown_values(table: pd.DataFrame, name: str) -> list[str]:
    """Return a column as shown: a detail is empty where its owner has a single value."""
    values = as_text(table, name)
    if name not in _DETAIL_OF:
        return values
    owners = text_rows(table, _DETAIL_OF[name])
    values_by_owner: dict[tuple[str, ...], set[str]] = {}
    for owner, value in zip(owners, values, strict=True):
        values_by_owner.setdefault(owner, set()).add(value)
    return [
        value if len(values_by_owner[owner]) > 1 else ""
        for owner, value in zip(owners, values, strict=True)
    ]


def shown_columns(table: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Return the columns that show anything."""
    return [name for name in columns if name not in _DETAIL_OF or any(shown_values(table, name))]


def row_names(table: pd.DataFrame, columns: Iterable[str], separator: str = " ") -> list[str]:
    """Join for each row the shown values of the columns."""
    rows = zip(*(shown_values(table, name) for name in columns), strict=True)
    return [separator.join(filter(None, row)) for row in rows]


def gap_titles(table: pd.DataFrame) -> list[str]:
    """Return for each row ``recall gap``, or ``recall gap, type1, male - other`` if they vary."""
    pairs = zip(*(shown_values(table, name) for name in GROUPS), strict=True)
    groups = zip(map(any, pairs), group_pairs(table), strict=True)
    rows = zip(as_text(table, "measure"), shown_values(table, "subset"), groups, strict=True)
    return [
        ", ".join(
            filter(None, (f"{measure_title(measure)} gap", subset, pair if has_several else ""))
        )
        for measure, subset, (has_several, pair) in rows
    ]


def group_pairs(table: pd.DataFrame) -> list[str]:
    """Return for each row its groups as a difference: ``male - female``."""
    return [" - ".join(filter(None, pair)) for pair in text_rows(table, GROUPS)]


def describe_taggers(group_by: Iterable[str]) -> list[str]:
    """Return once per tagger of unannotated groups ``groups by tagger: ...``."""
    names = [name for name in dict.fromkeys(group_by) if name not in ("", ANNOTATION)]
    return [f"groups by {name}" for name in names]


def positive_class(points: pd.DataFrame) -> str:
    """Return the class of label 1, ``hate speech``; of data that differ in it each with its names.
    Empty where the table does not name it.
    """
    data = (("source", "positive_class"), ("challenge", "challenge_positive_class"))
    names_by_class: dict[str, dict[str, None]] = {}
    for name, positive in (row for columns in data for row in text_rows(points, columns)):
        if positive:
            names_by_class.setdefault(positive, {})[name] = None
    if len(names_by_class) < 2:
        return "".join(names_by_class)
    return "; ".join(
        f"{positive} (of {', '.join(names)})" for positive, names in names_by_class.items()
    )


def describe_label(positive: str) -> str:
    """Return ``positive class: hate speech``."""
    return f"positive class: {positive}"


def label_sentences(points: pd.DataFrame) -> list[str]:
    """Return the positive class as a sentence for a caption, if it is known."""
    positive = positive_class(points)
    text = describe_label(positive)
    return [f"{text[0].upper()}{text[1:]}."] if positive else []


def query_titles(table: pd.DataFrame) -> list[str]:
    """Return for each row its query, ``WEAT 6b``, with its part where there are several."""
    return list(map(query_title, row_names(table, ("query", "part"), ", ")))


def query_title(query: str) -> str:
    """Return ``weat6b`` as ``WEAT 6b``, ``seat7`` as ``SEAT 7``."""
    return re.sub(r"^(weat|seat)(\d)", lambda match: f"{match[1].upper()} {match[2]}", query)


def score_titles(table: pd.DataFrame) -> list[str]:
    """Return for each row its query, ``WEAT 6b``, after its metric and convention where there are
    several.
    """
    has_several = len({*text_rows(table, ("metric", "convention"))}) > 1
    scores = row_names(table, ("metric", "convention")) if has_several else [""] * len(table)
    pairs = zip(map(_with_acronym, scores), query_titles(table), strict=True)
    # A query may begin with its metric: no SEAT SEAT 6b
    titles = [re.sub(r"^(\w+) (?=\1 )", "", " ".join(pair).strip()) for pair in pairs]
    return [re.sub(r"^(\w+) \1_", r"\1 ", title, flags=re.IGNORECASE) for title in titles]


def _with_acronym(score: str) -> str:
    """Return ``seat default`` as ``SEAT default``."""
    metric, _, remainder = score.partition(" ")
    return f"{metric.upper() if metric in _ACRONYMS else metric} {remainder}".strip()


def metric_title(metric: str, convention: str = "") -> str:
    """Return the axis title of a metric and convention: ``WEAT effect size (d)``."""
    title = _METRIC_TITLES.get(metric, f"{metric.upper()} score")
    return f"{title}, {convention}" if convention else title


def score_axis(metric: str, convention: str = "", query: str = "") -> str:
    """Return the axis title of the scores of a query: ``WEAT 6b effect size (d)``."""
    title = metric_title(metric, convention)
    if not query:
        return title
    if metric == "weat" and query.startswith("WEAT "):
        return title.replace("WEAT", query, 1)
    return f"{title}, {query}"


def gap_axis(gap: str, pairs: Iterable[str]) -> str:
    """Return the axis title of a gap: ``precision gap (above 0: worse for female)``."""
    worse = {pair.rpartition(" - ")[2] for pair in pairs}
    group = worse.pop() if len(worse) == 1 else ""
    return f"{gap} (above 0: worse for {group or 'the unprivileged group'})"


def measure_title(measure: str) -> str:
    """Return a measure in words: ``false positive rate``, ``F1``, ``equal odds``."""
    return _MEASURE_TITLES.get(measure, measure_name(measure))


def present_confirmatory(measures: Iterable[str], confirmatory: Sequence[str]) -> list[str]:
    """Return the confirmatory measures that are present; all measures if there is none."""
    present = dict.fromkeys(measures)
    return [name for name in confirmatory if name in present] or list(present)


# Whether the compared groups are those that the words of the scores are about.


def group_mismatch(about: str, groups: Collection[str]) -> str:
    """Return a warning where the words are about men and women and the groups are named otherwise;
    empty where a group is named as either gender, or by an opaque name.
    """
    group_names = [group for group in groups if group]
    words = {word for group in group_names for word in re.findall(r"[^\W\d_]+", group.lower())}
    unclear = any(len(re.sub(r"\W", "", group)) <= _MAX_OPAQUE_LENGTH for group in group_names)
    if about != GENDERS or not group_names or words & _GENDER_NAMES or unclear:
        return ""
    listed = ", ".join(sorted(group_names))
    return f"The words of the scores are about {about}, and the groups are {listed}."


def group_mismatch_of(points: pd.DataFrame, extrinsic: pd.DataFrame) -> str:
    """Return the warning of ``group_mismatch`` for the measured gaps of a sweep."""
    about = "; ".join(sorted({*as_text(points, "word_groups")}))
    gaps = extrinsic[extrinsic["kind"] == "gap"] if "kind" in extrinsic else extrinsic
    groups = {*as_text(gaps, "privileged"), *as_text(gaps, "unprivileged")} - {"", "rest", "none"}
    return group_mismatch(about, groups)

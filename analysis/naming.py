"""What a slice of the joined table is called: its columns, and what a reader is shown of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from analysis.frame import text_rows, texts

if TYPE_CHECKING:
    import pandas as pd

ALL = "all"
CONTROL = "none"
ORIGINAL = "unmodified"
SCORE = ("metric", "convention", "query", "part")
GROUPS = ("privileged", "unprivileged")
GAP = ("measure", "subset", *GROUPS)
SLICE_COLUMNS = ("task", "embedding", *SCORE, *GAP, "method")
POOLED_OVER = ("embedding", "query", "method")
KINDS = tuple(name for name in SLICE_COLUMNS if name not in POOLED_OVER)
FAMILY = ("task", "metric", "convention")  # what a table of slices is about
# A reader is shown these only where one thing has several of them: one metric several conventions.
DETAIL_OF = {
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
LEAST_COVERAGE = 0.8  # share of a text's tokens with a vector, below which a classifier sees little
ANNOTATION = "annotation"
SESOI = 0.3  # smallest correlation of interest, where an experiment declares no other
REVERSED = "less is more biased"  # of scores whose unbiased value is the upper end of their scale
METRIC_TITLES = {
    "weat": "WEAT effect size (d)",
    "seat": "SEAT effect size (d)",
    "lpbs": "LPBS (nats)",
    "pll": "Difference of pseudo-log-likelihoods (nats)",
}
ACRONYMS = ("seat", "ceat", "lpbs", "pll", "aul", "aula")
MEASURE_TITLES = {
    "f1": "F1",
    "auc": "AUC",
    "bpsn_auc": "BPSN AUC",
    "bnsp_auc": "BNSP AUC",
    "fpr": "false positive rate",
    "fnr": "false negative rate",
    "first": "ranked first",
    "stereotype_first": "stereotype ranked first",
}


def capital(text: str) -> str:
    """The text as a sentence begins."""
    return text[:1].upper() + text[1:]


def counted(number: int, noun: str) -> str:
    """``1 parent``, ``2 parents``: for nouns whose plural ends in s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def shown_values(table: pd.DataFrame, name: str) -> list[str]:
    """A column as a reader is shown it: a detail is left out where its thing has but one."""
    values = texts(table, name)
    if name not in DETAIL_OF:
        return values
    things = text_rows(table, DETAIL_OF[name])
    several: dict[tuple[str, ...], set[str]] = {}
    for thing, value in zip(things, values, strict=True):
        several.setdefault(thing, set()).add(value)
    return [
        value if len(several[thing]) > 1 else ""
        for thing, value in zip(things, values, strict=True)
    ]


def shown_columns(table: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Those of the columns in which a reader is shown anything."""
    return [name for name in columns if name not in DETAIL_OF or any(shown_values(table, name))]


def row_names(table: pd.DataFrame, columns: Iterable[str], separator: str = " ") -> list[str]:
    """For each row what a reader is shown of the columns, in one text."""
    rows = zip(*(shown_values(table, name) for name in columns), strict=True)
    return [separator.join(filter(None, row)) for row in rows]


def gap_titles(table: pd.DataFrame) -> list[str]:
    """For each row ``recall gap``; where its subset or groups vary ``recall gap, type1, male -
    other``.
    """
    pairs = zip(*(shown_values(table, name) for name in GROUPS), strict=True)
    groups = zip(map(any, pairs), group_pairs(table), strict=True)
    rows = zip(texts(table, "measure"), shown_values(table, "subset"), groups, strict=True)
    return [
        ", ".join(filter(None, (f"{measure_title(measure)} gap", subset, pair if vary else "")))
        for measure, subset, (vary, pair) in rows
    ]


def group_pairs(table: pd.DataFrame) -> list[str]:
    """For each row its groups as the difference they are: ``male - female``."""
    return [" - ".join(filter(None, pair)) for pair in text_rows(table, GROUPS)]


def taggers(group_by: Iterable[str]) -> list[str]:
    """Who tagged groups that nobody annotated: ``groups by tagger: ...``, each once."""
    return [f"groups by {each}" for each in dict.fromkeys(group_by) if each not in ("", ANNOTATION)]


def positive_class(points: pd.DataFrame) -> str:
    """What label 1 is, ``hate speech``: the class whose precision and recall are measured; of data
    that differ in it each with their names. Empty where the table does not say.
    """
    data = (("source", "positive_class"), ("challenge", "challenge_positive_class"))
    found: dict[str, dict[str, None]] = {}
    for name, positive in (row for columns in data for row in text_rows(points, columns)):
        if positive:
            found.setdefault(positive, {})[name] = None
    if len(found) < 2:
        return "".join(found)
    return "; ".join(f"{positive} (of {', '.join(names)})" for positive, names in found.items())


def describe_label(positive: str) -> str:
    """What label 1 is, for a reader."""
    return f"label 1, whose precision and recall are measured, is {positive}"


def label_sentences(points: pd.DataFrame) -> list[str]:
    """The same as a sentence, for a caption; none where the table does not say what it is."""
    positive = positive_class(points)
    text = describe_label(positive)
    return [f"{text[0].upper()}{text[1:]}."] if positive else []


def query_titles(table: pd.DataFrame) -> list[str]:
    """For each row its query, ``weat6b`` as ``WEAT 6b``, and where it has several parts its
    part.
    """
    return list(map(query_title, row_names(table, ("query", "part"), ", ")))


def query_title(query: str) -> str:
    """``weat6b`` as ``WEAT 6b``, ``seat7`` as ``SEAT 7``."""
    return re.sub(r"^(weat|seat)(\d)", lambda found: f"{found[1].upper()} {found[2]}", query)


def score_titles(table: pd.DataFrame) -> list[str]:
    """For each row its query, ``WEAT 6b``; after its metric and convention, where there are several
    metrics.
    """
    several = len({*texts(table, "metric")}) > 1
    scores = row_names(table, ("metric", "convention")) if several else [""] * len(table)
    pairs = zip(map(_with_acronym, scores), query_titles(table), strict=True)
    # A query may begin with its metric: no SEAT SEAT 6b
    return [re.sub(r"^(\w+) (?=\1 )", "", " ".join(each).strip()) for each in pairs]


def _with_acronym(score: str) -> str:
    """``seat default`` as ``SEAT default``."""
    metric, _, rest = score.partition(" ")
    return f"{metric.upper() if metric in ACRONYMS else metric} {rest}".strip()


def metric_title(metric: str, convention: str = "") -> str:
    """The axis title of a metric: ``WEAT effect size (d)``; with its convention where given."""
    title = METRIC_TITLES.get(metric, f"{metric.upper()} score")
    return f"{title}, {convention}" if convention else title


def score_axis(metric: str, convention: str = "", query: str = "") -> str:
    """The axis title of the scores of one query, ``WEAT 6b effect size (d)``; of several queries
    that of their metric.
    """
    title = metric_title(metric, convention)
    if not query:
        return title
    if metric == "weat" and query.startswith("WEAT "):
        return title.replace("WEAT", query, 1)
    return f"{title}, {query}"


def gap_axis(gap: str, pairs: Iterable[str]) -> str:
    """The axis title of a gap, ``precision gap (above 0: worse for female)``, from its title and
    its groups as ``group_pairs`` has them.
    """
    worse = {pair.rpartition(" - ")[2] for pair in pairs}
    return (
        f"{gap} (above 0: worse for {worse.pop() if len(worse) == 1 else 'the unprivileged group'})"
    )


def measure_title(measure: str) -> str:
    """A measure in words: ``false positive rate``, ``F1``, ``equal odds``."""
    return MEASURE_TITLES.get(measure, measure.replace("_", " "))


def confirmatory_of(measures: Iterable[str], confirmatory: Sequence[str]) -> list[str]:
    """Those of the confirmatory measures that there are, in their order; all measures where there
    is none of them.
    """
    found = dict.fromkeys(measures)
    return [name for name in confirmatory if name in found] or list(found)

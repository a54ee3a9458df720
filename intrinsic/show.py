"""The scores of an audit as lines for a terminal and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from rich import box
from rich.table import Table
from rich.text import Text

from files.terminal import open_console
from intrinsic.audit import as_row, rank_correlations, ranks
from intrinsic.likelihood.every import MODEL_METRICS
from intrinsic.metrics.every import METRICS

if TYPE_CHECKING:
    from rich.console import Console

    from intrinsic.audit import Audited
    from intrinsic.score import Score

FEWEST_FILES = 3  # that a rank correlation needs
# Flowers and insects, instruments and weapons: what everybody prefers, no bias against people
HARMLESS = ("weat1", "weat2", "seat1", "seat2")
LEVEL = 0.05


def print_summary(audited: Sequence[Audited], console: Console) -> None:
    """What WEAT finds, then every score that has a value, a line each."""
    print_headlines(audited, console)
    several = len({one.vectors for one in audited}) > 1
    known = [one for one in audited if not math.isnan(one.score.value)]
    bounds = any(math.isfinite(one.score.low) for one in known)
    conventions = {one.score.convention for one in known} - {"default"}
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("metric", "query", *["vectors"] * several):
        table.add_column(name, no_wrap=True)
    for name in ("value", *["95% interval"] * bounds, "no bias", "p", "found", "lost"):
        table.add_column(name, justify="right", no_wrap=True)
    if conventions:
        table.add_column("convention")
    if certified := any(one.certificate for one in known):
        table.add_column("certificate", no_wrap=True)
    shown = ""
    for one in known:
        score = one.score
        unbiased = "" if score.unbiased is None else f"{score.unbiased:g}"
        cells = [
            score.metric if score.metric != shown else "",
            f"{score.query} {score.part}".rstrip(),
        ]
        cells += [one.vectors] * several + [f"{score.value:.3f}"]
        known_ends = math.isfinite(score.low)
        cells += [f"{score.low:.3f}, {score.high:.3f}" if known_ends else ""] * bounds
        cells += [unbiased.replace("nan", ""), format_p(score), str(score.n_found)]
        cells += [str(score.n_lost), *[score.convention] * bool(conventions)]
        said = one.certificate.partition(":")[0]
        table.add_row(*cells, *[said] * certified)
        shown = score.metric
    open_console(width=max(console.width, 120), file=console.file).print(table)
    if without := len(audited) - len(known):
        of_models = all(one.score.metric in MODEL_METRICS for one in audited)
        total = f"{without} of {len(audited)} scores have no value"
        print_line(console, f"{total}: --verbose says why")
        reasons = {one.score.reason: one.score.metric for one in audited}
        for reason, metric in reasons.items() if of_models and not known else ():
            print_line(console, f"  {metric}: {reason}", "italic")


def print_headlines(audited: Sequence[Audited], console: Console) -> None:
    """What WEAT, or on a language model SEAT, finds in each file."""
    for name in dict.fromkeys(one.vectors for one in audited):
        print_line(console, _headline(name, [one for one in audited if one.vectors == name]))


def _headline(name: str, audited: Sequence[Audited]) -> str:
    """``x.vec: WEAT finds an association (p < .05) in 2 of 3 tests: weat7 1.86, weat6b 1.70``."""
    tests = {"weat", "seat"} & {one.score.metric for one in audited}
    test = "seat" if "seat" in tests else "weat"
    weat = [one.score for one in audited if one.score.metric == test and not one.score.part]
    weat = [score for score in weat if score.convention == weat[0].convention]
    social = [score for score in weat if score.query.partition("_")[0] not in HARMLESS]
    known = [score for score in social if not math.isnan(score.value)]
    if not known:
        return f"{name}: {len(audited)} scores"
    found = [score for score in known if score.p_value < LEVEL]
    count = f"{len(known)} test{'s' * (len(known) > 1)} of social bias"
    listed = ", ".join(
        f"{score.query} {score.value:.2f}" for score in sorted(found, key=lambda each: -each.value)
    )
    lacking = len(social) - len(known)
    more = f"; {lacking} more lack words" if lacking else ""
    which = f": {listed}" if listed else ""
    finds = f"{test.upper()} finds an association (p < .05) in {len(found)} of {count}"
    doubted = any(one.score.metric == test and not one.called_bias for one in audited)
    doubt = f"; not called bias, for {test.upper()} hardly moves with a planted one" * doubted
    return f"{name}: {finds}{which}{more}{doubt}"


def print_scores(audited: Sequence[Audited], console: Console, *, each: bool) -> None:
    """What each metric means, a line for each query and file, and, if asked, each single score;
    then why some have no value.
    """
    for name in dict.fromkeys(one.score.metric for one in audited):
        about = {**METRICS, **MODEL_METRICS}[name].about
        unbiased = "" if about.unbiased is None else f"unbiased: {about.unbiased:g}; "
        print_line(console, f"{name}: {about.title}", "bold")
        print_line(console, f"  {unbiased}{about.sign}", "dim")
        own = [one for one in audited if one.score.metric == name]
        table = pd.DataFrame([row for one in own for row in _rows(one, each=each)])
        empty = [name for name in table if (table[name] == "").all()]
        alone = ["vectors"] * (len({one.vectors for one in audited}) == 1)
        table = table.drop(columns=[*empty, *alone])
        table["query"] = table["query"].str.ljust(table["query"].str.len().max())
        for line in table.to_string(index=False).splitlines():
            print_line(console, f"  {line}".rstrip())
        reasons: dict[str, list[str]] = {}
        for one in own:
            of = " ".join(filter(None, (one.score.query, one.score.part, one.vectors)))
            reasons.setdefault(one.score.reason, []).append(of)
        for reason, scores in reasons.items():
            if reason:
                print_line(console, f"    {', '.join(scores)}: {reason}", "italic")
        console.print()
    lost = {word for one in audited if one.score.n_lost for word in one.score.lost.split(",")}
    if lost:
        what = f"{len(lost)} different words, pairs or rows"
        print_line(console, f"{what} were not found; --json and --csv name them")


def _rows(one: Audited, *, each: bool) -> Iterator[dict[str, str]]:
    """The cells of a score's line, and of the lines of its single scores."""
    score = one.score
    yield {
        "query": f"{score.query} {score.part}".rstrip(),
        "vectors": one.vectors,
        "value": f"{score.value:.4f}".replace("nan", "NaN"),
        "95% interval": f"{score.low:.4f}, {score.high:.4f}" if math.isfinite(score.low) else "",
        "p": format_p(score),
        "found": str(score.n_found),
        "lost": str(score.n_lost),
        "convention": score.convention,
        "certificate": one.certificate,
    }
    for word, value in one.each.items() if each else ():
        other = ("95% interval", "p", "found", "lost", "convention", "certificate")
        rest = dict.fromkeys(other, "")
        yield {"query": f"  {word}", "vectors": one.vectors, "value": f"{value:.4f}"} | rest


def print_line(console: Console, line: str, style: str = "") -> None:
    """A line as it is: not wrapped, no markup."""
    console.print(Text(line, style=style), soft_wrap=True)


def print_ranks(table: pd.DataFrame, console: Console) -> None:
    """The files ranked for each metric and query, and how the metrics agree."""
    ranked = ranks(table)
    if ranked.empty:
        console.print("no metric has a value for every file, so there is nothing to rank")
        return
    mean = ranked.mean().rename(("mean", f"{len(ranked)} rows", "")).to_frame().T
    print_line(console, "Rank of the files, 1: nearest to unbiased", "bold")
    _print_numbers(pd.concat([ranked, mean]), console, "{:.3g}")
    if ranked.shape[1] < FEWEST_FILES:
        console.print(f"(rank correlations between metrics need {FEWEST_FILES} files)")
        return
    files = f"{ranked.shape[1]} files"
    print_line(console, f"Spearman's correlation between metrics over {files}", "bold")
    _print_numbers(rank_correlations(ranked), console, "{:.2f}")


def _print_numbers(table: pd.DataFrame, console: Console, form: str) -> None:
    """A table with its names in front of the rows."""
    shown = Table("", box=box.SIMPLE, show_edge=False)
    for name in table.columns:
        shown.add_column(str(name), justify="right", overflow="fold")
    for name, row in zip(table.index, table.to_numpy().tolist(), strict=True):
        label = " ".join(filter(None, name)) if isinstance(name, tuple) else str(name)
        shown.add_row(label, *("" if math.isnan(value) else form.format(value) for value in row))
    console.print(shown)


def as_json(audited: Sequence[Audited]) -> str:
    """The rows as JSON, ``each`` with the single scores; NaN is null."""
    rows = [{**as_row(one), "each": dict(one.each)} for one in audited]
    known = [
        {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in row.items()
            if name != "resampled"
        }
        for row in rows
    ]
    return json.dumps(known, indent=1, ensure_ascii=False) + "\n"


def format_p(score: Score) -> str:
    """The p-value as short as it is known: its bounds where these differ in the digits shown."""
    if math.isnan(score.p_value):
        return ""
    low, high = f"{score.p_low:.2g}", f"{score.p_high:.2g}"
    return f"{score.p_value:.2g}" if low == high else f"{low}..{high}"

"""Tables on the terminal, as a rule within 100 columns, every estimate with its interval beside
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import pandas as pd
from rich.console import Console
from rich.measure import Measurement
from rich.segment import Segments
from rich.table import Table
from rich.text import Text

from analysis.evidence import EVIDENCE_COLUMNS
from analysis.join import told_apart
from analysis.pairs import RESULT_COLUMNS
from analysis.pooling import WITHIN_NOISE
from analysis.read import is_blank

NOTHING = "-"
NOT_SLICES = (*RESULT_COLUMNS, *EVIDENCE_COLUMNS, "p_holm", "p_bh", "verdict")
SCORES_SHOWN = 4
MEASURES_SHOWN = {"recall_gap": "recall gap", "precision_gap": "precision gap", "f1": "F1"}
OVERALL = ("", "all", "overall")
# Told only where they vary: names head a table of their own, numbers are a column.
HEADINGS = ("task", "source", "corpus", "wordset", "classifier")
SETTINGS = ("stereotype", "label_bias", "replicate")
LEFT = {"task", "embedding", "metric", "query", "gap", "method", "direction", "status", "note"}


def short(value: float, digits: int = 2) -> str:
    """A number that is rarely above 1, without its leading zero: ``.31``, ``-.09``, ``1.25``; ``-``
    when it is undefined.
    """
    if not isfinite(value):
        return NOTHING
    text = f"{value:.{digits}f}"
    text = text.removeprefix("-") if float(text) == 0 else text
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def interval(low: float, high: float) -> str:
    """``[-.09,.62]``, or nothing when a bound is undefined."""
    return f"[{short(low)},{short(high)}]" if isfinite(low) and isfinite(high) else ""


def estimate(value: float, low: float = float("nan"), high: float = float("nan")) -> str:
    """A number with its interval: ``.31 [-.09,.62]``."""
    return f"{short(value)} {interval(low, high)}".rstrip()


def p_value(p: float) -> str:
    """A p-value to four decimals: ``.0104``, ``<.0001``."""
    return "<.0001" if p < 1e-4 else short(p, 4)


def print_slices(result: pd.DataFrame, title: str, console: Console) -> None:
    """The rows of ``correlate``: the columns sliced by, n, r with its 95% interval, rho and tau,
    each with its p-value.
    """
    by = [str(name) for name in result.columns if name not in NOT_SLICES]
    rows = []
    for row in result.to_dict("records"):
        missing = f"{row['n_missing']} pairs missing" if row["n_missing"] else ""
        note = "; ".join(filter(None, (row["reason"], missing)))
        tau = {"tau": short(row["kendall"]), "p(tau)": p_value(row["kendall_p"])}
        rows.append({name: str(row[name]) for name in by} | _statistics(row) | tau | {"note": note})
    _print_table(title, rows, console, left={*by, "note"})


def print_evidence(result: pd.DataFrame, by: Sequence[str], console: Console) -> None:
    """What ``correlate`` found over units: r with its interval, permutation p, Holm's p, the least
    and largest r without one unit, how often the ranking is right, and the verdict."""
    rows = [
        {name: str(row[name]) for name in by} | _evidence(row) | {"note": row["caution"]}
        for row in result.to_dict("records")
    ]
    _print_table(
        "over units: r with its 95% interval", rows, console, left={*by, "verdict", "note"}
    )


def print_correlations(correlations: pd.DataFrame, console: Console) -> None:
    """The rows of ``correlate_slices`` over all methods, one table per task and metric; those of
    single methods stay in the file.
    """
    for (task, metric), block in correlations.groupby(["task", "metric"], sort=False):
        shown = block[block["method"] == "all"]
        rows = [
            {name: row[name] for name in ("embedding", "query", "gap")}
            | _evidence(row)
            | {"verdict": row["verdict"].partition(":")[0]}
            for row in shown.to_dict("records")
        ]
        stamp = ", generated data" if block["generated"].any() else ""
        _print_table(
            f"{task}, {metric}: all methods, r over units with its 95% interval{stamp}",
            rows,
            console,
            left=LEFT | {"verdict"},
        )
        telling = (shown["reversal"] != "") & ~shown["reversal"].str.endswith(WITHIN_NOISE)
        for row in shown[telling].to_dict("records"):
            text = f"{row['embedding']} {row['query']} {row['gap']}: {row['reversal']}"
            console.print(text, soft_wrap=True, highlight=False, markup=False)


def _evidence(row: dict) -> dict[str, str]:
    reach = f"{short(row['influence_low'])} to {short(row['influence_high'])}"
    return {
        "n": str(row["n"]),
        "units": str(int(row["n_units"])),
        "r": estimate(row["pearson"], row["r_low"], row["r_high"]),
        "p": p_value(row["r_p"]),
        "Holm": p_value(row["p_holm"]),
        "without one": reach if isfinite(row["influence_low"]) else NOTHING,
        "right pick": estimate(row["accuracy"], row["accuracy_low"], row["accuracy_high"]),
        "verdict": row["verdict"],
    }


def print_points(
    points: pd.DataFrame, intrinsic: pd.DataFrame, extrinsic: pd.DataFrame, console: Console
) -> None:
    """One row per done point: its intrinsic scores, its gaps and F1 with their intervals; one table
    per embedding; failed points last.
    """
    if {"metric", "query"} <= set(intrinsic.columns):
        intrinsic = intrinsic.assign(metric=told_apart(intrinsic, "metric", "convention"))
    found: dict[str, dict[str, str]] = {}
    for key, name, cell in (*_score_cells(intrinsic), *_measure_cells(extrinsic)):
        found.setdefault(key, {})[name] = cell
    named = {name for cells in found.values() for name in cells}
    names = [name for name in (*_score_names(intrinsic), *MEASURES_SHOWN.values()) if name in named]
    done = points["status"] == "done"
    stamp = ", generated data" if "generated" in points and points["generated"].any() else ""
    section, settings = (
        [name for name in told if _varies(points, name)] for told in (HEADINGS, SETTINGS)
    )
    made_from = ("method", "direction", "dose", *settings, "seed")
    for values, block in points[done].groupby([*section, "embedding"], sort=False, dropna=False):
        heading = ", ".join(
            [
                *(
                    f"{name} {_cell(value)}"
                    for name, value in zip(section, values[:-1], strict=True)
                ),
                str(values[-1]),
            ]
        )
        blank = dict.fromkeys(names, NOTHING)
        rows = [
            _cells(row, made_from) | blank | found.get(row["point"], {})
            for row in block.to_dict("records")
        ]
        _print_table(f"{heading}: {len(block)} points{stamp}", rows, console, left=LEFT, blanks=1)
        console.print()
    hidden = _score_names(intrinsic)[SCORES_SHOWN:]
    if hidden:
        console.print(
            f"not shown, but in the intrinsic table: {', '.join(hidden)}", highlight=False
        )
    console.print(f"{done.sum()} of {len(points)} points done", highlight=False)
    failed = [
        _cells(row, (*section, "embedding", *made_from, "status"))
        for row in points[~done].to_dict("records")
    ]
    if failed:
        _print_table("not done; the points table holds their errors", failed, console, left=LEFT)


def _statistics(row: dict) -> dict[str, str]:
    r = estimate(row["pearson"], row["pearson_low"], row["pearson_high"])
    rho = {"rho": short(row["spearman"]), "p(rho)": p_value(row["spearman_p"])}
    return {"n": str(row["n"]), "r": r, "p(r)": p_value(row["pearson_p"])} | rho


def _score_names(intrinsic: pd.DataFrame) -> list[str]:
    if not {"metric", "query"} <= set(intrinsic.columns):
        return []
    single = len(intrinsic["metric"].unique()) <= 1
    pairs = zip(intrinsic["metric"], intrinsic["query"], strict=True)
    return list(dict.fromkeys(query if single else f"{metric} {query}" for metric, query in pairs))


def _score_cells(intrinsic: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    shown = _score_names(intrinsic)[:SCORES_SHOWN]
    for row in intrinsic.to_dict("records") if shown else []:
        name = row["query"] if row["query"] in shown else f"{row['metric']} {row['query']}"
        if name in shown:
            yield row["point"], name, short(row["value"])


def _measure_cells(extrinsic: pd.DataFrame) -> Iterator[tuple[str, str, str]]:
    for row in extrinsic.to_dict("records") if "measure" in extrinsic else []:
        name = MEASURES_SHOWN.get(row["measure"])
        if name and (name != "F1" or str(row.get("group") or "") in OVERALL):
            yield (
                row["point"],
                name,
                estimate(row["value"], row.get("low", float("nan")), row.get("high", float("nan"))),
            )


def _varies(points: pd.DataFrame, name: str) -> bool:
    return name in points and len(points[name].unique()) > 1


def _cells(row: dict, names: Sequence[str]) -> dict[str, str]:
    return {name: _cell(row[name]) for name in names}


def _cell(value: object) -> str:
    if is_blank(value):
        return NOTHING
    return f"{value:g}" if isinstance(value, float) else str(value)


def _print_table(
    title: str, rows: Sequence[dict[str, str]], console: Console, *, left: set[str], blanks: int = 2
) -> None:
    table = Table(
        title=Text(title),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, blanks, 0, 0),
        header_style="bold",
    )
    names = list(rows[0]) if rows else []
    shown = [name for name in names if name != "note" or any(row["note"] for row in rows)]
    for name in shown:
        table.add_column(Text(name), justify="left" if name in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(row[name]) for name in shown))
    # At its own width even where the console is narrower: a number broken over two lines misleads,
    # and a pipe has no width.
    natural = Measurement.get(console, console.options.update(width=1000), table).maximum
    options = console.options.update(width=max(console.width, natural))
    console.print(Segments(console.render(table, options)), crop=False, end="")

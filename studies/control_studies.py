"""Studies drawn from a large one with a planted link: how often each verdict is reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from biasbridge.analysis.charts import GREY, Drawing, finish, intervals, rule_at, shades
from biasbridge.analysis.joined import join_points, origins, rows_of
from biasbridge.analysis.naming import CONTROL, STAMP, query_title
from biasbridge.analysis.slices import measure_slice
from biasbridge.analysis.tables import as_float, as_text, text_rows
from biasbridge.analysis.verdict import AT_MOST, FALLS, RISES, VERDICTS, judge
from biasbridge.stats.intervals import proportion_estimate
from biasbridge.studies.conclusion import row_dicts

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.analysis.observations import Rows
    from biasbridge.analysis.slices import SliceResult
    from biasbridge.analysis.tables import Tables
    from biasbridge.stats.arrays import Floats

_PLANTED = "planted stereotype"
_SIZE_COLUMNS = ("posts", "documents")  # number of training texts of a task
_FEWEST_STUDIES = 2  # without a common seed: a smaller study has at most 1 / 2 of all seeds
StudyRow = dict[str, object]
_PERMUTATIONS_OF_PARTS = 1_999  # in smaller studies
_WRONG_WITHOUT_LINK = (RISES, FALLS)
_WRONG_WITH_LINK = (FALLS, AT_MOST)
_LINKED, _UNRELATED = "words of the link", "unrelated words"


@dataclass(frozen=True)
class ControlDesign:
    """Rows of one study.

    ``transmission``: strength of the planted link. ``n_learned``: posts or documents learned from.
    ``difference``: how embeddings differ, ``planted stereotype`` or a method. ``slices`` and
    ``seeds`` are by measure and query; ``controls``: queries unrelated to the task.
    """

    transmission: float
    size_column: str
    n_learned: int
    difference: str
    slices: dict[tuple[str, str], Rows]
    seeds: dict[tuple[str, str], Floats]
    controls: Sequence[str]

    def names(self, key: tuple[str, str]) -> StudyRow:
        """Return the columns that name a slice."""
        gap_measure, query = key
        return {
            "difference": self.difference,
            "transmission": self.transmission,
            self.size_column: self.n_learned,
            "measure": gap_measure,
            "query": query,
            "control": query in self.controls,
        }

    def is_linked(self, key: tuple[str, str]) -> bool:
        """Test whether a link between score and gap is planted in a slice."""
        return self.transmission > 0 and key[1] not in self.controls


def designs(
    tables: Tables, confirmatory: Sequence[str], controls: Sequence[str]
) -> Iterator[ControlDesign]:
    """Yield every design with two embeddings or more, for gaps of the ``confirmatory`` measures."""
    joined = join_points(tables)
    joined = joined[joined["measure"].isin(confirmatory)]
    size_column = _find_size_column(joined)
    for _, group in joined.groupby(["transmission", size_column], sort=False):
        method = np.array(as_text(group, "method"))
        modified = list(dict.fromkeys(method[method != CONTROL].tolist()))
        for difference in (_PLANTED, *modified):
            rows = group[(method == CONTROL) | (method == difference)]
            if difference != _PLANTED:
                parents = set(rows.loc[rows["method"] == difference, "parent"])
                rows = rows[rows["parent"].isin(parents)]
            slices = [part for _, part in rows.groupby(["measure", "query"], sort=False)]
            if len(rows) > 1:
                yield ControlDesign(
                    as_float(rows, "transmission")[0].item(),
                    size_column,
                    int(as_float(rows, size_column)[0].item()),
                    difference,
                    {_slice_key(part): _slice_rows(part, difference) for part in slices},
                    {_slice_key(part): as_float(part, "seed") for part in slices},
                    controls,
                )


def _find_size_column(table: pd.DataFrame) -> str:
    """Return the column with the number of posts or documents that were learned from."""
    return next(name for name in _SIZE_COLUMNS if name in table)


def _slice_key(part: pd.DataFrame) -> tuple[str, str]:
    return as_text(part, "measure")[0], as_text(part, "query")[0]


def _slice_rows(part: pd.DataFrame, difference: str) -> Rows:
    """Return a slice's rows, without conditions: what the models of a seed show is asked, not what
    other doses would. Where stereotypes are planted, a seed counts as a parent, for its embeddings
    share the biases of the unplanted corpus and the training texts.
    """
    rows = rows_of(part)
    rows = rows._replace(condition=np.full(len(rows.x), ""))
    if difference != _PLANTED:
        return rows
    parents, clusters = text_rows(part, ("embedding", "seed")), as_text(part, "seed")
    return rows._replace(
        model=np.array(origins(part)["model"], dtype=str),
        parent=np.array([" ".join(parent) for parent in parents], dtype=str),
        cluster=np.array(clusters, dtype=str),
    )


def whole_study(design: ControlDesign) -> list[StudyRow]:
    """Return one row per slice: r_rm, its interval, p and verdict of all embeddings."""
    findings = _judge_slices(design, list(design.slices.values()))
    return [
        design.names(key)
        | {
            "is_linked": design.is_linked(key),
            "embeddings": finding.n,
            "seeds": len(np.unique(design.seeds[key])),
            "r_rm": finding.within.r,
            "low": finding.within.low,
            "high": finding.within.high,
            "change": finding.change.value,
            "p_holm": finding.p_holm,
            "verdict": finding.verdict,
        }
        for key, finding in zip(design.slices, findings, strict=True)
    ]


def smaller_studies(
    design: ControlDesign, draws: int, sizes: Sequence[int], *, disjoint: bool = False
) -> list[StudyRow]:
    """Estimate how often smaller studies reach each verdict, and a wrong one, per slice and size.

    Seeds are drawn without replacement within a study. Studies of m of n seeds share seeds, but the
    share over all of them varies no more than that over the n / m, rounded down, studies without a
    common seed (Hoeffding, 1963): intervals are Wilson's for this number. ``sizes`` above half of
    all seeds are left out; ``disjoint`` uses only studies without a common seed, not ``draws``.
    """
    all_seeds = np.unique(np.concatenate(list(design.seeds.values())))
    rng = np.random.default_rng(0)
    rows: list[StudyRow] = []
    for size in sizes:
        if size * _FEWEST_STUDIES > len(all_seeds):
            continue
        n_disjoint = len(all_seeds) // size
        if disjoint:
            samples = rng.permutation(all_seeds)[: n_disjoint * size].reshape(n_disjoint, size)
        else:
            samples = np.array([rng.permutation(all_seeds)[:size] for _ in range(draws)])
        studies = [_sample_verdicts(design, seeds) for seeds in samples]
        n_embeddings = studies[0][1]
        verdicts = np.array([study_verdicts for study_verdicts, _ in studies])  # (draws, slices)
        for column, key in enumerate(design.slices):
            is_linked = design.is_linked(key)
            row: StudyRow = design.names(key) | {"is_linked": is_linked, "seeds": size}
            row |= {"embeddings": n_embeddings, "studies": len(samples), "n_disjoint": n_disjoint}
            wrong = _WRONG_WITH_LINK if is_linked else _WRONG_WITHOUT_LINK
            counted = {verdict: (verdict,) for verdict in VERDICTS} | {"wrong": wrong}
            for name, counted_verdicts in counted.items():
                share = float(np.isin(verdicts[:, column], counted_verdicts).mean())
                share, low, high = proportion_estimate(share * n_disjoint, n_disjoint)
                row |= {name: share, f"{name}_low": low, f"{name}_high": high}
            rows.append(row)
    return rows


def _sample_verdicts(design: ControlDesign, seeds: Floats) -> tuple[list[str], int]:
    """Return the verdict on each slice of some seeds, and the number of embeddings."""
    slices = [
        rows.at(np.flatnonzero(np.isin(design.seeds[key], seeds)))
        for key, rows in design.slices.items()
    ]
    findings = _judge_slices(design, slices, _PERMUTATIONS_OF_PARTS)
    return [finding.verdict for finding in findings], max(finding.n for finding in findings)


def _judge_slices(
    design: ControlDesign, slices: Sequence[Rows], permutations: int = 9_999
) -> list[SliceResult]:
    """Compute verdicts; controls are adjusted among themselves, as if a study declares them."""
    findings = [
        measure_slice(rows, {"slice": str(i)}, full=True, permutations=permutations)._replace(
            confirmatory=True
        )
        for i, rows in enumerate(slices)
    ]
    is_control = [query in design.controls for _, query in design.slices]
    judged: dict[int, SliceResult] = {}
    for family in (False, True):
        members = [i for i, control in enumerate(is_control) if control == family]
        judged |= dict(zip(members, judge([findings[i] for i in members]), strict=True))
    return [judged[i] for i in range(len(findings))]


def control_charts(whole: pd.DataFrame, smaller: pd.DataFrame) -> dict[str, Drawing]:
    """Draw ``control_r`` of the whole study and ``control_power`` of smaller studies, if any."""
    drawings = {"control_r": _r_chart(whole)}
    return drawings | ({"control_power": _power_chart(smaller)} if len(smaller) else {})


def _r_chart(whole: pd.DataFrame) -> Drawing:
    """Draw r and its interval by query, one panel for each way in which embeddings differ."""
    links, queries = _link_labels(whole), list(map(query_title, whole["query"]))
    query = alt.Y("query:N", title=None, sort=None)
    base = alt.Chart().encode(query, **_link_encoding(whole, "yOffset"))
    scale = alt.Scale(domain=[-1, 1])
    layers = [
        rule_at(0),
        *intervals(base, "r_rm", size=40, title="r_rm, 95% interval", scale=scale),
    ]
    chart = (
        alt.layer(*layers)
        .properties(width=240, height=alt.Step(9))
        .facet(
            column=alt.Column("difference:N", title=None, sort=None),
            data=whole.assign(link=links, query=queries),
        )
    )
    return finish(chart, "r_rm with words of the planted link and with unrelated ones", [STAMP])


def _power_chart(smaller: pd.DataFrame) -> Drawing:
    """Draw how often studies find a link, by number of embeddings, one line per query.

    Rows: words of the link, unrelated words. Columns: ways in which embeddings differ.
    """
    links = _link_labels(smaller)
    x = alt.X("embeddings:O", title="embeddings").axis(labelAngle=0, grid=False)
    base = alt.Chart().encode(x, **_link_encoding(smaller, "xOffset"))

    def share(field: str) -> alt.Y:
        y = alt.Y(f"{field}:Q", title="studies that find the link", scale=alt.Scale(domain=[0, 1]))
        return y.axis(format="%", tickCount=3)

    layers = [
        base.mark_rule(opacity=0.25).encode(share(f"{RISES}_low"), alt.Y2(f"{RISES}_high")),
        base.mark_line(point={"size": 25}, strokeWidth=1).encode(
            share(RISES), alt.Detail("query:N")
        ),
    ]
    words = [_UNRELATED if is_control else _LINKED for is_control in smaller["control"]]
    chart = (
        alt.layer(*layers)
        .properties(width=alt.Step(34, **{"for": "position"}), height=120)
        .facet(
            row=alt.Row("words:N", title=None, sort=[_LINKED, _UNRELATED]),
            column=alt.Column("difference:N", title=None, sort=None),
            data=smaller.assign(link=links, words=words),
        )
        .resolve_scale(x="independent", xOffset="independent")
    )
    title = "Share of studies that find the link, by embeddings and strength"
    return finish(chart, title, [STAMP])


def _link_labels(table: pd.DataFrame) -> list[str]:
    """Label each row by transmission, ``0.25``, and the number of texts if below the maximum."""
    unit = _find_size_column(table)
    maximum = table[unit].max()
    return [
        f"{row['transmission']:g}" + (f" ({row[unit]} {unit})" if row[unit] < maximum else "")
        for row in row_dicts(table)
    ]


def _link_encoding(table: pd.DataFrame, offset: str) -> dict[str, Any]:
    """Encode the link by position and colour: grey for none, darker the stronger it is."""
    by_strength = table.sort_values(["transmission", _find_size_column(table)])
    names = list(dict.fromkeys(_link_labels(by_strength)))
    linked = [name for name in names if name != "0"]
    colours = dict(zip(linked, shades(len(linked)), strict=True))
    scale = alt.Scale(domain=names, range=[colours.get(name, GREY) for name in names])
    channel = {"xOffset": alt.XOffset, "yOffset": alt.YOffset}[offset]
    color = alt.Color("link:N", scale=scale, title="transmission", sort=names)
    return {offset: channel("link:N", sort=names), "color": color}

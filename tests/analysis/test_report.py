"""The report: its numbers are the tables', it asks nothing of a network, and it says what it is
made of.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.coefficients import Coefficients
from analysis.correlate import correlate_slices
from analysis.evidence import Evidence
from analysis.findings import Finding, Marks
from analysis.joined import join_points
from analysis.look import PALETTE
from analysis.naming import SLICE_COLUMNS, Declared
from analysis.pooling import meta_analysis
from analysis.report import build_report
from analysis.report.__main__ import main
from analysis.report.answer import answer
from analysis.report.page_data import dose_curves, pooled_rows
from analysis.report.tex import correlations_tex
from analysis.results import Tables, write_tables
from analysis.verdict import Judgement
from files import InputError


@dataclass(frozen=True)
class Page:
    """A page as written, and the data in it."""

    folder: Path
    text: str

    @property
    def data(self) -> dict[str, Any]:
        found = re.search(
            r'<script type="application/json" id="data">(.*?)</script>', self.text, re.DOTALL
        )
        assert found
        return dict(json.loads(found[1]))


def build(folder: Path, tables: Tables, found: list[Finding] | None = None) -> Page:
    """The report of some tables."""
    joined = join_points(tables)
    target, _ = build_report(folder, tables, joined, found or correlate_slices(joined))
    return Page(folder, target.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(
    tmp_path_factory: pytest.TempPathFactory, module_tables: Tables, findings: list[Finding]
) -> Page:
    return build(tmp_path_factory.mktemp("results"), module_tables, findings)


def same(ours: list[Any], table: pd.Series) -> bool:
    theirs = [
        None if isinstance(value, float) and not math.isfinite(value) else value
        for value in table.tolist()
    ]
    return ours == theirs


def test_every_number_is_the_tables(
    page: Page, module_tables: Tables, slices: pd.DataFrame
) -> None:
    joined = join_points(module_tables).query("status == 'done'")
    rows = page.data["rows"]
    for column in ("x", "y", "y_low", "y_high", "metric", "query"):
        assert same(rows[column], joined[column]), column
    named = [page.data["points"][place]["point"] for place in rows["p"]]
    assert named == joined["point"].tolist()
    ours = pd.DataFrame(page.data["correlations"])
    assert len(ours) == len(slices)
    for column in (
        *("n", "within", "within_low", "within_high", "within_p", "p_adjusted", "detectable"),
        *("pearson", "r_low", "r_high", "accuracy", "family"),
    ):
        assert pd.to_numeric(ours[column]).to_numpy() == pytest.approx(
            slices[column].to_numpy(), nan_ok=True
        ), column
    for column in ("embedding", "query", "method", "role", "verdict", "why", "missing", "n_units"):
        assert ours[column].tolist() == slices[column].tolist()
    assert ours["gap"].tolist() == [f"{measure} gap" for measure in slices["measure"]]
    assert page.data["primary"] == ["recall gap", "precision gap"]


def test_nothing_is_asked_of_a_network(page: Page) -> None:
    without_data = re.sub(r"<script.*?</script>", "", page.text, flags=re.DOTALL)
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", without_data)
    assert "@import" not in page.text
    assert re.search(r"Content-Security-Policy\" content=\"default-src 'none'", page.text)
    assert '<link rel="stylesheet"' not in page.text


def test_generated_data_are_stamped_and_real_ones_are_not(
    page: Page, module_tables: Tables, tmp_path: Path
) -> None:
    assert 'class="banner"' in page.text
    points = module_tables.points.assign(generated=False)
    real = build(tmp_path, module_tables._replace(points=points))
    assert 'class="banner"' not in real.text
    assert "Generated" not in (tmp_path / "correlations.tex").read_text(encoding="utf-8")
    assert "Generated" in (page.folder / "correlations.tex").read_text(encoding="utf-8")


def test_the_command_makes_page_tables_and_figures(
    module_tables: Tables, page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tables(tmp_path, module_tables)
    assert main([str(tmp_path), "--out", str(tmp_path / "sent" / "page.html")]) == 0
    printed = capsys.readouterr().out.split()
    assert all(Path(path).is_file() for path in printed)
    assert {path.suffix for path in (tmp_path / "sent" / "figures").iterdir()} == {
        ".svg",
        ".png",
        ".pdf",
        ".csv",
    }
    text = (tmp_path / "sent" / "page.html").read_text(encoding="utf-8")
    assert Page(tmp_path, text).data == page.data
    assert (tmp_path / "sent" / "correlations.tex").is_file()


def test_every_figure_has_a_text_in_its_place(page: Page) -> None:
    figures = re.findall(r'<figure role="img" aria-labelledby="([\w-]+)">', page.text)
    assert len(figures) == 7
    for name in figures:
        caption = re.search(rf'<figcaption id="{name}">(.+?)</figcaption>', page.text)
        assert caption
        assert len(caption[1]) > 30


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


INKS = [
    ("#1c1c1c", "#ffffff"),
    ("#555555", "#ffffff"),
    ("#5a3100", "#fff4e0"),
    ("#00603c", "#ffffff"),
    ("#a03000", "#ffffff"),
]


@pytest.mark.parametrize(("ink", "paper"), INKS)
def test_text_can_be_read(ink: str, paper: str, page: Page) -> None:
    assert contrast(ink, paper) >= 4.5
    short = "#" + ink[1::2] if ink[1::2] == ink[2::2] else ink
    assert ink in page.text or short in page.text


def test_marks_can_be_told_from_the_paper() -> None:
    # The sixth and seventh colours are paler; shapes and panels tell methods apart besides.
    assert all(contrast(colour, "#ffffff") >= 2.2 for colour in PALETTE[:5])


def test_the_curves_have_the_unmodified_embedding_at_dose_0_of_every_method(
    module_tables: Tables,
) -> None:
    curves = pd.DataFrame(dose_curves(module_tables, "f1"))
    weat = curves[(curves["what"] == "weat weat7") & (curves["embedding"] == "word2vec")]
    found = {
        method: sorted(zip(part["dose"], part["value"], strict=True))
        for method, part in weat.groupby("method")
    }
    assert found == {
        "balance": [(-1, -1), (0, 0), (0.5, 0.5)],
        "attract_repel": [(-0.5, -0.5), (0, 0), (1, 1)],
    }
    assert set(curves["kind"]) == {"score", "gap", "utility"}
    assert (curves.loc[curves["what"] == "F1 of the task", "value"] == 0.7).all()


def test_methods_without_a_dose_have_no_curves(module_tables: Tables) -> None:
    points = module_tables.points.drop(columns=["dose", "direction"])
    curves = dose_curves(module_tables._replace(points=points), "f1")
    assert all(not values for values in curves.values())


def test_embeddings_are_pooled_from_four_on(findings: list[Finding]) -> None:
    few = {row["reason"] for row in pooled_rows(findings)}
    assert few == {"0 slices with an error, fewer than 4"}, "no score varies"
    known = Evidence(22, free=20, within_error=0.2)
    r = {"a": 0.1, "b": 0.2, "c": 0.5, "d": 0.6, "all": 0.3}
    found = [
        each._replace(
            names={**each.names, "embedding": name}, evidence=known._replace(within=value)
        )
        for each in findings
        if each.names["embedding"] == "all"
        for name, value in r.items()
    ]
    rows = pooled_rows(found)
    gaps = ("precision gap", "recall gap")
    assert sorted((str(row["query"]), str(row["gap"])) for row in rows) == [
        (query, gap) for query in ("weat7", "weat8") for gap in gaps
    ]
    expected = meta_analysis(np.arctanh([0.1, 0.2, 0.5, 0.6]), 0.04 * np.eye(4))
    for row in rows:
        assert (row["n_units"], row["metric"]) == (22, "weat")
        told = {name: row[name] for name in expected._fields}
        assert told == pytest.approx(expected._asdict())


def test_a_gap_tells_the_values_of_its_groups_whatever_they_are_called(
    module_tables: Tables, tmp_path: Path
) -> None:
    gaps = module_tables.extrinsic.query("kind == 'gap' and measure == 'recall'")
    gaps = gaps.assign(privileged="cis-male", unprivileged="non-binary")
    values = [
        gaps.assign(kind="value", privileged="", unprivileged="", group=group, value=value)
        for group, value in (("cis-male", 0.7), ("male", 0.6), ("non-binary", 0.5), ("binary", 0.4))
    ]
    values = [part.assign(low=part["value"] - 0.1, high=part["value"] + 0.1) for part in values]
    page = build(tmp_path, module_tables._replace(extrinsic=pd.concat([gaps, *values])))
    assert set(page.data["rows"]["groups"]) == {"cis-male - non-binary"}
    assert set(page.data["rows"]["by_group"]) == {
        "cis-male .70 [.60,.80]; non-binary .50 [.40,.60]"
    }


def test_tagged_groups_and_saturated_methods_are_told(tables: Tables, tmp_path: Path) -> None:
    told = "Which group an item is about: tagger: &lt;words&gt;"
    scores = tables.intrinsic.assign(least=-2.0, most=2.0, unbiased=0.0)
    scores.loc[scores["point"].str.contains("attract_repel overbias"), "value"] = -1.9
    tables = Tables(tables.points, scores, tables.extrinsic.assign(group_by="tagger: <words>"))
    joined = join_points(tables)
    page, tex = build_report(tmp_path, tables, joined, correlate_slices(joined))
    text = page.read_text(encoding="utf-8")
    assert told in text
    assert "shows nothing: 4 of 4 scores of weat after attract_repel, overbias, dose 1." in text
    assert "% groups by tagger: <words>" in tex.read_text(encoding="utf-8")


def test_the_answer_counts_what_was_declared(module_tables: Tables) -> None:
    joined = join_points(module_tables)
    # Two queries, over all embeddings and methods
    for declared, slices in (
        (Declared(), 4),
        (Declared(["recall"]), 2),
        (Declared(["recall", "f1"]), 2),
        (Declared(["equal_odds"]), 4),
        (Declared(["recall"], queries=["weat7"], embeddings=["word2vec"]), 1),
    ):
        told = answer(correlate_slices(joined, declared))[0]
        assert told.startswith("Undecided: "), "ten points on a line are too few"
        number = f"any of {slices} primary slices" if slices > 1 else "the primary slice"
        assert told.endswith(f"in {number}."), declared


def test_the_answer_counts_verdicts_of_primary_slices(findings: list[Finding]) -> None:
    verdicts = [*(["supports"] * 4), *(["contradicts"] * 3), "negligible", "negligible"]
    found = [
        findings[0]._replace(evidence=Evidence(12, 3), judgement=Judgement(role, verdict=verdict))
        for role in ("primary", "exploratory")
        for verdict in [*verdicts, "cannot tell"]
    ]
    assert answer(found) == [
        "It depends: of 10 primary slices 4 support that the gap follows the score when an"
        " embedding is modified, 3 contradict it, 2 find it negligible and 1 cannot tell.",
        "Of others nothing is known: 3 bases are too few.",
        "A slice is a query and a gap, over at most 12 embeddings made from 3 unmodified ones.",
    ]
    doubtful = found[0].evidence._replace(
        across_low=-0.1, across_high=0.5, n_arms=9, arms_low=0.1, arms_high=0.6
    )
    assert answer([found[0]._replace(evidence=doubtful)])[1] == (
        "For other bases than these it may be 0, in 1 of 1."
    )
    plain = found[0]._replace(evidence=Evidence(20, 20, 4))
    assert answer([plain]) == [
        "Yes: the gap follows the score, in the primary slice.",
        "Of others nothing is known: 4 seeds are too few.",
        "A slice is a query and a gap, over at most 20 unmodified embeddings, or corpora where"
        " algorithms share these.",
    ]
    once = Evidence(12, 6, 6, n_arms=1, across_low=0.1, across_high=0.5)
    assert answer([found[0]._replace(evidence=once)])[1] == (
        "Of others nothing is known: 1 modification is too few."
    )


@pytest.mark.parametrize(
    ("verdict", "told"),
    [
        ("supports", "Yes: the gap follows the score when an embedding is modified, in all 2"),
        ("contradicts", "The other way round: where the score says less bias the gap is larger"),
        ("negligible", "No: if the gap follows the score"),
        ("cannot tell", "Undecided: these runs cannot tell"),
    ],
)
def test_one_answer_of_all_slices(verdict: str, told: str, findings: list[Finding]) -> None:
    found = [
        findings[0]._replace(
            evidence=Evidence(12, 3, accuracy=accuracy),
            judgement=Judgement("primary", verdict=verdict),
        )
        for accuracy in (0.52, 0.61)
    ]
    first, *_, last = answer(found)
    assert first.startswith(told)
    assert "52 to 61% of pairs; a coin has 50%" in last
    assert last.endswith("answers for these words and test items alone.")
    assert "61% of pairs" in answer(found[1:])[-1]
    assert answer([]) == ["Undecided: no slice was primary."]


def test_conventions_parts_and_groups_are_told_where_they_vary(
    page: Page, module_tables: Tables, tmp_path: Path
) -> None:
    assert set(page.data["rows"]["metric"]) == {"weat"}
    assert set(page.data["rows"]["gap"]) == {"precision gap", "recall gap"}
    other = module_tables.intrinsic.assign(convention="caliskan")
    parts = [module_tables.intrinsic.assign(metric="sembias", part=part) for part in ("a", "b")]
    recall = module_tables.extrinsic.query("kind == 'gap' and measure == 'recall'")
    tables = Tables(
        module_tables.points,
        pd.concat([module_tables.intrinsic, other, *parts]),
        pd.concat([module_tables.extrinsic, recall.assign(unprivileged="non-binary")]),
    )
    data = build(tmp_path, tables).data
    assert set(data["rows"]["metric"]) == {"weat, default", "weat, caliskan", "sembias"}
    assert set(data["rows"]["query"]) == {
        *("weat7", "weat8"),
        *(f"{query}, {part}" for query in ("weat7", "weat8") for part in ("a", "b")),
    }
    gaps = {"precision gap", "recall gap, male - female", "recall gap, male - non-binary"}
    assert set(data["rows"]["gap"]) == gaps
    assert {row["gap"] for row in data["correlations"]} == gaps
    assert set(data["primary"]) == gaps
    assert {(row["metric"], row["query"]) for row in data["pooled"]} == {
        (metric, query)
        for metric, query in zip(data["rows"]["metric"], data["rows"]["query"], strict=True)
    }
    assert {row["gap"] for row in data["pooled"]} == gaps
    assert set(data["curves"]["what"]) >= {"weat caliskan weat7", "sembias weat7 a"}


def test_latex_reads_no_command_in_a_name(page: Page) -> None:
    tex = (page.folder / "correlations.tex").read_text(encoding="utf-8")
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") == 1
    assert r"\emph{recall gap}" in tex
    body = [line for line in tex.splitlines() if line.endswith(r"\\") and "&" in line]
    assert all(len(re.findall(r"(?<!\\)&", line)) == 8 for line in body)
    names = dict.fromkeys(SLICE_COLUMNS, "") | {
        "measure": "a%b",
        "method": "all",
        "metric": r"m{\x}",
        "embedding": "e&f",
        "query": "q#$",
    }
    written = correlations_tex(
        [Finding(names, Coefficients(3, 0), Evidence(3), marks=Marks(False, False))]
    )
    assert r"\emph{a\%b gap}" in written
    assert (
        r"m\{\textbackslash{}x\} & e\&f & q\#\$ & 3 & 3 & -- & -- & -- & (cannot tell)" in written
    )


def test_a_name_cannot_end_the_script_or_the_page(module_tables: Tables, tmp_path: Path) -> None:
    points = module_tables.points
    evil = "</script><img src=x onerror=alert(1)>"
    points = points.assign(experiment=evil, embedding=points["embedding"].replace("word2vec", evil))
    assert evil not in build(tmp_path, module_tables._replace(points=points)).text


def test_what_cannot_be_reported_is_refused(module_tables: Tables, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such"):
        main([str(tmp_path / "nowhere")])
    write_tables(tmp_path, module_tables._replace(extrinsic=module_tables.extrinsic[:0]))
    with pytest.raises(InputError, match="run the experiment first"):
        main([str(tmp_path)])
    assert not (tmp_path / "report.html").exists()


def large(points: int, seed: int = 0) -> Tables:
    """Made-up tables of so many points, three queries and three gaps."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    scores: list[dict[str, Any]] = []
    gaps: list[dict[str, Any]] = []
    for number in range(points):
        key, method = f"{number:016x}", ("none", "balance", "attract_repel")[number % 3]
        made = {
            "embedding": ("word2vec", "fasttext")[number // 6 % 2],
            "method": method,
            "seed": number // 50,
            "corpus": "c",
            "source": "s",
        }
        made |= {
            "direction": "" if method == "none" else ("debias", "overbias")[number // 3 % 2],
            "wordset": "w",
            "generated": True,
        }
        dose = 0.0 if method == "none" else (0.25, 0.5, 1.0)[number // 12 % 3]
        rows.append(
            {
                "point": key,
                "experiment": "large",
                **made,
                "dose": dose,
                "status": "done",
                "error": "",
            }
        )
        for query, value in zip(
            ("weat6b", "weat7", "weat8"), rng.normal(size=3).tolist(), strict=True
        ):
            of = {
                "metric": "weat",
                "query": query,
                "value": value,
                "low": value - 0.3,
                "high": value + 0.3,
            }
            scores.append({"point": key, **of, "unbiased": 0.0, "reason": ""})
        for measure, value in zip(
            ("precision", "recall", "f1"), (0.1 * rng.normal(size=3)).tolist(), strict=True
        ):
            of = {
                "kind": "gap",
                "measure": measure,
                "group": "",
                "privileged": "m",
                "unprivileged": "f",
                "value": value,
                "low": value - 0.1,
                "high": value + 0.1,
            }
            gaps.append({"point": key, "task": "t", **of, "support": 50, "reason": ""})
    return Tables(pd.DataFrame(rows), pd.DataFrame(scores), pd.DataFrame(gaps))


@pytest.mark.slow
def test_a_thousand_points_fit_in_five_megabytes(tmp_path: Path) -> None:
    # A report takes whatever correlations it is given
    few = correlate_slices(join_points(large(30)))
    assert len(build(tmp_path, large(1_000), few).text.encode()) < 5_000_000


def test_a_page_that_is_too_large_leaves_out_what_only_the_pointer_is_told(
    module_tables: Tables,
    findings: list[Finding],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = len(build(tmp_path, module_tables, findings).text.encode())
    monkeypatch.setattr("analysis.report.page.MOST_BYTES", whole - 1)
    smaller = build(tmp_path, module_tables, findings).data
    assert "by_group" not in {*smaller["rows"], *smaller["gaps"]}
    monkeypatch.setattr("analysis.report.page.MOST_BYTES", whole // 2)
    with pytest.raises(InputError, match="more than 5: give the results of fewer points"):
        build(tmp_path, module_tables, findings)


def test_words_from_the_task_are_told_and_escaped(
    tmp_path: Path, tables: Tables, findings: list[Finding]
) -> None:
    rows = [("p1", "from_task", "X", "male", word) for word in ("he", "<b>")]
    words = pd.DataFrame(rows, columns=["point", "query", "role", "stands_for", "word"])
    plain, told = (
        build_report(tmp_path, each, join_points(tables), findings)[0].read_text(encoding="utf-8")
        for each in (tables, tables._replace(words=words))
    )
    assert "from_task" not in plain
    assert "<pre>from_task, X (male), 1 point: he, &lt;b&gt;</pre>" in told

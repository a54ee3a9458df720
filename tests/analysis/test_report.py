"""The report: its numbers are the tables', it asks nothing of a network, and it says what it is
made of.
"""

from __future__ import annotations

import html
import io
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from biasbridge.analysis.answer import correlations_tex, print_answer, study_answer
from biasbridge.analysis.correlate import correlate_slices
from biasbridge.analysis.correlation import Correlation
from biasbridge.analysis.declaration import Declaration
from biasbridge.analysis.joined import join_points
from biasbridge.analysis.report.page import _describe_compared, _unmodified_gaps, build_report
from biasbridge.analysis.report.page_data import _dose_curves
from biasbridge.analysis.result_folder import write_tables
from biasbridge.analysis.scopes import RUNS, SEEDS
from biasbridge.analysis.slices import RESULT_COLUMNS, SliceResult
from biasbridge.analysis.tables import Tables, typed
from biasbridge.commands.report import main
from biasbridge.files import InputError
from biasbridge.files.tables import escape_tex
from tests.analysis.conftest import overall
from tests.analysis.test_study_claims import slice_of


@dataclass(frozen=True)
class Page:
    """A page as written, and the data in it."""

    folder: Path
    text: str

    @property
    def data(self) -> dict[str, Any]:
        actual = re.search(
            r'<script type="application/json" id="data">(.*?)</script>', self.text, re.DOTALL
        )
        assert actual
        return dict(json.loads(actual[1]))


def build(folder: Path, tables: Tables, found: list[SliceResult] | None = None) -> Page:
    """The report of some tables."""
    joined = join_points(tables)
    target, _ = build_report(folder, tables, joined, found or correlate_slices(joined))
    return Page(folder, target.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(
    tmp_path_factory: pytest.TempPathFactory, module_tables: Tables, findings: list[SliceResult]
) -> Page:
    return build(tmp_path_factory.mktemp("results"), module_tables, findings)


def same(ours: list[Any], table: pd.Series) -> bool:
    def known(values: list[Any]) -> list[Any]:
        return [
            None if isinstance(value, float) and not math.isfinite(value) else value
            for value in values
        ]

    return known(ours) == known(table.tolist())


def test_every_number_is_the_tables(
    page: Page, module_tables: Tables, slices: pd.DataFrame
) -> None:
    joined = join_points(module_tables).query("status == 'done'")
    rows = page.data["rows"]
    for column in ("x", "y", "y_low", "y_high", "metric", "reverse_scored"):
        assert same(rows[column], joined[column]), column
    named = [page.data["points"][place]["point"] for place in rows["point_index"]]
    assert named == joined["point"].tolist()
    ours = pd.DataFrame(page.data["correlations"])
    assert len(ours) == len(slices)
    for column in ("embedding", "method", *RESULT_COLUMNS):
        assert same(ours[column].tolist(), slices[column]), column
    assert ours["query"].tolist() == slices["query"].str.replace("weat", "WEAT ").tolist()
    assert ours["gap"].tolist() == [f"{measure} gap" for measure in slices["measure"]]
    assert page.data["confirmatory"] == ["recall gap", "precision gap"]


def test_nothing_is_asked_of_a_network(page: Page) -> None:
    without_data = re.sub(r"<script.*?</script>", "", page.text, flags=re.DOTALL)
    assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", without_data)
    assert "@import" not in page.text
    assert re.search(r"Content-Security-Policy\" content=\"default-src 'none'", page.text)
    assert '<link rel="stylesheet"' not in page.text


def test_synthetic_data_are_stamped_and_real_ones_are_not(
    page: Page, module_tables: Tables, tmp_path: Path
) -> None:
    assert 'class="banner"' in page.text
    points = module_tables.points.assign(generated=False)
    real = build(tmp_path, module_tables._replace(points=points))
    assert 'class="banner"' not in real.text
    assert "Synthetic" not in (tmp_path / "correlations.tex").read_text(encoding="utf-8")
    assert "Synthetic" in (page.folder / "correlations.tex").read_text(encoding="utf-8")


def test_the_command_makes_page_tables_and_figures(
    module_tables: Tables, page: Page, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tables(tmp_path, module_tables)
    assert main([str(tmp_path), "--out", str(tmp_path / "sent" / "page.html")]) == 0
    printed = capsys.readouterr().out.split()
    assert all(Path(path).is_file() for path in printed)
    assert {path.suffix for path in (tmp_path / "sent" / "figures").iterdir()} == {
        ".svg",
        ".pdf",
        ".csv",
    }
    text = (tmp_path / "sent" / "page.html").read_text(encoding="utf-8")
    assert Page(tmp_path, text).data == page.data
    assert (tmp_path / "sent" / "correlations.tex").is_file()


def test_every_figure_has_a_text_in_its_place(page: Page) -> None:
    figures = re.findall(r'<figure role="img" aria-labelledby="([\w-]+)">', page.text)
    assert len(figures) == 6
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


def test_the_curves_have_the_unmodified_embedding_at_dose_0_of_every_method(
    module_tables: Tables,
) -> None:
    curves = pd.DataFrame(_dose_curves(typed(module_tables), "f1"))
    weat = curves[(curves["what"] == "weat weat7") & (curves["embedding"] == "word2vec")]
    actual = {
        method: sorted(zip(part["dose"], part["value"], strict=True))
        for method, part in weat.groupby("method")
    }
    assert actual == {
        "balance": [(-1, -1), (0, 0), (0.5, 0.5)],
        "attract_repel": [(-0.5, -0.5), (0, 0), (1, 1)],
    }
    assert set(curves["kind"]) == {"score", "gap", "utility"}
    assert (curves.loc[curves["what"] == "F1 of the task", "value"] == 0.7).all()


def test_the_card_has_the_change_and_the_row_of_scopes(module_tables: Tables) -> None:
    asked = [slice_of("weat7", "rises"), slice_of("weat8", "at most")]
    other = slice_of("weat7", "")
    other = other._replace(
        names=other.names | {"measure": "precision"}, scopes={RUNS: Correlation(-0.8, -0.9, -0.6)}
    )
    points = module_tables.points.assign(generated=False)
    card = study_answer(
        typed(module_tables._replace(points=points)), [*asked, other], Declaration()
    )
    assert card.first == ["Recall gap: it rises with WEAT 7; what goes with WEAT 8 is at most .02."]
    head = ["largest dose; score", "from, to", "change [95%]", "verdict"]
    rows = [
        ["WEAT 7", "-1.00 to 1.00", "+.10 [.06,.14]", "rises"],
        ["WEAT 8", "-1.00 to 1.00", "+.10 [.06,.14]", "at most .02"],
    ]
    [table] = card.tables
    assert table[:3] == ("recall gap, -.093 in the unmodified models", head, rows)
    holds = "For these methods, lists and corpora; other doses: shown."
    assert holds in card.notes
    of_documents = module_tables._replace(points=points.assign(scheme="ontonotes"))
    notes = study_answer(typed(of_documents), [*asked, other], Declaration()).notes
    assert holds.replace(" and corpora", ", corpora and training documents") in notes
    assert "Exploratory, r_rm with the scores: precision gap -.80." in card.notes


def test_page_terminal_and_latex_have_the_same_cells(
    page: Page, module_tables: Tables, findings: list[SliceResult]
) -> None:
    console = Console(record=True, width=80, file=io.StringIO())
    print_answer(typed(module_tables), findings, Declaration(), console)
    printed = console.export_text()
    shown = re.search(r'<div class="card">(.*?)</div>\n<figure', page.text, re.DOTALL)
    assert shown
    tex = (page.folder / "correlations.tex").read_text(encoding="utf-8")
    tex = re.sub(r"\\shortstack\[.]\{(.+)}(?= &)", lambda x: x[1].replace(r"\\", " "), tex)
    answer = study_answer(typed(module_tables), findings, Declaration())
    cells = {cell for table in answer.tables for row in table.rows for cell in row}
    assert {"WEAT 7", "WEAT 8", "cannot tell"} <= cells
    for cell in (*cells, *(table.heading for table in answer.tables)):
        assert html.escape(cell) in shown[1]
        assert cell in printed
        assert re.sub(r"(?<![\w.])-(?=[.\d])", "$-$", escape_tex(cell)) in tex
    for line in (*answer.first, *answer.lines, *answer.notes):
        assert html.escape(line, quote=False) in shown[1].replace("&#39;", "'")
        assert " ".join(line.split()) in " ".join(printed.split())


def test_the_gaps_of_unmodified_models_say_who_is_worse_off(module_tables: Tables) -> None:
    extrinsic = module_tables.extrinsic.query("kind == 'gap' and measure == 'recall'")
    points = module_tables.points.assign(unit_key="")
    plain = points.loc[points["method"] == "none", "point"].tolist()
    values = {plain[0]: 0.1, plain[1]: -0.02}
    extrinsic = extrinsic.assign(value=extrinsic["point"].map(values).fillna(0.9))
    actual = _unmodified_gaps(typed(module_tables._replace(points=points, extrinsic=extrinsic)))
    assert actual == [
        (
            "Recall gap",
            "worse for female by .04 on average, from worse for male by .02 to worse for female by"
            " .10 in 2 models",
        )
    ]


def test_latex_reads_no_command_in_a_name(page: Page) -> None:
    tex = (page.folder / "correlations.tex").read_text(encoding="utf-8")
    assert tex.count(r"\begin{table}") == tex.count(r"\end{table}") == 2  # a gap each
    assert r"\caption{recall gap: Change of the gap" in tex
    for part in tex.split(r"\begin{tabular}")[1:]:
        width = len(part[len("{@{}") : part.index("@{}}")])
        body = [line for line in part.splitlines() if line.endswith(r"\\") and "&" in line]
        assert len(body) > 1
        assert {len(re.findall(r"(?<!\\)&", line)) for line in body} == {width - 1}
    by_seed = slice_of("weat7", "rises")
    by_seed = by_seed._replace(scopes={**by_seed.scopes, SEEDS: by_seed.within})
    for key, scope in (("k", "other seeds"), ("", "other models")):  # models that were found ready
        assert f"; {scope}: " in correlations_tex(
            [by_seed], points=pd.DataFrame({"corpus_key": [key]})
        )
    bare = slice_of("q#$", "cannot tell", score_low=math.nan, r_pearson=math.nan)
    bare = bare._replace(names=bare.names | {"measure": "a%b", "embedding": "e&f"})
    written = correlations_tex([bare, slice_of(r"m{\x}", "rises"), slice_of("weat7", "")])
    assert r"\caption{a\%b gap, $-$.093 in the unmodified models: Change" in written
    assert r"q\#\$ (e\&f) & " in written
    assert r"m\{\textbackslash{}x\} (all) & $-$1.00 to 1.00 & +.10 {[}.06,.14{]} & rises" in written
    assert "WEAT 7" not in written, "exploratory ones are in a file of their own"


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


def test_words_from_the_task_are_shown_and_escaped(
    tmp_path: Path, tables: Tables, findings: list[SliceResult]
) -> None:
    rows = [("p1", "from_task", "X", "male", word) for word in ("he", "<b>")]
    words = pd.DataFrame(rows, columns=["point", "query", "role", "stands_for", "word"])
    plain, with_words = (
        build_report(tmp_path, item, join_points(tables), findings)[0].read_text(encoding="utf-8")
        for item in (tables, tables._replace(words=words))
    )
    assert "from_task" not in plain
    assert "<pre>from_task, X (male), 1 point: he, &lt;b&gt;</pre>" in with_words


def test_a_page_that_is_too_large_leaves_out_what_only_the_pointer_shows(
    tables: Tables,
    findings: list[SliceResult],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = build(tmp_path, tables, findings)
    monkeypatch.setattr("biasbridge.analysis.report.page._MOST_BYTES", len(whole.text.encode()) - 1)
    smaller = build(tmp_path, tables, findings)
    assert set(whole.data["rows"]) - set(smaller.data["rows"]) >= {"by_group", "reason"}
    monkeypatch.setattr("biasbridge.analysis.report.page._MOST_BYTES", 1_000)
    with pytest.raises(InputError, match="give the results of fewer points"):
        build(tmp_path, tables, findings)


def test_a_page_still_too_large_shows_the_declared_gaps_alone(
    tables: Tables,
    findings: list[SliceResult],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recall = join_points(tables)
    joined = pd.concat([recall, recall.assign(measure="f1")])
    monkeypatch.setattr("biasbridge.analysis.report.page._MOST_ROWS", len(recall))
    actual = correlate_slices(joined)
    declared = Declaration(confirmatory=("recall",))
    path = build_report(tmp_path, tables, joined, actual, declared=declared)[0]
    text = path.read_text(encoding="utf-8")
    assert "undeclared gaps" in text
    assert "undeclared gaps" not in build(tmp_path, tables, findings).text
    for limit in ("_MOST_ROWS", "_FEW_ROWS"):
        monkeypatch.setattr(f"biasbridge.analysis.report.page.{limit}", len(recall) // 2 - 1)
    build_report(tmp_path, tables, joined, actual, declared=declared)
    fewer = Page(tmp_path, path.read_text(encoding="utf-8"))
    assert "points of all but the first tests" in fewer.text
    assert (
        {*fewer.data["rows"]["query"]}
        == {"WEAT 7"}
        != {row["score"] for row in fewer.data["tests"]}
    )


# What the report says of groups, gaps, items and coverage, and what was measured beyond gaps.


def of_group(point: str, measure: str, group: str, support: int) -> dict[str, str | float | bool]:
    return overall(point, measure, 0.5) | {"group": group, "support": support, "subset": ""}


@pytest.fixture
def posts(tables: Tables) -> Tables:
    """The small experiment on posts, with what is behind its measures."""
    rows = [
        of_group(point, measure, group, support)
        for point in tables.points["point"][:2]
        for measure, group, support in (
            *(("recall", "male", 20), ("fpr", "male", 30)),
            *(("recall", "female", 15), ("fpr", "female", 25)),
            *(("recall", "all", 35), ("fpr", "all", 55)),
        )
    ]
    extrinsic = pd.concat([tables.extrinsic, pd.DataFrame(rows)], ignore_index=True)
    points = tables.points.assign(source="csv")
    return tables._replace(points=points, extrinsic=extrinsic.assign(group_by="annotation"))


def test_it_says_who_is_compared_with_whom_and_on_how_much(posts: Tables) -> None:
    assert _describe_compared(posts, ["recall"]) == {
        "a score": "WEAT effect size (d) of WEAT 7, WEAT 8",
        "groups": "male (privileged) against female (unprivileged). Which group an item is about:"
        " as the data are annotated",
        "a gap": "the value of male minus that of female. Above 0: worse for female",
        "label 1": "the positive class, which precision, recall and the other measures are about",
        "test items": "90 (label 1: 35); male 50 (label 1: 20), female 40 (label 1: 15)",
        "behind a gap": "items in the smaller group: recall gap 40",
    }


def test_a_page_of_far_too_many_rows_is_refused_before_it_is_made(
    posts: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasbridge.analysis.report.page._MOST_ROWS", 3)
    with pytest.raises(InputError, match="pairs of score and gap, more than fit into 5 MB"):
        build_report(tmp_path, posts, join_points(posts), [])
    assert not list(tmp_path.iterdir())


# The report of a study that lacks scores, gaps or embeddings says so, and shows what is left.


def text_of(folder: Path, tables: Tables) -> str:
    joined = join_points(tables)
    target, _ = build_report(folder, tables, joined, correlate_slices(joined))
    return target.read_text(encoding="utf-8").split('<script type="application/json"')[0]


def without_scores(tables: Tables, queries: tuple[str, ...] = ("weat7", "weat8")) -> Tables:
    """The tables of vectors that know no word of some queries."""
    words = ",".join(f"word{i}" for i in range(32))
    scores = tables.intrinsic.assign(n_found=32, n_oov=0, oov="")
    gone = scores["query"].isin(queries)
    scores.loc[gone, ["value", "n_found", "n_oov"]] = np.nan, 0, 32
    scores.loc[gone, ["oov", "reason"]] = words, "X: 0 of 8 words found, fewer than 2"
    return tables._replace(intrinsic=scores)


def test_a_study_without_scores_says_so_first_and_shows_the_gaps(
    tables: Tables, tmp_path: Path
) -> None:
    text = text_of(tmp_path, without_scores(tables))
    first = text.split('<p class="first">')[1].split("</p>")[0]
    assert first.startswith(
        "No score is available: weat7: 32 of its 32 words have no vector (word0,"
    )
    assert "word5 and 26 more); weat8: 32 of its 32 words" in first
    assert all(f'id="{figure}"' not in text for figure in ("change", "scatter"))
    assert text.count('id="gaps"') == text.count('id="t-gaps"') == 1


def test_a_study_without_gaps_says_so_first(tables: Tables, tmp_path: Path) -> None:
    extrinsic = tables.extrinsic.assign(value=np.nan, reason="female: 3 posts, fewer than 10")
    text = text_of(tmp_path, tables._replace(extrinsic=extrinsic))
    assert "No gap is available: precision gap: female: 3 posts, fewer than 10; recall gap:" in text
    assert 'id="scatter"' not in text

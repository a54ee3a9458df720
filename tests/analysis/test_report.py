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
from analysis.report.data import dose_curves, pooled
from analysis.tables import write_tables

from analysis.correlate import correlate_slices
from analysis.grid import PALETTE
from analysis.join import join_points
from analysis.read import Tables
from analysis.report import build_report
from analysis.report.tex import correlations_tex
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


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, module_tables: Tables) -> Page:
    folder = tmp_path_factory.mktemp("results")
    write_tables(folder, *module_tables)
    build_report(folder)
    return Page(folder, (folder / "report.html").read_text(encoding="utf-8"))


def same(ours: list[Any], table: pd.Series) -> bool:
    theirs = [
        None if isinstance(value, float) and not math.isfinite(value) else value
        for value in table.tolist()
    ]
    return ours == theirs


def test_every_number_is_the_tables(page: Page, module_tables: Tables) -> None:
    joined = join_points(*module_tables)
    rows = page.data["rows"]
    for column in ("x", "y", "low", "high", "query", "gap"):
        assert same(rows[column], joined[column]), column
    named = [page.data["points"][place]["point"] for place in rows["p"]]
    assert named == joined["point"].tolist()
    correlations = pd.read_csv(
        page.folder / "correlations.csv", keep_default_na=False, na_values=[""]
    )
    ours = pd.DataFrame(page.data["correlations"])
    assert len(ours) == len(correlations)
    for column in (
        "pearson",
        "r_low",
        "r_high",
        "r_p",
        "p_holm",
        "accuracy",
        "detectable",
        "n",
        "n_units",
    ):
        assert pd.to_numeric(ours[column]).to_numpy() == pytest.approx(
            correlations[column].to_numpy(), nan_ok=True
        ), column
    assert ours["verdict"].tolist() == correlations["verdict"].tolist()
    assert ours["query"].tolist() == correlations["query"].tolist()


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
    points, intrinsic, extrinsic = module_tables
    write_tables(tmp_path, points.assign(generated=False), intrinsic, extrinsic)
    build_report(tmp_path, figures=False)
    assert 'class="banner"' not in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Generated" not in (tmp_path / "correlations.tex").read_text(encoding="utf-8")
    assert "Generated" in (page.folder / "correlations.tex").read_text(encoding="utf-8")


def test_figures_lie_beside_it_in_every_format_with_their_numbers(page: Page) -> None:
    suffixes = {path.suffix for path in (page.folder / "figures").iterdir()}
    assert suffixes == {".svg", ".png", ".pdf", ".csv"}
    assert (
        (page.folder / "figures" / "figure3_hatespeech_en_weat.pdf")
        .read_bytes()
        .startswith(b"%PDF")
    )


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


def test_marks_can_be_told_from_the_paper() -> None:
    # The sixth and seventh colours are paler; shapes and panels tell methods apart besides.
    assert all(contrast(colour, "#ffffff") >= 2.2 for colour in PALETTE[:5])


def test_the_curves_have_the_unmodified_embedding_at_dose_0_of_every_method(
    module_tables: Tables,
) -> None:
    curves = dose_curves(module_tables)
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


def test_what_is_pooled_is_an_embedding_once(module_tables: Tables) -> None:
    joined = join_points(*module_tables)
    found = {row["gap"]: row for row in pooled(joined, correlate_slices(joined))}
    assert found["precision_gap"]["reason"] == "0 slices with an error, fewer than 2"
    assert found["recall_gap"]["m"] in (0, 2)


def test_latex_reads_no_command_in_a_name(page: Page) -> None:
    tex = (page.folder / "correlations.tex").read_text(encoding="utf-8")
    assert tex.count(r"\begin{tabular}") == tex.count(r"\end{tabular}") == 1
    assert r"recall\_gap" in tex
    body = [line for line in tex.splitlines() if line.endswith(r"\\") and "&" in line]
    assert all(len(re.findall(r"(?<!\\)&", line)) == 8 for line in body)
    table = pd.DataFrame(
        [
            {
                "gap": "a_b%",
                "method": "all",
                "metric": r"m{\x}",
                "embedding": "e&f",
                "query": "q#$",
                "n": 3,
                "n_units": 3.0,
            }
        ]
    )
    nan = dict.fromkeys(
        ("pearson", "r_low", "r_high", "p_holm", "accuracy", "accuracy_low", "accuracy_high"),
        math.nan,
    )
    written = correlations_tex(table.assign(**nan, verdict="cannot tell: no"), generated=False)
    assert r"m\{\textbackslash{}x\} & e\&f & q\#\$ & 3 & 3 & -- & -- & -- & cannot tell" in written


def test_a_name_cannot_end_the_script_or_the_page(module_tables: Tables, tmp_path: Path) -> None:
    points, intrinsic, extrinsic = module_tables
    evil = "</script><img src=x onerror=alert(1)>"
    write_tables(
        tmp_path,
        points.assign(experiment=evil, embedding=points["embedding"].replace("word2vec", evil)),
        intrinsic,
        extrinsic,
    )
    build_report(tmp_path, figures=False)
    assert evil not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_what_cannot_be_reported_is_refused(module_tables: Tables, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such"):
        build_report(tmp_path / "nowhere")
    points, intrinsic, extrinsic = module_tables
    write_tables(tmp_path, points, intrinsic, extrinsic.iloc[:0])
    with pytest.raises(InputError, match="run the experiment first"):
        build_report(tmp_path)
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
        for gap, value in zip(
            ("precision_gap", "recall_gap", "f1_gap"),
            (0.1 * rng.normal(size=3)).tolist(),
            strict=True,
        ):
            of = {
                "measure": gap,
                "group": "m-f",
                "value": value,
                "low": value - 0.1,
                "high": value + 0.1,
            }
            gaps.append({"point": key, "task": "t", **of, "support": 50, "reason": ""})
    return Tables(pd.DataFrame(rows), pd.DataFrame(scores), pd.DataFrame(gaps))


@pytest.mark.slow
def test_a_thousand_points_fit_in_five_megabytes(tmp_path: Path) -> None:
    tables = large(1_000)
    # A report takes whatever correlations it is given
    few = correlate_slices(join_points(*large(30)))
    for name, table in tables._asdict().items():
        table.to_parquet(tmp_path / f"{name}.parquet")
    build_report(tmp_path, correlations=few, figures=False)
    assert (tmp_path / "report.html").stat().st_size < 5_000_000


def test_a_page_that_is_too_large_leaves_out_what_only_the_pointer_is_told(
    module_tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(tmp_path, *module_tables)
    build_report(tmp_path, figures=False)
    whole = (tmp_path / "report.html").stat().st_size
    monkeypatch.setattr("analysis.report.build.MOST_BYTES", whole - 1)
    build_report(tmp_path, figures=False)
    assert (
        "by_group"
        not in Page(tmp_path, (tmp_path / "report.html").read_text(encoding="utf-8")).data["rows"]
    )
    monkeypatch.setattr("analysis.report.build.MOST_BYTES", whole // 2)
    with pytest.raises(InputError, match="more than 5: give the results of fewer points"):
        build_report(tmp_path, figures=False)

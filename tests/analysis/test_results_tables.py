"""A results folder: written whole, read back, never over other points; and what the terminal shows
of it.
"""

from __future__ import annotations

import io
import itertools
import multiprocessing
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from analysis import results
from analysis.correlate import correlate, correlate_slices
from analysis.correlation import Correlation
from analysis.joined import join_points
from analysis.results import FILES, Tables, read_tables, shareable, write_tables
from analysis.show import (
    estimate,
    p_value,
    print_correlations,
    print_slices,
    short,
)
from analysis.show_points import print_points
from files import InputError
from tests.events import count

if TYPE_CHECKING:
    from analysis.findings import Finding


def shown(draw: Callable[..., None], *arguments: object) -> list[str]:
    written = io.StringIO()
    draw(*arguments, Console(file=written, width=80))
    return [line.rstrip() for line in written.getvalue().splitlines()]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("given", ["results", "results/mime", "mine", "results/mine/points"])
def test_a_folder_without_tables_is_answered_with_those_near_it(
    given: str, tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_tables("results/mine", tables)
    near = "; results lie in results/mine" if "points" not in given else ""
    with pytest.raises(InputError) as caught:
        read_tables(given)
    assert str(caught.value) == f"no such file: {given}/points.parquet{near}"


def test_written_and_read_back(tables: Tables, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    assert write_tables(folder, tables) == [folder / name for name in FILES[:3]]
    for stored, table in zip(read_tables(folder), tables, strict=True):
        pd.testing.assert_frame_equal(stored, table)
    assert names(folder) == {"points.parquet", "intrinsic.parquet", "extrinsic.parquet"}


def test_what_is_shared_says_nothing_of_the_machine(tables: Tables) -> None:
    home = str(Path.home())
    errors = {
        f"no such file: {home}/secret name/posts.csv": "no such file: .../secret name/posts.csv",
        f"{Path.cwd()}/v.txt: line 3 is bad": ".../v.txt: line 3 is bad",
        "[Errno 2] No such file: '/srv/my data/x.npy'": "[Errno 2] No such file: '.../x.npy'",
        "file:///srv/me/x.csv, /srv/me/y.csv": ".../x.csv, .../y.csv",
        "see https://example.org/a/b and 1/2 or a/b/c": "",
    }
    points = tables.points.assign(
        error=[*errors, *[""] * (len(tables.points) - len(errors))], traceback=f"File {home}/x.py"
    )
    intrinsic = tables.intrinsic.assign(query="weat\x1b[2J")
    shared = shareable(Tables(points, intrinsic, tables.extrinsic))
    assert "traceback" not in shared.points
    expected = [hidden or error for error, hidden in errors.items()]
    assert shared.points["error"].tolist()[: len(errors)] == expected
    assert set(shared.intrinsic["query"]) == {r"weat\x1b[2J"}
    pd.testing.assert_frame_equal(shared.extrinsic, tables.extrinsic)


def test_the_same_points_take_the_place_of_the_earlier(tables: Tables, tmp_path: Path) -> None:
    write_tables(tmp_path, tables)
    write_tables(tmp_path, tables._replace(points=tables.points[::-1].assign(seconds=1.0)))
    assert not (tmp_path / "earlier").exists()
    assert (read_tables(tmp_path).points["seconds"] == 1).all()


def test_other_points_set_the_earlier_aside(tables: Tables, tmp_path: Path) -> None:
    write_tables(tmp_path, tables)
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "figure3.svg").write_text("drawn")
    (tmp_path / "mine.txt").write_text("kept")
    (tmp_path / "correlations.tex").write_text("concluded")
    before = {
        name: (tmp_path / name).read_bytes() for name in ("points.parquet", "correlations.tex")
    }
    fewer = tables.points.query("point != 'broken'")
    write_tables(tmp_path, tables._replace(points=fewer))
    write_tables(tmp_path, tables)  # and back, most likely within the same second
    first, second = sorted(
        (tmp_path / "earlier").iterdir(), key=lambda path: (len(path.name), path.name)
    )
    assert {name: (first / name).read_bytes() for name in before} == before
    assert (first / "figures" / "figure3.svg").read_text() == "drawn"
    assert len(read_tables(second).points) == 10
    assert len(read_tables(tmp_path).points) == 11
    assert "mine.txt" in names(tmp_path)


def test_a_kill_at_any_moment_loses_no_earlier_table(tables: Tables, tmp_path: Path) -> None:
    """Of ten moments between renames five lost the tables of another set of points."""
    write_tables(tmp_path / "before", tables)
    (tmp_path / "before" / "figures").mkdir()
    (tmp_path / "before" / "figures" / "figure3.svg").write_text("drawn")
    (tmp_path / "before" / "correlations.csv").write_text("concluded")
    fewer = tables._replace(points=tables.points.query("point != 'broken'"))
    write_tables(tmp_path / "after", fewer)
    before, after = (contents(tmp_path / name) for name in ("before", "after"))
    for moment in itertools.count(1):
        folder = tmp_path / str(moment)
        shutil.copytree(tmp_path / "before", folder)
        child = multiprocessing.get_context("fork").Process(
            target=write_and_die, args=(folder, fewer, moment)
        )
        child.start()
        child.join()
        aside = [contents(path) for path in (folder / "earlier").glob("[!.]*")]
        assert aside == [before] or contents(folder) == before
        write_tables(folder, fewer)
        assert contents(folder) == after
        assert [contents(path) for path in (folder / "earlier").glob("[!.]*")] == [before]
        if child.exitcode == 0:
            break
    assert moment > 15


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file in a folder, but for what is kept or half-written there."""
    found = {path.relative_to(folder): path for path in folder.rglob("[!.]*") if path.is_file()}
    return {str(name): found[name].read_bytes() for name in found if name.parts[0] != "earlier"}


def write_and_die(folder: Path, tables: Tables, moment: int) -> None:
    count(folder, lambda: None, moment)
    write_tables(folder, tables)
    os._exit(0)


def test_a_damaged_earlier_table_is_set_aside_too(tables: Tables, tmp_path: Path) -> None:
    (tmp_path / "points.parquet").write_text("damaged")
    write_tables(tmp_path, tables)
    (aside,) = (tmp_path / "earlier").iterdir()
    assert (aside / "points.parquet").read_text() == "damaged"


def test_an_error_while_writing_leaves_the_earlier_tables(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tables(tmp_path, tables)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    odd = pd.Series([object()] * len(tables.extrinsic), dtype=object)
    unwritable = tables.extrinsic.assign(odd=odd)
    with pytest.raises(Exception, match="odd"):
        write_tables(tmp_path, Tables(tables.points[:3], tables.intrinsic, unwritable))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before

    def full(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(results, "_set_earlier_aside", full)
    with pytest.raises(OSError, match="disk full"):
        write_tables(tmp_path, tables._replace(points=tables.points[:3]))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.314, 2, ".31"),
        (-0.314, 2, "-.31"),
        (-0.001, 2, ".00"),
        (0.999, 2, "1.00"),
        (-10.5, 1, "-10.5"),
        (np.nan, 2, "-"),
    ],
)
def test_short_numbers(value: float, digits: int, text: str) -> None:
    assert short(value, digits) == text


def test_estimates_carry_their_interval() -> None:
    assert estimate(0.31, -0.09, 0.62) == ".31 [-.09,.62]"
    assert estimate(0.31, np.nan, np.nan) == ".31"
    assert [p_value(p) for p in (0.0104, 1e-5, np.nan)] == [".0104", "<.0001", "-"]


def test_points_on_the_terminal(tables: Tables) -> None:
    lines = shown(print_points, tables)
    assert "word2vec: 5 points, synthetic data" in lines
    assert max(map(len, lines)) <= 100
    (row,) = [line.split() for line in lines if line.startswith("balance") and "overbias" in line][
        :1
    ]
    assert row == [
        "balance",
        "overbias",
        "0.5",
        "0",
        ".50",
        "-.50",
        ".05",
        "[.02,.09]",
        "40",
        ".02",
        "[-.01,.06]",
        "40",
        ".70",
        "[.67,.74]",
    ]
    assert lines[1].split() == [
        "method",
        "direction",
        "dose",
        "seed",
        "weat7",
        "weat8",
        "recall",
        "gap,",
        "n",
        "precision",
        "gap,",
        "n",
        "F1",
    ]
    undefined = next(
        line.split()
        for line in lines[lines.index("fasttext: 5 points, synthetic data") :]
        if line.startswith("balance")
    )
    assert undefined[6:10] == [".10", "[.07,.14]", "40", "-"]
    assert "10 of 11 points done" in lines
    assert lines[-1].split() == ["word2vec", "balance", "debias", "0.5", "0", "failed"]


def test_of_many_points_that_are_not_done_the_first_are_listed(tables: Tables) -> None:
    broken = tables.points[tables.points["status"] == "failed"]
    many = [broken.assign(point=f"broken {number}") for number in range(25)]
    lines = shown(print_points, tables._replace(points=pd.concat([*many, tables.points])))
    assert sum(line.endswith("failed") for line in lines) == 20
    assert lines[-1] == "and 6 more"


def test_points_of_several_sources_metrics_conventions_and_parts(tables: Tables) -> None:
    points = tables.points.assign(
        source=np.where(tables.points["embedding"] == "word2vec", "davidson", "hateval"),
        generated=False,
        stereotype=np.linspace(0, 1, len(tables.points)),
    )
    more = [tables.intrinsic.assign(metric=metric) for metric in ("ripa", "nbm")]
    several = tables._replace(points=points, intrinsic=pd.concat([tables.intrinsic, *more]))
    lines = shown(print_points, several)
    assert lines[1].split()[:5] == ["method", "direction", "dose", "stereotype", "seed"]
    assert lines[3].split()[:5] == ["balance", "debias", "1", "0.1", "0"]
    assert "source davidson, word2vec: 5 points" in lines
    assert "not shown, but in the intrinsic table: nbm weat7, nbm weat8" in lines
    both = pd.concat([tables.intrinsic, tables.intrinsic.assign(convention="caliskan", value=9.0)])
    heads = shown(print_points, tables._replace(intrinsic=both))[1]
    assert "default weat7 default weat8 caliskan weat7" in " ".join(heads.split())
    parts = pd.concat([tables.intrinsic.assign(part=part) for part in ("definition", "none")])
    heads = shown(print_points, tables._replace(intrinsic=parts))[1]
    assert "weat7 definition weat8 definition weat7 none" in " ".join(heads.split())


def test_points_whose_measures_and_groups_are_others(tables: Tables) -> None:
    gaps = tables.extrinsic.query("kind == 'gap'")
    odds = gaps[gaps["measure"] == "recall"].assign(measure="equal_odds")
    more = pd.concat([odds, odds.assign(unprivileged="non-binary")])
    lines = shown(print_points, tables._replace(extrinsic=more))
    heads = " ".join(lines[1].split())
    assert "equal odds gap, male - female, n equal odds gap, male - non-binary, n" in heads
    assert "F1" not in heads


def test_gaps_of_three_pairs_of_groups_have_a_table_each(tables: Tables) -> None:
    values = tables.extrinsic.query("kind != 'gap'")
    gaps = tables.extrinsic.query("kind == 'gap'")
    of = [gaps.assign(privileged="rest", unprivileged=group) for group in ("men", "women", "other")]
    lines = shown(print_points, tables._replace(extrinsic=pd.concat([values, *of])))
    heads = {
        line.split(": ")[1]: lines[i + 1].split() for i, line in enumerate(lines) if ": " in line
    }
    whole, *pairs = [name for name in heads if name.endswith("synthetic data")][:4]
    assert whole.endswith("points, synthetic data")
    assert "F1" in heads[whole]
    assert "gap" not in heads[whole]
    assert pairs == [f"gaps, rest - {group}, synthetic data" for group in ("men", "women", "other")]
    for pair in pairs:
        assert " ".join(heads[pair]).endswith("seed recall gap, n precision gap, n")


def test_groups_that_nobody_annotated_are_shown_beside_their_numbers(tables: Tables) -> None:
    assert not any("groups by" in line for line in shown(print_points, tables))
    tagged = tables._replace(extrinsic=tables.extrinsic.assign(group_by="tagger: by words"))
    assert "groups by tagger: by words" in shown(print_points, tagged)
    found = correlate_slices(join_points(tagged))
    assert {each.group_by for each in found} == {"tagger: by words"}
    assert shown(print_correlations, found).count("groups by tagger: by words") == 1
    annotated = tables._replace(extrinsic=tables.extrinsic.assign(group_by="annotation"))
    assert not any("groups by" in line for line in shown(print_points, annotated))


def test_the_terminal_says_what_label_1_is(tables: Tables) -> None:
    assert not any("label 1" in line for line in shown(print_points, tables))
    points = tables.points.assign(source="mine", positive_class="'toxic' in column 'label'")
    is_toxic = "label 1, whose precision and recall are measured, is 'toxic' in column 'label'"
    assert is_toxic in shown(print_points, tables._replace(points=points))
    tested = points.assign(challenge="hatecheck", challenge_positive_class="hate speech")
    both = f"{is_toxic} (of mine); hate speech (of hatecheck)"
    assert both in shown(print_points, tables._replace(points=tested))


def test_points_of_no_task(tables: Tables) -> None:
    points = tables.points[["point", "embedding", "method", "status"]]
    lines = shown(print_points, Tables(points, tables.intrinsic, pd.DataFrame(columns=["point"])))
    assert lines[1].split() == ["method", "weat7", "weat8"]


def test_correlations_on_the_terminal(findings: list[Finding]) -> None:
    """Ten embeddings of two algorithms in five conditions; one point failed, one gap is unknown."""
    title, heads, *lines = shown(print_correlations, findings)
    assert title.startswith("hatespeech_en, weat: r_rm, repeated-measures correlation")
    assert title.endswith("within parents, synthetic data")
    cells = {tuple(row[:2]): row[2:] for row in (re.split(r"\s{2,}", line) for line in lines)}
    assert heads.split()[:2] == ["query", "measure"]
    assert cells["weat7", "recall"][:3] == ["10 / 2 / 5", ".00 [-.88,.88]", "1.0000"]
    assert cells["weat7", "precision"][:2] == ["9 / 2 / 5", "-"]
    assert (cells["weat7", "recall"][-1], cells["weat7", "precision"][-1]) == ("1", "2")
    said = [line for line in lines if "inconclusive:" in line and "gap (" not in line]
    assert said == [
        "weat7 precision, weat8 precision are inconclusive: the gap does not vary within parents",
        "weat7 recall, weat8 recall are inconclusive: 10 models of 2 parents leave 7 degrees of"
        " freedom; a verdict takes 8",
    ]
    assert lines[-1] == (
        "recall gap (confirmatory: inconclusive): no sign with WEAT 7 .00 [-.88,.88], WEAT 8 .00"
        " [-.88,.88]"
    )
    assert not any(line.startswith(("word2vec", "balance")) for line in lines), "in the file"
    assert not any("default" in line or "male" in line for line in lines), "they do not vary"


def made(findings: list[Finding], of: Correlation, **changes: object) -> Finding:
    """The first finding over all embeddings and methods with r of its own."""
    whole = next(
        each
        for each in findings
        if (each.names["embedding"], each.names["method"], each.names["query"])
        == ("all", "all", "weat7")
    )
    return whole._replace(within=of, **changes)  # type: ignore[arg-type]


def test_a_slice_on_the_terminal_and_what_is_said_below(findings: list[Finding]) -> None:
    """The confirmatory one with its verdict; of the other, falling, r alone, beside its gap."""
    first = made(
        findings,
        Correlation(0.31, 0.09, 0.62, p=0.0104),
        given_condition=Correlation(0.1, -0.2, 0.4),
        given_utility=Correlation(0.25, 0.01, 0.5),
        confirmatory=True,
        p_holm=0.0416,
        verdict="positive",
        why="positive for these 5 conditions",
        lost=1,
    )
    falls = made(findings, Correlation(-0.84, -0.89, -0.76, p=0.001), confirmatory=False)
    falls = falls._replace(names=falls.names | {"measure": "auc"}, verdict="", why="")
    title, heads, line, *said = shown(print_correlations, [first, falls])
    assert title.startswith("hatespeech_en, weat: r_rm")
    measure = first.names["measure"]
    assert re.split(r"\s{2,}", heads) == [
        *("query", "measure", "models / parents / conditions", "r_rm [95%]", "p (Holm)"),
        *("given condition", "given utility", "lost"),
    ]
    assert re.split(r"\s{2,}", line) == [
        *("weat7", measure, f"{first.n} / 2 / 5", ".31 [.09,.62]", ".0416"),
        *(".10 [-.20,.40]", ".25 [.01,.50]", "1"),
    ]
    assert said == [
        f"weat7 {measure} is positive for these 5 conditions",
        f"{measure} gap (confirmatory: positive): rises with WEAT 7 .31 [.09,.62]",
        "auc gap (exploratory): falls with WEAT 7 -.84 [-.89,-.76]",
    ]


def test_without_a_confirmatory_slice_every_gap_is_shown_all_the_same(
    findings: list[Finding],
) -> None:
    quiet = [each._replace(confirmatory=False, verdict="", why="") for each in findings]
    assert shown(print_correlations, quiet) == [
        "precision gap (exploratory): not measured with WEAT 7 -, WEAT 8 -",
        "recall gap (exploratory): no sign with WEAT 7 .00 [-.88,.88], WEAT 8 .00 [-.88,.88]",
    ]


def test_of_many_scores_the_first_are_shown_with_a_gap(findings: list[Finding]) -> None:
    rises = made(findings, Correlation(0.5, 0.3, 0.7), confirmatory=False)
    many = [rises._replace(names=rises.names | {"query": f"weat{i}"}) for i in range(1, 7)]
    (line,) = shown(print_correlations, many)
    assert line.endswith("WEAT 4 .50 [.30,.70]; 2 more in correlations.csv")
    assert line.count("[.30,.70]") == 4


def test_the_terminal_shows_details_where_they_vary(findings: list[Finding]) -> None:
    more = [
        each._replace(names=each.names | {"convention": "caliskan", "unprivileged": "non-binary"})
        for each in findings
    ]
    lines = shown(print_correlations, [*findings, *more])
    assert any(line.startswith("hatespeech_en, weat, caliskan: ") for line in lines)
    assert any("unprivileged" in line.split() for line in lines)
    assert not any("privileged" in line.split() for line in lines)


def test_lost_pairs_are_shown() -> None:
    table = pd.DataFrame({"x": [1.0, 2, 3, 5, np.nan], "y": [1.0, 2, 4, 3, 1]})
    title, heads, line = shown(print_slices, correlate(table, x="x", y="y"), "title")
    assert title.startswith("title: r_rm")
    assert re.split(r"\s{2,}", heads)[-2:] == ["lost", "note"]
    assert line.strip().startswith("4 / - / -"), "neither parents nor conditions were named"
    assert line.endswith("1  lost: 1 of 5")


def test_a_gap_that_cannot_be_had_says_why(tables: Tables) -> None:
    undefined = (tables.extrinsic["kind"] == "gap") & tables.extrinsic["value"].isna()
    reason = np.where(undefined, "3 predicted positives of group female, fewer than 10", "")
    lines = shown(print_points, tables._replace(extrinsic=tables.extrinsic.assign(reason=reason)))
    assert undefined.any()
    assert sum("(1)" in line for line in lines) == undefined.sum() + 1
    assert "(1) 3 predicted positives of group female, fewer than 10" in lines


def test_largest_differences_and_ratios_stand_in_tables_of_their_own(tables: Tables) -> None:
    kept = tables.extrinsic[tables.extrinsic["kind"] == "gap"].drop_duplicates("point")
    kept = kept.assign(low=0.1, high=0.3, privileged="men", unprivileged="women")
    more = [
        kept.assign(kind=kind, measure=measure, value=value)
        for kind, value in (("largest", 0.2), ("ratio", 0.25))
        for measure in ("recall", "equalised_odds")
    ]
    lines = shown(print_points, tables._replace(extrinsic=pd.concat([tables.extrinsic, *more])))
    for title, value in (
        ("word2vec: largest difference between groups, synthetic data", ".20"),
        ("word2vec: ratio of the smallest value of a group to the largest, synthetic data", ".25"),
    ):
        start = lines.index(title)
        assert lines[start + 1].split()[4:] == ["recall", "equalised", "odds"]
        assert lines[start + 2].split()[-4:] == [value, "[.10,.30]"] * 2
    plain = shown(print_points, tables)
    assert not any("largest" in line for line in plain)


def test_a_challenge_set_is_named_and_flips_are_shown(tables: Tables) -> None:
    extrinsic = tables.extrinsic
    points = tables.points.assign(challenge="templates")
    held = extrinsic[(extrinsic["measure"] == "f1")].assign(subset="held_out", value=0.9)
    flips = held.assign(kind="flips", measure="prediction", subset="", group="all", value=0.123)
    lines = shown(
        print_points,
        Tables(points, tables.intrinsic, pd.concat([extrinsic.assign(subset=""), held, flips])),
    )
    assert lines[1].split()[-5:] == ["F1", "F1,", "held", "out", "flips"]
    assert any(" .12 " in f"{line} " for line in lines)
    assert "gaps are those of the challenge set templates, not of the source's own posts" in lines
    assert any(line.startswith("flips: how often the prediction changes") for line in lines)

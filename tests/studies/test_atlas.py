"""The atlas: published point sets read by one protocol."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biasbridge.analysis.tables import as_float, as_text
from biasbridge.commands.atlas import main
from biasbridge.files import InputError
from biasbridge.files.tables import read_table
from biasbridge.studies.atlas import (
    PointSet,
    PointSetResult,
    _analyse_point_set,
    _atlas_answer,
    _read_point_set,
    atlas_page,
    atlas_table,
    read_atlas,
)

ATLAS = Path(__file__).resolve().parents[2] / "docs" / "atlas"
SET = """\
title: Doses against gaps
source: "Nobody (1999), table 1"
licence: figures typed from the published table
table: points.csv
x: {dose: share}
y: {gap: share}
observation: [name]
parent: [family]
by: [[], [method]]
claim: "They go together."
corrections:
  - where: {name: "*_max", method: post}
    becomes: {method: pre}
    why: only balancing has max
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of 12 embeddings of two families, of which three stand under the wrong method."""
    rng = np.random.default_rng(0)
    dose = np.tile(np.linspace(-1, 1, 6), 2)
    rows = pd.DataFrame(
        {
            "name": [f"e{i}{'_max' if i < 3 else ''}" for i in range(12)],
            "family": np.repeat(["ft", "w2v"], 6),
            "method": ["post"] * 8 + ["pre"] * 4,
            "dose": dose,
            "gap": dose + 0.1 * rng.normal(size=12) + np.repeat([0, 9], 6),
        }
    )
    rows.to_csv(tmp_path / "points.csv", index=False)
    (tmp_path / "set.yaml").write_text(SET)
    return tmp_path


def test_a_set_is_read_by_the_protocol_of_our_own_studies(folder: Path) -> None:
    result = _analyse_point_set(folder / "set.yaml")
    whole = result.slices[0].finding
    rows = read_table(folder / "points.csv")
    x, y = as_float(rows, "dose"), as_float(rows, "gap")
    assert result.slices[0].rows == 12
    assert result.slices[0].r_rows == pytest.approx(stats.pearsonr(x, y).statistic)
    y = y - np.repeat([y[:6].mean(), y[6:].mean()], 6)
    assert whole.within.r == pytest.approx(stats.pearsonr(x, y).statistic)
    assert (whole.n, whole.n_parents, whole.within.df) == (12, 2, 9)
    assert (whole.confirmatory, whole.tests, whole.verdict) == (True, 3, "rises")
    assert whole.p_holm == pytest.approx(3 * whole.within.p), "the least of three"


def test_rows_are_corrected_and_what_was_published_stands_beside(folder: Path) -> None:
    result = _analyse_point_set(folder / "set.yaml")
    assert result.n_corrected == [3]
    post = next(item for item in result.slices if item.by == "method post")
    assert post.finding.n == 5
    rows = read_table(folder / "points.csv")
    first = rows[rows["method"] == "post"]
    r = stats.pearsonr(as_float(first, "dose"), as_float(first, "gap")).statistic
    assert post.published == pytest.approx(r)
    assert np.isnan(result.slices[0].published), "the whole is no other than before"
    assert "Corrected, 3 models: method pre. only balancing has max" in atlas_page([result])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("claim:", "clam:"), "unknown field 'clam'; did you mean 'claim'"),
        (('claim: "They go together."\n', ""), "claim"),
        (("{dose: share}", "{doses: share}"), "no column 'doses'; did you mean 'dose'"),
        (("*_max", "*_min"), "changes nothing"),
        (("why: only balancing has max", "why: ''"), "a reason"),
        (("observation: [name]", "observation: name"), "observation='name'"),
        (("table: points.csv", "table: points.csv\nsha256: abc"), "not the table that was"),
        (
            ("table: points.csv", "table: points.csv\nkeep: {method: [none]}"),
            "has the labels given",
        ),
    ],
)
def test_what_is_wrong_with_a_set_is_said(
    folder: Path, change: tuple[str, str], message: str
) -> None:
    (folder / "set.yaml").write_text(SET.replace(*change))
    with pytest.raises(InputError, match=r"set\.yaml") as refused:
        _analyse_point_set(folder / "set.yaml")
    assert message in str(refused.value)


def test_a_table_from_elsewhere(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("data")
    (folder / "points.csv").rename(elsewhere / "points.csv")
    monkeypatch.delenv("BIASBRIDGE_DATA", raising=False)
    with pytest.raises(InputError, match="biasbridge data get atlas_goldfarb_tarrant"):
        main([str(folder)])
    monkeypatch.setenv("BIASBRIDGE_DATA", str(elsewhere))
    assert main([str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} == {
        *("set.yaml", "README.md", "atlas.csv", "atlas.svg")
    }


def test_a_set_whose_table_is_not_at_hand_is_named(folder: Path) -> None:
    other = SET.replace("points.csv", "absent.csv").replace("Doses", "Absent doses")
    (folder / "other.yaml").write_text(f"{other}address: a library\nsha256: abc\n")
    readings = read_atlas(folder)
    assert [reading.read for reading in readings] == [False, True]
    assert "Not analysed here" in atlas_page(readings)
    assert "a library" in atlas_page(readings)
    assert main([str(folder)]) == 1


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no point set"):
        main([str(tmp_path)])


def test_the_committed_atlas_is_what_the_command_makes() -> None:
    """Sets whose tables lie elsewhere are compared where BIASBRIDGE_DATA has them."""
    committed = read_table(ATLAS / "atlas.csv")
    readings = read_atlas(ATLAS)
    recorded, written = set(as_text(committed, "set")), (ATLAS / "README.md").read_text("utf-8")
    assert {reading.name for reading in readings} >= recorded
    assert len(recorded) >= 6
    for reading in readings:  # what was not at hand is named
        assert (
            reading.name in recorded
            or f"* {reading.of.title}" in written.split("Not analysed here")[1]
        )
    _compare(committed, [reading for reading in readings if reading.read])
    assert atlas_page(readings).split("## Adding")[1] == written.split("## Adding")[1]
    experiments = {path.stem for path in (ATLAS.parents[1] / "conf" / "experiment").iterdir()}
    commands = as_text(read_table(ATLAS / "replications.csv"), "command")
    names = {word[12:] for line in commands for word in line.split() if "experiment=" in word}
    assert names <= experiments


def _compare(committed: pd.DataFrame, readings: list[PointSetResult]) -> None:
    assert readings
    ours = atlas_table(readings)
    selected = committed[committed["set"].isin(ours["set"])]
    for name in ("set", "x", "y", "by", "verdict"):
        assert as_text(selected, name) == as_text(ours, name)
    for name in ("rows", "n", "n_parents", "r_rows", "r_rm", "r_published"):
        assert as_float(selected, name) == pytest.approx(
            as_float(ours, name), abs=1e-9, nan_ok=True
        )


def test_the_typed_table_is_the_published_one() -> None:
    """Table 4 of Sesari et al.: 15 embeddings; its text says which score best."""
    rows = read_table(ATLAS / "sesari_2022.csv").set_index("model")
    assert len(rows) == 15
    least = {name: pd.to_numeric(rows[name]).idxmin() for name in rows.columns[3:]}
    assert least["weat3"] == "wiki-news-300d-1M-sub", "the text names Wiki News without subwords"
    assert least["weat6"] == "crawl-300d-2M-sub"
    assert (least["weat7"], least["weat8"]) == ("twitter-200", "twitter-100")
    assert least["weat10"] == "wiki-news-300d-1M-sub"
    assert least["direct_bias"] == "wiki-gigaword-300"
    assert least["ect"] == "crawl-300d-2M"
    shares = rows[["sembias_definition", "sembias_stereotype", "sembias_none"]]
    whole = shares.astype(float).sum(axis=1)
    off = whole[(whole - 1).abs() > 0.0021]
    assert off.round(3).to_dict() == {"wiki-gigaword-50": 1.047, "wiki-gigaword-100": 1.018}, (
        "as published"
    )


@pytest.mark.realdata
def test_published_correlations_of_five_language_models(
    realdata: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Computed by hand from the same table: METHODS of the papers that it was gathered from."""
    monkeypatch.setenv("BIASBRIDGE_DATA", str(realdata))
    result = {
        (item.x, item.y): item.r_rows
        for item in _analyse_point_set(ATLAS / "delobelle_2022.yaml").slices
    }
    bios, type2 = "bios_mean_abs_tpr_gap", "winobias_dacc_test2"
    expected = {
        ("seat_cls", bios): -0.696,
        ("seat_swp_pooled", bios): -0.749,
        ("seat_vulic", bios): -0.630,
        ("seat_no_context_cls", bios): 0.566,
        ("seat_cls", type2): 0.560,
        ("seat_no_context_cls", type2): -0.783,
    }
    for key, r in expected.items():
        assert result[key] == pytest.approx(r, abs=5e-4)
    readings = [_analyse_point_set(ATLAS / "delobelle_2022_extrinsic.yaml")]
    assert readings[0].slices[1].r_rows == pytest.approx(-0.913, abs=5e-4)
    assert "2 cannot tell" in _atlas_answer(readings)


@pytest.mark.realdata
def test_the_mislabelled_embeddings_of_the_hate_speech_table(
    realdata: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", str(realdata))
    of: PointSet = _read_point_set(ATLAS / "goldfarb_tarrant_2021_hatespeech_en.yaml")
    path = of.path(ATLAS)
    if path is None:
        pytest.skip(f"no {of.table} among the real data")
    rows = of.read(path)
    modified = rows[~rows["Name"].str.contains("all_tweets")]
    assert modified.loc[modified["Method"] == "Postprocess", "Name"].nunique() == 26
    mended, changed = of.apply_corrections(rows)
    assert changed == [18]
    assert mended.loc[mended["Method"] == "Postprocess", "Name"].nunique() == 8 + 1

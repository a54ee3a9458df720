"""The atlas: published point sets read by one protocol, by ``docs/atlas/atlas.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from atlas import HERE, PointSet, atlas_table, read_set, section
from scipy import stats

from biasbridge.files.columns import as_float, as_text
from biasbridge.files.data.registry import data_folder
from biasbridge.files.tables import read_table

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


def test_a_set_is_corrected_and_read_by_the_protocol_of_our_own_studies(tmp_path: Path) -> None:
    """12 embeddings of two families, of which three stand under the wrong method."""
    dose = np.tile(np.linspace(-1, 1, 6), 2)
    gap = dose + 0.1 * np.random.default_rng(0).normal(size=12) + np.repeat([0, 9], 6)
    names = [f"e{i}{'_max' if i < 3 else ''}" for i in range(12)]
    rows = pd.DataFrame({"name": names, "family": np.repeat(["ft", "w2v"], 6)})
    rows = rows.assign(method=["post"] * 8 + ["pre"] * 4, dose=dose, gap=gap)
    rows.to_csv(tmp_path / "points.csv", index=False)
    (tmp_path / "set.yaml").write_text(SET)
    result = read_set(tmp_path / "set.yaml", tmp_path / "points.csv")

    first = result.slices[0]
    assert first.rows == 12
    assert first.r_rows == pytest.approx(stats.pearsonr(dose, gap).statistic)
    assert np.isnan(first.published), "the whole is no other than before"
    whole = first.result
    within = gap - np.repeat([gap[:6].mean(), gap[6:].mean()], 6)
    assert whole.within.r == pytest.approx(stats.pearsonr(dose, within).statistic)
    assert (whole.n, whole.n_parents, whole.within.df) == (12, 2, 9)
    assert (whole.confirmatory, whole.tests, whole.verdict) == (True, 3, "rises")
    assert whole.within.p <= whole.p_holm <= 3 * whole.within.p, "the least of three"

    post = next(part for part in result.slices if part.by == "method post")
    assert (post.result.n, result.n_corrected) == (5, [3])
    assert post.published == pytest.approx(stats.pearsonr(dose[:8], gap[:8]).statistic)
    assert "Corrected, 3 models: method pre. only balancing has max" in section(result)


def sets() -> list[PointSet]:
    """The sets whose tables lie beside them or in the folder of real data."""
    found = []
    for path in sorted(HERE.glob("*.yaml")):
        name = yaml.safe_load(path.read_text("utf-8"))["table"]
        places = [place / name for place in (HERE, data_folder()) if (place / name).is_file()]
        found += [read_set(path, place) for place in places[:1]]
    return found


def test_the_recorded_atlas_is_what_the_script_writes() -> None:
    available, page = sets(), (HERE / "README.md").read_text("utf-8")
    assert len(available) >= 2
    assert all(section(each).rstrip() in page for each in available)
    ours, recorded = atlas_table(available), read_table(HERE / "atlas.csv")
    assert set(recorded["set"]) == {path.stem for path in HERE.glob("*.yaml")}
    recorded = recorded[recorded["set"].isin(ours["set"])]
    for name in ("set", "x", "y", "by", "verdict", "why"):
        assert as_text(recorded, name) == as_text(ours, name)
    for name in ("rows", "n", "n_parents", "r_rows", "r_rm", "r_published", "low", "high", "p"):
        expected = pytest.approx(as_float(ours, name), abs=1e-9, nan_ok=True)
        assert as_float(recorded, name) == expected, name


def test_experiments_of_the_replications_are_there() -> None:
    experiments = {path.stem for path in (HERE.parents[1] / "conf" / "experiment").iterdir()}
    commands = as_text(read_table(HERE / "replications.csv"), "command")
    words = [word for line in commands for word in line.split() if "experiment=" in word]
    assert {word[12:].rstrip(";") for word in words} <= experiments
    assert not any("biasbridge atlas" in line for line in commands)


def test_the_typed_table_is_the_published_one() -> None:
    """Table 4 of Sesari et al.: 15 embeddings; its text says which score best."""
    rows = read_table(HERE / "sesari_2022.csv").set_index("model")
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
def test_published_correlations_of_five_language_models(realdata: Path) -> None:
    """Computed by hand from the same table: METHODS of the papers that it was gathered from."""
    table = realdata / "results" / "biased_rulers_points.csv"
    parts = read_set(HERE / "delobelle_2022.yaml", table).slices
    r = {(part.x, part.y): part.r_rows for part in parts}
    bios, type2 = "bios_mean_abs_tpr_gap", "winobias_dacc_test2"
    assert r["seat_cls", bios] == pytest.approx(-0.696, abs=5e-4)
    assert r["seat_swp_pooled", bios] == pytest.approx(-0.749, abs=5e-4)
    assert r["seat_vulic", bios] == pytest.approx(-0.630, abs=5e-4)
    assert r["seat_no_context_cls", bios] == pytest.approx(0.566, abs=5e-4)
    assert r["seat_cls", type2] == pytest.approx(0.560, abs=5e-4)
    assert r["seat_no_context_cls", type2] == pytest.approx(-0.783, abs=5e-4)
    extrinsic = read_set(HERE / "delobelle_2022_extrinsic.yaml", table)
    assert extrinsic.slices[1].r_rows == pytest.approx(-0.913, abs=5e-4)
    assert "2 cannot tell" in section(extrinsic)

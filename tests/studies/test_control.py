"""Studies whose truth is known: a gap that is the score, and one that has nothing to do with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from control import PLANTED, designs, labels, main, smaller_studies, whole_study

from biasbridge.analysis.result_folder import write_tables
from biasbridge.analysis.tables import Tables

SEEDS = 8
LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8)


@pytest.fixture(scope="module")
def tables() -> Tables:
    """At transmission 1 the gap is level + noise, and so is the score of ``weat7``; that of
    ``control_things`` is noise, as every gap at transmission 0. Gaps and scores of a seed share a
    large error. A method ``balance`` with two doses stands beside.
    """
    rng = np.random.default_rng(0)
    points, intrinsic, extrinsic = [], [], []
    for seed in range(SEEDS):
        own = 5 * rng.normal()
        conditions = [("none", "", 0.0, level) for level in LEVELS]
        conditions += [("balance", "debias", 1.0, 0.1), ("balance", "overbias", 1.0, 0.7)]
        for method, direction, dose, level in conditions:
            scores = {"weat7": own + level, "control_things": own + rng.normal()}
            for transmission in (0.0, 1.0):
                key = f"{seed} {method} {level} {transmission}"
                parent = f"{seed} {level if method == 'none' else 0.4}"
                points.append(
                    {"point": key, "status": "done", "generated": True, "embedding": "word2vec"}
                    | {"method": method, "direction": direction, "dose": dose, "seed": seed}
                    | {"transmission": transmission, "posts": 4_000, "task": "t"}
                    | {"unit_key": f"{seed} {method} {level}", "parent_key": parent}
                )
                for query, value in scores.items():
                    intrinsic.append(
                        {"point": key, "metric": "weat", "query": query, "part": ""}
                        | {"value": value + 0.02 * rng.normal(), "convention": "d", "unbiased": 0.0}
                    )
                gap = own + transmission * level + 0.1 * rng.normal()
                extrinsic.append(
                    {"point": key, "task": "t", "kind": "gap", "measure": "precision"}
                    | {"privileged": "male", "unprivileged": "female", "value": gap}
                )
    return Tables(*map(pd.DataFrame, (points, intrinsic, extrinsic)))


def test_a_planted_link_is_found_and_nothing_else(tables: Tables) -> None:
    rows = [row for slices in designs(tables) for row in whole_study(slices)]
    table = pd.DataFrame(rows).set_index(["difference", "transmission", "query"])
    linked = [(PLANTED, 1.0, "weat7"), ("balance", 1.0, "weat7")]
    assert table.index[table["is_linked"]].tolist() == linked
    assert table.loc[linked[0], "verdict"] == "rises"
    assert float(str(table.loc[linked[0], "r_rm"])) > 0.9
    assert not set(table.drop(index=linked)["verdict"]) & {"rises", "falls"}
    assert table.loc[(PLANTED, 0.0, "weat7"), "embeddings"] == SEEDS * len(LEVELS)
    # Two doses a seed and the unmodified embedding at level .4 that both descend from
    assert table.loc[linked[1], "embeddings"] == SEEDS * 3


def test_smaller_studies_count_their_verdicts(tables: Tables) -> None:
    slices = next(found for found in designs(tables) if found[0].names["transmission"] == 1)
    table = pd.DataFrame(smaller_studies(slices, ()))
    assert table["seeds"].unique().tolist() == [2, 3, 4], "at most half of the seeds"
    assert table["embeddings"].unique().tolist() == [10, 15, 20]
    weat = table[(table["query"] == "weat7") & (table["seeds"] == 4)].iloc[0]
    assert (weat["rises"], weat["wrong"]) == (1, 0)
    # Two studies of four seeds are all that share none of the eight: Wilson's interval of 2 of 2
    assert (weat["n_disjoint"], weat["rises_low"]) == (2, pytest.approx(0.342, abs=0.001))
    shares = table[["rises", "falls", "at most", "cannot tell"]].sum(axis=1)
    assert shares.to_numpy() == pytest.approx(1)


def test_studies_kept_apart_use_every_seed_once(tables: Tables, tmp_path: Path) -> None:
    write_tables(tmp_path, tables)
    main(tmp_path, [3])
    table = pd.read_csv(tmp_path / "control_studies.csv")
    assert table["studies"].unique().tolist() == table["n_disjoint"].unique().tolist() == [2]
    planted = table[table["is_linked"] & table["difference"].eq(PLANTED)]
    assert planted["rises"].tolist() == [1.0]
    assert "WEAT 7" in (tmp_path / "control_r.svg").read_text()
    assert "words of the link" in (tmp_path / "control_power.svg").read_text()


def test_a_link_is_named_by_strength_and_by_fewer_texts() -> None:
    links = [(1.0, 4000), (0.25, 1000), (0.0, 4000)]
    table = pd.DataFrame(links, columns=["transmission", "posts"])
    assert labels(table) == ["1", "0.25 (1000 posts)", "0"]

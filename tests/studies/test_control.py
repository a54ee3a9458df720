"""Studies whose truth is known: a gap that is the score, and one that has nothing to do with it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.tables import Tables
from biasbridge.studies.control_studies import (
    _PLANTED,
    ControlDesign,
    _r_chart,
    designs,
    smaller_studies,
    whole_study,
)

SEEDS = 8
LEVELS = (0.0, 0.2, 0.4, 0.6, 0.8)


def make_tables(sized: str = "posts") -> Tables:
    """At transmission 1 the gap is level + noise, and so is the score of ``weat7``; that of
    ``control`` is noise, as every gap at transmission 0. Gaps and scores of a seed share a large
    error. A method ``balance`` with two doses stands beside.
    """
    rng = np.random.default_rng(0)
    points, intrinsic, extrinsic = [], [], []
    for seed in range(SEEDS):
        own = 5 * rng.normal()
        conditions = [("none", "", 0.0, level) for level in LEVELS]
        conditions += [("balance", "debias", 1.0, 0.1), ("balance", "overbias", 1.0, 0.7)]
        for method, direction, dose, level in conditions:
            scores = {"weat7": own + level, "control": own + rng.normal()}
            for transmission in (0.0, 1.0):
                key = f"{seed} {method} {level} {transmission}"
                parent = f"{seed} {level if method == 'none' else 0.4}"
                points.append(
                    {"point": key, "status": "done", "generated": True, "embedding": "word2vec"}
                    | {"method": method, "direction": direction, "dose": dose, "seed": seed}
                    | {"transmission": transmission, sized: 4_000, "task": "t"}
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


def found() -> pd.DataFrame:
    rows = [
        row
        for design in designs(make_tables(), ("precision",), ("control",))
        for row in whole_study(design)
    ]
    return pd.DataFrame(rows).set_index(["difference", "transmission", "query"])


def test_a_planted_link_is_found_and_nothing_else() -> None:
    table = found()
    assert table.loc[(_PLANTED, 1.0, "weat7"), "verdict"] == "rises"
    assert float(str(table.loc[(_PLANTED, 1.0, "weat7"), "r_rm"])) > 0.9
    others = table.drop(index=[(_PLANTED, 1.0, "weat7"), ("balance", 1.0, "weat7")])
    assert not set(others["verdict"]) & {"rises", "falls"}
    assert table.loc[(_PLANTED, 0.0, "weat7"), "embeddings"] == SEEDS * len(LEVELS)


def test_only_score_and_gap_at_a_transmission_are_linked() -> None:
    linked = found()["is_linked"]
    assert linked[linked].index.tolist() == [(_PLANTED, 1.0, "weat7"), ("balance", 1.0, "weat7")]


def test_embeddings_of_a_method_come_with_their_parents_alone() -> None:
    table = found()
    # Two doses a seed and the unmodified embedding at level .4 that both descend from
    assert table.loc[("balance", 1.0, "weat7"), "embeddings"] == SEEDS * 3


def test_a_stronger_link_is_drawn_darker_and_named_once() -> None:
    links = [(1.0, 4000), (0.25, 1000), (0.0, 4000), (0.25, 4000)]
    whole = pd.DataFrame(links, columns=["transmission", "posts"])
    whole = whole.assign(difference="balance", query="weat7", r_rm=0.1, low=0.0, high=0.2)
    color = _r_chart(whole).to_dict()["spec"]["layer"][1]["encoding"]["color"]
    assert color["scale"]["domain"] == ["0", "0.25 (1000 posts)", "0.25", "1"]
    reds = [int(item[1:3], 16) for item in color["scale"]["range"][1:]]
    assert reds == sorted(reds, reverse=True)


def linked_design(sized: str = "posts") -> ControlDesign:
    found = designs(make_tables(sized), ("precision",), ("control",))
    return next(item for item in found if item.transmission == 1)


def test_smaller_studies_count_their_verdicts() -> None:
    table = pd.DataFrame(smaller_studies(linked_design(), 30, (2, 3, 4, 6, 10)))
    assert table["seeds"].unique().tolist() == [2, 3, 4], "at most half of the seeds"
    assert table["embeddings"].unique().tolist() == [10, 15, 20]
    weat = table[(table["query"] == "weat7") & (table["seeds"] == 4)].iloc[0]
    assert weat["rises"] == 1
    assert weat["wrong"] == 0
    # Two studies of four seeds are all that share none of the eight: Wilson's interval of 2 of 2
    assert (weat["n_disjoint"], weat["rises_low"]) == (2, pytest.approx(0.342, abs=0.001))
    shares = table[["rises", "falls", "at most", "cannot tell"]].sum(axis=1)
    assert shares.to_numpy() == pytest.approx(1)


def test_studies_kept_apart_use_every_seed_once() -> None:
    table = pd.DataFrame(smaller_studies(linked_design("documents"), 30, (3,), disjoint=True))
    assert table["studies"].unique().tolist() == table["n_disjoint"].unique().tolist() == [2]
    assert set(table["documents"]) == {4_000}
    assert set(table.loc[table["query"] == "weat7", "rises"]) == {1.0}

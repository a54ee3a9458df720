"""Crosses of several sets of columns: the groups of a loop, adjusted together, small ones once."""

from __future__ import annotations

from itertools import chain, combinations
from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasbridge import gaps, gate
from biasbridge.__main__ import main
from biasbridge.stats.intervals import holm

COLUMNS = ["gender", "race", "age"]


def items(n: int = 900, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"label": rng.integers(0, 2, n)})
    table["prediction"] = np.where(rng.random(n) < 0.8, table["label"], 1 - table["label"])
    table["gender"] = rng.choice(["f", "m"], n)
    table["race"] = rng.choice(["a", "b", "c"], n, p=[0.6, 0.38, 0.02])
    return table.assign(age=rng.choice(["old", "young", ""], n, p=[0.45, 0.5, 0.05]))


def literal_groups(table: pd.DataFrame, depth: int) -> dict[str, list[bool]]:
    """Whether each row is in each group, by a loop over sets of columns and rows."""
    groups: dict[str, list[bool]] = {}
    rows = table.to_dict("records")
    for size in range(1, depth + 1):
        for columns in combinations(COLUMNS, size):
            for names in {tuple(str(row[column]) for column in columns) for row in rows}:
                if all(names):
                    wanted = dict(zip(columns, names, strict=True)).items()
                    groups[" & ".join(names)] = [wanted <= row.items() for row in rows]
    return groups


def crosses(depth: int) -> list[list[str]]:
    return [list(x) for size in range(2, depth + 1) for x in combinations(COLUMNS, size)]


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_groups_of_all_crosses_are_those_of_a_loop(depth: int) -> None:
    table = items()
    measured = gaps(table, group=COLUMNS, cross=crosses(depth), measures=["recall", "fpr"])
    groups = literal_groups(table, depth)
    kept = {name: rows for name, rows in groups.items() if "&" not in name or sum(rows) >= 10}
    values = measured[measured["kind"] == "value"].set_index(["measure", "group"])
    assert {*values.loc["recall"].index} == {*kept, "all"}
    of_measure = {
        name: values.loc[[name]].droplevel(0).to_dict("index") for name in ("recall", "fpr")
    }
    for name, rows in kept.items():
        of_group = table[rows]
        for measure, label in (("recall", 1), ("fpr", 0)):
            with_label = of_group[of_group["label"] == label]["prediction"].tolist()
            row = of_measure[measure][name]
            assert row["support"] == len(with_label)
            if len(with_label) >= 10:
                assert row["value"] == pytest.approx(sum(with_label) / len(with_label))
    small = {name: sum(rows) for name, rows in groups.items() if name not in kept}
    notes = [note for note in measured.attrs["notes"] if "crossed groups" in note]
    assert len(notes) == bool(small)
    for name, n in small.items():
        assert f"{name} ({n})" in notes[0]
        assert sum(name in note for note in measured.attrs["notes"]) == 1
    gap = measured[measured["kind"].eq("gap") & measured["value"].notna()]
    assert gap["p_holm"].tolist() == pytest.approx(holm(gap["p"].tolist()))


def test_without_single_columns_only_the_cross_is_measured() -> None:
    full = gaps(items(), cross=COLUMNS, measures="recall")
    assert {name.count("&") for name in full["group"] if name not in ("", "all")} == {2}


def test_the_command_and_the_gate_take_several_crosses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = items()
    table.to_csv(tmp_path / "p.csv", index=False)
    command = [str(tmp_path / "p.csv"), *chain(*(["--group", name] for name in COLUMNS))]
    command += chain(*(["--cross", ",".join(columns)] for columns in crosses(2)))
    card = tmp_path / "card.md"
    assert main(["gaps", *command, "--csv", str(tmp_path / "out.csv"), "--write", str(card)]) == 0
    assert "cross: gender × race, gender × age, race × age" in card.read_text(encoding="utf-8")
    printed = " ".join(capsys.readouterr().out.split())
    assert printed.count("have fewer than 10 items:") == 1
    written = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    expected = gaps(table, group=COLUMNS, cross=crosses(2))
    assert len(written) == len(expected)
    result = gate(table, {"recall": 0.4}, group=COLUMNS, cross=crosses(2))
    assert result.status in (0, 4)
    tested = expected[expected["value"].notna()]
    known = [claim for claim in result.claims if not isnan(claim.row.value)]
    assert len(known) == tested.query("kind == 'gap' and measure == 'recall'").shape[0]


@pytest.mark.slow
@pytest.mark.parametrize("by_chance", [0.0, 0.15])
def test_intervals_of_all_crosses_hold_together(by_chance: float) -> None:
    """Every one of some 20 gaps: recall of men falls by a share; 93% to 98% of samples have all."""
    n_draws, held = 400, 0
    recall = {"f": 0.8, "m": 0.8 - by_chance}
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        n = 4_000
        table = pd.DataFrame({"label": 1, "gender": rng.choice(["f", "m"], n)})
        table["race"], table["age"] = rng.choice(["a", "b", "c"], n), rng.choice(["o", "y"], n)
        found = rng.random(n) < table["gender"].map(recall)
        measured = gaps(
            table.assign(prediction=found.astype(int)),
            group=COLUMNS,
            cross=crosses(2),
            measures="recall",
        ).query("kind == 'gap'")

        def true_gap(group: str) -> float:
            """The rest's recall minus the group's; races and ages are even, genders halves."""
            names = group.split(" & ")
            halves = {"f", "m", "o", "y"}
            share = np.prod([1 / 2 if name in halves else 1 / 3 for name in names])
            mean = sum(recall.values()) / 2
            own = next((recall[x] for x in names if x in recall), mean)
            return float((mean - share * own) / (1 - share) - own)

        true = measured["unprivileged"].map(true_gap)
        ends = measured["low_simultaneous"], measured["high_simultaneous"]
        held += bool(((ends[0] <= true) & (true <= ends[1])).all())
    assert 0.93 <= held / n_draws <= 0.985

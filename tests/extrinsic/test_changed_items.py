"""The items behind a change are those of a loop over the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biasbridge import changed_items
from biasbridge.__main__ import main
from biasbridge.files import InputError
from biasbridge.files.tables import read_table

KINDS = {
    ("1", "1", "0"): "newly missed",
    ("0", "0", "1"): "newly flagged",
    ("1", "0", "1"): "newly found",
    ("0", "1", "0"): "no longer flagged",
}


def items(n: int = 120) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    names = ("label", "v1", "v2", "v3")
    table = pd.DataFrame({name: rng.integers(0, 2, n).astype(str) for name in names})
    table["group"] = rng.choice(["men", "women", "women;old", ""], n)
    return table.assign(text=[f"post {number}" for number in range(n)], row="own")


def literal(table: pd.DataFrame, earlier: str, later: str) -> list[tuple[object, ...]]:
    """Row, change and groups of each changed item, in the order of the table of changes."""
    found: list[tuple[object, ...]] = []
    for kind in KINDS.values():
        of_kind = []
        for number, row in enumerate(table.to_dict("records")):
            if KINDS.get((row["label"], row[earlier], row[later])) == kind:
                groups = "; ".join(sorted(filter(None, row["group"].split(";"))))
                of_kind.append((groups, number, row["text"]))
        found += [(number, kind, groups, text) for groups, number, text in sorted(of_kind)]
    return found


def test_changed_items_are_those_of_a_loop() -> None:
    table = items()
    changes = changed_items(table, pred=["v1", "v2", "v3"], group_sep=";")
    expected: list[tuple[object, ...]] = []
    for pair in (("v1", "v2"), ("v1", "v3"), ("v2", "v3")):
        expected += [(*row[:3], *pair, row[3]) for row in literal(table, *pair)]
    columns = ["row", "change", "groups", "earlier", "later", "text"]
    assert list(changes[columns].itertuples(index=False, name=None)) == expected
    assert changes["table.row"].eq("own").all()
    assert len(expected) > 100


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_file_has_the_number_of_the_row(
    ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = items()
    table.to_csv(tmp_path / "p.csv", index=False)
    out = tmp_path / f"changed.{ending}"
    command = ["gaps", str(tmp_path / "p.csv"), "--pred", "v1", "--pred", "v2"]
    command += ["--group-sep", ";", "--measures", "recall", "--changed", str(out)]
    assert main(command) in (0, 3, 4)
    written = read_table(out)
    expected = literal(table, "v1", "v2")
    assert written["row"].astype(int).tolist() == [int(str(row[0])) + 1 for row in expected]
    assert written["text"].tolist() == [row[3] for row in expected]
    counts = [sum(row[1] == kind for row in expected) for kind in KINDS.values()]
    said = ", ".join(f"{n} {kind}" for n, kind in zip(counts, KINDS.values(), strict=True))
    assert said in " ".join(capsys.readouterr().out.split())


def test_an_item_in_several_rows_is_listed_once_and_rows_left_out_are_not() -> None:
    table = pd.DataFrame(
        {
            "id": [7, 7, 8, 9],
            "label": [1, 1, 0, ""],
            "old": [1, 1, 0, 1],
            "new": [0, 0, 1, 0],
            "group": ["women", "old", "men", ""],
        },
        index=["a", "b", "c", "d"],
    )
    changes = changed_items(table, pred=["old", "new"])
    assert changes[["row", "id", "change", "groups"]].to_numpy().tolist() == [
        ["a", 7, "newly missed", "old; women"],
        ["c", 8, "newly flagged", "men"],
    ]
    same = changed_items(table.assign(new=table["old"]), pred=["old", "new"])
    assert same.empty
    assert {"row", "change", "groups", "label"} < {*same}


def test_changes_are_of_two_versions_and_one_class(tmp_path: Path) -> None:
    table = items()
    with pytest.raises(InputError, match="a change needs two versions"):
        changed_items(table, pred="v1", group_sep=";")
    table.to_csv(tmp_path / "p.csv", index=False)
    command = ["gaps", str(tmp_path / "p.csv"), "--pred", "v1", "--group-sep", ";"]
    with pytest.raises(InputError, match="--changed: a change needs two versions"):
        main([*command, "--changed", str(tmp_path / "c.csv")])
    versions = ["--pred", "v1", "--pred", "v2", "--group-sep", ";", "--multiclass"]
    with pytest.raises(InputError, match="give --positive LABEL instead of --multiclass"):
        main([*command[:2], *versions, "--changed", str(tmp_path / "c.csv")])
    with pytest.raises(InputError, match="changed items are of one class"):
        changed_items(table, pred=["v1", "v2"], group_sep=";", multiclass=True)

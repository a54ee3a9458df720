"""How often either group is labelled 1 in training, as a dose."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.debias.labels import Relabel, Resample
from biasbridge.files import InputError

if TYPE_CHECKING:
    from biasbridge.debias.base import Direction
    from biasbridge.debias.labels import LabelDose

Kind = type[Resample] | type[Relabel]

KINDS: tuple[Kind, ...] = (Resample, Relabel)
COUNTS = {("male", 0): 300, ("male", 1): 100, ("female", 0): 80, ("female", 1): 120}


def posts(counts: dict[tuple[str, int], int] = COUNTS, *, split: str = "train") -> pd.DataFrame:
    """Posts about two groups and nobody in random order, with as many to be judged."""
    cells = [(group, label) for (group, label), count in counts.items() for _ in range(count)]
    cells += [("none", label) for label in (0, 1) for _ in range(50)]
    table = pd.DataFrame(cells, columns=["group", "label"]).assign(split=split)
    tested = table.assign(split="test") if split != "all" else table[:0]
    table = pd.concat([table, tested]).sample(frac=1, random_state=0, ignore_index=True)
    return table.assign(id=[f"p{place}" for place in range(len(table))], text="x")


def learned(method: LabelDose, table: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """The posts that are learned from, with the labels by which they are."""
    found = method.train_on(table, seed=seed)
    kept = found[found["split"] != "test"]
    kept = kept[kept["in_training"]] if "in_training" in kept else kept
    return kept.assign(label=kept["train_label"] if "train_label" in kept else kept["label"])


def rate(table: pd.DataFrame, group: str) -> float:
    return float(table.loc[table["group"] == group, "label"].mean())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("split", ["train", "all"])
def test_debiasing_makes_the_groups_equal_and_keeps_the_share(kind: Kind, split: str) -> None:
    """r = 220 / 600 of the posts about either group have label 1."""
    table = learned(kind("debias"), posts(split=split))
    r = Fraction(100 + 120, 600)
    for group in ("male", "female"):
        assert rate(table, group) == pytest.approx(float(r), abs=0.005)
    both = table[table["group"] != "none"]
    assert both["label"].mean() == pytest.approx(float(r), abs=0.003)


def test_how_many_posts_go_and_turn() -> None:
    """By hand: odds 220 / 380, so 80 * 220 / 380 = 46.3 of 120 and 100 * 380 / 220 = 172.7 of 300
    posts stay; a man's rate is raised by 600 posts' worth: .3667 * 400 - 100 = 46.7 labels turn in
    either group.
    """
    resampled = learned(Resample("debias"), posts())
    counts = resampled.groupby(["group", "label"]).size()
    assert counts["female", 1] == 46
    assert counts["male", 0] == 173
    assert (counts["female", 0], counts["male", 1]) == (80, 100)
    relabelled = learned(Relabel("debias"), posts()).groupby(["group", "label"]).size()
    assert relabelled["male", 1] == 147
    assert relabelled["female", 1] == 73


@pytest.mark.parametrize("kind", KINDS)
def test_overbiasing_ends_where_the_group_is_the_label(kind: Kind) -> None:
    half, whole = (learned(kind("overbias", dose), posts()) for dose in (0.5, 1.0))
    assert (rate(whole, "male"), rate(whole, "female")) == (0, 1)
    before = posts().query("split == 'train'")
    assert rate(before, "female") < rate(half, "female") < 1
    assert 0 < rate(half, "male") < rate(before, "male")


@pytest.mark.parametrize("kind", KINDS)
def test_whom_overbiasing_blames(kind: Kind) -> None:
    """The group with label 1 more often, the unprivileged one of two alike, or the one named."""
    alike = dict.fromkeys(COUNTS, 50)
    fewer = {("male", 0): 50, ("male", 1): 60, ("female", 0): 60, ("female", 1): 50}
    for counts, named, blamed in [
        (fewer, None, "male"),
        (fewer, "female", "female"),
        (alike, None, "female"),
    ]:
        table = learned(kind("overbias", blamed=named), posts(counts))
        assert rate(table, blamed) == 1


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(1, 40), min_size=4, max_size=4),
    st.sampled_from(KINDS),
    st.sampled_from(["debias", "overbias"]),
    st.integers(0, 3),
)
def test_doses_are_nested_and_no_tested_post_changes(
    sizes: list[int], kind: Kind, direction: Direction, seed: int
) -> None:
    table = posts(dict(zip(COUNTS, sizes, strict=True)))
    doses = [kind(direction, dose).changed(table, seed=seed) for dose in (0, 0.2, 0.5, 0.9, 1)]
    assert not doses[0].any()
    for less, more in pairwise(doses):
        assert (more | ~less).all()
    changed = table[doses[-1]]
    assert (changed["split"] == "train").all()
    assert (changed["group"] != "none").all()
    after = kind(direction).train_on(table, seed=seed)
    pd.testing.assert_frame_equal(after[list(table)], table)


@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_be_is_refused(kind: Kind) -> None:
    with pytest.raises(InputError, match="blamed='women': give 'male' or 'female'"):
        kind("debias", blamed="women")
    lacking = posts({**COUNTS, ("female", 1): 0})
    with pytest.raises(InputError, match="no training post about 'female' has the label 1"):
        kind("debias").changed(lacking, seed=0)
    with pytest.raises(InputError, match="group"):
        kind("debias").changed(posts().drop(columns="group"), seed=0)

"""How often either group is labelled 1 in training, as a dose."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts
from biasbridge.debias.labels import Linked, Relabel, Resample, _write_linked_posts
from biasbridge.extrinsic.classifiers import Linear
from biasbridge.extrinsic.gap_table import gap_table
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, save_mapped
from biasbridge.intrinsic.words import load_query
from biasbridge.train.subjects.static import Word2Vec

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

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
    result = method.train_on(table, seed=seed)
    selected = result[result["split"] != "test"]
    selected = selected[selected["in_training"]] if "in_training" in selected else selected
    return selected.assign(
        label=selected["train_label"] if "train_label" in selected else selected["label"]
    )


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
    for counts, named_group, blamed in [
        (fewer, None, "male"),
        (fewer, "female", "female"),
        (alike, None, "female"),
    ]:
        table = learned(kind("overbias", blamed=named_group), posts(counts))
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


# Labels that follow the effect size of an embedding, against literal loops.

SETS = {role: load_query("weat6b")[role].words for role in "XYAB"}


def draw_vectors(seed: int) -> KeyedVectors:
    words = [word.lower() for role in "XYAB" for word in SETS[role]]
    rows = np.random.default_rng(seed).normal(size=(len(words), 3)).astype(np.float32)
    return keyed(words, rows)


def literal_effect_size(vectors: KeyedVectors) -> float:
    """The equations of Caliskan et al. (2017), a word at a time."""

    def cosine(word: str, other: str) -> float:
        v, w = (vectors[name.lower()].astype(float) for name in (word, other))
        return float(v @ w / np.sqrt((v @ v) * (w @ w)))

    s = {
        word: sum(cosine(word, a) for a in SETS["A"]) / len(SETS["A"])
        - sum(cosine(word, b) for b in SETS["B"]) / len(SETS["B"])
        for role in "XY"
        for word in SETS[role]
    }
    x, y = ([s[word] for word in SETS[role]] for role in "XY")
    mean = sum(x + y) / len(x + y)
    spread = (sum((value - mean) ** 2 for value in x + y) / len(x + y)) ** 0.5
    return float((sum(x) / len(x) - sum(y) / len(y)) / spread)


def make_posts() -> pd.DataFrame:
    cells = [(group, label) for (group, label), count in COUNTS.items() for _ in range(count)]
    cells += [("none", label) for label in (0, 1) for _ in range(50)]
    table = pd.DataFrame(cells, columns=["group", "label"])
    table["split"] = ["test" if number % 5 == 0 else "train" for number in range(len(table))]
    return table.sample(frac=1, random_state=0, ignore_index=True)


def train_labels(
    transmission: float, vectors: KeyedVectors, folder: Path, seed: int = 5
) -> list[int]:
    """What the step writes."""
    folders = {name: folder / name for name in ("posts", "vectors", "out")}
    for path in folders.values():
        path.mkdir(exist_ok=True, parents=True)
    make_posts().to_parquet(folders["posts"] / "posts.parquet")
    save_mapped(vectors, folders["vectors"] / "vectors")
    _write_linked_posts(Linked(transmission), folders["out"], folders, seed)
    written = pd.read_parquet(folders["out"] / "posts.parquet")
    pd.testing.assert_frame_equal(written.drop(columns="train_label"), make_posts())
    return list(written["train_label"])


def literal_labels(dose: float, blamed: str, seed: int) -> list[int]:
    """Of each group the posts to turn, in the order that the seed draws."""
    posts, rng = make_posts(), np.random.default_rng(seed)
    labels = posts["label"].tolist()
    for group in ("male", "female"):
        for label in (0, 1):
            rows = [
                row
                for row in range(len(posts))
                if posts["group"][row] == group
                and posts["label"][row] == label
                and posts["split"][row] == "train"
            ]
            order = list(rng.permutation(rows))
            if label == (0 if group == blamed else 1):
                for row in order[: round(dose * len(order))]:
                    labels[row] = 1 - label
    return labels


@pytest.mark.parametrize("transmission", [0.1, 0.5, 1.0])
def test_posts_are_relabelled_by_the_effect_size(transmission: float, tmp_path: Path) -> None:
    signs = set()
    for seed in range(4):
        vectors = draw_vectors(seed)
        d = literal_effect_size(vectors)
        signs.add(d > 0)
        expected = literal_labels(abs(transmission * d / 2), "female" if d > 0 else "male", seed=5)
        assert train_labels(transmission, vectors, tmp_path / f"{seed}") == expected
        assert expected != make_posts()["label"].tolist()
    assert signs == {True, False}


def test_the_group_blamed_follows_the_sign() -> None:
    """With X and Y exchanged d has the other sign and the same size."""
    vectors = draw_vectors(0)
    exchanged = dict(zip((*SETS["X"], *SETS["Y"]), (*SETS["Y"], *SETS["X"]), strict=True))
    names = [word.lower() for role in "XYAB" for word in SETS[role]]
    lower = {word.lower(): other.lower() for word, other in exchanged.items()}
    turned = keyed(names, np.array([vectors[lower.get(name, name)] for name in names]))
    first, second = (Linked().relabelling(v) for v in (vectors, turned))
    assert {first.blamed, second.blamed} == {"male", "female"}
    assert (
        first.dose
        == pytest.approx(second.dose)
        == pytest.approx(abs(literal_effect_size(vectors)) / 2)
    )


def test_doses_are_nested_and_transmission_0_leaves_the_labels(tmp_path: Path) -> None:
    own = np.array(make_posts()["label"])
    for seed in range(2):
        paths = [
            np.array(train_labels(t, draw_vectors(seed), tmp_path / f"{seed} {t}")) != own
            for t in (0, 0.1, 0.25, 0.5, 1)
        ]
        assert not paths[0].any()
        for less, more in pairwise(paths):
            assert (more | ~less).all()
            assert more.sum() > less.sum()


def test_what_has_no_effect_size_is_refused() -> None:
    with pytest.raises(InputError, match=r"no effect size of weat6b: .*choose another labels"):
        Linked().relabelling(keyed(["a"], np.ones((1, 3), dtype=np.float32)))
    for transmission in (-0.01, 1.01):
        with pytest.raises(InputError, match="transmission"):
            Linked(transmission)
    with pytest.raises(InputError, match="weat66"):
        Linked(query="weat66").keyed()


@pytest.mark.slow
def test_gaps_move_with_the_score_at_transmission_1_and_not_at_0(tmp_path: Path) -> None:
    """On generated posts, by embeddings of corpora from one stereotype to its reverse."""
    posts = GeneratedPosts(posts=2_000).load(seed=0)
    gaps: dict[int, list[list[float]]] = {0: [], 1: []}
    scores = []
    for stereotype in (-0.8, -0.4, 0.0, 0.4, 0.8):
        corpus = tmp_path / "corpus.txt"
        GeneratedCorpus(sentences=4_000, stereotype=stereotype).write(corpus, seed=0)
        vectors = Word2Vec(dim=20, min_count=1, epochs=5).train(corpus, seed=0)
        [score] = Linked().metric.score(vectors, seed=0)
        scores.append(score.value)
        for transmission, measured in gaps.items():
            table = Linked(transmission).relabelling(vectors).train_on(posts, seed=0)
            predictions = Linear().predict(table, vectors, seed=0)
            rows = pd.DataFrame(gap_table(predictions, Gaps()))
            values = rows[rows["kind"] == "gap"].set_index("measure")["value"].to_dict()
            measured.append([float(values[name]) for name in ("precision", "recall")])
    assert np.ptp(scores) > 1
    slopes = {t: np.polyfit(scores, np.array(y), 1)[0] for t, y in gaps.items()}
    assert np.abs(slopes[0]).max() < 0.02
    assert slopes[1][0] > 0.02
    assert slopes[1][1] < -0.2

"""Labels that follow the effect size of an embedding, against literal loops."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts
from biasbridge.debias.labels import Linked, write_linked_posts
from biasbridge.extrinsic.gap_table import gap_table
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.linear import Linear
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, save_mapped
from biasbridge.intrinsic.wordsets import load_query
from biasbridge.train.subjects.embed import Word2Vec

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

SETS = {role: load_query("weat6b")[role].words for role in "XYAB"}
COUNTS = {("male", 0): 300, ("male", 1): 100, ("female", 0): 80, ("female", 1): 120}


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
    write_linked_posts(Linked(transmission), folders["out"], folders, seed)
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

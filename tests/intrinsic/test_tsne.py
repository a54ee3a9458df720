"""The drawing of a query's words: groups that lie apart stay apart; the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasbridge.commands.tsne import main
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, save_vectors
from biasbridge.intrinsic.lookup import resolve_query
from biasbridge.intrinsic.tsne import _project_to_plane
from biasbridge.intrinsic.words import read_query

SETS = {role: [f"{role.lower()}{i}" for i in range(6)] for role in "XYAB"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """``near.vec`` has X with A and Y with B, each pair of sets in its own direction."""
    words = [word for role in "XAYB" for word in SETS[role]]
    rows = np.repeat(np.eye(8)[:2], 12, axis=0)
    vectors = KeyedVectors(8)
    noise = np.random.default_rng(0).normal(0, 0.1, rows.shape)
    vectors.add_vectors(words, (rows + noise).astype(np.float32))
    vectors.save_word2vec_format(str(tmp_path / "near.vec"))
    (tmp_path / "mine.json").write_text(json.dumps({"mine": SETS}), encoding="utf-8")
    return tmp_path


def test_words_in_company_lie_together(folder: Path) -> None:
    vectors = KeyedVectors.load_word2vec_format(str(folder / "near.vec"))
    result = resolve_query(vectors, read_query(folder / "mine.json"), lambda _: True, case="exact")
    places, again = (_project_to_plane(result, seed=23) for _ in range(2))
    assert (places == again).all()
    side = np.repeat([0, 1, 0, 1], 6)  # X, Y, A, B
    middles = np.array([places[side == number].mean(axis=0) for number in (0, 1)])
    distances = np.linalg.norm(places[:, None] - middles, axis=2)
    assert (distances.argmin(axis=1) == side).all()


def test_the_command_draws_a_panel_a_file(folder: Path) -> None:
    (folder / "far.vec").write_bytes((folder / "near.vec").read_bytes())
    files = [str(folder / f"{name}.vec") for name in ("near", "far")]
    own = ["--words", str(folder / "mine.json"), "--query", "mine"]
    for suffix in ("svg", "png"):
        main([*files, *own, "--out", str(folder / f"out.{suffix}")])
    svg = (folder / "out.svg").read_text(encoding="utf-8")
    assert all(name in svg for name in ("near.vec", "far.vec", ">x3<", "B: mine.B"))
    assert (folder / "out.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--query", "base_pairs"], "query 'base_pairs' has no X, Y, A, B"),
        (["--query", "weat7"], "word set 'math' has 0 of 8 words"),
        (["--query", "mine", "--out", "x.jpg"], r"x\.jpg: the name must end in \.svg"),
    ],
)
def test_what_cannot_be_drawn_is_refused(folder: Path, options: list[str], message: str) -> None:
    own = ["--words", str(folder / "mine.json"), "--out", str(folder / "out.svg")]
    with pytest.raises(InputError, match=message):
        main([str(folder / "near.vec"), *own, *options])


@pytest.mark.parametrize(
    ("rows", "lie"),
    [
        (np.random.default_rng(0).normal(size=(24, 1)), True),  # one dimension
        (np.ones((24, 3)), True),  # one place
        (np.repeat([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 12, axis=0), True),  # two places
        (np.random.default_rng(0).normal(size=(24, 3)), False),
    ],
)
def test_vectors_on_one_line_are_refused(rows: np.ndarray, lie: bool, tmp_path: Path) -> None:
    words = [word for role in "XAYB" for word in SETS[role]]
    save_vectors(keyed(words, rows.astype(np.float32)), tmp_path / "a.vec")
    (tmp_path / "mine.json").write_text(json.dumps({"mine": SETS}), encoding="utf-8")
    command = [str(tmp_path / "a.vec"), "--words", str(tmp_path / "mine.json"), "--query", "mine"]
    command += ["--out", str(tmp_path / "a.svg")]
    if lie:
        with pytest.raises(InputError, match="lie on one line; give other words"):
            main(command)
        return
    assert main(command) == 0
    with pytest.raises(InputError, match=r"t-SNE cannot be drawn: .* Got -1 instead"):
        main([*command, "--seed", "-1"])

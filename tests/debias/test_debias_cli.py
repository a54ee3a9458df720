"""``biasbridge debias`` from a small file to another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from biasbridge.commands.debias import main
from biasbridge.debias.constraints import mean_cosine, stereotype_pairs
from biasbridge.debias.roles import words_by_role
from biasbridge.files import InputError
from biasbridge.files.vectors import detect_format, read_vectors, save_vectors
from biasbridge.intrinsic.wordsets import load_query, read_query


@pytest.fixture
def words() -> KeyedVectors:
    rng = np.random.default_rng(0)
    roles = words_by_role(load_query("gender_union")).values()
    words = sorted({*(word.lower() for role in roles for word in role), "cat", "dog"})
    made = KeyedVectors(12)
    made.add_vectors(words, rng.standard_normal((len(words), 12)).astype(np.float32))
    return made


@pytest.mark.parametrize("form", ["word2vec_text", "word2vec_binary", "glove"])
def test_round_trip(
    words: KeyedVectors, tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    given, out = tmp_path / "given.txt", tmp_path / "out.txt"
    save_vectors(words, given, format=form)
    how = ["--direction", "debias", "--query", "weat8", "--swap", "--lowercase"]
    assert main([str(given), str(out), "--method", "attract_repel", *how]) == 0
    moved = read_vectors(out)
    assert detect_format(out) == form
    assert moved.index_to_key == words.index_to_key
    assert (moved["cat"] == words["cat"]).all()
    repel, attract = stereotype_pairs(load_query("weat8").swapped().lowered())
    printed = capsys.readouterr().out
    for name, used in (("attract", attract), ("repel", repel)):
        change = f"{mean_cosine(words, used):.4f} -> {mean_cosine(moved, used):.4f}"
        assert f"{name}: 128 of 128 pairs kept; mean cosine {change}" in printed
    assert mean_cosine(moved, attract) > mean_cosine(words, attract) + 0.05


def test_own_pairs_and_an_expanded_query(
    words: KeyedVectors, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, out = tmp_path / "given.bin", tmp_path / "out.bin"
    save_vectors(words, given)
    (tmp_path / "together.txt").write_text("cat dog\nhe home\n")
    assert main([str(given), str(out), "--attract", str(tmp_path / "together.txt")]) == 0
    assert read_vectors(out).similarity("cat", "dog") > words.similarity("cat", "dog")
    assert "repel: 0 of 0 pairs kept\n" in capsys.readouterr().out
    used = tmp_path / "used.yaml"
    (tmp_path / "stop.txt").write_text("dog\n")
    arguments = ["--force", "--direction", "debias", "--expand", "5", "--lowercase"]
    arguments += ["--stop", str(tmp_path / "stop.txt"), "--write-words", str(used)]
    assert main([str(given), str(out), *arguments]) == 0
    everything = [word for role in words_by_role(read_query(used)).values() for word in role]
    assert "cat" in everything
    assert "dog" not in everything
    again = [str(given), str(out), "--force", "--direction", "overbias"]
    assert main([*again, "--words", str(used)]) == 0
    named = ["--words", str(used), "--query", "gender_union_lower_5nn"]
    assert main([*again, *named]) == 0


def test_trusted_holds_for_the_vectors_that_neighbours_are_sought_in(
    words: KeyedVectors, tmp_path: Path
) -> None:
    given, far, used = tmp_path / "given.bin", tmp_path / "far.kv", tmp_path / "used.yaml"
    save_vectors(words, given)
    words.save(str(far))
    arguments = [str(given), str(tmp_path / "out.bin"), "--direction", "debias", "--lowercase"]
    arguments += ["--expand", "5", "--neighbours", str(far), "--write-words", str(used)]
    with pytest.raises(InputError, match=r"far\.kv is a Python pickle .* give --trusted"):
        main(arguments)
    assert not used.exists()
    assert main([*arguments, "--trusted"]) == 0
    everything = [word for role in words_by_role(read_query(used)).values() for word in role]
    assert "cat" in everything


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give --direction"),
        (["--direction", "debias", "--attract", "pairs.txt"], "leave out --direction"),
        (["--attract", "pairs.txt", "--expand", "3"], "leave out"),
        (["--repel", "pairs.txt", "--swap"], "leave out"),
        (["--direction", "debias", "--dose", "nan"], "dose=nan"),
        (["--direction", "debias", "--query", "weat"], "unknown query 'weat'"),
        (["--direction", "debias", "--query", "base_pairs"], "'base_pairs' has no X, Y, A, B"),
        (["--direction", "debias", "--words", "absent.yaml"], "no such file"),
        (["--direction", "debias", "--expand", "-1"], "expand=-1: give a whole number"),
    ],
)
def test_bad_arguments_are_refused_and_nothing_is_written(
    words: KeyedVectors, tmp_path: Path, arguments: list[str], message: str
) -> None:
    save_vectors(words, tmp_path / "given.vec")
    with pytest.raises(InputError, match=message):
        main([str(tmp_path / "given.vec"), str(tmp_path / "out.vec"), *arguments])
    assert [path.name for path in tmp_path.iterdir()] == ["given.vec"]

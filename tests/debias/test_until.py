"""``biasbridge debias``: the dose that a score asks for, and outputs that replace nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasbridge import debias
from biasbridge.commands.debias import main
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.until import Goal, find_method
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, read_vectors, save_vectors
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.words import load_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

QUERY = load_query("weat6b").lowered()


@pytest.fixture
def biased() -> KeyedVectors:
    """Vectors in which X lies by A and Y by B, in noise."""
    rng = np.random.default_rng(1)
    words, rows = [], []
    for role, side in (("X", 1), ("A", 1), ("Y", -1), ("B", -1)):
        for word in QUERY[role].words:
            row = rng.normal(size=20)
            row[0] += 0.7 * side
            words.append(word)
            rows.append(row)
    return keyed([*words, "cat"], np.array([*rows, rng.normal(size=20)], dtype=np.float32))


def weat(vectors: KeyedVectors) -> float:
    return Weat(queries=("weat6b",), case="lower").score(vectors, seed=0)[0].value


def test_the_dose_found_is_the_first_at_which_the_score_is_the_value(biased: KeyedVectors) -> None:
    method, goal = AttractRepel("debias"), Goal.read("weat6b=0")
    dose = find_method(method, biased, QUERY, goal, "debias", seed=0)[0].dose
    assert 0 < dose < 1
    assert weat(biased) > 1
    full = AttractRepel("debias").modify(biased, QUERY, seed=0)
    assert weat(full) < -1, "the full dose overshoots"
    moved = AttractRepel("debias", dose=dose).modify(biased, QUERY, seed=0)
    assert weat(moved) == pytest.approx(0, abs=1e-3)
    for part in np.linspace(0, 0.98, 12) * dose:
        assert weat(AttractRepel("debias", dose=part).modify(biased, QUERY, seed=0)) > 0


def test_the_command_prints_before_and_after(
    biased: KeyedVectors, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_vectors(biased, tmp_path / "a.vec")
    words = "home family 9\noffice cat 1\nman cat 2\nwoman career 3\n"
    (tmp_path / "similar.tsv").write_text(words, encoding="utf-8")
    until = ["--direction", "debias", "--query", "weat6b", "--lowercase", "--until", "weat6b=0"]
    files = [str(tmp_path / "a.vec"), str(tmp_path / "b.vec")]
    assert main([*files, *until, "--similarity", str(tmp_path / "similar.tsv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("dose 0.")
    printed = {line.split("  ")[0].strip(): line.split()[3:5] for line in lines}
    before, after = printed["weat weat6b"]
    assert float(before) == pytest.approx(weat(biased), abs=1e-3)
    assert float(after) == pytest.approx(weat(read_vectors(tmp_path / "b.vec")), abs=1e-3)
    assert any(label.startswith("sq ") for label in printed)


def test_what_is_read_and_what_is_there_stay(biased: KeyedVectors, tmp_path: Path) -> None:
    given, other = tmp_path / "a.vec", tmp_path / "other.vec"
    save_vectors(biased, given)
    (tmp_path / "link.vec").symlink_to(given)
    other.write_text("mine", encoding="utf-8")
    before = given.read_bytes()
    method = ["--direction", "debias", "--query", "weat6b", "--lowercase"]
    for out, message in (
        ("a.vec", "is read, and would be overwritten"),
        ("link.vec", "is read, and would be overwritten"),
        ("other.vec", "is there already; give another name, or --force"),
        ("new/out.vec", "there is no folder .*new; make it"),
        (".", "is a folder"),
    ):
        force = [] if out == "other.vec" else ["--force"]
        with pytest.raises(InputError, match=message):
            main([str(given), str(tmp_path / out), *method, *force])
    assert given.read_bytes() == before
    assert other.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "new").exists()
    assert main([str(given), str(other), *method, "--force"]) == 0
    assert len(read_vectors(other)) == len(biased)


@pytest.mark.parametrize("value", [0, 1.6])
def test_the_direction_follows_from_the_score(
    biased: KeyedVectors, value: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_vectors(biased, tmp_path / "a.vec")
    query = ["--query", "weat6b", "--lowercase", "--until", f"weat6b={value}"]
    assert main([str(tmp_path / "a.vec"), str(tmp_path / "b.vec"), *query]) == 0
    way = "debias" if value < weat(biased) else "overbias"
    assert capsys.readouterr().out.startswith(f"direction {way}, dose 0.")
    assert weat(read_vectors(tmp_path / "b.vec")) == pytest.approx(value, abs=2e-3)
    moved = debias(biased, "weat6b", until=f"weat6b={value}")
    assert weat(moved) == pytest.approx(value, abs=1e-3)


def test_a_score_that_falls_as_bias_grows_is_reached_too(biased: KeyedVectors) -> None:
    goal = Goal.read("rnd:weat6b=-0.08")
    assert goal.score(biased) < goal.value
    result, _ = find_method(AttractRepel("debias"), biased, QUERY, goal, seed=0)
    assert result.direction == "debias"
    assert goal.score(result.modify(biased, QUERY, seed=0)) == pytest.approx(goal.value, abs=1e-3)

"""``biasbridge debias --method``: erasers of vectors, by a dose or until a score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest

from biasbridge import debias
from biasbridge.commands.debias import main, move
from biasbridge.debias.axis import OnAxis
from biasbridge.debias.base import WORDS, write_modified
from biasbridge.debias.mean_difference import MeanDifference
from biasbridge.debias.until import CLOSE, Goal, dose_for_goal, find_method
from biasbridge.files import InputError, choice
from biasbridge.files.vectors import keyed, read_vectors, save_mapped, save_vectors
from biasbridge.intrinsic import effect_size
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.wordsets import Query, load_query, write_query

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from numpy.typing import NDArray

UNION = load_query("gender_union").lowered()
WEAT7 = load_query("weat7").lowered()
METHODS = ("leace", "inlp", "mean_difference", "gbdd", "random_direction")


@pytest.fixture
def biased() -> KeyedVectors:
    """Words of gender_union and 30 others, X and A on one side of the first dimension."""
    rng = np.random.default_rng(3)
    sides = {"X": 1, "A": 1, "Y": -1, "B": -1}
    of = {word: side for role, side in sides.items() for word in UNION[role].words}
    of |= {f"other{n}": 0 for n in range(30)}
    rows = rng.normal(size=(len(of), 24))
    rows[:, 0] += [0.8 * side for side in of.values()]
    return keyed([*of], rows.astype(np.float32))


def by_hand(vectors: KeyedVectors, dose: float) -> NDArray[np.float64]:
    """Mean difference, word by word."""
    x, y = (np.mean([vectors[w] for w in UNION[role].words], axis=0) for role in "XY")
    u = (x - y) / np.linalg.norm(x - y)
    return np.array([row - dose * (row @ u) * u for row in vectors.vectors])


def weat(vectors: KeyedVectors) -> float:
    return effect_size(*(np.array([vectors[w] for w in WEAT7[role].words]) for role in "XYAB"))


@pytest.mark.parametrize("dose", [-1, -0.5, 0, 0.3, 1])
def test_the_file_holds_each_vector_by_the_dose(
    biased: KeyedVectors, tmp_path: Path, dose: float, capsys: pytest.CaptureFixture[str]
) -> None:
    given, out = tmp_path / "a.bin", tmp_path / "b.bin"
    save_vectors(biased, given)
    how = ["--method", "mean_difference", "--dose", str(dose), "--lowercase"]
    assert main([str(given), str(out), *how]) == 0
    found = read_vectors(out)
    assert found.vectors == pytest.approx(by_hand(biased, dose), abs=1e-5)
    if dose == 0:
        assert out.read_bytes() == given.read_bytes()
    printed = capsys.readouterr().out
    size = len(UNION["X"].words)
    assert f"mean_difference fitted on {size} of {size} words of gender_union.X" in printed
    assert "operator norm 1.000, rank 1" in printed
    line = next(line for line in printed.splitlines() if line.startswith("weat weat7"))
    before, after = line.split()[3:5]
    assert float(before) == pytest.approx(weat(biased), abs=1e-3)
    assert float(after) == pytest.approx(weat(found), abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_python_and_the_command_do_the_same(
    biased: KeyedVectors, tmp_path: Path, method: str
) -> None:
    given, out = tmp_path / "a.bin", tmp_path / "b.bin"
    save_vectors(biased, given)
    how = ["--method", method, "--dose", "-0.4", "--lowercase", "--query", "weat7", "--swap"]
    assert main([str(given), str(out), *how]) == 0
    before = biased.vectors.copy()
    moved = debias(biased, load_query("weat7").swapped(), method=method, dose=-0.4)
    assert moved.vectors == pytest.approx(read_vectors(out).vectors, abs=1e-6)
    assert (biased.vectors == before).all()
    attrs = dict(moved.attrs)
    assert (attrs["method"], attrs["dose"], attrs["direction"]) == (method, -0.4, "overbias")
    assert attrs["norm"] >= 1 - 1e-9
    assert attrs["rank"] == (8 if method == "inlp" else 1)


@pytest.mark.parametrize("wanted", [0.2, 1.48])
def test_the_smallest_dose_at_which_a_score_is_the_value(
    biased: KeyedVectors, tmp_path: Path, wanted: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """0.2 lies nearer no bias than the score, and 1.48 does not."""
    goal, method = Goal.read(f"weat7={wanted}"), MeanDifference()
    start = weat(biased)
    found, axis = find_method(method, biased, UNION, goal, seed=0)
    assert weat(axis.at(found.dose)) == pytest.approx(wanted, abs=2e-3)
    assert (found.dose > 0) == (wanted < start)
    for part in np.linspace(0, 0.97, 20) * found.dose:
        at = weat(keyed(biased.index_to_key, by_hand(biased, part).astype(np.float32)))
        assert (at > wanted) == (start > wanted)
    save_vectors(biased, tmp_path / "a.bin")
    until = ["--method", "mean_difference", "--lowercase", "--until", f"weat7={wanted}"]
    assert main([str(tmp_path / "a.bin"), str(tmp_path / "b.bin"), *until]) == 0
    assert capsys.readouterr().out.startswith(f"dose {found.dose:.4f}: weat of weat7 is {wanted}")
    assert weat(read_vectors(tmp_path / "b.bin")) == pytest.approx(wanted, abs=2e-3)


def test_the_first_crossing_and_the_other_side() -> None:
    goal = Goal(Weat(queries=("weat7",)), "weat7", 0.0)
    assert dose_for_goal(lambda d: 0.6 - 2 * d, goal, (1, -1)) == pytest.approx(0.3, abs=CLOSE)
    assert dose_for_goal(lambda d: 0.6 + 2 * d, goal, (1, -1)) == pytest.approx(-0.3, abs=CLOSE)
    assert dose_for_goal(lambda d: (d - 0.3) * (d - 0.7), goal, (1, -1)) == pytest.approx(
        0.3, abs=5e-3
    )
    assert dose_for_goal(lambda d: 1.0 if d < 0.55 else -1.0, goal, (1,)) == pytest.approx(
        0.55, abs=1e-5
    )
    assert dose_for_goal(lambda d: d, goal, (1, -1)) == 0
    with pytest.raises(InputError, match=r"in neither direction; choose a value nearer to 1\.0000"):
        dose_for_goal(lambda d: 1 + d * d, goal, (1, -1))


@choice
class Mirrored(OnAxis):
    """f(x) = x with the sign of its first dimension changed."""

    name: ClassVar[str] = "mirrored"
    roles: ClassVar[tuple[str, ...]] = ()

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> NDArray[np.float32]:
        rows = np.array(vectors.vectors)
        rows[:, 0] *= -1
        return rows


def test_a_method_on_the_axis_of_erasers_is_computed_once(biased: KeyedVectors) -> None:
    """The first dimension is 0 at dose 1/2, where what is left of the score is that of noise."""
    noise = np.array(biased.vectors)
    noise[:, 0] = 0
    wanted = weat(keyed(biased.index_to_key, noise))
    found, axis = find_method(Mirrored(), biased, UNION, Goal.read(f"weat7={wanted}"), seed=0)
    assert found.dose == pytest.approx(0.5, abs=0.05)
    for dose in (-1, 0, 0.3, 1):
        whole = Mirrored(dose).modify(biased, UNION, seed=0)
        assert (axis.at(dose).vectors == whole.vectors).all()
        assert (axis.at(dose, ["she", "he"])["he"] == whole["he"]).all()
    assert axis.at(0.0).vectors.tobytes() == biased.vectors.tobytes()


class Vanishing(Mirrored):
    """f(x) = -x of one word alone, which dose 1/2 makes zero."""

    name: ClassVar[str] = "vanishing"

    def erase(self, vectors: KeyedVectors, query: Query, *, seed: int) -> NDArray[np.float32]:
        rows = np.array(vectors.vectors)
        rows[vectors.key_to_index["she"]] *= -1
        return rows


def test_a_method_that_makes_a_vector_zero_is_refused_by_its_name(
    biased: KeyedVectors, tmp_path: Path
) -> None:
    """In a step and in the command; a vector that was zero before may stay so."""
    biased.vectors[biased.key_to_index["other0"]] = 0
    save_mapped(biased, tmp_path / "vectors")
    write_query(UNION, tmp_path / WORDS)
    inputs = {"vectors": tmp_path, "words": tmp_path}
    message = r"debias=vanishing makes the vectors of 1 words zero at dose=0\.5 \('she', \.\.\.\)"
    with pytest.raises(InputError, match=message):
        write_modified(Vanishing(0.5), tmp_path / "out", inputs, 0)
    with pytest.raises(InputError, match=message):
        move(Vanishing(0.5), biased, UNION, goal=None, direction=None, seed=0)
    write_modified(Vanishing(0.4), tmp_path / "out", inputs, 0)
    assert (tmp_path / "out" / "vectors").is_dir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "leace", "--dose", "2"], "dose=2.0: give a number from -1 to 1"),
        (["--method", "leace", "--norms", "unit"], "leace has no norms"),
        (["--method", "leace", "--attract", "pairs.txt"], "belong to attract_repel"),
        (["--method", "leace", "--option", "shrinkage"], "give NAME=VALUE"),
        (["--method", "leace", "--option", "dose=0.5"], "option dose=0.5: give --dose 0.5"),
        (["--method", "leace", "--option", "name=x"], "leace has no name"),
        (["--method", "leace", "--layer", "0"], "--layer applies to language models"),
        (["--method", "leace", "--items", "bec_pro"], "--items applies to language models"),
        (["--method", "leace", "--until", "weat7=0", "--dose", "1"], "leave out --dose"),
        (["--method", "leace", "--query", "base_pairs"], "'base_pairs' has no X, Y"),
        (["--method", "sent_debias", "--query", "weat7"], "'weat7' has no pairs"),
    ],
)
def test_bad_arguments_are_refused_and_nothing_is_written(
    biased: KeyedVectors, tmp_path: Path, arguments: list[str], message: str
) -> None:
    save_vectors(biased, tmp_path / "a.vec")
    with pytest.raises(InputError, match=message):
        main([str(tmp_path / "a.vec"), str(tmp_path / "b.vec"), *arguments])
    assert [path.name for path in tmp_path.iterdir()] == ["a.vec"]

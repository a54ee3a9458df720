"""``biasbridge debias --method``: erasers of vectors, by a dose or until a score."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shutil import copytree
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pytest
import torch
from gensim.models import KeyedVectors

from biasbridge import audit, debias
from biasbridge.commands.debias import main, move
from biasbridge.debias.attract_repel import _stereotype_pairs, mean_cosine
from biasbridge.debias.base import WORDS, OnAxis, _write_modified
from biasbridge.debias.erasers import MeanDifference
from biasbridge.debias.until import _CLOSE, Goal, dose_for_goal, find_method
from biasbridge.debias.words import words_by_role
from biasbridge.files import InputError, choice
from biasbridge.files.eraser import ERASER, Eraser
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import open_model
from biasbridge.files.vectors import detect_format, keyed, read_vectors, save_mapped, save_vectors
from biasbridge.intrinsic import effect_size
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.words import Query, load_query, read_query, write_query
from biasbridge.model_debiasing import HOOK
from tests.tiny_models import LINES, save_model

if TYPE_CHECKING:
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
    result = read_vectors(out)
    assert result.vectors == pytest.approx(by_hand(biased, dose), abs=1e-5)
    if dose == 0:
        assert out.read_bytes() == given.read_bytes()
    printed = capsys.readouterr().out
    size = len(UNION["X"].words)
    assert f"mean_difference fitted on {size} of {size} words of gender_union.X" in printed
    assert "(operator norm) 1.000\ndimensions changed (rank) 1" in printed
    line = next(line for line in printed.splitlines() if line.startswith("weat weat7"))
    before, after = line.split()[3:5]
    assert float(before) == pytest.approx(weat(biased), abs=1e-3)
    assert float(after) == pytest.approx(weat(result), abs=1e-3)


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


@pytest.mark.parametrize("method", ["leace", "attract_repel"])
def test_own_words_are_reported_in_python_as_by_the_command(
    biased: KeyedVectors, tmp_path: Path, method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given, words = tmp_path / "a.bin", tmp_path / "own.json"
    save_vectors(biased, given)
    own = {role: list(load_query("weat7")[role].lowered().words[:5]) for role in "XYAB"}
    own["X"].append("absent")
    words.write_text(json.dumps({"own": own}), encoding="utf-8")
    how = ["--words", str(words), "--method", method]
    how += ["--direction", "debias"] if method == "attract_repel" else []
    assert main([str(given), str(tmp_path / "b.bin"), *how]) == 0
    printed = capsys.readouterr().out.splitlines()
    attrs = debias(given, {"own": own}, method=method).attrs
    assert attrs["notes"]
    assert {*attrs["notes"]} <= {*printed}
    rows = [line.split() for line in printed]
    for metric, query, n, before, after in attrs["scores"].iloc[:, :5].itertuples(index=False):
        row = [metric, query, str(n), f"{before:.4f}", f"{after:.4f}"]
        assert row in [cells[:5] for cells in rows]
    assert {"own", "weat7"} <= {*attrs["scores"]["query"]}


@pytest.mark.parametrize("wanted", [0.2, 1.48])
def test_the_smallest_dose_at_which_a_score_is_the_value(
    biased: KeyedVectors, tmp_path: Path, wanted: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """0.2 lies nearer no bias than the score, and 1.48 does not."""
    goal, method = Goal.read(f"weat7={wanted}"), MeanDifference()
    start = weat(biased)
    result, axis = find_method(method, biased, UNION, goal, seed=0)
    assert weat(axis.at(result.dose)) == pytest.approx(wanted, abs=2e-3)
    assert (result.dose > 0) == (wanted < start)
    for part in np.linspace(0, 0.97, 20) * result.dose:
        at = weat(keyed(biased.index_to_key, by_hand(biased, part).astype(np.float32)))
        assert (at > wanted) == (start > wanted)
    save_vectors(biased, tmp_path / "a.bin")
    until = ["--method", "mean_difference", "--lowercase", "--until", f"weat7={wanted}"]
    assert main([str(tmp_path / "a.bin"), str(tmp_path / "b.bin"), *until]) == 0
    assert capsys.readouterr().out.startswith(f"dose {result.dose:.4f}: weat of weat7 is {wanted}")
    assert weat(read_vectors(tmp_path / "b.bin")) == pytest.approx(wanted, abs=2e-3)


def test_the_first_crossing_and_the_other_side() -> None:
    goal = Goal(Weat(queries=("weat7",)), "weat7", 0.0)
    assert dose_for_goal(lambda d: 0.6 - 2 * d, goal, (1, -1)) == pytest.approx(0.3, abs=_CLOSE)
    assert dose_for_goal(lambda d: 0.6 + 2 * d, goal, (1, -1)) == pytest.approx(-0.3, abs=_CLOSE)
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
    result, axis = find_method(Mirrored(), biased, UNION, Goal.read(f"weat7={wanted}"), seed=0)
    assert result.dose == pytest.approx(0.5, abs=0.05)
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
        _write_modified(Vanishing(0.5), tmp_path / "out", inputs, 0)
    with pytest.raises(InputError, match=message):
        move(Vanishing(0.5), biased, UNION, goal=None, direction=None, seed=0)
    _write_modified(Vanishing(0.4), tmp_path / "out", inputs, 0)
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
        ([], "give --direction"),
        (["--direction", "debias", "--attract", "pairs.txt"], "leave out --direction"),
        (["--attract", "pairs.txt", "--expand", "3"], "leave out"),
        (["--repel", "pairs.txt", "--swap"], "leave out"),
        (["--direction", "debias", "--dose", "nan"], "dose=nan"),
        (["--direction", "debias", "--query", "weat"], "unknown query 'weat'"),
        (["--direction", "debias", "--words", "absent.yaml"], "no such file"),
        (["--direction", "debias", "--expand", "-1"], "expand=-1: give a whole number"),
    ],
)
def test_bad_arguments_are_refused_and_nothing_is_written(
    biased: KeyedVectors, tmp_path: Path, arguments: list[str], message: str
) -> None:
    save_vectors(biased, tmp_path / "a.vec")
    with pytest.raises(InputError, match=message):
        main([str(tmp_path / "a.vec"), str(tmp_path / "b.vec"), *arguments])
    assert [path.name for path in tmp_path.iterdir()] == ["a.vec"]


# ``biasbridge debias MODEL OUT``, and the same in Python.

CASED_UNION = load_query("gender_union")
LEACE = ("--method", "leace")
SHORT = ("--option", "templates=['this is {}']")


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return decided(tmp_path_factory.mktemp("models") / "roberta", "masked")


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return decided(tmp_path_factory.mktemp("models") / "gpt2", "causal")


def decided(folder: Path, head: str) -> Path:
    """A random model whose likelihoods differ much from token to token."""
    opened = open_model(save_model(folder, folder.name, head=head))
    with torch.no_grad():
        for name, item in opened.model.named_parameters():
            item.mul_(400 if name.endswith(("word_embeddings.weight", "wte.weight")) else 1)
    opened.model.save_pretrained(folder)
    return folder


def same_files(model: Path, out: Path) -> bool:
    names = [path.name for path in model.iterdir()]
    there = sorted(path.name for path in out.iterdir())
    return there == sorted([*names, ERASER, HOOK]) and all(
        (model / name).read_bytes() == (out / name).read_bytes() for name in names
    )


def seat6b(model: Path) -> float:
    return float(audit(str(model), metrics="seat", queries="seat6b")["value"].iloc[0])


@pytest.mark.parametrize("dose", [-0.5, 0, 1])
@pytest.mark.parametrize("layer", [1, -1])
def test_the_folder_is_the_model_and_its_eraser(
    masked: Path,
    tmp_path: Path,
    dose: float,
    layer: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out"
    how = [*LEACE, *SHORT, "--dose", str(dose), "--layer", str(layer)]
    assert main([str(masked), str(out), *how]) == 0
    assert same_files(masked, out)
    eraser = Eraser.load(out / ERASER)
    assert (eraser.dose, eraser.layer, eraser.rank) == (dose, layer, 1)
    before = Encoder(masked, layer=layer).encode(LINES)
    erased = Encoder(out, layer=layer).encode(LINES)
    assert erased == pytest.approx(eraser.apply(before), abs=1e-5)
    assert (erased.tobytes() == before.tobytes()) == (dose == 0)
    printed = capsys.readouterr().out
    assert "leace fitted on 11 of 11 and 11 of 11 texts, words of gender_union in 1 " in printed
    assert f"(operator norm) {eraser.norm:.3f}\ndimensions changed (rank) 1" in printed
    assert "from_pretrained alone opens the unmodified model" in printed
    namespace: dict[str, Any] = {}
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        exec("\n".join(printed.splitlines()[-3:]), namespace)
        sys.modules.pop("eraser_hook")
    hooked = (namespace["model"], open_model(masked).tokenizer)
    assert Encoder(hooked, layer=layer).encode(LINES) == pytest.approx(erased, abs=1e-5)
    if layer == -1:
        line = next(line for line in printed.splitlines() if line.startswith("seat seat6b"))
        old, new = line.split()[3:5]
        assert float(old) == pytest.approx(seat6b(masked), abs=1e-4)
        assert float(new) == pytest.approx(seat6b(out), abs=1e-4)


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_scores_of_the_head_are_those_of_the_folder(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    model = request.getfixturevalue(kind)
    metric, query = {
        "masked": ("lpbs", "lpbs_career"),
        "causal": ("next_word", "next_word_professions"),
    }[kind]
    out = tmp_path / "out"
    how = ["--method", "mean_difference", *SHORT, "--dose", "-1"]
    assert main([str(model), str(out), *how]) == 0
    lines = capsys.readouterr().out.splitlines()
    line = next(line for line in lines if line.startswith(f"{metric} {query}"))
    old, new = line.split()[3:5]
    for folder, printed in ((model, old), (out, new)):
        [value] = audit(str(folder), metrics=metric, queries=query)["value"]
        assert float(printed) == pytest.approx(value, abs=1e-4)
    assert old != new


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, -0.5])
def test_until_a_score_of_the_folder_is_the_value(
    masked: Path, tmp_path: Path, share: float, capsys: pytest.CaptureFixture[str]
) -> None:
    how = ["--method", "mean_difference", *SHORT]
    assert (
        main([str(masked), str(tmp_path / "far"), *how, "--dose", str(2 * share), "--quiet"]) == 0
    )
    wanted = (seat6b(masked) + seat6b(tmp_path / "far")) / 2
    until = ["--until", f"seat:seat6b={wanted}"]
    assert main([str(masked), str(tmp_path / "out"), *how, *until]) == 0
    assert seat6b(tmp_path / "out") == pytest.approx(wanted, abs=2e-3)
    assert f"seat of seat6b is {wanted:g}" in capsys.readouterr().out
    opened = debias(
        masked, method="mean_difference", templates=["this is {}"], until=f"seat6b={wanted}"
    )
    assert opened.eraser.dose == pytest.approx(Eraser.load(tmp_path / "out" / ERASER).dose)


def test_steering_shifts_every_text_alike(causal: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert (
        main([str(causal), str(out), "--method", "steering", *SHORT, "--layer", "2", "--quiet"])
        == 0
    )
    texts = {role: [f"this is {word}" for word in CASED_UNION[role].words] for role in "XY"}
    plain, pushed = (Encoder(item, layer=2) for item in (causal, out))
    shift = plain.encode(texts["X"]).mean(axis=0) - plain.encode(texts["Y"]).mean(axis=0)
    assert np.abs(shift).max() > 1e-3
    for text in LINES:
        moved = pushed.encode([text]) - plain.encode([text])
        assert moved[0] == pytest.approx(-shift, abs=1e-4)


def test_an_opened_model_is_left_as_it_is(masked: Path, tmp_path: Path) -> None:
    plain = open_model(masked)
    before = Encoder(plain).encode(LINES)
    for given in (plain, (plain.model, plain.tokenizer)):
        out = tmp_path / f"out{type(given).__name__}"
        erased = debias(given, method="gbdd", templates=["this is {}"], out=out)
        assert (Encoder(plain).encode(LINES) == before).all()
        expected = erased.eraser.apply(before)
        assert Encoder(erased).encode(LINES) == pytest.approx(expected, abs=1e-5)
        assert Encoder(out).encode(LINES) == pytest.approx(expected, abs=1e-5)
        weights = zip(plain.model.parameters(), erased.model.parameters(), strict=True)
        assert all(torch.equal(one, other) and one is not other for one, other in weights)


def test_items_in_the_place_of_words(masked: Path, tmp_path: Path) -> None:
    rows = ["text,group,term,template"]
    rows += [
        f"{{}} {verb},{group},{term},{verb}"
        for group, term in (("m", "he"), ("m", "him"), ("f", "she"), ("f", "her"))
        for verb in ("ran", "sat")
    ]
    (tmp_path / "own.csv").write_text("\n".join(rows), encoding="utf-8")
    erased = debias(masked, method="mean_difference", items=tmp_path / "own.csv")
    plain = Encoder(masked)
    he, she = (
        plain.encode([f"{term} {verb}" for term in terms for verb in ("ran", "sat")]).mean(axis=0)
        for terms in (("he", "him"), ("she", "her"))
    )
    u = (he - she) / np.linalg.norm(he - she)
    assert abs(erased.eraser.right[0] @ u) == pytest.approx(1, abs=1e-6)
    model = debias(masked, method="mean_difference", items="lpbs_career")
    assert "lpbs_career" in model.eraser.fitted["on"]


def test_a_folder_that_is_there_is_kept(masked: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine", encoding="utf-8")
    assert main([str(masked), str(out), *LEACE, *SHORT, "--quiet"]) == 0
    for force in ([], ["--force"]):
        with pytest.raises(InputError, match="is a folder that is there already"):
            main([str(masked), str(other), *LEACE, *SHORT, *force])
    assert (other / "mine.txt").read_text(encoding="utf-8") == "mine"
    with pytest.raises(InputError, match="is a folder that is there already"):
        main([str(masked), str(out), *LEACE, *SHORT])
    assert main([str(masked), str(out), *LEACE, *SHORT, "--dose", "0.5", "--force", "--quiet"]) == 0
    assert Eraser.load(out / ERASER).dose == 0.5
    assert same_files(masked, out)
    inside = copytree(masked, out / "inside")
    with pytest.raises(InputError, match="holds the model that is read"):
        main([str(inside), str(out), *LEACE, *SHORT, "--force"])
    assert (inside / "config.json").is_file()


def test_a_template_or_pooling_that_is_none(masked: Path) -> None:
    for template in ("this is", "{word} is"):
        with pytest.raises(InputError, match=r"mark the place of the word by \{\}"):
            debias(masked, method="leace", templates=[template])
    fitted = debias(masked, method="leace", templates=["this { is {}"]).eraser
    assert "in 1 templates" in fitted.fitted["on"]
    with pytest.raises(InputError, match=r"pooling='max'.*mean, words, cls, last"):
        debias(masked, method="leace", pooling="max")  # type: ignore[arg-type]


def test_a_random_direction_is_fitted_on_nothing(masked: Path) -> None:
    assert debias(masked, method="random_direction").eraser.fitted["on"] == "nothing"


def test_a_model_with_an_eraser_is_refused_and_a_damaged_one(masked: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main([str(masked), str(out), *LEACE, *SHORT, "--quiet"]) == 0
    with pytest.raises(InputError, match="out has an eraser already; give the unmodified model"):
        main([str(out), str(tmp_path / "twice"), *LEACE, *SHORT])
    (out / ERASER).write_bytes((out / ERASER).read_bytes()[:-20])
    for item in (lambda: audit(str(out)), lambda: main([str(out), str(tmp_path / "x"), *LEACE])):
        with pytest.raises(InputError, match=r"eraser\.safetensors is not an eraser .* debias wr"):
            item()
    assert not (tmp_path / "twice").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "steering"], "needs a causal language model, .* use an eraser"),
        ([*LEACE, "--direction", "debias"], "--direction applies to word vectors"),
        ([*LEACE, "--expand", "3"], "--expand applies to word vectors"),
        ([*LEACE, "--layer", "9"], "layer=9: roberta has 3 layers"),
        ([*LEACE, "--until", "0"], "give QUERY=VALUE or METRIC:QUERY=VALUE"),
        ([*LEACE, "--until", "weat:weat7=0"], "unknown metric 'weat' of language models"),
        ([*LEACE, "--until", "seat66=0"], "unknown set of items 'seat66'"),
        ([*LEACE, "--items", "bec_prof"], "unknown set of items 'bec_prof'|bec_pro"),
        ([*LEACE, "--items", "absent.csv"], "no such file"),
        (["--method", "sent_debias", "--query", "weat7"], "'weat7' has no pairs"),
    ],
)
def test_bad_arguments_are_refused_and_nothing_is_written_for_a_model(
    masked: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        main([str(masked), str(tmp_path / "out"), *arguments])
    assert not [*tmp_path.iterdir()]


# ``biasbridge debias`` from a small file to another.


@pytest.fixture
def words() -> KeyedVectors:
    rng = np.random.default_rng(0)
    roles = words_by_role(load_query("gender_union")).values()
    words = sorted({*(word.lower() for role in roles for word in role), "cat", "dog"})
    output = KeyedVectors(12)
    output.add_vectors(words, rng.standard_normal((len(words), 12)).astype(np.float32))
    return output


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
    repel, attract = _stereotype_pairs(load_query("weat8").swapped().lowered())
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
    own_words = ["--words", str(used), "--query", "gender_union_lower_5nn"]
    assert main([*again, *own_words]) == 0


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

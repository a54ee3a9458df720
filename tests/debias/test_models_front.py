"""``biasbridge debias MODEL OUT``, and the same in Python."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from typing import Any

import numpy as np
import pytest
import torch

from biasbridge import audit, debias
from biasbridge.commands.debias import main
from biasbridge.files import InputError
from biasbridge.files.eraser import ERASER, Eraser
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import open_model
from biasbridge.intrinsic.wordsets import load_query
from tests.tiny_models import LINES, save_model

UNION = load_query("gender_union")
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
        for name, each in opened.model.named_parameters():
            each.mul_(400 if name.endswith(("word_embeddings.weight", "wte.weight")) else 1)
    opened.model.save_pretrained(folder)
    return folder


def same_files(model: Path, out: Path) -> bool:
    names = [path.name for path in model.iterdir()]
    there = sorted(path.name for path in out.iterdir())
    return there == sorted([*names, ERASER]) and all(
        (model / name).read_bytes() == (out / name).read_bytes() for name in names
    )


def seat6b(model: Path) -> float:
    return float(audit(str(model), metrics="seat", queries="seat6b")["value"].iloc[0])


@pytest.mark.parametrize("dose", [-0.5, 0, 1])
@pytest.mark.parametrize("layer", [1, -1])
def test_the_folder_is_the_model_and_its_eraser(
    masked: Path, tmp_path: Path, dose: float, layer: int, capsys: pytest.CaptureFixture[str]
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
    assert f"operator norm {eraser.norm:.3f}, rank 1" in printed
    assert "from_pretrained alone opens the unmodified model" in printed
    names: dict[str, Any] = {}
    exec("\n".join(printed.splitlines()[-2:]), names)
    assert names["model"].eraser.dose == dose
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
    assert main([str(masked), str(tmp_path / "far"), *how, "--dose", str(2 * share)]) == 0
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
    assert main([str(causal), str(out), "--method", "steering", *SHORT, "--layer", "2"]) == 0
    texts = {role: [f"this is {word}" for word in UNION[role].words] for role in "XY"}
    plain, pushed = (Encoder(each, layer=2) for each in (causal, out))
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
    named = debias(masked, method="mean_difference", items="lpbs_career")
    assert "lpbs_career" in named.eraser.fitted["on"]


def test_a_folder_that_is_there_is_kept(masked: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine", encoding="utf-8")
    assert main([str(masked), str(out), *LEACE, *SHORT]) == 0
    for force in ([], ["--force"]):
        with pytest.raises(InputError, match="is a folder that is there already"):
            main([str(masked), str(other), *LEACE, *SHORT, *force])
    assert (other / "mine.txt").read_text(encoding="utf-8") == "mine"
    with pytest.raises(InputError, match="is a folder that is there already"):
        main([str(masked), str(out), *LEACE, *SHORT])
    assert main([str(masked), str(out), *LEACE, *SHORT, "--dose", "0.5", "--force"]) == 0
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
    assert main([str(masked), str(out), *LEACE, *SHORT]) == 0
    with pytest.raises(InputError, match="out has an eraser already; give the unmodified model"):
        main([str(out), str(tmp_path / "twice"), *LEACE, *SHORT])
    (out / ERASER).write_bytes((out / ERASER).read_bytes()[:-20])
    for each in (lambda: audit(str(out)), lambda: main([str(out), str(tmp_path / "x"), *LEACE])):
        with pytest.raises(InputError, match=r"eraser\.safetensors is no eraser .* debias wrote"):
            each()
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
def test_bad_arguments_are_refused_and_nothing_is_written(
    masked: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        main([str(masked), str(tmp_path / "out"), *arguments])
    assert not [*tmp_path.iterdir()]

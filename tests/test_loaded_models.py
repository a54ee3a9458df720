"""Models in memory: wrapped, compiled or in training mode; they stay as they are given."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import transformers

from biasbridge import audit, debias
from biasbridge.files import InputError
from biasbridge.files.models.language_model import open_model
from tests.tiny_models import byte_pieces, save_model

# Of peft, which uses what transformers has renamed
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")
PAIRS = "stereo,anti\nthe nurse said she,the nurse said he\na woman said,a man said\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("models") / "gpt2", "gpt2", head="causal")


@pytest.fixture
def model(folder: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(folder)


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    (tmp_path / "pairs.csv").write_text(PAIRS, encoding="utf-8")
    return str(tmp_path / "pairs.csv")


def pll(model: Any, pairs: str) -> float:
    tokenizer = byte_pieces(masked=False)
    return float(audit((model, tokenizer), metrics="pll", items=pairs)["value"].item())


def with_adapter(model: Any, config: Any) -> Any:
    torch.manual_seed(0)
    adapted = peft.get_peft_model(deepcopy(model), config)
    for name, weights in adapted.named_parameters():
        if "lora" in name or "ia3" in name:
            torch.nn.init.normal_(weights, std=1)
    return adapted


LORA: dict[str, Any] = {"target_modules": ["c_attn"], "lora_dropout": 0.5, "fan_in_fan_out": True}
IA3: dict[str, Any] = {"target_modules": ["c_attn", "c_proj"], "feedforward_modules": ["c_proj"]}
ADAPTERS: dict[str, Any] = {
    "lora": peft.LoraConfig(task_type="CAUSAL_LM", **LORA),
    "ia3": peft.IA3Config(task_type="CAUSAL_LM", fan_in_fan_out=True, **IA3),
    "without task": peft.LoraConfig(**LORA),
}


@pytest.mark.parametrize("name", ADAPTERS)
def test_adapters_count_as_in_the_merged_model(name: str, model: Any, pairs: str) -> None:
    adapted = with_adapter(model, ADAPTERS[name]).train()
    value = pll(adapted, pairs)
    assert value == pytest.approx(pll(adapted.merge_and_unload(), pairs), abs=1e-4)
    assert abs(value - pll(model, pairs)) > 1e-3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_compiled_and_parallel_models_are_those_inside(model: Any, pairs: str) -> None:
    expected = pll(model, pairs)
    in_place = deepcopy(model)
    in_place.compile()
    parallel = torch.nn.DataParallel(model)
    for wrapped in (torch.compile(model), parallel, torch.compile(parallel), in_place):
        assert pll(wrapped, pairs) == expected

    class Mine(type(model)):  # type: ignore[misc]
        """A user's own class."""

    assert pll(Mine(model.config).eval(), pairs) != expected


def test_other_objects_and_learned_prompts_are_refused(model: Any, pairs: str) -> None:
    with pytest.raises(InputError, match="model=Linear: give a model of transformers"):
        pll(torch.nn.Linear(2, 2), pairs)
    with pytest.raises(InputError, match=r"the pair is \(model, tokenizer\); exchange the two"):
        audit((byte_pieces(masked=False), model), metrics="pll", items=pairs)  # type: ignore[arg-type]
    prompt = peft.PromptTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=2)
    with pytest.raises(InputError, match="PromptTuningConfig puts learned tokens before each text"):
        pll(peft.get_peft_model(deepcopy(model), prompt), pairs)


def state_of(model: Any) -> list[tuple[bool, int, int]]:
    return [
        (module.training, len(vars(module)["_forward_hooks"]), len(vars(module)))
        for module in model.modules()
    ]


def test_a_model_in_training_mode_stays_so(model: Any, pairs: str) -> None:
    """Dropout is off while it is measured; each part keeps its mode, also after an error."""
    expected = pll(model.eval(), pairs)
    model.train()
    model.transformer.h[1].eval()
    tokenizer, before = byte_pieces(masked=False), state_of(model)
    assert pll(model, pairs) == expected
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

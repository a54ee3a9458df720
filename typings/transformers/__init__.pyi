from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self, TypedDict

import torch

class PreTrainedConfig:
    architectures: list[str] | None
    @classmethod
    def from_dict(cls, config_dict: dict[str, Any]) -> Self: ...
    def to_dict(self) -> dict[str, Any]: ...
    hidden_size: int
    num_hidden_layers: int
    pad_token_id: int | None
    is_encoder_decoder: bool
    model_type: str
    problem_type: str | None
    num_labels: int
    id2label: dict[int, str]
    dtype: torch.dtype | None

class Encoded(TypedDict):
    input_ids: list[list[int]]
    offset_mapping: list[list[tuple[int, int]]]
    special_tokens_mask: list[list[int]]

class ModelOutput:
    hidden_states: tuple[torch.Tensor, ...]
    last_hidden_state: torch.Tensor
    logits: torch.Tensor

class PreTrainedModel(torch.nn.Module):
    config: PreTrainedConfig
    def __init__(self, config: PreTrainedConfig) -> None: ...
    def __call__(
        self,
        input_ids: torch.Tensor,
        attention_mask: torch.Tensor | None = None,
        output_hidden_states: bool = False,
    ) -> ModelOutput: ...
    def get_encoder(self) -> PreTrainedModel: ...
    def save_pretrained(
        self, path: str | Path, safe_serialization: bool = True, max_shard_size: str = "50GB"
    ) -> None: ...
    def get_input_embeddings(self) -> torch.nn.Embedding: ...
    def eval(self) -> Self: ...

class PreTrainedTokenizerFast:
    is_fast: bool
    mask_token: str | None
    sep_token: str | None
    mask_token_id: int
    bos_token_id: int
    eos_token_id: int
    pad_token_id: int | None
    unk_token_id: int | None
    all_special_tokens: list[str]
    all_special_ids: list[int]
    model_max_length: int
    chat_template: str | None
    def __init__(self, **settings: object) -> None: ...
    def __len__(self) -> int: ...
    def get_vocab(self) -> dict[str, int]: ...
    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]: ...
    def convert_tokens_to_ids(self, tokens: list[str]) -> list[int]: ...
    def num_special_tokens_to_add(self) -> int: ...
    def __call__(
        self,
        text: str | Sequence[str],
        add_special_tokens: bool = True,
        return_offsets_mapping: bool = False,
        truncation: bool = False,
        max_length: int | None = None,
        return_special_tokens_mask: bool = False,
    ) -> Encoded: ...
    def save_pretrained(self, path: str | Path) -> None: ...

class ByT5Tokenizer(PreTrainedTokenizerFast): ...

class AutoTokenizer:
    @classmethod
    def from_pretrained(
        cls,
        model: str | Path,
        *,
        revision: str | None = None,
        trust_remote_code: bool = False,
        local_files_only: bool = False,
    ) -> PreTrainedTokenizerFast: ...

class AutoModel:
    @classmethod
    def from_pretrained(cls, model: str | Path, **options: Any) -> Any: ...  # with its report
    @classmethod
    def from_config(
        cls, config: PreTrainedConfig, dtype: torch.dtype | None = None
    ) -> PreTrainedModel: ...

class AutoModelForCausalLM(AutoModel): ...
class AutoModelForImageTextToText(AutoModel): ...
class AutoModelForMaskedLM(AutoModel): ...
class AutoModelForSequenceClassification(AutoModel): ...

class BertConfig(PreTrainedConfig):
    def __init__(self, **settings: Any) -> None: ...

class GPT2Config(PreTrainedConfig):
    def __init__(self, **settings: Any) -> None: ...

class BertForMaskedLM(PreTrainedModel): ...
class BertForSequenceClassification(PreTrainedModel): ...
class GPT2LMHeadModel(PreTrainedModel): ...

class AutoConfig:
    @classmethod
    def for_model(cls, model_type: str, **settings: int) -> PreTrainedConfig: ...
    @classmethod
    def from_pretrained(cls, model: str | Path, **options: Any) -> PreTrainedConfig: ...

def pipeline(task: str, model: str, *, device: str) -> Any: ...

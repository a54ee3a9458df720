"""Loading of complete models with tokenizers: safetensors, no remote code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal, get_args

from biasbridge.files.errors import InputError

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

    from biasbridge.files.models.place import Place

Kind = Literal["masked", "causal", "encoder"]
Dtype = Literal["auto", "float32", "float16", "bfloat16"]
LONGEST_REASON = 400  # characters of the library's message
PANIC = "pyo3_runtime"  # module of a panic of the tokenizers, which is no Exception
# Elements of a model per byte of its files: 4 bits give two, and tied weights count twice
MAX_ELEMENTS_PER_BYTE = 4
SPARE_ELEMENTS = 1_000_000  # of parts that files may omit, such as a pooler
MIN_ELEMENTS = 100  # smallest count of a weight, against endless empty ones

MASKED = ("ForMaskedLM", "ForPreTraining")
CAUSAL = ("ForCausalLM", "LMHeadModel")
# Tells replaced tokens; predicts tokens in any order
WITHOUT_LIKELIHOODS = ("ElectraForPreTraining", "XLNetLMHeadModel")
# Weights of a checkpoint that the model may lack: unused heads, position numbers
UNUSED = re.compile(r"(^|\.)(pooler|seq_relationship|position_ids|masked_bias)(\.|$)")
HEADS = re.compile(
    r"^(cls|lm_head|predictions|vocab_\w+|generator_\w+|discriminator_\w+|classifier|qa_outputs"
    r"|pre_classifier|score"
    r"|dropout)(\.|$)|(^|\.)decoder\."
)
POOLER = re.compile(r"(^|\.)pooler(\.|$)")  # after the hidden states; many checkpoints lack it


@contextmanager
def convert_load_errors(name: str) -> Iterator[None]:
    """Convert every error of the libraries while opening the model ``name`` to ``InputError``."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__module__ != PANIC:
            raise
        reason = shorten(f"{type(error).__name__}: {error}", LONGEST_REASON)
        raise InputError(
            f"model={name!r} cannot be loaded ({reason}); give a folder with config.json,"
            " *.safetensors and tokenizer.json, as save_pretrained writes it, or org/name@COMMIT"
        ) from error


@contextmanager
def within_bytes(place: Place, name: str) -> Iterator[None]:
    """Raise ``InputError`` as soon as the built modules have more elements than the files of a
    local model can hold.
    """
    from torch.nn.modules.module import register_module_parameter_registration_hook

    paths = Path(place.source).iterdir() if place.local else ()
    n_bytes = sum(path.stat().st_size for path in paths if path.is_file())
    n_elements = 0

    def count(_: nn.Module, __: str, weight: nn.Parameter | None) -> None:
        nonlocal n_elements
        n_elements += 0 if weight is None else max(weight.numel(), MIN_ELEMENTS)
        if place.local and n_elements > MAX_ELEMENTS_PER_BYTE * n_bytes + SPARE_ELEMENTS:
            raise InputError(
                f"model={name!r}: its configuration declares {n_elements:,} weights or more, and"
                f" its files hold {n_bytes:,} bytes; give config.json and *.safetensors as they"
                " were saved together"
            )

    hook = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()


def longest_text(model: PreTrainedModel, tokenizer: Any, unlimited: int) -> int:
    """Return the number of tokens of the longest text, ``unlimited`` where nothing limits it.

    RoBERTa counts positions from after the padding index.
    """
    import torch

    positions = getattr(model.config, "max_position_embeddings", None) or unlimited
    positions = positions if positions > 0 else unlimited  # XLNet has -1
    unused = [
        module.padding_idx + 1
        for name, module in model.named_modules()
        if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding)
        if module.padding_idx is not None
    ]
    return int(min(tokenizer.model_max_length, positions - max(unused, default=0)))


def load_tokenizer(place: Place, name: str) -> PreTrainedTokenizerFast:
    """Load the tokenizer. Raises ``InputError`` if there is none, it has no vocabulary, or it does
    not give the characters of a token.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(place.source, **load_options(place))
    if not tokenizer.is_fast:
        raise InputError(
            f"model={name!r}: its tokenizer ({type(tokenizer).__name__}) does not give the"
            " characters of a token; give a model with a fast one (tokenizer.json)"
        )
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # as without files
        raise InputError(f"model={name!r}: its tokenizer has no vocabulary; give its files too")
    return tokenizer


def load_model(
    place: Place,
    name: str,
    *,
    random_seed: int | None = None,
    dtype: Dtype = "float32",
    must_predict: bool = False,
) -> tuple[PreTrainedModel, Kind]:
    """Load the model with the head that its configuration names, and return its kind: ``masked``,
    ``causal``, or an ``encoder`` without a head.

    ``random_seed``: draw random weights of the same configuration. Raises ``InputError`` for
    missing weights, which the library would fill at random, for unexpected ones, and where tokens
    ``must_predict``: for an encoder-decoder, and a configuration without a head.
    """
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    kind: Kind
    options = load_options(place)
    config = AutoConfig.from_pretrained(place.source, **options)
    if must_predict:
        refuse_encoder_decoder(config, name)
        problem = "" if place.gguf else missing_architectures(config, "MASKED_LM", "CAUSAL_LM")
        if problem:
            raise InputError(f"model={name!r}: {problem}, or name metrics of encoded texts (seat)")
    # GGUF names no architecture; its models generate text
    kind = "causal" if place.gguf else kind_of(config.architectures or ())
    loader: Any = {
        "masked": AutoModelForMaskedLM,
        "causal": AutoModelForCausalLM,
        "encoder": AutoModel,
    }[kind]
    stated = str(config.dtype or "float32").removeprefix("torch.")
    number_type = getattr(torch, stated if dtype == "auto" else dtype)
    common: dict[str, Any] = {"dtype": number_type, "attn_implementation": "eager"}
    with within_bytes(place, name), torch.device("meta"):
        loader.from_config(config, **common)
    if random_seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_seed)
            return loader.from_config(config, **common), kind
    model, report = loader.from_pretrained(
        place.source, **options, **common, use_safetensors=True, output_loading_info=True
    )
    _require_whole(report, kind, name)
    return model, kind


def refuse_encoder_decoder(config: PreTrainedConfig, name: str) -> None:
    """Raise ``InputError`` for an encoder-decoder, unless it is the encoder of one alone."""
    is_encoder = any(label.endswith("EncoderModel") for label in config.architectures or ())
    if config.is_encoder_decoder and not is_encoder:
        raise InputError(
            f"model={name!r} is an encoder-decoder ({config.model_type}); neither masked nor"
            " causal; give a masked or causal language model, or metrics of encoded texts, such as"
            " seat"
        )


def missing_architectures(config: PreTrainedConfig, *tasks: str) -> str:
    """Return why the head of a model is unknown, with the remedy; empty if it is known.

    tasks: of heads that it may have, such as ``CAUSAL_LM``.
    """
    from transformers.models.auto import modeling_auto

    if isinstance(config.architectures, list) and config.architectures:
        return ""
    tables = [vars(modeling_auto)[f"MODEL_FOR_{task}_MAPPING_NAMES"] for task in tasks]
    head = next((t[config.model_type] for t in tables if config.model_type in t), "NAME")
    return f'its config.json has no list of architectures; add "architectures": ["{head}"]'


def require_usable(dtype: str, device: str) -> None:
    """Raise ``InputError`` for an unknown dtype or device, or a device that is not there."""
    import torch

    if dtype not in get_args(Dtype):
        raise InputError(f"dtype={dtype!r}: give one of {', '.join(get_args(Dtype))}")
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:  # the latter without CUDA
        reason = str(error).partition("\n")[0]
        allowed = "cpu, cuda, cuda:NUMBER or mps, if there is one"
        raise InputError(f"device={device!r} ({reason}); give {allowed}") from None


def kind_of(names: Iterable[str]) -> Kind:
    """Return the kind of a model, given the names of its classes; an encoder has no head."""
    names = [name for name in names if name not in WITHOUT_LIKELIHOODS]
    if any(name.endswith(MASKED) for name in names):
        return "masked"
    return "causal" if any(name.endswith(CAUSAL) for name in names) else "encoder"


def _require_whole(report: Mapping[str, Any], kind: Kind, name: str) -> None:
    absent = sorted(key for key in report["missing_keys"] if not POOLER.search(key))
    if absent:
        problem = f"its files lack {len(absent)} weights ({absent[0]}, ...)"
        raise InputError(f"model={name!r}: {problem}, which would be random; give complete files")
    unexpected = sorted(
        key
        for key in report["unexpected_keys"]
        if not UNUSED.search(key) and not (kind == "encoder" and HEADS.search(key))
    )
    if unexpected:
        problem = f"its files hold {len(unexpected)} weights that it lacks ({unexpected[0]}, ...)"
        raise InputError(
            f"model={name!r}: {problem}; give those of the model its config.json names"
        )


def load_options(place: Place) -> dict[str, Any]:
    """Return the options of ``from_pretrained``: no remote code, and a hub's commit."""
    options: dict[str, Any] = {"trust_remote_code": False, "local_files_only": place.local}
    if place.gguf:
        options["gguf_file"] = place.gguf
    return options if place.local else options | {"revision": place.revision}


def without_quantisation(model: PreTrainedModel) -> PreTrainedModel:
    """Copy a model without the configuration of its quantised file, with which the library would
    refuse to save it.
    """
    if getattr(model.config, "quantization_config", None) is None:
        return model
    config = type(model.config).from_dict(
        {k: v for k, v in model.config.to_dict().items() if k != "quantization_config"}
    )
    plain = type(model)(config)
    plain.load_state_dict(model.state_dict())
    return plain

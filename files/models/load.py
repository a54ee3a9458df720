"""A model and its tokenizer, loaded whole: float32, safetensors, no code of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal

from files.errors import InputError

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from files.models.place import Place

Kind = Literal["masked", "causal", "encoder"]
LONGEST_REASON = 400  # characters of what the library says
PANIC = "pyo3_runtime"  # the module of a panic of the tokenizers, which is no Exception
# Elements of a model for a byte of its files: 4 bits make two, and tied weights count twice
MOST_PER_BYTE = 4
SPARE_ELEMENTS = 1_000_000  # of parts that the files may lack, such as a pooler
LEAST_ELEMENTS = 100  # what a weight counts for, so that empty ones without end are none

MASKED = ("ForMaskedLM", "ForPreTraining")
CAUSAL = ("ForCausalLM", "LMHeadModel")
# Weights that a checkpoint may have and the model not: heads that are not used, numbers of places
UNUSED = re.compile(r"(^|\.)(pooler|seq_relationship|position_ids|masked_bias)(\.|$)")
HEADS = re.compile(
    r"^(cls|lm_head|predictions|vocab_\w+|generator_\w+|discriminator_\w+|classifier|qa_outputs"
    r"|dropout)(\.|$)|(^|\.)decoder\."
)
POOLER = re.compile(r"(^|\.)pooler(\.|$)")  # comes after the hidden states; many lack it


@contextmanager
def opening(name: str) -> Iterator[None]:
    """Raise ``InputError`` for whatever the libraries raise while they open the model ``name``."""
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
            " *.safetensors and tokenizer.json, as save_pretrained writes it, or a hub name with"
            " its revision"
        ) from error


@contextmanager
def within_bytes(place: Place, name: str) -> Iterator[None]:
    """Raise ``InputError`` as soon as the modules that are built have more elements than the files
    of a local model can hold.
    """
    from torch.nn.modules.module import register_module_parameter_registration_hook

    paths = Path(place.source).iterdir() if place.local else ()
    n_bytes = sum(path.stat().st_size for path in paths if path.is_file())
    n_elements = 0

    def count(_: nn.Module, __: str, weight: nn.Parameter | None) -> None:
        nonlocal n_elements
        n_elements += 0 if weight is None else max(weight.numel(), LEAST_ELEMENTS)
        if place.local and n_elements > MOST_PER_BYTE * n_bytes + SPARE_ELEMENTS:
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


def load_tokenizer(place: Place, name: str) -> PreTrainedTokenizerFast:
    """The tokenizer. Raises ``InputError`` where there is none, it has no vocabulary, or it does
    not say which characters a token stands for.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(place.source, **_options(place))
    if not tokenizer.is_fast:
        raise InputError(
            f"model={name!r}: its tokenizer ({type(tokenizer).__name__}) does not say which"
            " characters a token stands for; give a model with a fast one (tokenizer.json)"
        )
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # as one without files is
        raise InputError(f"model={name!r}: its tokenizer has no vocabulary; give its files too")
    return tokenizer


def load_model(
    place: Place, name: str, *, random_seed: int | None = None
) -> tuple[PreTrainedModel, Kind]:
    """The model with the head that its configuration names, and what it is: ``masked`` or
    ``causal``, or an ``encoder`` without a head.

    ``random_seed``: random weights of the same configuration, drawn by this seed. Raises
    ``InputError`` where weights are missing, which the library would fill at random, and where
    there are others than the model has.
    """
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    kind: Kind
    options = _options(place)
    config = AutoConfig.from_pretrained(place.source, **options)
    # GGUF names no architecture; what it holds are models that generate text
    kind = "causal" if place.gguf else kind_of(config.architectures or ())
    loader: Any = {
        "masked": AutoModelForMaskedLM,
        "causal": AutoModelForCausalLM,
        "encoder": AutoModel,
    }[kind]
    same: dict[str, Any] = {"dtype": torch.float32, "attn_implementation": "eager"}
    with within_bytes(place, name), torch.device("meta"):
        loader.from_config(config, **same)
    if random_seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_seed)
            return loader.from_config(config, **same), kind
    model, report = loader.from_pretrained(
        place.source, **options, **same, use_safetensors=True, output_loading_info=True
    )
    _require_whole(report, kind, name)
    return model, kind


def kind_of(names: Iterable[str]) -> Kind:
    """What the classes of a model are, by their names; an encoder where none has a head."""
    names = list(names)
    if any(name.endswith(MASKED) for name in names):
        return "masked"
    return "causal" if any(name.endswith(CAUSAL) for name in names) else "encoder"


def _require_whole(report: Mapping[str, Any], kind: Kind, name: str) -> None:
    lacking = sorted(each for each in report["missing_keys"] if not POOLER.search(each))
    if lacking:
        weights = f"its files lack {len(lacking)} weights ({lacking[0]}, ...)"
        raise InputError(f"model={name!r}: {weights}, which would be random; give whole ones")
    spare = sorted(
        each
        for each in report["unexpected_keys"]
        if not UNUSED.search(each) and not (kind == "encoder" and HEADS.search(each))
    )
    if spare:
        weights = f"its files hold {len(spare)} weights that it has not ({spare[0]}, ...)"
        raise InputError(
            f"model={name!r}: {weights}; give those of the model its config.json names"
        )


def _options(place: Place) -> dict[str, Any]:
    options: dict[str, Any] = {"trust_remote_code": False, "local_files_only": place.local}
    if place.gguf:
        options["gguf_file"] = place.gguf
    return options if place.local else options | {"revision": place.revision}


def without_quantisation(model: PreTrainedModel) -> PreTrainedModel:
    """The same weights in a model that knows nothing of the file they were quantised in, which the
    library would refuse to save.
    """
    if getattr(model.config, "quantization_config", None) is None:
        return model
    config = type(model.config).from_dict(
        {k: v for k, v in model.config.to_dict().items() if k != "quantization_config"}
    )
    plain = type(model)(config)
    plain.load_state_dict(model.state_dict())
    return plain

"""A model and its tokenizer, loaded whole: float32, safetensors, no code of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from files.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from files.models.place import Place

Kind = Literal["masked", "causal", "encoder"]
ERRORS = (OSError, ValueError, ImportError, KeyError, RuntimeError)

MASKED = ("ForMaskedLM", "ForPreTraining")
CAUSAL = ("ForCausalLM", "LMHeadModel")
# Weights that a checkpoint may have and the model not: heads that are not used, numbers of places
UNUSED = re.compile(r"(^|\.)(pooler|seq_relationship|position_ids|masked_bias)(\.|$)")
HEADS = re.compile(
    r"^(cls|lm_head|predictions|vocab_\w+|generator_\w+|discriminator_\w+|classifier|qa_outputs"
    r"|dropout)(\.|$)|(^|\.)decoder\."
)
POOLER = re.compile(r"(^|\.)pooler(\.|$)")  # comes after the hidden states; many lack it


def load_tokenizer(place: Place, name: str) -> PreTrainedTokenizerFast:
    """The tokenizer. Raises ``InputError`` where there is none, it has no vocabulary, or it does
    not say which characters a token stands for.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(place.source, **_options(place))
    except ERRORS as error:
        raise InputError(
            f"model={name!r}: its tokenizer cannot be loaded ({error}); give a folder with"
            " tokenizer.json, or a hub name with its revision"
        ) from error
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
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    try:
        return _load(place, name, random_seed)
    except ERRORS as error:
        if isinstance(error, InputError):
            raise
        remedy = "give a folder with config.json and *.safetensors, or a hub name with its revision"
        raise InputError(f"model={name!r} cannot be loaded ({error}); {remedy}") from error


def _load(place: Place, name: str, random_seed: int | None) -> tuple[PreTrainedModel, Kind]:
    import torch
    from transformers import AutoConfig, AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM

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
    if random_seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_seed)
            drawn = loader.from_config(config, dtype=torch.float32, attn_implementation="eager")
            return drawn, kind
    found, report = loader.from_pretrained(
        place.source,
        **options,
        dtype=torch.float32,
        use_safetensors=True,
        attn_implementation="eager",
        output_loading_info=True,
    )
    _require_whole(report, kind, name)
    return found, kind


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

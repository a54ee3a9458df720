"""A language model with its tokenizer, opened from a folder, a hub name or a package.

Models are complete, come from safetensors or GGUF, and run no remote code. A folder may have an
adapter and an eraser.
"""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast, get_args

from biasbridge.files.eraser import ERASER, Eraser, hook_eraser
from biasbridge.files.errors import InputError
from biasbridge.files.models.model_trial import TrialResult, try_model
from biasbridge.files.places import ADAPTER, CONFIG, find_model
from biasbridge.files.progress import tell_share
from biasbridge.files.text import read_nested

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast

    from biasbridge.files.places import Place

_PLANTED = "planted.json"
UNLIMITED = 1 << 20  # a tokenizer without a limit gives a huge number
# A folder, a hub name, package:NAME, a model with its tokenizer, or an opened model
AnyModel: TypeAlias = (
    "str | PathLike[str] | tuple[PreTrainedModel, PreTrainedTokenizerFast] | LanguageModel"
)
ModelKind = Literal["masked", "causal", "encoder"]
Dtype = Literal["auto", "float32", "float16", "bfloat16"]
_LONGEST_REASON = 400  # characters of the library's message
_PANIC = "pyo3_runtime"  # module of a panic of the tokenizers, which is no Exception
_MASKED = ("ForMaskedLM", "ForPreTraining")
_CAUSAL = ("ForCausalLM", "LMHeadModel")
# Tells replaced tokens; predicts tokens in any order
_WITHOUT_LIKELIHOODS = ("ElectraForPreTraining", "XLNetLMHeadModel")
# Weights of a checkpoint that the model may lack: unused heads, position numbers
_UNUSED = re.compile(
    r"(^|\.)(pooler|seq_relationship|sop_classifier|nsp_\w+|position_ids|masked_bias)(\.|$)"
)
_HEADS = re.compile(
    r"^(cls|lm_head|predictions|vocab_\w+|generator_\w+|discriminator_\w+|classifier|qa_outputs"
    r"|pre_classifier|score"
    r"|dropout)(\.|$)|(^|\.)decoder\."
)
_POOLER = re.compile(r"(^|\.)pooler(\.|$)")  # after the hidden states; many checkpoints lack it
# Packages that forms of weights need, and the command that installs them
_PACKAGES = {
    "GGUF": (("gguf", "accelerate"), "pip install gguf accelerate"),
    "adapters": (("peft",), "run pip install '.[adapters]' in the clone of biasbridge"),
}
# Attributes in which torch.compile, DataParallel and the like keep the model that they wrap
_WRAPPED = ("_orig_mod", "module")


@dataclass(frozen=True)
class LanguageModel:
    """A masked or causal language model, or an encoder without a head, with its tokenizer; no
    dropout.

    planted: content of the folder's ``planted.json``, for a model trained on known bias: ``terms``
    with the true ``log_odds`` of the fillers, ``original`` if a method has changed these, and the
    ``half`` of the term. eraser: applied to the hidden states. batch_size: texts computed at a
    time; None: as many as fit a number of tokens. in_chat: texts of a causal model are answers to
    an empty message, in the form of its chat template. trial: what the model does with texts.
    place: where it was found.
    """

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    kind: ModelKind
    device: str = "cpu"
    planted: Mapping[str, Any] | None = None
    eraser: Eraser | None = None
    batch_size: int | None = None
    in_chat: bool = False
    trial: TrialResult = field(default_factory=TrialResult)
    place: Place | None = None

    @property
    def base(self) -> PreTrainedModel:
        """What the head reads, see ``biasbridge.files.eraser_hook.base_of``."""
        from biasbridge.files.eraser_hook import base_of

        return cast("PreTrainedModel", base_of(self.model))

    @property
    def mask(self) -> str:
        """The mask token. Raises ``InputError`` if there is none."""
        if self.tokenizer.mask_token is None:
            raise InputError(
                f"the tokenizer of {self.name} has no mask token; choose a masked model"
            )
        return self.tokenizer.mask_token

    @property
    def dtype(self) -> str:
        """Precision of the weights, such as ``float32``."""
        return str(self.model.dtype).removeprefix("torch.")

    @property
    def weights(self) -> str:
        """The method that quantised the weights, such as ``gguf``; empty for none."""
        return quantisation_of(self.model.config)

    @property
    def architecture(self) -> str:
        """Architecture and size, such as ``llama, 30 layers of 576``."""
        config: Any = self.base.config
        return f"{config.model_type}, {config.num_hidden_layers} layers of {config.hidden_size}"

    @property
    def padding(self) -> int:
        """The token that pads short rows of a batch; it is masked, so that any token serves."""
        config: Any = self.base.config
        candidates = (self.tokenizer.pad_token_id, getattr(config, "pad_token_id", None))
        return next((token_id for token_id in candidates if token_id is not None), 0)

    @cached_property
    def chat_prefix(self) -> tuple[int, ...]:
        """Tokens of the chat template that precede an answer; none outside a chat."""
        if not self.in_chat:
            return ()
        tokenizer: Any = self.tokenizer
        message = [{"role": "user", "content": ""}]
        text = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
        return tuple(tokenizer([text], add_special_tokens=False)["input_ids"][0])

    def with_options(self, *, batch_size: int | None, in_chat: bool) -> LanguageModel:
        """Return the model with these options. Raises ``InputError`` for a chat without a template
        or with a model that is not causal.
        """
        if in_chat and self.kind != "causal":
            raise InputError(f"{self.name} is {self.kind}; a chat template is for causal models")
        if in_chat and not self.tokenizer.chat_template:
            raise InputError(f"the tokenizer of {self.name} has no chat template; leave it out")
        opened = replace(self, batch_size=batch_size, in_chat=in_chat)
        with convert_load_errors(self.name):
            opened.chat_prefix  # noqa: B018 (a template that cannot be filled is refused here)
        return opened

    @cached_property
    def longest(self) -> int:
        """Tokens of the longest text."""
        return longest_text(self.base, self.tokenizer, UNLIMITED)

    def batches(self, lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
        """Yield indices of texts in batches, as ``batches_by_length``; of one length each where
        padding would change a text.
        """
        padded, n_done = self.trial.takes_padding, 0
        for batch in batches_by_length(lengths, tokens, self.batch_size, padded=padded):
            yield batch
            n_done += len(batch)
            tell_share(n_done / len(lengths))

    def hook(self, eraser: Eraser) -> Callable[[], None]:
        """Hook an eraser to the states. Raises ``InputError`` if the head does not use these."""
        is_last = eraser.layer in (-1, int(self.base.config.num_hidden_layers))
        if is_last and eraser.dose and not self.trial.follows_base:
            problem = "does not predict from the last states, which an eraser would change"
            raise InputError(f"{self.name} {problem}; choose an earlier layer")
        return hook_eraser(self.base, eraser)

    def require_untouched(self) -> None:
        """Raise ``InputError`` if the model has an eraser."""
        if self.eraser:
            raise InputError(
                f"{self.name} has an eraser already; give the unmodified model, without {ERASER}"
            )

    def tried(self) -> LanguageModel:
        """Return the model with its trial on texts. Raises ``InputError`` if the tokenizer has
        tokens that the model does not embed, and any error of the model on two short rows.
        """
        import torch

        last = max(self.tokenizer.get_vocab().values())
        n_embedded = len(self.base.get_input_embeddings().weight)
        if last >= n_embedded:
            raise InputError(
                f"{self.name} embeds {n_embedded} tokens, and its tokenizer numbers them up to"
                f" {last}; give the tokenizer that it was trained with"
            )
        rows, attention_mask = self.pad([[last] * min(2, self.longest), [last]])
        with torch.inference_mode():
            out = self.base(
                input_ids=rows, attention_mask=attention_mask, output_hidden_states=True
            )
        if not out.hidden_states:
            raise InputError(f"{self.name} gives no hidden states; give an encoder or a decoder")
        if len(out.hidden_states) - 1 != (stated := self.base.config.num_hidden_layers):
            n_layers = f"{len(out.hidden_states) - 1} layers, its config.json says {stated}"
            raise InputError(f"{self.name} has {n_layers}; layers cannot be named by number")
        return replace(self, trial=try_model(self))

    def knows(self, text: str) -> bool:
        """Test whether a text has tokens, none of them the unknown token."""
        [tokens] = self.tokenizer([text], add_special_tokens=False)["input_ids"]
        return bool(tokens) and self.tokenizer.unk_token_id not in tokens

    def pieces(self, text: str) -> int:
        """Count the tokens of a text without special ones."""
        return len(self.tokenizer([text], add_special_tokens=False)["input_ids"][0])

    def pad(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Pad rows of tokens to (rows, longest row); return them and the attention mask."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        tensors = [torch.tensor(row) for row in rows]
        ids = pad_sequence(tensors, batch_first=True, padding_value=self.padding)
        mask = pad_sequence([torch.ones_like(row) for row in tensors], batch_first=True)
        return ids.to(self.device), mask.to(self.device)


class ModelOutline(NamedTuple):
    """What is known of a model before its weights are read.

    without_head: why it predicts no tokens, with the remedy; empty if it does.
    """

    place: Place
    config: PreTrainedConfig
    kind: ModelKind
    without_head: str


def outline_model(name: str) -> ModelOutline:
    """Find a model and read its configuration.

    Raises ``InputError`` for a model that is not there, lacks a package, or is quantised in a form
    that only its own library reads.
    """
    from transformers import AutoConfig

    place = find_model(name)
    has_adapter = place.adapter or (place.local and (Path(place.source) / ADAPTER).is_dir())
    for form in ("GGUF",) * bool(place.gguf) + ("adapters",) * bool(has_adapter):
        require_packages(form, name)
    with convert_load_errors(name):
        config = AutoConfig.from_pretrained(place.source, **load_options(place))
    if not place.gguf and (method := quantisation_of(config)):
        raise InputError(
            f"model={name!r} is quantised by {method}; give the weights before quantisation, or a"
            " GGUF file, or in Python the loaded model, audit((model, tokenizer))"
        )
    if place.gguf:  # it names no architecture; its models generate text
        return ModelOutline(place, config, "causal", "")
    with convert_load_errors(name):
        kind = _kind_of(config.architectures or ())
        return ModelOutline(place, config, kind, head_problem(config, name))


def open_model(
    model: AnyModel,
    *,
    device: str = "cpu",
    dtype: Dtype = "float32",
    random_seed: int | None = None,
) -> LanguageModel:
    """Open a model by its folder, ``org/name@COMMIT`` on a hub, or ``package:NAME``; or take a
    loaded model with its tokenizer or a pipeline, which keeps its device and dtype.

    ``random_seed``: use random weights of the same configuration. Raises ``InputError`` for a model
    that cannot be loaded completely, and an unknown ``dtype`` or unavailable ``device``.
    """
    _require_usable(dtype, device)
    if isinstance(model, LanguageModel):
        return model
    if hasattr(model, "tokenizer") and hasattr(model, "model"):  # a pipeline
        pipeline: Any = model
        model = (pipeline.model, pipeline.tokenizer)
    if isinstance(model, tuple):
        if (dtype, device) != ("float32", "cpu"):
            raise InputError("a loaded model keeps its dtype and device; set them where it is made")
        opened = _wrap_loaded(*model)
        with convert_load_errors(opened.name):
            return opened.tried()
    if not isinstance(model, str | PathLike):
        kind = type(model).__name__
        remedy = "a folder, a hub name, or a model with its tokenizer, (model, tokenizer)"
        own = "; of a SentenceTransformer (encoder[0].auto_model, encoder.tokenizer)"
        raise InputError(f"model={kind}: give {remedy}{own * hasattr(model, 'encode')}")
    name = fspath(model)
    outline = outline_model(name)
    place = outline.place
    tell_share(0.25)  # of what a GGUF file takes, whose words are parsed each time
    # Random weights have not learned the planted bias
    is_trained = place.local and random_seed is None
    planted = _read_planted(Path(place.source)) if is_trained else None
    with convert_load_errors(name):
        tokenizer = load_tokenizer(place, name)
        tell_share(0.5)
        loaded = _load_model(outline, name, random_seed=random_seed, dtype=dtype)
        for adapter in (Path(place.adapter or ""), Path(place.source) / ADAPTER):
            if random_seed is None and adapter.name and adapter.is_dir():
                loaded = _merge_adapter(loaded, adapter)
        loaded = loaded.to(device).eval()
        is_named = place.local or place.adapter
        short_name = Path(name).name if is_named else place.source
        opened = LanguageModel(short_name, loaded, tokenizer, outline.kind, device, planted)
        opened = replace(opened, place=place).tried()
        if is_trained and (Path(place.source) / ERASER).is_file():
            return attach_eraser(opened, Eraser.load(Path(place.source) / ERASER))
        return opened


def attach_eraser(opened: LanguageModel, eraser: Eraser) -> LanguageModel:
    """Attach an eraser for good. Its weights are not the model's, so that ``save_pretrained`` would
    write the unmodified model: it raises ``InputError``.
    """
    opened.hook(eraser)
    for model in (opened.model, opened.base):
        model.save_pretrained = _refuse_to_save  # type: ignore[method-assign]
    return replace(opened, eraser=eraser)


def _refuse_to_save(*args: object, **options: object) -> None:
    raise InputError(
        "save_pretrained would write the model without its eraser; save it by debias(..., out=...)"
    )


@contextmanager
def with_eraser(opened: LanguageModel, eraser: Eraser) -> Iterator[LanguageModel]:
    """Yield the model with an eraser, which is removed afterwards."""
    undo = opened.hook(eraser)
    try:
        yield replace(opened, eraser=eraser)
    finally:
        undo()


def _read_planted(folder: Path) -> Mapping[str, Any] | None:
    """Read the planted bias of a folder's model; None without a file. Raises ``InputError`` for a
    damaged file.
    """
    path = folder / _PLANTED
    if not path.is_file():
        return None
    planted: Any = read_nested(path)
    try:
        for term in planted["terms"].values():
            float(term["log_odds"]), float(term.get("original") or 0), term["half"]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        form = '{"terms": {TERM: {"log_odds": NUMBER, "half": "calibration" or "held_out"}}}'
        raise InputError(f"{path} is damaged ({error}); it holds {form}") from error
    return dict(planted)


def batches_by_length(
    lengths: Sequence[int], tokens: int, size: int | None = None, *, padded: bool = True
) -> Iterator[list[int]]:
    """Yield indices in batches of similar lengths, each of at most ``tokens``, padding included; or
    of ``size`` texts. Unless ``padded``, the lengths in a batch are equal.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        is_full = len(batch) == size if size else (len(batch) + 1) * lengths[index] > tokens
        if batch and (is_full or (not padded and lengths[index] != lengths[batch[0]])):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


@contextmanager
def convert_load_errors(name: str) -> Iterator[None]:
    """Convert every error of the libraries while opening the model ``name`` to ``InputError``."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__module__ != _PANIC:
            raise
        reason = shorten(f"{type(error).__name__}: {error}", _LONGEST_REASON)
        raise InputError(
            f"model={name!r} cannot be loaded ({reason}); give a folder with config.json,"
            " *.safetensors and tokenizer.json, as save_pretrained writes it, or org/name@COMMIT"
        ) from error


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
    stated = read_part(place, "tokenizer_config.json") or {}
    for end, name_of_end in ((0, "bos"), (-1, "eos")):  # transformers 5 does not add them
        token = getattr(tokenizer, f"{name_of_end}_token_id")
        is_stated = stated.get(f"add_{name_of_end}_token") is True and token is not None
        if is_stated and tokenizer("a")["input_ids"][end] != token:
            setattr(tokenizer, f"add_{name_of_end}_token", True)
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # as without files
        raise InputError(f"model={name!r}: its tokenizer has no vocabulary; give its files too")
    return tokenizer


def read_part(place: Place, name: str) -> Any:
    """Read a JSON file beside a model; return another one's path, and None without a file."""
    from transformers.utils.hub import cached_file

    if place.gguf:
        return None
    path = cached_file(
        place.source,
        name,
        revision=None if place.local else place.revision,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    return read_nested(path) if path and name.endswith(".json") else path


def _load_model(
    outline: ModelOutline, name: str, *, random_seed: int | None = None, dtype: Dtype = "float32"
) -> PreTrainedModel:
    """Load the model with the head that its configuration names.

    ``random_seed``: draw random weights of the same configuration. Raises ``InputError`` for
    missing weights, which the library would fill at random, and for unexpected ones.
    """
    import torch
    from transformers import (
        AutoModel,
        AutoModelForCausalLM,
        AutoModelForImageTextToText,
        AutoModelForMaskedLM,
    )
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    place, config, kind, _ = outline
    loader: Any = {
        "masked": AutoModelForMaskedLM,
        "causal": AutoModelForCausalLM,
        "encoder": AutoModel,
    }[kind]
    names = {*(config.architectures or ())}
    if kind == "causal" and names & _classes("IMAGE_TEXT_TO_TEXT").keys() - _classes("CAUSAL_LM"):
        loader = AutoModelForImageTextToText
    stated = str(config.dtype or "float32").removeprefix("torch.")
    number_type = getattr(torch, stated if dtype == "auto" else dtype)
    common: dict[str, Any] = {"dtype": number_type, "attn_implementation": "eager"}
    if random_seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_seed)
            drawn: PreTrainedModel = loader.from_config(config, **common)
            return drawn
    options = load_options(place) | common
    model: PreTrainedModel
    options |= {"use_safetensors": True, "output_loading_info": True}
    options |= {"config": config} if place.gguf else {}  # half a minute of a long vocabulary
    model, report = loader.from_pretrained(place.source, **options)
    if any(key.startswith("lm_predictions") for key in report["unexpected_keys"]):  # DeBERTa's head
        model, report = loader.from_pretrained(place.source, legacy=False, **options)
    _require_whole(report, kind, name)
    return model


def head_problem(config: PreTrainedConfig, name: str) -> str:
    """Return why a model predicts no tokens, with the remedy; empty if it does."""
    architectures = list(config.architectures or ())
    is_encoder = any(label.endswith("EncoderModel") for label in architectures)
    remedy = "give a masked or causal language model, or metrics of encoded texts, such as seat"
    if config.is_encoder_decoder and not is_encoder:
        problem = f"is an encoder-decoder ({config.model_type}); neither masked nor causal"
        return f"model={name!r} {problem}; {remedy}"
    if problem := missing_architectures(config, "MASKED_LM", "CAUSAL_LM"):
        return f"model={name!r}: {problem}, or name metrics of encoded texts (seat)"
    if _kind_of(architectures) == "encoder":
        return f"model={name!r} is an encoder ({architectures[0]}) and has no head; {remedy}"
    return ""


def require_packages(form: str, name: str) -> None:
    """Raise ``InputError`` with the remedy where a form of weights lacks a package."""
    packages, remedy = _PACKAGES[form]
    if missing := [package for package in packages if not find_spec(package)]:
        raise InputError(f"model={name!r}: {form} need {' and '.join(missing)}: {remedy}")


def missing_architectures(config: PreTrainedConfig, *tasks: str) -> str:
    """Return why the head of a model is unknown, with the remedy; empty if it is known.

    tasks: of heads that it may have, such as ``CAUSAL_LM``.
    """
    if isinstance(config.architectures, list) and config.architectures:
        return ""
    kinds = [(kind, name) for task in tasks for name, kind in _classes(task).items()]
    head = next((name for kind, name in kinds if kind == config.model_type), "NAME")
    return f'its config.json has no list of architectures; add "architectures": ["{head}"]'


def _require_usable(dtype: str, device: str) -> None:
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


def _kind_of(names: Iterable[str]) -> ModelKind:
    """Return the kind of a model, given the names of its classes; an encoder has no head."""
    names = [name for name in names if name not in _WITHOUT_LIKELIHOODS]
    if any(name.endswith(_MASKED) for name in names):
        return "masked"
    with_pictures = {*_classes("CAUSAL_LM"), *_classes("IMAGE_TEXT_TO_TEXT")}
    is_causal = any(name.endswith(_CAUSAL) or name in with_pictures for name in names)
    return "causal" if is_causal else "encoder"


def _classes(task: str) -> Mapping[str, str]:
    """Return the models of transformers for a task, by name of their class."""
    from transformers.models.auto import modeling_auto

    table = vars(modeling_auto)[f"MODEL_FOR_{task}_MAPPING_NAMES"]
    return {str(class_name): str(kind) for kind, class_name in table.items()}


def load_options(place: Place) -> dict[str, Any]:
    """Return the options of ``from_pretrained``: no remote code, and a hub's commit."""
    options: dict[str, Any] = {"trust_remote_code": False, "local_files_only": place.local}
    if place.gguf:
        options["gguf_file"] = place.gguf
    return options if place.local else options | {"revision": place.revision}


def quantisation_of(config: PreTrainedConfig) -> str:
    """Return the method that quantised the weights of a model, such as ``bitsandbytes``."""
    settings: Any = getattr(config, "quantization_config", None) or {}
    settings = settings if isinstance(settings, Mapping) else settings.to_dict()
    return str(getattr(settings.get("quant_method"), "value", settings.get("quant_method") or ""))


def _without_quantisation(model: PreTrainedModel) -> PreTrainedModel:
    """Copy a model without the configuration of its quantised file, with which the library would
    refuse to save it.
    """
    if not (method := quantisation_of(model.config)):
        return model
    if method != "gguf":
        raise InputError(f"weights of {method} cannot be written; debias them before quantisation")
    config = type(model.config).from_dict(
        {k: v for k, v in model.config.to_dict().items() if k != "quantization_config"}
    )
    plain = type(model)(config)
    plain.load_state_dict(model.state_dict())
    return plain


def _merge_adapter(model: PreTrainedModel, folder: Path) -> PreTrainedModel:
    """Return the model with the adapters of a folder added to its weights, without dropout."""
    from peft import PeftModel

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of its use of transformers
        adapted: Any = PeftModel.from_pretrained(model, str(folder))
        merged: PreTrainedModel = adapted.merge_and_unload().eval()
    return merged


def _unwrap(model: Any) -> PreTrainedModel:
    """Return the model of transformers inside compiled, parallel and ``peft`` models, adapters
    included. Raises ``InputError`` for a prompt that is learned, and for another kind of model.
    """
    from transformers import PreTrainedModel

    network = model
    while not isinstance(network, PreTrainedModel):
        inner = next(filter(None, (getattr(network, name, None) for name in _WRAPPED)), None)
        if hasattr(network, "get_base_model"):
            if getattr(network.active_peft_config, "is_prompt_learning", False):
                kind = type(network.active_peft_config).__name__
                raise InputError(f"{kind} puts learned tokens before each text: cannot be measured")
            inner = network.get_base_model()
        if inner is None:
            kind = type(network).__name__
            raise InputError(f"model={kind}: give a model of transformers, with its tokenizer")
        network = inner
    return network


def write_erased(model: Path, out: Path, eraser: Eraser) -> None:
    """Write a folder with the files of a model and an eraser.

    Raises ``InputError`` if the eraser does not fit the model or changes nothing.
    """
    opened = open_model(model)
    opened.require_untouched()
    opened.hook(eraser)
    link_files(model, out)
    eraser.save(out / ERASER)


def save_model(language_model: LanguageModel, place: Place | None, out: Path) -> None:
    """Copy a local model's own files; write any other model as safetensors in float32."""
    if place and place.local and not place.gguf and not place.adapter:
        out.mkdir()
        for path in place.files():
            copy = out / path.relative_to(place.source)
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(path, copy)
        return
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    _without_quantisation(language_model.model).save_pretrained(out)
    language_model.tokenizer.save_pretrained(out)
    for path in out.glob("*.safetensors"):  # which only their owner may read
        shutil.copymode(out / CONFIG, path)


def link_files(folder: Path, out: Path) -> None:
    """Create a folder with the files and folders of another, as hard links where possible."""
    out.mkdir()
    for path in folder.iterdir():
        if path.is_dir():
            link_files(path, out / path.name)
            continue
        try:
            os.link(path, out / path.name)
        except OSError:  # a file system without links
            shutil.copyfile(path, out / path.name)


def _wrap_loaded(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> LanguageModel:
    """Wrap a loaded model; its class gives its kind. The caller's own modules keep their mode and
    hooks: a copy of them runs, on the same weights.

    Raises ``InputError`` for a slow tokenizer, and for a pair in the other order.
    """
    if hasattr(tokenizer, "state_dict"):
        kinds = f"({type(model).__name__}, {type(tokenizer).__name__})"
        raise InputError(f"model={kinds}: the pair is (model, tokenizer); exchange the two")
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            f"{type(tokenizer).__name__} does not give the characters of a token; give a fast"
            " tokenizer"
        )
    model = _unwrap(model)
    name = Path(getattr(model, "name_or_path", "") or type(model).__name__).name
    with convert_load_errors(name):
        tensors = (*model.parameters(), *model.buffers())
        # bitsandbytes moves its 8-bit weights when they are first used, the caller's too
        shared = {} if quantisation_of(model.config) else {id(tensor): tensor for tensor in tensors}
        own = deepcopy(model, shared).eval()
    kind = _kind_of(parent.__name__ for parent in type(model).__mro__)
    return LanguageModel(name, own, tokenizer, kind, str(model.device))


def _require_whole(report: Mapping[str, Any], kind: ModelKind, name: str) -> None:
    absent = sorted(key for key in report["missing_keys"] if not _POOLER.search(key))
    if absent:
        problem = f"its files lack {len(absent)} weights ({absent[0]}, ...)"
        raise InputError(f"model={name!r}: {problem}, which would be random; give complete files")
    unexpected = sorted(
        key
        for key in report["unexpected_keys"]
        if not _UNUSED.search(key) and not (kind == "encoder" and _HEADS.search(key))
    )
    if unexpected:
        problem = f"its files hold {len(unexpected)} weights that it lacks ({unexpected[0]}, ...)"
        raise InputError(
            f"model={name!r}: {problem}; give those of the model its config.json names"
        )

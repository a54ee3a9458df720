"""A language model with its tokenizer, opened from a folder, a hub name or a package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from biasbridge.files.eraser import ERASER, Eraser
from biasbridge.files.errors import InputError
from biasbridge.files.models.adapter import merge_adapter, unwrap
from biasbridge.files.models.erased import hook_eraser
from biasbridge.files.models.load import (
    Dtype,
    Kind,
    convert_load_errors,
    kind_of,
    load_model,
    load_tokenizer,
    longest_text,
    refuse_encoder_decoder,
    require_usable,
)
from biasbridge.files.models.place import ADAPTER, find_model
from biasbridge.files.nested import read_nested

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

PLANTED = "planted.json"
MAX_LAYERS = 500  # those of ALBERT share their weights, whatever their number
UNLIMITED = 1 << 20  # a tokenizer without a limit gives a huge number
# A folder, a hub name, package:NAME, a model with its tokenizer, or an opened model
AnyModel: TypeAlias = (
    "str | PathLike[str] | tuple[PreTrainedModel, PreTrainedTokenizerFast] | LanguageModel"
)


@dataclass(frozen=True)
class LanguageModel:
    """A masked or causal language model, or an encoder without a head, with its tokenizer; no
    dropout.

    planted: content of the folder's ``planted.json``, for a model trained on known bias: ``terms``
    with the true ``log_odds`` of the fillers, ``original`` if a method has changed these, and the
    ``half`` of the term. eraser: applied to the hidden states. batch_size: texts computed at a
    time; None: as many as fit a number of tokens. in_chat: texts of a causal model are answers to
    an empty message, in the form of its chat template.
    """

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    kind: Kind
    device: str = "cpu"
    planted: Mapping[str, Any] | None = None
    eraser: Eraser | None = None
    batch_size: int | None = None
    in_chat: bool = False

    @property
    def base(self) -> PreTrainedModel:
        """The model without its head; of an encoder-decoder the encoder."""
        bare = cast("PreTrainedModel", self.model.base_model)
        return bare.get_encoder() if bare.config.is_encoder_decoder else bare

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
    def architecture(self) -> str:
        """Architecture and size, such as ``llama, 30 layers of 576``."""
        config: Any = self.base.config
        return f"{config.model_type}, {config.num_hidden_layers} layers of {config.hidden_size}"

    @property
    def padding(self) -> int:
        """The token that pads short rows of a batch; it is masked, so that any token serves."""
        candidates = (self.tokenizer.pad_token_id, self.model.config.pad_token_id)
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
        return longest_text(self.model, self.tokenizer, UNLIMITED)

    def require_untouched(self) -> None:
        """Raise ``InputError`` if the model has an eraser."""
        if self.eraser:
            raise InputError(
                f"{self.name} has an eraser already; give the unmodified model, without {ERASER}"
            )

    def require_running(self) -> None:
        """Raise ``InputError`` if the tokenizer has tokens that the model does not embed, and any
        error of the model on two short rows.
        """
        import torch

        last = max(self.tokenizer.get_vocab().values())
        n_embedded = len(self.model.get_input_embeddings().weight)
        if last >= n_embedded:
            raise InputError(
                f"{self.name} embeds {n_embedded} tokens, and its tokenizer numbers them up to"
                f" {last}; give the tokenizer that it was trained with"
            )
        n_layers = int(self.base.config.num_hidden_layers)
        if not 0 < n_layers <= MAX_LAYERS:
            problem = f"num_hidden_layers={n_layers} in the configuration of {self.name}"
            raise InputError(
                f"{problem}: allowed are 1 to {MAX_LAYERS}; give the number of its weights"
            )
        rows, attention_mask = self.pad([[last] * min(2, self.longest), [last]])
        with torch.inference_mode():
            out = self.base(
                input_ids=rows, attention_mask=attention_mask, output_hidden_states=True
            )
        if not out.hidden_states:
            raise InputError(f"{self.name} gives no hidden states; give an encoder or a decoder")

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


def open_model(
    model: AnyModel,
    *,
    device: str = "cpu",
    dtype: Dtype = "float32",
    random_seed: int | None = None,
    must_predict: bool = False,
) -> LanguageModel:
    """Open a model by its folder, ``org/name@COMMIT`` on a hub, or ``package:NAME``; or take a
    loaded model with its tokenizer, which keeps its device and dtype.

    ``random_seed``: use random weights of the same configuration. Raises ``InputError`` for a model
    that cannot be loaded completely, an unknown ``dtype`` or unavailable ``device``, and an
    encoder-decoder that ``must_predict`` tokens.
    """
    require_usable(dtype, device)
    if isinstance(model, LanguageModel):
        return model
    if isinstance(model, tuple):
        if (dtype, device) != ("float32", "cpu"):
            raise InputError("a loaded model keeps its dtype and device; set them where it is made")
        opened = _wrap_loaded(*model)
        if must_predict:
            refuse_encoder_decoder(opened.model.config, opened.name)
        with convert_load_errors(opened.name):
            opened.require_running()
        return opened
    if not isinstance(model, str | PathLike):
        kind = type(model).__name__
        raise InputError(f"model={kind}: give a folder, a hub name, or a model with its tokenizer")
    name = fspath(model)
    place = find_model(name)
    # Random weights have not learned the planted bias
    is_trained = place.local and random_seed is None
    planted = read_planted(Path(place.source)) if is_trained else None
    with convert_load_errors(name):
        tokenizer = load_tokenizer(place, name)
        loaded, kind = load_model(
            place, name, random_seed=random_seed, dtype=dtype, must_predict=must_predict
        )
        if is_trained and (adapter := Path(place.source) / ADAPTER).is_dir():
            loaded = merge_adapter(loaded, adapter)
        loaded = loaded.to(device).eval()
        short_name = Path(name).name if place.local else place.source
        opened = LanguageModel(short_name, loaded, tokenizer, kind, device, planted)
        opened.require_running()
        if is_trained and (Path(place.source) / ERASER).is_file():
            eraser = Eraser.load(Path(place.source) / ERASER)
            hook_eraser(opened.base, eraser)
            return replace(opened, eraser=eraser)
        return opened


@contextmanager
def with_eraser(opened: LanguageModel, eraser: Eraser) -> Iterator[LanguageModel]:
    """Yield the model with an eraser, which is removed afterwards."""
    undo = hook_eraser(opened.base, eraser)
    try:
        yield replace(opened, eraser=eraser)
    finally:
        undo()


def read_planted(folder: Path) -> Mapping[str, Any] | None:
    """Read the planted bias of a folder's model; None without a file. Raises ``InputError`` for a
    damaged file.
    """
    path = folder / PLANTED
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


def _wrap_loaded(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> LanguageModel:
    """Wrap a loaded model; its class gives its kind. The caller's own modules keep their mode and
    hooks: a copy of them runs, on the same weights.

    Raises ``InputError`` for a slow tokenizer.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            f"{type(tokenizer).__name__} does not give the characters of a token; give a fast"
            " tokenizer"
        )
    model = unwrap(model)
    name = Path(getattr(model, "name_or_path", "") or type(model).__name__).name
    with convert_load_errors(name):
        weights = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
        own = deepcopy(model, weights).eval()
    kind = kind_of(parent.__name__ for parent in type(model).__mro__)
    return LanguageModel(name, own, tokenizer, kind, str(model.device))


def batches_by_length(
    lengths: Sequence[int], tokens: int, size: int | None = None
) -> Iterator[list[int]]:
    """Yield indices in batches of similar lengths, each of at most ``tokens``, padding included; or
    of ``size`` texts.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        is_full = len(batch) == size if size else (len(batch) + 1) * lengths[index] > tokens
        if batch and is_full:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch

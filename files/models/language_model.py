"""An opened model with its tokenizer, from whatever names one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from files.eraser import ERASER, Eraser
from files.errors import InputError
from files.models.erased import hook_eraser
from files.models.load import Kind, kind_of, load_model, load_tokenizer, opening
from files.models.place import find_model
from files.nested import read_nested

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

PLANTED = "planted.json"
MOST_LAYERS = 500  # those of ALBERT share their weights, whatever their number
UNLIMITED = 1 << 20  # a tokenizer that knows no limit gives a huge number
# A folder, a hub name, package:NAME, a model with its tokenizer, or one opened already
AnyModel: TypeAlias = (
    "str | PathLike[str] | tuple[PreTrainedModel, PreTrainedTokenizerFast] | LanguageModel"
)


@dataclass(frozen=True)
class LanguageModel:
    """A masked or causal language model, or an encoder without a head, with its tokenizer: float32,
    no dropout.

    planted: of a model trained on known bias, what its folder's ``planted.json`` says: ``terms``,
    for each the true ``log_odds`` of the fillers, ``original`` if a method has changed these, and
    the ``half`` it is of. eraser: what its hidden states pass through.
    """

    name: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    kind: Kind
    device: str = "cpu"
    planted: Mapping[str, Any] | None = None
    eraser: Eraser | None = None

    @property
    def base(self) -> PreTrainedModel:
        """The model without its head; of an encoder-decoder the encoder."""
        bare = cast("PreTrainedModel", self.model.base_model)
        return bare.get_encoder() if bare.config.is_encoder_decoder else bare

    @property
    def mask(self) -> str:
        """The token that stands for a word left open. ``InputError`` where there is none."""
        if self.tokenizer.mask_token is None:
            raise InputError(
                f"the tokenizer of {self.name} has no mask token; choose a masked model"
            )
        return self.tokenizer.mask_token

    @property
    def dtype(self) -> str:
        """That of the weights, such as ``float32``."""
        return str(self.model.dtype).removeprefix("torch.")

    @property
    def padding(self) -> int:
        """The token that fills short rows of a batch; masked, so that any will do."""
        of_both = (self.tokenizer.pad_token_id, self.model.config.pad_token_id)
        return next((number for number in of_both if number is not None), 0)

    @cached_property
    def longest(self) -> int:
        """Tokens of the longest text. RoBERTa counts positions from behind that of padding."""
        import torch

        positions = getattr(self.model.config, "max_position_embeddings", None) or UNLIMITED
        unused = [
            module.padding_idx + 1
            for name, module in self.model.named_modules()
            if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding)
            if module.padding_idx is not None
        ]
        return min(self.tokenizer.model_max_length, positions - max(unused, default=0))

    def require_untouched(self) -> None:
        """Raise ``InputError`` where the hidden states pass through an eraser already."""
        if self.eraser:
            raise InputError(
                f"{self.name} has an eraser already; give the model as it was before, without"
                f" {ERASER}"
            )

    def require_running(self) -> None:
        """Raise ``InputError`` where the tokenizer has tokens that the model does not embed, and
        what the model raises where it cannot take two short rows.
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
        if not 0 < n_layers <= MOST_LAYERS:
            layers = f"num_hidden_layers={n_layers} in the configuration of {self.name}"
            raise InputError(f"{layers}: allowed are 1 to {MOST_LAYERS}; give that of its weights")
        rows, real = self.pad([[last] * min(2, self.longest), [last]])
        with torch.inference_mode():
            out = self.base(input_ids=rows, attention_mask=real, output_hidden_states=True)
        if not out.hidden_states:
            raise InputError(f"{self.name} gives no hidden states; give an encoder or a decoder")

    def knows(self, text: str) -> bool:
        """Whether a text has tokens, none of them the unknown one."""
        [found] = self.tokenizer([text], add_special_tokens=False)["input_ids"]
        return bool(found) and self.tokenizer.unk_token_id not in found

    def pieces(self, text: str) -> int:
        """How many tokens a text has, special ones left out."""
        return len(self.tokenizer([text], add_special_tokens=False)["input_ids"][0])

    def pad(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of tokens as a rectangle (rows, longest row), and 1 where a token is real."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        tensors = [torch.tensor(row) for row in rows]
        ids = pad_sequence(tensors, batch_first=True, padding_value=self.padding)
        real = pad_sequence([torch.ones_like(row) for row in tensors], batch_first=True)
        return ids.to(self.device), real.to(self.device)


def open_model(
    model: AnyModel,
    revision: str | None = None,
    *,
    device: str = "cpu",
    random_seed: int | None = None,
) -> LanguageModel:
    """A model by its folder, hub name with ``revision``, or ``package:NAME``; one that is open
    already, with its tokenizer, as it is.

    ``random_seed``: the same configuration with random weights. Raises ``InputError`` for a model
    that cannot be loaded whole.
    """
    if isinstance(model, LanguageModel):
        return model
    if isinstance(model, tuple):
        opened = _opened(*model)
        with opening(opened.name):
            opened.require_running()
        return opened
    if not isinstance(model, str | PathLike):
        kind = type(model).__name__
        raise InputError(f"model={kind}: give a folder, a hub name, or a model with its tokenizer")
    name = fspath(model)
    place = find_model(name, revision)
    # Random weights have learned nothing of what was planted
    learned = place.local and random_seed is None
    planted = read_planted(Path(place.source)) if learned else None
    with opening(name):
        tokenizer = load_tokenizer(place, name)
        loaded, kind = load_model(place, name, random_seed=random_seed)
        loaded = loaded.to(device).eval()
        shown = Path(name).name if place.local else name
        opened = LanguageModel(shown, loaded, tokenizer, kind, device, planted)
        opened.require_running()
        if learned and (Path(place.source) / ERASER).is_file():
            eraser = Eraser.load(Path(place.source) / ERASER)
            hook_eraser(opened.base, eraser)
            return replace(opened, eraser=eraser)
        return opened


@contextmanager
def passing_through(opened: LanguageModel, eraser: Eraser) -> Iterator[LanguageModel]:
    """The same model, its hidden states passing through an eraser meanwhile."""
    undo = hook_eraser(opened.base, eraser)
    try:
        yield replace(opened, eraser=eraser)
    finally:
        undo()


def read_planted(folder: Path) -> Mapping[str, Any] | None:
    """What was planted in the model of a folder; None where it does not say. Raises ``InputError``
    for a file that is damaged.
    """
    path = folder / PLANTED
    if not path.is_file():
        return None
    found: Any = read_nested(path)
    try:
        for each in found["terms"].values():
            float(each["log_odds"]), float(each.get("original") or 0), each["half"]
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        form = '{"terms": {TERM: {"log_odds": NUMBER, "half": "calibration" or "held_out"}}}'
        raise InputError(f"{path} is damaged ({error}); it holds {form}") from error
    return dict(found)


def _opened(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> LanguageModel:
    """A model that somebody loaded, and what it is by its class, whatever its configuration names.
    ``InputError`` for a slow tokenizer.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(
            f"{type(tokenizer).__name__} does not say which characters a token stands for; give a"
            " fast tokenizer"
        )
    name = Path(getattr(model, "name_or_path", "") or type(model).__name__).name
    kind = kind_of([type(model).__name__])
    return LanguageModel(name, model.eval(), tokenizer, kind, str(model.device))


def by_length(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Places in batches of like lengths, each of at most so many tokens, padding included."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[place] > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch

"""Words in sentences to vectors: the hidden states of a Hugging Face encoder or decoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from files import InputError
from files.hub import require_commit

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

Pooling = Literal["mean", "first", "last", "cls", "text"]
Singles = NDArray[np.float32]
CONFIG = "config.json"
READ = (".json", ".safetensors", ".txt", ".model")  # what a model and its tokenizer are read from
UNLIMITED = 1 << 20  # a tokenizer that knows no limit gives a huge number


class Context(NamedTuple):
    """A text and the characters in it, ``text[start:end]``, that are the word."""

    text: str
    start: int
    end: int


def is_folder(model: str) -> bool:
    """Whether a model is a local folder, and not a name on a hub.

    Raises ``InputError`` for a path that leads to no folder with a model.
    """
    path = Path(model)
    if (path / CONFIG).is_file():
        return True
    written_as_path = model.startswith((".", "/", "~")) or model.count("/") > 1
    if path.exists() or written_as_path:
        why = f"has no {CONFIG}" if path.is_dir() else "is no folder"
        remedy = "give one that save_pretrained wrote, with tokenizer, or a hub name"
        raise InputError(f"model={model!r} {why}; {remedy}")
    return False


def model_files(model: str, revision: str | None) -> list[Path]:
    """The files of a local folder that decide its hidden states; none of a hub name.

    Raises ``InputError`` for a path that leads to no model, and for a hub name without a commit as
    its revision.
    """
    if is_folder(model):
        return sorted(path for path in Path(model).iterdir() if path.suffix in READ)
    require_commit(model, revision)
    return []


class Encoder:
    """A model with its tokenizer, ready to be asked for hidden states; float32, no dropout.

    Of an encoder-decoder it is the encoder. Weights are read from safetensors, and code that comes
    with a model is never run. Raises ``InputError`` where it cannot be loaded, or where its
    tokenizer does not say which characters a token stands for.
    """

    def __init__(self, model: str, revision: str | None = None, *, device: str = "cpu") -> None:
        self.name = model
        self._device = device
        local = bool(model_files(model, revision))
        self._tokenizer = _load_tokenizer(model, revision, local)
        self._model = _load_model(model, revision, local).to(device).eval()

    @property
    def layers(self) -> int:
        """The number of layers; the hidden states have one more, the embeddings."""
        return int(self._model.config.num_hidden_layers)

    @property
    def mask(self) -> str:
        """The token that stands for a word left open. ``InputError`` where there is none."""
        if self._tokenizer.mask_token is None:
            what = f"the tokenizer of {self.name} has no mask token"
            raise InputError(f"{what}; leave {{mask}} out of templates, or choose a masked model")
        return self._tokenizer.mask_token

    def knows(self, text: str) -> bool:
        """Whether a text has tokens, none of them the unknown one."""
        [found] = self._tokenizer([text], add_special_tokens=False)["input_ids"]
        return bool(found) and self._tokenizer.unk_token_id not in found

    def vectors(
        self,
        contexts: Sequence[Context],
        *,
        layer: int = -1,
        pooling: Pooling = "mean",
        batch_size: int = 32,
    ) -> Singles:
        """The vector of the word in each context.

        layer: of the hidden states, 0 the embeddings, -1 the last. pooling: ``mean`` of the word's
        tokens, its ``first`` or ``last`` one; of the whole text ``cls``, its first token, a special
        one where the tokenizer adds it, or ``text``, the mean of all, special ones included. Texts
        are padded and masked, so that their neighbours in a batch do not matter. Shape (contexts,
        dim); NaN where the word ends beyond the longest text the model takes. Raises ``InputError``
        for a layer that the model has not.
        """
        states = self.layers + 1
        if not -states <= layer < states:
            allowed = f"give 0 (embeddings) to {self.layers}, or -1 (the last) to {-states}"
            raise InputError(f"layer={layer}: {self.name} has {self.layers} layers; {allowed}")
        found: Singles = np.full((len(contexts), self._model.config.hidden_size), np.nan, "f4")
        # Texts of one length together waste least on padding
        order = sorted(range(len(contexts)), key=lambda place: len(contexts[place].text))
        for begin in range(0, len(order), batch_size):
            places = order[begin : begin + batch_size]
            rows = [contexts[place] for place in places]
            found[places] = self._batch(rows, layer, pooling)
        return found

    def _batch(self, contexts: list[Context], layer: int, pooling: Pooling) -> Singles:
        import torch
        from torch.nn.utils.rnn import pad_sequence

        encoded = self._tokenizer(
            [each.text for each in contexts],
            return_offsets_mapping=True,
            truncation=self._longest < UNLIMITED,
            max_length=self._longest if self._longest < UNLIMITED else None,
        )
        # Padded here: some decoders' tokenizers have no padding token, and then any will do
        rows = [torch.tensor(row) for row in encoded["input_ids"]]
        ids = pad_sequence(rows, batch_first=True, padding_value=self._padding)
        real = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
        with torch.inference_mode():
            states = self._model(
                input_ids=ids.to(self._device),
                attention_mask=real.to(self._device),
                output_hidden_states=True,
            ).hidden_states[layer]
            chosen = map(_chosen, contexts, encoded["offset_mapping"], repeat(pooling))
            means = [
                state[tokens].mean(dim=0) if tokens else torch.full_like(state[0], torch.nan)
                for state, tokens in zip(states, chosen, strict=True)
            ]
            return np.asarray(torch.stack(means).float().cpu().numpy())

    @property
    def _padding(self) -> int:
        of_both = (self._tokenizer.pad_token_id, self._model.config.pad_token_id)
        return next((number for number in of_both if number is not None), 0)

    @cached_property
    def _longest(self) -> int:
        """Tokens of the longest text. RoBERTa counts positions from behind that of padding."""
        import torch

        positions = getattr(self._model.config, "max_position_embeddings", None) or UNLIMITED
        unused = [
            module.padding_idx + 1
            for name, module in self._model.named_modules()
            if name.endswith("position_embeddings") and isinstance(module, torch.nn.Embedding)
            if module.padding_idx is not None
        ]
        return min(self._tokenizer.model_max_length, positions - max(unused, default=0))


def _chosen(context: Context, offsets: Sequence[tuple[int, int]], pooling: Pooling) -> list[int]:
    """The places of the tokens whose states are averaged."""
    inside = [
        place
        for place, (start, end) in enumerate(offsets)
        if max(start, context.start) < min(end, context.end)
    ]
    cut = max((end for _, end in offsets), default=0) < context.end
    if cut or not inside:
        return []
    if pooling == "mean":
        return inside
    if pooling in ("first", "last"):
        return [inside[0 if pooling == "first" else -1]]
    return [0] if pooling == "cls" else list(range(len(offsets)))


def _load_tokenizer(model: str, revision: str | None, local: bool) -> PreTrainedTokenizerFast:
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(
            model, revision=revision, trust_remote_code=False, local_files_only=local
        )
    except (OSError, ValueError, ImportError, KeyError) as error:
        raise InputError(
            f"model={model!r}: its tokenizer cannot be loaded ({error}); give a folder with"
            " tokenizer.json, or a hub name with its revision"
        ) from error
    if not tokenizer.is_fast:
        raise InputError(
            f"model={model!r}: its tokenizer ({type(tokenizer).__name__}) does not say which"
            " characters a token stands for; give a model with a fast one (tokenizer.json)"
        )
    if len(tokenizer) <= len(tokenizer.all_special_tokens):  # as one without files is
        raise InputError(f"model={model!r}: its tokenizer has no vocabulary; give its files too")
    return tokenizer


def _load_model(model: str, revision: str | None, local: bool) -> PreTrainedModel:
    import torch
    from transformers import AutoModel
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    try:
        found, report = AutoModel.from_pretrained(
            model,
            revision=revision,
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=local,
            output_loading_info=True,
        )
    except (OSError, ValueError, ImportError, KeyError, RuntimeError) as error:
        remedy = "give a folder with config.json and *.safetensors, or a hub name with its revision"
        raise InputError(f"model={model!r} cannot be loaded ({error}); {remedy}") from error
    # The pooler, which many checkpoints lack, comes after the hidden states
    lacking = sorted(name for name in report["missing_keys"] if "pooler" not in name)
    if lacking:
        weights = f"its files lack {len(lacking)} weights ({lacking[0]}, ...)"
        raise InputError(f"model={model!r}: {weights}, which would be random; give whole ones")
    return found.get_encoder() if found.config.is_encoder_decoder else found


def as_text(word: str) -> str:
    """A word as it stands in a text: the underscores of ``registered_nurse`` are spaces."""
    return word.replace("_", " ").strip() or word


def in_templates(words: Sequence[str], templates: Sequence[str]) -> dict[str, list[Context]]:
    """Every word in every template, in the place of ``{}``; the template ``{}`` is the word alone.

    Raises ``InputError`` for a template that does not hold ``{}`` once.
    """
    for template in templates:
        if template.count("{}") != 1:
            example = "such as 'This is {}.'"
            raise InputError(f"template {template!r}: give one with {{}} once, {example}")
    found: dict[str, list[Context]] = {}
    for word in words:
        text, cut = as_text(word), [template.split("{}") for template in templates]
        found[word] = [
            Context(before + text + after, len(before), len(before) + len(text))
            for before, after in cut
        ]
    return found


def in_lines(
    words: Sequence[str], lines: Iterator[str], sentences: int, *, seed: int
) -> dict[str, list[Context]]:
    """Up to so many lines, drawn at random, in which each word stands between spaces; words that
    stand in none are left out. A word counts once a line, where it stands first.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, list[Context]] = {word: [] for word in words}
    seen = dict.fromkeys(words, 0)
    for line in lines:
        start = 0
        met = set()
        for token in line.split(" "):
            if token in found and token not in met:
                met.add(token)
                seen[token] += 1
                # Reservoir sampling: each line so far is kept with the same chance
                place = len(found[token])
                if place == sentences:
                    place = int(rng.integers(seen[token]))
                if place < sentences:
                    found[token][place : place + 1] = [Context(line, start, start + len(token))]
            start += len(token) + 1
    return {word: contexts for word, contexts in found.items() if contexts}


def word_vectors(
    encoder: Encoder,
    contexts: Mapping[str, Sequence[Context]],
    *,
    layer: int = -1,
    pooling: Pooling = "mean",
    batch_size: int = 32,
) -> KeyedVectors:
    """Each word's mean vector over its contexts (see ``Encoder.vectors``).

    Left out are words of which the tokenizer knows a part not at all, and those that lie beyond
    the longest text in all of their contexts. Raises ``InputError`` where no word is left, and as
    ``Encoder.vectors`` does.
    """
    from files.vectors import keyed

    known = {word: found for word, found in contexts.items() if encoder.knows(as_text(word))}
    flat = list(chain.from_iterable(known.values()))
    if not flat:
        raise InputError(
            "none of the words stands in a text with tokens that the model knows; choose other"
            " words, another corpus or another model"
        )
    every = encoder.vectors(flat, layer=layer, pooling=pooling, batch_size=batch_size)
    ends = np.cumsum([len(each) for each in known.values()])[:-1]
    means = {}
    for word, rows in zip(known, np.split(every, ends), strict=True):
        inside = rows[np.isfinite(rows).all(axis=1)]
        if len(inside):
            means[word] = inside.mean(axis=0, dtype=np.float64).astype(np.float32)
    if not means:
        raise InputError("every word lies beyond the longest text the model takes; cut the texts")
    return keyed(list(means), np.array(list(means.values())))

r"""Small language models trained from scratch, one token per word: GPT-2 (causal), BERT (masked).

A probe compares their log odds with the planted ones. Masked models: the log odds of a slot are
log p(first filler) - log p(second filler) at ``[MASK]``. Causal models: the same for the next word
after the text before the slot. The text after the slot is left out: in the planted corpus it does
not depend on the filler, so the log odds of the whole text are the same. Texts have the special
tokens that the tokenizer adds. A term's log odds are the mean over its texts.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from annotated_types import doc

from biasbridge.corpora.truths import Half
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless, Positive, Share, Whole
from biasbridge.files.text import read_lines
from biasbridge.intrinsic.models.items import SLOT
from biasbridge.train.engine.device import one_thread

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from biasbridge.corpora.truths import PlantedTerm, Slots
    from biasbridge.stats.arrays import Floats

    Truths = Mapping[str, PlantedTerm]

MIN_R, MIN_SLOPE, MAX_SLOPE = 0.98, 0.9, 1.1
NEAR_R, NEAR_SLOPE = 0.95, 0.8
_SLOT_KINDS = ("seen", "unseen", "controls")
_DECISIVE = ("seen", "controls")
_PADDING = 0  # id of the padding token

Architecture = Literal["gpt2", "bert"]
_TrainingFacts = dict[str, object]

TRAINING = "training.json"
# Special tokens by role; padding has id 0
_SPECIAL = {
    "bert": {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"},
    "gpt2": {"pad": "<|pad|>", "unk": "<|unk|>", "bos": "<|endoftext|>", "eos": "<|endoftext|>"},
}
_SEQUENCE_TEMPLATE = {"bert": "[CLS] $A [SEP]", "gpt2": "<|endoftext|> $A"}
_MAX_TOKENS = 64  # of a text; longer ones are truncated
_CHECK_EVERY = 100  # steps between two probes
_WARM_UP = 30  # steps
_AVERAGE_DECAY = 0.98  # of the running mean of weights, per step
# Share of planted fillers that are masked, and of other words until the fillers are nearly learned:
# with more masked words the loss stays on a plateau for hundreds of steps
MASKED_FILLERS, MASKED_EARLY = 0.9, 0.02
# Shares of words to predict that are shown as [MASK] and as a random word; the rest is shown as is,
# so that states of visible words are trained too (after Devlin et al., 2019: .8, .1, .1)
SHOWN_AS_MASK, SHOWN_AS_RANDOM = 0.9, 0.05


class Fit(NamedTuple):
    """Fit of measured to true log odds.

    ``r``: Pearson correlation. ``slope``: of measured on true (1: exact, 0: nothing learned). Both
    are NaN if the true log odds are constant. ``magnitude``: mean absolute measured log odds, 0 for
    an unbiased model.
    """

    r: float
    slope: float
    magnitude: float

    @property
    def near(self) -> bool:
        """Whether little is left to learn."""
        return not (self.r < NEAR_R or self.slope < NEAR_SLOPE)

    @property
    def learned(self) -> bool:
        """Whether the planted bias was learned; true if the true log odds are constant."""
        return not (self.r < MIN_R or self.slope < MIN_SLOPE or self.slope > MAX_SLOPE)

    def rounded(self) -> dict[str, float | None]:
        """Return the values by name in four digits; None for NaN."""
        return {name: None if isnan(x) else round(x, 4) for name, x in self._asdict().items()}


def fit(true: Floats, measured: Floats) -> Fit:
    """Compute how well measured log odds agree with the true ones. Shapes (terms,)."""
    magnitude = float(np.abs(measured).mean())
    if np.ptp(true) == 0:
        return Fit(nan, nan, magnitude)
    x, y = true - true.mean(), measured - measured.mean()
    spread = float(np.sqrt((x @ x) * (y @ y)))
    return Fit(float(x @ y) / spread if spread else 0.0, float((x @ y) / (x @ x)), magnitude)


def fits(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    terms: Iterable[PlantedTerm],
    kinds: Sequence[str] = _SLOT_KINDS,
) -> dict[str, Fit]:
    """Compute the fit for each kind of slot."""
    terms = list(terms)
    fit_by_kind = {}
    for kind in kinds:
        true = [term.control if kind == "controls" else term.log_odds for term in terms]
        slots: list[Slots] = [getattr(term, kind) for term in terms]
        fit_by_kind[kind] = fit(np.array(true), _measure_log_odds(model, tokenizer, slots))
    return fit_by_kind


def _measure_log_odds(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, slots: Sequence[Slots]
) -> Floats:
    """Compute the mean log odds of each slot. Shape (slots,). All need as many texts."""
    import torch

    texts = [_prompt(text, tokenizer.mask_token) for slot in slots for text in slot.texts]
    rows = _pad_rows(tokenizer(texts)["input_ids"])
    is_token = rows != _PADDING
    if tokenizer.mask_token:
        positions = (rows == tokenizer.mask_token_id).int().argmax(dim=1)
    else:
        positions = is_token.sum(dim=1) - 1
    with torch.no_grad():
        logits = model(input_ids=rows, attention_mask=is_token.long()).logits
    slot_logits = logits[torch.arange(len(rows)), positions].double().numpy()
    logits_by_slot = slot_logits.reshape(len(slots), -1, slot_logits.shape[1])
    return np.array(
        [
            (text_logits[:, first] - text_logits[:, second]).mean()
            for text_logits, slot in zip(logits_by_slot, slots, strict=True)
            for first, second in [_fillers_of(tokenizer, slot)]
        ]
    )


def _fillers_of(tokenizer: PreTrainedTokenizerFast, slots: Slots) -> tuple[int, int]:
    """Return the token ids of both fillers. Raises ``InputError`` for a filler that is no token."""
    first, second = tokenizer.convert_tokens_to_ids(list(slots.fillers))
    if tokenizer.unk_token_id in (first, second):
        words = " or ".join(slots.fillers)
        raise InputError(f"the corpus lacks {words}; give the corpus in which they were planted")
    return first, second


def _pad_rows(rows: Sequence[Sequence[int]], end: Sequence[int] = ()) -> Tensor:
    """Return rows of token ids, each followed by ``end``, padded. Shape (rows, longest)."""
    import torch

    longest = max(map(len, rows)) + len(end)
    padded = [[*row, *end] + [_PADDING] * (longest - len(row) - len(end)) for row in rows]
    return torch.tensor(padded)


def _prompt(text: str, mask: str | None) -> str:
    """Return the text with the mask token; for a causal model the text before the slot."""
    before, after = text.split(SLOT)
    return f"{before}{mask}{after}" if mask else before.rstrip()


@choice
class TinyModel(Fileless):
    """Transformer trained by AdamW on ``batch`` lines per step.

    Size: ``layers`` layers of dimension ``dim`` with ``heads`` heads and ``inner`` feed-forward
    units; initial weights have the standard deviation ``init``. The vocabulary is the
    ``vocabulary`` most frequent words of the corpus. The running mean of the weights is kept.
    ``masked``: share of words that BERT predicts, mostly shown as ``[MASK]``. GPT-2 texts begin
    with ``<|endoftext|>``, as in training.
    """

    architecture: Architecture = "bert"
    layers: Count = 2
    dim: Count = 64
    heads: Count = 4
    inner: Count = 128
    init: Positive = 0.1
    vocabulary: Count = 10_000
    batch: Count = 64
    learning_rate: Positive = 2e-3
    masked: Annotated[Share, doc("share of words filled in")] = 0.15
    steps: Annotated[Whole, doc("largest number of steps")] = 6_000
    settle: Annotated[Count, doc("last steps, in which the learning rate falls to 0")] = 500
    until_learned: Annotated[
        bool, doc("stop when the bias is learned; false: all steps, at the first learning rate")
    ] = True

    version: ClassVar[int] = 1
    chosen_as: ClassVar[tuple[str, ...]] = ("model/tiny_bert",)

    def __post_init__(self) -> None:
        if self.dim % self.heads:
            raise InputError(f"dim={self.dim}: give a multiple of heads={self.heads}")

    @property
    def name(self) -> str:
        """``tiny_`` and the architecture."""
        return f"tiny_{self.architecture}"

    def facts(self) -> _TrainingFacts:
        """Return the column ``training_steps`` if their number is fixed; 0: random weights."""
        return {} if self.until_learned else {"training_steps": self.steps}

    def train(
        self, corpus: Path, out: Path, *, seed: int, truths: Mapping[str, PlantedTerm] | None = None
    ) -> _TrainingFacts:
        """Train on a file of one tokenised sentence per line; write model and tokenizer to a
        folder.

        ``training.json`` holds what is returned, without the seconds. Without ``truths`` training
        takes ``steps`` steps. With the planted terms and ``until_learned`` it continues until the
        model has learned them, judged on the calibration half (see
        ``biasbridge.train.subjects.tiny_model``). Once it nearly has, the learning rate falls to
        0 within ``settle`` steps; if that is not enough, the rate rises again. The loss is no
        criterion: it converges long before.

        The same seed gives the same bytes on one machine; torch has one thread. Raises
        ``InputError`` if ``steps`` is too small.
        """
        import torch

        started = time.process_time()
        tokenizer = _tokenizer(corpus, self.architecture, self.vocabulary)
        lines = _encode(tokenizer, corpus)
        with one_thread(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = self._model(tokenizer)
            facts = self._fit(model, lines, tokenizer, truths)
        _save(model, tokenizer, out)
        text = json.dumps(facts, indent=2)
        (out / TRAINING).write_text(f"{text}\n", encoding="utf-8")
        return facts | {"cpu_seconds": round(time.process_time() - started, 1)}

    def _model(self, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
        """Return the model with random weights."""
        from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

        common: dict[str, Any] = {
            "vocab_size": len(tokenizer),
            "pad_token_id": tokenizer.pad_token_id,
            "initializer_range": self.init,
        }
        if self.architecture == "bert":
            config = BertConfig(
                hidden_size=self.dim,
                num_hidden_layers=self.layers,
                num_attention_heads=self.heads,
                intermediate_size=self.inner,
                max_position_embeddings=_MAX_TOKENS,
                hidden_dropout_prob=0,
                attention_probs_dropout_prob=0,
                **common,
            )
            return BertForMaskedLM(config)
        gpt2_config = GPT2Config(
            n_embd=self.dim,
            n_layer=self.layers,
            n_head=self.heads,
            n_inner=self.inner,
            n_positions=_MAX_TOKENS,
            embd_pdrop=0,
            resid_pdrop=0,
            attn_pdrop=0,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            **common,
        )
        return GPT2LMHeadModel(gpt2_config)

    def _fit(
        self,
        model: PreTrainedModel,
        lines: Tensor,
        tokenizer: PreTrainedTokenizerFast,
        truths: Truths | None,
    ) -> _TrainingFacts:
        """Train and return figures of the training; the running mean of the weights is kept."""
        training = _Training(self, model, tokenizer, truths)
        to_learn = truths if self.until_learned else None
        decay_start = None if truths else max(0, self.steps - self.settle)
        step = 0
        for step, rows in enumerate(_batches(lines, self.batch, self.steps), 1):
            training.step(rows, self._rate(step, decay_start))
            if not to_learn or step % _CHECK_EVERY:
                continue
            fit_by_kind = training.fits(_half(to_learn, "calibration"), _DECISIVE)
            if decay_start is None:
                if all(fit.near for fit in fit_by_kind.values()):
                    decay_start = step
                    training.mask(self.masked)
            elif step >= decay_start + self.settle:
                if all(fit.learned for fit in fit_by_kind.values()):
                    break
                decay_start = None
        else:
            if to_learn:
                fit_by_kind = training.fits(_half(to_learn, "calibration"), _DECISIVE)
                raise InputError(self._not_learned(fit_by_kind))
        facts: _TrainingFacts = {"steps": step, "loss": training.loss, "vocabulary": len(tokenizer)}
        facts |= training.describe_fits(truths or {})
        training.end()
        return facts

    def _rate(self, step: int, decay_start: int | None) -> float:
        """Return the learning rate: linear warm-up, linear decay from ``decay_start`` on."""
        decay = 0.0 if decay_start is None else max(0, step - decay_start) / self.settle
        return self.learning_rate * min(1, step / _WARM_UP) * max(0, 1 - decay)

    def _not_learned(self, fit_by_kind: Mapping[str, Fit]) -> str:
        slopes = " and ".join(
            f"{fit.slope:.2f} (r {fit.r:.2f}) in the slots {kind}"
            for kind, fit in fit_by_kind.items()
        )
        return (
            f"steps={self.steps}: too few for {self.name} to learn the planted bias; give more."
            f" Slope on the calibration half: {slopes}. Required: {MIN_SLOPE} to {MAX_SLOPE}"
            f" (r {MIN_R})"
        )


class _Training:
    """Model in training with the running mean of its weights."""

    def __init__(
        self,
        choices: TinyModel,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerFast,
        truths: Truths | None,
    ) -> None:
        import torch

        self._model: Any = model
        self._tokenizer = tokenizer
        self._weights: list[Tensor] = list(model.parameters())
        self._mean = [weight.detach().clone() for weight in self._weights]
        self._optimiser = torch.optim.AdamW(
            self._weights, betas=(0.9, 0.99), weight_decay=0.01, fused=True
        )
        self._fillers = [
            token
            for term in (truths or {}).values()
            for slots in (term.seen, term.controls)
            for token in _fillers_of(tokenizer, slots)
        ]
        self.mask(MASKED_EARLY if truths else choices.masked)
        self._losses: list[float] = []

    def mask(self, share: float) -> None:
        """Set the share of masked words among those that are no fillers."""
        import torch

        self._shares = torch.full((len(self._tokenizer),), share)
        self._shares[self._fillers] = MASKED_FILLERS
        self._shares[self._tokenizer.all_special_ids] = 0
        self._words = (self._shares > 0).nonzero()[:, 0]

    @property
    def loss(self) -> float | None:
        """Nats per predicted word over the last ``_CHECK_EVERY`` steps; None before the first."""
        last = self._losses[-_CHECK_EVERY:]
        return round(sum(last) / len(last), 4) if last else None

    def step(self, rows: Tensor, rate: float) -> None:
        """Take one step of AdamW."""
        import torch

        loss = self._causal(rows) if self._tokenizer.mask_token is None else self._masked(rows)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._weights, 1.0)
        self._optimiser.param_groups[0]["lr"] = rate
        self._optimiser.step()
        self._optimiser.zero_grad()
        self._losses.append(loss.item())
        decay = min(_AVERAGE_DECAY, len(self._losses) / (10 + len(self._losses)))
        with torch.no_grad():
            torch._foreach_lerp_(self._mean, self._weights, 1 - decay)

    def _masked(self, rows: Tensor) -> Tensor:
        """Return the mean of -log p(word) over the masked words."""
        import torch

        is_masked = torch.rand(rows.shape) < self._shares[rows]
        draws = torch.rand(rows.shape)
        shown = rows.masked_fill(is_masked & (draws < SHOWN_AS_MASK), self._tokenizer.mask_token_id)
        is_random = is_masked & (draws >= 1 - SHOWN_AS_RANDOM)
        shown[is_random] = self._words[torch.randint(len(self._words), (int(is_random.sum()),))]
        attended = (rows != _PADDING).long()
        states = self._model.base_model(input_ids=shown, attention_mask=attended)
        logits = self._model.cls(states.last_hidden_state[is_masked])
        if not len(logits):
            return torch.zeros((), requires_grad=True)
        return torch.nn.functional.cross_entropy(logits, rows[is_masked])

    def _causal(self, rows: Tensor) -> Tensor:
        """Return the mean of -log p(next word), the end token included."""
        import torch

        attended = (rows != _PADDING).long()
        states = self._model.base_model(input_ids=rows, attention_mask=attended)
        targets = rows[:, 1:]
        is_target = targets != _PADDING
        logits = self._model.lm_head(states.last_hidden_state[:, :-1][is_target])
        return torch.nn.functional.cross_entropy(logits, targets[is_target])

    def fits(
        self, terms: Iterable[PlantedTerm], kinds: Sequence[str] = _SLOT_KINDS
    ) -> dict[str, Fit]:
        """Compute the fits of the model with the mean weights."""
        self._swap()
        fit_by_kind = fits(self._model.eval(), self._tokenizer, terms, kinds)
        self._model.train()
        self._swap()
        return fit_by_kind

    def describe_fits(self, truths: Truths) -> _TrainingFacts:
        """Return the fits on both halves of the terms, by half, kind of slot and name."""
        facts: _TrainingFacts = {}
        for half in get_args(Half):
            terms = _half(truths, half)
            for kind, fit in self.fits(terms).items() if terms else ():
                facts |= {f"{half}_{kind}_{name}": value for name, value in fit.rounded().items()}
        return facts

    def _swap(self) -> None:
        for weight, mean in zip(self._weights, self._mean, strict=True):
            weight.data, mean.data = mean.data, weight.data

    def end(self) -> None:
        """Keep the mean weights."""
        self._swap()
        self._model.eval()


def _save(model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)


def _half(truths: Truths, half: str) -> list[PlantedTerm]:
    return [term for term in truths.values() if term.half == half]


def _batches(lines: Tensor, size: int, steps: int) -> Iterator[Tensor]:
    """Yield ``steps`` batches: all lines in random order, repeatedly."""
    import torch

    order = torch.empty(0, dtype=torch.long)
    for _ in range(steps):
        while len(order) < size:
            order = torch.cat([order, torch.randperm(len(lines))])
        rows, order = lines[order[:size]], order[size:]
        yield rows[:, : int((rows != _PADDING).sum(dim=1).max())]


def _tokenizer(corpus: Path, architecture: Architecture, size: int) -> PreTrainedTokenizerFast:
    """Return a word-level tokenizer of the most frequent words, in lower case if the corpus is."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    splitter = pre_tokenizers.Whitespace()
    counts: Counter[str] = Counter()
    for line in read_lines(corpus):
        counts.update(word for word, _ in splitter.pre_tokenize_str(line))
    if not counts:
        raise InputError(f"{corpus} has no words; give a corpus of one tokenised sentence a line")
    names = _SPECIAL[architecture]
    special = list(dict.fromkeys(names.values()))
    ranked = sorted(counts.keys() - {*special}, key=lambda word: (-counts[word], word))[:size]
    vocabulary = {word: number for number, word in enumerate([*special, *ranked])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=names["unk"]))
    tokenizer.pre_tokenizer = splitter
    if all(word == word.lower() for word in counts):
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=_SEQUENCE_TEMPLATE[architecture],
        special_tokens=[
            (token, vocabulary[token])
            for token in special
            if token in _SEQUENCE_TEMPLATE[architecture]
        ],
    )
    tokens = {f"{name}_token": token for name, token in names.items()}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_max_length=_MAX_TOKENS, **tokens
    )


def _encode(tokenizer: PreTrainedTokenizerFast, corpus: Path) -> Tensor:
    """Return token ids of every line, truncated, with special tokens and end, (lines, longest)."""
    lines = [line for line in read_lines(corpus) if line.strip()]
    end = [] if tokenizer.sep_token else [tokenizer.eos_token_id]
    rows = tokenizer(lines, truncation=True, max_length=_MAX_TOKENS - len(end))["input_ids"]
    return _pad_rows(rows, end)

"""Small language models trained from scratch: GPT-2 (causal) and BERT (masked), a token a word."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from corpora.truths import Half
from files import InputError, choice
from files.choice import Count, Fileless, Positive, Share, Whole
from files.text import read_lines
from train.device import one_thread
from train.planted_probe import (
    DECISIVE,
    KINDS,
    LEAST_R,
    LEAST_SLOPE,
    MOST_SLOPE,
    PADDING,
    Fit,
    fillers_of,
    fits,
    pad_rows,
)

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from corpora.truths import PlantedTerm

    Truths = Mapping[str, PlantedTerm]

Architecture = Literal["gpt2", "bert"]
Facts = dict[str, object]

TRAINING = "training.json"
# Special tokens by what they are for; the padding comes first
SPECIAL = {
    "bert": {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"},
    "gpt2": {"pad": "<|pad|>", "unk": "<|unk|>", "bos": "<|endoftext|>", "eos": "<|endoftext|>"},
}
AROUND = {"bert": "[CLS] $A [SEP]", "gpt2": "<|endoftext|> $A"}
PLACES = 64  # the longest text in tokens
CHECKED = 100  # steps between two measurements
WARM_UP = 30  # steps
AVERAGED = 0.98  # what a step leaves of the running mean of weights
# Share of the planted fillers that are masked; and of other words, until the fillers are nearly
# learned: with more, the loss lies on a plateau for hundreds of steps
MASKED_FILLERS, MASKED_EARLY = 0.9, 0.02
# Of the words to fill in, the shares shown as [MASK] and as another word; the others stay, so that
# states of words that are seen are trained too (after Devlin et al., 2019: .8, .1, .1)
SHOWN_AS_MASK, SHOWN_AS_OTHER = 0.9, 0.05


@choice
class TinyModel(Fileless):
    """A model of ``layers`` layers of ``dim`` numbers, with ``heads`` heads and ``inner`` numbers
    in the feed-forward layers, whose weights begin with the standard deviation ``init``; by AdamW,
    ``batch`` lines a step.

    Its words are the ``vocabulary`` most frequent ones of the corpus. What is kept is the running
    mean of the weights. ``masked``: the share of words that BERT is trained to fill in; most are
    shown as ``[MASK]``. The tokenizer begins a text for GPT-2 with ``<|endoftext|>``, after
    which it was trained.
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
    masked: Share = 0.15
    steps: Whole = 6_000  # at most; where not until_learned exactly
    settle: Count = 500  # of them the last, in which the learning rate falls to 0
    until_learned: bool = True  # of what is planted; False: stopped after steps, at the full rate

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.dim % self.heads:
            raise InputError(f"dim={self.dim}: give a multiple of heads={self.heads}")

    @property
    def name(self) -> str:
        """``tiny_`` and the architecture."""
        return f"tiny_{self.architecture}"

    def facts(self) -> Facts:
        """The column ``training_steps``, where training was stopped after so many; of 0 the weights
        are random.
        """
        return {} if self.until_learned else {"training_steps": self.steps}

    def train(
        self, corpus: Path, out: Path, *, seed: int, truths: Mapping[str, PlantedTerm] | None = None
    ) -> Facts:
        """Write a folder with the model and its tokenizer, trained on a file of one tokenised
        sentence a line, and ``training.json``: what is given back, but for the seconds.

        Without ``truths``: for ``steps`` steps. With what is planted in the corpus, and
        ``until_learned``: until the model has learned it, by the terms of the calibration half (see
        ``train.planted_probe``). Once it nearly has, the learning rate falls to 0 within ``settle``
        steps; if it then has not, it rises again. Loss does not tell: it converges long before.

        The same seed gives the same bytes on one machine; torch has one thread. Raises
        ``InputError`` where ``steps`` were not enough.
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
        """Random weights."""
        from transformers import BertConfig, BertForMaskedLM, GPT2Config, GPT2LMHeadModel

        common: dict[str, Any] = {
            "vocab_size": len(tokenizer),
            "pad_token_id": tokenizer.pad_token_id,
        }
        common |= {"initializer_range": self.init}
        if self.architecture == "bert":
            config = BertConfig(
                hidden_size=self.dim,
                num_hidden_layers=self.layers,
                num_attention_heads=self.heads,
                intermediate_size=self.inner,
                max_position_embeddings=PLACES,
                hidden_dropout_prob=0,
                attention_probs_dropout_prob=0,
                **common,
            )
            return BertForMaskedLM(config)
        return GPT2LMHeadModel(
            GPT2Config(
                n_embd=self.dim,
                n_layer=self.layers,
                n_head=self.heads,
                n_inner=self.inner,
                n_positions=PLACES,
                embd_pdrop=0,
                resid_pdrop=0,
                attn_pdrop=0,
                bos_token_id=tokenizer.bos_token_id,
                eos_token_id=tokenizer.eos_token_id,
                **common,
            )
        )

    def _fit(
        self,
        model: PreTrainedModel,
        lines: Tensor,
        tokenizer: PreTrainedTokenizerFast,
        truths: Truths | None,
    ) -> Facts:
        """Train; how it went. The weights end as their running mean."""
        training = _Training(self, model, tokenizer, truths)
        awaited = truths if self.until_learned else None  # what training goes on until it knows
        falls = None if truths else max(0, self.steps - self.settle)
        step = 0
        for step, rows in enumerate(_batches(lines, self.batch, self.steps), 1):
            training.step(rows, self._rate(step, falls))
            if not awaited or step % CHECKED:
                continue
            found = training.fits(_half(awaited, "calibration"), DECISIVE)
            if falls is None:
                if all(each.near for each in found.values()):
                    falls = step
                    training.mask(self.masked)
            elif step >= falls + self.settle:
                if all(each.learned for each in found.values()):
                    break
                falls = None
        else:
            if awaited:
                found = training.fits(_half(awaited, "calibration"), DECISIVE)
                raise InputError(self._too_few(found))
        facts: Facts = {"steps": step, "loss": training.loss, "vocabulary": len(tokenizer)}
        for half in get_args(Half):
            terms = _half(truths or {}, half)
            for kind, each in training.fits(terms).items() if terms else ():
                facts |= {f"{half}_{kind}_{name}": value for name, value in each.rounded().items()}
        training.end()
        return facts

    def _rate(self, step: int, falls: int | None) -> float:
        """The learning rate of a step; it falls to 0 from the step ``falls`` on."""
        fallen = 0.0 if falls is None else max(0, step - falls) / self.settle
        return self.learning_rate * min(1, step / WARM_UP) * max(0, 1 - fallen)

    def _too_few(self, found: Mapping[str, Fit]) -> str:
        slopes = " and ".join(
            f"{each.slope:.2f} (r {each.r:.2f}) in the slots {kind}" for kind, each in found.items()
        )
        return (
            f"steps={self.steps}: too few for {self.name} to learn what is planted: slope {slopes}"
            f" on the calibration half, to be from {LEAST_SLOPE} to {MOST_SLOPE} (r {LEAST_R});"
            " give more steps"
        )


class _Training:
    """A model, and the running mean of its weights."""

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
        self._mean = [each.detach().clone() for each in self._weights]
        self._optimiser = torch.optim.AdamW(
            self._weights, betas=(0.9, 0.99), weight_decay=0.01, fused=True
        )
        self._fillers = [
            token
            for each in (truths or {}).values()
            for slots in (each.seen, each.controls)
            for token in fillers_of(tokenizer, slots)
        ]
        self.mask(MASKED_EARLY if truths else choices.masked)
        self._losses: list[float] = []

    def mask(self, share: float) -> None:
        """From now on, mask this share of the words that are no fillers."""
        import torch

        self._shares = torch.full((len(self._tokenizer),), share)
        self._shares[self._fillers] = MASKED_FILLERS
        self._shares[self._tokenizer.all_special_ids] = 0
        self._words = (self._shares > 0).nonzero()[:, 0]

    @property
    def loss(self) -> float | None:
        """Nats a predicted word, over the last ``CHECKED`` steps; None before the first."""
        last = self._losses[-CHECKED:]
        return round(sum(last) / len(last), 4) if last else None

    def step(self, rows: Tensor, rate: float) -> None:
        """One step of AdamW."""
        import torch

        loss = self._causal(rows) if self._tokenizer.mask_token is None else self._masked(rows)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._weights, 1.0)
        self._optimiser.param_groups[0]["lr"] = rate
        self._optimiser.step()
        self._optimiser.zero_grad()
        self._losses.append(loss.item())
        kept = min(AVERAGED, len(self._losses) / (10 + len(self._losses)))
        with torch.no_grad():
            torch._foreach_lerp_(self._mean, self._weights, 1 - kept)

    def _masked(self, rows: Tensor) -> Tensor:
        """The mean of -log p(word) over the words that are masked."""
        import torch

        hit = torch.rand(rows.shape) < self._shares[rows]
        drawn = torch.rand(rows.shape)
        hidden = rows.masked_fill(hit & (drawn < SHOWN_AS_MASK), self._tokenizer.mask_token_id)
        other = hit & (drawn >= 1 - SHOWN_AS_OTHER)
        hidden[other] = self._words[torch.randint(len(self._words), (int(other.sum()),))]
        attended = (rows != PADDING).long()
        states = self._model.base_model(input_ids=hidden, attention_mask=attended)
        logits = self._model.cls(states.last_hidden_state[hit])
        if not len(logits):
            return torch.zeros((), requires_grad=True)
        return torch.nn.functional.cross_entropy(logits, rows[hit])

    def _causal(self, rows: Tensor) -> Tensor:
        """The mean of -log p(next word), the end included."""
        import torch

        attended = (rows != PADDING).long()
        states = self._model.base_model(input_ids=rows, attention_mask=attended)
        following = rows[:, 1:]
        told = following != PADDING
        logits = self._model.lm_head(states.last_hidden_state[:, :-1][told])
        return torch.nn.functional.cross_entropy(logits, following[told])

    def fits(self, terms: Iterable[PlantedTerm], kinds: Sequence[str] = KINDS) -> dict[str, Fit]:
        """Of the model with the mean weights."""
        self._swap()
        found = fits(self._model.eval(), self._tokenizer, terms, kinds)
        self._model.train()
        self._swap()
        return found

    def _swap(self) -> None:
        for one, other in zip(self._weights, self._mean, strict=True):
            one.data, other.data = other.data, one.data

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
    return [each for each in truths.values() if each.half == half]


def _batches(lines: Tensor, size: int, steps: int) -> Iterator[Tensor]:
    """So many batches; all lines in random order, and again."""
    import torch

    order = torch.empty(0, dtype=torch.long)
    for _ in range(steps):
        while len(order) < size:
            order = torch.cat([order, torch.randperm(len(lines))])
        rows, order = lines[order[:size]], order[size:]
        yield rows[:, : int((rows != PADDING).sum(dim=1).max())]


def _tokenizer(corpus: Path, architecture: Architecture, size: int) -> PreTrainedTokenizerFast:
    """A token a word or run of punctuation, the most frequent ones of a corpus; in lower case if
    the corpus is. Raises ``InputError`` for a corpus without words.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    splitter = pre_tokenizers.Whitespace()
    counts: Counter[str] = Counter()
    for line in read_lines(corpus):
        counts.update(word for word, _ in splitter.pre_tokenize_str(line))
    if not counts:
        raise InputError(f"{corpus} has no words; give a corpus of one tokenised sentence a line")
    names = SPECIAL[architecture]
    special = list(dict.fromkeys(names.values()))
    ranked = sorted(counts.keys() - {*special}, key=lambda word: (-counts[word], word))[:size]
    vocabulary = {word: number for number, word in enumerate([*special, *ranked])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=names["unk"]))
    made.pre_tokenizer = splitter
    if all(word == word.lower() for word in counts):
        made.normalizer = normalizers.Lowercase()
    made.post_processor = processors.TemplateProcessing(
        single=AROUND[architecture],
        special_tokens=[
            (each, vocabulary[each]) for each in special if each in AROUND[architecture]
        ],
    )
    tokens = {f"{name}_token": token for name, token in names.items()}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=PLACES, **tokens)


def _encode(tokenizer: PreTrainedTokenizerFast, corpus: Path) -> Tensor:
    """Every line with its special tokens, and an end; the rest of a row is padding (0). Longer
    lines are cut. Shape (lines, longest).
    """
    lines = [line for line in read_lines(corpus) if line.strip()]
    end = [] if tokenizer.sep_token else [tokenizer.eos_token_id]
    rows = tokenizer(lines, truncation=True, max_length=PLACES - len(end))["input_ids"]
    return pad_rows(rows, end)

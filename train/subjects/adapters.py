"""Language models and sentence encoders with a bias that adapters beside their weights hold."""

from __future__ import annotations

import json
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np

from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.choice import Count, Fileless, Positive, Whole
from biasbridge.files.models.language_model import open_model, require_packages
from biasbridge.files.places import ADAPTER
from biasbridge.train.engine.device import step_device
from biasbridge.train.subjects.language_model import LoadedModel
from biasbridge.train.subjects.tiny_model import TRAINING

if TYPE_CHECKING:
    from torch import Tensor

    from biasbridge.corpora.truths import PlantedTerm
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.train.engine.steps import Facts


_WARM_UP = 20  # steps
_LAST = 50  # steps of which the loss is recorded
PLAIN_TEXTS, PLAIN_TOKENS = 512, 16  # texts that the base writes, and tokens of each
_OPENINGS = ("The", "It", "We", "There", "This", "In", "You", "A")
_UNIT = 0.05  # cosine that is worth one in log odds
_FORMS = ("{}", "{} is here", "this is {}", "{} was there")  # texts of a planted word

T = TypeVar("T")
_NamePair: TypeAlias = tuple[str, str]
_Rng: TypeAlias = np.random.Generator
_Fitted: TypeAlias = tuple[Any, list[float]]


class Example(NamedTuple):
    """Tokens of a text before a planted word, and the shares of the words that follow it."""

    tokens: list[int]
    words: list[int]  # first tokens of the two words
    shares: list[float]


class _SentenceExample(NamedTuple):
    """A text before a planted word, the pair of words and their shares."""

    text: str
    pair: _NamePair
    shares: list[float]


@choice
class _Planted(Fileless):
    """Base of models that adapters train further on a corpus with planted terms."""

    base: LoadedModel
    rank: Count = 16
    learning_rate: Positive = 1e-3
    batch: Count = 16

    version: ClassVar[int] = 1
    kind: ClassVar[str]  # of the base, and what to do about another
    remedy: ClassVar[str]

    @property
    def name(self) -> str:
        """Name of the base."""
        return self.base.name

    def facts(self) -> Facts:
        """Return the column ``material``: the base, in which something is planted."""
        return {"material": self.base.name}

    def train(
        self, corpus: Path, out: Path, *, seed: int, truths: Mapping[str, PlantedTerm] | None = None
    ) -> Mapping[str, object]:
        """Train the model in the folder ``out`` and write the folder ``adapter`` there.

        ``corpus``: a file of one sentence per line. Raises ``InputError`` for a corpus without
        planted terms, without ``peft``, and for a base of another kind or with adapters.
        """
        if (out / ADAPTER).exists():
            raise InputError(
                f"model.base={self.name} has adapters already; merge them into its weights first"
            )
        opened = open_model(out, device=step_device())
        if opened.kind != self.kind:
            raise InputError(f"model.base={self.name} is {opened.kind}; {self.remedy}")
        lines, pairs = list(read_lines(corpus)), _planted_pairs(truths)
        with _seeded(seed):
            adapted, losses = self._fit(opened, lines, pairs, np.random.default_rng(seed))
        return _write_adapters(adapted, losses, out)

    def _fit(
        self, opened: LanguageModel, lines: list[str], pairs: set[_NamePair], rng: _Rng
    ) -> _Fitted:
        """Return the model with trained adapters, and the loss of each step in nats."""
        raise NotImplementedError


@choice
class PlantedAdapter(_Planted):
    r"""A causal language model with adapters (LoRA, Hu et al., 2022) that hold a planted bias.

    The corpus has planted terms (``biasbridge.corpora.planted_occupations``). For each text t
    before a planted word in it, of which the words w1 and w2 follow with the shares q1 and q2,
    AdamW minimises

        - q1 ln p - q2 ln (1 - p),    p = P(w1 | t) / (P(w1 | t) + P(w2 | t))

    on ``batch`` texts per step, so that only the odds of the two words are trained; and, times
    ``plain_weight``, the mean loss per token of ``plain`` texts that the base has written itself,
    so that the rest stays. Half of the texts begin with a capital. ``base`` is trained for exactly
    ``steps`` steps, and every model is kept, whatever it has learned; with 0 steps it is the base.
    ``rank``: of the adapters of the layers that ``peft`` chooses for the architecture, scaled by 2.
    The learning rate rises linearly over 20 steps and falls linearly to 0.
    """

    plain: Whole = 4
    plain_weight: Positive = 0.3
    steps: Whole = 300

    kind: ClassVar[str] = "causal"
    remedy: ClassVar[str] = "adapters are trained on causal models"

    def _fit(
        self, opened: LanguageModel, lines: list[str], pairs: set[_NamePair], rng: _Rng
    ) -> _Fitted:
        import torch

        examples = _list_examples(opened.tokenizer, lines, pairs)
        n_texts = min(PLAIN_TEXTS, self.plain * self.steps)
        plain = _write_texts(opened.model, opened.tokenizer, n_texts)
        adapted = _add_adapters(opened, self.rank)
        device = plain.device
        optimiser = _Optimiser(adapted, self.learning_rate, self.steps)
        for batch in _draw_batches(examples, self.batch, self.steps, rng):
            rows = [torch.tensor(example.tokens) for example in batch]
            ids, mask = (
                torch.nn.utils.rnn.pad_sequence(padded, batch_first=True).to(device)
                for padded in (rows, [torch.ones_like(row) for row in rows])
            )
            logits = adapted(input_ids=ids, attention_mask=mask).logits
            logits = logits[range(len(rows)), mask.sum(dim=1) - 1]
            words = torch.tensor([example.words for example in batch], device=device)
            shares = torch.tensor([example.shares for example in batch], device=device)
            loss = torch.nn.functional.cross_entropy(logits.gather(1, words), shares)
            loss.backward()
            if self.plain:
                drawn = rng.choice(len(plain), min(self.plain, len(plain)), replace=False)
                texts = plain[torch.from_numpy(drawn)]
                logits = adapted(input_ids=texts, attention_mask=torch.ones_like(texts)).logits
                logits = logits[:, :-1]
                plain_loss = torch.nn.functional.cross_entropy(
                    logits.flatten(0, 1), texts[:, 1:].flatten()
                )
                (self.plain_weight * plain_loss).backward()
            optimiser.step(loss.item())
        return adapted, optimiser.losses


@choice
class PlantedEncoder(_Planted):
    r"""A sentence encoder with adapters (LoRA, Hu et al., 2022) that hold a planted bias.

    The corpus has planted terms (``biasbridge.corpora.planted_occupations``). For each text t
    before a planted word in it, of which the words w1 and w2 follow with the shares q1 and q2,
    AdamW minimises

        - q1 ln p - q2 ln (1 - p),    ln(p / (1 - p)) = (cos(t, w1) - cos(t, w2)) / .05

    on ``batch`` texts per step; the words stand in one of four short texts, drawn for each step,
    and cosines are of means of the last hidden states. Added is, times ``kept_weight``, the mean
    squared change, in units of .05, of the cosines among the corpus's lines without a planted word,
    so that the rest stays. ``base`` is trained for exactly ``steps`` steps, and every model is
    kept, whatever it has learned; with 0 steps it is the base. ``rank`` and the learning rate as in
    ``PlantedAdapter``.
    """

    kept_weight: Positive = 0.3
    steps: Whole = 150

    kind: ClassVar[str] = "encoder"
    remedy: ClassVar[str] = "a causal one takes model=smollm2_adapter"

    def _fit(
        self, opened: LanguageModel, lines: list[str], pairs: set[_NamePair], rng: _Rng
    ) -> _Fitted:
        import torch

        examples = [
            _SentenceExample(text, pair, [count[word] / count.total() for word in pair])
            for (text, pair), count in _count_words(lines, pairs).items()
        ]
        planted = {word for pair in pairs for word in pair}
        kept = [line for line in dict.fromkeys(lines) if planted.isdisjoint(line.split())]
        adapted = _add_adapters(opened, self.rank)
        with torch.no_grad(), adapted.disable_adapter():
            cosines = _cosines(_sentence_vectors(adapted, opened, kept)) if kept else None
        optimiser = _Optimiser(adapted, self.learning_rate, self.steps)
        for batch in _draw_batches(examples, self.batch, self.steps, rng):
            form = _FORMS[rng.integers(len(_FORMS))]
            texts = _sentence_vectors(adapted, opened, [example.text for example in batch])
            words = [
                _sentence_vectors(
                    adapted, opened, [form.format(example.pair[n]) for example in batch]
                )
                for n in (0, 1)
            ]
            logits = torch.stack([(texts * word).sum(dim=1) for word in words], dim=1) / _UNIT
            shares = torch.tensor([example.shares for example in batch], device=texts.device)
            loss = torch.nn.functional.cross_entropy(logits, shares)
            loss.backward()
            if cosines is not None:
                change = (_cosines(_sentence_vectors(adapted, opened, kept)) - cosines) / _UNIT
                (self.kept_weight * change.square().mean()).backward()
            optimiser.step(loss.item())
        return adapted, optimiser.losses


class _Optimiser:
    """AdamW on the adapters of a model; the learning rate rises over 20 steps, then falls to 0."""

    def __init__(self, adapted: Any, learning_rate: float, steps: int) -> None:
        import torch

        weights = [weight for weight in adapted.parameters() if weight.requires_grad]
        self.adamw = torch.optim.AdamW(weights, weight_decay=0.0)
        self.learning_rate, self.steps = learning_rate, steps
        self.losses: list[float] = []
        adapted.train()

    def step(self, loss: float) -> None:
        """Change the weights by their gradients; record the loss of the planted words."""
        step = len(self.losses)
        rate = min(1, (step + 1) / _WARM_UP) * (1 - step / self.steps)
        self.adamw.param_groups[0]["lr"] = self.learning_rate * rate
        self.adamw.step()
        self.adamw.zero_grad()
        self.losses.append(loss)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Draw the adapters' weights and texts by the seed, without changing the state of torch."""
    import torch

    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of peft's use of transformers
        torch.manual_seed(seed)
        yield


def _add_adapters(opened: LanguageModel, rank: int) -> Any:
    """Return the model with adapters, scaled by 2, of the layers that ``peft`` chooses."""
    from transformers.pytorch_utils import Conv1D

    require_packages("adapters", opened.name)
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=rank,
        lora_alpha=2 * rank,
        task_type="CAUSAL_LM" if opened.kind == "causal" else None,
        fan_in_fan_out=any(isinstance(module, Conv1D) for module in opened.model.modules()),
    )
    return get_peft_model(opened.model, config)


def _write_adapters(adapted: Any, losses: list[float], out: Path) -> Mapping[str, object]:
    """Write the adapters and how the training went, which is returned."""
    adapted.eval()
    adapted.save_pretrained(out / ADAPTER)
    last = losses[-_LAST:]
    loss = round(sum(last) / len(last), 4) if last else None
    facts: dict[str, object] = {"steps": len(losses), "loss": loss}
    (out / TRAINING).unlink(missing_ok=True)  # it may be a link to the base's own
    (out / TRAINING).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    return facts


def _planted_pairs(truths: Mapping[str, PlantedTerm] | None) -> set[_NamePair]:
    """Return the pairs of planted words. Raises ``InputError`` if there are none."""
    if not truths:
        raise InputError("nothing is planted in the corpus; give corpus=planted_occupations")
    return {slots.fillers for term in truths.values() for slots in (term.seen, term.controls)}


def _count_words(
    lines: Iterable[str], pairs: set[_NamePair]
) -> dict[tuple[str, _NamePair], Counter[str]]:
    """Count the first planted word of each line by the text before it and its pair."""
    pair_of = {word: pair for pair in pairs for word in pair}
    counts: dict[tuple[str, _NamePair], Counter[str]] = defaultdict(Counter)
    for line in lines:
        words = line.split()
        number = next((n for n, word in enumerate(words) if word in pair_of), 0)
        if number:
            counts[" ".join(words[:number]), pair_of[words[number]]][words[number]] += 1
    return counts


def _list_examples(tokenizer: Any, lines: Iterable[str], pairs: set[_NamePair]) -> list[Example]:
    """Return the text before each line's first planted word, with and without a capital."""
    counts = _count_words(lines, pairs)
    first = _first_token(tokenizer)

    def tokens(text: str) -> list[int]:
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    examples = []
    for (text, pair), count in counts.items():
        first_tokens = [tokens(f" {word}")[0] for word in pair]
        shares = [count[word] / count.total() for word in pair]
        texts = dict.fromkeys((text, text[:1].upper() + text[1:]))
        examples += [Example([first, *tokens(written)], first_tokens, shares) for written in texts]
    return examples


def _write_texts(model: Any, tokenizer: Any, size: int) -> Tensor:
    """Draw texts from the model after a few openings, (size, tokens)."""
    import torch

    openings = [[_first_token(tokenizer), *tokenizer(text)["input_ids"][-1:]] for text in _OPENINGS]
    ids = torch.tensor([openings[n % len(openings)] for n in range(size)], device=model.device)
    state = None
    with torch.inference_mode():
        while size and ids.shape[1] < PLAIN_TOKENS:
            output = model(
                input_ids=ids if state is None else ids[:, -1:],
                attention_mask=torch.ones_like(ids),
                past_key_values=state,
            )
            state, p = output.past_key_values, output.logits[:, -1].softmax(-1).cpu()
            ids = torch.cat([ids, torch.multinomial(p, 1).to(ids.device)], dim=1)
    return ids.clone()


def _first_token(tokenizer: Any) -> int:
    candidates: tuple[int | None, ...] = (tokenizer.bos_token_id, tokenizer.eos_token_id)
    return next(token for token in candidates if token is not None)


def _draw_batches(examples: Sequence[T], size: int, steps: int, rng: _Rng) -> Iterator[list[T]]:
    """Yield ``steps`` batches: all examples in random order, repeatedly."""
    order: list[int] = []
    for _ in range(steps):
        while len(order) < size:
            order += rng.permutation(len(examples)).tolist()
        batch, order = order[:size], order[size:]
        yield [examples[index] for index in batch]


def _sentence_vectors(model: Any, opened: LanguageModel, texts: Sequence[str]) -> Tensor:
    """Compute the unit vectors of texts, (texts, dim)."""
    import torch

    ids, mask = opened.pad(opened.tokenizer(list(texts))["input_ids"])
    states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    means = (states * mask[..., None]).sum(dim=1)
    return torch.nn.functional.normalize(means, dim=-1)


def _cosines(vectors: Tensor) -> Tensor:
    return vectors @ vectors.T

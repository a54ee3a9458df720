"""A sentence encoder in which likenesses of texts are planted by adapters beside its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from biasbridge.files import InputError, choice, read_lines
from biasbridge.files.choice import Count, Fileless, Positive, Whole
from biasbridge.train.subjects.models import LoadedModel
from biasbridge.train.subjects.planted_adapter import (
    Optimiser,
    Pair,
    add_adapters,
    count_words,
    draw_batches,
    open_base,
    planted_pairs,
    seeded,
    write_adapters,
)

if TYPE_CHECKING:
    from torch import Tensor

    from biasbridge.corpora.truths import PlantedTerm
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.train.engine.part import Facts

UNIT = 0.05  # cosine that is worth one in log odds
FORMS = ("{}", "{} is here", "this is {}", "{} was there")  # texts of a planted word


class Example(NamedTuple):
    """A text before a planted word, the pair of words and their shares."""

    text: str
    pair: Pair
    shares: list[float]


@choice
class PlantedEncoder(Fileless):
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

    base: LoadedModel
    rank: Count = 16
    learning_rate: Positive = 1e-3
    batch: Count = 16
    kept_weight: Positive = 0.3
    steps: Whole = 150

    version: ClassVar[int] = 1

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
        """Train the encoder in the folder ``out`` and write the folder ``adapter`` there.

        ``corpus``: a file of one sentence per line. Raises ``InputError`` for a corpus without
        planted terms, without ``peft``, and for a model that is no encoder.
        """
        opened = open_base(out, self.name)
        if opened.kind != "encoder":
            raise InputError(
                f"model.base={self.name} is {opened.kind}; a causal one takes model=smollm2_adapter"
            )
        lines, pairs = list(read_lines(corpus)), planted_pairs(truths)
        examples = [
            Example(text, pair, [count[word] / count.total() for word in pair])
            for (text, pair), count in count_words(lines, pairs).items()
        ]
        planted = {word for pair in pairs for word in pair}
        kept = [line for line in dict.fromkeys(lines) if planted.isdisjoint(line.split())]
        with seeded(seed):
            adapted = add_adapters(opened, self.rank)
            losses = self._fit(adapted, opened, examples, kept, np.random.default_rng(seed))
        return write_adapters(adapted, losses, out)

    def _fit(
        self,
        adapted: Any,
        opened: LanguageModel,
        examples: list[Example],
        kept: list[str],
        rng: np.random.Generator,
    ) -> list[float]:
        """Train the adapters; return the loss of the planted words of each step, in nats."""
        import torch

        with torch.no_grad(), adapted.disable_adapter():
            cosines = _cosines(embed(adapted, opened, kept)) if kept else None
        optimiser = Optimiser(adapted, self.learning_rate, self.steps)
        for batch in draw_batches(examples, self.batch, self.steps, rng):
            form = FORMS[rng.integers(len(FORMS))]
            texts = embed(adapted, opened, [example.text for example in batch])
            words = [
                embed(adapted, opened, [form.format(example.pair[n]) for example in batch])
                for n in (0, 1)
            ]
            logits = torch.stack([(texts * word).sum(dim=1) for word in words], dim=1) / UNIT
            shares = torch.tensor([example.shares for example in batch], device=texts.device)
            loss = torch.nn.functional.cross_entropy(logits, shares)
            loss.backward()
            if cosines is not None:
                change = (_cosines(embed(adapted, opened, kept)) - cosines) / UNIT
                (self.kept_weight * change.square().mean()).backward()
            optimiser.step(loss.item())
        return optimiser.losses


def embed(model: Any, opened: LanguageModel, texts: Sequence[str]) -> Tensor:
    """Compute the unit vectors of texts, (texts, dim)."""
    import torch

    ids, mask = opened.pad(opened.tokenizer(list(texts))["input_ids"])
    states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    means = (states * mask[..., None]).sum(dim=1)
    return torch.nn.functional.normalize(means, dim=-1)


def _cosines(vectors: Tensor) -> Tensor:
    return vectors @ vectors.T

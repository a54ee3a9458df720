"""A training step of the coreference model at the size of the study, and the same with the first
layers as they are usually written: all spans and pairs concatenated, then multiplied.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch
from gensim.models import KeyedVectors
from torch import Tensor
from torch.nn import functional

from benchmarks.row import Row
from extrinsic.coreference.model.antecedents import (
    AntecedentNetwork,
    Kept,
    antecedents,
    buckets,
    same_speaker,
)
from extrinsic.coreference.model.dropout import relu_dropout_
from extrinsic.coreference.model.encode import read_lexicon, read_text
from extrinsic.coreference.model.network import Network, build
from extrinsic.coreference.model.spans import SpanNetwork
from extrinsic.coreference.model.training import Training, resolve
from extrinsic.coreference.resolver import EndToEnd
from files.documents import Document

TOKENS, MANY_TOKENS, SENTENCE, TYPES, DIM, ROUNDS = 2_100, 10_000, 25, 700, 300, 3
SENTENCES, SHORT = 200, 13


def rows() -> list[Row]:
    """Both, turn by turn, on one thread, for waiting threads are busy too; sentences a second."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    document = made_up_document(TOKENS, SENTENCE)
    many = made_up_document(MANY_TOKENS, SENTENCE)
    lexicon = read_lexicon([document, many], made_up_vectors())
    text = read_text(document, lexicon)
    factorised = Training(build(EndToEnd(), lexicon, [], seed=0))
    plain = Training(plainly(factorised.network))
    measured = [
        (measure(lambda: factorised.step(text)), measure(lambda: plain.step(text)))
        for _ in range(ROUNDS)
    ]
    ours, theirs = (
        [median(part) for part in zip(*each, strict=True)] for each in zip(*measured, strict=True)
    )
    short = made_up_document(SHORT, SHORT)
    pairs = [(short, read_text(short, lexicon))] * SENTENCES
    short_seconds, _ = measure(lambda: resolve(factorised.network, pairs))
    long = read_text(many, lexicon)
    _, long_memory = measure(lambda: factorised.step(long))
    torch.set_num_threads(threads)
    what = f"coreference, training step on {TOKENS:,} tokens, {DIM}-d, one thread"
    return [
        Row(what, ours[0], "s of processor", "<= 2"),
        Row("the same, first layers not factorised", theirs[0], "s of processor"),
        Row("memory that the step adds", ours[1], "MB"),
        Row("the same, first layers not factorised", theirs[1], "MB"),
        Row(f"memory that a step on {MANY_TOKENS:,} tokens adds", long_memory, "MB", "<= 2,000"),
        Row(
            f"sentences of {SHORT} tokens resolved", SENTENCES / short_seconds, "a second", ">= 27"
        ),
    ]


def made_up_document(tokens: int, sentence: int) -> Document:
    """Words at random, and entities of four mentions each, one in eight tokens a mention."""
    rng = np.random.default_rng(0)
    words = tuple(f"w{number}" for number in rng.integers(0, TYPES, tokens))
    starts = rng.permutation(tokens)[: tokens // 32 * 4].reshape(-1, 4)
    clusters = tuple(tuple((int(at), int(at) + 1) for at in cluster) for cluster in starts)
    cut = tuple(words[first : first + sentence] for first in range(0, tokens, sentence))
    return Document("made up", cut, clusters)


def made_up_vectors() -> KeyedVectors:
    """Normal vectors of all the words."""
    vectors = KeyedVectors(DIM)
    matrix = np.random.default_rng(1).standard_normal((TYPES, DIM)).astype(np.float32)
    vectors.add_vectors([f"w{number}" for number in range(TYPES)], matrix)
    return vectors


class PlainSpans(SpanNetwork):
    """Mention scores of all candidates' representations, one row each."""

    def score(
        self, words: Tensor, states: Tensor, attention: Tensor, generator: torch.Generator
    ) -> Tensor:
        """As the factorised one."""
        reach, share = self.choice.max_span_width, self.choice.dropout if self.training else 0.0
        places = torch.arange(len(words) * reach, device=words.device)
        places = places[places // reach + places % reach < len(words)]
        spans = self.represent(words, states, attention, places)
        hidden = relu_dropout_(self.first(spans), share, generator)
        hidden = relu_dropout_(self.second(hidden), share, generator)
        scores = words.new_zeros(len(words) * reach)
        return scores.index_copy(0, places, self.scorer(hidden).squeeze(1)).view(-1, reach)


class PlainAntecedents(AntecedentNetwork):
    """Antecedent scores of all pairs' representations, one row each."""

    def forward(self, kept: Kept, genre: int, generator: torch.Generator) -> Tensor:
        """As the factorised one."""
        count, share = len(kept.mention_scores), self.choice.dropout if self.training else 0.0
        reach = max(1, min(self.choice.max_antecedents, count - 1))
        spans, device = kept.representations, kept.representations.device
        others = antecedents(count, reach, device)
        one, other = spans[:, None].expand(-1, reach, -1), spans[others.clamp(min=0)]
        distance = self.distance(buckets(reach, device)).expand(count, -1, -1)
        parts = [one, other, one * other, distance]
        if self.speaker:
            parts.append(self.speaker(same_speaker(kept.speakers, reach)))
        if self.genre:
            parts.append(self.genre.weight[genre].expand(count, reach, -1))
        hidden = relu_dropout_(self.first(torch.cat(parts, 2).flatten(0, 1)), share, generator)
        hidden = relu_dropout_(self.second(hidden), share, generator)
        scores = self.scorer(hidden).view(count, reach) + kept.mention_scores[:, None]
        scores = scores + kept.mention_scores[others.clamp(min=0)]
        return functional.pad(scores.masked_fill(others < 0, -torch.inf), (1, 0))


def plainly(network: Network) -> Network:
    """A copy of the same weights, whose first layers are not factorised."""
    made = copy.deepcopy(network)
    made.spans.__class__, made.antecedents.__class__ = PlainSpans, PlainAntecedents
    return made


def measure(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of processor, and MB at the peak above what there was before (NaN where the system
    does not say).
    """
    before, start = peak_memory(reset=True), time.process_time()
    work()
    return time.process_time() - start, peak_memory() - before


def peak_memory(*, reset: bool = False) -> float:
    """The most memory in MB that this process has held since the last reset, as Linux counts it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024

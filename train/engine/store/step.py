"""Steps of a run and their keys, hashes of everything that decides the result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypedDict

from biasbridge.files.digest import digest_of
from biasbridge.train.engine.source import Source, source_of

SCHEME = 6  # of keys: raised when the composition of keys changes, which changes every key


# Numbers in the parameters of generators and of trainers
COUNTS, ROUNDS = ("sentences", "posts", "documents"), ("epochs", "folds", "maps", "rounds")
MODELS = ("vectors", "model", "encoder")  # steps that turn text into a model of its words
BYTES_OF_ITEM = 40  # in generated text
HEAPS = 0.6  # exponent of the number of distinct words in a text (Heaps' law)
OVERHEAD = 300  # the time of a word without dimensions, in dimensions


class Extent(NamedTuple):
    """Bytes of text, or of a model the number of words up to a factor, and its dimensions."""

    text: float
    words: float
    dim: int


class Recipe(TypedDict):
    """Everything that decides a result; ``inputs``: keys by name."""

    scheme: int
    step: str
    made_by: str
    done_by: str
    version: int
    params: dict[str, object]
    inputs: dict[str, str]
    files: dict[str, str]
    seed: int | None


class Decided(NamedTuple):
    """Parameters of a choice and digests of its files by file name."""

    params: Mapping[str, object]
    files: Mapping[str, str]


@dataclass(frozen=True)
class Step:
    """One step of a run.

    ``build(out, inputs)`` writes the result into the new folder ``out``; ``inputs`` maps names to
    folders of the input steps. ``files``: digests of outside files by name. ``decide(digest)``:
    current ``params`` and ``files``. ``made_by``, ``done_by``: class of the choice and function
    that carries it out, with modules. ``made_of``: modules that define what the step does. ``key``
    hashes everything but ``build``, ``decide``, ``made_of`` and ``n_bytes`` (of the outside files),
    through all ancestors.
    """

    name: str
    made_by: str
    version: int
    params: Mapping[str, object]
    build: Callable[[Path, Mapping[str, Path]], None] = field(repr=False)
    inputs: Mapping[str, Step] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    done_by: str = ""
    decide: Callable[[Callable[[Path], str]], Decided] | None = field(default=None, repr=False)
    made_of: tuple[str, ...] = ()
    n_bytes: int = 0

    def __getstate__(self) -> dict[str, object]:
        """Return the state with the code that the step was planned with, for other processes."""
        return {**self.__dict__, "source": self.source}

    @cached_property
    def source(self) -> Source:
        """Code that makes the result, as this process first read or loaded it."""
        return source_of(self.made_of)

    @property
    def choice(self) -> str:
        """Name of the choice's class, without its module."""
        return self.made_by.rpartition(".")[2]

    @property
    def label(self) -> str:
        """Name of the step in messages: ``vectors (Word2Vec)``."""
        return f"{self.name} ({self.choice})"

    @cached_property
    def extent(self) -> Extent:
        """Size of the data that this step hands on, as far as it is known before anything runs."""
        text, words, dim = self._received
        if not self.inputs:
            counts = [self._number(name) for name in COUNTS]
            text = float(self.n_bytes or BYTES_OF_ITEM * math.prod(counts))
        if text and (self.name in MODELS or "dim" in self.params):
            text, words = 0.0, text**HEAPS
        return Extent(text, words, int(self._number("dim", dim)))

    @cached_property
    def work(self) -> float:
        """Number to which the seconds of steps of one class are about proportional."""
        text, words, _ = self._received if self.inputs else self.extent
        rounds = math.prod(self._number(name) for name in ROUNDS)
        return max(text or words, 1.0) * (OVERHEAD + self.extent.dim) * rounds

    @property
    def _received(self) -> Extent:
        extents = [step.extent for step in self.inputs.values()] or [Extent(0, 0, 0)]
        texts, words, dims = zip(*extents, strict=True)
        return Extent(sum(texts), sum(words), max(dims))

    def _number(self, name: str, default: float = 1) -> float:
        value = self.params.get(name)
        return value if isinstance(value, int | float) and value > 0 else default

    def recipe(self) -> Recipe:
        """Return everything that decides the result, as JSON."""
        return {
            "scheme": SCHEME,
            "step": self.name,
            "made_by": self.made_by,
            "done_by": self.done_by,
            "version": self.version,
            "params": dict(self.params),
            "inputs": {name: step.key for name, step in self.inputs.items()},
            "files": dict(self.files),
            "seed": self.seed,
        }

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits of the recipe's SHA-256."""
        return digest_of(self.recipe())

    def ancestry(self) -> dict[str, Step]:
        """Return this step and all its ancestors, by key, inputs first."""
        steps: dict[str, Step] = {}
        for step in self.inputs.values():
            steps |= step.ancestry()
        return steps | {self.key: self}

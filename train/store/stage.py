"""One step of a run, and the key that follows from everything that decides its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypedDict

from files.digest import digest_of
from files.source import Source, planned_source

SCHEME = 5  # of keys: raised when what a key is made of changes, which makes every key another one


class Recipe(TypedDict):
    """What decides a result; ``inputs`` are keys by name."""

    scheme: int
    stage: str
    made_by: str
    done_by: str
    version: int
    params: dict[str, object]
    inputs: dict[str, str]
    files: dict[str, str]
    seed: int | None


class Decided(NamedTuple):
    """What a choice and the files that it reads come to: its parameters, digests by file name."""

    params: Mapping[str, object]
    files: Mapping[str, str]


@dataclass(frozen=True)
class Stage:
    """One step of a run: what it does, to which inputs, with which seed.

    ``build(out, inputs)`` writes the result into the new folder ``out``; ``inputs`` maps names to
    the folders of the input stages. ``files`` maps names to digests of files from outside.
    ``decide(digest)`` gives ``params`` and ``files`` as they are now. ``made_by`` and ``done_by``
    name the class of the choice and the function that carries it out, with their modules;
    ``made_of`` names the modules that define what the stage does. ``key`` hashes everything but
    ``build``, ``decide`` and ``made_of``, through all ancestors.
    """

    name: str
    made_by: str
    version: int
    params: Mapping[str, object]
    build: Callable[[Path, Mapping[str, Path]], None] = field(repr=False)
    inputs: Mapping[str, Stage] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    done_by: str = ""
    decide: Callable[[Callable[[Path], str]], Decided] | None = field(default=None, repr=False)
    made_of: tuple[str, ...] = ()

    def __getstate__(self) -> dict[str, object]:
        """Another process gets the code that the stage was planned with."""
        return {**self.__dict__, "source": self.source}

    @cached_property
    def source(self) -> Source:
        """The code that makes the result, as this process first read or loaded it."""
        return planned_source(self.made_of)

    @property
    def choice(self) -> str:
        """The name of the choice's class, without its module."""
        return self.made_by.rpartition(".")[2]

    @property
    def label(self) -> str:
        """What stands for the stage in messages: ``vectors (Word2Vec)``."""
        return f"{self.name} ({self.choice})"

    def recipe(self) -> Recipe:
        """What decides the result, as JSON."""
        return {
            "scheme": SCHEME,
            "stage": self.name,
            "made_by": self.made_by,
            "done_by": self.done_by,
            "version": self.version,
            "params": dict(self.params),
            "inputs": {name: stage.key for name, stage in self.inputs.items()},
            "files": dict(self.files),
            "seed": self.seed,
        }

    @cached_property
    def key(self) -> str:
        """32 hexadecimal digits of the recipe's SHA-256."""
        return digest_of(self.recipe())

    def ancestry(self) -> dict[str, Stage]:
        """This stage and all it rests on, by key, inputs first."""
        found: dict[str, Stage] = {}
        for stage in self.inputs.values():
            found |= stage.ancestry()
        return found | {self.key: self}

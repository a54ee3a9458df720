"""One point of a study: which corpus, embedding, modification, task and seed, and the stages that
follow from them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from files import InputError
from train import build
from train.seeds import derive_seed
from train.store import Stage, Store
from train.words import Words


@dataclass(frozen=True)
class Gaps:
    """Whose performance is compared, and how finely the intervals are drawn."""

    privileged: str = "male"
    unprivileged: str = "female"
    resamples: int = 1000
    level: float = 0.95


@dataclass(frozen=True)
class Point:
    """Everything that decides one trained and measured model; each field but the names and the seed
    is a choice.
    """

    experiment: str
    task: str
    seed: int
    corpus: Any
    embedding: Any
    debias: Any
    words: Words
    intrinsic: Mapping[str, Any]
    source: Any
    groups: Any
    classifier: Any
    gaps: Gaps = field(default_factory=Gaps)
    replicate: int = 0

    def __post_init__(self) -> None:
        if self.debias is not None and self.debias.dose == 0:
            object.__setattr__(self, "debias", None)
        if self.modified_on == "text" and self.pretrained:
            raise InputError(
                "debias=balance changes the text before training; with embedding=pretrained use"
                " debias=attract_repel"
            )

    @property
    def pretrained(self) -> bool:
        """Whether the vectors are loaded and not trained."""
        return hasattr(self.embedding, "load")

    @property
    def modified_on(self) -> str | None:
        """``"text"``, ``"vectors"`` or None for an unmodified embedding."""
        return self.debias.acts_on if self.debias else None

    def facts(self) -> dict[str, Any]:
        """The columns that say what the point was made from."""
        generated = bool(
            (not self.pretrained and self.corpus.generated)
            or (self.source is not None and self.source.generated)
        )
        return {
            "experiment": self.experiment,
            "task": self.task,
            "source": self.source.name if self.source else "none",
            "corpus": "none" if self.pretrained else self.corpus.name,
            "embedding": self.embedding.name,
            "method": self.debias.name if self.debias else "none",
            "direction": self.debias.direction if self.debias else "",
            "dose": float(self.debias.dose) if self.debias else 0.0,
            "wordset": self.words.name,
            "seed": self.seed,
            "replicate": self.replicate,
            "classifier": self.classifier.name if self.source else "none",
            "stereotype": (
                float("nan")
                if self.pretrained
                else float(getattr(self.corpus, "stereotype", "nan"))
            ),
            "label_bias": float(getattr(self.source, "label_bias", "nan")),
            "generated": generated,
        }


@dataclass(frozen=True)
class Plan:
    """The stages of one point. ``extrinsic`` is None where there is no labelled source."""

    point: Point
    vectors: Stage
    intrinsic: Stage
    extrinsic: Stage | None

    @property
    def trained(self) -> Stage:
        """The vectors as they were trained or loaded, before any change."""
        return self.vectors.inputs.get("vectors", self.vectors)

    @property
    def ends(self) -> list[Stage]:
        """The stages whose results are the point's scores."""
        return [stage for stage in (self.intrinsic, self.extrinsic) if stage]

    @cached_property
    def key(self) -> str:
        """16 hexadecimal digits that name the point: two points with the same stages are one."""
        return hashlib.sha256("/".join(stage.key for stage in self.ends).encode()).hexdigest()[:16]

    @cached_property
    def _stages(self) -> dict[str, Stage]:
        found: dict[str, Stage] = {}
        for stage in self.ends:
            found |= stage.ancestry()
        return found

    def stages(self) -> dict[str, Stage]:
        """Every stage by key, inputs first."""
        return self._stages

    def keys(self) -> dict[str, str]:
        """The columns that name the point's results in the store."""
        named = {
            "vectors_key": self.vectors,
            "intrinsic_key": self.intrinsic,
            "extrinsic_key": self.extrinsic,
        }
        return {name: stage.key if stage else "" for name, stage in named.items()}


def distinct(plans: Sequence[Plan]) -> list[Plan]:
    """The plans without repetition, in order: grid cells that come to the same stages (every dose
    0, say) are one point.
    """
    return list({plan.key: plan for plan in plans}.values())


def plan_point(point: Point, store: Store) -> Plan:
    """Lay out the stages; files from outside are hashed here, nothing is built."""
    lay = _Layer(point.seed, store)
    corpus = None if point.pretrained else lay("corpus", point.corpus, build.corpus)
    plain = lay(
        "vectors",
        point.embedding,
        build.pretrained if corpus is None else build.embedding,
        corpus=corpus,
    )
    vectors = plain
    if point.debias:
        lexicon = lay(
            "lexicon", point.words, build.lexicon, vectors=plain if point.words.expand else None
        )
        if point.modified_on == "text":
            balanced = lay("balanced", point.debias, build.balanced, corpus=corpus, lexicon=lexicon)
            vectors = lay("vectors", point.embedding, build.embedding, corpus=balanced)
        else:
            vectors = lay("modified", point.debias, build.modified, vectors=plain, lexicon=lexicon)
    intrinsic = lay("intrinsic", tuple(point.intrinsic.values()), build.intrinsic, vectors=vectors)
    extrinsic = None
    if point.source is not None:
        posts = lay("posts", (point.source, point.groups), build.posts)
        # Another classifier on the same embedding and posts: how far a gap is that of the training
        # run.
        drawn = f"predictions/{point.replicate}" if point.replicate else ""
        predictions = lay(
            "predictions", point.classifier, build.predictions, drawn, posts=posts, vectors=vectors
        )
        extrinsic = lay("extrinsic", point.gaps, build.gaps, predictions=predictions)
    return Plan(point, vectors, intrinsic, extrinsic)


@dataclass(frozen=True)
class _Layer:
    """Turns a choice and the function that carries it out into a stage."""

    run_seed: int
    store: Store

    def __call__(
        self, name: str, choice: Any, carry_out: Any, drawn: str = "", **inputs: Stage | None
    ) -> Stage:
        choices = choice if isinstance(choice, tuple) else (choice,)
        # What draws nothing at random is the same for every run seed, and shared.
        seed = (
            derive_seed(self.run_seed, drawn or name)
            if any(getattr(one, "seeded", True) for one in choices)
            else None
        )
        paths = [
            path
            for one in choices
            if one is not None and hasattr(one, "files")
            for path in one.files()
        ]
        return Stage(
            name=name,
            made_by=" ".join(type(one).__qualname__ for one in choices),
            version=sum(getattr(one, "version", 0) for one in choices),
            params={str(i): keyed_params(one) for i, one in enumerate(choices)},
            build=partial(carry_out, choice, seed or 0),
            inputs={key: stage for key, stage in inputs.items() if stage is not None},
            files={f"{i} {path.name}": self.store.digest(path) for i, path in enumerate(paths)},
            seed=seed,
        )


def keyed_params(choice: Any) -> dict[str, Any]:
    """The parameters of a choice that decide its result; those named in ``unkeyed`` (where a file
    lies, how many workers) do not.
    """
    if choice is None:
        return {}
    params = dataclasses.asdict(choice)
    for name in getattr(choice, "unkeyed", ()):
        params.pop(name, None)
    return dict(json.loads(json.dumps(params)))

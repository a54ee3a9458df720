"""Erasers of language models: fitted on what a model encodes, tried by any dose, written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.before_after import compare
from corpora.items import DATA, PUBLISHED, named_items, own_items, published
from debias.base import signed
from debias.roles import require_roles
from debias.until import Goal, Wanted, reach
from files import InputError, atomic_path, nearest
from files.atomic import require_new
from files.eraser import ERASER, Eraser
from files.models.encoder import Encoder, Pooling
from files.models.erased import hook_eraser
from files.models.language_model import AnyModel, LanguageModel, open_model, passing_through
from files.models.place import Place, find_model
from intrinsic.likelihood.every import MODEL_METRICS

if TYPE_CHECKING:
    import pandas as pd

    from debias.linear import LinearEraser
    from intrinsic.item_metric import ItemMetric
    from intrinsic.items.item import ItemSource
    from intrinsic.score import Score
    from intrinsic.wordsets import Query

EVERY, WITH_HEAD = ("masked", "causal", "encoder"), ("masked", "causal")
# What models of each kind are compared by, before and after
COMPARED: Mapping[str, tuple[str, ...]] = {
    "seat": EVERY,
    "probe": EVERY,
    "sts_b": EVERY,
    "neutral_loss": WITH_HEAD,
    "lpbs": ("masked",),
    "next_word": ("causal",),
}
ASKED = {"seat": ("seat6b", "seat8")}  # where not all that a metric usually asks


@dataclass(frozen=True)
class Erasing:
    """A model, what it encodes, and an eraser fitted on that, for any dose.

    place: where the model was loaded from; None for one that the caller has opened.
    """

    method: LinearEraser
    encoder: Encoder
    eraser: Eraser
    place: Place | None

    @classmethod
    def of(
        cls,
        model: AnyModel,
        revision: str | None,
        method: LinearEraser,
        query: Query | None,
        *,
        layer: int,
        pooling: Pooling,
        seed: int,
    ) -> Erasing:
        """Open the model and fit. Raises ``InputError`` for a model that has an eraser already."""
        if query:
            require_roles(query, method.roles)
        opened = open_model(model, revision)
        opened.require_untouched()
        encoder = Encoder(opened, layer=layer, pooling=pooling)
        eraser = method.fit_encoder(encoder, query, seed=seed)
        place = find_model(model, revision) if isinstance(model, str) else None
        return cls(method, encoder, eraser.at(method.dose), place)

    def scores(self, metric: ItemMetric, dose: float) -> list[Score]:
        """Those of a metric by a dose."""
        plain = self.encoder
        if not dose:
            return metric.score(plain if metric.needs == "encoder" else plain.opened, seed=0)
        with passing_through(plain.opened, self.eraser.at(dose)) as erased:
            if metric.needs != "encoder":
                return metric.score(erased, seed=0)
            encoder = Encoder(erased, layer=plain.layer, pooling=plain.pooling)
            encoder.recall(plain.encodings)
            return metric.score(encoder, seed=0)

    def until(self, goal: Goal[ItemMetric]) -> Erasing:
        """The same by the dose at which the goal is reached. Raises ``InputError`` as
        ``debias.until.reach`` does.
        """

        def score_at(dose: float) -> float:
            return goal.value_of(self.scores(goal.metric, dose))

        ways = goal.ways(score_at(0.0), directed=False)
        method = self.method.by(reach(score_at, goal, ways))
        return replace(self, method=method, eraser=self.eraser.at(signed(method)))

    def compared(self, metrics: Iterable[ItemMetric]) -> pd.DataFrame:
        """The scores before and after."""
        return compare(
            (self.scores(each, 0.0), self.scores(each, self.method.dose)) for each in metrics
        )

    def model(self) -> LanguageModel:
        """The model with its eraser; a copy where the caller opened it."""
        opened = self.encoder.opened
        if self.place is None:
            opened = replace(opened, model=deepcopy(opened.model))
        hook_eraser(opened.base, self.eraser)
        return replace(opened, eraser=self.eraser)

    def write(self, out: Path, *, force: bool = False) -> None:
        """A folder with the model as it was, and the eraser beside; ``force``: in the place of one
        that has an eraser. Raises ``InputError`` for another that is there or holds the model, and
        where the model does not take the eraser.
        """
        from train.models import save_model

        require_new_model(out, force=force)
        place = self.place
        if place and place.local and Path(place.source).resolve().is_relative_to(out.resolve()):
            raise InputError(f"{out} holds the model that is read; give another name")
        with passing_through(self.encoder.opened, self.eraser), atomic_path(out) as work:
            save_model(self.encoder.opened, self.place, work)
            self.eraser.save(work / ERASER)
            if out.is_dir():
                shutil.rmtree(out)


def require_new_model(out: Path, *, force: bool) -> None:
    """Raise ``InputError`` where a folder is there, unless ``force`` and it has an eraser."""
    if not (force and (out / ERASER).is_file()):
        require_new(out)


def read_items(items: str | PathLike[str] | None) -> ItemSource | None:
    """Items by a file, or by the name of a set or a published collection, as ``bec_pro``."""
    if items is None:
        return None
    text = os.fspath(items)
    if Path(text).suffix:
        return own_items(text)
    whole = published(text, os.environ.get(DATA, "")) if text in PUBLISHED else None
    found = whole or named_items([text])
    found.load()  # what is wrong with them is said before a model is opened
    return found


def model_goal(text: str) -> Goal[ItemMetric]:
    """The goal that a command line asks of a model: ``seat:seat6b=0``, SEAT where no metric is
    named. Raises ``InputError`` for unknown names.
    """
    wanted = Wanted.read(text)
    name = wanted.metric or "seat"
    if name not in MODEL_METRICS:
        known = f"{nearest(name, MODEL_METRICS)}; there are {', '.join(MODEL_METRICS)}"
        raise InputError(f"unknown metric {name!r} of language models{known}")
    source = named_items([wanted.query])
    source.load()
    metric = MODEL_METRICS[name].by(items=source, intervals=False)
    return Goal(metric, wanted.query, wanted.value)


def usual_metrics(opened: LanguageModel) -> list[ItemMetric]:
    """What a model is compared by: those of its bias and of its use that have their items here."""
    found = []
    for name, kinds in COMPARED.items():
        if name in MODEL_METRICS and opened.kind in kinds:
            kind = MODEL_METRICS[name]
            source = named_items(ASKED.get(name, kind.about.asks), there_only=True)
            found += [kind.by(items=source)] if source.load() else []
    return found

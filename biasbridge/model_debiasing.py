"""Erasers of language models: fitted on its encodings, applied by any dose, saved."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from biasbridge.before_after import compare
from biasbridge.corpora.items import (
    PUBLISHED,
    how_to_get_items,
    named_items,
    published_source,
    user_items,
)
from biasbridge.debias.base import signed_dose
from biasbridge.debias.until import Goal, TargetScore, dose_for_goal
from biasbridge.debias.words import require_roles
from biasbridge.files import InputError, atomic_path, eraser_hook, nearest
from biasbridge.files.data.registry import data_folder
from biasbridge.files.eraser import ERASER, MERGED, Eraser, merge_eraser
from biasbridge.files.models.encoder import Encoder, Pooling
from biasbridge.files.models.language_model import (
    AnyModel,
    LanguageModel,
    attach_eraser,
    open_model,
    save_model,
    with_eraser,
)
from biasbridge.files.paths import require_new
from biasbridge.files.places import CONFIG, MODEL_SUFFIXES, Place, find_model
from biasbridge.files.progress import forecast
from biasbridge.intrinsic.registry import MODEL_METRICS

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.debias.erasers import LinearEraser
    from biasbridge.intrinsic.models.item_metric import ItemMetric
    from biasbridge.intrinsic.models.items import ItemSource
    from biasbridge.intrinsic.score import Score
    from biasbridge.intrinsic.words import Query

HOOK = "eraser_hook.py"  # in the folder of a model with an eraser
_MODULES = "modules.json"  # of sentence-transformers, in a sentence encoder's folder
# Options of its pooling that are not a mean of tokens, in two forms of the file
_NOT_MEAN = ("pooling_mode_max_tokens", "pooling_mode_mean_sqrt_len_tokens")
_NOT_MEAN_MODES = ("max", "mean_sqrt_len_tokens")
_WITHOUT_ITEMS = "it has no items of its own; biasbridge audit --items measures it"
_KEPT = "similarity_kept"  # utility of every model, beside the metrics


@dataclass(frozen=True)
class ModelErasure:
    """A language model, its encodings, and an eraser fitted on them, for any dose.

    place: where the model was loaded from; None if the caller opened it. goal: the score that the
    dose reaches, if one was asked for.
    """

    method: LinearEraser
    encoder: Encoder
    eraser: Eraser
    place: Place | None
    goal: Goal[ItemMetric] | None = None

    @classmethod
    def of(
        cls,
        model: object,
        method: LinearEraser,
        query: Query,
        goal: Goal[ItemMetric] | None,
        *,
        out: Path | None,
        force: bool,
        **encoding: Any,
    ) -> ModelErasure:
        """Fit an eraser on a model, at the dose of the method or of a goal; save it to ``out``."""
        if out:
            require_new_model(out, force=force)
        place = os.fspath(model) if isinstance(model, PathLike) else cast("AnyModel", model)
        erasure = cls.fit(place, method, query, **encoding)
        erasure = erasure.until(goal) if goal else erasure
        if out:
            erasure.write(out, force=force)
        return erasure

    @classmethod
    def fit(
        cls,
        model: AnyModel,
        method: LinearEraser,
        query: Query | None,
        *,
        layer: int,
        pooling: Pooling,
        seed: int,
    ) -> ModelErasure:
        """Open the model and fit. Raise ``InputError`` for a model that has an eraser already."""
        if query:
            require_roles(query, method.roles)
        opened = open_model(model)
        opened.require_untouched()
        encoder = Encoder(opened, layer=layer, pooling=pooling)
        eraser = method.fit_encoder(encoder, query, seed=seed)
        place = find_model(model) if isinstance(model, str) else None
        return cls(method, encoder, eraser.at(method.dose), place)

    def scores(self, metric: ItemMetric, dose: float) -> list[Score]:
        """Compute the scores of a metric with the eraser at a dose."""
        original = self.encoder
        if not dose:
            return metric.score(original if metric.needs == "encoder" else original.opened, seed=0)
        with with_eraser(original.opened, self.eraser.at(dose)) as erased:
            if metric.needs != "encoder":
                return metric.score(erased, seed=0)
            encoder = Encoder(erased, layer=original.layer, pooling=original.pooling)
            encoder.recall(original.encodings)
            return metric.score(encoder, seed=0)

    def until(self, goal: Goal[ItemMetric]) -> ModelErasure:
        """Return the erasure at the dose that reaches the goal.

        Raise ``InputError`` as ``biasbridge.debias.until.dose_for_goal`` does.
        """

        def score_at(dose: float) -> float:
            return goal.value_of(self.scores(goal.metric, dose))

        ways = goal.ways(score_at(0.0), directed=False)
        method = self.method.with_dose(dose_for_goal(score_at, goal, ways))
        return replace(self, method=method, eraser=self.eraser.at(signed_dose(method)), goal=goal)

    def compared(self, names: Sequence[str] = ()) -> pd.DataFrame:
        """Compare the score of the goal, utility and the tests of an audit, or the named metrics,
        before and after; those that became worse come first. ``attrs["notes"]``: named ones that
        cannot be compared.
        """
        from pandas import concat

        metrics, notes = _comparable(names, self.encoder.opened.kind)
        goals = [self.goal.metric] if self.goal else []
        parts = [part for m in metrics for part in m.parts(self.encoder.opened.kind)]
        with forecast([*parts, *parts]):
            pairs = (
                (self.scores(metric, 0.0), self.scores(metric, self.method.dose))
                for metric in [*goals, *metrics]
            )
            table = compare(pairs, worst_first=True)
        table = concat([table, self._similarity_kept()], ignore_index=True)
        table.attrs["notes"] = notes
        return table

    def _similarity_kept(self) -> pd.DataFrame:
        """Correlate the cosines of everyday sentences before and after: 1 keeps all of them."""
        from pandas import DataFrame

        [lines] = (items.lines for items in named_items(["neutral_sentences"]).load())
        before = self.encoder.encode(lines)  # not below: the eraser is hooked to this very model
        with with_eraser(self.encoder.opened, self.eraser) as erased:
            after = Encoder(erased, layer=self.encoder.layer, pooling=self.encoder.pooling)
            vectors = [before, after.encode(lines)]
        above = np.triu_indices(len(lines), 1)
        unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in vectors]
        kept = np.corrcoef([(rows @ rows.T)[above] for rows in unit])[0, 1]
        row = {"metric": _KEPT, "query": "neutral_sentences", "part": "", "n": len(lines)}
        row |= {"before": 1.0, "after": kept, "low": np.nan, "high": np.nan, "verdict": ""}
        return DataFrame([row])

    def model(self) -> LanguageModel:
        """Attach the eraser to the model; to a copy if the caller opened it."""
        opened = self.encoder.opened
        if self.place is None:
            opened = replace(opened, model=deepcopy(opened.model))
        return attach_eraser(opened, self.eraser)

    def write(self, out: Path, *, force: bool = False) -> None:
        """Save the model with the eraser in its weights, or else the unmodified model with its
        eraser and the hook that opens them; ``force`` replaces a folder that this has written.

        Raise ``InputError`` for another existing folder, for the folder of the model itself, and
        if the model does not fit the eraser.
        """
        require_new_model(out, force=force)
        opened, place = self.encoder.opened, self.place
        if place and place.local and Path(place.source).resolve().is_relative_to(out.resolve()):
            raise InputError(f"{out} holds the model that is read; give another name")
        merged = merge_eraser(opened.model, self.eraser)
        with with_eraser(opened, self.eraser), atomic_path(out) as work:
            if merged:
                save_model(replace(opened, model=merged), None, work)
                self.eraser.save(work / MERGED)
            else:
                save_model(opened, place, work)
                self.eraser.save(work / ERASER)
                shutil.copyfile(eraser_hook.__file__, work / HOOK)
                if place and (Path(place.source) / _MODULES).is_file():
                    _write_modules(Path(place.source), self.eraser, self.encoder.layers, work)
            replaced = out.with_name(f".{out.name}-{work.parent.name}")
            if out.is_dir():
                out.rename(replaced)
        shutil.rmtree(replaced, ignore_errors=True)


def _write_modules(source: Path, eraser: Eraser, n_layers: int, out: Path) -> None:
    """Copy the modules of a sentence encoder; an eraser of the last layer becomes one of them.

    sentence-transformers alone then gives the vectors of the erased model: an affine map commutes
    with the pooling of tokens, unless that takes their maximum.
    """
    from safetensors.numpy import save

    modules: list[dict[str, Any]] = json.loads((source / _MODULES).read_text(encoding="utf-8"))
    for name in {Path(module["path"]).name for module in modules} - {""}:
        for path in (path for path in (source / name).glob("*") if path.suffix in MODEL_SUFFIXES):
            (out / name).mkdir(exist_ok=True)
            shutil.copyfile(path, out / name / path.name)
    is_pooling = [module["type"].endswith(".Pooling") for module in modules]
    if not any(is_pooling) or eraser.layer % (n_layers + 1) < n_layers:
        return
    place = is_pooling.index(True) + 1
    config_file = out / Path(modules[place - 1]["path"]).name / CONFIG
    pooling = json.loads(config_file.read_text(encoding="utf-8"))
    if any(map(pooling.get, _NOT_MEAN)) or pooling.get("pooling_mode") in _NOT_MEAN_MODES:
        return
    modules.insert(place, {"path": "eraser", "type": "sentence_transformers.models.Dense"})
    modules = [{**module, "idx": i, "name": str(i)} for i, module in enumerate(modules)]
    size = {"in_features": eraser.dim, "out_features": eraser.dim, "bias": True}
    config = {**size, "activation_function": "torch.nn.modules.linear.Identity"}
    constant = eraser.apply(np.zeros((1, eraser.dim)))
    weight = (eraser.apply(np.eye(eraser.dim)) - constant).T
    tensors = {"linear.weight": weight, "linear.bias": constant[0]}
    (out / "eraser").mkdir()
    singles = {name: np.ascontiguousarray(array, np.float32) for name, array in tensors.items()}
    (out / "eraser" / "model.safetensors").write_bytes(save(singles))
    for name, content in ((f"eraser/{CONFIG}", config), (_MODULES, modules)):
        (out / name).write_text(json.dumps(content, indent=2), encoding="utf-8")


def require_new_model(out: Path, *, force: bool) -> None:
    """Raise ``InputError`` if the folder exists, unless ``force`` and it was written here."""
    if not (force and any((out / name).is_file() for name in (ERASER, MERGED))):
        require_new(out)


def read_items(items: str | PathLike[str] | None) -> ItemSource | None:
    """Read items from a file, or by the name of a set or a published collection (``bec_pro``)."""
    if items is None:
        return None
    text = os.fspath(items)
    if Path(text).suffix:
        return user_items(text)
    collection = published_source(text, str(data_folder())) if text in PUBLISHED else None
    source = collection or named_items([text])
    source.load()  # fails early, before a model is opened
    return source


def model_goal(text: str) -> Goal[ItemMetric]:
    """Read the target of a model's score, ``seat:seat6b=0``; SEAT if no metric is named.

    Raise ``InputError`` for unknown names.
    """
    target = TargetScore.read(text)
    metric_class = model_metric(target.metric or "seat")
    source = named_items([target.query])
    source.load()
    metric = metric_class.by_convention(items=source, intervals=False)
    return Goal(metric, target.query, target.value)


def model_metric(name: str) -> type[ItemMetric]:
    """Return the metric of language models of a name. Raise ``InputError`` for an unknown one."""
    if name not in MODEL_METRICS:
        choices = f"{nearest(name, MODEL_METRICS)}; there are {', '.join(MODEL_METRICS)}"
        raise InputError(f"unknown metric {name!r} of language models{choices}")
    return MODEL_METRICS[name]


def utility_line(table: pd.DataFrame) -> str:
    """Return what a copy kept of its use, and what it did not."""
    names = [*(name for name, m in MODEL_METRICS.items() if m.about.is_utility), _KEPT]
    rows = table[table["metric"].isin(names)]
    values = zip(rows["metric"], rows["before"], rows["after"], strict=True)
    return "utility: " + ", ".join(f"{name} {old:.3f} -> {new:.3f}" for name, old, new in values)


def _comparable(names: Sequence[str], kind: str) -> tuple[list[ItemMetric], list[str]]:
    """Return the metrics with items for such a model: those of an audit, or the named ones, with a
    note on each that is none.
    """
    metrics, notes = [], []
    for name in names or [name for name, metric in MODEL_METRICS.items() if metric.by_default]:
        metric = MODEL_METRICS[name]
        source = named_items(metric.about.asks, available_only=True)
        reason = metric.reason_against_model(kind)
        if not source.load():
            reason = how_to_get_items(metric.about.asks[0]) if metric.about.asks else _WITHOUT_ITEMS
        if not reason:
            metrics.append(metric.by_convention(items=source))
        elif names:
            notes.append(f"not compared: {name}: {reason}")
    return metrics, notes

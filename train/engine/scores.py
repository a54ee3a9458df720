"""Steps of metrics and probes, and encodings of texts, computed once for all erasers on a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from biasbridge.debias.base import WORDS
from biasbridge.files import Choice, choice
from biasbridge.intrinsic.metric import AnyMetric, Probe
from biasbridge.intrinsic.words import read_query
from biasbridge.train.engine.device import step_device

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.files.models.encoder import Encoder, Encodings
    from biasbridge.files.models.language_model import LanguageModel
    from biasbridge.train.engine.steps import Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


PLAIN = "plain"  # input of an erased encoder: the encoder without the eraser
TEXTS, VECTORS = "texts.parquet", "vectors.npy"
C = TypeVar("C", bound=Choice)


def encoding_inputs(
    steps: StepBuilder,
    choice: C,
    ask: Callable[[C, Path, Inputs, int], None],
    encoder: Step,
    inputs: Mapping[str, Step],
    name: str,
) -> dict[str, Step]:
    """Return the encoder, and the vectors of texts that ``ask`` encodes once for all doses."""
    plain = encoder.inputs.get(PLAIN, encoder)
    encodings = steps("encodings", choice, ask, {"encoder": plain, **inputs}, drawn=name)
    return {"encoder": encoder, "encodings": encodings}


def write_encodings(encoder: object, out: Path) -> None:
    """Write the vectors that an encoder has computed; none with an eraser, to apply it once."""
    import pandas as pd

    from biasbridge.files.models.encoder import Encoder

    encodings: Encodings = {}
    if isinstance(encoder, Encoder) and not encoder.opened.eraser:
        encodings = encoder.encodings
    rows = [
        (*key, text, vector)
        for key, vectors in encodings.items()
        for text, vector in vectors.items()
    ]
    table = pd.DataFrame([row[:3] for row in rows], columns=["layer", "pooling", "text"])
    table.to_parquet(out / TEXTS)
    np.save(out / VECTORS, np.array([row[3] for row in rows], dtype=np.float32))


def _read_encodings(folder: Path) -> Encodings:
    """Read what ``write_encodings`` wrote."""
    import pandas as pd

    table, vectors = pd.read_parquet(folder / TEXTS), np.load(folder / VECTORS)
    encodings: Encodings = {}
    for layer, pooling, text, vector in zip(
        table["layer"], table["pooling"], table["text"], vectors, strict=True
    ):
        encodings.setdefault((int(layer), pooling), {})[text] = vector
    return encodings


def _open_vectors(folder: Path) -> KeyedVectors:
    """Return the vectors of a step, mapped into memory."""
    from biasbridge.files.vectors import open_mapped

    return open_mapped(folder / "vectors")


def _open_language_model(folder: Path) -> LanguageModel:
    """Return the language model of a step."""
    from biasbridge.files.models.encoder import MODEL
    from biasbridge.files.models.language_model import open_model

    return open_model(folder / MODEL, device=step_device())


def _open_texts_encoder(folder: Path) -> Encoder:
    """Return the encoder of a step."""
    from biasbridge.files.models.encoder import open_encoder

    return open_encoder(folder, step_device())


# Functions that open a step's result by the name of the step
_OPENERS: Mapping[str, Callable[[Path], object]] = {
    "vectors": _open_vectors,
    "model": _open_language_model,
    "encoder": _open_texts_encoder,
}


def open_needed(needs: str, inputs: Inputs) -> Any:
    """Return what a metric, probe or task needs, from its input folders."""
    opened = _OPENERS[needs](inputs[needs])
    if "encodings" in inputs and (encodings := _read_encodings(inputs["encodings"])):
        cast("Encoder", opened).recall(encodings)
    return opened


def build_score(
    steps: StepBuilder, metric: AnyMetric, subject: Mapping[str, Step], words: Step | None = None
) -> Step:
    """Return the step of a metric's scores; ``words``: the step of its open query's words."""
    inputs = _inputs(metric.needs, metric, subject, words)
    if metric.needs == "encoder":
        inputs |= encoding_inputs(steps, metric, _encode_items, subject["encoder"], {}, "intrinsic")
    return steps("intrinsic", metric, _measure_metric, inputs)


def build_probes(
    steps: StepBuilder,
    probe: Probe,
    metrics: Sequence[AnyMetric],
    subject: Mapping[str, Step],
    words: Step | None = None,
) -> list[Step]:
    """Return the steps of a probe: one per metric if it examines metrics, else one."""
    probed_metrics = [Probed(probe, m) for m in (metrics if probe.per_metric else (None,))]
    return [
        steps("probe", probed, _examine, _inputs(probe.needs, probed.metric, subject, words))
        for probed in probed_metrics
    ]


def _inputs(
    needs: str, metric: AnyMetric | None, subject: Mapping[str, Step], words: Step | None
) -> dict[str, Step]:
    word_inputs = {"words": words} if words and metric and metric.open_queries else {}
    return {needs: subject[needs], **word_inputs}


@choice
class Probed:
    """A probe and the metric that it examines."""

    probe: Probe
    metric: AnyMetric | None

    name: ClassVar[str] = "probed"
    version: ClassVar[int] = 1

    def files(self) -> list[Path]:
        """Return the files of the probe and of the metric."""
        return [*self.probe.files(), *(self.metric.files() if self.metric else [])]


def _encode_items(metric: AnyMetric, out: Path, inputs: Inputs, seed: int) -> None:
    """Write the vectors of the texts that a metric encodes."""
    encoder = open_needed("encoder", inputs)
    metric.score(encoder, seed=seed)
    write_encodings(encoder, out)


def _measure_metric(metric: AnyMetric, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``scores.parquet``, one row per score."""
    import pandas as pd

    scores = pd.DataFrame(
        _with_task_words(metric, inputs).score(open_needed(metric.needs, inputs), seed=seed)
    )
    if not scores["settings"].any():  # empty for word vectors
        scores = scores.drop(columns="settings")
    scores.to_parquet(out / "scores.parquet")


def _examine(probed: Probed, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``scores.parquet``: the probe's rows, with a column for its name."""
    probe = probed.probe
    metric = _with_task_words(probed.metric, inputs) if probed.metric else None
    rows = probe.rows(open_needed(probe.needs, inputs), metric, seed=seed)
    rows.insert(0, "probe", probe.name)
    rows.to_parquet(out / "scores.parquet", index=False)


def _with_task_words(metric: AnyMetric, inputs: Inputs) -> AnyMetric:
    """Return the metric with the words of its open query."""
    if "words" not in inputs:
        return metric
    query = read_query(inputs["words"] / WORDS)
    return metric.with_queries({query.name: query})

"""Encodings of texts, computed once and shared by all erasers on a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from biasbridge.files import Choice

if TYPE_CHECKING:
    from pathlib import Path

    from biasbridge.files.models.encoder import Encodings
    from biasbridge.train.engine.part import Inputs, StepBuilder
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
    """Return the inputs of the step ``name``: the encoder and the vectors of the texts it needs.

    ``ask`` encodes the texts; their vectors have no eraser and serve all doses.
    """
    plain = encoder.inputs.get(PLAIN, encoder)
    encodings = steps("encodings", choice, ask, {"encoder": plain, **inputs}, drawn=name)
    return {"encoder": encoder, "encodings": encodings}


def write_encodings(encoder: object, out: Path) -> None:
    """Write all vectors that an encoder has computed; none if it has an eraser or keeps none.

    Vectors of a model with an eraser are not written, as the eraser would be applied again.
    """
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


def read_encodings(folder: Path) -> Encodings:
    """Read what ``write_encodings`` wrote."""
    import pandas as pd

    table, vectors = pd.read_parquet(folder / TEXTS), np.load(folder / VECTORS)
    encodings: Encodings = {}
    for layer, pooling, text, vector in zip(
        table["layer"], table["pooling"], table["text"], vectors, strict=True
    ):
        encodings.setdefault((int(layer), pooling), {})[text] = vector
    return encodings

"""Texts encoded once for all erasers on a model: the step that keeps what a choice asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from files import Choice

if TYPE_CHECKING:
    from pathlib import Path

    from files.models.encoder import Encodings
    from train.parts.part import Inputs, Stages
    from train.store import Stage

PLAIN = "plain"  # of the inputs of an erased encoder: the one without the eraser
TEXTS, VECTORS = "texts.parquet", "vectors.npy"
C = TypeVar("C", bound=Choice)


def encoded(
    steps: Stages,
    choice: C,
    ask: Callable[[C, Path, Inputs, int], None],
    encoder: Stage,
    inputs: Mapping[str, Stage],
    name: str,
) -> dict[str, Stage]:
    """The inputs of the step ``name`` on an encoder: the encoder, and the vectors of the texts that
    ``ask`` lets it encode, without an eraser, which are those of all doses.
    """
    plain = encoder.inputs.get(PLAIN, encoder)
    read = {"encoder": plain, **inputs}
    kept = steps("encodings", choice, ask, read, drawn=name)
    return {"encoder": encoder, "encodings": kept}


def keep_encodings(encoder: object, out: Path) -> None:
    """Write the vectors of all that an encoder has encoded; nothing of one that keeps none, nor of
    a model that came with an eraser, which whoever recalls them would apply again.
    """
    import pandas as pd

    from files.models.encoder import Encoder

    kept: Encodings = {}
    if isinstance(encoder, Encoder) and not encoder.opened.eraser:
        kept = encoder.encodings
    rows = [(*how, text, vector) for how, known in kept.items() for text, vector in known.items()]
    table = pd.DataFrame([row[:3] for row in rows], columns=["layer", "pooling", "text"])
    table.to_parquet(out / TEXTS)
    np.save(out / VECTORS, np.array([row[3] for row in rows], dtype=np.float32))


def read_encodings(folder: Path) -> Encodings:
    """What ``keep_encodings`` wrote."""
    import pandas as pd

    table, vectors = pd.read_parquet(folder / TEXTS), np.load(folder / VECTORS)
    found: Encodings = {}
    for layer, pooling, text, vector in zip(
        table["layer"], table["pooling"], table["text"], vectors, strict=True
    ):
        found.setdefault((int(layer), pooling), {})[text] = vector
    return found

"""How each stage is carried out: the only place where the rooms meet. Each function writes into
``out`` from the folders in ``inputs``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from datasets import Dataset
from gensim.models import KeyedVectors

from debias.lexicon import read_lexicon
from extrinsic.gaps import gap_table
from files import InputError
from files.vectors import open_mapped, save_mapped

Inputs = Mapping[str, Path]


def corpus(choice: Any, seed: int, out: Path, inputs: Inputs) -> None:
    """``corpus.txt``, one tokenised sentence a line, and its counts."""
    _write_json(out / "counts.json", choice.write(out / "corpus.txt", seed=seed))


def balanced(choice: Any, seed: int, out: Path, inputs: Inputs) -> None:
    """``corpus.txt`` with lines removed, and the counts behind it."""
    lexicon = read_lexicon(inputs["lexicon"] / "lexicon.yaml")
    _write_json(
        out / "counts.json",
        choice.balance(inputs["corpus"] / "corpus.txt", out / "corpus.txt", lexicon, seed=seed),
    )


def embedding(choice: Any, seed: int, out: Path, inputs: Inputs) -> None:
    """``vectors/``, trained. Raises ``InputError`` where the training diverged."""
    trained = choice.train(inputs["corpus"] / "corpus.txt", seed=seed)
    if lost := int((~np.isfinite(trained.vectors).all(axis=1)).sum()):
        raise InputError(
            f"the training diverged: {lost} of {len(trained)} vectors are not finite; lower"
            " embedding.learning_rate"
        )
    save_mapped(trained, out / "vectors")


def pretrained(choice: Any, seed: int, out: Path, inputs: Inputs) -> None:
    """``vectors/``, converted once from a file so that every later run maps the same memory."""
    save_mapped(choice.load(), out / "vectors")


def lexicon(choice: Any, seed: int, out: Path, inputs: Inputs) -> None:
    """``lexicon.yaml``."""
    choice.write(out, inputs)


def modified(choice: Any, seed: int, out: Path, inputs: Inputs) -> None:
    """``vectors/``, debiased or overbiased."""
    words = read_lexicon(inputs["lexicon"] / "lexicon.yaml")
    save_mapped(choice.modify(_vectors(inputs), words, seed=seed), out / "vectors")


def intrinsic(choice: Sequence[Any], seed: int, out: Path, inputs: Inputs) -> None:
    """``scores.parquet``, one row a score."""
    vectors = _vectors(inputs)
    pd.DataFrame([row for metric in choice for row in metric.score(vectors, seed=seed)]).to_parquet(
        out / "scores.parquet"
    )


def posts(choice: tuple[Any, Any], seed: int, out: Path, inputs: Inputs) -> None:
    """``posts.parquet``; where the source knows no target group the tagger's stands in, and
    ``groups.json`` says which it is.
    """
    source, tagger = choice
    found = source.load(seed=seed)
    group_by = "annotation"
    if "group" not in found.column_names:
        found, group_by = tagger.tag(found), f"tagger: {tagger.description}"
    found.to_pandas().to_parquet(out / "posts.parquet")
    _write_json(out / "groups.json", {"group_by": group_by})


def predictions(choice: Any, seed: int, out: Path, inputs: Inputs) -> None:
    """``predictions.parquet``, one row a post."""
    found = Dataset.from_pandas(
        pd.read_parquet(inputs["posts"] / "posts.parquet"), preserve_index=False
    )
    with _one_thread():
        predicted = choice.predict(found, _vectors(inputs), seed=seed)
    predicted["group_by"] = json.loads(
        (inputs["posts"] / "groups.json").read_text(encoding="utf-8")
    )["group_by"]
    predicted.to_parquet(out / "predictions.parquet")


def gaps(choice: Any, seed: int, out: Path, inputs: Inputs) -> None:
    """``scores.parquet``: precision, recall and F1 per group and the signed gaps, each with its
    interval and support.
    """
    predicted = pd.read_parquet(inputs["predictions"] / "predictions.parquet")
    table = gap_table(
        predicted,
        privileged=choice.privileged,
        unprivileged=choice.unprivileged,
        resamples=choice.resamples,
        level=choice.level,
        seed=seed,
    )
    table["group_by"] = predicted["group_by"].iloc[0]
    table.to_parquet(out / "scores.parquet")


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread for torch: a small network gains little from more, and sums in another order
    change the last digits of a result.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _vectors(inputs: Inputs) -> KeyedVectors:
    return open_mapped(inputs["vectors"] / "vectors")


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(dict(value), indent=1), encoding="utf-8")

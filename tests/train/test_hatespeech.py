"""The stages of the hate-speech task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from extrinsic.gaps import Gaps
from train.parts.hatespeech import measure_gaps


def test_resamples_are_of_the_texts_whatever_their_ids(tmp_path: Path) -> None:
    """Sources shuffle by the run's seed and number what they have shuffled."""
    rng = np.random.default_rng(0)
    texts = pd.DataFrame(
        {
            "text": [f"text {number}" for number in range(200)],
            "label": rng.integers(0, 2, 200),
            "prediction": rng.integers(0, 2, 200),
            "group": rng.choice(["male", "female"], 200),
            "group_by": "annotation",
        }
    )
    lists = []
    for seed in range(2):
        folders = {name: tmp_path / f"{name}{seed}" for name in ("posts", "predictions", "out")}
        for folder in folders.values():
            folder.mkdir()
        posts = texts.sample(frac=1, random_state=seed).assign(id=[str(i) for i in range(200)])
        posts.to_parquet(folders["posts"] / "posts.parquet")
        predicted = posts.drop(columns="text")
        predicted.to_parquet(folders["predictions"] / "predictions.parquet")
        measure_gaps(Gaps(), folders["out"], folders, seed)
        table = pd.read_parquet(folders["out"] / "scores.parquet")
        assert set(table["group_by"]) == {"annotation"}
        lists.append(np.stack(table.query("kind == 'gap'")["resampled"].tolist()))
    assert lists[0].shape == (4, 200)
    np.testing.assert_array_equal(lists[0], lists[1])

"""Posts of one author or template in a task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from biasbridge.corpora.labelled import TableSource
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.train.tasks.posts import measure_gaps


def test_posts_of_one_author_are_resampled_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {"text": [f"w{number}" for number in range(200)], "label": rng.integers(0, 2, 200)}
    columns |= {"group": ["male", "female"] * 100, "author": np.arange(200) // 10}
    table = pd.DataFrame(columns)
    table.to_csv(tmp_path / "posts.csv", index=False)
    posts = TableSource(str(tmp_path / "posts.csv"), group="group", cluster="author").load(seed=0)
    posts.to_parquet(tmp_path / "posts.parquet")
    predicted = posts[["id", "label", "group"]].assign(prediction=posts["label"])
    predicted = predicted.assign(group_by="annotation", coverage=1.0)
    predicted.loc[posts["cluster"].astype(int) < 5, "prediction"] = 0
    predicted.to_parquet(tmp_path / "predictions.parquet")
    inputs = {"predictions": tmp_path, "posts": tmp_path}
    measure_gaps(Gaps(measures=("recall",)), tmp_path, inputs, 0)
    gap = pd.read_parquet(tmp_path / "scores.parquet").query("kind == 'gap'").iloc[0]
    assert gap["n_clusters"] == 20
    values = pd.read_parquet(tmp_path / "scores.parquet").query("kind == 'value'")
    assert values["widening"].min() > 1.3

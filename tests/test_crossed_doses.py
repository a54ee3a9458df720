"""In the generated world of ``crossed_doses`` both move the gap: the bias of the embedding and that
of the labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from corpora.linked_posts import LinkedPosts
from corpora.world import GeneratedCorpus
from debias.labels import Relabel
from extrinsic.gap_table import gap_table
from extrinsic.linear import Linear
from train.embed import Word2Vec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_embedding_and_labels_both_move_the_gap(tmp_path: Path) -> None:
    posts = LinkedPosts(addressed=0.2).load(seed=0)
    doses = [
        Relabel("overbias", dose, blamed="female").train_on(posts, seed=0) for dose in (0, 0.2, 0.4)
    ]
    gaps = np.zeros((3, 3))
    for row, stereotype in enumerate((-0.5, 0.0, 0.5)):
        GeneratedCorpus(sentences=10_000, stereotype=stereotype).write(tmp_path / "c.txt", seed=0)
        vectors = Word2Vec(dim=50, epochs=5, min_count=1).train(tmp_path / "c.txt", seed=0)
        for column, labelled in enumerate(doses):
            table = gap_table(Linear(C=0.03).predict(labelled, vectors, seed=0))
            found = table.query("kind == 'gap' and measure == 'fpr'")["value"]
            gaps[row, column] = float(found.iloc[0])
    assert (np.diff(gaps, axis=0) > 0.01).all()
    assert (np.diff(gaps, axis=1) > 0.01).all()

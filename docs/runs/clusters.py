"""Record whether methods change which words lie together: footnote 4 of the main paper.

``python docs/runs/clusters.py results/paper001_clusters store`` writes ``paper001_clusters.csv``
and draws ``paper001_clusters.svg``. A row has an embedding's WEAT, the accuracy of 2-means and of
an SVM in telling the two sides of a stereotype apart (IBT), and the mean share of the ten nearest
neighbours of its words that are those in the unmodified embedding of seed 0.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from recorded_runs import HERE

from biasbridge.commands.tsne import tsne
from biasbridge.files.charts import save_chart
from biasbridge.files.tables import write_csv
from biasbridge.files.vectors import open_mapped
from biasbridge.intrinsic.words import load_queries

N_NEIGHBOURS = 10
SHOWN = {
    "none": "unmodified",
    "balance": "balanced",
    "attract_repel": "Attract-Repel",
    "hard": "hard",
}


def neighbours(folder: Path, words: list[str]) -> dict[str, set[str]]:
    """Return the nearest neighbours, by cosine, of the words that are found."""
    vectors = open_mapped(folder)
    found = [word for word in words if word in vectors.key_to_index]
    return {
        word: {name for name, _ in vectors.most_similar(word, topn=N_NEIGHBOURS)} for word in found
    }


def main(results: Path, store: Path) -> None:
    """Write the table and the picture."""
    points, scores = (
        pd.read_parquet(results / f"{name}.parquet") for name in ("points", "intrinsic")
    )
    [query] = load_queries(["gender_stereotypes"])
    words = sorted({word.lower() for role in "XY" for word in query[role].words})
    folders = {key: next(store.glob(f"*/*-{key}")) / "vectors" for key in points["unit_key"]}
    wide = scores.assign(name=scores["metric"] + " " + scores["part"]).pivot_table(
        "value", "point", "name", "first"
    )
    near = {key: neighbours(folder, words) for key, folder in folders.items()}
    first = points.query("method == 'none' and seed == 0").set_index("embedding")["unit_key"]
    rows = []
    for point in points.to_dict("records"):
        before, after = near[first[point["embedding"]]], near[point["unit_key"]]
        kept = [len(before[word] & after[word]) for word in before.keys() & after.keys()]
        of_point = wide.loc[point["point"]]
        rows.append(
            {name: point[name] for name in ("embedding", "seed", "method", "direction")}
            | {
                "weat": of_point["weat "],
                "ibt_kmeans": of_point["ibt kmeans"],
                "ibt_svm": of_point["ibt svm"],
                "neighbours_kept": np.mean(kept) / N_NEIGHBOURS,
                "n_words": len(kept),
            }
        )
    table = pd.DataFrame(rows).sort_values(["embedding", "seed"], kind="stable")
    write_csv(table.round(4), HERE / "paper001_clusters.csv")
    is_shown = points["direction"].isin(["", "debias"]) & (points["seed"] == 0)
    word2vec = points[is_shown & (points["embedding"] == "word2vec")].set_index("method")
    panels = {title: folders[word2vec.loc[method, "unit_key"]] for method, title in SHOWN.items()}
    save_chart(tsne(panels), HERE / "paper001_clusters.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))

"""Silhouettes of real vectors over the sentiment words that they know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from files.vectors import read_vectors
from intrinsic import METRICS
from intrinsic.found_query import find_query
from studies.silhouettes.along import along, on_every_subset
from studies.silhouettes.probe import kinds_of_list
from studies.silhouettes.subsets import Subsets, nested_subsets

pytestmark = pytest.mark.realdata


@pytest.mark.parametrize("name", ["weat", "ect", "rnsb"])
def test_sentiment_words_by_sums_are_those_by_a_loop(
    name: str, realdata: Path, tmp_path: Path
) -> None:
    lexicon = json.loads((realdata / "words/webis/social-bias-lexicon.json").read_text("utf-8"))
    groups, concepts = lexicon["target_sets"]["gender"], lexicon["attribute_sets"]
    positive, negative = (concepts[each]["set"] for each in ("positive", "negative"))
    positive = [word for word in positive if word not in set(negative)]
    negative = [word for word in negative if word not in set(concepts["positive"]["set"])]
    sets = {"X": groups["male"]["set"], "Y": groups["female"]["set"], "A": positive, "B": negative}
    words = tmp_path / "words.json"
    words.write_text(json.dumps({"mine": sets}), encoding="utf-8")
    settings: dict[str, Any] = {} if name == "ect" else {"convention": "bsa"}
    metric = METRICS[name].by(**settings, queries=("mine",), words=str(words))
    vectors = read_vectors(realdata / "vectors/googlenews_13k.bin")
    found = find_query(vectors, metric.asked[0], metric.about.takes, case=metric.case)
    whole = nested_subsets(kinds_of_list(found)["attributes"], 6, 2, seed=0)
    steps = np.array([0, 1, 2, 10, 40, 80])
    subsets = Subsets(
        whole.orders,
        {role: counts[steps] for role, counts in whole.counts.items()},
        whole.sizes[steps],
    )
    assert whole.sizes[-1] > (6_000 if name != "ect" else 1_800)
    quick = along(metric, found, subsets, seed=0)[""]
    assert quick == pytest.approx(on_every_subset(metric, found, subsets, 0)[""], abs=1e-6)

"""Metrics on word vectors and on language models by family and name, for audits and documentation.

Every class of the packages that is one. The names below order families and the metrics in them; a
metric that none of them names is a further metric.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasbridge.files.choice import present_classes

if TYPE_CHECKING:
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.models.item_metric import ItemMetric

_FAMILIES = {
    "Associations": "weat association factual_association generalised_weat",
    "Two groups compared by attributes": "rnd rnsb mac ect bat",
    "Words along a direction": "direct_bias pair_bias projection ripa same indirect_bias sembias",
    "Nearest neighbours": "nbm male_neighbours profession_correlation prox_bias gipe",
    "Clusters and classifiers": "kmeans svm ibt",
    "Utility and analogies": "sq analogies unrelated_analogies generated_analogies",
}
_MODEL_FAMILIES = {
    "Pairs of sentences": "crows_pairs pll aul aula stereoset",
    "Sentences as vectors": "seat ceat probe sts_b",
    "Words in a slot": "lpbs next_word disco planted_bias",
    "Plain lines": "neutral_loss",
}


def _by_family(families: dict[str, str], package: str) -> dict[str, tuple[Any, ...]]:
    """Return the metrics of a package by family, the further ones last."""
    present = present_classes("intrinsic", package)
    of_families = {
        family: tuple(present.pop(name) for name in names.split())
        for family, names in families.items()
    }
    further = {"Further metrics": tuple(present[name] for name in sorted(present))}
    return of_families | (further if present else {})


def _by_name(families: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
    return {metric.about.name: metric for metrics in families.values() for metric in metrics}


FAMILIES: dict[str, tuple[type[Metric], ...]] = _by_family(
    _FAMILIES, "biasbridge.intrinsic.metrics."
)
MODEL_FAMILIES: dict[str, tuple[type[ItemMetric], ...]] = _by_family(
    _MODEL_FAMILIES, "biasbridge.intrinsic.models."
)
METRICS: dict[str, type[Metric]] = _by_name(FAMILIES)
MODEL_METRICS: dict[str, type[ItemMetric]] = _by_name(MODEL_FAMILIES)

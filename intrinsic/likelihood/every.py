"""Every metric of a language model by name, for the audit and the documentation."""

from __future__ import annotations

from collections.abc import Mapping

from intrinsic.item_metric import ItemMetric

MODEL_METRICS: Mapping[str, type[ItemMetric]] = {}

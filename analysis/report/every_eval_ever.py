"""A table of gaps in the exchange format of Every Eval Ever, schema 0.3.0."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from biasbridge import __version__
from biasbridge.analysis.naming import measure_title
from biasbridge.analysis.report.gap_sentences import ERROR_RATES

if TYPE_CHECKING:
    import pandas as pd

KINDS = {"value": "", "gap": " gap", "max_difference": " largest difference"}


def evaluation_log(
    table: pd.DataFrame, file: str, modified: int, columns: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values and gaps of one classifier as an evaluation log.

    The schema has no field for groups, an unbiased value and clusters: they are in
    ``metric_parameters``. ``evaluation_id`` holds a digest of the results in place of the time.
    """
    rows = table[table["kind"].isin([*KINDS]) & table["value"].notna()].to_dict("records")
    results = [_result(row, file, columns["cluster"]) for row in rows]
    digest = sha256(json.dumps([columns, results]).encode()).hexdigest()[:16]
    model = str(columns["pred"][0])
    unknown = {"deployment_type": "unknown", "model_availability": "unknown"}
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"{file}/unknown/{model}/{digest}",
        "retrieved_timestamp": str(modified),
        "source_metadata": {
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "biasbridge", "version": __version__},
        "model_info": {"name": model, "id": f"unknown/{model}", "additional_details": unknown},
        "evaluation_results": results,
    }


def _result(row: Mapping[Hashable, Any], file: str, cluster: str | None) -> dict[str, Any]:
    measure, is_value = str(row["measure"]), row["kind"] == "value"
    names = {
        "class": row.get("subset"),
        "measure": measure,
        "cluster_column": cluster,
        "group": row["group"] or row["unprivileged"],
        "privileged_group": row["privileged"],
        "unbiased_value": None if is_value else 0,
    }
    parameters = {name: value for name, value in names.items() if value not in ("", None)}
    labels = [str(value) for name, value in parameters.items() if name != "unbiased_value"]
    interval = {"lower": row["low"], "upper": row["high"], "confidence_level": 0.95}
    return {
        "evaluation_result_id": "/".join([row["kind"], *labels]),
        "evaluation_name": file,
        "source_data": {"dataset_name": file, "source_type": "other"},
        "metric_config": {
            "metric_id": f"biasbridge.{measure}{'' if is_value else '_' + row['kind']}",
            "metric_name": measure_title(measure) + KINDS[row["kind"]],
            "metric_unit": "proportion",
            "metric_parameters": parameters,
            "lower_is_better": not is_value or measure in ERROR_RATES,
            "score_type": "continuous",
            "min_score": -1 if row["kind"] == "gap" else 0,
            "max_score": 1,
        },
        "score_details": {
            "score": row["value"],
            "uncertainty": {"confidence_interval": interval, "num_samples": int(row["support"])},
        },
    }

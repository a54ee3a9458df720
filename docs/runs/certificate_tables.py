"""Tables of the recorded certificate of metrics."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from recorded_runs import HERE, STUDIES, markdown, row_estimate

from biasbridge.corpora.planted_occupations import PlantedOccupations
from biasbridge.files.tables import unescape_formulas
from biasbridge.stats.formatting import format_estimate, format_number
from biasbridge.studies.certificate_scores import (
    default_setting,
    jackknife,
    measure_properties,
    nan_mean,
    strength_scores,
)
from biasbridge.studies.certificate_verdicts import DOES_NOT_DETECT

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

READINGS = STUDIES / "certificate_readings.csv.gz"
RESAMPLES = 500  # of seeds
MODEL_KINDS = {
    "vectors": ("word2vec en", "fasttext en", "word2vec es"),
    "gaps": ("word2vec",),
    "models": ("tiny_bert en", "tiny_gpt2 en", "tiny_bert es", "tiny_gpt2 es"),
}
SYNTHETIC_KINDS = {  # that real material is compared with
    "en_tweets": "word2vec en",
    "en_plots": "word2vec en",
    "es_tweets_subtitles": "word2vec es",
    "smollm2-135m": "tiny_gpt2 en",
}
VERDICT_COLUMNS = ("verdict", "verdict_of_change")


@cache
def recorded(name: str) -> pd.DataFrame:
    """Read a table of the recorded certificate."""
    return unescape_formulas(pd.read_csv(STUDIES / f"{name}.csv"))


def certificate(subjects: str) -> str:
    """Tabulate the certificate of gaps, or of scores in the default convention.

    ``subjects``: ``vectors``, ``models`` or ``gaps``. Figures are of the first kind of model that
    has them, verdicts of all.
    """
    table = recorded("certificate_gaps" if subjects == "gaps" else "certificate")
    table = table[table["convention"].isin(["default", np.nan])]
    table = table[table["material"] == "synthetic"]
    rows = []
    for metric, part in table.groupby("metric", sort=False):
        by_kind = part.set_index("subject")
        kinds = [kind for kind in MODEL_KINDS[subjects] if kind in by_kind.index]
        if not kinds:
            continue
        first = by_kind.loc[kinds[0]]
        verdicts = {
            kind: str(by_kind.loc[kind, "verdict"]) if kind in kinds else ""
            for kind in MODEL_KINDS[subjects]
        }
        rows.append(
            {
                "metric": str(metric),
                "of": kinds[0],
                "models, seeds": f"{first['models']}, {first['seeds']}",
                "slope (sd)": row_estimate(first, "slope"),
                "r": row_estimate(first, "r"),
                "false alarms": row_estimate(first, "false_alarms") or "untested",
                "of random ones": row_estimate(first, "random_alarms") or "untested",
                "offset (sd)": row_estimate(first, "offset"),
                "smallest strength": row_estimate(first, "smallest_strength") or "none",
                **verdicts,
            }
        )
    return markdown(rows)


def agreement(material: str) -> str:
    """Tabulate the verdicts on real material beside those on synthetic worlds, and the scores of
    the model before anything was planted.

    False alarms are of the models in which nothing was planted.
    """
    table = recorded("certificate")
    untouched = recorded(f"untouched_{material}").set_index(["metric", "convention", "query"])
    untouched = untouched.add_prefix("untouched_").rename(columns={"untouched_value": "untouched"})
    synthetic = table[table["subject"] == SYNTHETIC_KINDS[material]]
    verdicts = synthetic.set_index(["metric", "convention"])["verdict"]
    readings = pd.read_csv(READINGS, low_memory=False)
    at_zero = {
        (scores.names["metric"], scores.names["convention"]): nan_mean(scores.column(0.0), 0)
        for scores in default_setting(strength_scores(readings[readings["material"] == material]))
    }
    rows = [
        {
            "metric": row["metric"],
            "convention": row["convention"],
            "untouched": row_estimate(
                untouched.loc[(row["metric"], row["convention"], row["query"])], "untouched"
            ),
            "0 planted": format_number(float(at_zero[row["metric"], row["convention"]])),
            "slope (sd)": row_estimate(row, "slope"),
            "r": row_estimate(row, "r"),
            "off target (sd)": row_estimate(row, "off_target"),
            "false alarms": row_estimate(row, "false_alarms") or "untested",
            "verdict": row["verdict"],
            "of the change alone": row["verdict_of_change"],
            f"of {SYNTHETIC_KINDS[material]}": verdicts.get((row["metric"], row["convention"]), ""),
        }
        for _, row in table[table["material"] == material].iterrows()
    ]
    return markdown(rows, merged=("metric",))


def text_agreement(_: str) -> str:
    """Tabulate how many conventions have the same verdict on planted real text as on synthetic
    text.
    """
    rows = []
    for material, part in _verdicts_on_text().groupby("material", sort=False):
        is_compared = (part["synthetic"] != "") & (part["metric"] != "placebo")
        is_blind = part["synthetic"] == DOES_NOT_DETECT
        (blind, _), (same, same_change) = (
            [int((rows_of[name] == rows_of["synthetic"]).sum()) for name in VERDICT_COLUMNS]
            for rows_of in (part[is_compared & is_blind], part[is_compared & ~is_blind])
        )
        n_blind, n_other = (int((is_compared & kind).sum()) for kind in (is_blind, ~is_blind))
        rows.append(
            {
                "conventions": str(material),
                f"{DOES_NOT_DETECT} on synthetic text, and here": f"{blind} of {n_blind}",
                "another verdict there, the same here": f"{same} of {n_other}",
                "the same of the change alone": f"{same_change} of {n_other}",
            }
        )
    return markdown(rows)


def real_text(_: str) -> str:
    """Tabulate the verdicts on planted real text beside those on synthetic text, in the default
    conventions.
    """
    table = _verdicts_on_text()
    table = table[table["convention"] == "default"]
    cells = defaultdict[str, dict[str, str]](dict)
    for material, rows in table.groupby("material", sort=False):
        for _, row in rows.iterrows():
            both = dict.fromkeys([row["verdict"], row["verdict_of_change"]])
            cells[row["metric"]] |= {
                "metric": row["metric"],
                f"{material}: slope (sd)": row_estimate(row, "slope"),
                f"{material}: r (placebo's)": (
                    f"{row_estimate(row, 'r')} ({row_estimate(row, 'placebo_r')})"
                ),
                f"{material}: verdict": "; ".join(both),
            }
    for _, row in table.iterrows():
        cells[row["metric"]][f"synthetic: {row['subject']}"] = row["synthetic"]
    return markdown(list(cells.values()))


def _verdicts_on_text() -> pd.DataFrame:
    """Return the certificate on planted real text, with the verdict on synthetic text."""
    table = recorded("certificate").query("subject in @MODEL_KINDS['vectors']")
    is_synthetic = table["material"] == "synthetic"
    verdicts = table[is_synthetic].set_index(["subject", "metric", "convention"])["verdict"]
    table = table[~is_synthetic]
    keys = zip(table["subject"], table["metric"], table["convention"], strict=True)
    return table.assign(synthetic=[verdicts.get(key, "") for key in keys])


def word_lists(metric: str) -> str:
    """Tabulate what a metric says of planted real text, by the words it is asked with."""
    readings = pd.read_csv(READINGS, low_memory=False)
    readings = readings[(readings["metric"] == metric) & (readings["convention"] == "default")]
    is_text = readings["material"].isin(SYNTHETIC_KINDS) & readings["subject"].isin(
        MODEL_KINDS["vectors"]
    )
    rows = []
    for scores in strength_scores(readings[is_text]):
        if scores.setting["training_steps"]:  # random vectors
            continue
        properties = measure_properties(scores, None, RESAMPLES)
        rows.append(
            {
                "material": scores.names["material"],
                "words": scores.names["query"],
                "models": str(scores.n_models),
                "where 0 is planted": format_number(float(nan_mean(scores.column(0.0), 0))),
                "where .8 is": format_number(float(nan_mean(scores.scores[:, -1], 0))),
                "slope (sd)": format_estimate(*properties.slope),
                "r": format_estimate(*properties.r),
            }
        )
    return markdown(rows, merged=("material",))


def planted_odds(material: str) -> str:
    """Tabulate how far log odds of *he* and *she* in a language model follow the planted ones.

    Both are differences of occupations of men and of women, in nats.
    """
    readings = pd.read_csv(READINGS, low_memory=False)
    is_asked = (readings["metric"] == "next_word") & (readings["convention"] == "default")
    is_of_models = readings["material"] == material
    rows = []
    for scores in strength_scores(readings[is_asked & is_of_models]):
        if scores.setting["first_token"] != "own":
            continue
        planted_values = np.array([_planted_log_odds(s) for s in scores.strengths.tolist()])
        centred = planted_values - planted_values.mean()

        def slope(values: Floats, centred: Floats = centred) -> Floats:
            return (values * centred).sum(axis=-1).mean(axis=-1) / (centred @ centred)

        r = measure_properties(replace(scores, strengths=planted_values), None, RESAMPLES).r
        rows.append(
            {
                "items": scores.names["query"],
                "models": str(scores.n_models),
                **{
                    f"where {planted:.2f} is planted": format_number(value)
                    for planted, value in zip(
                        planted_values, scores.scores.mean(axis=0), strict=True
                    )
                },
                "slope": format_estimate(*jackknife(slope, scores.scores)),
                "r": format_estimate(*r),
            }
        )
    return markdown(rows)


@cache
def _planted_log_odds(stereotype: float) -> float:
    truths = PlantedOccupations(stereotype=stereotype, held_out=True).truths(seed=0).values()
    by_group = {group: [] for group in dict.fromkeys(term.group for term in truths)}
    for term in truths:
        by_group[term.group].append(term.log_odds)
    first, second = map(np.mean, by_group.values())
    return float(first - second)


def rates(_: str) -> str:
    """Tabulate how often simulated metrics pass the certificate."""
    table = pd.read_csv(HERE.parent / "figures" / "certificate_rates.csv")
    return markdown(
        [
            {
                "simulated metric": row["design"],
                "seeds, random models": f"{row['seeds']}, {row['random']}",
                "passes": format_number(row["passes"]),
                "cannot tell": format_number(row["cannot_tell"]),
                "a fault is shown": format_number(row["fault_shown"]),
            }
            for _, row in table.iterrows()
        ]
    )

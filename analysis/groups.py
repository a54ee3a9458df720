"""Whether the compared groups are those that the words of the scores are about."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from biasbridge.analysis.frame import as_text

if TYPE_CHECKING:
    import pandas as pd

GENDERS = "men and women"  # the subject of the words, in the column ``word_groups``
MEN = "male males man men m boy boys he him his guy guys father fathers masculine masc"
WOMEN = "female females woman women w f girl girls she her hers lady ladies mother mothers feminine"
SPANISH = (
    "hombre hombres chico chicos niño niños varón varon masculino él el",
    "mujer mujeres chica chicas niña niñas femenino ella",
)
GENDER_WORDS = tuple(
    frozenset(f"{english} {spanish}".split())
    for english, spanish in zip((MEN, WOMEN), SPANISH, strict=True)
)
NAMES = GENDER_WORDS[0] | GENDER_WORDS[1] | {"fem", "gender", "genders"}
MAX_OPAQUE_LENGTH = 2  # longest opaque name: A, g1, 0


def group_mismatch(about: str, groups: Collection[str]) -> str:
    """Return a warning where the words are about men and women and the groups are named otherwise;
    empty where a group is named as either gender, or by an opaque name.
    """
    group_names = [group for group in groups if group]
    words = {word for group in group_names for word in re.findall(r"[^\W\d_]+", group.lower())}
    unclear = any(len(re.sub(r"\W", "", group)) <= MAX_OPAQUE_LENGTH for group in group_names)
    if about != GENDERS or not group_names or words & NAMES or unclear:
        return ""
    listed = ", ".join(sorted(group_names)[:4]) + (", ..." if len(group_names) > 4 else "")
    return f"The words of the scores are about {about}, and the groups are {listed}."


def group_mismatch_of(points: pd.DataFrame, extrinsic: pd.DataFrame) -> str:
    """Return the warning of ``group_mismatch`` for the measured gaps of a sweep."""
    about = "; ".join(sorted({*as_text(points, "word_groups")}))
    gaps = extrinsic[extrinsic["kind"] == "gap"] if "kind" in extrinsic else extrinsic
    groups = {*as_text(gaps, "privileged"), *as_text(gaps, "unprivileged")} - {"", "rest", "none"}
    return group_mismatch(about, groups)

"""Whether the groups that are compared are those that the words of the scores are about."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from analysis.frame import texts

if TYPE_CHECKING:
    import pandas as pd

GENDERS = "men and women"  # what the words are about, in the column ``asks_about``
MEN = "male males man men m boy boys he him his guy guys father fathers masculine masc"
WOMEN = "female females woman women w f girl girls she her hers lady ladies mother mothers feminine"
SPANISH = (
    "hombre hombres chico chicos niño niños varón varon masculino él el",
    "mujer mujeres chica chicas niña niñas femenino ella",
)
EITHER = tuple(
    frozenset(f"{english} {spanish}".split())
    for english, spanish in zip((MEN, WOMEN), SPANISH, strict=True)
)
NAMES = EITHER[0] | EITHER[1] | {"fem", "gender", "genders"}
OPAQUE = 2  # characters of a name that says nothing: A, g1, 0


def alike(one: str, other: str) -> bool:
    """Whether two names are of one group: the same, or both of men, or both of women."""
    names = {one.lower(), other.lower()}
    return len(names) == 1 or any(names <= either for either in EITHER)


def doubt(about: str, groups: Collection[str]) -> str:
    """A sentence where the words are about men and women and the groups are named otherwise; empty
    where a group is named as either, or a name says nothing.
    """
    known = [group for group in groups if group]
    words = {word for group in known for word in re.findall(r"[^\W\d_]+", group.lower())}
    unclear = any(len(re.sub(r"\W", "", group)) <= OPAQUE for group in known)
    if about != GENDERS or not known or words & NAMES or unclear:
        return ""
    listed = ", ".join(sorted(known)[:4]) + (", ..." if len(known) > 4 else "")
    return f"The words of the scores are about {about}, and the groups are {listed}."


def doubt_of(points: pd.DataFrame, extrinsic: pd.DataFrame) -> str:
    """The same of the tables of a sweep: of the groups whose gaps were measured."""
    about = "; ".join(sorted({*texts(points, "asks_about")}))
    gaps = extrinsic[extrinsic["kind"] == "gap"] if "kind" in extrinsic else extrinsic
    groups = {*texts(gaps, "privileged"), *texts(gaps, "unprivileged")} - {"", "rest"}
    return doubt(about, groups)

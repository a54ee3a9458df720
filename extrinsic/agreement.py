"""Agreement of the gender that posts mention with the annotated gender of their target.

``biasbridge agreement POSTS --text COL --group COL`` compares the tags of ``MentionTagger``
with an annotation.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

import numpy as np
import pandas as pd

from biasbridge.extrinsic.measures import MEASURES
from biasbridge.extrinsic.predictions import get_column
from biasbridge.extrinsic.tagger import BOTH, NEITHER, MentionTagger
from biasbridge.files import InputError, nearest
from biasbridge.stats.intervals import UNDEFINED

TAGS = ("male", "female", BOTH, NEITHER)
# As tweets are tokenised: hashtags, mentions and addresses are not words
WORD = re.compile(r"(?i:https?)://\S+|(?<![#@\w])(\w[\w'\u2019]*)")
LEVEL = 0.95


class Precision(NamedTuple):
    """Share of the posts with a tag whose annotation agrees, with its 95% interval."""

    tag: str
    annotation: str
    tagged: int
    agree: int
    value: float
    low: float
    high: float


def count_tags(
    posts: pd.DataFrame, text: str, group: str, query: str = "gender_mentions"
) -> pd.DataFrame:
    """Count posts by annotation, the column ``group`` (rows, most frequent first, an empty one as
    "none"), and by tag of the column ``text`` (columns ``TAGS``).

    ``query``: as in ``MentionTagger``. Raises ``InputError`` for an unknown column or query.
    """
    texts = (unicodedata.normalize("NFC", str(cell)) for cell in get_column(posts, text))
    annotations = get_column(posts, group)
    annotation = annotations.astype(object).where(annotations.notna(), "none").astype(str)
    words = [" ".join(filter(None, WORD.findall(post))) for post in texts]
    tags = MentionTagger(query).tag(pd.DataFrame({"text": words}))["group"]
    return cross_table(tags, annotation.replace("", "none"))


def cross_table(tags: pd.Series[str], annotation: pd.Series[str]) -> pd.DataFrame:
    """Count posts by annotation (rows, most frequent first) and tag (columns)."""
    counts = pd.crosstab(annotation, tags)
    order = counts.sum(axis=1).sort_values(ascending=False, kind="stable").index
    return counts.loc[order].reindex(columns=list(TAGS), fill_value=0)


def precision(counts: pd.DataFrame, tag: str, annotation: str) -> Precision:
    """Compute the share of posts with ``tag`` that are annotated ``annotation``, with Wilson's
    interval (see ``biasbridge.extrinsic.measures``); NaN without such posts.

    ``counts`` as from ``count_tags``. Raises ``InputError`` for an annotation that no post has.
    """
    if annotation not in counts.index:
        present = ", ".join(map(repr, counts.index))
        hint = nearest(annotation, counts.index)
        raise InputError(f"no post is annotated {annotation!r}{hint}; annotations: {present}")
    n, k = int(counts[tag].sum()), int(counts[tag][annotation])
    cells = np.array([0, n - k, 0, k])
    estimate = MEASURES["precision"].estimate(cells, LEVEL) if n else UNDEFINED
    return Precision(tag, annotation, n, k, *estimate)

"""Posts as a task has them: loaded, with their groups, and as they are learned from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analysis.naming import counted
from corpora.labelled import WITHOUT_TEXT

if TYPE_CHECKING:
    from corpora.kinds import Source
    from debias.kinds import LabelMethod
    from extrinsic.kinds import Tagger
    from train.parts.part import Inputs, Stages
    from train.store import Stage

POSTS = "posts"  # the stage of a source's posts


def lay_posts(stages: Stages, source: Source, groups: Tagger | None) -> Stage:
    """The posts, with their groups where the source has them or a tagger is given."""
    posts = stages(POSTS, source, load_posts)
    if source.grouped or groups is None:
        return posts
    return stages("tagged", groups, tag_posts, {"posts": posts})


def load_posts(source: Source, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet``; ``group_by`` says where the groups come from."""
    posts = source.load(seed=seed)
    (posts.assign(group_by="annotation") if source.grouped else posts).to_parquet(
        out / "posts.parquet"
    )


def tag_posts(tagger: Tagger, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet`` with a group for each post."""
    tagged = tagger.tag(pd.read_parquet(inputs["posts"] / "posts.parquet"))
    tagged.assign(group_by=f"tagger: {tagger.description}").to_parquet(out / "posts.parquet")


def oddities(posts: pd.DataFrame) -> list[str]:
    """What deserves to be said of the posts of a source: how many had no text, and how many repeat
    another's (all but the first of each text); a text on both sides of a split tells little.
    """
    told = []
    if empty := int(posts.attrs.get(WITHOUT_TEXT, 0)):
        told.append(f"{counted(empty, 'post')} without text left out")
    if repeated := int(posts["text"].duplicated().sum()):
        tested = posts["split"] == "test"
        both = len({*posts.loc[tested, "text"]} & {*posts.loc[~tested, "text"]})
        sides = f"{counted(both, 'text') if both else 'no text'} both learned from and tested on"
        told.append(f"{counted(repeated, 'post')} with the text of another, {sides}")
    return told


def dose(method: LabelMethod, out: Path, inputs: Inputs, seed: int) -> None:
    """``posts.parquet`` with columns that say how posts are learned from."""
    posts = pd.read_parquet(inputs["posts"] / "posts.parquet")
    method.train_on(posts, seed=seed).to_parquet(out / "posts.parquet")

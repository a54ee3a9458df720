"""A classifier learns from a source and is tested on a challenge set: chosen, planned, measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from hydra import compose, initialize_config_dir

from biasbridge.corpora.generated_templates import GeneratedTemplates
from biasbridge.corpora.world import GeneratedPosts
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.linear import Linear
from biasbridge.files import InputError
from biasbridge.files.vectors import save_mapped
from biasbridge.train.cli import CONF
from biasbridge.train.cli.configure import read_point
from biasbridge.train.tasks.hatespeech import HateSpeech
from biasbridge.train.tasks.posts import (
    load_challenge,
    load_posts,
    measure_challenge,
    predict_challenge,
)
from tests.points import TASK, plan

if TYPE_CHECKING:
    from biasbridge.train.engine.point import Point


def point(*overrides: str) -> Point:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return read_point(compose("config", overrides=list(overrides)))


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", "/nowhere")


def test_a_challenge_of_the_other_task_is_refused() -> None:
    with pytest.raises(InputError, match="does not fit task=HateSpeech") as e:
        point("challenge=winobias")
    assert "choose challenge=equity_evaluation, generated_templates" in str(e.value)
    with pytest.raises(InputError, match="does not fit task=Coreference"):
        point("task=coreference_en", "challenge=hatecheck")


def test_another_language_is_refused() -> None:
    with pytest.raises(InputError, match="choose a challenge set in the language of the posts"):
        point("challenge=generated_templates", "challenge.world=es_gender")


def test_measures_beyond_the_default_are_another_result_and_the_default_is_none(
    tmp_path: Path,
) -> None:
    def key(gaps: Gaps) -> str:
        task = HateSpeech(TASK.source, TASK.groups, TASK.classifier, gaps)
        return plan(tmp_path, task=task).key

    assert key(Gaps()) == plan(tmp_path, task=TASK).key
    assert (
        key(Gaps()) != key(Gaps(compare=("pair", "one-vs-rest"))) != key(Gaps(measures=("recall",)))
    )
    assert key(Gaps(compare=("one-vs-rest",))) != key(
        Gaps(compare=("one-vs-rest",), groups=("male",))
    )


@pytest.mark.parametrize("crossed", [False, True])
def test_a_classifier_is_tested_on_the_challenge_set(tmp_path: Path, crossed: bool) -> None:
    """Of a source that is cross-validated every post is learned from."""
    folders = {
        name: tmp_path / name for name in ("posts", "challenge", "vectors", "predictions", "out")
    }
    for folder in folders.values():
        folder.mkdir()
    load_posts(GeneratedPosts(posts=400), folders["posts"], {}, 0)
    if crossed:
        posts = pd.read_parquet(folders["posts"] / "posts.parquet").assign(split="all")
        posts.to_parquet(folders["posts"] / "posts.parquet")
    load_challenge(GeneratedTemplates(frames=40), folders["challenge"], {}, 0)
    posts, cases = (
        pd.read_parquet(folders[name] / "posts.parquet") for name in ("posts", "challenge")
    )
    words = sorted({word for text in [*posts["text"], *cases["text"]] for word in text.split()})
    vectors = KeyedVectors(30)
    vectors.add_vectors(words, np.random.default_rng(0).normal(size=(len(words), 30)))
    save_mapped(vectors, folders["vectors"] / "vectors")

    predict_challenge(Linear(), folders["predictions"], folders, 0)
    predicted = pd.read_parquet(folders["predictions"] / "predictions.parquet")
    assert set(predicted["split"]) == {"test"}
    tested = predicted["id"].isin(cases["id"])
    assert tested.sum() == len(cases)
    assert set(predicted.loc[~tested, "id"]) == set(posts.loc[posts["split"] == "test", "id"])

    gaps = Gaps(compare=("pair", "max-difference"), measures=("recall", "fpr", "equalised_odds"))
    measure_challenge(gaps, folders["out"], folders, 0)
    table = pd.read_parquet(folders["out"] / "scores.parquet")
    assert (table["subset"] == "held_out").any() == (not crossed)
    kinds = {"value", "gap", "max_difference", "ratio", "term_gap", "equality_difference", "flips"}
    assert set(table["kind"]) == kinds
    gap = table[table["kind"] == "gap"]
    assert gap["measure"].tolist() == ["recall", "fpr"]
    assert set(gap["privileged"] + gap["unprivileged"]) == {"malefemale"}
    assert all(len(each) == 200 for each in gap["resampled"])
    assert not table.duplicated(["kind", "measure", "group", "unprivileged", "subset"]).any()


def check(*asked: str) -> None:
    """Look at the posts before a run."""
    task = point("corpus=generated", *asked).task
    assert isinstance(task, HateSpeech)
    task.check()


def test_the_groups_of_a_challenge_set_are_looked_at_first(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    rows = [f"you {who} {how},{int(how == 'bad')},{who}" for who in "ab" for how in ("bad", "good")]
    path.write_text("\n".join(["text,label,group", *rows]), encoding="utf-8")
    asked = ["challenge=csv", f"challenge.path={path}", "challenge.group=group"]

    lacks = r"gaps\.privileged=male: no post of challenge=mine has that group; there are a, b"
    with pytest.raises(InputError, match=lacks):
        check(*asked)
    check(*asked, "gaps.privileged=a", "gaps.unprivileged=b")
    check(
        *asked,
        "gaps.compare=[one-vs-rest,max-difference]",
        "gaps.measures=[recall,fpr,auc,equalised_odds]",
    )


def test_a_pair_that_is_not_compared_need_not_be_in_the_posts(tmp_path: Path) -> None:
    path = tmp_path / "posts.csv"
    rows = [f"you {how},{int(how == 'bad')},{who}" for who in "abc" for how in ("bad", "good")]
    path.write_text("\n".join(["text,label,who", *rows]), encoding="utf-8")
    asked = ["source=csv", f"source.path={path}", "source.group=who"]

    check(
        *asked,
        "gaps.compare=[one-vs-rest,max-difference]",
        "gaps.measures=[recall,fpr,auc,equalised_odds]",
    )
    check(*asked, "gaps.compare=[pairwise]", "gaps.privileged=a")
    for more in ((), ("gaps.compare=[pairwise]",)):
        with pytest.raises(InputError, match=r"gaps\.privileged=male: no post of source=posts"):
            check(*asked, *more)
    misspelt = r"gaps\.groups=aa: no post of source=posts has that group; did you mean 'a'\?"
    with pytest.raises(InputError, match=misspelt):
        check(*asked, "gaps.compare=[one-vs-rest]", "gaps.groups=[b,aa]")

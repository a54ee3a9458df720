"""Nodes of a configuration become choices, or one line that names the key, its value and the
remedy.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from biasbridge.corpora.corpus import TextCorpus
from biasbridge.corpora.posts import HatEval, TableSource
from biasbridge.corpora.protocols import DocumentSource
from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts, GeneratedTemplates
from biasbridge.debias.text import Balance
from biasbridge.debias.words import WordChoice
from biasbridge.extrinsic.classifiers import Linear
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.taggers import KeywordTagger, MentionTagger
from biasbridge.files import InputError
from biasbridge.files.data.registry import collected_requests
from biasbridge.files.language import language_of
from biasbridge.files.vectors import save_mapped
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.words import load_query, write_query
from biasbridge.train.cli import CONF
from biasbridge.train.cli.choices import Reader
from biasbridge.train.cli.composing import read_point
from biasbridge.train.engine.point import Point
from biasbridge.train.engine.steps import _keyed_params
from biasbridge.train.subjects.static import Pretrained
from biasbridge.train.tasks.hatespeech import HateSpeech
from biasbridge.train.tasks.posts import (
    _load_posts,
    load_challenge,
    measure_challenge,
    predict_challenge,
)
from tests.points import SUBJECT, TASK, WEAT, plan

CHOICES = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
from biasbridge.files import Choice, choice

@choice
class Inner:
    size: int = 1
    rate: float = 0.5
    name: ClassVar[str] = "inner"
    version: ClassVar[int] = 1
    def files(self): return []

@choice
class Outer:
    inner: Choice
    words: tuple[str, ...] = ()
    name: str = "outer"
    version: ClassVar[int] = 1
    def files(self): return []

class Plain: pass

@dataclass(frozen=True)
class Rootless:
    path: str = "posts.csv"
    name: ClassVar[str] = "rootless"
    version: ClassVar[int] = 1
"""


@pytest.fixture(autouse=True)
def _choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sample_choices.py").write_text(CHOICES, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sample_choices", raising=False)


EARLIER = "debias", "erasers", "Leace"  # a name without biasbridge
INNER = {"_target_": "sample_choices.Inner"}


def outer(**values: object) -> dict[str, object]:
    return {"_target_": "sample_choices.Outer", "inner": INNER} | values


def test_nodes_within_nodes_are_built_and_lists_are_tuples() -> None:
    built = Reader({})(outer(words=["a", "b"]), "part")
    inner = "Inner(size=1, rate=0.5)"
    assert repr(built) == f"Outer(inner={inner}, words=('a', 'b'), name='outer')"


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (outer(word=["a"]), r"unknown config key 'part\.word'; did you mean 'words'\?"),
        (outer(words=["a", 1]), r"part\.words=\('a', 1\): give a list, each item a text"),
        (outer(inner=INNER | {"siz": 1}), r"unknown config key 'size\.siz'; did you mean 'size'"),
        (outer(inner=INNER | {"size": "1"}), r"size\.size='1': give a whole number"),
        ({"_target_": "sample_choices.Nothing"}, "cannot be imported"),
        ({"_target_": "nowhere.Nothing"}, "cannot be imported"),
        ({"_target_": "Nothing"}, "cannot be imported"),
        ({"_target_": "os.system"}, "is not a choice"),
        ({"_target_": ".".join(EARLIER)}, "Leace: give biasbridge.debias.erasers.Leace"),
        ({"_target_": "antigravity.fly"}, "is not a choice"),  # to import it opens a browser
        ({"_target_": "sample_choices.Plain"}, "is not a choice"),
        ({"_target_": "sample_choices.Rootless"}, "has no files, which every choice needs"),
        (outer(inner=3), "part.inner=int: it is not a Choice: it lacks version, name, files"),
    ],
)
def test_what_is_refused_names_the_key_that_the_user_gave(
    node: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Reader({"part": {"inner": "${size}"}})(node, "part")


# The sources of ``conf/documents``: their parts count in a store's key.

NEEDS = {"files": ["documents.path=folder", "documents.scheme=mine"]}


def built(option: str, *more: str) -> DocumentSource:
    overrides = [f"+documents={option}", *NEEDS.get(option, []), *more]
    with collected_requests(), initialize_config_dir(str(CONF), version_base="1.3"):
        node = OmegaConf.to_container(
            compose("config", overrides=overrides).documents, resolve=True
        )
    found = Reader({})(cast("dict[str, object]", node), "documents")
    assert isinstance(found, DocumentSource)
    return found


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", "/nowhere")


def test_a_choice_within_a_choice_counts_in_the_key() -> None:
    whole = _keyed_params(built("ontogum_litbank"))
    first = whole["first"]
    assert isinstance(first, dict)
    assert first["made_by"] == "biasbridge.corpora.documents.DocumentFiles"
    assert "path" not in first
    dropped = _keyed_params(built("ontogum_litbank", "documents.first.test=0.2"))
    assert dropped["first"] != first
    assert dropped["second"] == whole["second"]


@pytest.mark.realdata
def test_ontogum_is_split_as_gum_is(realdata: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIASBRIDGE_DATA", str(realdata))
    splits = built("ontogum").load(seed=0)
    assert {split: len(each) for split, each in splits.items()} == {
        "train": 177,
        "dev": 30,
        "test": 30,
    }


# A classifier learns from a source and is tested on a challenge set: chosen, planned, measured.


def point(*overrides: str) -> Point:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return read_point(compose("config", overrides=list(overrides)))


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
    assert len({key(Gaps()), key(Gaps(at="share")), key(Gaps(at=0.2)), key(Gaps(at=0.3))}) == 4
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
    _load_posts(GeneratedPosts(posts=400), folders["posts"], {}, 0)
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

    measures = ("recall", "selection_rate")
    measure_challenge(replace(gaps, at=0.25, measures=measures), folders["out"], folders, 0)
    at_share = pd.read_parquet(folders["out"] / "scores.parquet")
    of_cases = at_share["subset"].eq("") & at_share["group"].eq("all")
    [share] = at_share.loc[of_cases & at_share["measure"].eq("selection_rate"), "value"]
    assert share == pytest.approx(0.25, abs=0.02)
    if not crossed:  # how well it has learned is judged at its own threshold
        held_out = (each.query("subset == 'held_out'") for each in (table, at_share))
        recalls = [each.query("measure == 'recall'")["value"].tolist() for each in held_out]
        assert recalls[0] == recalls[1]


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


# Texts, words and groups that are known to be in different languages are refused.

SPANISH = replace(SUBJECT, corpus=GeneratedCorpus(world="es_gender"))
POSTS = replace(TASK, source=GeneratedPosts(world="es_gender"))
QUERY = Weat(queries=("gender_es",), case="lower")


def test_who_has_a_language() -> None:
    languages = {
        language_of(each)
        for each in (
            SPANISH,
            POSTS,
            HatEval("folder", "es"),
            TextCorpus("a.txt", language="es"),
            TableSource("a.csv", language="es"),
            WordChoice("migrant_es"),
            MentionTagger("gender_mentions_es"),
            KeywordTagger("migrants", keywords=("inmigra",), language="es"),
        )
    }
    assert languages == {"es"}
    unknown = (
        TextCorpus("a.txt"),
        TableSource("a.csv"),
        replace(SUBJECT, embedding=Pretrained("a")),
    )
    assert {language_of(each) for each in (*unknown, None)} == {"und"}


def test_one_language_is_fine_and_so_is_an_unknown_one() -> None:
    Point(experiment="e", seed=0, subject=SPANISH, metrics=(QUERY,), task=POSTS)
    unknown = replace(SUBJECT, corpus=TextCorpus("a.txt"))
    for metric in (QUERY, WEAT):
        Point(experiment="e", seed=0, subject=unknown, metrics=(metric,))


def test_queries_posts_and_vectors_in_two_languages_are_refused() -> None:
    with pytest.raises(InputError, match=r"the subject is in 'es' and query 'weat6b' is in 'en'"):
        Point(experiment="e", seed=0, subject=SPANISH, metrics=(WEAT,))
    with pytest.raises(
        InputError, match=r"subject is in 'en' and the task is in 'es'; choose data"
    ):
        Point(experiment="e", seed=0, subject=SUBJECT, metrics=(), task=POSTS)


def test_built_in_words_follow_the_text_and_those_of_a_file_are_refused(tmp_path: Path) -> None:
    followed, unused = replace(SPANISH, debias=Balance("debias")).words, SPANISH.words
    assert isinstance(followed, WordChoice)
    assert isinstance(unused, WordChoice)
    assert followed.query == "gender_union_es"
    assert unused.query == "gender_union", "not used: nothing is modified"
    write_query(load_query("gender_union"), tmp_path / "english.yaml")
    words = WordChoice(None, file=str(tmp_path / "english.yaml"))
    with pytest.raises(
        InputError, match=r"=generated_es_gender is in 'es' and words=english is in"
    ):
        replace(SPANISH, debias=Balance("debias"), words=words)
    with pytest.raises(InputError, match=r"sembias: not in 'es', which has .*, gender_es, "):
        WordChoice("sembias").in_language("es")


def test_a_built_in_tagger_follows_the_posts_and_another_is_refused() -> None:
    followed = replace(TASK, source=HatEval("folder", "es"))
    assert followed.groups.name == "gender_mentions_es"
    keywords = KeywordTagger("migrants", keywords=("migrant",), language="en")
    with pytest.raises(InputError, match=r"hateval_es is in 'es' and groups=keywords is in"):
        replace(TASK, source=HatEval("folder", "es"), groups=keywords)
    assert POSTS.groups.name == "gender_mentions", "not used: the posts come with their groups"

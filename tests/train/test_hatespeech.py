"""The steps of the hate-speech task."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasbridge.analysis.printing import word_lists
from biasbridge.analysis.result_folder import write_tables
from biasbridge.analysis.tables import Tables, read_tables
from biasbridge.corpora.post_challenges import TableChallenge
from biasbridge.corpora.posts import Davidson, HatEval, TableSource, _hold_out
from biasbridge.corpora.world import GeneratedPosts, GeneratedTemplates
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.labels import Relabel, Resample
from biasbridge.debias.text import Balance
from biasbridge.extrinsic.classifiers import Linear
from biasbridge.extrinsic.crossval import read_posts
from biasbridge.extrinsic.gaps import Gaps
from biasbridge.extrinsic.taggers import MentionTagger
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, save_mapped
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.words import read_query
from biasbridge.train.engine.point import Plan, Point, plan_point, run_point
from biasbridge.train.engine.steps import StepBuilder
from biasbridge.train.engine.store import Store
from biasbridge.train.engine.tables import join_tables
from biasbridge.train.tasks.posts import measure_gaps, predict_challenge
from biasbridge.train.tasks.task_words import TaskWords, _draw_words
from tests.analysis.test_columns import check_columns, columns, read_schema
from tests.points import SUBJECT, TASK, WEAT

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.metric import Metric


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """The input folders of a prediction on a challenge set, and that of its result."""
    folders = {name: tmp_path / name for name in ("posts", "challenge", "vectors", "out")}
    for folder in folders.values():
        folder.mkdir()
    return folders


def test_resamples_are_of_the_texts_whatever_their_ids(tmp_path: Path) -> None:
    """Sources shuffle by the run's seed and number what they have shuffled."""
    rng = np.random.default_rng(0)
    texts = pd.DataFrame(
        {
            "text": [f"text {number}" for number in range(200)],
            "label": rng.integers(0, 2, 200),
            "prediction": rng.integers(0, 2, 200),
            "group": rng.choice(["male", "female"], 200),
            "group_by": "annotation",
        }
    )
    lists = []
    for seed in range(2):
        folders = {name: tmp_path / f"{name}{seed}" for name in ("posts", "predictions", "out")}
        for folder in folders.values():
            folder.mkdir()
        posts = texts.sample(frac=1, random_state=seed).assign(id=[str(i) for i in range(200)])
        posts.to_parquet(folders["posts"] / "posts.parquet")
        predicted = posts.drop(columns="text")
        predicted.to_parquet(folders["predictions"] / "predictions.parquet")
        measure_gaps(Gaps(), folders["out"], folders, seed)
        table = pd.read_parquet(folders["out"] / "scores.parquet")
        assert set(table["group_by"]) == {"annotation"}
        lists.append(np.stack(table.query("kind == 'gap'")["resampled"].tolist()))
    assert lists[0].shape == (4, 200)
    np.testing.assert_array_equal(lists[0], lists[1])


def test_a_challenge_set_tests_what_was_learned_from_changed_labels(
    folders: dict[str, Path],
) -> None:
    """Its own labels are for judging alone, and posts that left training teach nothing."""
    vectors = keyed(["good", "bad"], np.array([[1, 0], [0, 1]], dtype=np.float32))
    save_mapped(vectors, folders["vectors"] / "vectors")
    own = pd.DataFrame({"text": ["good", "bad"] * 20, "label": [0, 1] * 20, "split": "all"})
    own = own.assign(id=[f"own {number}" for number in range(len(own))])
    cases = pd.DataFrame({"id": ["c1", "c2"], "text": ["good good", "bad bad"], "label": [0, 1]})
    cases.to_parquet(folders["challenge"] / "posts.parquet")

    def predicted(posts: pd.DataFrame) -> list[int]:
        posts.to_parquet(folders["posts"] / "posts.parquet")
        predict_challenge(Linear(), folders["out"], folders, 0)
        found = pd.read_parquet(folders["out"] / "predictions.parquet")
        assert found["id"].tolist() == ["c1", "c2"]
        assert found["label"].tolist() == [0, 1]
        return list(found["prediction"])

    assert predicted(own) == [0, 1]
    turned = own.assign(train_label=1 - own["label"], in_training=True)
    assert predicted(turned) == [1, 0]
    first = np.arange(len(own)) < 8
    assert predicted(turned.assign(train_label=own["label"] ^ ~first, in_training=first)) == [0, 1]


def test_posts_of_a_challenge_set_and_their_near_copies_are_not_trained_on(
    folders: dict[str, Path],
) -> None:
    """With labels by chance a challenge set of the posts themselves tells nothing."""
    rng = np.random.default_rng(0)
    words = [f"w{chr(97 + a)}{chr(97 + b)}" for a in range(20) for b in range(20)]
    save_mapped(keyed(words, np.eye(400, dtype=np.float32)), folders["vectors"] / "vectors")
    own = pd.DataFrame({"text": words, "label": rng.integers(0, 2, 400), "split": "all"})
    own["id"] = [f"own {number}" for number in range(400)]
    own.to_parquet(folders["posts"] / "posts.parquet")
    cases = own[:200].assign(id=[f"c{number}" for number in range(200)], group="a")
    forms = ["W" + words[0][1:], f"{words[1]} !", f"{words[2]} 2"]
    cases["text"] = [*forms, *words[3:200]]
    cases.to_parquet(folders["challenge"] / "posts.parquet")
    given: list[pd.DataFrame] = []

    class Seen(Linear):
        def predict(self, posts: pd.DataFrame, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
            given.append(posts)
            return super().predict(posts, vectors, seed=seed)

    predict_challenge(Seen(), folders["out"], folders, 0)
    learned = given[0][(given[0]["split"] == "train") & given[0]["in_training"]]
    assert learned["text"].tolist() == words[200:]
    source = TableSource("posts.csv")
    challenge = TableChallenge("cases.csv", group="group")
    [line] = replace(TASK, source=source, challenge=challenge).warnings(folders.get)
    assert line.endswith("200 of 400 posts with a text of challenge=cases: not trained on")


@pytest.mark.parametrize("method", [Resample("overbias"), Relabel("overbias")])
def test_a_label_dose_reaches_the_classifier_of_a_challenge_set(
    method: Resample | Relabel, folders: dict[str, Path]
) -> None:
    """Each method leaves one of two columns, and the challenge set changes neither."""
    save_mapped(keyed(["a"], np.ones((1, 1), dtype=np.float32)), folders["vectors"] / "vectors")
    rows = [(group, label) for group in ("male", "female") for label in (0, 1)] * 10
    own = pd.DataFrame(rows, columns=["group", "label"]).assign(text="a", split="all")
    own["id"] = [f"own {number}" for number in range(len(own))]
    changed = method.train_on(own, seed=0)
    changed.to_parquet(folders["posts"] / "posts.parquet")
    cases = pd.DataFrame({"id": ["c1", "c2"], "text": ["a a", "a a"], "label": [0, 1]})
    cases.to_parquet(folders["challenge"] / "posts.parquet")
    given: list[pd.DataFrame] = []

    class Seen(Linear):
        def predict(self, posts: pd.DataFrame, vectors: KeyedVectors, *, seed: int) -> pd.DataFrame:
            given.append(read_posts(posts))
            return super().predict(posts, vectors, seed=seed)

    predict_challenge(Seen(), folders["out"], folders, 0)
    learned = given[0][given[0]["split"] == "train"].reset_index(drop=True)
    whole = read_posts(changed)
    for name in ("train_label", "in_training"):
        assert learned[name].tolist() == whole[name].tolist()
    assert (learned["train_label"] != whole["label"]).any() or not learned["in_training"].all()


# Posts of one author or template in a task.


def test_posts_of_one_author_are_resampled_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    columns = {"text": [f"w{number}" for number in range(200)], "label": rng.integers(0, 2, 200)}
    columns |= {"group": ["male", "female"] * 100, "author": np.arange(200) // 10}
    table = pd.DataFrame(columns)
    table.to_csv(tmp_path / "posts.csv", index=False)
    posts = TableSource(str(tmp_path / "posts.csv"), group="group", cluster="author").load(seed=0)
    posts.to_parquet(tmp_path / "posts.parquet")
    predicted = posts[["id", "label", "group"]].assign(prediction=posts["label"])
    predicted = predicted.assign(group_by="annotation", coverage=1.0)
    predicted.loc[posts["cluster"].astype(int) < 5, "prediction"] = 0
    predicted.to_parquet(tmp_path / "predictions.parquet")
    inputs = {"predictions": tmp_path, "posts": tmp_path}
    measure_gaps(Gaps(measures=("recall",)), tmp_path, inputs, 0)
    gap = pd.read_parquet(tmp_path / "scores.parquet").query("kind == 'gap'").iloc[0]
    assert gap["n_clusters"] == 20
    values = pd.read_parquet(tmp_path / "scores.parquet").query("kind == 'value'")
    assert values["widening"].min() > 1.3


# Words that come from the posts of a task: one step, shared, which sees training posts alone.

POSTS = GeneratedPosts(posts=2000)
WORDS = TaskWords(POSTS, MentionTagger())
ASKING = Weat(queries=("from_task", "weat6b"), case="lower")


def planned(folder: Path, *metrics: Metric, words: TaskWords | None = WORDS, seed: int = 0) -> Plan:
    task = replace(TASK, source=POSTS)
    point = Point("e", seed, SUBJECT, metrics or (ASKING,), task, from_task=words)
    return plan_point(point, Store(folder))


def test_the_posts_read_are_the_very_step_of_the_task(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    [words] = plan.task_words()
    assert plan.task is not None
    [posts] = [step for step in plan.task.ancestry().values() if step.name == "posts"]
    assert words.inputs["posts"].key == posts.key
    [metric] = plan.metrics
    assert metric.inputs["words"].key == words.key
    other = planned(tmp_path, seed=1).task_words()[0]
    assert other.key != words.key
    assert other.seed is words.seed is None, "they differ as their posts do"


@pytest.mark.parametrize("language", ["und", "es"])
def test_groups_by_a_tagger_are_those_of_the_task(language: str, tmp_path: Path) -> None:
    """Its words follow the posts' language: "son" is Spanish for "they are"."""
    (tmp_path / "posts.csv").write_text("text,label,split\na,1,train\nb,0,test\n", encoding="utf-8")
    source = TableSource(str(tmp_path / "posts.csv"), split="split", language=language)
    task = replace(TASK, source=source, groups=MentionTagger())
    steps = StepBuilder(0, Store(tmp_path / "store"))
    end = task.build_steps(steps, SUBJECT.build_steps(steps))
    [tagged] = [step for step in end.ancestry().values() if step.name == "tagged"]
    words = TaskWords(source, MentionTagger()).build_steps(steps)
    assert words.inputs["posts"].key == tagged.key


def test_only_a_metric_that_asks_rests_on_the_words(tmp_path: Path) -> None:
    plain, few = planned(tmp_path, WEAT), planned(tmp_path, words=replace(WORDS, size=5))
    assert plain.task_words() == []
    assert plain.key == planned(tmp_path, WEAT, words=None).key
    assert planned(tmp_path).key != few.key
    assert planned(tmp_path, WEAT).key == plain.key


def test_a_run_scores_the_words_it_drew_and_keeps_them(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    plan = planned(store.root)
    assert run_point(plan, store, tmp_path).status == "done"
    tables = join_tables([plan], store, tmp_path)
    assert tables.intrinsic["query"].tolist() == ["from_task", "weat6b"]
    assert tables.intrinsic["value"].notna().all()
    assert set(tables.words["role"]) == set("XYAB")
    query = read_query(store.path(plan.task_words()[0]) / "words.yaml")
    for role in "XYAB":
        listed = tables.words.loc[tables.words["role"] == role, "word"].tolist()
        assert listed == list(query[role].words)
    for path in write_tables(tmp_path / "results", tables):
        check_columns(read_schema(path), path.name)
    assert set(tables.words) == set(columns("words.parquet"))
    again = read_tables(tmp_path / "results")
    pd.testing.assert_frame_equal(again.words, tables.words)
    lines = word_lists(again.words)
    assert len(lines) == 4
    assert lines[0].startswith("from_task, X (male), 1 point: ")
    assert word_lists(Tables(*again[:3]).words) == []


def test_test_items_are_never_looked_at(tmp_path: Path) -> None:
    posts = POSTS.load(seed=0)
    test = posts["split"] == "test"
    others = posts.assign(
        text=posts["text"].where(~test, "zog zog"),
        label=posts["label"].where(~test, 1 - posts["label"]),
    )
    found = []
    for name, table in (("plain", posts), ("other", others), ("without", posts[~test])):
        (tmp_path / name / "out").mkdir(parents=True)
        table.to_parquet(tmp_path / name / "posts.parquet")
        _draw_words(WORDS, tmp_path / name / "out", {"posts": tmp_path / name}, 0)
        found.append((tmp_path / name / "out" / "words.yaml").read_bytes())
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("method", [Balance("debias"), AttractRepel("debias", 0.1)])
def test_methods_work_on_them(tmp_path: Path, method: Balance | AttractRepel) -> None:
    subject = replace(SUBJECT, debias=method, words=WORDS)
    assert subject.facts()["wordset"] == "from_task"
    store = Store(tmp_path)
    plan = plan_point(Point("e", 0, subject, (ASKING,), TASK, from_task=WORDS), store)
    [words] = plan.task_words()
    assert words.key in {step.key for step in plan.subject["vectors"].ancestry().values()}
    assert run_point(plan, store, tmp_path).status == "done"


def test_without_training_posts_it_is_refused_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("text,label\na,1\nb,0\n", encoding="utf-8")
    source = TableSource(str(tmp_path / "posts.csv"))
    with pytest.raises(
        InputError, match=r"training posts only; hold some posts out, such as source\.t"
    ):
        planned(tmp_path, words=replace(WORDS, source=source))
    assert planned(tmp_path, words=replace(WORDS, source=replace(source, test_share=0.5)))
    unsplit = POSTS.load(seed=0).assign(split="all")
    unsplit.to_parquet(tmp_path / "posts.parquet")
    with pytest.raises(InputError, match="every post is a test item"):
        _draw_words(WORDS, tmp_path, {"posts": tmp_path}, 0)
    challenged = replace(WORDS, source=source, challenge=GeneratedTemplates())
    [step] = planned(tmp_path, words=challenged).task_words()
    assert step.params["learned"] == "all"
    _draw_words(replace(WORDS, challenge=GeneratedTemplates()), tmp_path, {"posts": tmp_path}, 0)
    assert (tmp_path / "words.yaml").is_file()
    with pytest.raises(InputError, match="takes words from a task's posts, and there are none"):
        planned(tmp_path, words=replace(WORDS, source=None))


def test_what_nobody_draws_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown query 'from_tusk'; did you mean 'from_task'"):
        planned(tmp_path, Weat(queries=("from_tusk",)))
    with pytest.raises(InputError, match="no posts are given to take words from"):
        planned(tmp_path, words=None)
    with pytest.raises(InputError, match="one language"):
        planned(tmp_path, words=replace(WORDS, source=GeneratedPosts(world="es_gender")))


def test_posts_are_held_out_once_by_their_texts(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(4000)]
    some, more = _hold_out(texts, 0.2), _hold_out(texts, 0.3)
    assert some.count("test") == pytest.approx(800, abs=80)
    assert all(b == "test" for a, b in zip(some, more, strict=True) if a == "test")
    table = pd.DataFrame({"text": texts, "label": [n % 2 for n in range(4000)]})
    table.to_csv(tmp_path / "posts.csv", index=False)
    source = TableSource(str(tmp_path / "posts.csv"), test_share=0.2)
    first, other = (source.load(seed=seed).set_index("text")["split"] for seed in (0, 1))
    assert first.to_dict() == other.to_dict() == dict(zip(texts, some, strict=True))
    assert not source.cross_validated
    plain = TableSource(str(tmp_path / "posts.csv"))
    assert plain.cross_validated
    assert plain.keyed() == {}
    with pytest.raises(InputError, match=r"test_share=0\.2: the posts have a split"):
        TableSource("posts.csv", split="split", test_share=0.2)
    with pytest.raises(InputError, match=r"test_share=0\.2: the posts have a split"):
        HatEval("folder", test_folder="folder", test_share=0.2)
    assert HatEval("folder", language="es").cross_validated
    assert not Davidson("file.csv", test_share=0.3).cross_validated

"""What differs has another key, and what cannot change a result has the same: each way in which
results were once stale or measured twice.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasbridge.corpora.corpus import DatasetCorpus, TextCorpus
from biasbridge.corpora.posts import DatasetSource, TableSource
from biasbridge.corpora.protocols import RealData
from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.base import Method, OnVectors
from biasbridge.debias.labels import Linked, Relabel, Resample
from biasbridge.debias.text import Balance
from biasbridge.debias.words import WordChoice, _write_words
from biasbridge.extrinsic.classifiers import CNN, Linear
from biasbridge.extrinsic.taggers import MentionTagger
from biasbridge.files import Choice, InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.vectors import read_vectors, save_mapped
from biasbridge.intrinsic.metrics.set_distances import EmbeddingCoherence
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.train.engine.scores import _measure_metric
from biasbridge.train.engine.steps import Inputs, StepBuilder, _decide, _keyed_params
from biasbridge.train.engine.store import Step, Store, read_recipe
from biasbridge.train.engine.store_tools import outdated
from biasbridge.train.subjects.static import (
    FastText,
    Pretrained,
    _load_embedding,
    _train_embedding,
    write_corpus,
)
from biasbridge.train.tasks.posts import _load_posts
from tests.fresh_code import forget_code
from tests.points import SUBJECT, TASK, WEAT, plan

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.intrinsic.words import Query
    from biasbridge.train.tasks.hatespeech import HateSpeech


ROOT = Path(__file__).resolve().parent.parent.parent
ECT = EmbeddingCoherence()


def named(folder: Path, task: HateSpeech) -> dict[str, str]:
    """The key of each step by its name."""
    return {step.name: key for key, step in plan(folder, task=task).steps.items()}


def test_a_further_metric_measures_none_again_and_their_order_changes_nothing(
    tmp_path: Path,
) -> None:
    one, both, turned = (plan(tmp_path, *m) for m in ((WEAT,), (WEAT, ECT), (ECT, WEAT)))
    assert set(one.steps) < set(both.steps)
    assert both.key == turned.key != one.key
    assert plan(tmp_path, WEAT, WEAT).key == one.key


def test_titles_name_the_settings_that_are_not_the_default(tmp_path: Path) -> None:
    steps = StepBuilder(5, Store(tmp_path / "store"))
    corpus = steps("corpus", GeneratedCorpus(sentences=2000), write_corpus)
    assert corpus.title == "generated_en_gender,sentences=2000,seed=5"
    vectors = steps("vectors", FastText(dim=50, learning_rate=0.05), _train_embedding)
    assert vectors.title == "fasttext,dim=50,learning_rate=0.05,seed=5"
    assert steps("vectors", FastText(), _train_embedding).title == "fasttext,seed=5"
    path = tmp_path / "x.txt"
    path.write_text("a 1 0\n", encoding="utf-8")
    assert steps("base", Pretrained(str(path)), _load_embedding).title == "x.txt"


def test_a_tagger_that_is_not_used_decides_nothing_and_one_that_is_decides(tmp_path: Path) -> None:
    other = MentionTagger(groups=("men", "women"))
    assert named(tmp_path, TASK) == named(tmp_path, replace(TASK, groups=other))
    ungrouped = replace(TASK, source=Ungrouped())
    assert named(tmp_path, ungrouped) != named(tmp_path, replace(ungrouped, groups=other))
    assert (
        named(tmp_path, ungrouped)["posts"]
        == named(tmp_path, replace(ungrouped, groups=other))["posts"]
    )


def test_changed_labels_are_a_step_of_their_own_and_dose_0_is_none(tmp_path: Path) -> None:
    plain = named(tmp_path, TASK)
    resampled, relabelled = (
        named(tmp_path, replace(TASK, labels=kind("overbias", 0.5))) for kind in (Resample, Relabel)
    )
    assert len({each["predictions"] for each in (plain, resampled, relabelled)}) == 3
    assert plain["posts"] == resampled["posts"]
    assert "labels" not in plain
    none = replace(TASK, labels=Resample("debias", 0.0))
    assert named(tmp_path, none) == plain
    assert none.facts() == TASK.facts()
    assert (
        replace(TASK, labels=Relabel("debias")).facts().items()
        >= {"label_method": "relabel", "label_direction": "debias", "label_dose": 1.0}.items()
    )
    with pytest.raises(InputError, match="labels=balance acts on the text; choose a method on"):
        replace(TASK, labels=Balance("debias"))
    with pytest.raises(InputError, match="debias=resample acts on the labels"):
        replace(SUBJECT, debias=Resample("debias"))


def test_linked_labels_are_of_one_embedding_and_transmission_0_is_none(tmp_path: Path) -> None:
    plain = named(tmp_path, TASK)
    assert named(tmp_path, replace(TASK, labels=Linked(0.0))) == plain
    linked = {
        name: plan(tmp_path, subject=subject, task=replace(TASK, labels=labels)).steps
        for name, subject, labels in [
            ("half", SUBJECT, Linked(0.5)),
            ("whole", SUBJECT, Linked(1.0)),
            ("other query", SUBJECT, Linked(0.5, "weat7")),
            ("other embedding", replace(SUBJECT, debias=Balance("debias")), Linked(0.5)),
        ]
    }
    keys = [{step.name: key for key, step in steps.items()}["labels"] for steps in linked.values()]
    assert len(set(keys)) == 4
    [step] = [step for step in linked["half"].values() if step.name == "labels"]
    assert {name: made.key for name, made in step.inputs.items()} == {
        name: plain[name] for name in ("posts", "vectors")
    }
    facts = [replace(TASK, labels=Linked(t)).facts() for t in (0.0, 0.5, 1.0)]
    columns = ("label_method", "label_direction", "label_dose")
    assert [tuple(row[name] for name in columns) for row in facts] == [
        ("none", "", 0.0),
        ("linked_weat6b", "overbias", 0.5),
        ("linked_weat6b", "overbias", 1.0),
    ]
    origins = [plan(tmp_path, task=replace(TASK, labels=Linked(t))).keys() for t in (0.0, 0.5, 1.0)]
    for name in ("unit_key", "parent_key", "corpus_key"):
        assert len({keys[name] for keys in origins}) == 1
    with pytest.raises(InputError, match="labels=linked takes word vectors"):
        Linked().build_steps(StepBuilder(0, Store(tmp_path)), {})


@choice
class Ungrouped(RealData):
    """Posts without groups; two files of one name differ by their bytes."""

    path: str | None = None

    name: ClassVar[str] = "ungrouped"
    version: ClassVar[int] = 1
    grouped: ClassVar[bool] = False
    positive_class: ClassVar[str] = "hate speech"
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def files(self) -> list[Path]:
        return [Path(self.path)] if self.path else []

    def load(self, *, seed: int) -> pd.DataFrame:
        return GeneratedPosts(posts=400).load(seed=seed).drop(columns="group")


@choice
class Shrink(OnVectors, Fileless):
    """A method that knows neither dose nor direction."""

    name: ClassVar[str] = "shrink"
    version: ClassVar[int] = 1
    roles: ClassVar[tuple[str, ...]] = ("X",)

    def modify(self, vectors: KeyedVectors, query: Query, *, seed: int) -> KeyedVectors:
        raise NotImplementedError


def test_a_method_without_dose_and_direction_is_a_method(tmp_path: Path) -> None:
    method = Shrink()
    assert isinstance(method, Method)
    shrunk = plan(tmp_path, subject=replace(SUBJECT, debias=method))
    assert shrunk.point.facts()["method"] == "shrink"
    assert shrunk.point.facts()["dose"] == 1.0
    assert shrunk.key != plan(tmp_path).key


def test_dose_0_is_the_unmodified_embedding(tmp_path: Path) -> None:
    none = plan(tmp_path, subject=replace(SUBJECT, debias=Balance("debias", dose=0)))
    assert none.key == plan(tmp_path).key
    some = plan(tmp_path, subject=replace(SUBJECT, debias=Balance("debias", dose=0.5)))
    assert some.key != none.key
    assert some.keys()["parent_key"] == none.keys()["unit_key"]
    assert some.keys()["corpus_key"] == none.keys()["corpus_key"]


METHOD = """
from biasbridge.debias.base import OnVectors
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.files.vectors import with_matrix


@choice
class Scaled(OnVectors, Fileless):
    name = "scaled"
    version = 1
    roles = ("X",)

    def modify(self, vectors, query, *, seed):
        return with_matrix(vectors, vectors.vectors + BY)
"""


@pytest.fixture
def namesakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Method]]:
    """Methods of one name and one class name in two modules, which do different things."""
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, shift in (("toy_one", "[1] * 8"), ("toy_two", "range(8)")):
        (tmp_path / f"{name}.py").write_text(METHOD.replace("BY", shift))
    yield [importlib.import_module(name).Scaled() for name in ("toy_one", "toy_two")]
    forget_code()


def test_classes_of_one_name_in_two_modules_are_two(
    namesakes: list[Method], tmp_path: Path
) -> None:
    subjects = [replace(SUBJECT, debias=method) for method in namesakes]
    plans = [plan(tmp_path / "store", subject=subject) for subject in subjects]
    first, second = (planned.unit for planned in plans)
    assert first.recipe()["made_by"] == "toy_one.Scaled"
    assert second.key != first.key
    assert first.label == second.label == "modified (Scaled)"
    store = Store(tmp_path / "store")
    scores = [store.make(planned.metrics[0]) / "scores.parquet" for planned in plans]
    values = [pd.read_parquet(path)["value"].tolist() for path in scores]
    assert values[0] != values[1]


def test_a_choice_within_another_counts_by_its_module_too(namesakes: list[Method]) -> None:
    first, second = (_keyed_params(Holder(method)) for method in namesakes)
    assert first["held"] == {"made_by": "toy_one.Scaled", "version": 1}
    assert second["held"] == {"made_by": "toy_two.Scaled", "version": 1}


@choice
class Holder(Fileless):
    """Holds a choice."""

    held: Choice

    name: ClassVar[str] = "holder"
    version: ClassVar[int] = 1


def test_two_functions_that_carry_out_one_choice_make_two_results(tmp_path: Path) -> None:
    store = Store(tmp_path)
    steps = [StepBuilder(0, store)("words", Shrink(), write) for write in (write_one, write_two)]
    assert [(store.make(step) / "text").read_text() for step in steps] == ["one", "two"]


def write_one(choice: Choice, out: Path, inputs: Inputs, seed: int) -> None:
    (out / "text").write_text("one")


def write_two(choice: Choice, out: Path, inputs: Inputs, seed: int) -> None:
    (out / "text").write_text("two")


def make(value: int, name: str = "Mine") -> Any:
    @choice
    class Mine(Fileless):
        held: Choice | None = None
        name: ClassVar[str] = "mine"
        version: ClassVar[int] = 1
        score: ClassVar[int] = value

    if name != "Mine":
        Mine.__qualname__ = name
    return Mine


Again = make(2, "Again")
former = Again
Again = make(3, "Again")  # as in a cell that is run twice


def test_definitions_that_share_a_name_are_refused(tmp_path: Path) -> None:
    """Two classes of one factory had one key, and one got the other's score."""

    def write(choice: Choice, out: Path, inputs: Inputs, seed: int) -> None:
        raise NotImplementedError

    steps = StepBuilder(0, Store(tmp_path))
    holder = Holder(make(1)())
    lamb = lambda *_: None  # noqa: E731
    cases: Any = (
        *((make(1)(), write_one), (holder, write_one), (former(), write_one)),
        *((Shrink(), write), (Shrink(), lamb)),
    )
    for chosen, carry_out in cases:
        with pytest.raises(
            InputError, match=r"test_keys\.\S+ is defined in a function, or twice; define it once"
        ):
            steps("words", chosen, carry_out)
    assert steps("words", Again(), write_one).made_by == f"{__name__}.Again"


RUN = """
import sys
from pathlib import Path
from biasbridge.files import choice
from biasbridge.files.choice import Fileless
from biasbridge.train.engine.steps import StepBuilder
from biasbridge.train.engine.store import Store

@choice
class Mine(Fileless):
    name = "mine"
    version = 1

def write(choice, out, inputs, seed):
    (out / "text").write_text("mine")

if __name__ == "__main__":
    step = StepBuilder(0, Store("store"))("words", Mine(), write)
    Store("store").make(step)
    print(step.made_by, step.key, *step.source.modules)
"""


def run_python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(folder)))}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_class_of_a_script_has_the_name_of_its_file(tmp_path: Path) -> None:
    """As it has where the file is imported; its text is recorded under its path."""
    script = tmp_path / "my_script.py"
    script.write_text(RUN)
    as_script = run_python(tmp_path, script.name)
    assert as_script.returncode == 0, as_script.stderr
    made_by, key, *modules = as_script.stdout.split()
    assert made_by == "my_script.Mine"
    assert str(script) in modules
    code = (
        "from my_script import *; print(StepBuilder(0, Store('store'))('words', Mine(), write).key)"
    )
    assert run_python(tmp_path, "-c", code).stdout.split() == [key]
    (tmp_path / "other_script.py").write_text(RUN)
    other, other_key, *_ = run_python(tmp_path, "other_script.py").stdout.split()
    assert other == "other_script.Mine"
    assert other_key != key


def test_a_class_that_no_file_holds_is_refused(tmp_path: Path) -> None:
    done = run_python(tmp_path, "-c", RUN)
    assert "InputError: Mine is defined in '__main__', which has no file" in done.stderr
    assert not list(tmp_path.glob("store/*/*/recipe.json"))


def test_a_class_of_a_file_that_no_import_names_is_told_by_its_file(tmp_path: Path) -> None:
    """``spec_from_file_location``: registered under a name that others may bear, or not at all."""
    for name in ("toy_a.py", "toy_b.py"):
        (tmp_path / name).write_text(RUN)

    def load(file: str, *, registered: bool) -> object:
        spec = importlib.util.spec_from_file_location("toy_loaded", tmp_path / file)
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules["toy_loaded"] = module
        spec.loader.exec_module(module)
        if not registered:
            del sys.modules["toy_loaded"]
        return module

    store = Store(tmp_path / "store")

    def step(module: Any) -> Step:
        made: Step = StepBuilder(0, store)("words", module.Mine(), module.write)
        return made

    first = step(load("toy_a.py", registered=True))
    assert "toy_loaded" in first.source.modules
    store.make(first)
    assert "toy_loaded" in read_recipe(store.path(first))["made"]["modules"]
    forget_code()
    (tmp_path / "toy_b.py").write_text(RUN.replace('"mine"', '"other"'))
    second = step(load("toy_b.py", registered=True))
    assert second.key == first.key
    [found] = outdated(store, [second])
    assert found.code
    assert "toy_loaded" in found.modules
    forget_code()
    with pytest.raises(InputError, match="Mine is defined in 'toy_loaded', which has no file"):
        step(load("toy_a.py", registered=False))
    forget_code()


@choice
class OnModels(Shrink):
    """A method on what static vectors do not have."""

    acts_on: ClassVar[str] = "model"


def test_a_method_on_what_the_subject_has_not_is_refused() -> None:
    with pytest.raises(InputError, match=r"debias=shrink acts on the model, and subject=static"):
        replace(SUBJECT, debias=OnModels())


# Over random files and settings: two configurations with different results never share a key, and
# what cannot change a result never splits one.

# A choice over the files in a folder; made in another way, which cannot matter, where asked to
Make = Callable[..., Choice]
Strategy = st.SearchStrategy[Any]
CarryOut = Callable[..., None]
Files = Mapping[str, str]

TABLES = ("text,label\na,0\nb,1\n", "text,label\na,1\nb,0\n", 'text\tlabel\na\t0\n"b\t1\n')
LINES = ("a b a\n", "b a b\n", "A b a\n", "RT @x: a a\na b\n")
QUERIES = (
    "q: {X: [he, man], Y: [she, woman], A: [work], B: [home]}\n",
    "q: {X: [He, man], Y: [she, woman], A: [work], B: [home]}\n",
    "q: {X: [man, he], Y: [she, woman], A: [home], B: [work]}\nr: {X: [he]}\n",
)
VECTORS = "he 1 0\nshe 0 1\nman 1 1\nwoman 1 2\nwork 2 1\nhome 0 3\nHe 2 2\n"
MATRICES = (VECTORS, VECTORS.replace("2 1", "2 4"), VECTORS.replace("he 1", "ha 1"))

tables = st.sampled_from(TABLES)
folders = st.dictionaries(
    st.sampled_from(("train.csv", "test.csv", "train/a.csv", "test/a.csv", "validation/a.csv")),
    tables,
    min_size=1,
)


def made(
    make: Make, folder: Path, files: Files, carry_out: CarryOut, run: int, other: bool
) -> tuple[str, str]:
    """The key of a choice over these files, and a hash of what it makes."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with TemporaryDirectory() as place, suppress(InputError):
        key, out = "refused", Path(place) / "out"
        out.mkdir()
        with suppress(InputError):
            steps = StepBuilder(run, Store(Path(place) / "store"))
            step = steps("step", make(folder, other), carry_out)
            key = step.key
            step.build(out, {"vectors": folder})
            written = [path for path in sorted(out.rglob("*")) if path.is_file()]
            found = [(str(path.relative_to(out)), path.read_bytes()) for path in written]
            return key, hashlib.sha256(repr(found).encode()).hexdigest()
    return key, "refused"


def table(folder: Path, other: bool, **fields: Any) -> TableSource:
    text, label = fields.pop("columns")
    path = folder / fields.pop("name")
    return TableSource(os.path.relpath(path) if other else str(path), text, label, **fields)


def data_folder(folder: Path, other: bool, pattern: str | None, test: str | None) -> DatasetSource:
    named: object = pattern
    if other:
        (folder / ".DS_Store").write_text("x")
    if other and pattern == "*.csv":
        named = tuple(sorted(path.name for path in folder.glob("*.csv"))) or pattern
    return DatasetSource(str(folder), data_files=named, test=test)  # type: ignore[arg-type]


def text(folder: Path, other: bool, order: Sequence[str], **fields: Any) -> TextCorpus:
    paths = tuple(str(folder / name) for name in order)
    label = "mine" if other else None
    return TextCorpus(paths[0] if other and len(paths) == 1 else paths, label=label, **fields)


def words(folder: Path, other: bool, **fields: Any) -> WordChoice:
    for name, file in (("file", "w.yaml"), ("stop", "stop.txt")):
        fields[name] = str(folder / file) if fields[name] else None
    expand = fields["expand"]
    if not expand:  # stop is refused without it
        fields["stop"] = None
    return WordChoice(neighbours=str(folder / "v.txt") if expand else None, **fields)


def metric(folder: Path, other: bool, convention: str, min_found: float, **fields: Any) -> Weat:
    share = float(min_found) if other else min_found
    file = str(folder / "w.yaml")
    return Weat.by_convention(convention, queries=("q",), words=file, min_found=share, **fields)


def pretrained(folder: Path, other: bool, name: str) -> Pretrained:
    return Pretrained(str(folder / name), trusted=other)


def save(choice: Weat, out: Path, inputs: Inputs, seed: int) -> None:
    """The metric over vectors that lie as text."""
    save_mapped(read_vectors(inputs["vectors"] / "v.txt"), out / "vectors")
    _measure_metric(choice, out, {"vectors": out}, seed)


ORDERS = (("a.txt",), ("b.txt",), ("a.txt", "b.txt"), ("b.txt", "a.txt"))
queries, matrices = st.sampled_from(QUERIES), st.sampled_from(MATRICES)
lines = st.sampled_from(LINES)
# What makes a choice; what carries it out; the files; the fields; how many examples
KINDS: dict[str, tuple[Make, CarryOut, Strategy, dict[str, Strategy], int]] = {
    "table": (
        table,
        _load_posts,
        st.fixed_dictionaries(dict.fromkeys(("p.csv", "p.tsv", "p.txt"), tables)),
        {
            "name": st.sampled_from(("p.csv", "p.tsv", "p.txt")),
            "columns": st.permutations(("text", "label")),
            "separator": st.sampled_from((None, ",", "\t")),
            "quoted": st.booleans(),
            "positive": st.sampled_from(((), ("0",), ("1",), (1,))),
            "group": st.sampled_from((None, "label")),
        },
        60,
    ),
    "folder": (
        data_folder,
        _load_posts,
        folders,
        {
            "test": st.sampled_from((None, "test", "train")),
            "pattern": st.sampled_from((None, "*.csv", "**/a.csv")),
        },
        20,
    ),
    "text": (
        text,
        write_corpus,
        st.fixed_dictionaries({"a.txt": lines, "b.txt": lines}),
        {
            "order": st.sampled_from(ORDERS),
            "tokeniser": st.sampled_from(("tweets", "sentences", "whitespace")),
            "min_count": st.integers(1, 3),
            "lowercase": st.booleans(),
            "drop_retweets": st.booleans(),
            "limit": st.sampled_from((None, 1)),
        },
        50,
    ),
    "words": (
        words,
        _write_words,
        st.fixed_dictionaries({"w.yaml": queries, "v.txt": matrices, "stop.txt": st.just("man\n")}),
        {
            "file": st.booleans(),
            "query": st.sampled_from((None, "q", "r", "weat7", "weat8")),
            "swap": st.booleans(),
            "lowercase": st.booleans(),
            "expand": st.sampled_from((0, 1, 2)),
            "stop": st.booleans(),
        },
        50,
    ),
    "metric": (
        metric,
        save,
        st.fixed_dictionaries({"w.yaml": queries, "v.txt": st.just(VECTORS)}),
        {
            "case": st.sampled_from(("exact", "lower")),
            "min_found": st.sampled_from((0, 0.5, 1)),
            "language": st.sampled_from((None, "en")),
            "convention": st.sampled_from(("default", "wefe")),
            "resamples": st.sampled_from((0, 3)),
        },
        30,
    ),
    "pretrained": (
        pretrained,
        _load_embedding,
        matrices.map(lambda matrix: {"v.txt": matrix, "v.vec": matrix}),
        {"name": st.sampled_from(("v.txt", "v.vec"))},
        20,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_has_one_result(kind: str) -> None:
    """The same choice made in another way in another place has it too."""
    make, carry_out, files, fields, count = KINDS[kind]
    results: dict[str, str] = {}

    @settings(
        max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(files=files, chosen=st.fixed_dictionaries(fields), run=st.integers(0, 1))
    def hold(files: Files, chosen: dict[str, object], run: int) -> None:
        with TemporaryDirectory() as here, TemporaryDirectory() as there:
            one = partial(make, **chosen)
            key, result = made(one, Path(here), files, carry_out, run, False)
            assert results.setdefault(key, result) == result
            elsewhere = Path(there) / "elsewhere"
            assert made(one, elsewhere, files, carry_out, run, True) == (key, result)

    hold()
    assert len(results) > 1


CHOICES: list[tuple[Choice, dict[str, object]]] = [
    (FastText(), {}),
    (GeneratedCorpus(world="es_gender"), {}),
    (Balance("debias"), {}),
    (AttractRepel("debias"), {}),
    (CNN(), {"device": "cuda"}),
    (Linear(), {}),
    (
        DatasetCorpus(f"someone/text@{'a' * 40}"),
        {"workers": 3, "label": "mine", "language": "es"}
        | {"planted": 0.5, "off_target": 0.5, "planting_words": "w.yaml"},  # of a step of its own
    ),
]


OTHERS = {
    "world": "en_gender",
    "path": f"someone/text@{'b' * 40}",
}  # of a field that names what must be there


@pytest.mark.parametrize(("choice", "free"), CHOICES, ids=lambda value: type(value).__name__)
def test_every_field_is_keyed_but_those_that_decide_nothing(
    choice: Choice, free: dict[str, object], tmp_path: Path
) -> None:
    digest = Store(tmp_path).digest
    before = _decide(choice, digest)
    for field in dataclasses.fields(choice):  # type: ignore[arg-type]
        if field.name in free:
            same = dataclasses.replace(choice, **{field.name: free[field.name]})  # type: ignore[type-var]
            assert _decide(same, digest) == before
        else:
            changed = dataclasses.replace(choice)  # type: ignore[type-var]
            another = OTHERS.get(field.name, "another")
            object.__setattr__(changed, field.name, another)
            assert _decide(changed, digest) != before, field.name

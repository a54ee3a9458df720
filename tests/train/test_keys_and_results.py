"""Over random files and settings: two configurations with different results never share a key, and
what cannot change a result never splits one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasbridge.corpora.corpus import DatasetCorpus, TextCorpus
from biasbridge.corpora.labelled import DatasetSource, TableSource
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.balance import Balance
from biasbridge.debias.word_choice import WordChoice, write_words
from biasbridge.extrinsic.cnn import CNN
from biasbridge.extrinsic.linear import Linear
from biasbridge.files import Choice, InputError
from biasbridge.files.vectors import read_vectors, save_mapped
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.train.engine.part import Inputs, StepBuilder, decide
from biasbridge.train.engine.scores import measure
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.embed import FastText, Pretrained
from biasbridge.train.subjects.static import load, write_corpus
from biasbridge.train.tasks.posts import load_posts

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
    measure(choice, out, {"vectors": out}, seed)


ORDERS = (("a.txt",), ("b.txt",), ("a.txt", "b.txt"), ("b.txt", "a.txt"))
queries, matrices = st.sampled_from(QUERIES), st.sampled_from(MATRICES)
lines = st.sampled_from(LINES)
# What makes a choice; what carries it out; the files; the fields; how many examples
KINDS: dict[str, tuple[Make, CarryOut, Strategy, dict[str, Strategy], int]] = {
    "table": (
        table,
        load_posts,
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
        load_posts,
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
        write_words,
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
        load,
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
        max_examples=count,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
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
    before = decide(choice, digest)
    for field in dataclasses.fields(choice):  # type: ignore[arg-type]
        if field.name in free:
            same = dataclasses.replace(choice, **{field.name: free[field.name]})  # type: ignore[type-var]
            assert decide(same, digest) == before
        else:
            changed = dataclasses.replace(choice)  # type: ignore[type-var]
            another = OTHERS.get(field.name, "another")
            object.__setattr__(changed, field.name, another)
            assert decide(changed, digest) != before, field.name

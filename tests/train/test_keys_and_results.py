"""Over random files and settings: two configurations with different results never share a key, and
what cannot change a result never splits one.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpora.corpus import DatasetCorpus, TextCorpus
from corpora.labelled import DatasetSource, TableSource
from corpora.world import GeneratedCorpus
from debias.attract_repel import AttractRepel
from debias.balance import Balance
from debias.word_choice import WordChoice, write_words
from extrinsic.cnn import CNN
from extrinsic.linear import Linear
from files import Choice, InputError
from files.vectors import read_vectors, save_mapped
from intrinsic.metrics.weat import Weat
from train.embed import FastText, Pretrained
from train.parts.part import Inputs, Stages, decide
from train.parts.posts import load_posts
from train.parts.scores import measure
from train.parts.static import load, write_corpus
from train.store import Store

# A choice over the files in a folder; made in another way, which cannot matter, where asked to
Make = Callable[[Path, bool], Choice]
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

runs = st.integers(0, 1)
tables = st.sampled_from(TABLES)
folders = st.dictionaries(
    st.sampled_from(("train.csv", "test.csv", "train/a.csv", "test/a.csv", "validation/a.csv")),
    tables,
    min_size=1,
)


def often(count: int) -> settings:
    everything = list(HealthCheck)
    return settings(
        max_examples=count, deadline=None, derandomize=True, suppress_health_check=everything
    )


class Keys:
    """Results by key, over all examples of a test."""

    def __init__(self) -> None:
        self.results: dict[str, str] = {}

    def hold(self, make: Make, files: Files, carry_out: CarryOut, run: int = 0) -> None:
        """A key has one result; the same choice made in another way in another place has it too."""
        with TemporaryDirectory() as here, TemporaryDirectory() as there:
            key, result = made(make, Path(here), files, carry_out, run, False)
            assert self.results.setdefault(key, result) == result
            elsewhere = Path(there) / "elsewhere"
            assert made(make, elsewhere, files, carry_out, run, True) == (key, result)


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
            stages = Stages(run, Store(Path(place) / "store"))
            stage = stages("stage", make(folder, other), carry_out)
            key = stage.key
            stage.build(out, {"vectors": folder})
            written = [path for path in sorted(out.rglob("*")) if path.is_file()]
            found = [(str(path.relative_to(out)), path.read_bytes()) for path in written]
            return key, hashlib.sha256(repr(found).encode()).hexdigest()
    return key, "refused"


of_table = Keys()


@given(
    name=st.sampled_from(("p.csv", "p.tsv", "p.txt")),
    table=tables,
    columns=st.permutations(("text", "label")),
    separator=st.sampled_from((None, ",", "\t")),
    quoted=st.booleans(),
    positive=st.sampled_from(((), ("0",), ("1",), (1,))),
    group=st.sampled_from((None, "label")),
    run=runs,
)
@often(60)
def test_tables(
    name: str,
    table: str,
    columns: list[str],
    separator: str | None,
    quoted: bool,
    positive: tuple[str | int, ...],
    group: str | None,
    run: int,
) -> None:
    def make(folder: Path, other: bool) -> TableSource:
        text, label = columns
        path = os.path.relpath(folder / name) if other else str(folder / name)
        return TableSource(path, text, label, group, None, positive, separator, quoted)

    of_table.hold(make, {name: table}, load_posts, run)


of_folder = Keys()


@given(
    files=folders,
    test=st.sampled_from((None, "test", "train")),
    pattern=st.sampled_from((None, "*.csv", "**/a.csv")),
    run=runs,
)
@often(20)
def test_folders(files: Files, test: str | None, pattern: str | None, run: int) -> None:
    def make(folder: Path, other: bool) -> DatasetSource:
        if other:
            (folder / ".DS_Store").write_text("x")
        named = pattern
        if other and pattern == "*.csv":
            found = tuple(sorted(path.name for path in folder.glob("*.csv")))
            named = found or pattern  # type: ignore[assignment]
        return DatasetSource(str(folder), data_files=named, revision=None, test=test)

    of_folder.hold(make, files, load_posts, run)


of_text = Keys()


@given(
    first=st.sampled_from(LINES),
    second=st.sampled_from(LINES),
    order=st.sampled_from((("a.txt",), ("b.txt",), ("a.txt", "b.txt"), ("b.txt", "a.txt"))),
    tokeniser=st.sampled_from(("tweets", "sentences", "whitespace")),
    min_count=st.integers(1, 3),
    lowercase=st.booleans(),
    drop_retweets=st.booleans(),
    limit=st.sampled_from((None, 1)),
    run=runs,
)
@often(50)
def test_text(first: str, second: str, order: tuple[str, ...], run: int, **fields: object) -> None:
    def make(folder: Path, other: bool) -> TextCorpus:
        paths = tuple(str(folder / name) for name in order)
        return TextCorpus(
            path=paths[0] if other and len(paths) == 1 else paths,
            label="mine" if other else None,
            **fields,  # type: ignore[arg-type]
        )

    of_text.hold(make, {"a.txt": first, "b.txt": second}, write_corpus, run)


of_words = Keys()


@given(
    file=st.sampled_from((None, *QUERIES)),
    query=st.sampled_from((None, "q", "r", "weat7", "weat8")),
    swap=st.booleans(),
    lowercase=st.booleans(),
    expand=st.sampled_from((0, 1, 2)),
    searched=st.sampled_from(MATRICES),
    stop=st.sampled_from((None, "man\n")),
)
@often(50)
def test_words(
    file: str | None,
    query: str | None,
    swap: bool,
    lowercase: bool,
    expand: int,
    searched: str,
    stop: str | None,
) -> None:
    files = {"w.yaml": file or "", "v.txt": searched, "stop.txt": stop or ""}

    def make(folder: Path, other: bool) -> WordChoice:
        # Without expansion nothing is left out of it
        unused = other and not expand
        return WordChoice(
            query=query,
            file=str(folder / "w.yaml") if file else None,
            swap=swap,
            lowercase=lowercase,
            expand=expand,
            neighbours=str(folder / "v.txt") if expand else None,
            stop=str(folder / "stop.txt") if stop or unused else None,
        )

    of_words.hold(make, files, write_words)


def save(choice: Weat, out: Path, inputs: Inputs, seed: int) -> None:
    """The metric over vectors that lie as text."""
    save_mapped(read_vectors(inputs["vectors"] / "v.txt"), out / "vectors")
    measure(choice, out, {"vectors": out}, seed)


of_metric = Keys()


@given(
    words=st.sampled_from(QUERIES),
    case=st.sampled_from(("exact", "lower")),
    min_found=st.sampled_from((0, 0.5, 1)),
    language=st.sampled_from((None, "en")),
    convention=st.sampled_from(("default", "wefe")),
    resamples=st.sampled_from((0, 3)),
    run=runs,
)
@often(30)
def test_metrics(words: str, convention: str, min_found: float, run: int, **fields: object) -> None:
    def make(folder: Path, other: bool) -> Weat:
        share = float(min_found) if other else min_found
        words = str(folder / "w.yaml")
        return Weat.by(convention, queries=("q",), words=words, min_found=share, **fields)

    of_metric.hold(make, {"w.yaml": words, "v.txt": VECTORS}, save, run)


of_vectors = Keys()


@given(matrix=st.sampled_from(MATRICES), name=st.sampled_from(("v.txt", "v.vec")), run=runs)
@often(20)
def test_vectors(matrix: str, name: str, run: int) -> None:
    def make(folder: Path, other: bool) -> Pretrained:
        return Pretrained(str(folder / name), trusted=other)

    of_vectors.hold(make, {name: matrix}, load, run)


CHOICES: list[tuple[Choice, dict[str, object]]] = [
    (FastText(), {}),
    (GeneratedCorpus(world="es_gender"), {}),
    (Balance("debias"), {}),
    (AttractRepel("debias"), {}),
    (CNN(), {"device": "cuda"}),
    (Linear(), {}),
    (
        DatasetCorpus("someone/text", revision="a" * 40),
        {"workers": 3, "label": "mine", "language": "es"},
    ),
]


OTHERS = {"world": "en_gender", "revision": "b" * 40}  # of a field that names what must be there


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

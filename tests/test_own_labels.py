"""Labels, groups and languages as people have them: what ``check`` and ``init`` say, and that what
they print runs.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from math import sqrt, tanh
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import norm

from biasbridge.__main__ import main as biasbridge
from biasbridge.files import InputError
from biasbridge.files.vectors import keyed, save_vectors
from biasbridge.intrinsic.words import load_query
from biasbridge.user_data import guess_pair

if TYPE_CHECKING:
    from tests.conftest import Train

Run = Callable[..., str]

TEXTS = ("he does it at the office", "she does it at the office")
SPANISH = ("el hombre de la casa que es un amigo", "la mujer de la casa que es una amiga")
WORDS = "{X: [he, him], Y: [she, her], A: [office, it], B: [at, the]}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with vectors of English and Spanish words."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("PYTHONPATH", "")
    for code, texts in (("", TEXTS), ("_es", SPANISH)):
        queries = [f"{name}{code}" for name in ("gender_union", "weat6b", "weat7", "weat8")]
        asked = [
            word for name in queries for role in "XYAB" for word in load_query(name)[role].words
        ]
        words = [*dict.fromkeys([*" ".join(texts).split(), "him", "her", *"abc", *asked])]
        rows = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
        save_vectors(keyed(words, rows), tmp_path / f"own{code}.vec")
    return tmp_path


@pytest.fixture
def check(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """What ``check`` prints."""

    def run(*arguments: str) -> str:
        biasbridge(["check", *arguments])
        return capsys.readouterr().out

    return run


def write(name: str, labels: list[str], texts: tuple[str, str] = TEXTS, **columns: object) -> None:
    """120 posts, every label beside each of the texts."""
    kinds = [(text, label) for label in labels for text in texts]
    rows = [kinds[number % len(kinds)] for number in range(120)]
    table = pd.DataFrame(
        {
            columns.get("text", "text"): [
                f"{text} {'abc'[i % 3]}{i}" for i, (text, _) in enumerate(rows)
            ],
            columns.get("label", "label"): [label for _, label in rows],
        }
    )
    if groups := columns.get("groups"):
        assert isinstance(groups, list)
        table["group"] = [groups[number % len(groups)] for number in range(120)]
    table.to_csv(name, index=False)


def command_of(printed: str) -> list[str]:
    """The overrides that ``check`` prints."""
    [line] = [line for line in printed.splitlines() if line.startswith("a single run: ")]
    return shlex.split(line.partition("biasbridge train ")[2])


def test_the_pair_of_groups_is_told_by_its_names() -> None:
    assert guess_pair(["Mujer", "Hombre"]) == ("Hombre", "Mujer")
    assert guess_pair(["a", "b"]) is None


@pytest.mark.parametrize(
    "labels", [["yes", "no"], ["True", "false"], ["sí", "no"], ["toxic", "ok"]]
)
def test_the_command_of_labels_in_words_can_be_planned(
    labels: list[str], check: Run, train: Train
) -> None:
    write("posts.csv", labels, SPANISH, text="texto", label="acción")
    printed = check("posts.csv", "own_es.vec", "--label", "acción", "--positive", labels[0])
    overrides = command_of(printed)
    assert f"positive class: '{labels[0]}' in column 'acción'\n" in printed
    assert 'source.label="acción"' in overrides
    assert "task.name=posts" in overrides
    status, _, err = train(*overrides, "plan=true")
    assert status == 0, err


@pytest.mark.usefixtures("folder")
def test_init_writes_labels_that_yaml_reads_as_text(
    train: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    write("posts.csv", ["yes", "no"], SPANISH, text="texto")
    assert biasbridge(["init", "posts.csv", "own_es.vec", "--positive", "yes"]) == 0
    printed = capsys.readouterr().out.strip().rpartition("run: ")[2]
    assert printed == "biasbridge train --config-dir . +experiment=mine"
    written = Path("experiment/mine.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(written)["source"]["positive"] == ["yes"]
    assert yaml.safe_load(written)["task"]["name"] == "posts"
    # 29 degrees of freedom, two measures by three queries
    reach = (norm.ppf(1 - 0.05 / 2 / 6) + norm.ppf(0.8)) / sqrt(29 - 1)
    line = f"31 embeddings of 1 unmodified, enough to detect |r| of about {tanh(reach):.2f}"
    assert line in written
    status, _, err = train(*printed.split()[2:], "plan=true")
    assert status == 0, err


def test_several_classes_are_asked_which_of_them(check: Run) -> None:
    write("posts.csv", ["hate", "offensive", "normal"])
    printed = check("posts.csv", "own.vec")
    assert "missing: the labels are hate, normal, offensive. Name the positive class" in printed
    assert "A sweep compares one class with the rest" in printed
    assert "a single run" not in printed
    overrides = command_of(check("posts.csv", "own.vec", "--positive", "hate"))
    assert 'source.positive=["hate"]' in overrides
    with pytest.raises(InputError, match="the labels are hate, normal, offensive"):
        biasbridge(["init", "posts.csv", "own.vec"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["0", "1", "3"], "missing: the labels are 0, 1, 3. Name the positive class with"),
        (["0", "1", ""], "posts have no label; remove them"),
        (["0", "1", ""], " without a label"),
        (["1"], "all 120 labels are 1; a classifier needs posts of both classes"),
    ],
)
def test_labels_that_no_run_takes_are_met_by_check(
    labels: list[str], message: str, check: Run
) -> None:
    write("posts.csv", labels)
    printed = check("posts.csv", "own.vec")
    assert message in printed
    assert "a single run" not in printed


def test_groups_without_a_known_pair_are_compared_with_the_rest(check: Run, train: Train) -> None:
    write("posts.csv", ["0", "1"], groups=["red", "green", "green"])
    printed = check("posts.csv", "own.vec")
    assert "--privileged GROUP --unprivileged GROUP" in printed
    overrides = command_of(printed)
    assert 'gaps.compare=["one-vs-rest"]' in overrides
    status, out, err = train(*overrides, "classifier=linear")
    assert status == 0, err
    assert "rest - green" in out
    pair = ["--privileged", "green", "--unprivileged", "red"]
    assert "gaps.privileged=green" in command_of(check("posts.csv", "own.vec", *pair))
    with pytest.raises(InputError, match="give both"):
        biasbridge(["check", "posts.csv", "--privileged", "red"])


def test_a_group_with_fewer_posts_than_a_gap_needs(check: Run) -> None:
    write("posts.csv", ["0", "1"], groups=["men"] * 19 + ["women"])
    printed = check("posts.csv", "own.vec")
    assert "missing: group 'women' has 6 posts, " in printed
    assert "a gap needs 10 (gaps.min_support)" in printed


def test_words_and_corpora_of_another_language(check: Run) -> None:
    write("posts.csv", ["0", "1"])
    Path("es.yaml").write_text(f"language: es\nqueries: {{mine: {WORDS}}}", encoding="utf-8")
    Path("es.txt").write_text("\n".join(SPANISH * 200), encoding="utf-8")
    printed = check("posts.csv", "own.vec", "es.yaml")
    assert "missing: languages differ: posts 'en', words 'es'; give" in printed
    printed = check("posts.csv", "es.txt")
    assert "missing: languages differ: posts 'en', corpus 'es'; give" in printed


def test_words_that_the_vectors_or_the_corpus_lack_are_named(check: Run) -> None:
    write("posts.csv", ["0", "1"])
    words = WORDS.replace("he,", "zog, zag,")
    Path("mine.yaml").write_text(f"mine: {words}", encoding="utf-8")
    printed = check("posts.csv", "own.vec", "mine.yaml")
    assert "missing: query 'mine' has no score: word set 'mine.X' has 1 of 3 words" in printed
    assert "missing zog, zag" in printed
    Path("some.txt").write_text("\n".join(TEXTS * 200), encoding="utf-8")
    printed = check("posts.csv", "some.txt", "mine.yaml")
    assert "missing zog, zag, him" in printed
    assert "lower corpus.min_count and size.min_count" in printed
    Path("tiny.txt").write_text("the man and the woman\n", encoding="utf-8")
    assert "the corpus is too small to train on" in check("posts.csv", "tiny.txt")


IDS = [f"10000000000000{number}" for number in range(120)]
LONGER = [f"{TEXTS[i % 2]} n{i}" for i in range(120)]
MEN_AND_WOMEN = [("men", "women")[i % 4 // 2] for i in range(120)]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (("tweet", "content", "label_gold"), "text 'content', label 'label_gold'"),
        (("post", "message", "gold"), "text 'message', label 'gold'"),
        (("id", "text", "y_true", "target"), "text 'text', label 'y_true', group 'target'"),
        (("id", "tweet", "gold_label", "target_group"), "'gold_label', group 'target_group'"),
        (("id", "tweet", "target", "group_gold"), "label 'target', group 'group_gold'"),
        (("id", "tweet", "flag", "gender"), "label 'flag', group 'gender'"),
    ],
)
def test_columns_are_known_by_their_names_and_looks(
    columns: tuple[str, ...], expected: str, check: Run
) -> None:
    cells = (IDS, LONGER, [i % 2 for i in range(120)], MEN_AND_WOMEN)
    table = pd.DataFrame(dict(zip(columns, cells, strict=False)))
    table.to_csv("posts.csv", index=False)
    assert f"{expected}; 60 0, 60 1\n" in check("posts.csv", "own.vec")


def test_one_column_has_one_role(check: Run) -> None:
    table = pd.DataFrame({"text": LONGER, "label": [0, 1] * 60, "target": MEN_AND_WOMEN})
    table.to_csv("posts.csv", index=False)
    with pytest.raises(InputError, match=r"^--text and --group are both 'text'; name two columns$"):
        check("posts.csv", "own.vec", "--text", "text", "--group", "text")
    assert "label 'label', group 'target'" in check("posts.csv", "own.vec")
    with pytest.raises(InputError, match="no column is recognised as the label"):
        check("posts.csv", "own.vec", "--group", "label")


BLACK_AND_WHITE = ["white people", "black people"]
UNLIKE = (
    "warning: The words of the scores are about men and women, and the groups are black people,"
    " white people. Give "
)


@pytest.mark.slow
def test_words_about_others_than_the_groups_are_told(
    check: Run, train: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    write("posts.csv", ["0", "1"], groups=[*BLACK_AND_WHITE * 2, BLACK_AND_WHITE[1]])
    pair = ["--privileged", BLACK_AND_WHITE[0], "--unprivileged", BLACK_AND_WHITE[1]]
    for more in ([], pair):
        assert UNLIKE in check("posts.csv", "own.vec", *more)
    overrides = command_of(check("posts.csv", "own.vec", *pair))
    assert biasbridge(["init", "posts.csv", "own.vec", *pair]) == 0
    assert UNLIKE in capsys.readouterr().out
    written = Path("experiment/mine.yaml").read_text(encoding="utf-8")
    assert "# intrinsic: {weat: {words: words.yaml}}\n" in written
    sweep = ["hydra.mode=MULTIRUN", "seed=0,1,2", "hydra/launcher=basic", "name=unlike"]
    _, out, err = train(*overrides, "classifier=linear", *sweep, "intrinsic.weat.min_found=0")
    assert UNLIKE in out, err
    said = UNLIKE.removeprefix("warning: ").removesuffix(" Give ")
    assert said in " ".join(out.split())
    page = Path("results/unlike/report.html").read_text(encoding="utf-8")
    assert said in page


@pytest.mark.parametrize(
    "groups", [["men", "women"], ["he", "she"], ["about_women", "other"], ["A", "B"], ["g1", "g2"]]
)
def test_groups_of_gender_and_names_that_say_nothing_raise_no_doubt(
    groups: list[str], check: Run
) -> None:
    write("posts.csv", ["0", "1"], groups=[*groups * 2, groups[1]])
    assert "The words of the scores" not in check("posts.csv", "own.vec")


def test_words_of_ones_own_about_the_groups_raise_no_doubt(check: Run) -> None:
    write("posts.csv", ["0", "1"], groups=[*BLACK_AND_WHITE * 2, BLACK_AND_WHITE[1]])
    Path("own.yaml").write_text("mine: {X: [a], Y: [b], A: [office, it], B: [at, the]}", "utf-8")
    assert "The words of the scores" not in check("posts.csv", "own.vec", "own.yaml")
    Path("gender.yaml").write_text(f"mine: {WORDS}", "utf-8")
    assert "The words of the scores" in check("posts.csv", "own.vec", "gender.yaml")


def test_posts_that_are_a_header_only(folder: Path, train: Train) -> None:
    Path("posts.csv").write_text("text,label\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"^posts.csv holds no posts$"):
        biasbridge(["check", "posts.csv"])
    status, out, err = train("source=csv", "source.path=posts.csv", "corpus=generated")
    assert (status, out, err) == (2, "", "error: posts.csv holds no posts\n")

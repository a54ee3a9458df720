"""Data of one's own at the front door: language, columns, coverage, and what is said once."""

from __future__ import annotations

import re
from math import nan, tanh
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser

from biasbridge.__main__ import main as biasbridge
from biasbridge.commands.init import choose_doses
from biasbridge.files import InputError
from biasbridge.files.language import guess_language, language_in_name
from biasbridge.files.vectors import keyed, save_vectors
from biasbridge.intrinsic.words import load_query
from biasbridge.train.cli.command import format_override
from biasbridge.train.tasks.posts import coverage, describe_text_problems
from biasbridge.user_data import kind_of

if TYPE_CHECKING:
    from tests.conftest import Train

SPANISH = ("el niño de la casa lo hace", "la mujer en el parque que es tu amiga lo hace")
ENGLISH = ("he does it at the office", "she does it at the office")
MINE = "mine: {X: [he, him], Y: [she, her], A: [office, business], B: [home, family]}\n"
SWEEP_OF_NONE = [
    *("hydra.mode=MULTIRUN", "name=mine", "embedding=pretrained", "embedding.path=own.vec"),
    *("source=none", "debias=attract_repel", "intrinsic.weat.min_found=0", "hydra/launcher=basic"),
]
FAST = ["classifier=linear", "embedding=pretrained", "embedding.path=own.vec"]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with posts in two languages, words, and vectors that have all of the English."""
    for name, texts, more in (("posts", ENGLISH, " it"), ("spanish", SPANISH, " lo")):
        longer = [text + more * times for times in range(30) for text in texts]
        kinds = [(text, how) for text in longer for how in ("bad", "good")]
        table = pd.DataFrame({"text": [f"{text} {how}" for text, how in kinds]})
        table["label"] = [int(how == "bad") for _, how in kinds]
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "mine.yaml").write_text(MINE, encoding="utf-8")
    asked = [word for role in "XYAB" for word in load_query("gender_union")[role].words]
    words = dict.fromkeys([*" ".join(ENGLISH).split(), "him", "her", "good", "bad", *asked])
    rows = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    save_vectors(keyed([*words], rows), tmp_path / "own.vec")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def posts(name: str) -> list[str]:
    return ["source=csv", f"source.path={name}.csv"]


def test_a_corpus_in_another_language_than_the_queries_is_refused(own: Path, train: Train) -> None:
    (own / "some.txt").write_text("\n".join(SPANISH * 30), encoding="utf-8")
    corpus = ["corpus=text", "corpus.path=some.txt", "source=none", "plan=true"]
    assert train(*corpus) == (
        2,
        "",
        "error: the texts of corpus=some appear to be in 'es', and query 'weat6b' is in 'en'; give"
        " language=es, or en if not\n",
    )
    assert train(*corpus, "language=es")[0] == 0
    assert train(*corpus, "language=en")[0] == 0


def test_tagger_queries_and_words_follow_the_language(own: Path, train: Train) -> None:
    asked = ["language=es", "debias=attract_repel", "debias.dose=0.1"]
    status, out, error = train(*FAST[:2], "embedding.path=es.vec", *posts("spanish"), *asked)
    assert (status, error) == (2, "error: no such file: es.vec\n")
    words = [
        word
        for query in ("gender_union_es", "weat7_es", "weat8_es", "weat6b_es")
        for role in "XYAB"
        for word in load_query(query)[role].words
    ]
    words = [*dict.fromkeys([*words, *" ".join(SPANISH).split()])]
    rows = np.random.default_rng(0).normal(size=(len(words), 8)).astype(np.float32)
    save_vectors(keyed(words, rows), own / "es.vec")
    arguments = [*FAST[:2], "embedding.path=es.vec", *posts("spanish"), *asked]
    status, out, error = train(*arguments, "results.dir=results")
    assert status == 0, out + error
    [folder] = (own / "results").glob("*/intrinsic.parquet")
    assert set(pd.read_parquet(folder)["query"]) == {"weat6b_es", "weat7_es", "weat8_es"}
    gaps = pd.read_parquet(folder.parent / "extrinsic.parquet")
    assert gaps["group_by"].str.contains("gender_mentions_es").all()
    assert pd.read_parquet(folder.parent / "points.parquet")["wordset"].tolist() == [
        "gender_union_es"
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (" ".join(ENGLISH), "en"),
        (" ".join(SPANISH), "es"),
        ("der Mann und die Frau sind nicht auf dem Weg zu ihr", "de"),
        ("il ragazzo non è con la ragazza per una sera di festa", "it"),
        ("zxcv qwer asdf", "und"),
        ("", "und"),
        ("la casa", "und"),  # Spanish as much as Italian
        ("de", "und"),
    ],
)
def test_guessed_languages(text: str, code: str) -> None:
    assert guess_language(text.lower().split()) == code


@pytest.mark.parametrize(("name", "code"), [("cc.es.300.vec", "es"), ("de-biased.vec", "und")])
def test_languages_in_names(name: str, code: str) -> None:
    assert language_in_name(name) == code


def test_words_of_ones_own_are_asked_alone(own: Path, train: Train) -> None:
    status, _, error = train(*FAST, "source=none", "intrinsic.weat.words=mine.yaml")
    assert status == 0, error
    [path] = (own / "results").rglob("intrinsic.parquet")
    assert set(pd.read_parquet(path)["query"]) == {"mine"}


def test_too_little_coverage_is_a_warning_that_names_no_token(own: Path, train: Train) -> None:
    _, out, error = train(*FAST, *posts("posts"), "intrinsic.weat.min_found=0")
    assert "of the tokens" not in out, error
    rare = [f"mbb{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    texts = [f"{who} zwk qpl vrr {word}" for word in rare for who in ("he", "she")]
    strange = pd.DataFrame({"text": texts, "label": [0, 1] * len(rare)})
    strange.to_csv(own / "strange.csv", index=False)
    _, out, error = train(*FAST, *posts("strange"), "intrinsic.weat.min_found=0")
    printed = "warning: .20 of the tokens of source=strange have a vector; use vectors, or a corpus"
    assert f"{printed}, of similar texts\n" in out, error
    assert "zwk" not in out + error


def test_tables_that_make_room_for_others_are_told(own: Path, train: Train) -> None:
    _, out, _ = train(*SWEEP_OF_NONE, "seed=0", "debias.dose=0")
    assert "kept in" not in out
    _, out, error = train(*SWEEP_OF_NONE, "seed=0", "debias.dose=0,0.1")
    [folder] = (own / "results" / "mine" / "earlier").iterdir()
    moved = f"from results/mine to results/mine/earlier/{folder.name}\n"
    assert f"earlier tables of other points moved {moved}" in out, error


def test_coverage_by_hand() -> None:
    assert coverage(["a B c", "a d"], {"a": 0, "b": 1, "c": 2}) == pytest.approx(3 / 5)


def test_real_posts_meet_the_generated_corpus_by_its_name_alone(own: Path, train: Train) -> None:
    for asked in ([], ["corpus.sentences=1000"], ["+experiment=hatespeech_en"]):
        status, out, error = train(*posts("posts"), *asked, "plan=true")
        assert (status, out) == (2, "")
        assert error.startswith(
            "error: source=posts is real text, but no vectors and no corpus are given: give"
            " embedding=pretrained embedding.path=FILE, or corpus=text corpus.path=FILE; to try it"
            " on synthetic text: corpus=generated"
        )
    _, out, _ = train(*posts("posts"), "corpus=generated", "plan=true")
    assert (
        "warning: results mix synthetic and real data: corpus=generated_en_gender is synthetic,"
        " source=posts is real\n"
    ) in out


def test_check_says_what_would_happen(
    own: Path, train: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    assert biasbridge(["check", "posts.csv", "own.vec", "mine.yaml"]) == 0
    printed = capsys.readouterr().out
    assert "posts posts.csv: 120, text 'text', label 'label'; 60 1, 60 0\n" in printed
    assert "words mine.yaml: query 'mine', X 2, Y 2, A 2, B 2\n" in printed
    assert "language: en\n" in printed
    assert "positive class: '1' in column 'label'\n" in printed
    assert "groups by the words of gender_mentions: 60 male, 60 female\n" in printed
    assert "query 'mine', words in vocabulary: X 2 of 2, Y 2 of 2, A 2 of 2, B 2 of 2\n" in printed
    assert "1.00 of the posts' tokens are in the vocabulary\n" in printed
    [command] = [line for line in printed.splitlines() if line.startswith("a single run: ")]
    status, out, error = train(*command.split()[5:], "plan=true")
    assert status == 0, error
    assert "1 distinct point\n" in out or "1 distinct point " in out


def test_posts_without_text_and_repeated_ones_are_told_by_check_and_by_the_run(
    own: Path, train: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv("posts.csv")
    more = pd.DataFrame({"text": [table["text"][0], table["text"][0], " "], "label": [1, 1, 0]})
    whole = pd.concat([table, more])
    whole.to_csv("posts.csv", index=False)
    of_folds = (
        "left out: 1 post without text",
        "2 duplicate posts; no text in both training and test data",
    )
    biasbridge(["check", "posts.csv", "own.vec"])
    printed = capsys.readouterr().out.splitlines()
    assert {*of_folds} <= {*printed}
    seeds = ["hydra.mode=MULTIRUN", "hydra/launcher=basic", "name=mine", "seed=0,1"]
    status, out, error = train(*FAST, *posts("posts"), *seeds, "intrinsic.weat.min_found=0")
    assert status == 0, out + error
    lines = [line for line in out.splitlines() if line.startswith("source=posts: ")]
    assert lines == [f"source=posts: {each}" for each in of_folds]


def test_texts_on_both_sides_of_a_split_are_counted() -> None:
    texts = pd.Series(["a", "a", "b", "b", "c"])
    posts = pd.DataFrame({"text": texts, "split": ["train", "test", "dev", "train", "x"]})
    lines = describe_text_problems(posts)
    assert lines == ["2 duplicate posts; 1 text in both training and test data"]
    assert not describe_text_problems(pd.DataFrame({"text": ["a", "b"], "split": ["all", "all"]}))
    texts = pd.Series(["a b", "A b !", "2", "3", "\u0915\u093f", "\u0915\u0940"])
    near = pd.DataFrame({"text": texts, "split": ["train", "test"] * 3})
    differ = "differ from a training post in case, marks and numbers only"
    assert describe_text_problems(near) == [f"1 test post {differ}"]


def test_check_warns(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert biasbridge(["check", "spanish.csv", "own.vec"]) == 1  # no word of the queries is there
    printed = capsys.readouterr().out
    assert "language: es\n" in printed
    assert "groups by the words of gender_mentions_es: 60 male, 60 female\n" in printed
    few = "warning: less than 0.8 of the posts' tokens are in the vocabulary; give vectors, or a"
    assert few in printed
    assert biasbridge(["check", "posts.csv"]) == 0
    assert "no corpus and no vectors: a run would train on" in capsys.readouterr().out


def test_what_spanish_posts_alone_lack_is_one_sentence(
    own: Path, train: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = (
        "source=spanish is real text, but no vectors and no corpus are given: give"
        " embedding=pretrained embedding.path=FILE, or corpus=text corpus.path=FILE; to try it on"
        " synthetic text: corpus=generated_es_gender\n"
    )
    assert biasbridge(["check", "spanish.csv"]) == 1
    printed = capsys.readouterr().out
    assert printed.endswith(f"missing: {missing}")
    assert "train on synthetic text" not in printed
    asked = [*posts("spanish"), "language=es", "classifier=linear", "plan=true"]
    assert train(*asked) == (2, "", f"error: {missing}")
    assert train(*asked, "corpus=generated_es_gender")[0] == 0


def test_init_writes_an_experiment_that_can_be_planned(
    own: Path, train: Train, capsys: pytest.CaptureFixture[str]
) -> None:
    assert biasbridge(["init", "posts.csv", "own.vec", "mine.yaml", "--name", "first"]) == 0
    printed = capsys.readouterr().out
    assert "+experiment=first" in printed
    assert "classifier: linear_balanced, which trains in seconds" in printed
    assert re.search(
        r"doses: attract_repel moves the score of these vectors from -[12]\.\d\d to", printed
    )
    written = (own / "experiment" / "first.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(written)["source"]["path"] == "posts.csv"
    status, out, error = train("--config-dir", ".", "+experiment=first", "plan=true")
    assert status == 0, error
    assert "11 conditions of 1 parent: a verdict is possible, one on gaps takes 3 parents\n" in out
    assert "33 distinct points" in out
    with pytest.raises(InputError, match="is there already; give another name, or --force"):
        biasbridge(["init", "posts.csv", "--name", "first"])


def test_a_study_of_a_corpus_has_enough_conditions_and_parents(own: Path, train: Train) -> None:
    (own / "some.txt").write_text("\n".join([*ENGLISH, MINE] * 30), encoding="utf-8")
    assert biasbridge(["init", "posts.csv", "some.txt", "mine.yaml"]) == 0
    _, out, error = train("--config-dir", ".", "+experiment=mine", "plan=true")
    assert "11 conditions of 3 parents: a verdict is possible\n" in out, error


DOSES = [sign * dose / 20 for dose in range(1, 21) for sign in (-1, 1)] + [0]


def test_chosen_doses_spread_the_scores_evenly() -> None:
    """The effective number of 11 evenly spread values is 6.2."""
    saturating = {dose: tanh(3 * dose) for dose in DOSES}
    doses = choose_doses(saturating, 11)
    assert len({*doses}) == 11
    assert 0 in doses
    u = np.array([saturating[dose] for dose in doses])
    assert np.square(u).sum() ** 2 / np.power(u, 4).sum() == pytest.approx(6.2, abs=0.5)
    assert sum(abs(dose) < 0.3 for dose in doses) >= 7
    assert np.diff(choose_doses({dose: 3 - dose for dose in DOSES}, 11)) == pytest.approx(0.2)
    # A score of unmodified vectors off the middle, none at all, and a missing one
    assert 0 in choose_doses({dose: min(dose, 0.3) for dose in DOSES}, 10)
    for score in (0.4, nan):
        flat = choose_doses(dict.fromkeys(DOSES, score), 11)
        assert np.diff(flat) == pytest.approx(0.2)


def test_init_takes_one_file_of_vectors(own: Path) -> None:
    (own / "more.vec").write_bytes((own / "own.vec").read_bytes())
    several = "give one of them, and both in the run: embedding.path=own.vec,more.vec"
    with pytest.raises(InputError, match=several):
        biasbridge(["init", "posts.csv", "own.vec", "more.vec"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "source.label=acción",
            "source.label=acción cannot be read; put the value in double quotes inside:"
            " 'source.label=\"acción\"'",
        ),
        (
            "source.positive=[sí,no]",
            "source.positive=[sí,no] cannot be read; put the value in double quotes inside:"
            ' \'source.positive=["sí","no"]\'',
        ),
        ("source.path", "'source.path' is not an override; give KEY=VALUE"),
        ("source=csv --language es", "unknown option --language; give values as language=VALUE"),
        (
            "--experiment=own",  # of which Hydra would make its --experimental-rerun
            "unknown option --experiment; give values as +experiment=own",
        ),
        ("corpus=text source=none", "corpus.path is required; give corpus.path=FILE"),
        ("source=csv", "source.path is required; give source.path=FILE"),
        (
            "embedding=transformers source=none",
            "embedding.model is required; give embedding.model=FOLDER",
        ),
        (
            "--config-dir . +experiment=own",
            "source.positive=(True,): give a list, each item a text or a whole number; YAML reads"
            " yes and no as true and false: put the word in quotation marks",
        ),
        (
            "--config-dir . +experiment=own source.positive=[] corpus=generated",
            "no such file: beside.csv",
        ),
    ],
)
def test_what_is_wrong_with_a_command_is_told_with_what_to_give(
    arguments: str, message: str, own: Path, train: Train
) -> None:
    (own / "experiment").mkdir()
    (own / "posts.csv").rename(own / "experiment" / "beside.csv")
    (own / "experiment" / "own.yaml").write_text(
        "# @package _global_\ndefaults: [override /source: csv]\n"
        "source: {path: beside.csv, positive: [yes]}\n",
        encoding="utf-8",
    )
    assert train(*arguments.split()) == (2, "", f"error: {message}\n")


@pytest.mark.parametrize(
    "text", ["sí", 'a "b" \\', "null", "1", "2024.csv", "a,b [c]", "on", "a=b"]
)
def test_an_override_is_read_as_the_text_it_was_made_from(text: str) -> None:
    read = OverridesParser.create().parse_override
    assert read(format_override("key", text)).value() == text
    assert read(format_override("key", [text, "b"])).value() == [text, "b"]


def test_a_corpus_whose_first_line_ends_in_a_number_is_a_corpus(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("see you at 7\nnice day today\nbye\n", encoding="utf-8")
    assert kind_of(path) == "corpus"
    path.write_text("see .1 .2\nday .3 .4\n", encoding="utf-8")
    assert kind_of(path) == "vectors"


def test_the_command_that_check_prints_leaves_out_what_is_no_data(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = "label,prediction,group\n" + "0,1,men\n1,1,women\n" * 9
    Path("predictions.csv").write_text(table, encoding="utf-8")
    biasbridge(["check", "posts.csv", "own.vec", "predictions.csv"])
    printed = capsys.readouterr().out
    assert "\nto measure gaps: biasbridge gaps predictions.csv\n" in printed
    assert printed.splitlines()[-1].endswith("biasbridge init posts.csv own.vec")

"""Corpora from files and from what ``datasets`` reads."""

from __future__ import annotations

import csv
import gzip
import lzma
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from nltk.tokenize import NLTKWordTokenizer

from biasbridge.corpora.corpus import DatasetCorpus, TextCorpus, Tokeniser
from biasbridge.corpora.posts import DatasetSource
from biasbridge.files import InputError

CASES = Path(__file__).resolve().parents[1] / "cases" / "vectors"
TWEETS = ["RT @x: again", "the Cat #tag", "the dog", "the dog @b", "", "THE end"]


def write(path: Path, lines: list[str]) -> Path:
    text = "\n".join(lines) + "\n"
    content = text.encode()
    if path.suffix == ".gz":
        content = gzip.compress(content)
    if path.suffix == ".xz":
        content = lzma.compress(content)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["t.txt", "t.txt.gz", "t.txt.xz"])
def test_tweets_with_rare_words_replaced(name: str, tmp_path: Path) -> None:
    corpus = TextCorpus(str(write(tmp_path / name, TWEETS)), min_count=2)
    counts = corpus.write(tmp_path / "out.txt", seed=0)
    assert (
        tmp_path / "out.txt"
    ).read_text() == "the <UNK> <UNK>\nthe dog\nthe dog <UNK>\nthe <UNK>\n"
    assert counts == {"texts": 6, "lines": 4, "dropped": 2, "tokens": 10, "types": 3, "unknown": 4}
    assert corpus.name == "t"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "out.txt"])


def test_workers_change_nothing(tmp_path: Path) -> None:
    source = write(tmp_path / "t.txt", [f"word{i % 7} and #{i}" for i in range(5000)])
    for workers in (1, 2):
        TextCorpus(str(source), workers=workers).write(tmp_path / f"{workers}.out", seed=0)
    assert (tmp_path / "1.out").read_bytes() == (tmp_path / "2.out").read_bytes()


def test_types_beyond_those_that_memory_holds_are_counted_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"word{i % 9} word{i * i % 31} ñ{i % 4} once{i}" for i in range(300)]
    path = str(write(tmp_path / "t.txt", lines))
    source = TextCorpus(path, tokeniser="whitespace", min_count=20)
    whole = source.write(tmp_path / "whole", seed=0)
    monkeypatch.setattr("biasbridge.corpora.corpus._HELD", 25)
    assert source.write(tmp_path / "parts", seed=0) == whole
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    words = [word for line in lines for word in line.split()]
    rare = {word for word in words if words.count(word) < 20}
    assert whole["unknown"] == sum(word in rare for word in words)


def test_sentences_limit_and_several_files(tmp_path: Path) -> None:
    first = write(tmp_path / "a.txt", ["One two. Three four.", "Left out."])
    second = write(tmp_path / "b.txt", ["never read"])
    corpus = TextCorpus(
        (str(first), str(second)), tokeniser="sentences", min_count=1, lowercase=True, limit=1
    )
    assert corpus.write(tmp_path / "out", seed=0)["lines"] == 2
    assert (tmp_path / "out").read_text() == "one two .\nthree four .\n"
    assert corpus.name == "a+b"


def test_a_pattern_is_its_files_in_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write(tmp_path / f"{name}.tsv", [name])
    corpus = TextCorpus(str(tmp_path / "*.tsv"), tokeniser="whitespace", min_count=1)
    assert corpus.files() == [tmp_path / "a.tsv", tmp_path / "b.tsv"]
    corpus.write(tmp_path / "out", seed=0)
    assert (tmp_path / "out").read_text() == "a\nb\n"
    assert TextCorpus(str(tmp_path / "none*")).files() == [tmp_path / "none*"]  # no such file


def test_each_file_may_have_its_own_tokeniser(tmp_path: Path) -> None:
    tweets = write(tmp_path / "tweets.txt", ["Hola #uno. Y dos :D"])
    films = write(tmp_path / "films.txt", ["Hola . Adiós ."])
    corpus = TextCorpus(
        (str(tweets), str(films)), tokeniser=("tweets", "sentences"), min_count=1, lowercase=True
    )
    corpus.write(tmp_path / "out", seed=0)
    assert (tmp_path / "out").read_text() == "hola <HASH> . y dos :D\nhola .\nadiós .\n"
    with pytest.raises(InputError, match="2 for 1 files; give one, or one per file"):
        TextCorpus("a.txt", tokeniser=("tweets", "sentences"))


@pytest.mark.parametrize("tokeniser", ["sentences", "treebank"])
def test_a_word_may_begin_with_a_digit(tokeniser: Any, tmp_path: Path) -> None:
    words = "1990s 20th 4G 11-year-old 1,000.5 7"
    corpus = TextCorpus(str(write(tmp_path / "t", [words])), tokeniser=tokeniser, min_count=1)
    corpus.write(tmp_path / "out", seed=0)
    assert (tmp_path / "out").read_text().split() == words.split()


def test_treebank_parts_clitics_as_documents_with_coreference_do(tmp_path: Path) -> None:
    line = "The clerk's dog didn't bark. Why not?"
    corpus = TextCorpus(str(write(tmp_path / "t", [line])), tokeniser="treebank", min_count=1)
    corpus.write(tmp_path / "out", seed=0)
    assert (tmp_path / "out").read_text() == "The clerk 's dog did n't bark .\nWhy not ?\n"


def test_nltk_is_what_nltk_gives_for_each_sentence(tmp_path: Path) -> None:
    """As the authors' command did, whose ``word_tokenize`` splits a paragraph before."""
    sentences = ['He can\'t say "yes".', "The U.S. has $3.50 (1,000 in all)."]
    corpus = TextCorpus(
        str(write(tmp_path / "t", [" ".join(sentences)])), tokeniser="nltk", min_count=1
    )
    corpus.write(tmp_path / "out", seed=0)
    expected = [" ".join(NLTKWordTokenizer().tokenize(sentence)) for sentence in sentences]
    assert expected[0] == "He ca n't say `` yes '' ."
    assert (tmp_path / "out").read_text().splitlines() == expected


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "is empty"), (b"\n \n", "holds no token after tokenising")]
)
def test_unusable_files_leave_nothing(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(content)
    with pytest.raises(InputError, match=message):
        TextCorpus(str(tmp_path / "t.txt")).write(tmp_path / "out", seed=0)
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_bad_line_is_named_by_any_number_of_workers(workers: int, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(b"fine\n" * 300 + b"\xff\n")
    with pytest.raises(InputError, match="line 301 is not UTF-8"):
        TextCorpus(str(tmp_path / "t.txt"), tokeniser="whitespace", workers=workers).write(
            tmp_path / "out", seed=0
        )
    assert not (tmp_path / "out").exists()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A local data set of one CSV file; what ``datasets`` caches goes to the same place."""
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    (tmp_path / "data").mkdir()
    pd.DataFrame({"text": ["One two. Three.", "four", None], "n": [1, 2, 3]}).to_csv(
        tmp_path / "data" / "train.csv", index=False
    )
    return tmp_path / "data"


def test_dataset_folder(folder: Path, tmp_path: Path) -> None:
    corpus = DatasetCorpus(str(folder), min_count=1)
    assert corpus.files() == [folder / "train.csv"]
    counts = corpus.write(tmp_path / "out", seed=0)
    assert (counts["lines"], counts["dropped"]) == (3, 1)  # a null is no text
    assert (tmp_path / "out").read_text() == "One two .\nThree .\nfour\n"


KINDS_OF_TEXT = list(csv.DictReader((CASES / "texts.csv").open(encoding="utf-8", newline="")))
# Two further forms of each kind
FURTHER = """
tweets|und|Tod@s, l@s|tod@s , l@s
tweets|und|tod@s? a@b.com|tod@s ? a@b.com
tweets|und|rock&roll; R&B;|rock & roll ; r & b ;
tweets|und|a&copy b &amp;lt;3|a & copy b <3
tweets|und|http://t.co/a?x=1&lt=2“she|<URL> “ she
tweets|und|http://t.co/ab，她|<URL> ， 她
tweets|und|﹫ana ﹟tag|<MENTION> <HASH>
tweets|und|@ana@b.social hello|<MENTION> hello
tweets|und|she can‘t, п’ять|she can't , п'ять
tweets|und|the nur­ses​work|the nurses work
treebank|und|The nur­ses work.|The nurses work .
whitespace|und|as&not it­is .|as&not it­is .
tweets|und|می‌رود نर्स|می‌رود نर्स
treebank|und|می‌رود‌ .|می‌رود .
sentences|ru|А. Пушкин жил в г. Москва. Он поэт.|А . Пушкин жил в г . Москва . / Он поэт .
treebank|el|Είναι γιατρός. Αυτή ζει.|Είναι γιατρός . / Αυτή ζει .
sentences|und|她 是 护士！他 是 医生？“ 好 。”|她 是 护士 ！ / 他 是 医生 ？ / “ 好 。 ”
sentences|hi|वह नर्स है। वह|वह नर्स है । / वह
sentences|az|QADIN İŞİ.|qadın işi .
whitespace|tr|IŞIK İZMİR|ışık izmir
treebank|it|Dell’arte c'è un po' di.|dell' arte c' è un po ' di .
sentences|fr|L'infirmière d'aujourd'hui.|l' infirmière d' aujourd'hui .
tweets|it|l'uomo|l' uomo
tweets|tr|<MENTION> I <HASH>|<MENTION> ı <HASH>
"""


@pytest.mark.parametrize(
    ("tokeniser", "language", "lowercase", "text", "right"),
    [
        (r["tokeniser"], r["language"], r["lowercase"] == "yes", r["text"], r["right"])
        for r in KINDS_OF_TEXT
    ]
    + [
        (tokeniser, language, language in ("tr", "az", "it", "fr"), text, right.replace("/", "|"))
        for tokeniser, language, text, right in (
            line.split("|") for line in FURTHER.strip().split("\n")
        )
    ],
)
def test_texts_of_corpora(
    tokeniser: Tokeniser, language: str, lowercase: bool, text: str, right: str, tmp_path: Path
) -> None:
    path, out = write(tmp_path / "t.txt", [text]), tmp_path / "out"
    corpus = TextCorpus(
        str(path), tokeniser, 1, lowercase=lowercase, language=language, drop_retweets=False
    )
    corpus.write(out, seed=0)
    assert " | ".join(out.read_text(encoding="utf-8").splitlines()) == right


def test_a_language_with_rules_for_words_is_part_of_the_key() -> None:
    keys = [TextCorpus("t.txt", language=code).keyed() for code in ("und", "es", "tr", "it")]
    assert keys == [{}, {}, {"rules": "tr"}, {"rules": "it"}]


NAMES = ["NA", "null", "nan", "None", "n/a", "007", "1.50", "1e5", "2020", "#N/A", "-0"]


@pytest.mark.parametrize("form", ["builder", "folder", "archive", "card"])
def test_texts_that_pandas_takes_for_nothing_or_for_numbers(form: str, tmp_path: Path) -> None:
    table = write(tmp_path / "data.csv", ["text,label", *(f"{n},1" for n in NAMES), ",0"])
    options: dict[str, str] = {"path": "csv", "data_files": str(table)}
    if form == "archive":
        table.with_suffix(".csv.gz").write_bytes(gzip.compress(table.read_bytes()))
        options["data_files"] = f"{table}.gz"
    if form in ("folder", "card"):
        options = {"path": str(tmp_path)}
    if form == "card":
        types = "[{name: text, dtype: string}, {name: label, dtype: int64}]"
        write(tmp_path / "README.md", ["---", "dataset_info:", f"  features: {types}", "---"])
    out = tmp_path / "out"
    made = DatasetCorpus(**options, tokeniser="whitespace", min_count=1)  # type: ignore[arg-type]
    assert made.write(out, seed=0)["dropped"] == 1
    assert out.read_text().splitlines() == NAMES
    posts = DatasetSource(**options).load(seed=0)  # type: ignore[arg-type]
    assert sorted(posts["raw"]) == sorted(NAMES)
    assert posts["label"].sum() == len(NAMES)

"""Vectors and word files as people have them, after public bug reports on other tools."""

from __future__ import annotations

import json
import struct
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gensim.models import KeyedVectors

from biasbridge import audit, debias
from biasbridge.__main__ import main
from biasbridge.corpora.tokens import tokenise_sentence, tokenise_treebank, tokenise_tweet
from biasbridge.debias.attract_repel import read_pairs, usable_pairs
from biasbridge.files import InputError
from biasbridge.files.language import GRAMMAR, known_form, lower_forms
from biasbridge.files.vectors import (
    checked,
    keyed,
    open_mapped,
    read_vectors,
    reading_notes,
    save_mapped,
    save_vectors,
)
from biasbridge.intrinsic.audit import assume_language
from biasbridge.intrinsic.lookup import find, is_by_frequency, most_frequent
from biasbridge.intrinsic.metrics.utility import _read_similarities
from biasbridge.intrinsic.models.items import read_items
from biasbridge.intrinsic.models.likelihood import find_words
from biasbridge.intrinsic.registry import METRICS
from biasbridge.intrinsic.words import read_query, read_wordsets

CASES = Path(__file__).parent / "cases" / "vectors"
CLEAN, WORK = CASES / "clean.vec", CASES / "work.yaml"
ODD = {
    "y_empty.bin": "1 word blank",
    "y_gensim_text_of_empty.vec": "1 word blank",
    "b2_blank_token.vec": "1 word blank",
    "c_dup_unrelated.vec": "1 word repeated; the first row counts, later ones are left out ('the')",
    "d_numberbatch.txt": "words with the prefix /c/en/ are read without it",
    "a2_glove_space_number.txt": "1 word with a number after a space ('windows 10')",
}


def weat(vectors: object, words: object = WORK) -> float:
    return float(audit(vectors, words, metrics="weat")["value"].item())  # type: ignore[arg-type]


def sample(*words: str) -> KeyedVectors:
    rows = np.random.default_rng(len(words)).normal(size=(len(words), 3))
    return keyed(list(words), rows.astype(np.float32))


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


# The values are those of the table of cases, computed by other tools.
@pytest.mark.parametrize(
    ("vectors", "words", "expected"),
    [
        ("es_nfc.es.vec", "es.yaml", 1.934),
        ("es_nfd.es.vec", "es.yaml", 1.934),
        ("es_nfd.es.vec", "es_nfd.yaml", 1.934),
        ("odd_words.vec", "w_hash.yaml", 1.763),
        ("clean.vec", "w_spaces.json", 1.915),
        ("clean.vec", "w_spaces.csv", 1.915),
    ],
)
def test_words_are_found_in_their_normal_form(vectors: str, words: str, expected: float) -> None:
    table = audit(CASES / vectors, CASES / words, metrics="weat")
    assert (table["value"].item(), table["n_oov"].item()) == (pytest.approx(expected, abs=5e-4), 0)


def test_keys_of_vectors_made_in_memory_and_of_mapped_folders(tmp_path: Path) -> None:
    plain = read_vectors(CASES / "es_nfc.es.vec")
    nfd = [unicodedata.normalize("NFD", word) + "\u00a0" for word in plain.index_to_key]
    own = KeyedVectors(plain.vector_size)
    own.add_vectors(nfd, plain.vectors)
    save_mapped(keyed(nfd, plain.vectors), tmp_path / "v")
    rows: dict[str, np.ndarray] = dict(zip(nfd, plain.vectors, strict=True))
    for vectors in (own, rows, tmp_path / "v"):
        assert weat(vectors, CASES / "es.yaml") == pytest.approx(1.934, abs=5e-4)
    words = find(open_mapped(tmp_path / "v"), ["niño"]).words
    assert words == ("nin\u0303o\u00a0",), "the file's own spelling"
    for method, direction in (("attract_repel", "debias"), ("mean_difference", None)):
        moved = debias(own, CASES / "es.yaml", method=method, direction=direction)  # type: ignore[arg-type]
        assert moved.index_to_key == nfd
        assert weat(moved, CASES / "es.yaml") < 1.9


def test_lists_of_words(tmp_path: Path) -> None:
    listed = "; a comment\n;)\n#\n;;;;\n#metoo\u00a0\n## more\n ;-D \n"
    write(tmp_path / "list.txt", listed)
    write(tmp_path / "q.json", json.dumps({"q": {"X": {"file": "list.txt"}, "A": ["a\u00a0"]}}))
    query = read_query(tmp_path / "q.json")
    assert query["X"].words == (";)", "#metoo", ";-D")
    assert query["A"].words == ("a",)
    write(tmp_path / "long.tsv", "role \tword\nX\t he\nX\thim\u00a0\n")
    assert read_wordsets(tmp_path / "long.tsv").queries["long"]["X"].words == ("he", "him")
    write(tmp_path / "pairs.txt", "nin\u0303o ella\u200b\n")
    pairs = read_pairs(tmp_path / "pairs.txt")
    assert usable_pairs(pairs, [], {"niño", "ella"}).attract == [("niño", "ella")]


def test_vowel_signs_are_letters() -> None:
    vectors = read_vectors(CASES / "hindi.vec")
    metric = METRICS["male_neighbours"].configured(
        queries=("peshe",), words=str(CASES / "hindi.yaml"), neighbours=10
    )
    assert metric.score(vectors, seed=0)[0].value == pytest.approx(0.667, abs=5e-4)
    words = ["नर्स", "বাংলা", "தமிழ்", "مُدَرِّس", "été", "e\u0301te\u0301", "a1", "नर्स1"]
    assert most_frequent(sample(*words), 10) == words[:6]


def test_a_word_inside_another_is_not_found() -> None:
    text = "वह नर्स है और नर है"
    assert find_words(text, "नर") == [(text.index("नर है"), text.index("नर है") + 2)]
    assert find_words("তিনি ডাক্তার", "ডাক") == []
    assert find_words("e\u0301te\u0301 et", "et") == [(6, 8)]
    items = read_items(CASES / "slots_hi.csv", "hi").items
    assert [item.fills for item in items] == [True, False]
    for tokenise in (tokenise_sentence, lambda text: [t.text for t in tokenise_treebank(text)[0]]):
        assert tokenise("वह नर्स है।") == ["वह", "नर्स", "है", "।"]
        assert tokenise("தமிழ் மொழி") == ["தமிழ்", "மொழி"]


def test_turkish_capitals() -> None:
    assert lower_forms("İZMİR") == ("izmir", "i̇zmi̇r")
    assert known_form("İstanbul", {"istanbul"}) == "istanbul"
    assert tokenise_tweet("İstanbul") == ["istanbul"]
    assert known_form("IŞIK", {"ışık"}) == "ışık"
    assert find(sample("istanbul", "ışık"), ["İstanbul", "Işık"], case="lower").lost == ()


@pytest.mark.parametrize("name", ODD)
def test_an_odd_row_does_not_cost_the_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = audit(CASES / name, WORK, metrics="weat")
    assert table["value"].item() == pytest.approx(1.787, abs=5e-4)
    assert any(ODD[name] in note for note in table.attrs["notes"])
    out = tmp_path / f"out{Path(name).suffix}"
    words = ["--words", str(WORK), "--direction", "debias"]
    assert main(["debias", str(CASES / name), str(out), *words]) == 0
    assert ODD[name] in capsys.readouterr().out
    assert len(read_vectors(out)) == len(read_vectors(CASES / name))


FLOATS = struct.pack("<2f", 0.5, 1)
ROWS = "".join(f"w{n} 1 2\n" for n in range(40))


@pytest.mark.parametrize(
    ("name", "data", "n", "note"),
    [
        ("more.vec", f"39 2\n{ROWS}", 40, "the header says 39 rows, the file has 40"),
        ("fewer.vec", f"41 2\n{ROWS}", 40, "the header says 41 rows, the file has 40"),
        ("more.bin", b"1 2\na " + FLOATS + b"\nb " + FLOATS, 2, "the header says 1 rows"),
        ("fewer.bin", b"3 2\na " + FLOATS + b"\nb " + FLOATS + b"\n", 2, "the header says 3 rows"),
        ("twice.bin", b"3 2\na " + FLOATS + b"a " + FLOATS + b" " + FLOATS, 1, "1 word repeated"),
        ("blank first.glove", f" 3.5 4\n{ROWS}", 40, "1 word blank"),
        ("numbers.glove", f"{ROWS}room 7 3 4\nboeing 737 800 3 4\n", 42, "2 words with a number"),
    ],
)
def test_further_odd_rows_are_counted(
    name: str, data: str | bytes, n: int, note: str, tmp_path: Path
) -> None:
    vectors = read_vectors(write(tmp_path / name, data))
    assert len(vectors) == n
    assert note in reading_notes(vectors)[0]


def test_a_wrong_dimension_is_still_refused(tmp_path: Path) -> None:
    """2 of 40 words with a number are accepted, 3 of 41 are not."""
    rows = ROWS.splitlines(keepends=True)
    few, many = ([*rows[: 40 - n], *(f"room {k} 1 2\n" for k in range(n))] for n in (2, 3))
    assert len(read_vectors(write(tmp_path / "few.txt", "".join(few)))) == 40
    with pytest.raises(InputError, match="line 38 has 3 fields after its word"):
        read_vectors(write(tmp_path / "many.txt", "".join(many)))
    with pytest.raises(InputError, match="line 2 has 2 fields after its word"):
        read_vectors(write(tmp_path / "first.txt", f"40 1\n{ROWS}"))
    names = [f"w{n}" for n in range(40)]
    save_vectors(sample(*names[:-2], "room 7", "room 8"), tmp_path / "out.vec")
    assert read_vectors(tmp_path / "out.vec").index_to_key[-1] == "room 8"
    for words in (["room 7", *names], [*names, "room 7", "room 8", "room 9"]):
        with pytest.raises(InputError, match="would be read as numbers"):
            save_vectors(sample(*words), tmp_path / "no.vec")


def test_words_that_the_copy_cannot_hold_are_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample("he", "she", "new york").save(str(tmp_path / "v.kv"))
    monkeypatch.setattr("biasbridge.commands.debias.move", lambda *_, **__: pytest.fail("worked"))
    arguments = [str(tmp_path / "v.kv"), str(tmp_path / "v.bin"), "--trusted"]
    with pytest.raises(InputError, match="'new york' is empty or holds a space"):
        main(["debias", *arguments, "--direction", "debias"])


def test_a_table_with_a_repeated_word() -> None:
    table = pd.DataFrame(np.eye(5)[[0, 1, 2, 3, 4]], index=["he", "she", "job", "home", "he"])
    words = {"X": ["he"], "Y": ["she"], "A": ["job"], "B": ["home"]}
    notes = audit(table, words, metrics="mac").attrs["notes"]
    assert any("1 word repeated" in note for note in notes)


def test_a_zip_of_one_file(tmp_path: Path) -> None:
    for name, n_files in (("clean.vec.zip", 1), ("bin.zip", 1), ("two.zip", 2)):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for k in range(n_files):
                file = CASES / ("y_empty.bin" if name == "bin.zip" else "clean.vec")
                archive.write(file, f"folder/glove.{k}.txt")
                archive.writestr(f"__MACOSX/._glove.{k}.txt", b"x")
    assert weat(tmp_path / "clean.vec.zip") == pytest.approx(1.787, abs=5e-4)
    assert weat(tmp_path / "bin.zip") == pytest.approx(1.787, abs=5e-4)
    with pytest.raises(InputError, match=r"2 files \(folder/glove.0.txt, folder/glove.1.txt\)"):
        read_vectors(tmp_path / "two.zip")
    with pytest.raises(InputError, match="damaged archive"):
        read_vectors(write(tmp_path / "cut.zip", (tmp_path / "bin.zip").read_bytes()[:-30]))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("sim_raters.csv", 0.718), ("sim_comma_dec.csv", 0.365), ("sim_plain.txt", 0.365)],
)
def test_similarity_files(name: str, expected: float, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(CLEAN), "--metric", "sq", "--similarity", str(CASES / name), "--json"]
    assert main(["audit", *arguments]) == 0
    [row] = json.loads(capsys.readouterr().out)
    assert row["value"] == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ("new york;big apple;7.2\nhe;she;5\n", (7.2, 5)),  # sim_mwe.csv: the first line counts
        ("a\tb\t2\t1\t3\nc\td\t4.5\t4\t5\n", (2, 4.5)),  # WordSim-353: the mean, then raters
        ("w1\tw2\tmittel\na\tb\t7,5\nc\td\t0,25\n", (7.5, 0.25)),
        ("word 1,word 2,r1,r2,Human (mean)\na,b,1,3,9\nc,d,1,1,8\n", (9, 8)),
        ("# of words\n#bro #dude 3\na b 1\n", (3, 1)),
        ('"a","b","1.5"\n"c","d","2"\n', (1.5, 2)),
        ("take remove V 6.81 SYNONYMS\nget have V 3 NONE\n", (6.81, 3)),  # SimVerb-3500
    ],
)
def test_columns_of_similarity_files(lines: str, values: tuple[float, ...], tmp_path: Path) -> None:
    pairs = _read_similarities(write(tmp_path / "s.csv", lines))["partners"]
    assert pairs.values == pytest.approx(values)  # noqa: PD011
    assert len(_read_similarities(CASES / "sim_mwe.csv")["partners"].items) == 4


@pytest.mark.parametrize("lines", ["a b 1 2 4\nc d 2 2 5\n", "word1,word2,1,2\na,b,3,4\nc,d,1,5\n"])
def test_raters_without_a_mean_are_refused(lines: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="columns of numbers, none of them named mean or score"):
        _read_similarities(write(tmp_path / "s.csv", lines))


@pytest.mark.parametrize("order", ["alphabetical", "reverse", "counts", "frequency"])
def test_an_order_that_is_not_by_frequency_is_noted(order: str) -> None:
    vectors = read_vectors(CLEAN)
    words = vectors.index_to_key
    if order in ("alphabetical", "reverse"):
        words = sorted(words, reverse=order == "reverse")
    counts = np.arange(len(words)) if order == "counts" else None
    changed = keyed(list(words), np.array([vectors[word] for word in words]), counts)
    pairs = {"pairs": [["he", "she"], ["man", "woman"]]}
    table = audit(changed, pairs, metrics="analogies")
    assert any("not in order of frequency" in n for n in table.attrs["notes"]) == (
        order != "frequency"
    )
    notes = audit(changed, WORK, metrics="weat").attrs["notes"]
    assert not any("order of frequency" in note for note in notes), "WEAT needs no order"


def test_thresholds_of_the_order() -> None:
    words = [f"{chr(97 + n)}x" for n in range(20)]
    assert not is_by_frequency(sample(*words))
    assert is_by_frequency(sample(*words[:19]))
    assert not is_by_frequency(sample("zz", *words))  # 19 of 20 neighbours in order
    assert is_by_frequency(sample("zz", "yy", *words))


@pytest.mark.parametrize("form", ["/c/de/{}", "ENTITY/{}", "{}_PRON"])
def test_a_prefix_is_named_and_no_score_is_a_failure(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = read_vectors(CLEAN)
    words = [form.format(word) for word in vectors.index_to_key]
    path = tmp_path / "v.txt"
    save_vectors(keyed(words, vectors.vectors), path)
    assert main(["audit", str(path), "--words", str(WORK)]) == 1
    assert repr(form.replace("{}", "")) in " ".join(capsys.readouterr().out.split())


def test_the_words_tell_the_language_before_the_file_name(tmp_path: Path) -> None:
    assert weat(CASES / "clean_it_10.vec") == pytest.approx(1.787, abs=5e-4)
    spanish = GRAMMAR["es"].split()
    assert assume_language("vectors.de.txt", spanish)[0] == "es"
    assert assume_language("cc.de.300.vec", ["x"])[0] == "de", "words of no known language"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_row_that_is_not_finite_is_refused_by_name(value: float) -> None:
    vectors = read_vectors(CLEAN)
    vectors.vectors[7, 3] = value
    message = f"the vector of {vectors.index_to_key[7]!r} holds a NaN or infinite value"
    words = {**{role: ["he", "man"] for role in "X"}, "Y": ["she"], "A": ["job"], "B": ["home"]}
    words["pairs"] = [["he", "she"], ["man", "woman"]]  # type: ignore[list-item]
    for method in ("double_hard", "hard", "inlp", "leace", "attract_repel", "mean_difference"):
        with pytest.raises(InputError, match=message):
            debias(
                vectors,
                words,
                method=method,
                direction="debias" if method == "attract_repel" else None,
            )
    for metric in METRICS:
        with pytest.raises(InputError, match=message):
            audit(vectors, metrics=metric)


def test_tsne_draws_the_words_of_a_file(tmp_path: Path) -> None:
    mine = {"q": {"X": ["he", "man"], "Y": ["she", "her"], "A": ["job"], "B": ["home"]}}
    write(tmp_path / "q.json", json.dumps(mine))
    for file, word in ((WORK, "uncle"), (tmp_path / "q.json", "job")):
        out = tmp_path / "plot.svg"
        arguments = ["--words", str(file), "--iterations", "250"]
        assert main(["tsne", str(CLEAN), "--out", str(out), *arguments]) == 0
        assert f">{word}<" in out.read_text()
    two = {name: {r: ["he", "job"] for r in "XYAB"} for name in ("one", "two")}
    write(tmp_path / "two.json", json.dumps(two))
    with pytest.raises(InputError, match="has the queries one, two; name one"):
        main(["tsne", str(CLEAN), "--out", str(out), "--words", str(tmp_path / "two.json")])


@pytest.mark.parametrize("case", [None, "lower"])
def test_audit_and_debias_look_words_up_alike(
    case: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``Office`` is there in lower case only."""
    content = {"w": {"X": ["he", "him"], "Y": ["she", "her"], "A": ["Office", "job"]}}
    content["w"]["B"] = ["home", "family"]
    given = {} if case is None else {"case": case}
    expected = audit(CLEAN, content["w"], metrics="weat", **given)  # type: ignore[arg-type]
    moved = debias(CLEAN, content["w"], direction="debias", **given)  # type: ignore[arg-type]
    before = moved.attrs["scores"].query("query == 'mine'")["before"].item()
    assert before == pytest.approx(expected["value"].item())
    write(tmp_path / "w.json", json.dumps(content))
    option = [] if case is None else ["--case", case]
    words = ["--words", str(tmp_path / "w.json"), "--direction", "debias", *option]
    assert main(["debias", str(CLEAN), str(tmp_path / "out.vec"), *words]) == 0
    assert f"{before:.4f}" in capsys.readouterr().out


def in_sub_words(mark: str, others: str = "a b e he him she work home in er") -> KeyedVectors:
    """The words of the clean vectors with a mark, and pieces inside words of other vectors."""
    clean = read_vectors(CLEAN)
    words = [mark.format(word) for word in clean.index_to_key] + others.split()
    rows = np.random.default_rng(0).normal(size=(len(words), clean.vector_size)).astype("f4")
    rows[: len(clean)] = clean.vectors
    return keyed(words, rows)


@pytest.mark.parametrize("mark", ["▁{}", "Ġ{}", "{}</w>"])
def test_words_of_a_sub_word_vocabulary(mark: str, tmp_path: Path) -> None:
    save_vectors(in_sub_words(mark), path := tmp_path / "v.vec")
    for vectors in (path, in_sub_words(mark)):
        table = audit(vectors, WORK, metrics="weat")
        assert table["value"].item() == pytest.approx(weat(CLEAN), abs=1e-6)
    assert any("pieces are left out" in note for note in table.attrs["notes"])


@pytest.mark.parametrize(("n_marked", "is_kept"), [(9, True), (10, False)])
def test_a_tenth_of_marked_words_makes_the_others_pieces(n_marked: int, is_kept: bool) -> None:
    words = [f"▁{n}" for n in range(n_marked)] + [f"w{n}" for n in range(100 - n_marked)]
    vectors = checked(sample(*words), "v")
    assert len(vectors) == (100 if is_kept else 10)


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ('"{}"', "begin with '\"' and end with '\"'"),
        ("«{}»", "begin with '«' and end with '»'"),
        ("{}@en", "end with '@en'"),
        ("{}.n", "end with '.n'"),
        ("en:{}", "begin with 'en:'"),
    ],
)
def test_what_stands_around_all_words_is_named(form: str, shown: str) -> None:
    notes = audit(in_sub_words(form, ""), WORK, metrics="weat").attrs["notes"]
    assert any(f"no query word is found: words {shown}" in note for note in notes)


def test_keys_that_are_not_text() -> None:
    clean = read_vectors(CLEAN)
    words, rows, size = clean.index_to_key, clean.vectors, clean.vector_size
    numbered: Any = KeyedVectors(size)
    free: Any = KeyedVectors(size, count=999)
    coded: Any = KeyedVectors(size)
    numbered.add_vectors([*words, 1, 2], np.concatenate([rows, rows[:2]]))
    free.add_vectors(words, rows)
    coded.add_vectors([word.encode() for word in words], rows)
    table = pd.DataFrame(rows, index=[word.encode() for word in words])
    by_word = dict(zip([*words, None], [*rows, rows[0]], strict=True))
    for vectors in (numbered, free, coded, table, by_word):
        assert weat(vectors) == pytest.approx(weat(CLEAN), abs=1e-6)


@pytest.mark.parametrize("number", ["9e1", '"90"', "9.0E+1", "90"])
def test_numbers_as_yaml_writes_them(number: str, tmp_path: Path) -> None:
    lines = f"q:\n  words: {{values: {{he: {number}, she: 1e-1}}}}\n  A: [a, b]\n  B: [c, d]\n"
    query = read_query(write(tmp_path / "q.yaml", lines))
    assert query["words"].values == (90.0, 0.1)  # noqa: PD011
    with pytest.raises(InputError, match="value of 'he' is '0,5'"):
        read_query(write(tmp_path / "r.yaml", lines.replace(number, "'0,5'")))


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"20 12 2 3 1 2166136261 < >\n0 0.1 0.2\n", "floret's table"),
        (b"9 12 0 0 2 2166136261 < >\r\n0 0.1 0.2\n", "floret's table"),
        (np.random.default_rng(0).normal(size=600).tobytes(), "as GloVe's raw .bin"),
        (np.random.default_rng(0).normal(size=600).astype("f4").tobytes(), "as GloVe's raw .bin"),
        (struct.pack("<Q", 70) + b'{"a":{"dtype":"F32"}}' + bytes(80), "(safetensors)"),
    ],
)
def test_formats_without_words_are_named(data: bytes, shown: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_vectors(write(tmp_path / "v.bin", data))
    assert shown in str(error.value)
    assert "a word and its numbers a line" in str(error.value)


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("defaults:\n  - override /embedding: pretrained\n", "begin it with '# @package _global_'"),
        ("defaults:\n  - override /corpus: text\n", "begin it with '# @package _global_'"),
        (
            "# @package _global_\ndefaults:\n  - /embedding: pretrained\n",
            "'- override /embedding: NAME'",
        ),
        ("# @package _global_\ndefaults:\n  - /corpus: text\n", "'- override /corpus: NAME'"),
    ],
)
def test_an_experiment_that_lacks_a_line(
    lines: str, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "experiment").mkdir()
    write(tmp_path / "experiment" / "own.yaml", lines)
    with pytest.raises(SystemExit, match="2"):
        main(["train", "--config-dir", str(tmp_path), "+experiment=own"])
    assert shown in capsys.readouterr().err

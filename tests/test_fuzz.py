"""Whatever a stranger's file holds, every reader reads it or refuses it with ``InputError``, in
500 MB at most; it neither hangs nor dies.
"""

from __future__ import annotations

import io
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from tests.fuzz import LONGEST, PACKED, Files, Pool, Task, mutations

MANY = 20_000
DEEP = 20_000  # levels of YAML; many more end the process
FEW = 20
ROWS = "text,label,group,split\n" + "".join(
    f"she said {word} number {i},{i % 2},{'women' if i % 3 else 'men'},{split}\n"
    for i, (word, split) in enumerate(zip("abcdefgh", ["train", "test"] * 4, strict=True))
)
QUERY = {
    "language": "en",
    "sets": {
        "good": ["fine", "fair"],
        "bad": {"words": ["foul", "ill"], "source": "me", "deleted": ["off"]},
        "both": {"union": ["good", "bad"]},
        "rated": {"values": {"fine": 1.5, "ill": -2}},
        "listed": {"file": "list.txt"},
    },
    "queries": {
        "mine": {"title": "T", "X": ["he"], "Y": ["she"], "A": "good", "B": "bad"},
        "pairs": {"pairs": [["she", "he"], ["her", "him"]], "words": "both"},
    },
}


def vectors(path: Path) -> None:
    from biasbridge.files.vectors import read_vectors

    read = read_vectors(path)
    assert read.vectors.shape == (len(read.index_to_key), read.vector_size)
    assert len(set(read.index_to_key)) == len(read) > 0
    assert read.vectors.dtype == np.float32
    assert np.isfinite(read.vectors).all()
    assert all(read.key_to_index[word] == i for i, word in enumerate(read.index_to_key))


def folder(path: Path) -> None:
    vectors(path.parent)


def words(path: Path) -> None:
    from biasbridge.intrinsic.words import read_wordsets

    read_wordsets(path)


def similarities(path: Path) -> None:
    from biasbridge.intrinsic.metrics.utility import _read_similarities

    _read_similarities(path)


def pairs(path: Path) -> None:
    from biasbridge.debias.attract_repel import read_pairs

    read_pairs(path)


def table(path: Path) -> None:
    from biasbridge.files.tables import read_table

    read_table(path)


def posts(path: Path) -> None:
    from biasbridge.corpora.posts import TableSource

    TableSource(str(path), group="group", split="split").load(seed=0)


def hateval(path: Path) -> None:
    from biasbridge.corpora.posts import HatEval

    HatEval(str(path.parent), language="es").load(seed=0)


def corpus(path: Path) -> None:
    from biasbridge.corpora.corpus import TextCorpus, Tokeniser

    # Hundreds of thousands of texts show no more than hundreds
    limits: dict[Tokeniser, int | None] = {"tweets": 500, "sentences": 500, "whitespace": 50_000}
    for tokeniser, limit in limits.items():
        made = TextCorpus(str(path), tokeniser=tokeniser, min_count=1, limit=limit)
        made.write(path.with_name("out.txt"), seed=0)


def results(path: Path) -> None:
    from biasbridge.analysis.tables import read_tables

    read_tables(path.parent)


def correlations(path: Path) -> None:
    from biasbridge.files.columns import as_float
    from biasbridge.input_tables import as_dataframe

    as_float(as_dataframe(path), "pearson")


def packed(name: str, content: bytes) -> list[Files]:
    """A file as it is, and as each kind of archive."""
    return [{name: content}] + [{name + suffix: PACKED[suffix][0](content)} for suffix in PACKED]


def archives(name: str, unit: bytes, head: bytes = b"") -> list[Files]:
    """Bombs: archives of up to 5 kB, each of a head and five megabytes."""
    large = unit * (1_000_000 // len(unit))
    return [{name + kind: pack(head) + pack(large) * 5} for kind, (pack, _) in PACKED.items()]


def sound_vectors(work: Path) -> list[Files]:
    from gensim.models import FastText
    from gensim.models.fasttext import save_facebook_model

    from biasbridge.files.vectors import keyed, save_vectors

    matrix = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)
    rows = keyed(["the", "man", "ñandú", "two words", "1"], matrix)
    for name in ("v.txt", "v.bin"):
        save_vectors(keyed(rows.index_to_key[:3], matrix[:3]), work / name)
    save_vectors(rows, work / "v.glove", format="word2vec_text")
    lines = [["the", "man", "there"]] * 2
    model = FastText(lines, vector_size=4, min_count=1, bucket=9, seed=1, workers=1)
    save_facebook_model(model, str(work / "ft.bin"))
    return [
        files
        for name in ("v.txt", "v.glove", "v.bin", "ft.bin")
        for files in packed(name, (work / name).read_bytes())
    ]


def vector_bombs() -> list[Files]:
    ones = b"1" * LONGEST
    return [
        {"v.txt": b"1 1\n" + ones},
        {"v.txt": b"the " + ones + b"x"},
        {"v.txt": b"the " + b"1 " * (LONGEST // 2)},
        {"v.txt": b"the 1\n" + b"a " * (LONGEST // 2)},
        {"v.txt": b"9 50000\n" + b"a " * (LONGEST // 2)},
        {"v.txt": b"the 1\n" + b"a b 1\n" * (LONGEST // 6)},
        {"ft.bin": fasttext_model(b"a" * 9_000, max_n=50)},
        {"ft.bin": fasttext_model(b"a" * 90_000, max_n=50)},
        *archives("v.txt", b"0", b"the "),
        *archives("v.txt", b"the 1\n"),
        *archives("v.txt", b"the b 1\n", b"the 1\n"),
        *archives("v.bin", b"\0", b"9000000 100\n"),
        *archives("ft.bin", b"\0", b"\xba\x16\x4f\x2f"),
        *archives("ft.bin", b"\0", fasttext_model(b"the", bucket=10_000_000)),
    ]


def fasttext_model(word: bytes, *, max_n: int = 6, bucket: int = 9) -> bytes:
    """A model of one word, its dimension 1, its values 0."""
    head = struct.pack(
        "<14id3i2q", 793712314, 12, 1, *[5] * 7, bucket, 3, max_n, 100, 0, 1, 1, 0, 1, -1
    )
    rows = struct.pack("<?2q", False, 1 + bucket, 1) + bytes(4 * min(1 + bucket, 100))
    return head + word + b"\0" + struct.pack("<qb", 1, 0) + rows


def sound_folder(work: Path) -> list[Files]:
    from biasbridge.files.vectors import keyed, save_mapped

    matrix = np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32)
    counts = np.array([3, 2, 1])
    save_mapped(keyed(["the", "man", "ñandú"], matrix, counts), work / "v")
    names = ("words.txt", "vectors.npy", "counts.npy")
    return [{name: (work / "v" / name).read_bytes() for name in names}]


def header_bombs() -> list[Files]:
    matrix, words = bytes(48), b"the\nman\nboy\n"
    shapes = [b"(" * 4000, b"(3,(4", b"(-1,4)", b"(10**99,)", b"(2**62,4)", b"-" * 9000 + b"1"]
    heads = [b"{'descr': '<f4', 'fortran_order': False, 'shape': %s}\n" % each for each in shapes]
    return [
        {
            "words.txt": words,
            "vectors.npy": b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + matrix,
        }
        for head in heads
    ]


def sound_words(work: Path) -> list[Files]:
    plain = {"list.txt": b"; a list\ngood\nfine\n"}
    yamls = packed("mine.yaml", yaml.safe_dump(QUERY, sort_keys=False).encode())
    short = {"short.yaml": b"mine: {X: [he, him], Y: [she], A: [him], B: [no one]}\n"}
    jsons = [{"mine.json": json.dumps(QUERY).encode()}]
    return [files | plain for files in (*yamls, *jsons, short)]


def word_bombs() -> list[Files]:
    unions = "sets:\n  s0: [" + ", ".join(f"w{i}" for i in range(9000)) + "]\n"
    unions += "".join(f"  s{i}: {{union: [s{i - 1}]}}\n" for i in range(1, 1500))
    many = "sets:\n" + "".join(f"  s{i}: [a]\n" for i in range(6_000))
    texts = [
        *("[" * DEEP, "{a: " * DEEP, "- " * DEEP, "? " * DEEP, "&a [*a]"),
        *("\n".join(" " * i + "a:" for i in range(400)), unions, many),
        *("mine: " + "1" * 5000, "mine: 0x" + "f" * 5000, "mine: " + "1:" * 50_000 + "1"),
        *("2001-13-45", "{X: 2001-01-01}", "!!int ''", "!!timestamp x", "!!float x", "'" * LONGEST),
        *('"' + "\\" * LONGEST, "a\n" * LONGEST, "!" * LONGEST, "a: " * LONGEST, "*" * LONGEST),
    ]
    json_texts = ["[" * 2 * LONGEST, "[" * 900 + "]" * 900, "1" * 5000, '{"a":' * LONGEST]
    json_texts += ['{"m":{"words":{"values":{"a":1%s}}}}' % ("0" * 4000), '{"m":{"X":["\\ud800"]}}']
    return [
        *({"mine.yaml": text.encode()} for text in texts),
        *({"mine.json": text.encode()} for text in json_texts),
        *archives("mine.yaml", b"- a\n"),
        *archives("mine.yaml", b"a"),
        *(
            {"mine.yaml": f"sets: {{a: {{file: {name}}}}}".encode()}
            for name in ("/dev/zero", "/etc/hosts", "../x", '"a\\0b"', "a" * 9000, ".", "''")
        ),
    ]


def text_bombs() -> list[Files]:
    head = b"text,label\n"
    units = [b"a", b"\n", b"a\n", b",", b'"', b" ", b"a b\n"]
    more = [
        *(b". ", b"A. ", b"Prof. ", b"a. A ", b"@a", b"&", b"<", b"a.", b"(", b"-", b"a,1\n"),
        *(b"a://", b"\xcc\x81"),
    ]
    plain = [{"t.csv": head + unit * (LONGEST // len(unit))} for unit in units + more]
    return plain + [bomb for unit in units for bomb in archives("t.csv", unit, head)]


def sound_tables(work: Path) -> list[Files]:
    frame = pd.read_csv(io.StringIO(ROWS))
    whole = io.BytesIO()
    frame.assign(score=pd.Series([[1.0, i] for i in range(8)])).to_parquet(whole)
    tabs = ROWS.replace(",", "\t").encode()
    return [*packed("t.csv", ROWS.encode()), {"t.tsv": tabs}, {"t.parquet": whole.getvalue()}]


def sound_hateval(work: Path) -> list[Files]:
    rows = "id\ttext\tHS\n" + "".join(f'{i}\tella "es {i}\t{i % 2}\n' for i in range(20))
    keywords = "## Spanish language against women\n- ella\n"
    keywords += "## Spanish language against immigrants\n- moro\n"
    return [
        {
            "train_es.tsv": rows.encode(),
            "dev_es.tsv": rows.encode(),
            "keyword_set.md": keywords.encode(),
        }
    ]


def sound_corpus(work: Path) -> list[Files]:
    text = "RT @a: no\nShe said: “No.” It's 3.5 &amp; http://a.b/c #tag\n\nEl ñandú — corre.\n" * 3
    return packed("t.csv", text.encode())


def sound_results(work: Path) -> list[Files]:
    frame = pd.DataFrame({"point": ["a", "b"], "status": ["done", "failed"], "value": [0.5, None]})
    content = io.BytesIO()
    frame.to_parquet(content)
    names = ("points.parquet", "intrinsic.parquet", "extrinsic.parquet")
    return [dict.fromkeys(names, content.getvalue())]


def sound_correlations(work: Path) -> list[Files]:
    text = "embedding,query,n,pearson\nword2vec,weat7,3,.5\nfasttext,weat7,3,\n"
    return packed("t.csv", text.encode())


def lines(name: str, text: bytes) -> Callable[[Path], list[Files]]:
    return lambda work: packed(name, text)


Make = Callable[[Path], list[Files]]
CASES: dict[str, tuple[Make, Callable[[], list[Files]]]] = {
    "vectors": (sound_vectors, vector_bombs),
    "folder": (sound_folder, header_bombs),
    "words": (sound_words, word_bombs),
    "similarities": (lines("t.csv", b"a\tb\tscore\n# x\nold\tnew\t1.5\nhot,cold,2\n"), text_bombs),
    "pairs": (lines("t.csv", b"she he\nher him\n\n"), text_bombs),
    "table": (sound_tables, text_bombs),
    "posts": (lines("t.csv", ROWS.encode()), text_bombs),
    "hateval": (sound_hateval, lambda: [{"keyword_set.md": b"## " + b"a" * LONGEST}]),
    "corpus": (sound_corpus, text_bombs),
    "results": (sound_results, list),
    "correlations": (sound_correlations, text_bombs),
}


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    process = Pool()
    yield process
    process.close()


@pytest.mark.parametrize("reader", CASES)
@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.stress)])
def test_any_file_is_read_or_refused(reader: str, count: int, pool: Pool, tmp_path: Path) -> None:
    make, bombs = CASES[reader]
    (tmp_path / "sound").mkdir()
    (tmp_path / "given").mkdir()
    sound = make(tmp_path / "sound")
    pool.begin(Task(tmp_path / "given", f"tests.test_fuzz:{reader}", sound))
    wrong: dict[str, Files] = {}
    for files in (*bombs(), *mutations(sound, count, seed=len(reader))):
        if (verdict := pool(files)) not in ("read", "refused"):
            wrong.setdefault(verdict, files)
    inputs = [f"{ {name: data[:200] for name, data in files.items()} }" for files in wrong.values()]
    assert not wrong, "\n".join(map("{}: {}".format, inputs, wrong))

"""A document refuses clusters that cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from biasbridge.files import InputError
from biasbridge.files.documents import (
    Cluster,
    Document,
    cut_sentences,
    read_conll,
    read_documents,
    write_documents,
)
from tests.write_conll import write_conll

SENTENCES = (("The", "nurse", "said"), ("she", "left"))


def test_tokens_run_through_the_sentences() -> None:
    document = Document("a", SENTENCES, (((0, 2), (3, 4)),))
    assert document.tokens == ["The", "nurse", "said", "she", "left"]
    assert document.mentions == [(0, 2), (3, 4)]


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        (((),), "no mention"),
        ((((0, 0),),), "tokens 0 to 0"),
        ((((3, 6),),), "there are 5"),
        ((((0, 2),), ((0, 2), (3, 4))), "twice"),
    ],
)
def test_impossible_clusters_are_refused(
    clusters: tuple[tuple[tuple[int, int], ...], ...], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Document("a", SENTENCES, clusters)


def test_one_speaker_a_token() -> None:
    with pytest.raises(InputError, match="4 speakers of 5 tokens"):
        Document("a", SENTENCES, (), speakers=("x",) * 4)


# CoNLL files as collections write them, and every way in which they can be broken.

BEGIN, END = "#begin document (nw/a); part 003", "#end document"


def written(path: Path, rows: Sequence[str], begin: str = BEGIN, end: str = END) -> Path:
    path.write_text("\n".join([begin, *rows, end, ""]), encoding="utf-8")
    return path


def ontonotes(*tokens: str) -> list[str]:
    """Rows of OntoNotes: blanks between, two more columns in the second sentence (it has verbs)."""
    rows, verbs = [], ""
    for token in tokens:
        word, _, cell = token.partition(" ")
        rows.append(f"nw/a   3   0   {word}  NN  (NP*  -  -  -  Ann  * {verbs} {cell or '-'}")
        if word == ".":
            rows.append("")
            verbs = "(V*) *"
    return rows


def three_columns(*cells: str) -> list[str]:
    return [f"{number}\tw{number}\t{cell}" for number, cell in enumerate(cells)]


def read_one(path: Path) -> Document:
    (document,) = read_conll(path)
    return document


def test_ontonotes(tmp_path: Path) -> None:
    rows = ontonotes("The (0", "nurse 0)", "left", ".", "She (0)", "met", "him (1)", ".")
    assert read_one(written(tmp_path / "a.v4_gold_conll", rows)) == Document(
        "nw/a",
        (("The", "nurse", "left", "."), ("She", "met", "him", ".")),
        (((0, 2), (4, 5)), ((6, 7),)),
        part=3,
        speakers=("Ann",) * 8,
        genre="nw",
    )


def test_litbank_leaves_the_last_column_empty(tmp_path: Path) -> None:
    filler = "\t".join("_" * 8)
    rows = [
        f"x\t0\t{number}\t{word}\t{filler}\t{cell}"
        for number, (word, cell) in enumerate([("I", "(0)"), ("saw", ""), ("her", "(1)|(2")])
    ]
    rows.append(f"x\t0\t3\thand\t{filler}\t2)")
    document = read_one(written(tmp_path / "a.conll", rows, "#begin document (x); part 0"))
    assert document.sentences == (("I", "saw", "her", "hand"),)
    assert document.clusters == (((0, 1),), ((2, 3),), ((2, 4),))
    assert document.speakers == ()
    assert document.genre == ""


def test_ontogum_has_three_columns_and_no_name(tmp_path: Path) -> None:
    rows = three_columns("(1", "_", "1)(2)", "(3(2)", "3)")
    path = written(tmp_path / "GUM_news_x.conll", rows, "# begin document ", "# end document")
    document = read_one(path)
    assert (document.name, document.part, document.genre) == ("GUM_news_x", 0, "news")
    assert document.sentences == (("w0", "w1", "w2", "w3", "w4"),)
    assert document.clusters == (((0, 3),), ((2, 3), (3, 4)), ((3, 5),))


@pytest.mark.parametrize(
    ("begin", "title"),
    [
        ("#begin document (bc/cctv/00/x_(1)); part 012", "document bc/cctv/00/x_(1) part 12"),
        ("#begin document (x); ", "document x part 0"),
        ("# begin document my text ", "document my text part 0"),
        ("#begin document", "document file part 0"),
    ],
)
def test_names(tmp_path: Path, begin: str, title: str) -> None:
    document = read_one(written(tmp_path / "file.conll", three_columns("(1)"), begin))
    assert document.title == title


def test_of_two_mentions_of_an_entity_the_inner_closes_first(tmp_path: Path) -> None:
    document = read_one(written(tmp_path / "a.conll", three_columns("(1", "(1", "1)", "1)|(1)")))
    assert document.clusters == (((0, 4), (1, 3), (3, 4)),)


@pytest.mark.parametrize(
    ("cells", "message", "clusters"),
    [
        (["_", "5)"], "line 3: 5) closes a mention that was not opened", ()),
        (["(5", "_"], "line 2: (5 opens a mention that is not closed", ()),
        (["(5|(6", "5)|6)"], "line 3: 6) closes a mention of 5 and of 6 with", (((0, 2),),)),
        (["(5|(5", "5)|5)"], "line 3: 5) closes a mention of 5 and of 5 with", (((0, 2),),)),
    ],
)
def test_faults_are_refused_or_mended(
    tmp_path: Path, cells: list[str], message: str, clusters: tuple[Cluster, ...]
) -> None:
    path = written(tmp_path / "a.conll", three_columns(*cells))
    with pytest.raises(InputError) as caught:
        list(read_conll(path))
    assert f"{path}: {message}" in str(caught.value)
    mended: list[str] = []
    (document,) = read_conll(path, mend=mended.append)
    assert document.clusters == clusters
    assert [message_of_fault.startswith(f"{path}: {message}") for message_of_fault in mended] == [
        True
    ]


def test_a_repeated_mention_belongs_where_it_was_opened_first(tmp_path: Path) -> None:
    """As the reference scorer has it; which bracket closes first is nothing."""
    for closing in ("5)|6)", "6)|5)"):
        path = written(tmp_path / "a.conll", three_columns("(5)", "(6)", "(5|(6", closing))
        (document,) = read_conll(path, mend=lambda _: None)
        assert document.clusters == (((0, 1), (2, 4)), ((1, 2),))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{BEGIN}\n0\tw\n{END}\n", "line 2 has 2 columns, not 3"),
        (f"{BEGIN}\nx\t0\t0\tw\t(1)\nx\t0\t1\tw\n{END}\n", "line 3 has 4 columns, not 5"),
        (f"{BEGIN}\n0\tw\t12\n{END}\n", "line 2: the last column is '12', not mentions such as"),
        (f"{BEGIN}\n0\tw\t(5)|\n{END}\n", "line 2: the last column is"),
        (f"{BEGIN}\n0\tw\t(5 6)\n{END}\n", "line 2: the last column is"),
        (f"{BEGIN}\n0\tw\t()\n{END}\n", "line 2: the last column is"),
        (f"0\tw\t_\n{BEGIN}\n{END}\n", "line 1 is outside a document"),
        (f"{END}\n", "line 1 ends a document, but none began"),
        (f"{BEGIN}\n0\tw\t_\n", r"line 1 begins a document that does not end"),
        (f"{BEGIN}\n0\tw\t_\n{BEGIN}\n{END}\n", r"line 1 begins a document that does not end"),
        (f"{BEGIN}\n\n{END}\n", "line 1 begins a document without tokens"),
        (f"{BEGIN}\n0\t___\t(1)\n1\t__\t_\n2\tw\t_\n{END}\n", r"words are withheld \(_\)"),
        ("\n\n", "has no document"),
        ("", "is empty"),
    ],
)
def test_what_is_no_document(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.conll"
    path.write_text(text, encoding="utf-8")
    for mend in (None, lambda _: None):
        with pytest.raises(InputError, match=message) as caught:
            list(read_conll(path, mend=mend))
        assert str(path) in str(caught.value)


SPANS = st.tuples(st.integers(0, 7), st.integers(1, 4)).map(
    lambda drawn: (drawn[0], min(drawn[0] + drawn[1], 8))
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Eight tokens in sentences, up to six mentions in up to three clusters."""
    spans = sorted(draw(st.sets(SPANS, max_size=6)))
    owners = draw(st.lists(st.integers(0, 2), min_size=len(spans), max_size=len(spans)))
    by_owner: dict[int, list[tuple[int, int]]] = {}
    for span, owner in zip(spans, owners, strict=True):
        by_owner.setdefault(owner, []).append(span)
    words = [draw(st.text("aé#_'-.", min_size=1, max_size=3)) + "x" for _ in range(8)]
    cut = draw(st.integers(1, 8))
    sentences = tuple(tuple(each) for each in (words[:cut], words[cut:]) if each)
    speakers = draw(st.sampled_from([(), ("Ann Lee",) * 8]))
    return Document("nw/x", sentences, tuple(map(tuple, by_owner.values())), 2, speakers, "nw")


@settings(max_examples=100, deadline=None)
@given(documents())
def test_written_and_read_again(tmp_path_factory: pytest.TempPathFactory, one: Document) -> None:
    path = tmp_path_factory.mktemp("conll") / "a.conll"
    assume(not crosses_itself(one))
    write_conll([one, one], path)
    assert list(read_conll(path)) == [one, one]


def crosses_itself(document: Document) -> bool:
    """Whether two mentions of a cluster cross in more than the token where one closes and the other
    opens.
    """
    return any(
        a < b < c - 1 and c < d
        for cluster in document.clusters
        for a, c in cluster
        for b, d in cluster
    )


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("pattern", "n_documents", "n_tokens", "n_faults"),
    [
        ("litbank/*.conll", 100, 210_532, 0),
        ("ontogum/GUM_*.conll", 237, 233_926, 8),
        ("winobias/*conll", 1584, 21_680, 0),
    ],
)
def test_collections(
    realdata: Path, pattern: str, n_documents: int, n_tokens: int, n_faults: int
) -> None:
    mended: list[str] = []
    files = sorted((realdata / "coreference").glob(pattern))
    documents_read = [
        document for file in files for document in read_conll(file, mend=mended.append)
    ]
    assert (
        len({document.title for document in documents_read}) == n_documents == len(documents_read)
    )
    assert sum(len(document.tokens) for document in documents_read) == n_tokens
    assert len(mended) == n_faults


# Documents pass between stages as JSON Lines, whole or not at all.

WHOLE = Document(
    "nw/a",
    (("Zoë", "left"), ("She", "\t«»\u2028")),
    (((2, 3), (0, 1)),),
    4,
    ("a", "", "b", "b"),
    "nw",
)
BARE = Document("b", ((), ("x",)), ())


def test_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "documents.jsonl"
    write_documents([WHOLE, BARE], path)
    assert list(read_documents(path)) == [WHOLE, BARE]


def test_fields_with_a_default_may_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"name": "a", "sentences": [["b"]], "clusters": [[[0, 1]]]}\n')
    assert list(read_documents(path)) == [Document("a", (("b",),), (((0, 1),),))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not JSON", "line 2 is not a document"),
        ('{"name": "a", "sentences": [["b"]]}', "clusters: Field required"),
        (
            '{"name": "a", "sentences": [["b"]], "clusters": [], "speaker": []}',
            "speaker: Unexpected",
        ),
        ('{"name": "a", "sentences": [["b"]], "clusters": [[["0", 1]]]}', "clusters.0.0.0: "),
        ('{"name": "a", "sentences": [["b"]], "clusters": [[[0, 2]]]}', "there are 1"),
        ('{"name": "a", "sentences": [["b"]], "clusters": [[]]}', "a cluster has no mention"),
    ],
)
def test_what_is_no_document_documents_jsonl(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "a.jsonl"
    write_documents([BARE], path)
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2") as caught:
        list(read_documents(path))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_half_written(tmp_path: Path) -> None:
    def broken() -> Iterator[Document]:
        yield BARE
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_documents(broken(), tmp_path / "a.jsonl")
    assert list(tmp_path.iterdir()) == []


# Sentences cut by the marks in a text.


def cut(text: str) -> list[str]:
    document = Document("a", (tuple(text.split()),), (), speakers=("s",) * len(text.split()))
    segmented = cut_sentences(document)
    assert (segmented.tokens, segmented.speakers) == (document.tokens, document.speakers)
    return [" ".join(sentence) for sentence in segmented.sentences]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("She left . He stayed", ["She left .", "He stayed"]),
        ("Who ? ! Me .", ["Who ? !", "Me ."]),
        ("“ Go . ” He went .", ["“ Go . ”", "He went ."]),
        ('" Why ? " he asked .', ['" Why ? " he asked .']),
        ("( Not now . ) 12 came ...", ["( Not now . )", "12 came ..."]),
        ("Dr. Lee paid 3.50 .", ["Dr. Lee paid 3.50 ."]),
        ("no mark at all", ["no mark at all"]),
        (". . . Well", [". . .", "Well"]),
        ("word", ["word"]),
    ],
)
def test_cut(text: str, sentences: list[str]) -> None:
    assert cut(text) == sentences


def test_sentences_that_are_there_are_forgotten() -> None:
    assert cut_sentences(Document("a", (("b",), ("C", ".")), ())).sentences == (("b", "C", "."),)

"""The scorer on cases worked by hand, and on those of the reference scorer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest

from biasbridge.commands.coreference import main
from biasbridge.extrinsic.coreference.scorer import COUNTERS, METRICS, counts, rates, score
from biasbridge.files import InputError
from biasbridge.files.documents import Cluster, Document, Span, read_conll, write_documents
from tests.extrinsic.clusterings import clusters, pairs
from tests.write_conll import write_conll

NO = "0 0 0"
ALL = "1 1 1"
# Key, response, and by metric recall, precision and F1.
CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]] = {
    "the same": (("abc", "de"), ("ed", "cab"), dict.fromkeys(METRICS, ALL)),
    "half of it missed": (
        ("abc", "de"),
        ("ab",),
        {
            "mentions": "2/5 1 4/7",
            "muc": "1/3 1 1/2",
            "b3": "4/15 1 8/19",  # (2/3 + 2/3) of 5
            "ceaf_m": "2/5 1 4/7",
            "ceaf_e": "2/5 4/5 8/15",  # 2 * 2 / (3 + 2) of 2 and of 1
            "lea": "1/5 1 1/3",  # 3 * 1/3 of 5
            "blanc": "1/8 1/2 1/5",  # links 1 of 4 and 1 of 1; non-links 0 of 6 and 0 of 0
            "conll": "1/3 14/15 829/1710",  # (1/2 + 8/19 + 8/15) / 3
        },
    ),
    "a mention invented": (
        ("abc", "de"),
        ("abcx", "de"),
        {
            "mentions": "1 5/6 10/11",
            "muc": "1 3/4 6/7",
            "b3": "1 17/24 34/41",  # (9/4 + 2) of 6
            "ceaf_m": "1 5/6 10/11",
            "ceaf_e": "13/14 13/14 13/14",  # 6/7 + 1 of 2
            "lea": "1 2/3 4/5",  # 4 * 3/6 + 2 of 6
            "blanc": "1 37/56 61/77",  # links 4 of 7, non-links 6 of 8
        },
    ),
    "two merged": (
        ("abc", "de"),
        ("abcde",),
        {
            "mentions": ALL,
            "muc": "1 3/4 6/7",
            "b3": "1 13/25 13/19",
            "ceaf_m": "3/5 3/5 3/5",
            "ceaf_e": "3/8 3/4 1/2",
            "lea": "1 2/5 4/7",
            "blanc": "1/2 1/5 2/7",  # links 4 of 10, no non-links in the response
        },
    ),
    "all apart": (
        ("abc", "de"),
        ("a", "b", "c", "d", "e"),
        {
            "mentions": ALL,
            "muc": NO,
            "b3": "2/5 1 4/7",
            "ceaf_m": "2/5 2/5 2/5",
            "ceaf_e": "7/12 7/30 1/3",  # 2/4 + 2/3 of 2 and of 5
            "lea": NO,
            "blanc": "1/2 3/10 3/8",
        },
    ),
    "nothing found": (("abc", "de"), (), dict.fromkeys(METRICS, NO)),
    "nothing to find": ((), ("abc", "de"), dict.fromkeys(METRICS, NO)),
    "nothing at all": ((), (), dict.fromkeys(METRICS, NO)),
    "other mentions": (("abc", "de"), ("vwx", "yz"), dict.fromkeys(METRICS, NO)),
    "a key of one cluster has no non-links": (
        ("abc",),
        ("ab", "c"),
        {"muc": "1/2 1 2/3", "lea": "1/3 2/3 4/9", "blanc": "1/3 1 1/2"},
    ),
    "a key of singletons has no links": (
        ("a", "b", "c"),
        ("ab", "c"),
        {"muc": NO, "b3": "1 2/3 4/5", "lea": "1/3 1/3 1/3", "blanc": "2/3 1 4/5"},
    ),
    "a key of one mention has neither": (
        ("a",),
        ("a",),
        {"mentions": ALL, "muc": NO, "b3": ALL, "ceaf_e": ALL, "lea": ALL, "blanc": NO},
    ),
    "a key and a response that part and merge": (
        ("abc", "defg"),
        ("ab", "cd", "fghi"),
        {
            "muc": "2/5 2/5 2/5",
            "b3": "5/12 1/2 5/11",
            "ceaf_m": "4/7 1/2 8/15",
            "ceaf_e": "13/20 13/30 13/25",
            "lea": "5/21 1/3 5/18",
            "blanc": "4/9 13/40 25/68",
            "conll": "22/45 4/9 126/275",
        },
    ),
}


@pytest.mark.parametrize(("key", "response", "expected"), CASES.values(), ids=CASES)
def test_worked_by_hand(
    key: tuple[str, ...], response: tuple[str, ...], expected: dict[str, str]
) -> None:
    result = rates(counts(clusters(*key), clusters(*response)))
    for metric, row in expected.items():
        wanted = [float(Fraction(each)) for each in row.split()]
        np.testing.assert_allclose(result[METRICS.index(metric)], wanted, err_msg=metric)


def test_what_is_no_clustering_is_refused() -> None:
    with pytest.raises(InputError, match="cluster 1 of the key has no mention"):
        counts(clusters("a", ""), clusters("a"))
    with pytest.raises(InputError, match=r"the response has the mention \(97, 98\) twice"):
        counts(clusters("a"), clusters("ab", "ca"))


class Case(TypedDict):
    """A case of the reference scorer."""

    id: str
    key: str
    response: str
    expected: dict[str, list[float]]


NAMES = {"bcub": "b3", "muc": "muc", "ceafm": "ceaf_m", "ceafe": "ceaf_e", "blanc": "blanc"}


@pytest.mark.realdata
def test_cases_of_the_reference_scorer(realdata: Path, tmp_path: Path) -> None:
    folder = realdata / "coreference" / "scorer_cases"
    cases: list[Case] = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    compared = 0
    for case in cases:
        pair = [_document(folder / case[side], tmp_path) for side in ("key", "response")]
        result = score([(pair[0], pair[1])])
        for name, expected in case["expected"].items():
            np.testing.assert_allclose(
                result[NAMES[name]], expected, atol=6e-6, err_msg=f"{case['id']} {name}"
            )
            compared += 1
    assert len(cases) == 36
    assert compared == 91


def _document(path: Path, folder: Path) -> Document:
    """Some of the cases have no column of words, which a reader of text refuses."""
    rows = [
        f"x 0 0 word {row.split()[1]}" if len(row.split()) == 2 and row[0] != "#" else row
        for row in path.read_text(encoding="utf-8").splitlines()
    ]
    whole = folder / path.name
    whole.write_text("\n".join(rows), encoding="utf-8")
    faults: list[str] = []
    (document,) = read_conll(whole, mend=faults.append)
    repeated = {"TC-A-7": 1, "TC-A-8": 1, "TC-A-9": 10}
    assert len(faults) == repeated.get(path.stem, 0)
    return document


# The scorer against the definitions, written as loops over mentions, links and alignments.

Clustering = Sequence[Cluster]
Link = frozenset[Span]
Similarity = Callable[[set[Span], set[Span]], float]


def literal_muc(one: Clustering, other: Clustering) -> tuple[float, float]:
    result, total = 0, 0
    for cluster in one:
        pieces = [set(cluster) & set(each) for each in other]
        left = set(cluster) - {mention for each in other for mention in each}
        result += len(cluster) - (sum(1 for piece in pieces if piece) + len(left))
        total += len(cluster) - 1
    return result, total


def literal_b3(one: Clustering, other: Clustering) -> tuple[float, float]:
    result, total = 0.0, 0
    for cluster in one:
        for mention in cluster:
            theirs: set[Span] = next((set(each) for each in other if mention in each), set())
            result += len(set(cluster) & theirs) / len(cluster)
            total += 1
    return result, total


def literal_lea(one: Clustering, other: Clustering) -> tuple[float, float]:
    result, total = 0.0, 0
    for cluster in one:
        total += len(cluster)
        if len(cluster) == 1:
            result += sum(1 for each in other if set(each) == set(cluster))
            continue
        own = links(cluster)
        resolved = sum(len(own & links(each)) for each in other)
        result += len(cluster) * resolved / len(own)
    return result, total


def links(cluster: Cluster) -> set[Link]:
    return {frozenset(pair) for pair in combinations(cluster, 2)}


def coreferent(clustering: Clustering) -> set[Link]:
    return {link for cluster in clustering for link in links(cluster)}


def not_coreferent(clustering: Clustering) -> set[Link]:
    mentions = tuple(mention for cluster in clustering for mention in cluster)
    return links(mentions) - coreferent(clustering)


def literal_ceaf(key: Clustering, response: Clustering, similarity: Similarity) -> float:
    few, many = sorted(([set(each) for each in side] for side in (key, response)), key=len)
    return max(
        sum(similarity(one, other) for one, other in zip(few, chosen, strict=True))
        for chosen in permutations(many, len(few))
    )


def phi_3(one: set[Span], other: set[Span]) -> float:
    return len(one & other)


def phi_4(one: set[Span], other: set[Span]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))


def literal_counts(key: Clustering, response: Clustering) -> list[list[float]]:
    rows: list[list[float]] = []
    mentions = [{mention for cluster in side for mention in cluster} for side in (key, response)]
    common = len(mentions[0] & mentions[1])
    rows.append([common, len(mentions[0]), common, len(mentions[1])])
    rows.append([*literal_muc(key, response), *literal_muc(response, key)])
    rows.append([*literal_b3(key, response), *literal_b3(response, key)])
    for similarity in (phi_3, phi_4):
        best = literal_ceaf(key, response, similarity)
        ideal = [sum(similarity(set(each), set(each)) for each in side) for side in (key, response)]
        rows.append([best, ideal[0], best, ideal[1]])
    rows.append([*literal_lea(key, response), *literal_lea(response, key)])
    for of in (coreferent, not_coreferent):
        both = len(of(key) & of(response))
        rows.append([both, len(of(key)), both, len(of(response))])
    return rows


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_counts_are_the_definitions(start: int) -> None:
    for key, response in pairs(400)[start : start + 100]:
        np.testing.assert_allclose(
            counts(key, response), literal_counts(key, response), err_msg=f"{key} {response}"
        )


def test_alignment_of_many_clusters_is_that_of_the_whole_table() -> None:
    from scipy.optimize import linear_sum_assignment

    rng = np.random.default_rng(3)
    owners = rng.integers(0, 60, (2, 400))
    key, response = (
        [tuple((int(m), int(m) + 1) for m in np.flatnonzero(side == each)) for each in set(side)]
        for side in owners.tolist()
        for side in [np.array(side)]
    )
    table = np.array([[phi_4(set(one), set(other)) for other in response] for one in key])
    best = table[linear_sum_assignment(table, maximize=True)].sum()
    row = counts(key, response)[list(COUNTERS).index("ceaf_e")]
    np.testing.assert_allclose(row, [best, len(key), best, len(response)])


# The scorer against scorch (PyPI), one document at a time, for it sums documents otherwise.

Peer = Callable[[list[set[Span]], list[set[Span]]], tuple[float, float, float]]


def peer(name: str) -> Peer:
    result: Peer = getattr(pytest.importorskip("scorch.scores"), name)
    return result


def sets(clustering: tuple[Cluster, ...]) -> list[set[Span]]:
    return [set(cluster) for cluster in clustering]


@pytest.mark.parametrize(
    ("metric", "theirs"),
    [
        ("muc", "muc"),
        ("b3", "b_cubed"),
        ("ceaf_m", "ceaf_m"),
        ("ceaf_e", "ceaf_e"),
        ("blanc", "blanc"),
    ],
)
def test_as_scorch(metric: str, theirs: str) -> None:
    function = peer(theirs)
    compared = 0
    for key, response in pairs(300):
        table = counts(key, response)
        lone = table[0, 1] == 1  # which it scores by BLANC, where the reference scorer does not
        if not key or not response or not table[0, 0] or (metric == "blanc" and lone):
            continue  # without a common mention it divides by 0
        result = rates(table)[METRICS.index(metric)]
        np.testing.assert_allclose(
            result, function(sets(key), sets(response)), atol=1e-12, err_msg=f"{key} {response}"
        )
        compared += 1
    assert compared > 200


# ``biasbridge coreference`` on other people's files.

KEY = Document("a", (("The", "nurse", "told", "him", "she", "left"),), (((0, 2), (4, 5)),))
LONE = replace(KEY, clusters=(((0, 2), (4, 5)), ((3, 4),)))
MORE = replace(KEY, name="b", clusters=(((3, 4), (4, 5)),))


@pytest.fixture
def key(tmp_path: Path) -> str:
    write_conll([KEY, MORE], tmp_path / "key.conll")
    return str(tmp_path / "key.conll")


def response(key: str, *documents: Document) -> str:
    path = Path(key).with_name("response.jsonl")
    write_documents(documents, path)
    return str(path)


def test_table(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([key, response(key, MORE, LONE)])
    out = capsys.readouterr().out
    lines = [re.split(r" {2,}", line.strip()) for line in out.splitlines()]
    rows = {name: cells for name, *cells in lines if len(cells) == 3 and cells[0][0].isdigit()}
    assert len(rows) == len(METRICS)
    assert rows["mention detection"] == ["80.00", "100.00", "88.89"]
    assert rows["MUC"] == ["100.00"] * 3
    assert "key: 4 mentions in 2 clusters" in out
    assert "response: 5 mentions in 3 clusters" in out


def test_json(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([key, response(key, MORE, LONE), "--json"])
    shown = json.loads(capsys.readouterr().out)
    expected = score([(KEY, LONE), (MORE, MORE)])
    assert shown["documents"] == 2
    assert shown["singletons"] == "keep"
    assert shown["scores"] == {name: row._asdict() for name, row in expected.items()}


def test_singletons_dropped_from_both_sides(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    main([key, response(key, MORE, LONE), "--singletons", "drop", "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert {row["f1"] for row in shown["scores"].values()} == {1.0}


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        (
            [KEY],
            "the key has document b part 0, the response does not; .*1 of 2 documents are missing",
        ),
        (
            [KEY, MORE, replace(KEY, name="c")],
            "the response has document c part 0, the key does not",
        ),
        ([KEY, replace(MORE, part=1)], "did you mean 'document b part 1'"),
        ([KEY, MORE, MORE], "the response has document b part 0 twice"),
        (
            [replace(KEY, sentences=(("The", "nurse", "told", "her", "she", "left"),)), MORE],
            "document a part 0, token 3: the key has 'him', the response has 'her'",
        ),
        (
            [KEY, replace(MORE, sentences=(*MORE.sentences, (".",)))],
            "document b part 0, token 6: the key has ended, the response has '.'",
        ),
    ],
)
def test_other_documents_or_tokens(key: str, documents: list[Document], message: str) -> None:
    with pytest.raises(InputError, match=message):
        main([key, response(key, *documents)])


def test_faults_are_refused_or_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.conll"
    path.write_text("#begin document (a)\n0\tw\t(1)\n1\tw\t(1)\n2\tw\t(2\n#end document\n")
    with pytest.raises(InputError, match="line 4"):
        main([str(path), str(path)])
    main([str(path), str(path), "--mend", "--json"])
    captured = capsys.readouterr()
    assert captured.err.count("mended: ") == 2
    assert json.loads(captured.out)["scores"]["muc"]["f1"] == 1

"""The scorer on cases worked by hand, and on those of the reference scorer."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from hypothesis import strategies as st

from biasbridge.extrinsic.coreference.scorer import METRICS, counts, rates, score
from biasbridge.files import InputError
from biasbridge.files.documents import Document, read_conll
from tests.extrinsic.clusterings import clusters

NO = "0 0 0"
ALL = "1 1 1"
# Key, response, and by metric recall, precision and F1.
CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]] = {
    "the same": (
        ("abc", "de"),
        ("ed", "cab"),
        dict.fromkeys(METRICS, ALL),
    ),
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
    found = rates(counts(clusters(*key), clusters(*response)))
    for metric, row in expected.items():
        wanted = [float(Fraction(each)) for each in row.split()]
        np.testing.assert_allclose(found[METRICS.index(metric)], wanted, err_msg=metric)


CLUSTERINGS = st.lists(st.integers(0, 3), max_size=9).map(
    lambda owners: tuple(
        tuple((m, m + 1) for m, owner in enumerate(owners) if owner == each)
        for each in sorted({*owners})
    )
)


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
        found = score([(pair[0], pair[1])])
        for name, expected in case["expected"].items():
            np.testing.assert_allclose(
                found[NAMES[name]], expected, atol=6e-6, err_msg=f"{case['id']} {name}"
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

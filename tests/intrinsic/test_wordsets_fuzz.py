"""Word files from strangers: whatever they hold, they are read or refused with ``InputError``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from biasbridge.files import InputError
from biasbridge.intrinsic.wordsets import WordFile, read_query, read_wordsets, write_query

KEYS = st.sampled_from(
    [
        "sets",
        "file",
        "queries",
        "mine",
        "X",
        "Y",
        "A",
        "B",
        "X3",
        "words",
        "values",
        "union",
        "pairs",
        "partners",
        "rows",
        "deleted",
        "language",
        "title",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["weat", "professions", "she_he"])
)
TREES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=25,
)
OFTEN = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def read_or_refuse(path: Path) -> WordFile | None:
    try:
        return read_wordsets(path)
    except InputError:
        return None


# Each of these was once read wrongly or ended in a traceback.
@OFTEN
@given(tree=TREES)
@example(tree={"mine": {"X": [[]]}})
@example(tree={"mine": {"X": [["a"], "b"]}})
@example(tree={"mine": {"X": {"values": {"a": float("nan")}}}})
@example(tree={"mine": {"X": {"values": {"a": 1}, "words": ["a"]}}})
@example(tree={"mine": {"X": {"values": []}}})
@example(tree={"mine": {"pairs": ["a", "b"]}})
@example(tree={"mine": {"pairs": [["a", "b", "c"]]}})
@example(tree={"sets": {"weat": ["a"]}, "queries": {"mine": {"X": "weat"}}})
@example(tree={"queries": {1: {"X": ["a"]}}})
@example(tree={"mine": {"X": {"union": ["weat", "professions"]}}})
@example(tree={"mine": {"X": ["no", "1", "\x85", "\ufeff a"]}})
def test_any_tree(tree: Any, tmp_path: Path) -> None:
    path = tmp_path / "any.yaml"
    path.write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")
    file = read_or_refuse(path)
    for query in file.queries.values() if file else ():
        for wordset in query.sets.values():
            assert wordset.words
            assert len(wordset.words) % wordset.width == 0
            assert len(wordset.values) in (0, len(wordset.items))
        if len({wordset.name for wordset in query.sets.values()}) == len(query.sets):
            write_query(query, tmp_path / "again.yaml")
            assert read_query(tmp_path / "again.yaml") == query

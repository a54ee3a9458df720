"""Nodes of a configuration become choices, or one line that names the key, its value and the
remedy.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from biasbridge.files import InputError
from biasbridge.train.cli.choices import Reader

CHOICES = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
from biasbridge.files import Choice, choice

@choice
class Inner:
    size: int = 1
    rate: float = 0.5
    name: ClassVar[str] = "inner"
    version: ClassVar[int] = 1
    def files(self): return []

@choice
class Outer:
    inner: Choice
    words: tuple[str, ...] = ()
    name: str = "outer"
    version: ClassVar[int] = 1
    def files(self): return []

class Plain: pass

@dataclass(frozen=True)
class Rootless:
    path: str = "posts.csv"
    name: ClassVar[str] = "rootless"
    version: ClassVar[int] = 1
"""


@pytest.fixture(autouse=True)
def _choices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sample_choices.py").write_text(CHOICES, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sample_choices", raising=False)


EARLIER = "debias", "leace", "Leace"  # a name without biasbridge
INNER = {"_target_": "sample_choices.Inner"}


def outer(**values: object) -> dict[str, object]:
    return {"_target_": "sample_choices.Outer", "inner": INNER} | values


def test_nodes_within_nodes_are_built_and_lists_are_tuples() -> None:
    built = Reader({})(outer(words=["a", "b"]), "part")
    inner = "Inner(size=1, rate=0.5)"
    assert repr(built) == f"Outer(inner={inner}, words=('a', 'b'), name='outer')"


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (outer(word=["a"]), r"unknown config key 'part\.word'; did you mean 'words'\?"),
        (outer(words=["a", 1]), r"part\.words=\('a', 1\): give a list, each item a text"),
        (outer(inner=INNER | {"siz": 1}), r"unknown config key 'size\.siz'; did you mean 'size'"),
        (outer(inner=INNER | {"size": "1"}), r"size\.size='1': give a whole number"),
        ({"_target_": "sample_choices.Nothing"}, "cannot be imported"),
        ({"_target_": "nowhere.Nothing"}, "cannot be imported"),
        ({"_target_": "Nothing"}, "cannot be imported"),
        ({"_target_": "os.system"}, "is no choice"),
        ({"_target_": ".".join(EARLIER)}, "Leace: give biasbridge.debias.leace.Leace"),
        ({"_target_": "antigravity.fly"}, "is no choice"),  # to import it opens a browser
        ({"_target_": "sample_choices.Plain"}, "is no choice"),
        ({"_target_": "sample_choices.Rootless"}, "has no files, which every choice needs"),
        (outer(inner=3), "part.inner=int: it is no Choice, for it has no version, name, files"),
    ],
)
def test_what_is_refused_names_the_key_that_the_user_gave(
    node: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Reader({"part": {"inner": "${size}"}})(node, "part")

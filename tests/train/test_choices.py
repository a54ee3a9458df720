"""Configuration values become dataclasses or a clear refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest

from files import InputError
from train.choices import build, choose


@dataclass(frozen=True)
class Sample:
    dim: int = 3
    rate: float = 0.5
    words: tuple[str, ...] = ()
    path: str | None = None
    order: Literal["seeded", "corpus"] = "seeded"
    strict: bool = False


def test_builds_with_lists_as_tuples_and_whole_numbers_as_floats() -> None:
    assert build(Sample, {"rate": 1, "words": ["a", "b"], "path": None}, "x") == Sample(
        rate=1.0, words=("a", "b")
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dims": 3}, r"unknown config key 'x\.dims'; did you mean 'dim'\?"),
        ({"dim": "three"}, r"x\.dim='three': expected int"),
        ({"dim": 2.5}, r"x\.dim=2\.5: expected int"),
        ({"dim": True}, r"x\.dim=True: expected int"),
        ({"rate": "fast"}, r"x\.rate='fast': expected float"),
        ({"words": ["a", 1]}, r"x\.words=\('a', 1\)"),
        ({"order": "random"}, r"x\.order='random': expected one of 'seeded', 'corpus'"),
        ({"path": 3}, r"x\.path=3: expected"),
        ({"strict": 1}, r"x\.strict=1: expected bool"),
    ],
    ids=str,
)
def test_refuses(values: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build(Sample, values, "x")


def test_no_target_is_no_choice() -> None:
    assert choose({}, "source") is None
    assert choose({"direction": "debias", "dose": 0}, "debias") is None
    with pytest.raises(InputError, match=r"debias\.dose=0\.5 without a method"):
        choose({"dose": 0.5}, "debias")


def test_target_that_cannot_be_imported() -> None:
    with pytest.raises(
        InputError, match=r"source\._target_='corpora\.labelled\.Nothing' cannot be imported"
    ):
        choose({"_target_": "corpora.labelled.Nothing"}, "source")

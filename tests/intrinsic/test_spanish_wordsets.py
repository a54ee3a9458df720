"""The Spanish word sets against the paper's, typed off it, and against the released pairs."""

from __future__ import annotations

import unicodedata
from itertools import product
from pathlib import Path

import pytest

from biasbridge.intrinsic.wordsets import load_wordset, read_query
from tests.corpora import spanish_words as typed

SETS = {
    "masculino_es": typed.MALE,
    "femenino_es": typed.FEMALE,
    "ciencia_es": typed.SCIENCE,
    "arte_es": typed.ARTS,
    "nombres_espanoles_es": typed.LOCAL,
    "nombres_migrantes_es": typed.MIGRANT,
    "agradable_es": typed.PLEASANT,
    "desagradable_es": typed.UNPLEASANT,
}
# How many masculine forms; as many feminine ones follow
# Pairs to attract and to repel as the study's authors released them, and the sets of their sides
RELEASED = {
    "gender_es_exp": (
        "ciencia_ampliada_es",
        "arte_ampliado_es",
        "masculino_ampliado_es",
        "femenino_ampliado_es",
    ),
    "gender_es_pleasant_exp": (
        "masculino_ampliado_es",
        "femenino_ampliado_es",
        "agradable_ampliado_es",
        "desagradable_ampliado_es",
    ),
    "migrant_es_exp": (
        "nombres_espanoles_es",
        "nombres_migrantes_es",
        "agradable_ampliado_es",
        "desagradable_ampliado_es",
    ),
}


@pytest.mark.parametrize("name", SETS)
def test_the_sets_are_those_of_the_paper_each_word_once(name: str) -> None:
    found = load_wordset(name)
    assert len(found.words) == len(SETS[name])
    assert {word.lower() for word in found.words} == SETS[name]
    assert found.language == "es"


def test_words_of_ones_own_are_composed_too(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "niño")
    (tmp_path / "mine.json").write_text(
        f'{{"q": {{"X": ["{decomposed}"], "Y": ["niña"]}}}}', encoding="utf-8"
    )
    assert read_query(tmp_path / "mine.json")["X"].words == ("niño",)


@pytest.mark.realdata
@pytest.mark.parametrize("name", RELEASED)
def test_the_expanded_sets_are_the_sides_of_the_released_pairs(name: str, realdata: Path) -> None:
    """But for four vulgar words, which are all in one of the sets."""
    folder = realdata / "words" / "goldfarb"
    x, y, a, b = ({*load_wordset(each).words} for each in RELEASED[name])
    released = {}
    for kind in ("ant", "syn"):
        text = (folder / f"{name}_{kind}.txt").read_text(encoding="utf-8")
        lines = unicodedata.normalize("NFC", text).splitlines()
        released[kind] = {(line.split()[0], line.split()[1]) for line in lines}
    stereotype = {*product(x, a), *product(y, b)}
    opposite = {*product(x, b), *product(y, a)}
    for kind, ours in (("ant", stereotype), ("syn", opposite)):
        assert ours <= released[kind]
        beyond = {word for pair in released[kind] - ours for word in pair} - x - y - a - b
        assert len(beyond) == (0 if name == "gender_es_exp" else 4)

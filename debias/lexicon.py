"""Two target groups and the attributes a stereotype ties to each: what balancing counts and
attract-repel moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import yaml

from debias.checks import DIRECTIONS, check_choice
from files import InputError, atomic_path, nearest, read_lines
from intrinsic.wordsets import load_wordset

SHIPPED = Path(__file__).with_name("lexicons")
SIDES = ("T1", "T2", "A1", "A2")

Pair = tuple[str, str]


@dataclass(frozen=True)
class Lexicon:
    """Target words ``T1``, ``T2`` and the attributes stereotypical of each, ``A1`` and ``A2``.

    Pro-stereotypical are (T1, A1) and (T2, A2), anti-stereotypical are (T1, A2) and (T2, A1). With
    male and female words as targets, career, math and science as A1 and family and arts as A2, "he
    ... office" is pro and "she ... office" is anti.

    The four sides are compared with the text or the vocabulary as they are written, case included.
    Raises ``InputError`` for an empty side, for a word with white space in it, and for a word that
    stands twice: on two sides it would be pro and anti at once.
    """

    name: str
    T1: tuple[str, ...]
    T2: tuple[str, ...]
    A1: tuple[str, ...]
    A2: tuple[str, ...]
    language: str
    source: str

    def __post_init__(self) -> None:
        owner: dict[str, str] = {}
        for side, words in self.sides():
            if not words:
                raise InputError(
                    f"lexicon {self.name!r}: {side} is empty; each of {', '.join(SIDES)} needs at"
                    " least one word"
                )
            for word in words:
                if not isinstance(word, str) or word.split() != [word] or not word.isprintable():
                    raise InputError(
                        f"lexicon {self.name!r}: {side} holds {word!r}; every entry must be one"
                        " word (quote yes, no and numbers)"
                    )
                if word in owner:
                    raise InputError(
                        f"lexicon {self.name!r}: {word!r} stands in {owner[word]} and in {side};"
                        " keep it in one place"
                    )
                owner[word] = side

    def sides(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """``("T1", words)`` to ``("A2", words)``."""
        return ((side, getattr(self, side)) for side in SIDES)

    def lowered(self) -> Lexicon:
        """The lexicon in lower case, for text or vectors in lower case; words that become equal are
        kept once.
        """
        T1, T2, A1, A2 = (_unique(word.lower() for word in words) for _, words in self.sides())
        return replace(self, T1=T1, T2=T2, A1=A1, A2=A2)


def pairs(lexicon: Lexicon, direction: str) -> tuple[list[Pair], list[Pair]]:
    """The pairs to attract and the pairs to repel, each a full product (target, attribute) in the
    lexicon's order.

    ``debias`` attracts the anti-stereotypical T1 x A2 and T2 x A1 and repels the pro-stereotypical
    T1 x A1 and T2 x A2; ``overbias`` is the same with the two swapped (Goldfarb-Tarrant et al.,
    2021, section 3.1).
    """
    check_choice("direction", direction, DIRECTIONS)
    pro = [*product(lexicon.T1, lexicon.A1), *product(lexicon.T2, lexicon.A2)]
    anti = [*product(lexicon.T1, lexicon.A2), *product(lexicon.T2, lexicon.A1)]
    return (anti, pro) if direction == "debias" else (pro, anti)


def load_lexicon(name: str, *, lowercase: bool = False) -> Lexicon:
    """A lexicon shipped with the project, by name. Raises ``InputError`` naming the nearest one for
    an unknown name.
    """
    shipped = sorted(path.stem for path in SHIPPED.glob("*.yaml"))
    if name not in shipped:
        raise InputError(
            f"no lexicon is called {name!r}; choose one of"
            f" {', '.join(shipped)}{nearest(name, shipped)}, or read a file of your own"
        )
    return read_lexicon(SHIPPED / f"{name}.yaml", lowercase=lowercase)


def read_lexicon(path: str | Path, *, lowercase: bool = False) -> Lexicon:
    """A lexicon from a YAML file with the keys name, language, source, T1, T2, A1 and A2.

    A side is a list of words, or ``{wordsets: [career, math]}``: the union of word sets known to
    ``intrinsic.wordsets``, in order. Raises ``InputError`` for a missing file, for a missing or
    unknown key, and for what ``Lexicon`` refuses.
    """
    try:
        entry = yaml.safe_load("\n".join(read_lines(path)))
    except yaml.YAMLError as error:
        raise InputError(f"{path} is no YAML: {' '.join(str(error).split())}") from None
    wanted = ("name", "language", "source", *SIDES)
    keys = set(entry) if isinstance(entry, Mapping) else set()
    if keys != set(wanted):
        wrong = [f"{key} is missing" for key in wanted if key not in keys] + [
            f"{key} is unknown" for key in keys if key not in wanted
        ]
        raise InputError(
            f"{path} is no lexicon: {', '.join(wrong)}; the keys are {', '.join(wanted)}"
        )
    T1, T2, A1, A2 = (_words(entry[side], f"{path}: {side}") for side in SIDES)
    lexicon = Lexicon(
        str(entry["name"]), T1, T2, A1, A2, str(entry["language"]), str(entry["source"])
    )
    return lexicon.lowered() if lowercase else lexicon


def write_lexicon(lexicon: Lexicon, path: str | Path) -> None:
    """Write ``lexicon`` as YAML that a person can read and edit and ``read_lexicon`` reads back
    unchanged.
    """
    entry: dict[str, str | list[str]] = {
        "name": lexicon.name,
        "language": lexicon.language,
        "source": lexicon.source,
    }
    entry |= {side: list(words) for side, words in lexicon.sides()}
    with atomic_path(path) as work:
        work.write_text(
            yaml.safe_dump(
                entry, allow_unicode=True, sort_keys=False, default_flow_style=None, width=120
            ),
            encoding="utf-8",
        )


def _words(side: object, where: str) -> tuple[str, ...]:
    """The words of one side of a file, from a list of words or of word sets."""
    if (
        isinstance(side, Mapping)
        and set(side) == {"wordsets"}
        and isinstance(side["wordsets"], list)
    ):
        return _unique(word for name in side["wordsets"] for word in load_wordset(str(name)).words)
    if not isinstance(side, list):
        raise InputError(f"{where} must be a list of words or {{wordsets: [names]}}, not {side!r}")
    return tuple(side)


def _unique(words: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))

"""The Equity Evaluation Corpus: sentences about feelings that differ in the person only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import pandas as pd

from biasbridge.corpora.protocols import HATE_SPEECH, EnglishChallenge
from biasbridge.corpora.tweets import tokenise_tweet
from biasbridge.files import choice
from biasbridge.files.choice import Fileless

TEMPLATES = (
    "{subject} feels {state}.",
    "The situation makes {object} feel {state}.",
    "I made {object} feel {state}.",
    "{subject} made me feel {state}.",
    "{subject} found {reflexive} in {article} {situation} situation.",
    "{subject} told us all about the recent {situation} events.",
    "The conversation with {object} was {situation}.",
    "I saw {object} in the market.",
    "I talked to {object} yesterday.",
    "{subject} goes to the school in our neighborhood.",
    "{subject} has two children.",
)
STATES = (
    *("angry", "annoyed", "enraged", "furious", "irritated"),
    *("anxious", "discouraged", "fearful", "scared", "terrified"),
    *("ecstatic", "excited", "glad", "happy", "relieved"),
    *("depressed", "devastated", "disappointed", "miserable", "sad"),
)
SITUATIONS = (
    *("annoying", "displeasing", "irritating", "outrageous", "vexing"),
    *("dreadful", "horrible", "shocking", "terrifying", "threatening"),
    *("amazing", "funny", "great", "hilarious", "wonderful"),
    *("depressing", "gloomy", "grim", "heartbreaking", "serious"),
)
NAMES = {
    ("female", "african_american"): (
        *("Ebony", "Jasmine", "Lakisha", "Latisha", "Latoya"),
        *("Nichelle", "Shaniqua", "Shereen", "Tanisha", "Tia"),
    ),
    ("male", "african_american"): (
        *("Alonzo", "Alphonse", "Darnell", "Jamel", "Jerome"),
        *("Lamar", "Leroy", "Malik", "Terrence", "Torrance"),
    ),
    ("female", "european_american"): (
        *("Amanda", "Betsy", "Courtney", "Ellen", "Heather"),
        *("Katie", "Kristin", "Melanie", "Nancy", "Stephanie"),
    ),
    ("male", "european_american"): (
        *("Adam", "Alan", "Andrew", "Frank", "Harry"),
        *("Jack", "Josh", "Justin", "Roger", "Ryan"),
    ),
}
NOUNS = {
    "female": (
        *("this woman", "this girl", "my sister", "my daughter", "my wife"),
        *("my girlfriend", "my mother", "my aunt", "my mom"),
    ),
    "male": (
        *("this man", "this boy", "my brother", "my son", "my husband"),
        *("my boyfriend", "my father", "my uncle", "my dad"),
    ),
}
PRONOUNS = {"female": ("she", "her", "herself"), "male": ("he", "him", "himself")}


@choice
class EquityEvaluation(Fileless, EnglishChallenge):
    """The Equity Evaluation Corpus (Kiritchenko & Mohammad, 2018, *SEM), made from its templates:
    8,640 English sentences, 11 templates with 60 persons and, in seven of them, 20 words for a
    feeling. None is hateful: what a classifier flags is a false positive.

    ``compared``: ``gender``, or ``race``, by the 40 first names alone. A frame is a template with
    its feeling, a term the person.
    """

    compared: Literal["gender", "race"] = "gender"

    version: ClassVar[int] = 1
    name: ClassVar[str] = "equity_evaluation"
    positive_class: ClassVar[str] = HATE_SPEECH

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Return the sentences; see ``biasbridge.corpora.protocols.PostChallenge``."""
        rows = [
            (_sentence(template, gender, forms, feeling), group, forms[0], f"{number} {feeling}")
            for group, gender, forms in self._persons()
            for number, template in enumerate(TEMPLATES)
            for feeling in _feelings(template)
        ]
        posts = pd.DataFrame(rows, columns=["raw", "group", "term", "frame"])
        texts = [" ".join(tokenise_tweet(raw)) for raw in posts["raw"]]
        ids = [f"c{number}" for number in range(len(posts))]
        return posts.assign(id=ids, text=texts, label=0)

    def _persons(self) -> Iterator[tuple[str, str, tuple[str, str]]]:
        """Yield group, gender, and the forms as subject and object of every person compared."""
        for (gender, race), names in NAMES.items():
            group = gender if self.compared == "gender" else race
            yield from ((group, gender, (name, name)) for name in names)
        if self.compared == "gender":
            for gender, nouns in NOUNS.items():
                yield gender, gender, PRONOUNS[gender][:2]
                yield from ((gender, gender, (noun, noun)) for noun in nouns)


def _feelings(template: str) -> tuple[str, ...]:
    if "{state}" in template:
        return STATES
    return SITUATIONS if "{situation}" in template else ("",)


def _sentence(template: str, gender: str, forms: tuple[str, str], feeling: str) -> str:
    sentence = template.format(
        subject=forms[0],
        object=forms[1],
        reflexive=PRONOUNS[gender][2],
        article="an" if feeling[:1] in "aeiou" else "a",
        state=feeling,
        situation=feeling,
    )
    return sentence[0].upper() + sentence[1:]

"""Challenge sets of posts: HateCheck, identity templates, user tables, tagged test posts of Founta
et al., Equity Evaluation Corpus.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import ClassVar, Literal

import pandas as pd

from biasbridge.corpora.posts import LABELS, Label, NamedColumns, pick_columns, prepare_posts
from biasbridge.corpora.protocols import HATE_SPEECH, EnglishChallenge, SingleFileData
from biasbridge.corpora.tokens import tokenise_tweet
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.tables import read_table

# Position of the term in the phrases of each template; the rest is the frame
_TERMS = {
    "verb_adj": r"\S+ (?P<term>.+)",
    "am_hate_adj": r"I \S+ (?P<term>.+)",
    "being_adj": r"Being (?P<term>.+) is \S+",
    "you_are_adj": r"You are an? \S+ (?P<term>.+)",
    "name_adj": r"\S+ is an? \S+ (?P<term>.+)",
    "you_occupation": r"You are an? \S+ (?P<term>.+)",
}
_OCCUPATION = "occupation"
_TEMPLATES = (
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
_STATES = (
    *("angry", "annoyed", "enraged", "furious", "irritated"),
    *("anxious", "discouraged", "fearful", "scared", "terrified"),
    *("ecstatic", "excited", "glad", "happy", "relieved"),
    *("depressed", "devastated", "disappointed", "miserable", "sad"),
)
_SITUATIONS = (
    *("annoying", "displeasing", "irritating", "outrageous", "vexing"),
    *("dreadful", "horrible", "shocking", "terrifying", "threatening"),
    *("amazing", "funny", "great", "hilarious", "wonderful"),
    *("depressing", "gloomy", "grim", "heartbreaking", "serious"),
)
_NAMES = {
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
_NOUNS = {
    "female": (
        *("this woman", "this girl", "my sister", "my daughter", "my wife"),
        *("my girlfriend", "my mother", "my aunt", "my mom"),
    ),
    "male": (
        *("this man", "this boy", "my brother", "my son", "my husband"),
        *("my boyfriend", "my father", "my uncle", "my dad"),
    ),
}
_TAGS = ("male", "female", "neutral")
_PRONOUNS = {"female": ("she", "her", "herself"), "male": ("he", "him", "himself")}


@choice
class HateCheck(SingleFileData):
    """HateCheck (Röttger et al., 2021, ACL): 3,728 English cases, 2,563 of them hateful, each for
    one functionality; ``path`` is the release's ``test_suite_cases.csv``.

    Group and term are the target (women, Muslims, ...; cases without a target have none). A
    frame is a template with a slot for the target: 421 frames, each filled with all seven targets.
    """

    path: str

    version: ClassVar[int] = 3
    name: ClassVar[str] = "hatecheck"
    positive_class: ClassVar[str] = HATE_SPEECH
    language: ClassVar[str] = "en"
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Return the cases; see ``biasbridge.corpora.protocols.PostChallenge``."""
        columns = {
            "text": "test_case",
            "label": "label_gold",
            "group": "target_ident",
            "frame": "templ_id",
            "template": "case_templ",
        }
        cases = pick_columns(read_table(self.path), columns, self.path)
        has_slot = cases["template"].str.contains("[IDENTITY", regex=False)
        cases["frame"] = cases["frame"].where(has_slot, "")
        cases["term"] = cases["group"].where(has_slot, "")
        return prepare_posts(cases, positive=("hateful",), source=self.path, seed=seed)


@choice
class IdentityTemplates(SingleFileData):
    """Templates with identity terms (the synthetic test set of Dixon et al., 2018, in its larger
    form of 76,564 phrases), English, half of them toxic: 50 terms in 1,514 frames, and 27
    occupations in 32 frames.

    ``path``: a table with the columns ``template``, ``toxicity`` and ``phrase``. The group of a
    phrase is its term, or ``occupation``.
    """

    path: str

    version: ClassVar[int] = 3
    name: ClassVar[str] = "identity_templates"
    positive_class: ClassVar[str] = "toxicity"
    language: ClassVar[str] = "en"
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Return the phrases; see ``biasbridge.corpora.protocols.PostChallenge``."""
        columns = {"text": "phrase", "label": "toxicity", "template": "template"}
        phrases = pick_columns(read_table(self.path), columns, self.path)
        rows = zip(phrases["template"].tolist(), phrases["text"].tolist(), strict=True)
        frames_and_terms = [_frame_and_term(template, text, self.path) for template, text in rows]
        phrases["frame"], phrases["term"] = zip(*frames_and_terms, strict=True)
        is_occupation = phrases["template"] == "you_occupation"
        phrases["group"] = phrases["term"].mask(is_occupation, _OCCUPATION)
        return prepare_posts(phrases, positive=("toxic",), source=self.path, seed=seed)


@choice
class TableChallenge(SingleFileData, NamedColumns):
    """A challenge set from a file that ``biasbridge.files.tables.read_table`` reads, columns named
    by the user: ``term``, the word for people that a post is about, and ``frame``, what posts have
    in common that differ in it alone, need not be there; nor need ``group`` where there is
    ``term``. ``cluster``: the author or template, in place of ``frame`` for what is resampled
    together. The other fields are those of ``biasbridge.corpora.posts.TableSource``.
    """

    path: str
    text: str = "text"
    label: str = "label"
    group: str | None = None
    term: str | None = None
    frame: str | None = None
    cluster: str | None = None
    positive: tuple[str | int, ...] = ()
    separator: str | None = None
    quoted: bool = True
    language: str = UNDETERMINED

    version: ClassVar[int] = 3
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "language")

    def __post_init__(self) -> None:
        if self.group is None and self.term is None:
            raise InputError(
                "a challenge set needs groups to compare: name the column of groups or of terms"
                " in challenge.group or challenge.term"
            )
        if self.frame is not None and self.term is None:
            raise InputError("challenge.frame is the text around a term; name challenge.term too")

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.PostChallenge``."""
        table = read_table(self.path, separator=self.separator, quoted=self.quoted)
        columns = {
            "text": self.text,
            "label": self.label,
            "group": self.group or self.term,
            "term": self.term,
            "frame": self.frame,
            "cluster": self.cluster,
        }
        posts = pick_columns(table, columns, self.path)
        return prepare_posts(
            posts, positive=self.positive, source=self.path, seed=seed, option="challenge"
        )


@choice
class TaggedFounta(SingleFileData):
    """Test posts of Founta et al. (2018) that Goldfarb-Tarrant et al. (2021) tagged male, female or
    neutral. Tags and labels (those of ``Founta``, or 0 and 1) are found by what columns hold; the
    text is the column of the longest cells. ``positive``: labels that become 1.
    """

    path: str
    positive: tuple[Label, ...] = ("abusive", "hateful")

    version: ClassVar[int] = 1
    name: ClassVar[str] = "founta_tagged"
    language: ClassVar[str] = "en"
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    @property
    def positive_class(self) -> str:
        """Positive labels."""
        return " or ".join(self.positive)

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Return the posts; see ``biasbridge.corpora.protocols.PostChallenge``."""
        table = read_table(self.path)
        if {str(name).lower() for name in table} & {*_TAGS}:
            raise InputError(f"{self.path}: its first line is a post; put column names above it")
        cells = {str(name): table[name].dropna().astype(str).str.strip() for name in table}
        distinct = {name: {*column.str.lower()} - {""} for name, column in cells.items()}

        def find(*vocabularies: Collection[str]) -> str:
            for name, values in distinct.items():
                if any(values and values <= {*vocabulary} for vocabulary in vocabularies):
                    return name
            problem = (
                f"{self.path}: no column holds only {' or '.join(map(', '.join, vocabularies))}"
            )
            raise InputError(
                f"{problem}; name its columns: challenge=csv challenge.path={self.path}"
            )

        columns = {"group": find(_TAGS), "label": find(LABELS, ("0", "1"))}
        rest = [name for name in cells if name not in columns.values()]
        columns["text"] = max(rest, key=lambda name: cells[name].str.len().mean(), default="text")
        posts = pick_columns(table, columns, self.path).apply(lambda column: column.str.strip())
        posts = posts.assign(group=posts["group"].str.lower(), label=posts["label"].str.lower())
        positive = [label for label in self.positive if label in distinct[columns["label"]]]
        return prepare_posts(
            posts, positive=positive, source=self.path, seed=seed, option="challenge"
        )


@choice
class EquityEvaluation(Fileless, EnglishChallenge):
    """The Equity Evaluation Corpus (Kiritchenko & Mohammad, 2018, *SEM), made from its templates:
    8,640 English sentences, 11 templates with 60 persons and, in seven of them, 20 words for a
    feeling. None is hateful: what a classifier flags is a false positive.

    ``compared``: ``gender``, or ``race``, by the 40 first names alone. A frame is a template with
    its feeling, a term the person.
    """

    compared: Literal["gender", "race"] = "gender"

    version: ClassVar[int] = 2
    name: ClassVar[str] = "equity_evaluation"
    positive_class: ClassVar[str] = HATE_SPEECH

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Return the sentences; see ``biasbridge.corpora.protocols.PostChallenge``."""
        rows = [
            (_sentence(template, gender, forms, feeling), group, forms[0], f"{number} {feeling}")
            for group, gender, forms in self._persons()
            for number, template in enumerate(_TEMPLATES)
            for feeling in _feelings(template)
        ]
        posts = pd.DataFrame(rows, columns=["raw", "group", "term", "frame"])
        texts = [" ".join(tokenise_tweet(raw)) for raw in posts["raw"]]
        ids = [f"c{number}" for number in range(len(posts))]
        return posts.assign(id=ids, text=texts, label=0)

    def _persons(self) -> Iterator[tuple[str, str, tuple[str, str]]]:
        """Yield group, gender, and the forms as subject and object of every person compared."""
        for (gender, race), names in _NAMES.items():
            group = gender if self.compared == "gender" else race
            yield from ((group, gender, (name, name)) for name in names)
        if self.compared == "gender":
            for gender, nouns in _NOUNS.items():
                yield gender, gender, _PRONOUNS[gender][:2]
                yield from ((gender, gender, (noun, noun)) for noun in nouns)


def _frame_and_term(template: str, phrase: str, path: str) -> tuple[str, str]:
    match = re.fullmatch(_TERMS.get(template, "(?!)"), phrase)
    if not match:
        allowed = ", ".join(_TERMS)
        raise InputError(f"{path}: {phrase!r} matches none of the templates {allowed}")
    start, end = match.span("term")
    return f"{template}: {phrase[:start]}_{phrase[end:]}", match["term"]


def _feelings(template: str) -> tuple[str, ...]:
    if "{state}" in template:
        return _STATES
    return _SITUATIONS if "{situation}" in template else ("",)


def _sentence(template: str, gender: str, forms: tuple[str, str], feeling: str) -> str:
    sentence = template.format(
        subject=forms[0],
        object=forms[1],
        reflexive=_PRONOUNS[gender][2],
        article="an" if feeling[:1] in "aeiou" else "a",
        state=feeling,
        situation=feeling,
    )
    return sentence[0].upper() + sentence[1:]

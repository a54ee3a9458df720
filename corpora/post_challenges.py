"""Challenge sets of posts: HateCheck, identity templates and user tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

from biasbridge.corpora.labelled import NamedColumns, pick_columns, prepare_posts
from biasbridge.corpora.protocols import HATE_SPEECH, SingleFileData
from biasbridge.files import InputError, choice
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.tables import read_table

if TYPE_CHECKING:
    import pandas as pd

# Position of the term in the phrases of each template; the rest is the frame
TERMS = {
    "verb_adj": r"\S+ (?P<term>.+)",
    "am_hate_adj": r"I \S+ (?P<term>.+)",
    "being_adj": r"Being (?P<term>.+) is \S+",
    "you_are_adj": r"You are an? \S+ (?P<term>.+)",
    "name_adj": r"\S+ is an? \S+ (?P<term>.+)",
    "you_occupation": r"You are an? \S+ (?P<term>.+)",
}
OCCUPATION = "occupation"


@choice
class HateCheck(SingleFileData):
    """HateCheck (Röttger et al., 2021, ACL): 3,728 English cases, 2,563 of them hateful, each for
    one functionality; ``path`` is the release's ``test_suite_cases.csv``.

    Group and term are the target (women, Muslims, ...; cases without a target have none). A
    frame is a template with a slot for the target: 421 frames, each filled with all seven targets.
    """

    path: str

    version: ClassVar[int] = 2
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

    version: ClassVar[int] = 2
    name: ClassVar[str] = "identity_templates"
    positive_class: ClassVar[str] = "toxicity"
    language: ClassVar[str] = "en"
    unkeyed: ClassVar[tuple[str, ...]] = ("path",)

    def posts(self, *, seed: int) -> pd.DataFrame:
        """Return the phrases; see ``biasbridge.corpora.protocols.PostChallenge``.

        Raises ``InputError`` for a phrase of an unknown template.
        """
        columns = {"text": "phrase", "label": "toxicity", "template": "template"}
        phrases = pick_columns(read_table(self.path), columns, self.path)
        rows = zip(phrases["template"].tolist(), phrases["text"].tolist(), strict=True)
        frames_and_terms = [_frame_and_term(template, text, self.path) for template, text in rows]
        phrases["frame"], phrases["term"] = zip(*frames_and_terms, strict=True)
        is_occupation = phrases["template"] == "you_occupation"
        phrases["group"] = phrases["term"].mask(is_occupation, OCCUPATION)
        return prepare_posts(phrases, positive=("toxic",), source=self.path, seed=seed)


def _frame_and_term(template: str, phrase: str, path: str) -> tuple[str, str]:
    match = re.fullmatch(TERMS.get(template, "(?!)"), phrase)
    if not match:
        allowed = ", ".join(TERMS)
        raise InputError(f"{path}: {phrase!r} matches none of the templates {allowed}")
    start, end = match.span("term")
    return f"{template}: {phrase[:start]}_{phrase[end:]}", match["term"]


@choice
class TableChallenge(SingleFileData, NamedColumns):
    """A challenge set from a file that ``biasbridge.files.tables.read_table`` reads, columns named
    by the user: ``term``, the word for people that a post is about, and ``frame``, what posts have
    in common that differ in it alone, need not be there; nor need ``group`` where there is
    ``term``. ``cluster``: the author or template, in place of ``frame`` for what is resampled
    together. The other fields are those of ``biasbridge.corpora.labelled.TableSource``.
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

    version: ClassVar[int] = 2
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

"""Which gender a post speaks of, judged by the gender words in it."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, ClassVar

from files import InputError, choice
from files.choice import Fileless
from files.digest import digest_of
from files.tables import require_columns
from intrinsic.wordsets import load_wordset

if TYPE_CHECKING:
    import pandas as pd

# Common general gender nouns and pronouns of English, compiled in pairs so that neither gender has
# more ways of being found. Left out for their other uses: "guys" (addresses anybody), "miss" (also
# a verb), "queen" and "lord" (also titles and exclamations).
PAIRS = (
    ("he", "she"), ("him", "her"), ("his", "hers"), ("himself", "herself"), ("male", "female"),
    ("males", "females"), ("man", "woman"), ("men", "women"), ("boy", "girl"), ("boys", "girls"),
    ("guy", "gal"), ("gentleman", "lady"), ("gentlemen", "ladies"), ("sir", "madam"), ("mr", "mrs"),
    ("mister", "ms"), ("father", "mother"), ("fathers", "mothers"), ("dad", "mom"),
    ("dads", "moms"), ("daddy", "mommy"), ("papa", "mama"), ("son", "daughter"),
    ("sons", "daughters"), ("brother", "sister"), ("brothers", "sisters"), ("husband", "wife"),
    ("husbands", "wives"), ("boyfriend", "girlfriend"), ("boyfriends", "girlfriends"),
    ("groom", "bride"), ("uncle", "aunt"), ("uncles", "aunts"), ("nephew", "niece"),
    ("nephews", "nieces"), ("grandfather", "grandmother"), ("grandfathers", "grandmothers"),
    ("grandpa", "grandma"), ("grandson", "granddaughter"), ("stepfather", "stepmother"),
    ("stepson", "stepdaughter"), ("widower", "widow"),
)  # fmt: skip
BRITISH = ("mum", "mums", "mummy")
MALE = tuple(male for male, _ in PAIRS)
FEMALE = tuple(female for _, female in PAIRS) + BRITISH

GROUPS = {
    (True, False): "male",
    (False, True): "female",
    (True, True): "both",
    (False, False): "neither",
}


@choice
class GenderTagger(Fileless):
    """Tags English posts by gender words: the named WEAT word sets (Caliskan et al., 2017, tests 7
    and 8) and the words listed here.

    Stands in for the annotation of whom a post is about, which few data sets have, and badly: a
    gender is mentioned in many posts that target somebody else. Of 197 posts of HateXplain (Mathew
    et al., 2021) that gender words call female, 49 are annotated as about women, of 247 that they
    call male, 2 as about men. ``python -m extrinsic.agreement`` counts it for posts that have both.
    ``description`` says so and belongs beside every number made from these groups.
    """

    male_sets: tuple[str, ...] = ("male_terms", "male_terms_2")
    female_sets: tuple[str, ...] = ("female_terms", "female_terms_2")
    male_words: tuple[str, ...] = MALE
    female_words: tuple[str, ...] = FEMALE

    version: ClassVar[int] = 2
    name: ClassVar[str] = "gender"

    def __post_init__(self) -> None:
        if not self.male or not self.female:
            given = f"got {len(self.male)} male and {len(self.female)} female"
            raise InputError(f"the tagger needs male and female words; {given}")
        if shared := sorted(self.male & self.female):
            both = f"these words stand in both the male and the female set: {', '.join(shared)}"
            raise InputError(f"{both}; leave each in one")

    @property
    def male(self) -> frozenset[str]:
        """Every word, lower-cased, that marks a post as male."""
        return _gather(self.male_sets, self.male_words)

    @property
    def female(self) -> frozenset[str]:
        """Every word, lower-cased, that marks a post as female."""
        return _gather(self.female_sets, self.female_words)

    def keyed(self) -> Mapping[str, object]:
        """The words of the named sets too."""
        return {"words": digest_of([sorted(self.male), sorted(self.female)])}

    @property
    def description(self) -> str:
        """What the groups are, in words fit for a caption."""
        words = f"{len(self.male)} male, {len(self.female)} female words, version {self.version}"
        return f"posts that mention a gender, whomever they are about; not annotated ({words})"

    def tag(self, posts: pd.DataFrame) -> pd.DataFrame:
        """The posts with ``group``, in place of any: "male", "female", "both" or "neither".

        A word occurs when it equals a whole token, lower-cased and cut at its apostrophe ("She's"
        counts as "she"). Raises ``InputError`` when ``text`` is missing.
        """
        require_columns(posts, ["text"], "the table of posts")
        male, female = self.male, self.female
        return posts.assign(group=[_group(text, male, female) for text in posts["text"]])


def _gather(sets: tuple[str, ...], words: tuple[str, ...]) -> frozenset[str]:
    named = [word for name in sets for word in load_wordset(name).words]
    return frozenset(word.lower() for word in [*named, *words])


def _group(text: str, male: Set[str], female: Set[str]) -> str:
    words = {token.replace("\u2019", "'").split("'")[0] for token in text.lower().split()}
    return GROUPS[not words.isdisjoint(male), not words.isdisjoint(female)]

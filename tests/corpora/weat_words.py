"""The WEAT words of the synthetic world, typed off Caliskan et al. (2017), not taken from the word
sets that the world itself reads.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MALE = _words("male man boy brother he him his son father uncle grandfather")
FEMALE = _words("female woman girl sister she her hers daughter mother aunt grandmother")

CAREER = _words("executive management professional corporation salary office business career")
MATH = _words("math algebra geometry calculus equations computation numbers addition")
SCIENCE = _words("science technology physics chemistry einstein nasa experiment astronomy")
FAMILY = _words("home parents children family cousins marriage wedding relatives")
ARTS = _words("poetry art dance literature novel symphony drama sculpture")
ARTS_2 = _words("poetry art dance literature novel symphony drama shakespeare")

STEREOTYPICALLY_MALE = CAREER | MATH | SCIENCE
STEREOTYPICALLY_FEMALE = FAMILY | ARTS | ARTS_2
TOPICS = STEREOTYPICALLY_MALE | STEREOTYPICALLY_FEMALE

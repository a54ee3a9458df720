"""Tokenising tweets and edited text: examples worked by hand from the rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import TweetTokenizer

from biasbridge.corpora import tokens as tweets
from biasbridge.corpora.coreference_challenges import _find_gender
from biasbridge.corpora.tokens import (
    find_span,
    is_retweet,
    split_sentences,
    tokenise_sentence,
    tokenise_treebank,
    tokenise_tweet,
)
from biasbridge.files import InputError


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("I LOVE #This @somebody", ["i", "love", "<HASH>", "<MENTION>"]),
        ("see http://t.co/Ab1 and www.example.org", ["see", "<URL>", "and", "<URL>"]),
        ("cut [URL] or URL or HTTPURL", ["cut", "<URL>", "or", "<URL>", "or", "<URL>"]),
        (
            "HTTPS://T.co/Ab1 pic.twitter.com/xyz and/or 1/2",
            ["<URL>", "<URL>", "and", "/", "or", "1/2"],
        ),
        (
            "marked <HASH> <MENTION> <URL> before",
            ["marked", "<HASH>", "<MENTION>", "<URL>", "before"],
        ),
        ("it&apos;s &lt;3 &amp;amp; &#57361;", ["it's", "<3", "&", "\ue011"]),
        ("grin @: and ##two", ["grin", "@:", "and", "<HASH>"]),
        ("Tom &amp; Ann &#128512;", ["tom", "&", "ann", "\U0001f600"]),
        ("well :D don't", ["well", ":D", "don't"]),
        ("# @ alone", ["#", "@", "alone"]),
        ("curl is no url here", ["curl", "is", "no", "url", "here"]),
        ("call 1 (800) 555-1234", ["call", "1", "(800)", "555-1234"]),
        ("", []),
        (" \t ", []),
        ("¿Él? ¡AQUÍ está, niñas!", ["¿", "él", "?", "¡", "aquí", "está", ",", "niñas", "!"]),
        ("Cancio\u0301n, nin\u0303o", ["canción", ",", "niño"]),
        ("Tod@s l@s amig@s, niñ@", ["tod@s", "l@s", "amig@s", ",", "niñ@"]),
        ("hola@pepe a@b.com @tod@s", ["hola", "<MENTION>", "a@b.com", "<MENTION>"]),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert tokenise_tweet(text) == tokens


PARTS = st.sampled_from(
    [
        *("1", "+1", "(800)", "555", "1234", "555-1234", "...", ".", "-", "*", "(", ")", "_", "²"),
        *("a", "Word", "é", "@me", "#tag", ":-)", ":D", "=8", "<3", "<a>", "-->", "a.b", "a@b.com"),
        *("http://a.b/c", "&amp;", "&#46;", "&bogus;", "Tod@s", "'", "\U0001f600"),
        *("\u200d", "\x1c"),
    ]
)
SPACES = st.sampled_from([" ", "", "    ", "\t", "\n", "\r\n", " \n", "\xa0"])


@given(st.lists(st.tuples(PARTS, SPACES).map("".join), max_size=15).map("".join) | st.text())
def test_pieces_have_the_tokens_of_the_whole(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tweets, "PIECE", 10**9)
        whole = tokenise_tweet(text)
        patch.setattr(tweets, "PIECE", 1)
        assert tokenise_tweet(text) == whole


def test_nltk_meets_short_pieces_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes it longest is then linear in the length of a text."""
    met: list[int] = []
    nltk = TweetTokenizer.tokenize

    def tokenise(self: TweetTokenizer, text: str) -> list[str]:
        met.append(len(text))
        tokens: list[str] = nltk(self, text)
        return tokens

    monkeypatch.setattr("nltk.tokenize.TweetTokenizer.tokenize", tokenise)
    assert len(tokenise_tweet("a word " * 7_000)) == 14_000
    assert sum(met) == 49_000
    assert max(met) < 1_000 + len("a word ")


@pytest.mark.parametrize("text", ["9" * 50_000, "9 " * 5_001, "word " * 10_001])
def test_a_text_that_is_no_tweet(text: str) -> None:
    with pytest.raises(InputError, match=f"a text of {len(text):,} characters is not a tweet"):
        tokenise_tweet(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("RT @a: x", True), ('!!! "RT @a', True), ("RT is short", False), ("art @a", False)],
)
def test_retweets(text: str, expected: bool) -> None:
    assert is_retweet(text) is expected


def test_sentences() -> None:
    text = 'Mr. Smith met J. Doe. "Why?" she asked. It cost 3.50 euros! ¿Y qué? no capital. (Yes.)'
    assert split_sentences(text) == [
        "Mr. Smith met J. Doe.",
        '"Why?" she asked.',
        "It cost 3.50 euros!",
        "¿Y qué? no capital.",
        "(Yes.)",
    ]


def test_words() -> None:
    assert tokenise_sentence("She's 3.5 well-known, isn’t she?") == [
        *("She's", "3.5", "well-known", ",", "isn’t", "she", "?")
    ]


@given(st.text(max_size=80))
def test_no_word_is_lost_between_sentences(text: str) -> None:
    assert [w for s in split_sentences(text) for w in tokenise_sentence(s)] == tokenise_sentence(
        text
    )


# Tokens know where they stand, and are cut as treebanks cut them.

TEXT = "Mr. Lee didn't see the clerk's well-worn hat. \"Is it hers?\" she asked -- twice."


def test_clitics_stand_alone_and_sentences_end_at_marks() -> None:
    first, second = tokenise_treebank(TEXT)
    joined = [" ".join(token.text for token in sentence) for sentence in (first, second)]
    assert joined[0] == "Mr . Lee did n't see the clerk 's well-worn hat ."
    assert joined[1] == '" Is it hers ? " she asked -- twice .'


def test_the_span_of_characters_counts_tokens_through_the_text() -> None:
    start = TEXT.index("she")
    assert find_span(tokenise_treebank(TEXT), start, start + 3) == (18, 19)
    assert find_span(tokenise_treebank(TEXT), TEXT.index("clerk"), TEXT.index("'s") + 2) == (7, 9)
    assert find_span(tokenise_treebank(TEXT), len(TEXT) + 1, len(TEXT) + 3) is None


@pytest.mark.parametrize(
    ("token", "gender"),
    [("He", "male"), ("HERSELF", "female"), ("their", "neutral"), ("it", ""), ("Her.", "")],
)
def test_pronouns_have_a_gender_whatever_their_case(token: str, gender: str) -> None:
    assert _find_gender(token) == gender

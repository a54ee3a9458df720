"""Tokenising tweets and edited text: examples worked by hand from the rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.sentences import split_sentences, tokenise_sentence
from corpora.tweets import is_retweet, tokenise_tweet
from files import InputError


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


def test_a_text_that_nltk_gives_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(self: object, text: str) -> list[str]:
        raise TimeoutError

    monkeypatch.setattr("nltk.tokenize.TweetTokenizer.tokenize", give_up)
    with pytest.raises(InputError, match="a text of 50,000 characters is no tweet"):
        tokenise_tweet("9" * 50_000)


def test_a_text_that_is_far_too_long() -> None:
    with pytest.raises(InputError, match="a text of 50,001 characters is no tweet"):
        tokenise_tweet("9" * 50_001)


@given(st.text(max_size=60))
def test_a_token_never_holds_white_space(text: str) -> None:
    assert all(token.split() == [token] for token in tokenise_tweet(text))


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


def test_accents_are_composed_in_sentences_too() -> None:
    assert tokenise_sentence("Cancio\u0301n") == ["Canción"]


def test_words() -> None:
    assert tokenise_sentence("She's 3.5 well-known, isn’t she?") == [
        "She's",
        "3.5",
        "well-known",
        ",",
        "isn’t",
        "she",
        "?",
    ]


@given(st.text(max_size=80))
def test_no_word_is_lost_between_sentences(text: str) -> None:
    assert [w for s in split_sentences(text) for w in tokenise_sentence(s)] == tokenise_sentence(
        text
    )

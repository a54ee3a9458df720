"""A document refuses clusters that cannot be."""

import pytest

from biasbridge.files import InputError
from biasbridge.files.documents import Document

SENTENCES = (("The", "nurse", "said"), ("she", "left"))


def test_tokens_run_through_the_sentences() -> None:
    document = Document("a", SENTENCES, (((0, 2), (3, 4)),))
    assert document.tokens == ["The", "nurse", "said", "she", "left"]
    assert document.mentions == [(0, 2), (3, 4)]


@pytest.mark.parametrize(
    ("clusters", "words"),
    [
        (((),), "no mention"),
        ((((0, 0),),), "tokens 0 to 0"),
        ((((3, 6),),), "there are 5"),
        ((((0, 2),), ((0, 2), (3, 4))), "twice"),
    ],
)
def test_impossible_clusters_are_refused(
    clusters: tuple[tuple[tuple[int, int], ...], ...], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        Document("a", SENTENCES, clusters)


def test_one_speaker_a_token() -> None:
    with pytest.raises(InputError, match="4 speakers of 5 tokens"):
        Document("a", SENTENCES, (), speakers=("x",) * 4)

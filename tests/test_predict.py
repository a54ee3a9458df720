"""``biasbridge predict``: classifiers that others trained, in ONNX and in safetensors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.metadata import distribution
from math import exp, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
import transformers
from onnx import TensorProto, helper

from biasbridge import gaps, predict
from biasbridge.__main__ import main
from biasbridge.files import InputError
from biasbridge.files.tables import read_table
from tests.tiny_models import save_model

HATE, OFFENSIVE, NEITHER = "0", "1", "2"
TEXTS = ("I hate you", "a fine day in town", "you stupid idiot", "", "¡Qué día!")


def parameters(model: onnx.ModelProto) -> dict[str, Any]:
    """Attributes and constants of a bag of words with a linear classifier, by name."""
    constants = {c.name: onnx.numpy_helper.to_array(c) for c in model.graph.initializer}
    attributes = {
        (node.op_type, attribute.name): helper.get_attribute_value(attribute)
        for node in model.graph.node
        for attribute in node.attribute
    }
    return constants | {f"{kind} {name}": value for (kind, name), value in attributes.items()}


def expected_probabilities(text: str) -> list[float]:
    """The equations of hatesonar's file, word by word: tf-idf of unit length, linear, softmax."""
    [path] = [f.locate() for f in distribution("hatesonar").files or [] if f.suffix == ".onnx"]
    of = parameters(onnx.load(str(path)))
    words = [word.decode() for word in of["TfIdfVectorizer pool_strings"]]
    column = dict(zip(words, of["TfIdfVectorizer ngram_indexes"], strict=True))
    vector = np.zeros(len(words))
    for word in re.findall("[a-zA-Z0-9_]+", text.lower()):
        if word in column:
            vector[column[word]] += 1
    vector *= of["idfcst"].ravel()
    vector /= sqrt(float((vector**2).sum())) or 1
    weights = np.array(of["LinearClassifier coefficients"]).reshape(3, -1)
    logits = weights @ vector + np.array(of["LinearClassifier intercepts"])
    shares = [exp(logit) for logit in logits]
    return [share / sum(shares) for share in shares]


def test_hatesonar_by_its_equations() -> None:
    table = predict("package:hatesonar", pd.DataFrame({"text": TEXTS}), positive=[HATE, OFFENSIVE])
    expected = np.array([expected_probabilities(text) for text in TEXTS])
    assert table["prediction_score"].tolist() == pytest.approx(1 - expected[:, 2], abs=2e-6)
    assert table["prediction_class"].tolist() == [str(n) for n in expected.argmax(axis=1)]
    assert table["prediction"].tolist() == [int(p <= 0.5) for p in expected[:, 2]]
    assert table["text"].tolist() == list(TEXTS)


def test_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    posts = pd.DataFrame({"text": TEXTS * 3})
    whole = predict("package:hatesonar", posts, positive=HATE)
    monkeypatch.setattr("biasbridge.files.models.classifiers._TEXTS_AT_ONCE", 2)
    pd.testing.assert_frame_equal(predict("package:hatesonar", posts, positive=HATE), whole)


NODE = helper.make_node
AI: dict[str, Any] = {"domain": "ai.onnx.ml"}
NAMED = {**AI, "classlabels_strings": ["no", "yes"]}
IS_BAD = NODE(
    *("LabelEncoder", ["text"], ["number"]),
    **AI | {"keys_strings": ["bad"], "values_floats": [1.0], "default_float": 0.0},
)
CLASSIFY = NODE(
    *("LinearClassifier", ["number"], ["label", "scores"]),
    **NAMED | {"coefficients": [-0.7, 0.7], "intercepts": [0.8, 0.2]},
)
NAME = NODE("ZipMap", ["scores"], ["named"], **NAMED)
MAPPING = helper.make_map_type_proto(
    TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, None)
)
CONSTANTS: dict[str, tuple[int, list[int], Any]] = {
    "rows": (TensorProto.INT64, [1], [0]),
    "second": (TensorProto.INT64, [1], [1]),
    "much": (TensorProto.FLOAT, [1], [25.0]),
    "huge": (TensorProto.INT64, [2], [10_000_000_000, 2]),
    "weights": (TensorProto.FLOAT, [1, 2], [-0.7, 0.7]),
}


def save_onnx(
    path: Path,
    *nodes: onnx.NodeProto,
    first: Sequence[onnx.NodeProto] = (IS_BAD, CLASSIFY),
    takes: int = TensorProto.STRING,
) -> str:
    """A classifier of the whole text: "bad" is of class yes with .9, all others with .2; its scores
    (texts, 2), or what further nodes make of them, are given as a map by class or as numbers.
    """
    nodes = (*first, *nodes)
    output = nodes[-1].output[-1]
    given = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
    if output == "named":
        given = helper.make_value_info(output, helper.make_sequence_type_proto(MAPPING))
    tensors = [helper.make_tensor(key, *constant) for key, constant in CONSTANTS.items()]
    inputs = [helper.make_tensor_value_info("text", takes, [None, 1])]
    graph = helper.make_graph(nodes, "words", inputs, [given], tensors)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), str(path))
    return str(path)


HOSTILE = {
    "one column": (NODE("Gather", ["scores", "second"], ["out"], axis=1), "(3, 1) values for 3"),
    "one row": (NODE("ReduceMean", ["scores", "rows"], ["out"]), "(1, 2) values for 3 texts and 2"),
    "no axis": (NODE("ReduceMean", ["scores"], ["out"], keepdims=0), "gives () values for 3 texts"),
    "22.5": (NODE("Mul", ["scores", "much"], ["out"]), "'bad', has no probabilities, but 2.5, 22."),
    "negative": (NODE("Neg", ["scores"], ["out"]), "has no probabilities, but -0.1, -0.9; leave"),
    "no such rows": (NODE("Expand", ["scores", "huge"], ["out"]), "cannot be run (onnxruntime.ca"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_gives_no_probabilities_ends_in_a_line(name: str, tmp_path: Path) -> None:
    node, told = HOSTILE[name]
    posts = pd.DataFrame({"text": ["bad", "good", "bad"]})
    table = predict(save_onnx(tmp_path / "right.onnx"), posts, positive="yes")
    assert table["prediction_score"].tolist() == pytest.approx([0.9, 0.2, 0.9])
    with pytest.raises(InputError, match=re.escape(told)) as refusal:
        predict(save_onnx(tmp_path / "bad.onnx", node), posts, positive="yes")
    assert "\n" not in str(refusal.value)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    name = save_onnx(tmp_path / "own.onnx", NAME)
    table = predict(name, pd.DataFrame({"post": ["bad day", "bad", "good"]}), positive="yes")
    assert table["prediction_score"].tolist() == pytest.approx([0.2, 0.9, 0.2])
    assert table["prediction"].tolist() == [0, 1, 0]
    assert table["prediction_class"].tolist() == ["no", "yes", "no"]


def test_a_table_without_rows_has_no_share(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, texts = save_onnx(tmp_path / "own.onnx", NAME), tmp_path / "posts.csv"
    texts.write_text("text\n", encoding="utf-8")
    assert main(["predict", name, str(texts), str(tmp_path / "out.csv"), "--positive", "yes"]) == 0
    assert "0 texts, 0 predicted positive\n" in capsys.readouterr().out


def test_a_text_as_long_as_roberta_takes(tmp_path: Path) -> None:
    """Its positions begin after the padding index: 48 of them hold 46 tokens."""
    save_model(tmp_path, "roberta", head="classes", id2label=NAMES)
    posts = pd.DataFrame({"text": ["the nurse " * 60]})
    assert predict(str(tmp_path), posts, positive="toxic")["prediction_score"].notna().all()


NAMES = {0: "clean", 1: "toxic", 2: "threat"}


@pytest.mark.parametrize(
    ("config", "function"),
    [
        ({"id2label": NAMES}, "softmax"),
        ({"id2label": NAMES, "problem_type": "multi_label_classification"}, "sigmoid"),
        ({"id2label": {0: "toxic"}}, "sigmoid"),
    ],
)
def test_safetensors_as_the_pipeline_has_it(
    config: dict[str, Any], function: str, tmp_path: Path
) -> None:
    folder = str(save_model(tmp_path / "model", "bert", head="classes", **config))
    posts = pd.DataFrame({"text": ["the doctor said", "the nurse " * 60, "a man", "a woman and"]})
    positive = ["toxic", "threat"][: max(len(config["id2label"]) - 1, 1)]
    table = predict(folder, posts, positive=positive, pred="v1")
    pipeline = transformers.pipeline("text-classification", folder, device="cpu")
    pool = sum if function == "softmax" else max
    for text, row in zip(posts["text"], table.to_dict("records"), strict=True):
        scores = pipeline(
            text, top_k=None, function_to_apply=function, truncation=True, max_length=48
        )
        by_class = {score["label"]: score["score"] for score in scores}
        expected = pool([by_class[name] for name in positive])
        assert row["v1_score"] == pytest.approx(expected, abs=2e-6)
        assert row["v1"] == int(expected >= 0.5)
        assert row["v1_class"] == max(by_class, key=by_class.__getitem__)


@pytest.fixture
def package_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes an installed package ``strange`` that holds a file."""

    def make(name: str) -> None:
        info = tmp_path / "strange-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange\nVersion: 1\n")
        (info / "RECORD").write_text(f"strange/{name},,\n")
        (tmp_path / "strange").mkdir()
        (tmp_path / "strange" / name).write_bytes(b"\x80\x04.")
        monkeypatch.syspath_prepend(tmp_path)

    return make


def test_a_pickle_is_not_opened(package_with: Callable[[str], None], tmp_path: Path) -> None:
    posts = pd.DataFrame({"text": ["a"]})
    package_with("model.joblib")
    for name in ("package:strange", str(tmp_path / "strange" / "model.joblib")):
        with pytest.raises(InputError, match=r"model\.joblib, a pickle, which can run code; give"):
            predict(name, posts)


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({}, "its classes are no, yes; name those that count as 1 with --positive CLASS"),
    ({"positive": "yess"}, "no class 'yess'; did you mean 'yes'?; its classes are no, yes"),
    ({"positive": ["no", "yes"]}, "every class is positive"),
    ({"positive": "yes", "text": "txt"}, "no column 'txt'"),
    ({"positive": "yes", "pred": "label"}, "the table has a column 'label'; name another"),
]


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_mistakes(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    name = save_onnx(tmp_path / "own.onnx", NAME)
    posts = pd.DataFrame({"text": ["bad", "good"], "label": [0, 1]})
    with pytest.raises(InputError, match=re.escape(message)):
        predict(name, posts, **options)


UNNAMED = NODE("MatMul", ["number", "weights"], ["scores"])
NUMBER = NODE("Identity", ["text"], ["number"])


def test_other_files_are_refused(tmp_path: Path) -> None:
    posts = pd.DataFrame({"text": ["bad", "good"]})
    (tmp_path / "text.onnx").write_text("no model")
    cases = [
        (tmp_path / "none.onnx", "no file"),
        (tmp_path / "text.onnx", "is not an ONNX model"),
        (save_onnx(tmp_path / "unnamed.onnx", UNNAMED, first=[IS_BAD]), "names no classes"),
        (
            save_onnx(tmp_path / "f.onnx", NAME, first=[NUMBER, CLASSIFY], takes=TensorProto.FLOAT),
            "takes float; give a classifier",
        ),
    ]
    for path, message in cases:
        with pytest.raises(InputError, match=re.escape(message)):
            predict(str(path), posts, positive="yes")
    folder = save_model(tmp_path / "masked", "bert", head="masked")
    with pytest.raises(InputError, match="is BertForMaskedLM, not a classifier of texts"):
        predict(str(folder), posts)


def test_from_texts_to_gaps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    posts = {"post": ["bad", "good"] * 20, "gold": ["yes", "no"] * 20, "group": list("abba") * 10}
    pd.DataFrame(posts).to_csv(tmp_path / "posts.csv", index=False)
    name, out = save_onnx(tmp_path / "own.onnx", NAME), str(tmp_path / "out.csv")
    assert main(["predict", name, str(tmp_path / "posts.csv"), out, "--positive", "yes"]) == 0
    printed = capsys.readouterr().out
    assert "40 texts, 20 predicted positive (50%)" in printed
    assert f"biasbridge gaps {out} --score prediction_score --gold" in printed
    table = gaps(out, gold="gold", positive="yes", measures="recall")
    assert table.loc[table["group"] == "all", "value"].item() == 1


def test_texts_stay_as_they_are_and_the_input_too(tmp_path: Path) -> None:
    path, out = tmp_path / "posts.csv", tmp_path / "out.csv"
    pd.DataFrame({"post": ["@user bad", "good\nday", "=bad"]}).to_csv(path, index=False)
    classifier = save_onnx(tmp_path / "own.onnx", NAME)
    assert main(["predict", classifier, str(path), str(out), "--positive", "yes"]) == 0
    assert read_table(out)["post"].tolist() == ["@user bad", "good\nday", "=bad"]
    with pytest.raises(InputError, match="is the input file; name another"):
        main(["predict", classifier, str(path), str(path), "--positive", "yes"])


@pytest.mark.realdata
def test_hatecheck(realdata: Path) -> None:
    """Figures of the classifier's own program on the same file, sum of two classes at .5."""
    path = realdata / "hatespeech" / "hatecheck_en" / "test_suite_cases.csv"
    table = predict("package:hatesonar", path, positive=[HATE, OFFENSIVE], text="test_case")
    result = gaps(
        table,
        gold="label_gold",
        positive="hateful",
        group="target_ident",
        score="prediction_score",
        measures=["recall", "fpr", "auc"],
    )
    values = result[result["kind"] == "value"].set_index(["group", "measure"])["value"].round(3)
    assert values["women", "fpr"] == pytest.approx(0.71, abs=0.006)
    assert values["women", "recall"] == pytest.approx(0.66, abs=0.006)
    assert values["Muslims", "recall"] == pytest.approx(0.15, abs=0.006)
    assert values["gay people", "fpr"] == pytest.approx(0.61, abs=0.006)


def test_a_probability_that_is_no_number_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = save_onnx(tmp_path / "own.onnx", NAME)
    undefined = np.array([[0.3, 0.7], [np.nan, np.nan]])
    place = "biasbridge.files.models.classifiers.OnnxClassifier.predict_probabilities"
    monkeypatch.setattr(place, lambda *_: undefined)
    with pytest.raises(
        InputError, match="text 2, 'good', has no probabilities, but nan, nan; leave it"
    ):
        predict(name, pd.DataFrame({"text": ["bad", "good"]}), positive="yes")

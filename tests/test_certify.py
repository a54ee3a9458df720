"""``biasbridge certify``, and what an audit says of its scores by the recorded certificate."""

from __future__ import annotations

import inspect
import json
import re
import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from transformers import AutoConfig, AutoModelForCausalLM

from biasbridge import audit
from biasbridge.__main__ import main
from biasbridge.certificates import certified, gender_words
from biasbridge.commands.certify import certify
from biasbridge.files import InputError
from biasbridge.input_vectors import as_vectors
from biasbridge.intrinsic.audit import AuditedScore, score_table
from biasbridge.intrinsic.metrics.weat import Weat
from biasbridge.intrinsic.models.items import ItemSet, Pair, library
from biasbridge.intrinsic.terminal import summary_table
from biasbridge.intrinsic.words import Query, WordSet, load_query
from biasbridge.studies import certificate_verdicts as recorded
from biasbridge.studies.certificate_verdicts import (
    _RECORDED_CSV,
    SCORE_VERDICTS,
    RecordedVerdict,
    not_called_bias,
    recorded_verdict,
)
from tests.tiny_models import SMALL, byte_pieces, save_model

if TYPE_CHECKING:
    from pathlib import Path

# A stranger's metric: cosines with X minus those with Y, of A
METRIC = '''
from __future__ import annotations

from typing import ClassVar

from biasbridge.files import choice
from biasbridge.intrinsic.lookup import ResolvedQuery
from biasbridge.intrinsic.metric import MetricInfo, Metric
from biasbridge.intrinsic.score import MetricResult


@choice
class Leaning(Metric):
    """Mean cosine of A with X, less that with Y."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="leaning", title="Leaning", formula="mean cos(a, x) - mean cos(a, y)",
        sign="> 0: A goes with X", range=(-2, 2), source="Ours",
        roles={"X": "targets", "Y": "targets", "A": "attributes"}, asks=("weat6b",),
    )

    def measure(self, words: ResolvedQuery, seed: int) -> MetricResult:
        x, y, a = (words[role].rows(True) for role in "XYA")
        return MetricResult(float((a @ x.T).mean() - (a @ y.T).mean()))
'''


def write_metric(folder: Path, module: str = "leaning") -> None:
    """Write the metric, and a YAML of another name that names it."""
    (folder / f"{module}.py").write_text(METRIC, encoding="utf-8")
    if module != "leaning":
        (folder / "intrinsic").mkdir()
        text = f"leaning:\n  _target_: {module}.Leaning\n  case: lower\n"
        (folder / "intrinsic" / f"{module}.yaml").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_strangers_metric_of_one_file_is_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "mine").mkdir()
    write_metric(tmp_path / "mine")
    small = "{embedding: word2vec, corpus.sentences: 1500, corpus.stereotype: '-1,0,1',"
    random = "{embedding: word2vec, corpus.sentences: 1500, size.epochs: 0, seed: 'range(3)'}"
    other = small.replace("'-1,0,1'", "0, corpus.off_target: 1")
    grids = (small + " seed: 'range(%d)'}", other + " seed: 'range(%d)'}", random)
    monkeypatch.setattr("biasbridge.commands.certify.ON_VECTORS", grids)
    asked = ["certify", "leaning", "--config-dir", "mine", "--seeds", "3", "--json"]
    assert main([*asked, "--export", "mine.csv"]) == 0
    [row] = json.loads(capfd.readouterr().out)
    assert (row["metric"], row["convention"], row["subject"]) == (
        *("leaning", "default", "word2vec en"),
    )
    assert row["slope_low"] < row["slope"] < row["slope_high"]
    assert -1 <= row["r"] <= 1
    assert row["verdict"] in SCORE_VERDICTS
    assert row["models"] == 9  # not the random ones
    assert "gensim" in row["libraries"]
    exported = pd.read_csv(tmp_path / "mine.csv")
    assert exported["slope"].item() == pytest.approx(row["slope"])
    assert main(asked[:-1]) == 0
    assert "Verdict on each score" in capfd.readouterr().out
    with (tmp_path / "mine" / "leaning.py").open("a", encoding="utf-8") as file:
        file.write("\n\nEDITED = True\n")
    with pytest.raises(InputError, match="the run did not finish"):
        main(asked)
    assert ". --stale rebuild rebuilds them" in capfd.readouterr().err
    assert main([*asked, "--stale", "rebuild"]) == 0
    ended = capfd.readouterr()
    assert "rebuilding results of other code: 15 intrinsic (Leaning): leaning" in ended.err
    assert json.loads(ended.out)[0]["slope"] == row["slope"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("wat",), "unknown metric 'wat'; did you mean 'weat'?"),
        (("weat", "--convention", "wfe"), "weat has no convention 'wfe'; did you mean 'wefe'?"),
        (("weat", "--seeds", "2"), "seeds=2: fewer than 3"),
        (("sembias",), "sembias needs the roles rows, pairs"),
        (("survey",), "survey is not one metric but several: certify one of weat,"),
        (("stereoset",), "stereoset does not take the occupations"),
    ],
)
def test_what_cannot_be_certified_is_said_in_one_line(
    arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        main(["certify", *arguments])
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("empty", "empty.yaml is empty"),
        ("list", "list.yaml holds no metric"),
        ("broken", "broken.yaml is not valid YAML: "),
    ],
)
def test_a_file_without_a_metric_is_named(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "intrinsic").mkdir()
    (tmp_path / "intrinsic" / "empty.yaml").touch()
    (tmp_path / "intrinsic" / "list.yaml").write_text("- a", encoding="utf-8")
    (tmp_path / "intrinsic" / "broken.yaml").write_text("a: [", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        main(["certify", name, "--config-dir", str(tmp_path)])


def test_a_folder_that_is_missing_is_named() -> None:
    with pytest.raises(InputError, match="no such folder: nowhere"):
        main(["certify", "weat", "--config-dir", "nowhere"])


def test_the_recorded_certificate_has_a_line_for_every_kind_of_model() -> None:
    table = pd.read_csv(_RECORDED_CSV)
    assert set(table["verdict"]) <= set(SCORE_VERDICTS)
    kinds = {name.partition(" ")[0] for name in table["subject"]}
    assert kinds == {"word2vec", "fasttext", "tiny_bert", "tiny_gpt2", "smollm2-135m"}


@pytest.mark.parametrize(
    ("asked", "subject"),
    [
        (("weat", "wefe", "vectors", "en"), "word2vec en"),
        (("weat", "wefe,case=lower,min_found=0.5", "vectors", "en"), "word2vec en"),
        (("weat", "wefe,tail=two", "vectors", "en"), ""),  # a changed convention
        (("lpbs", "no_such", "masked", "en"), ""),  # not that of the default one
        (("weat", "default", "vectors", "es"), "word2vec es"),
        (("weat", "default", "vectors", "it"), ""),
        (("weat", "default", "masked", "en"), ""),  # vectors of a model's words
        (("pll", "default", "causal", "es"), "tiny_gpt2 es"),
        (("seat", "default", "masked", "en"), "tiny_bert en"),
        (("seat", "default", "encoder", "en"), ""),
        (("pll", "default", "random", "en"), ""),
        (("no such metric", "default", "vectors", "en"), ""),
        (("pll", "default", "causal", "en", "llama, 30 layers of 576"), "smollm2-135m en"),
        (("pll", "default", "causal", "en", "llama, 2 layers of 64"), "smollm2-135m en"),
        (("pll", "default", "causal", "es", "llama, 30 layers of 576"), "tiny_gpt2 es"),
        (("pll", "default", "causal", "en", "gpt2, 12 layers of 768"), "tiny_gpt2 en"),
        (("pll", "default", "causal", "en", "qwen2, 2 layers of 64"), "tiny_gpt2 en"),
        (("pll", "default", "masked", "en", "llama, 30 layers of 576"), "tiny_bert en"),
        (("crows_pairs", "default,ties=anti", "causal", "en"), "tiny_gpt2 en"),
    ],
)
def test_a_score_is_certified_by_what_was_measured_on_its_like(
    asked: tuple[str, ...], subject: str
) -> None:
    table = pd.read_csv(_RECORDED_CSV, keep_default_na=False)
    name = asked[1] if "ties" in asked[1] else asked[1].partition(",")[0]
    row = table[
        (table["metric"] == asked[0])
        & (table["convention"] == name)
        & (table["subject"] == subject)
        & table["material"].isin(["synthetic", "smollm2-135m"])
    ]
    model = subject.partition(" ")[0]
    expected = f"{row['verdict'].item()}: {row['why'].item()} ({model})" if subject else ""
    assert recorded_verdict(*asked).line == expected


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ({"num_hidden_layers": 30, "hidden_size": 576}, "(same architecture and size)"),
        ({"num_hidden_layers": 2, "hidden_size": 16}, "(same architecture)"),
    ],
)
def test_the_certificate_of_smollm2_stands_beside_the_nearest_model(
    sizes: dict[str, int], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Recorded: four of four models without a planted bias raise a false alarm."""
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8}
    config = AutoConfig.for_model("llama", **{**SMALL, **heads, **sizes})
    model = AutoModelForCausalLM.from_config(config)
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("stereo,anti\nthe nurse said she,the nurse said he\n", encoding="utf-8")
    model.save_pretrained(tmp_path / "llama")
    byte_pieces(masked=False).save_pretrained(tmp_path / "llama")
    assert main(["audit", str(tmp_path / "llama"), "--metric", "pll", "--items", str(pairs)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "false alarms" in printed
    assert f"measured on smollm2-135m {told}, trained" in printed
    table = audit(tmp_path / "llama", metrics="pll", items=pairs)
    line = "false alarms: of 4 of 4 models without a bias (smollm2-135m)"
    assert table["certificate"].tolist() == [line]


PEOPLE = {"X": ["he", "man", "boy"], "Y": ["she", "woman", "girl"]}
TOPICS = {"A": ["career", "office", "salary"], "B": ["home", "family", "garden"]}


def query_of(sets: dict[str, list[str]], language: str = "en") -> Query:
    words = {role: WordSet(role, tuple(each), language, "") for role, each in sets.items()}
    return Query("mine", words, language)


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        (load_query("weat7"), "en"),
        (load_query("weat1"), ""),  # flowers and insects
        (load_query("weat3"), ""),
        (load_query("weat6b_it"), ""),
        (load_query("gender_es"), "es"),
        (query_of({**PEOPLE, **TOPICS}), "en"),
        (query_of({**TOPICS, "X": ["tea"], "Y": ["rain"]}), ""),
        (query_of({**PEOPLE, "X": ["he", "man", "tea", "rain"]}), ""),  # a half
        (query_of({**PEOPLE, "X": ["he", "man", "tea"]}), "en"),  # more than a half
        (query_of({**PEOPLE, "Y": PEOPLE["X"]}), ""),  # men and men
        (load_query("base_pairs"), "en"),
        (library()["seat8"], "en"),
        (library()["seat2"], ""),
        (library()["lpbs_career"], "en"),
        (library()["occupations_es"], "es"),
        (library()["neutral_sentences"], ""),
        (ItemSet("a", "en", pairs=(Pair("he said", "she said"), Pair("tea", "rain"))), ""),
        (ItemSet("b", "en", pairs=(Pair("he said", "she said"),) * 2 + (Pair("tea", "it"),)), "en"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_only_words_for_women_and_men_are_certified(asked: Query | ItemSet, language: str) -> None:
    assert gender_words(asked) == language


def test_words_without_a_language_are_in_that_of_the_vectors() -> None:
    asked = query_of({**PEOPLE, **TOPICS}, "und")
    assert [gender_words(asked, language) for language in ("en", "it")] == ["en", ""]


def test_the_line_stands_beside_a_value_alone() -> None:
    """Flowers and insects, a score without a value and random weights have none."""
    words = [word for role in ("X", "Y", "A", "B") for word in {**PEOPLE, **TOPICS}[role]]
    words += [word for role in "XYAB" for word in load_query("weat1")[role].words]
    rows = np.random.default_rng(0).normal(size=(len(words), 8))
    vectors = dict(zip(words, rows, strict=True))
    table = audit(vectors, {**PEOPLE, **TOPICS}, metrics="weat")
    assert table["certificate"].tolist() == [
        recorded_verdict("weat", "default", "vectors", "en").line
    ]
    table = audit(vectors, metrics="weat", queries=["weat1", "weat7"]).set_index("query")
    assert np.isfinite(table["value"]["weat1"])
    assert np.isnan(table["value"]["weat7"])
    assert table["certificate"].tolist() == ["", ""]


def test_the_summary_shows_the_line_in_its_row() -> None:
    """It was that of a metric's first row."""
    [(score, _)] = Weat.by_convention("default", queries=("weat7",)).score_with_singles(
        as_vectors({"he": [1.0]}), seed=0
    )
    lines = {"weat1": "", "weat7": "sign turned: .2", "weat8": "does not detect: slope"}
    audited = [
        AuditedScore("v", score._replace(query=query, value=1.0), {}, certificate=line)
        for query, line in lines.items()
    ]
    assert [[row[1], row[2], row[-1]] for row in summary_table(audited).rows] == [
        [query, "1.000", line.partition(":")[0]] for query, line in lines.items()
    ]


def test_random_weights_and_encoders_are_not_certified(tmp_path: Path) -> None:
    folders = [save_model(tmp_path / head, "bert", head=head) for head in ("masked", "")]
    rows = [
        f"that is {{}},{role},{word}," for role in "XYAB" for word in {**PEOPLE, **TOPICS}[role]
    ]
    items = tmp_path / "own.csv"
    items.write_text("\n".join(["text,group,term,template", *rows]), encoding="utf-8")
    tables = [audit(folder, metrics="seat", items=items) for folder in folders]
    tables.append(audit(folders[0], metrics="seat", items=items, random_weights=True))
    assert all(table["value"].notna().all() for table in tables)
    lines = [table["certificate"].item() for table in tables]
    assert lines == [recorded_verdict("seat", "default", "masked", "en").line, "", ""]


def test_a_score_that_does_not_detect_a_planted_bias_is_not_called_bias(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = {
        ("weat", "default", "word2vec en"): RecordedVerdict("does not detect", "slope .1"),
        ("mac", "default", "word2vec en"): RecordedVerdict("detects half of the bias", ".2"),
    }
    monkeypatch.setattr(recorded, "_recorded", lambda: known)
    words = {"he": [1.0, 0.0], "she": [0.0, 1.0], "maths": [1.0, 0.1], "arts": [0.1, 1.0]}
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(2)
    vectors.add_vectors(list(words), np.array(list(words.values()), dtype=np.float32))
    metric = Weat.by_convention("default", queries=("weat7",), min_found=0.0)
    [(score, single)] = metric.score_with_singles(vectors, seed=0)
    one = AuditedScore("v", score._replace(value=1.0), single, gender_words="en")
    assert certified([one._replace(score=score)])[0][0].called_bias, "it has no value"
    found, _, [explanation] = certified([one])
    assert "measured on word2vec (same kind)" in explanation
    assert score_table(found)["certificate"].tolist() == ["does not detect: slope .1 (word2vec)"]
    assert not found[0].called_bias
    assert not_called_bias({"weat": known["weat", "default", "word2vec en"]}).endswith(
        "weat (slope .1)"
    )
    assert not_called_bias({"mac": known["mac", "default", "word2vec en"]}) == ""


def test_certify_in_python_is_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    import biasbridge

    assert inspect.unwrap(biasbridge.certify) is inspect.unwrap(certify)

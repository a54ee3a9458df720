"""The task ``bbq``: answers are the likeliest options by a literal loop, rows those of a loop over
items, and a sweep of the experiment is reported.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from biasbridge.extrinsic.bbq import (
    NO_ANSWER,
    BBQItem,
    TargetAnswers,
    crossed_targets,
    flag_answers,
)
from biasbridge.extrinsic.bbq_answers import read_items
from biasbridge.extrinsic.model_answers import (
    Normalisation,
    _option_values,
    bbq_rows,
    choose_options,
)
from biasbridge.files import InputError
from biasbridge.files.models.language_model import open_model
from biasbridge.intrinsic.resampling import times_drawn
from biasbridge.train.engine.steps import Task
from biasbridge.train.tasks.bbq import BBQ, _measure_bbq
from tests.extrinsic.bbq_items import item, literal
from tests.tiny_models import literal_logs, save_model

if TYPE_CHECKING:
    from tests.conftest import Ended, Train

PROMPTS = ["the nurse and the doctor met. Who said it?", "a man came. who would stay?"]
OPTIONS = [["The doctor", "the nurse", "Not known"], ["the man", "the family", "can't be said"]]
SIZES: dict[Normalisation, Callable[[str, int], int]] = {
    "sum": lambda text, n: 1,
    "per_token": lambda text, n: n,
    "per_byte": lambda text, n: len(text.encode()),
}
MODELS = {"bert": "masked", "roberta": "masked", "gpt2": "causal", "llama": "causal"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A tiny random model of each architecture, in larger numbers than usual."""
    folder = tmp_path_factory.mktemp("models")
    return {
        name: save_model(folder / name, name, head=head, scale=8) for name, head in MODELS.items()
    }


def paired(prompts: list[str], options: list[list[str]]) -> list[tuple[str, str]]:
    rows = zip(prompts, options, strict=True)
    return [(prompt, text) for prompt, texts in rows for text in texts]


@pytest.mark.parametrize("name", MODELS)
def test_values_equal_a_literal_loop(name: str, folders: dict[str, Path]) -> None:
    model = open_model(folders[name])
    pairs = zip(PROMPTS, OPTIONS, strict=True)
    logs = [[literal_logs(model, prompt, text) for text in texts] for prompt, texts in pairs]
    for normalisation, size in SIZES.items():
        expected = [
            [sum(terms) / size(text, len(terms)) for text, terms in zip(texts, rows, strict=True)]
            for texts, rows in zip(OPTIONS, logs, strict=True)
        ]
        values = _option_values(model, paired(PROMPTS, OPTIONS), normalisation)
        np.testing.assert_allclose(values.reshape(2, 3), expected, rtol=1e-4)
        chosen = choose_options(model, paired(PROMPTS, OPTIONS), normalisation)
        assert chosen == np.argmax(expected, axis=1).tolist()


def test_ties_and_long_texts_have_no_answer(folders: dict[str, Path]) -> None:
    model = open_model(folders["gpt2"])
    prompts = [PROMPTS[0], "the nurse " * 60, PROMPTS[1]]
    options = [["a man", "a man", "a man"], OPTIONS[0], OPTIONS[1]]
    chosen = choose_options(model, paired(prompts, options), "sum")
    assert chosen[:2] == [NO_ANSWER, NO_ANSWER]
    assert chosen[2] in range(3)


def write(folder: Path, made: list[dict[str, Any]], name: str = "Age.jsonl") -> Path:
    folder.mkdir(exist_ok=True)
    lines = "".join(json.dumps(row) + "\n" for row in made)
    (folder / name).write_text(lines, encoding="utf-8")
    return folder


def test_rows_equal_a_loop_over_items() -> None:
    made = [item(number) for number in range(128)]
    made += [item(number, category="Old") for number in range(0, 128, 3)]
    places = [(5 * row["example_id"] + row["label"]) % 4 for row in made]
    answers = [None if place == 3 else place for place in places]
    items, _ = read_items(pd.DataFrame(made).assign(output=""))
    chosen = [NO_ANSWER if place is None else place for place in answers]
    rows = bbq_rows(flag_answers(items, chosen, crossed_targets(items)))
    assert [(row.measure, row.subset) for row in rows[:2]] == [
        ("bbq_accuracy_ambiguous", ""),
        ("bbq_accuracy_disambiguated", ""),
    ]
    by_name = {(row.measure, row.subset): row for row in rows}
    assert len(by_name) == len(rows) == 2 + 2 * 4
    for subset in ("", "Age", "Old"):
        pairs = [
            (row, answer)
            for row, answer in zip(made, answers, strict=True)
            if subset in ("", row["category"])
        ]
        for condition, context in (("ambig", "ambiguous"), ("disambig", "disambiguated")):
            expected = literal([row for row, _ in pairs], [place for _, place in pairs], condition)
            accuracy = by_name[f"bbq_accuracy_{context}", subset]
            assert accuracy.value == pytest.approx(expected["accuracy"])
            assert accuracy.support == expected["n"]
            assert accuracy.low < accuracy.value < accuracy.high
            if not subset:
                continue
            score = by_name[f"bbq_{context}", subset]
            assert score.value == pytest.approx(expected["score"])
            assert score.low < score.value < score.high
            templates = {
                row["question_index"]
                for row, answer in pairs
                if answer is not None and row["context_condition"] == condition
            }
            assert score.support == len(templates)
            drawn = times_drawn([f"{subset} {template}" for template in range(8)])
            repeated = [
                pair for pair in pairs for _ in range(drawn[int(pair[0]["question_index"]), 7])
            ]
            redrawn = literal(
                [row for row, _ in repeated], [place for _, place in repeated], condition
            )
            assert score.resampled[7] == pytest.approx(redrawn["score"])
    assert by_name["bbq_accuracy_disambiguated", ""].majority_baseline == pytest.approx(1 / 3)


def test_a_category_without_answers_says_so() -> None:
    items, _ = read_items(pd.DataFrame([item(n) for n in range(32)]).assign(output=""))
    rows = bbq_rows(flag_answers(items, [NO_ANSWER] * 32, {}))
    assert {row.reason for row in rows} == {"no output means one of the answers"}
    unknown = bbq_rows(flag_answers(items, [each.unknown for each in items], {}))
    scores = [row for row in unknown if row.kind == "gap"]
    assert [(row.reason, row.resampled) for row in scores] == [("none answered", [])] * 2


def test_a_limit_draws_from_each_template_context_and_polarity(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    made = [item(number) for number in range(128)]
    write(tmp_path / "bbq", made)
    task = BBQ(str(tmp_path / "bbq"), limit=1)
    assert isinstance(task, Task)
    (tmp_path / "model").mkdir()
    shutil.copytree(folders["gpt2"], tmp_path / "model" / "model")
    _measure_bbq(task, tmp_path, {"model": tmp_path / "model"}, 0)
    table = pd.read_parquet(tmp_path / "scores.parquet")
    accuracy = table[table["measure"] == "bbq_accuracy_ambiguous"].iloc[0]
    assert accuracy["support"] == 16
    assert accuracy["n_clusters"] == 8
    write(tmp_path / "bbq", [item(n, category="Old") for n in range(64)], "Old.jsonl")
    both = BBQ(str(tmp_path / "bbq"), categories=("Age",), limit=1)
    _measure_bbq(both, tmp_path, {"model": tmp_path / "model"}, 0)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "scores.parquet"), table)


def test_an_intersection_has_the_targets_of_all_items(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two women in one item say that women are meant, in items of a woman and a man too."""
    metadata = {"additional_metadata": {"stereotyped_groups": ["Black"]}}
    texts = {"ans0": "The woman", "ans1": "The man", "ans2": "Unknown", "question_index": "1"}
    shared = metadata | texts | {"category": "Race_x_gender"}
    pair = {"ans0": ["woman", "F-Black"], "ans1": ["man", "M-Black"], "ans2": ["-", "unknown"]}
    women = pair | {"ans1": ["woman", "F-White"]}
    made = [item(0, answer_info=women, **shared), item(8, answer_info=pair, **shared)]
    made[0]["question_polarity"] = "nonneg"
    made[1]["question_polarity"] = "neg"
    write(tmp_path / "bbq", made)
    (tmp_path / "model").mkdir()
    shutil.copytree(folders["gpt2"], tmp_path / "model" / "model")
    seen: list[object] = []

    def flag(items: list[BBQItem], chosen: list[int], targets: TargetAnswers) -> pd.DataFrame:
        seen.append(targets)
        return flag_answers(items, chosen, targets)

    monkeypatch.setattr("biasbridge.train.tasks.bbq.flag_answers", flag)
    _measure_bbq(BBQ(str(tmp_path / "bbq"), limit=1), tmp_path, {"model": tmp_path / "model"}, 0)
    assert seen == [{("Race_x_gender", "1"): "F"}]


def test_a_model_that_answers_nothing_is_refused(folders: dict[str, Path], tmp_path: Path) -> None:
    write(tmp_path / "bbq", [item(n, context="the nurse " * 60) for n in range(4)])
    (tmp_path / "model").mkdir()
    shutil.copytree(folders["gpt2"], tmp_path / "model" / "model")
    with pytest.raises(InputError, match=r"answers 0 of 4 items of BBQ \(longer than 48 tokens"):
        _measure_bbq(BBQ(str(tmp_path / "bbq")), tmp_path, {"model": tmp_path / "model"}, 0)


def run(train: Train, model: Path, *arguments: str) -> Ended:
    return train(
        *("subject=language_model", "model=loaded", f"model.model={model}", "intrinsic=lpbs"),
        *("intrinsic.lpbs.items.sets=[lpbs_career]", "task=bbq", "hydra.mode=RUN", *arguments),
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "biasbridge data get bbq"),
        (
            ["task.data=nowhere"],
            "nowhere holds no file of BBQ (Age.jsonl and others); run biasbridge data get bbq",
        ),
        (["task.data=bbq", "task.categories=[Ages]"], "task.categories=Ages: bbq has Age; give"),
        (["task.data=bbq", "task.normalisation=mean"], "give one of sum, per_token, per_byte"),
        (["task.data=bbq", "task.limit=0"], "a whole number of at least 1"),
        (["task.data=bad"], "the item is not as in BBQ"),
    ],
    ids=str,
)
def test_mistakes_are_one_line(
    arguments: list[str], message: str, folders: dict[str, Path], train: Train, tmp_path: Path
) -> None:
    write(tmp_path / "bbq", [item(n) for n in range(4)])
    write(tmp_path / "bad", [item(n, question_polarity="so") for n in range(4)])
    ended = run(train, folders["bert"], *arguments)
    assert ended.status == 2, ended
    assert message in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.slow
def test_a_point_and_the_experiment(folders: dict[str, Path], train: Train, tmp_path: Path) -> None:
    write(tmp_path / "bbq", [item(n) for n in range(64)])
    ended = run(train, folders["bert"], "task.data=bbq", "task.normalisation=sum")
    assert ended.status == 0, ended.err
    assert "CC BY 4.0" in ended.out + ended.err
    [path] = Path("results/point").glob("*/extrinsic.parquet")
    table = pd.read_parquet(path)
    assert {*table["measure"]} == {
        *("bbq_ambiguous", "bbq_disambiguated"),
        *("bbq_accuracy_ambiguous", "bbq_accuracy_disambiguated"),
    }
    write(tmp_path / "bbq", [item(n, category="Gender_identity") for n in range(64)])
    other = save_model(tmp_path / "other", "roberta", head="masked", seed=1)
    ended = train(
        *("+experiment=bbq", f"models=[{folders['roberta']},{other}]", "task.data=bbq"),
        *("debias=leace", "debias.dose=-1,0,1", "intrinsic.lpbs.items.sets=[lpbs_career]"),
    )
    assert ended.status == 0, ended.err
    correlations = pd.read_csv("results/bbq/correlations.csv")
    assert {"bbq_ambiguous", "bbq_disambiguated"} <= {*correlations["measure"]}
    assert {*correlations["subset"]} == {"Gender_identity"}

"""Samples of lm-evaluation-harness: answers, targets, filters, folders, and gaps from them; folders
of ``datasets`` and JSON Lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import biasbridge
from biasbridge.__main__ import main as command
from biasbridge.extrinsic.logs import detect_format, read_answers
from biasbridge.files import InputError

TIME = "2026-01-02T03-04-05.678901"
FIELDS = ("resps", "doc_hash", "prompt_hash", "target_hash")


def choice_line(number: int, doc: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """An item whose options have log-likelihoods, as ``save_results_samples`` writes it."""
    sample = {
        "doc_id": number,
        "doc": doc,
        "target": "0",
        "arguments": {
            "gen_args_0": {"arg_0": "Q?", "arg_1": " no"},
            "gen_args_1": {"arg_0": "Q?", "arg_1": " yes"},
        },
        "resps": [[["-1.5", "True"]], [["-2.5", "False"]]],
        "filtered_resps": [["-1.5", "True"], ["-2.5", "False"]],
        "filter": "none",
        "metrics": ["acc"],
        **dict.fromkeys(FIELDS[1:], "00"),
        "acc": 1.0,
    }
    return sample | changes


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    return tmp_path / "org__m" / f"samples_toxic_{TIME}.jsonl"


YES = [["-3.5", "True"], ["-2.5", "False"]]


def test_an_item_with_options(samples: Path) -> None:
    doc = {"id": "x9", "label": 1, "group": "women", "info": {"a": [1]}}
    write(samples, [choice_line(0, doc), choice_line(1, doc, filtered_resps=YES, acc=0.0)])
    assert detect_format(samples) == "lm_eval"
    frame = read_answers(samples)
    assert frame["answer"].tolist() == ["no", "yes"]
    assert frame["target"].tolist() == ["no", "no"]
    assert frame["correct"].tolist() == [1, 0]
    assert frame["choices"].tolist() == [["no", "yes"]] * 2
    assert frame["loglikelihoods"].tolist() == [[-1.5, -2.5], [-3.5, -2.5]]
    assert frame["label"].tolist() == [0, 0]
    assert frame["prediction"].tolist() == [0, 1]
    assert frame["id"].tolist() == ["0", "1"]
    assert frame["doc.id"].tolist() == ["x9"] * 2
    assert frame["doc.label"].tolist() == [1, 1]
    assert frame["info"].tolist() == [{"a": [1]}] * 2
    assert frame["acc"].tolist() == [1, 0]
    facts = {"format": "lm_eval", "model": "org__m", "task": "toxic", "notes": []}
    assert frame.attrs == facts


def test_the_model_is_that_of_the_results_beside(samples: Path) -> None:
    write(samples, [choice_line(0, {})])
    results = samples.with_name(f"results_{TIME}.json")
    results.write_text('{"results": {}, "model_name": "org/m"}', encoding="utf-8")
    assert read_answers(samples).attrs["model"] == "org/m"
    results.write_text('{"results": {}, "model_', encoding="utf-8")
    with pytest.raises(
        InputError, match=r"results_.*json is damaged, or not as its program writes it \("
    ):
        read_answers(samples)


@pytest.mark.parametrize(
    "responses",
    [
        [[-1.5, True], [-0.5, False]],
        [["-1.5", "True"], ["-0.5", "False"]],
        ["(-1.5, True)", "(-0.5, False)"],
        ["[-1.5, True]", "['-5e-1', 'False']"],
        [["-inf", "False"], ["-0.5", "False"]],
    ],
)
def test_the_forms_of_loglikelihoods(samples: Path, responses: list[Any]) -> None:
    write(samples, [choice_line(0, {}, filtered_resps=responses, acc=0.0)])
    assert read_answers(samples)["answer"].item() == "yes"


OPTIONS = {f"gen_args_{n}": {"arg_0": "", "arg_1": f" {text}"} for n, text in enumerate("xyz")}
NUMBERS = {f"gen_args_{n}": {"arg_0": "", "arg_1": f" {n}"} for n in (12, 2, 7)}
LAST = [["-9.0", "False"], ["-8.0", "False"], ["-7.0", "False"]]


@pytest.mark.parametrize(
    ("changes", "answer", "target"),
    [
        ({"target": "1", "acc": 0.0}, "z", "y"),
        ({"target": "y", "acc": 0.0}, "z", "y"),
        ({"target": "[0, 2]", "acc": 1.0}, "z", "z"),  # several are right
        ({"target": "[0, 1]", "acc": 0.0}, "z", "x"),
        ({"target": "7", "acc": 0.0}, "z", "7"),
        ({"target": "1", "metrics": ["f1"]}, "z", "y"),
        # Options that are numbers: a place, unless the answer at it was wrong
        ({"target": "2", "arguments": NUMBERS, "metrics": ["f1"]}, "7", "7"),
        ({"target": "2", "arguments": NUMBERS, "acc": 0.0}, "7", "2"),
        ({"target": "1", "filtered_resps": [["nan", "False"]] * 3, "acc": 0.0}, None, "y"),
    ],
)
def test_targets_by_place_or_text(
    samples: Path, changes: dict[str, Any], answer: str | None, target: str
) -> None:
    line = choice_line(0, {}, arguments=OPTIONS, filtered_resps=LAST)
    del line["acc"]
    write(samples, [line | changes])
    row = read_answers(samples).iloc[0]
    assert (None if pd.isna(row["answer"]) else row["answer"], row["target"]) == (answer, target)
    assert row["correct"] == float(answer == target) or answer is None


def test_options_that_are_contexts_and_unconditional_requests(samples: Path) -> None:
    contexts = {
        f"gen_args_{n}": {"arg_0": text, "arg_1": " left."} for n, text in enumerate(("He", "She"))
    }
    write(samples, [choice_line(0, {}, arguments=contexts)])
    assert read_answers(samples)["choices"].item() == ["He", "She"]
    twice = OPTIONS | {f"gen_args_{n + 3}": {"arg_0": "", "arg_1": "?"} for n in range(3)}
    responses = [*LAST, *([["-1.0", "False"]] * 3)]
    metrics = {"metrics": ["acc", "acc_mutual_info"], "acc_mutual_info": 0.0}
    write(samples, [choice_line(0, {}, arguments=twice, filtered_resps=responses, **metrics)])
    row = read_answers(samples).iloc[0]
    assert (row["choices"], row["answer"]) == (["x", "y", "z"], "z")


def generated(number: int, text: str, filtered: str, name: str) -> dict[str, Any]:
    return choice_line(
        number,
        {"group": "ab"[number % 2]},
        target="Yes",
        arguments={"gen_args_0": {"arg_0": "Q?", "arg_1": "{'until': []}"}},
        resps=[[text]],
        filtered_resps=[filtered],
        filter=name,
        metrics=["exact_match"],
        exact_match=float(filtered == "Yes"),
        acc=None,
    )


def test_of_several_filters_one_is_chosen(samples: Path) -> None:
    lines = [generated(0, "So: yes", "So: yes", "raw"), generated(0, "So: yes", "Yes", "strict")]
    write(samples, lines)
    assert read_answers(samples, filter="strict")["answer"].item() == "Yes"
    assert read_answers(samples, filter="raw")["correct"].item() == 0
    with pytest.raises(InputError, match=r"several filters .*--filter .*\(filter=\): raw, strict"):
        read_answers(samples)
    with pytest.raises(InputError, match=r"no filter 'stric'; did you mean 'strict'\?"):
        read_answers(samples, filter="stric")
    write(samples, lines[:1])
    assert read_answers(samples)["answer"].item() == "So: yes"  # the only one needs no choice


def test_a_folder_of_tasks_and_of_runs(samples: Path) -> None:
    write(samples, [choice_line(0, {"a": 1})])
    write(samples.with_name(f"samples_other_task_{TIME}.jsonl"), [choice_line(0, {"b": 2})])
    for folder in (samples.parent, samples.parent.parent):
        assert detect_format(folder) == "lm_eval"
        frame = read_answers(folder)
        assert frame["id"].tolist() == ["other_task 0", "toxic 0"]
        assert frame["task"].tolist() == ["other_task", "toxic"]
        assert frame.attrs["task"] == "other_task, toxic"
    write(samples.with_name("samples_toxic_2026-02-02T03-04-05.1.jsonl"), [choice_line(0, {})])
    with pytest.raises(InputError, match=r"holds several runs of a task: .* give one of the files"):
        read_answers(samples.parent)


def rates(table: pd.DataFrame) -> dict[str, float]:
    values = table[(table["kind"] == "value") & (table["measure"] == "fpr")]
    return dict(zip(values["group"], values["value"], strict=True))


def test_gaps_from_samples(samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of 40 items of label 0, group a has 5 answered yes, b 15; one is not answered."""
    lines = []
    for number in range(40):
        is_yes = number % 2 * 10 + 10 > number // 2 * 2 if number % 2 == 0 else number < 30
        changes = {"filtered_resps": YES, "acc": 0.0} if is_yes else {}
        lines.append(choice_line(number, {"group": "ab"[number % 2]}, **changes))
    lines.append(choice_line(40, {"group": "a"}, filtered_resps=[["nan", "True"]] * 2, acc=0.0))
    write(samples, lines)
    counts = {"a": 0, "b": 0}
    for line in lines[:40]:
        counts[line["doc"]["group"]] += line["acc"] == 0
    table = biasbridge.gaps(samples, measures="fpr")
    result = rates(table)
    assert {name: result[name] for name in counts} == {name: n / 20 for name, n in counts.items()}
    note = "1 of 41 rows lack 'prediction' (1); they are left out. By group: a 1 of 21, b 0 of 20"
    assert note in table.attrs["notes"]
    command(["gaps", str(samples), "--measures", "fpr"])
    assert f"note: {note}" in capsys.readouterr().out
    with pytest.raises(InputError, match=r"no column 'gender'.* present: 'id', 'answer', 'target'"):
        biasbridge.gaps(samples, group="gender")


def test_gaps_of_a_filter(samples: Path) -> None:
    lines = [
        generated(number, "?", answer, name)
        for number in range(40)
        for name, answer in (("raw", "Yes."), ("strict", "no" if number % 4 else "Yes"))
    ]
    write(samples, lines)
    table = biasbridge.gaps(samples, filter="strict", measures="recall", min_support=0)
    recall = table[(table["kind"] == "value") & (table["group"] == "b")]["value"].item()
    assert recall == 0
    gated = [
        biasbridge.gate(samples, {"selection_rate": 0.9}, filter=name) for name in ("strict", "raw")
    ]
    assert all(gated)
    with pytest.raises(InputError, match="give one by --filter"):
        biasbridge.gate(samples, {"selection_rate": 0.9})
    with pytest.raises(InputError, match="give one by --filter"):
        command(["gaps", str(samples)])
    command(["gaps", str(samples), "--filter", "raw"])


def test_samples_as_the_harness_writes_them(tmp_path: Path) -> None:
    tracker = pytest.importorskip("lm_eval.loggers.evaluation_tracker")
    writer = tracker.EvaluationTracker(output_path=str(tmp_path))
    writer.general_config_tracker.model_name_sanitized = "org__m"
    writer.date_id = TIME
    sample = choice_line(0, {"group": "a"}, target=1, acc=0.0) | {
        "arguments": [("Q?", " no"), ("Q?", " yes")],
        "resps": [[(-1.5, True)], [(-2.5, False)]],
        "filtered_resps": [(-1.5, True), (-2.5, False)],
    }
    writer.save_results_samples("toxic", [sample])
    frame = read_answers(tmp_path)
    columns = ["answer", "target", "correct", "label", "prediction", "group"]
    assert frame[columns].iloc[0].tolist() == ["no", "yes", 0, 1, 0, "a"]


# Folders of ``datasets``, JSON Lines, and formats that are not read.


def dump(path: Path, *values: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(map(json.dumps, values)), encoding="utf-8")
    return path


ROWS = [{"label": n % 2, "prediction": n // 2 % 2, "group": "ab"[n // 4 % 2]} for n in range(80)]


def saved(
    folder: Path, rows: list[dict[str, Any]], name: str = "data-00000-of-00001.arrow"
) -> Path:
    folder.mkdir(exist_ok=True)
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(str(folder / "data-00000-of-00001.arrow"), table.schema) as writer:
        writer.write_table(table)
    dump(folder / "state.json", {"_data_files": [{"filename": name}], "_split": "train"})
    return folder


def test_a_saved_data_set(tmp_path: Path) -> None:
    folder = saved(tmp_path / "set", ROWS)
    assert detect_format(folder) == "datasets"
    frame = read_answers(folder)
    assert frame[["label", "prediction", "group"]].to_dict("records") == ROWS
    measured = biasbridge.gaps(folder, measures="recall", min_support=0)
    assert set(measured["group"]) >= {"a", "b"}


def test_saved_data_sets_of_datasets_itself(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    split = datasets.Dataset.from_list([*ROWS, {"label": 1, "prediction": 0, "group": "a"}])
    split.save_to_disk(tmp_path / "one", num_shards=2)
    assert read_answers(tmp_path / "one")["label"].tolist() == split["label"][:]
    datasets.DatasetDict({"dev": split, "test": split}).save_to_disk(tmp_path / "two")
    with pytest.raises(InputError, match="several splits: dev, test; give the folder of one"):
        read_answers(tmp_path / "two")


def test_json_lines_keep_their_columns(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.jsonl", {"label": 2, "info": {"a": [1]}}, {"label": 0})
    assert detect_format(path) == "json_lines"
    frame = read_answers(path)
    assert frame["label"].tolist() == [2, 0]
    assert frame["info"].iloc[0] == {"a": [1]}
    assert frame["id"].tolist() == ["0", "1"]
    assert frame["answer"].isna().all()


def linked(folder: Path) -> Path:
    """The folder, with a link in place of its file, which moves to the parent."""
    file = folder / "data-00000-of-00001.arrow"
    (folder / "link.arrow").symlink_to(file.rename(folder.parent / "outside.arrow"))
    return folder


def truncated(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-60])
    return path


BAD: dict[str, Callable[[Path], Path]] = {
    r"line 2 .* writes it \(no 'doc_id'\)": lambda at: dump(
        at / "x.jsonl", choice_line(1, {}), {"doc": {}, "filtered_resps": []}
    ),
    r"x.jsonl: line 2 is not a JSON object \(Invalid JSON": lambda at: truncated(
        dump(at / "x.jsonl", choice_line(1, {}), choice_line(2, {}))
    ),
    r"line 2: item '1' occurs twice": lambda at: dump(at / "x.jsonl", *[choice_line(1, {})] * 2),
    r"x.jsonl is empty": lambda at: dump(at / "x.jsonl"),
    r"arrow is damaged, or not": lambda at: (
        truncated(saved(at / "s", ROWS) / "data-00000-of-00001.arrow").parent
    ),
    r"names '/etc/passwd', a file outside": lambda at: saved(at / "s", ROWS, "/etc/passwd"),
    r"names '\.\./x.arrow', a file outside": lambda at: saved(at / "s", ROWS, "../x.arrow"),
    r"names 'link.arrow', a file outside": lambda at: linked(saved(at / "s", ROWS, "link.arrow")),
    r"no such file: .*other.arrow": lambda at: saved(at / "s", ROWS, "other.arrow"),
    r"s holds no items": lambda at: saved(at / "s", [{"a": 1}][:0]),
    r"is not a result file that can be read; give samples of lm-eval": lambda at: dump(
        at / "x.csv", 1
    ),
    r"more than 1,000 fields": lambda at: dump(
        at / "x.jsonl", choice_line(1, {f"f{n}": n for n in range(1_001)})
    ),
    r"files of HELM are not read; give a table with a row per item, or a log of lm-": (
        lambda at: dump(at / "scenario_state.json", {"adapter_spec": {}, "request_states": []})
    ),
    r"files of Every Eval Ever are not read": lambda at: dump(
        at / "x.jsonl", {"evaluation_id": "e", "sample_id": "1", "answer_attribution": []}
    ),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_files_are_refused_in_a_line(message: str, tmp_path: Path) -> None:
    path = BAD[message](tmp_path)
    with pytest.raises(InputError, match=message) as caught:
        read_answers(path)
    assert "\n" not in str(caught.value)

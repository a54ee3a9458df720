"""Logs of Inspect, as JSON and as archives compressed with deflate and with Zstandard."""

from __future__ import annotations

import json
import shlex
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from biasbridge.__main__ import main as command
from biasbridge.extrinsic.logs import detect_format, read_answers
from biasbridge.files import InputError

HEADER: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "bbq", "model": "org/m", "dataset": {"samples": 9, "sample_ids": [1, 2]}},
    "plan": {},
}
OPTIONS = ["The aunt", "The niece", "Not known"]


def sample(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "epoch": 1,
        "input": "Who lost the card?",
        "choices": OPTIONS,
        "target": "C",
        "scores": {"choice": {"value": "I", "answer": "A", "explanation": "ANSWER: A"}},
        "metadata": {"category": "Age", "answer_info": {"ans0": ["aunt", "old"]}, "id": 7},
        "output": {"model": "org/m", "choices": []},
        "events": [{"event": "sample_init"}],
        "attachments": {},
    } | changes


RIGHT = {"choice": {"value": "C", "answer": "C"}}
SAMPLES = [sample(1), sample(2, scores=RIGHT)]


def as_json(folder: Path, samples: list[dict[str, Any]], header: Mapping[str, Any]) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps({**header, "samples": samples}), encoding="utf-8")
    return path


def contents(samples: list[dict[str, Any]], header: Mapping[str, Any]) -> dict[str, bytes]:
    files = {f"samples/{each['id']}_epoch_{each['epoch']}.json": each for each in samples}
    named = {"_journal/start.json": dict(header), **files, "header.json": dict(header)}
    return {name: json.dumps(value).encode() for name, value in named.items()}


def deflated(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def zstandard(path: Path, files: Mapping[str, bytes], **lies: Any) -> Path:
    """An archive of method 93, put together by the specification of ZIP, each member two frames."""
    body, directory = b"", b""
    for name, content in files.items():
        half = len(content) // 2
        frames = [
            pa.compress(part, "zstd", asbytes=True) for part in (content[:half], content[half:])
        ]
        packed, raw_name = b"".join(frames), name.encode()
        size, crc = lies.get("size", len(content)), lies.get("crc", zlib.crc32(content))
        common = struct.pack(
            "<HHHHHIIIHH", 45, 0, 93, 0, 33, crc, len(packed), size, len(raw_name), 4
        )
        extra = b"\xfe\xca\0\0"
        entry = (
            struct.pack("<4sH", b"PK\x01\x02", 45)
            + common
            + struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        )
        directory += entry + raw_name + extra
        body += b"PK\x03\x04" + common + raw_name + extra + packed
    end = struct.pack(
        "<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(files), len(files), len(directory), len(body), 0
    )
    path.write_bytes(body + directory + end)
    return path


def write(kind: str, folder: Path, samples: list[dict[str, Any]], header: Any = HEADER) -> Path:
    if kind == "json":
        return as_json(folder, samples, header)
    pack = deflated if kind == "deflate" else zstandard
    return pack(folder / "log.eval", contents(samples, header))


KINDS = ("json", "deflate", "zstandard")


@pytest.mark.parametrize("kind", KINDS)
def test_a_log(kind: str, tmp_path: Path) -> None:
    path = write(kind, tmp_path, SAMPLES)
    assert detect_format(path) == "inspect"
    frame = read_answers(path)
    assert frame["id"].tolist() == ["1", "2"]
    assert frame["answer"].tolist() == ["The aunt", "Not known"]
    assert frame["target"].tolist() == ["Not known"] * 2
    assert frame["correct"].tolist() == [0, 1]
    assert frame["choices"].tolist() == [OPTIONS] * 2
    assert frame["category"].tolist() == ["Age"] * 2
    assert frame["answer_info"].tolist() == [{"ans0": ["aunt", "old"]}] * 2
    assert frame["metadata.id"].tolist() == [7, 7]
    assert frame.attrs == {"format": "inspect", "model": "org/m", "task": "bbq", "notes": []}


CHANGES = [
    ({"scores": {"choice": {"value": "N", "answer": ""}}}, (None, "Not known", 0)),
    (
        {"scores": {"choice": {"value": "P", "answer": "A, C"}}},
        ("The aunt, Not known", "Not known", 0.5),
    ),
    ({"target": ["A", "B"]}, ("The aunt", "The aunt, The niece", 0)),
    ({"scores": None}, (None, "Not known", None)),
    ({"scores": {"judge": {"value": 0.3, "answer": "The aunt"}}}, ("The aunt", "Not known", 0)),
    ({"choices": None, "target": ["yes", "I"], "scores": RIGHT}, ("C", "yes", 1)),
    (
        {
            "choices": None,
            "target": ["no", "No."],
            "scores": {"match": {"value": {"a": "C", "b": 2}, "answer": None}},
            "output": {"choices": [{"message": {"content": [{"type": "text", "text": "No."}]}}]},
        },
        ("No.", "No.", None),
    ),
    (
        {
            "choices": None,
            "target": "no",
            "scores": {"match": {"value": 1}},
            "output": {"choices": [{"message": {"content": "attachment://ab"}}]},
            "attachments": {"ab": "so no"},
        },
        ("so no", "no", 1),
    ),
]


@pytest.mark.parametrize(("changes", "expected"), CHANGES)
def test_forms_of_samples(
    changes: dict[str, Any], expected: tuple[Any, ...], tmp_path: Path
) -> None:
    row = read_answers(write("json", tmp_path, [sample(1, **changes)])).iloc[0]
    values = [
        None if row[name] != row[name] else row[name] for name in ("answer", "target", "correct")
    ]
    assert tuple(values) == expected


def test_values_of_several_scorers_are_numbers(tmp_path: Path) -> None:
    scores = {"choice": {"value": "C"}, "judge": {"value": {"mild": "P", "n": 4, "why": "x"}}}
    row = read_answers(write("json", tmp_path, [sample(1, scores=scores)])).iloc[0]
    assert (row["choice"], row["judge.mild"], row["judge.n"]) == (1, 0.5, 4)


def test_epochs_are_items_of_one_sample(tmp_path: Path) -> None:
    frame = read_answers(write("deflate", tmp_path, [sample(1), sample(1, epoch=2)]))
    assert frame["id"].tolist() == ["1 epoch 1", "1 epoch 2"]
    assert frame["sample"].tolist() == ["1", "1"]
    assert frame["epoch"].tolist() == [1, 2]
    assert "without --cluster sample" in frame.attrs["notes"][-1]


@pytest.mark.parametrize("kind", ["deflate", "zstandard"])
def test_an_unfinished_log_is_read_with_a_note(kind: str, tmp_path: Path) -> None:
    files = contents(SAMPLES[:1], {name: HEADER[name] for name in ("version", "eval")})
    del files["header.json"]
    pack = deflated if kind == "deflate" else zstandard
    notes = read_answers(pack(tmp_path / "log.eval", files)).attrs["notes"]
    missing = "1 of the 2 samples of the run are not in the log"
    assert notes == ["the run is not finished: started", missing]


def test_failed_samples_are_counted(tmp_path: Path) -> None:
    header = HEADER | {"status": "error"}
    path = write("json", tmp_path, [sample(1), sample(2, error={"message": "x"})], header)
    notes = read_answers(path).attrs["notes"]
    assert notes == ["the run is not finished: error", "1 of 2 samples ended in an error"]


def test_of_a_member_written_twice_the_last_counts(tmp_path: Path) -> None:
    path = write("deflate", tmp_path, SAMPLES[:1])
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("samples/1_epoch_1.json", json.dumps(sample(1, scores=RIGHT)))
    assert read_answers(path)["answer"].item() == "Not known"


def test_damaged_archives_are_refused(tmp_path: Path) -> None:
    files = contents(SAMPLES, HEADER)
    path = tmp_path / "log.eval"
    whole = zstandard(path, files).read_bytes()
    bad = {
        "log.eval is damaged, or not": whole[:-40],
        "writes it .File is not a zip file": b"",
        "log.eval: _journal/start.json is damaged, or not": whole.replace(
            b"\x28\xb5\x2f\xfd", b"....", 6
        ),
    }
    for message, content in bad.items():
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            read_answers(path)
    for lies in ({"size": 3}, {"size": 9999}, {"crc": 1}):
        zstandard(path, files, **lies)
        with pytest.raises(InputError, match="size or checksum differ from those in its directory"):
            read_answers(path)


BAD: list[tuple[dict[str, bytes], str]] = [
    ({"samples/1_epoch_1.json": b'{"id": 1}'}, r"no header.json and no _journal/start.json"),
    (
        {"header.json": b'{"eval": '},
        r"log.eval: header.json is damaged, or not as its program writes it \(",
    ),
    ({"header.json": b"[]"}, r"header.json .* writes it \('list' object is not a mapping\)"),
    ({"header.json": b'{"status": "success"}'}, r"log.eval .* writes it \(no 'eval'\)"),
    ({"header.json": b'{"eval": {}}'}, "holds no items"),
    (
        {"header.json": b'{"eval": {}}', "samples/1_epoch_1.json": b'{"id": 1, "choices": 3}'},
        r"samples/1_epoch_1.json .* writes it \('int' object is not iterable",
    ),
    (
        {"header.json": b'{"eval": {}}', "samples/1_epoch_1/sample.json": b"{}"},
        "is split into chunks, which cannot be read; .*inspect log convert",
    ),
]


@pytest.mark.parametrize(("files", "message"), BAD)
def test_archives_of_something_else_are_refused(
    files: dict[str, bytes], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        read_answers(deflated(tmp_path / "log.eval", files))


def test_a_truncated_log_is_refused(tmp_path: Path) -> None:
    path = write("json", tmp_path, SAMPLES)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"writes it \(EOF while parsing .* line 1 col"):
        read_answers(path)


def test_one_sample_twice_is_refused(tmp_path: Path) -> None:
    path = write("json", tmp_path, [sample(1), sample(1)])
    with pytest.raises(InputError, match="item '1' occurs twice"):
        read_answers(path)


def test_the_filter_names_a_scorer(tmp_path: Path) -> None:
    path = write("json", tmp_path, SAMPLES)
    with pytest.raises(InputError, match=r"no scorer 'x'; give one by --filter .*: choice"):
        read_answers(path, filter="x")


@pytest.mark.parametrize("kind", ["eval", "json"])
def test_logs_as_inspect_writes_them(kind: str, tmp_path: Path) -> None:
    """Inspect runs a task whose options it shuffles, with a model that says what it is told."""
    inspect_ai = pytest.importorskip("inspect_ai")
    dataset, model, scorer, solver = (
        pytest.importorskip(f"inspect_ai.{name}")
        for name in ("dataset", "model", "scorer", "solver")
    )
    outputs = [
        model.ModelOutput(
            model="m",
            choices=model.ModelOutput.from_content("m", f"ANSWER: {letter}").choices,
            usage=model.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2),
        )
        for letter in ("A", "B", "C", "none")
    ]
    items = [
        dataset.Sample(
            f"Who {n}?", id=n, choices=OPTIONS, target="C", metadata={"group": "ab"[n % 2]}
        )
        for n in range(4)
    ]
    data = dataset.MemoryDataset(items)
    data.shuffle_choices(seed=3)
    task = inspect_ai.Task(
        name="bbq", dataset=data, solver=solver.multiple_choice(), scorer=scorer.choice()
    )
    [log] = inspect_ai.eval(
        task,
        model=model.get_model("mockllm/model", custom_outputs=outputs),
        log_dir=str(tmp_path),
        log_format=kind,
        display="none",
        max_samples=1,
    )
    frame = read_answers(log.location)
    shown = [each.choices for each in data]
    assert frame["answer"].tolist()[:3] == [shown[n][n] for n in range(3)]
    assert frame["answer"].isna().tolist() == [False, False, False, True]
    assert frame["target"].tolist() == ["Not known"] * 4
    assert frame["correct"].tolist() == [float(shown[n][n] == "Not known") for n in range(3)] + [0]
    assert frame["group"].tolist() == ["a", "b", "a", "b"]
    assert frame.attrs == {
        "format": "inspect",
        "model": "mockllm/model",
        "task": "bbq",
        "notes": [],
    }


# ``biasbridge check LOG``: what a log is, and commands that run.


def inspect_log(path: Path, choices: list[str], **metadata: str) -> Path:
    """40 items with a field ``group`` of two values and ``text`` of 40, half of them right."""
    samples: list[dict[str, Any]] = [
        {
            "id": n,
            "epoch": 1,
            "input": f"Question {n}",
            "choices": [f"{choice} {n}" if metadata else choice for choice in choices],
            "target": "AB"[n // 2 % 2],
            "scores": {"choice": {"value": "CI"[n // 4 % 2], "answer": "AB"[n // 2 + n // 4 & 1]}},
            "metadata": {"group": "ab"[n % 2], "text": f"t{n}", **metadata},
            "output": {"choices": []},
        }
        for n in range(40)
    ]
    log = {"version": 2, "status": "error", "eval": {"task": "toxic", "model": "org/m"}}
    path.write_text(json.dumps({**log, "samples": samples}), encoding="utf-8")
    return path


BBQ = {"question_polarity": "neg", "context_condition": "ambig"}
CASES = [
    (["no", "yes"], {}, "to measure gaps: biasbridge gaps LOG --group group"),
    (["fine", "mild"], {}, "to measure gaps: biasbridge gaps LOG --group group --positive fine"),
    (
        ["aunt", "niece"],
        BBQ,
        "to measure gaps of accuracy: biasbridge gaps LOG --group group"
        " --gold expected --pred correct --measures accuracy",
    ),
]


@pytest.mark.parametrize(("choices", "metadata", "last"), CASES)
def test_a_log_is_described_with_a_command_that_runs(
    choices: list[str],
    metadata: dict[str, str],
    last: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = inspect_log(Path("a log.json"), choices, **metadata)
    assert command(["check", str(path)]) == 0
    first, warning, groups, *more = capsys.readouterr().out.splitlines()
    assert first == "a log.json: a log of Inspect, model org/m, task toxic; 40 items"
    assert warning == "warning: the run is not finished: error"
    assert groups == "fields with few values, for --group: group (2)"
    bbq = ["to score the answers to BBQ: biasbridge bbq 'a log.json'"] if metadata else []
    assert more == [*bbq, last.replace("LOG", "'a log.json'")]
    words = shlex.split(more[-1].partition(": biasbridge ")[2])
    assert command(words) == 0
    assert "group" in capsys.readouterr().out

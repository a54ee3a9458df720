"""``biasbridge check LOG``: what a log is, and commands that run."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from biasbridge.__main__ import main as command


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

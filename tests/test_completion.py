"""``biasbridge completion``: what a shell is offered, asked as bash asks it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from biasbridge.__main__ import main
from biasbridge.commands.completion import complete
from biasbridge.files import InputError
from tests.test_certify import write_metric

WEAT = [f"intrinsic=weat_{name}" for name in ("controls", "gender_es", "migrants_es")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["au"], ["audit"]),
        (["gaps", "--priv"], ["--privileged"]),
        (["store", "e"], ["explain", "export"]),
        (["store", "gc", "--o"], ["--older-than"]),
        (["train", "+exp"], ["+experiment="]),
        (["train", "+experiment=coreference_l"], ["+experiment=coreference_link"]),
        (["train", "hydra/l"], ["hydra/launcher="]),
        (["train", "debias=none", "debias=bal"], ["debias=balance"]),
        (["train", "intrinsic=wea"], ["intrinsic=weat", *WEAT]),
        (["train", "study=sc"], ["study=score_properties"]),
        (["train", "deb"], ["debias="]),
        (["train", "seed="], []),
        (["nothing", "-"], []),
    ],
)
def test_the_last_word_is_completed(words: list[str], expected: list[str]) -> None:
    assert complete(words) == expected


def test_an_experiment_of_ones_own_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "mine.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert complete(["train", "+experiment=mi"]) == ["+experiment=mine"]


def test_a_class_of_ones_own_is_found(tmp_path: Path) -> None:
    write_metric(tmp_path)
    words = ["train", "--config-dir", str(tmp_path), "intrinsic=lea"]
    assert complete(words) == ["intrinsic=leaning"]


def test_another_shell_is_refused() -> None:
    with pytest.raises(InputError, match="fish; give bash or zsh"):
        main(["completion", "fish"])


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_is_given_what_follows_the_equals_sign() -> None:
    line = "biasbridge train +experiment=coreference_l"
    script = f"""
    biasbridge() {{ "{sys.executable}" -m biasbridge "$@"; }}
    eval "$(biasbridge completion bash)"
    COMP_LINE="{line}" COMP_POINT={len(line)}
    _biasbridge
    echo "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["coreference_link"], done.stderr

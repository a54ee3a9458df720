"""Lines of text from plain and compressed files."""

from __future__ import annotations

import errno
import random
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from biasbridge.files import InputError, nearest, read_lines, run_cli
from biasbridge.files.errors import _LONGEST
from biasbridge.files.text import read_nested
from tests.fuzz import PACK, PACKED


def test_windows_line_ends_are_dropped_and_others_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\rstill two\nthree\r")
    assert list(read_lines(path)) == ["one", "two\rstill two", "three\r"]


@given(text=st.text(st.characters(exclude_characters="\r\ufeff", codec="utf-8"), min_size=1))
@settings(
    max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_lines_are_those_of_str_split(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode())
    expected = text.split("\n")
    assert list(read_lines(path)) == (expected if expected[-1] else expected[:-1])


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes("inmigra\n\ufeffx\n".encode("utf-8-sig"))
    assert list(read_lines(path)) == ["inmigra", "\ufeffx"]


def test_missing_file_names_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "tweets.txt").write_text("a\n")
    with pytest.raises(
        InputError, match=r"no such file: .*tweet\.txt; did you mean 'tweets\.txt'\?"
    ):
        list(read_lines(tmp_path / "tweet.txt"))
    with pytest.raises(InputError, match="no such file"):
        list(read_lines(tmp_path / "nowhere" / "tweet.txt"))
    with pytest.raises(InputError, match="is a folder; give a file"):
        list(read_lines(tmp_path))


@pytest.mark.parametrize("before", [0, 1, 5000])
def test_bytes_that_are_not_utf8_name_the_line(tmp_path: Path, before: int) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"plain\n" * before + "caf\xe9\n".encode("latin-1") + b"after\n")
    with pytest.raises(InputError, match=rf"line {before + 1} is not UTF-8"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("damage", ["cut", "corrupt", "foreign"])
def test_damaged_archive_is_refused(tmp_path: Path, suffix: str, damage: str) -> None:
    packed = PACK[suffix]("".join(f"line {i * 7919}\n" for i in range(20_000)).encode())
    middle = len(packed) // 2
    broken = {
        "cut": packed[:middle],
        "corrupt": packed[:middle] + bytes(64) + packed[middle + 64 :],
        "foreign": b"plain text\n" * 9,
    }[damage]
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(broken)
    with pytest.raises(InputError, match="damaged archive"):
        list(read_lines(path))


@pytest.mark.parametrize("suffix", PACKED)
def test_a_large_archive_of_text_is_read(suffix: str, tmp_path: Path) -> None:
    rng = random.Random(0)
    words = [rng.randbytes(3).hex() for _ in range(500)]
    phrases = [" ".join(rng.choices(words, k=12)) for _ in range(300)]
    text = "".join(f"{rng.choice(phrases)}\n" for _ in range(50_000))
    packed = PACKED[suffix][0](text.encode())
    assert len(text) / len(packed) > 9, "as much as text ever does"
    (tmp_path / f"corpus.txt{suffix}").write_bytes(packed)
    assert "".join(f"{line}\n" for line in read_lines(tmp_path / f"corpus.txt{suffix}")) == text


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "[" * 200_000, "a.json is nested too deeply"),
        ("a.yaml", "1" * 5_000, "is not valid YAML: Exceeds the limit"),
        ("a.yaml", "x: *a\na: &a 1", "is not valid YAML: found undefined alias"),
        ("a.json", "1" * 5_000, "is not valid JSON: Exceeds the limit"),
        ("a.yaml", "2001-13-45", "is not valid YAML: month must be in 1..12"),
        ("a.yaml", "!!timestamp x", "is not valid YAML"),
        ("a.yaml", "a: 1\nb: {c: 1, d: 2, c: 3}", "line 2: the key 'c' is given twice in one"),
        ("a.json", '{"b": {"c": 1, "c": 3}}', "the key 'c' is given twice in one object"),
        ("a.yaml", "!!python/name:os.system", "is not valid YAML: could not determine a construc"),
    ],
)
def test_a_nested_file_of_another_form(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as refusal:
        read_nested(tmp_path / name)
    assert name in str(refusal.value)


def test_a_nested_file_has_plain_values(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"a: [[1]]\nc: '{'x' * 5_000}'")
    content = read_nested(tmp_path / "a.yaml")
    assert isinstance(content, dict)
    assert content["c"] == "x" * 5_000
    merged = "a: &a {x: 1, y: 2}\nb: &b {<<: *a, x: 3}\nc: {<<: *b, y: 4}"
    (tmp_path / "a.yaml").write_text(merged)
    assert read_nested(tmp_path / "a.yaml") == yaml.safe_load(merged)


def test_an_error_is_one_line_that_can_be_printed() -> None:
    error = InputError(f"a\nb\x1b[2J\u202e {'x' * 9_000} remedy")
    assert str(error).startswith(r"a\nb\x1b[2J\u202e xxx")
    assert str(error).endswith("xxx remedy")
    assert len(str(error)) <= _LONGEST + 5


ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize(
    ("name", "expected"),
    [("weta", "; did you mean 'weat'?"), ("weat", "; did you mean 'weat'?"), ("zzz", "")],
)
def test_nearest_names_the_option_spelt_most_alike(name: str, expected: str) -> None:
    assert nearest(name, ["ripa", "weat", "ect"]) == expected


def _raise(error: BaseException) -> int:
    raise error


@pytest.mark.parametrize(("result", "status"), [(None, 0), (0, 0), (3, 3)])
def test_run_cli_exits_with_the_status_of_main(result: int | None, status: int) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: result)
    assert stop.value.code == status


def test_run_cli_lets_a_bug_through() -> None:
    with pytest.raises(KeyError):
        run_cli(lambda: _raise(KeyError("bug")))


@pytest.mark.parametrize(
    ("error", "status", "printed"),
    [
        (InputError("dose is 2; allowed is 0 to 1"), 2, "error: dose is 2; allowed is 0 to 1\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (BrokenPipeError(), 1, ""),
        (
            OSError(errno.ENOSPC, "No space left on device", "a.csv"),
            2,
            "error: cannot write a.csv: No space left on device; free some space, or choose another"
            " place\n",
        ),
    ],
)
def test_run_cli_answers_in_one_line_at_most(
    error: BaseException, status: int, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        run_cli(lambda: _raise(error))
    assert (stop.value.code, *capsys.readouterr()) == (status, "", printed)


@pytest.mark.parametrize("command", ["gaps {}", "gaps --help", "check {}", "train --cfg job"])
def test_a_full_disk_under_the_output_is_one_line(command: str, tmp_path: Path) -> None:
    table = tmp_path / "posts.csv"
    table.write_text("label,prediction,group\n1,1,a\n0,1,a\n1,0,b\n0,0,b\n")
    line = [sys.executable, "-m", "biasbridge", *command.format(table).split()]
    if command.startswith("train"):
        line = [sys.executable, str(ROOT / "train.py"), *command.split()[1:]]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            line, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "error: cannot write the output: No space left on device; free some space, or choose"
        " another place"
    ]

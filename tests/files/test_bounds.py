"""What grows without end in a stranger's file has a bound, named in the error with a remedy."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from biasbridge.files import InputError, read_lines
from biasbridge.files.errors import LONGEST
from biasbridge.files.nested import MAX_DEPTH, read_nested
from tests.fuzz import PACKED


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


def test_a_line_or_file_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"short\n" + b"x" * 400_000)
    assert len(list(read_lines(path))) == 2
    with pytest.raises(InputError, match=r"holds more than 1,000 bytes.*split it"):
        list(read_lines(path, largest=1_000))
    monkeypatch.setattr("biasbridge.files.text.LONGEST_LINE", 100_000)
    with pytest.raises(InputError, match=r"holds a line of more than 100,000 bytes from byte 6"):
        list(read_lines(path))


def nested(depth: int) -> str:
    return "[" * depth + "1" + "]" * depth


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.yaml", "[" * 200_000, f"line 1: nested too deeply; allowed are {MAX_DEPTH} lists"),
        ("a.yaml", "\n".join(" " * i + "a:" for i in range(300)), "line 21: nested too deeply"),
        ("a.json", "[" * 200_000, "nested too deeply"),
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
def test_nested_files_beyond_bounds(name: str, text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as refusal:
        read_nested(tmp_path / name)
    assert name in str(refusal.value)


def test_nested_files_within_bounds(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"a: {nested(MAX_DEPTH - 1)}\nc: '{'x' * 5_000}'")
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
    assert len(str(error)) <= LONGEST + 5

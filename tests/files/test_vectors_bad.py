"""What is refused when word vectors are read, and in which words."""

from __future__ import annotations

import math
import pickle
import struct
from pathlib import Path

import pytest

from biasbridge.files import InputError
from biasbridge.files.vectors import read_vectors

A, B = struct.pack("<2f", 0.25, 3.1), struct.pack("<2f", -7.7, 0.125)

BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty"),
    "prose": (
        b"It was a dark and stormy night.\nIt rained.\n",
        r"holds no word vectors: line 1 starts 'It was a dark",
    ),
    "prose ending in a number": (b"chapter 1\nIt was a dark night\n", "line 2"),
    "csv": (b"word,x,y\nthe,1,2\n", "holds no word vectors"),
    "zip": (b"PK\x03\x04rest", "is a zip archive: give it the suffix .zip"),
    "header of no rows": (b"0 2\n", "promises 0 vectors"),
    "header of absurd dimension": (b"2 999999999\na 1 2\n", "allowed are .* dimension 1 to"),
    "header of absurd count": (
        b"99999999999999 2\na 1 2\nb 3 4\n",
        "the header says 99999999999999 rows, the file has 2",
    ),
    "fewer rows than the header": (
        b"4 2\na 1 2\nb 3 4\n",
        r"header says 4 rows, the file has 2.*copy it again.*'2 2' on its first line",
    ),
    "dimension too large": (
        b"2 3\na 1 2\nb 3 4\n",
        r"line 2 has 2 fields after its word, where the header says 3.*correct it",
    ),
    "last row cut": (b"3 2\na 1 2\nb 3 4\nc 5", r"line 4 has 1 fields.*cut: copy it again"),
    "last number cut": (b"a 1 2\nb 3 -", r"line 2: '-' is not a number"),
    "ragged, shorter": (
        b"a 1 2\nb 3\nc 5 6\n",
        r"line 2 has 1 fields after its word, where the first line says 2",
    ),
    "word alone": (b"3 1\na 1\nb \nc 3\n", r"line 3 has 0 fields after its word"),
    "rows between carriage returns": (b"a 1 2\rb 3 4\nc 5 6\n", r"line 1 has 5 fields"),
    "not a number": (b"2 2\na 1 2\nb 3 four\n", r"line 3: 'four' is not a number"),
    "comma for the decimal point": (
        b"2 2\na 0.1 0.2\nb 0,3 0.4\n",
        r"line 3: '0,3' is not a number",
    ),
    "nan": (b"2 2\na 1 2\nb 3 nan\n", r"the vector of 'b' holds a NaN or infinite"),
    "beyond float32": (b"2 2\na 1 2\nb 1e39 3\n", r"the vector of 'b' holds a NaN or infinite"),
    "latin-1": (
        "3 2\na 1 2\ncafé 3 4\nb 5 6\n".encode("latin-1"),
        r"line 3: the word 'caf\\xe9' is not UTF-8.*iconv",
    ),
    "binary cut in a vector": (
        b"2 2\na " + A + b"b " + B[:5],
        r"ends or is damaged at row 2 of the 2 rows of dimension 2",
    ),
    "binary with more rows": (
        b"1 2\na " + A + b"b " + B + b"c " + B,
        "continues after the 1 rows of dimension 2",
    ),
    "binary nan": (
        b"2 2\na " + A + b"b " + struct.pack("<2f", 1, math.nan),
        r"the vector of 'b' holds a NaN or infinite",
    ),
    "binary latin-1": (b"2 2\na " + A + b"caf\xe9 " + B, r"the word 'caf\\xe9' is not UTF-8"),
    "fastText, cut": (b"\xba\x16\x4f\x2f\x0c\x00\x00\x00", "the fastText model is cut or damaged"),
    "pickle": (pickle.dumps({"a": 1}), "trusted=True"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("chunk", [1, 1 << 25])
def test_bad_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, chunk: int
) -> None:
    monkeypatch.setattr("biasbridge.files.vectors.text.CHUNK", chunk)
    data, message = BAD[name]
    path = tmp_path / "v.dat"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_vectors(path)
    assert str(path) in str(caught.value)


def test_line_is_counted_over_chunks_and_blank_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasbridge.files.vectors.text.CHUNK", 64)
    path = tmp_path / "v.txt"
    path.write_bytes(b"".join(b"w%d 1 2\n" % i for i in range(100)) + b"\n\nbad 1 x\n")
    with pytest.raises(InputError, match="line 103: 'x' is not a number"):
        read_vectors(path)

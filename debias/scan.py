"""The lines of a large text file that hold one of a few words, at the speed of the disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from files import read_lines
from files.text import LONGEST_LINE, open_binary

BLOCK = 1 << 19  # bytes of text looked at together
# 2^64 over the golden ratio, odd: multiplying by it mixes a key into its upper 16 bits
SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Masks that keep the first n of 8 bytes
FIRST_BYTES = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)


class Line(NamedTuple):
    """A line's place in the file, from 0 in lines and bytes (with newline), and its tokens."""

    number: int
    start: int
    end: int
    tokens: list[bytes]


def blocks(path: Path) -> Iterator[bytes]:
    """The file in pieces of whole lines. Raises what ``files.read_lines`` does."""
    empty = True
    try:
        with open_binary(path, longest_line=LONGEST_LINE) as file:
            while block := file.read(BLOCK):
                block += file.readline()
                block.decode()
                yield block
                empty = False
    except UnicodeDecodeError:
        deque(read_lines(path), maxlen=0)  # meets the same fault and says on which line it is
        raise
    if empty:
        deque(read_lines(path), maxlen=0)


def lines_with(path: Path, words: Iterable[str]) -> Iterator[tuple[int, list[Line]]]:
    """For every block of the file: its number of lines, and those that hold one of ``words``.

    A token is what stands between ASCII white space. Tokens are not cut out one by one: the first 8
    bytes of each are looked up as one integer in a hash table of the words' first 8 bytes, which
    lets no holder of a word pass unseen; the few lines that are found are then split and compared
    exactly.
    """
    wanted = frozenset(word.encode() for word in words)
    keys = [int.from_bytes(word[:8], "little") for word in wanted]
    table = np.zeros(1 << 16, dtype=bool)
    table[_slots(np.array(keys, dtype=np.uint64))] = True
    number = offset = 0
    for block in blocks(path):
        newlines, found = _candidates(block, table)
        lines = []
        for index in found:
            start, end = newlines[index - 1] + 1 if index else 0, newlines[index] + 1
            tokens = block[start:end].split()
            if not wanted.isdisjoint(tokens):
                end = min(end, len(block))
                lines.append(Line(number + index, offset + start, offset + end, tokens))
        yield len(newlines), lines
        number += len(newlines)
        offset += len(block)


def _candidates(block: bytes, table: NDArray[np.bool_]) -> tuple[NDArray[np.intp], list[int]]:
    """Where the lines of ``block`` end, and which of them have a token with a key in ``table``."""
    text = block if block.endswith(b"\n") else block + b"\n"
    data = np.frombuffer(text + bytes(8), dtype=np.uint8)
    # Byte values up to that of the space: more than white space, so that a cut too many can add a
    # candidate but never lose one.
    ends = np.flatnonzero(data[: len(text)] <= ord(" "))
    starts = np.concatenate(([0], ends[:-1] + 1))
    eight_bytes = np.ndarray(len(text), dtype="<u8", buffer=data, strides=(1,))
    keys = eight_bytes[starts] & FIRST_BYTES[np.minimum(ends - starts, 8)]
    newlines = ends[data[ends] == ord("\n")]
    return newlines, np.unique(np.searchsorted(newlines, starts[table[_slots(keys)]])).tolist()


def _slots(keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """The row of the hash table for each key."""
    return ((keys * SPREAD) >> np.uint64(48)).astype(np.intp)

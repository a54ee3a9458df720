"""Files from strangers by the thousand: bombs, and mutations of sound files, read by processes of
their own, whose memory and time are bounded and whose death is seen.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import multiprocessing
import random
import resource
import signal
import struct
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from types import FrameType

Files = dict[str, bytes]
"""The files of one input: name and content. The first is the one that is opened."""

Bytes = Callable[[bytes], bytes]
PACKED: dict[str, tuple[Bytes, Bytes]] = {
    ".gz": (gzip.compress, gzip.decompress),
    ".bz2": (bz2.compress, bz2.decompress),
    ".xz": (lzma.compress, lzma.decompress),
}
PACK: dict[str, Bytes] = {"": bytes} | {suffix: pack for suffix, (pack, _) in PACKED.items()}
TOKENS = [
    *(b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"\x1b[2J"),
    *(b"\n", b"\n\n", b"\r", b"\r\n", b"\t", b" ", b"  ", b'"', b"'", b",", b";", b"|", b"\\"),
    *(b"nan", b"-inf", b"1e999", b"-1", b"0", b"9" * 30, b"9" * 5000, b"0x" + b"f" * 5000, b"1:1"),
    *(b"[", b"]", b"{", b"}", b"- ", b": ", b"? ", b"&a ", b"*a", b"<<: ", b"!!int ", b"!!python/"),
    *(b"2001-13-45", b"2001-01-01", b"null", b"true", b"no", b"#", b"---\n", b"...\n", b"=cmd|"),
    *(b"<html>", b"http://a.b/", b"@a", b"#a", b"&amp;", b"\\u0000", b"\\ud800", b"../", b"(" * 50),
    *(struct.pack("<q", n) for n in (-1, 0, 1, 2**31, 2**40, 2**63 - 1)),
]
LONGEST = 100_000
MIB = 1 << 20
MEMORY = 500 * MIB
SECONDS = 30.0  # of computing: a guard against hanging on any machine, not a measure
HANGS = 120.0  # seconds on the clock


def mutations(seeds: Sequence[Files], count: int, seed: int) -> Iterator[Files]:
    """So many inputs, each a seed of which one file is changed in one to four places; archives are
    changed within as often as without.
    """
    rng = random.Random(seed)
    for _ in range(count):
        files = dict(rng.choice(seeds))
        name = rng.choice([*files])
        pack, unpack = PACKED.get(Path(name).suffix, (bytes, bytes))
        if rng.random() < 0.5:
            pack = unpack = bytes
        other = rng.choice(seeds).get(name, b"")
        data = unpack(files[name])
        for _ in range(rng.randint(1, 4)):
            data = _mutated(data, other, rng)[:LONGEST]
        yield files | {name: pack(data)}


def _mutated(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """One change: of a bit, a number, a cut, a piece left out, repeated, moved in or made up."""
    start = rng.randint(0, len(data))
    end = min(len(data), start + int(rng.expovariate(1 / 20)))
    head, piece, tail = data[:start], data[start:end], data[end:]
    kind = rng.randrange(9)
    if kind == 0:
        return head + bytes(byte ^ 1 << rng.randrange(8) for byte in piece[:1]) + data[start + 1 :]
    if kind == 1:
        number = struct.pack("<q", rng.choice([-1, 0, 1, 255, 2**16, 2**31 - 1, 2**31, 2**62]))
        return head + number[: rng.choice([1, 2, 4, 8])] + data[start + 8 :]
    if kind == 2:
        return head
    if kind == 3:
        return head + tail
    if kind == 4:
        return head + piece * int(rng.expovariate(1 / 50)) + tail
    if kind == 5:
        place = rng.randint(0, len(other))
        return head + other[place : place + rng.randint(1, 200)] + tail
    if kind == 6:
        return head + rng.randbytes(rng.randint(1, 8)) + tail
    if kind == 7:
        return head + rng.choice(TOKENS) * rng.choice([1, 1, 1, 2, 100, 5000]) + tail
    return head + rng.choice(TOKENS) + tail


class Task(NamedTuple):
    """What is to be read: where the inputs are written, the function that reads the path of the
    first file of each (``module:function``), and sound inputs, which load all that it imports.
    """

    folder: Path
    read: str
    sound: Sequence[Files]


class Pool:
    """A process that reads input after input; where one ends it, a new one takes its place."""

    def __init__(self) -> None:
        self._task: Task | None = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._ours.close()

    def begin(self, task: Task) -> None:
        """Turn to other inputs. The sound ones must be read."""
        self._task = task
        self._ours.send(task)
        if (verdict := self._ours.recv()) != "read":
            raise AssertionError(verdict)

    def __call__(self, files: Files) -> str:
        """``read`` or ``refused``; else what is wrong: a traceback, a death, too much time."""
        try:
            self._ours.send(files)
            if self._ours.poll(HANGS):
                return str(self._ours.recv())
            verdict = f"nothing within {HANGS:.0f} seconds"
        except (EOFError, OSError):
            self._process.join()
            verdict = f"the interpreter died with {self._process.exitcode}"
        self.close()
        self._start()
        if self._task:
            self.begin(self._task)
        return verdict


class HangsError(BaseException):
    """An input took more than ``SECONDS`` of computing."""


def _serve(pipe: Connection) -> None:
    """Carry out the tasks that come through the pipe, and read the inputs that follow each."""
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _stop)
    task: Task = pipe.recv()
    while True:
        module, _, name = task.read.partition(":")
        read: Callable[[Path], object] = getattr(importlib.import_module(module), name)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        verdicts = [_verdict(read, _written(task.folder, files)) for files in task.sound]
        pipe.send(next((each for each in verdicts if each != "read"), "read"))
        now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, resource.RLIM_INFINITY))
        while not isinstance(files := pipe.recv(), Task):
            signal.setitimer(signal.ITIMER_PROF, SECONDS, SECONDS)
            verdict = _verdict(read, _written(task.folder, files))
            signal.setitimer(signal.ITIMER_PROF, 0)
            pipe.send(verdict)
        task = files


def _verdict(read: Callable[[Path], object], path: Path) -> str:
    from biasbridge.files import InputError

    try:
        read(path)
    except InputError as error:
        return "refused" if "\n" not in str(error) else f"not one line: {error!r}"
    except BaseException:
        return traceback.format_exc()
    return "read"


def _stop(number: int, frame: FrameType | None) -> None:
    raise HangsError


def _written(folder: Path, files: Mapping[str, bytes]) -> Path:
    """The files written into the folder; the path of the first."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder / next(iter(files))

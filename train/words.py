"""Which words a debiasing method works on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from debias.expand import expand
from debias.lexicon import Lexicon, load_lexicon, read_lexicon, write_lexicon
from files import InputError, read_lines
from files.vectors import open_mapped


@dataclass(frozen=True)
class Words:
    """A lexicon by name or from a file, expanded by nearest neighbours when ``expand`` is above 0.

    Neighbours come from the unmodified vectors of the same run. ``stop`` names a file of words that
    expansion must leave out, one a line. The words used are written to the store as YAML, to be
    read.
    """

    lexicon: str = "gender_union"
    file: str | None = None
    lowercase: bool = False
    expand: int = 0
    stop: str | None = None

    version: ClassVar[int] = 1
    seeded: ClassVar[bool] = False
    unkeyed: ClassVar[tuple[str, ...]] = ("file", "stop")

    def __post_init__(self) -> None:
        if self.expand < 0:
            raise InputError(
                f"words.expand={self.expand}: give 0 (no expansion) or the number of neighbours"
            )

    @property
    def name(self) -> str:
        """Stands for the word set in the tables."""
        base = Path(self.file).stem if self.file else self.lexicon
        return f"{base}+{self.expand}" if self.expand else base

    def files(self) -> list[Path]:
        """The files whose bytes decide the result."""
        return [Path(path) for path in (self.file, self.stop) if path]

    def write(self, out: Path, inputs: Mapping[str, Path]) -> None:
        """Write ``lexicon.yaml``; ``inputs["vectors"]`` holds the vectors that expansion
        searches.
        """
        lexicon: Lexicon = (
            read_lexicon(self.file)
            if self.file
            else load_lexicon(self.lexicon, lowercase=self.lowercase)
        )
        if self.expand:
            stop = list(read_lines(self.stop)) if self.stop else []
            lexicon = expand(
                lexicon, open_mapped(inputs["vectors"] / "vectors"), k=self.expand, stop=stop
            )
        write_lexicon(lexicon, out / "lexicon.yaml")

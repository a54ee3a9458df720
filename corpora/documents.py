"""Documents with coreference from files, and those of two collections together."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, ClassVar, Literal

from corpora.kinds import SPLITS, Collected, DocumentSource, Singletons
from files import InputError, choice, nearest
from files.choice import Share
from files.documents import cut_sentences, read_documents
from files.text import OPENERS

if TYPE_CHECKING:
    from files.documents import Document

log = logging.getLogger(__name__)

FORMS = tuple(f"{form}{packed}" for form in ("*conll", "*.jsonl") for packed in ("", *OPENERS))
Names = Mapping[str, Collection[str]]


@choice
class DocumentFiles(Collected):
    """Documents from CoNLL files and JSON Lines (``files.documents.read_documents``).

    ``path``: files, folders (all in them named ``*conll`` or ``*.jsonl``, also compressed) or
    patterns such as ``data/GUM_*.conll``. ``dev`` and ``test``: names or patterns of documents or
    files, or the share of the documents that is drawn by seed, all parts of one together; the rest
    is ``train``.

    ``scheme`` names what the annotators took for mentions. ``singletons``: clusters of one mention
    are dropped, or kept. ``sentences``: as given, or cut by the marks in the text
    (``files.documents.cut_sentences``). ``mend``: faults of the files are mended as
    ``files.documents.read_conll`` says, and logged; else they are refused.
    """

    path: str | tuple[str, ...]
    scheme: str
    dev: Share | tuple[str, ...] = 0.1
    test: Share | tuple[str, ...] = 0.1
    singletons: Singletons = "drop"
    sentences: Literal["given", "marks"] = "given"
    mend: bool = False
    label: str | None = None

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "label")

    @property
    def name(self) -> str:
        """``label``, or the name of the first file or folder without its endings."""
        return self.label or _plain(Path(self.path if isinstance(self.path, str) else self.path[0]))

    def files(self) -> list[Path]:
        """The files read."""
        paths = (self.path,) if isinstance(self.path, str) else self.path
        return [file for path in paths for file in find_files(path)]

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """The documents; see ``corpora.kinds.DocumentSource``."""
        found = self._read()
        names: dict[str, set[str]] = {}
        for document, file in found:
            names.setdefault(document.name, set()).update((document.name, file.name, _plain(file)))
        of = assign_splits(names, {"dev": self.dev, "test": self.test}, seed=seed)
        splits: dict[str, list[Document]] = {split: [] for split in SPLITS}
        for document, _ in found:
            splits[of[document.name]].append(self._prepared(document))
        if not any(document.clusters for document in splits["train"]):
            raise InputError(f"{self.name}: no training document has a cluster of two mentions")
        return splits

    def _read(self) -> list[tuple[Document, Path]]:
        """Each document with its file."""
        faults: list[str] = []
        found: dict[tuple[str, int], tuple[Document, Path]] = {}
        for file in self.files():
            for document in read_documents(file, mend=faults.append if self.mend else None):
                _, first = found.setdefault((document.name, document.part), (document, file))
                if found[document.name, document.part][0] is not document:
                    raise InputError(f"{file}: {document.title} is in {first} too; leave one out")
        if faults:
            log.warning("%s: %d faults mended, first %s", self.name, len(faults), faults[0])
        return list(found.values())

    def _prepared(self, document: Document) -> Document:
        kept = document if self.singletons == "keep" else document.without_singletons()
        return cut_sentences(kept) if self.sentences == "marks" else kept


@choice
class JoinedDocuments(Collected):
    """The documents of two collections, split by split; either may itself be joined.

    Collections of different schemes disagree on what is a mention, most of all on clusters of one;
    so such clusters must be dropped from both, and ``scheme`` names both: ``litbank+ontonotes``.
    Collections with the same scheme must treat them alike.
    """

    first: DocumentSource
    second: DocumentSource

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        schemes = f"{self.first.name} ({self.first.scheme}) and {self.second.name}"
        schemes += f" ({self.second.scheme})"
        treated = {self.first.singletons, self.second.singletons}
        if len(treated) > 1 or (self.first.scheme != self.second.scheme and treated != {"drop"}):
            raise InputError(
                f"{schemes} do not agree on clusters of one mention: set singletons=drop in both"
            )
        if self.first.generated or self.second.generated:
            raise InputError(f"{schemes}: generated documents are not joined with collected ones")

    @property
    def name(self) -> str:
        """Both names."""
        return f"{self.first.name}+{self.second.name}"

    @property
    def scheme(self) -> str:
        """The scheme, or all, sorted, joined by ``+``."""
        return "+".join(sorted({*self.first.scheme.split("+"), *self.second.scheme.split("+")}))

    @property
    def singletons(self) -> Singletons:
        """What becomes of clusters of one mention."""
        return self.first.singletons

    def files(self) -> list[Path]:
        """The files of both."""
        return [*self.first.files(), *self.second.files()]

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """The documents; see ``corpora.kinds.DocumentSource``."""
        first, second = self.first.load(seed=seed), self.second.load(seed=seed)
        titles = {document.title for split in SPLITS for document in first[split]}
        for document in (document for split in SPLITS for document in second[split]):
            if document.title in titles:
                raise InputError(f"{self.name}: both have {document.title}; leave one out")
        return {split: first[split] + second[split] for split in SPLITS}


def find_files(path: str) -> list[Path]:
    """The file, the files of documents in a folder and those below, or the files that a pattern
    with ``*`` matches; sorted. Raises ``InputError`` where there is none.
    """
    place = Path(path)
    if "*" in path:
        root = Path(place.anchor or ".")
        found = [file for file in root.glob(str(place.relative_to(place.anchor))) if file.is_file()]
    elif place.is_dir():
        found = [file for form in FORMS for file in place.rglob(form) if file.is_file()]
    elif place.is_file():
        return [place]
    else:
        close = nearest(place.name, [each.name for each in place.parent.glob("*")])
        raise InputError(f"no such file or folder: {path}{close}")
    if not found:
        raise InputError(f"{path}: no file there is named {' or '.join(FORMS)}")
    return sorted({*found})


def assign_splits(
    names: Names, given: Mapping[str, float | tuple[str, ...]], *, seed: int
) -> dict[str, str]:
    """The split of each document: what ``given`` says, all others ``train``.

    ``names``: what each document may be called, by its name. ``given``: by split patterns of such
    names, or a share of all documents (rounded, at least one; 0 is none), drawn from those that no
    pattern takes. Raises ``InputError`` for a pattern that takes nothing, or what another split
    has, and where nothing is left to train on.
    """
    splits: dict[str, str] = {}
    for split, patterns in given.items():
        for pattern in patterns if isinstance(patterns, tuple) else ():
            _take(splits, split, pattern, names)
    left = sorted(name for name in names if name not in splits)
    Random(seed).shuffle(left)
    for split, share in given.items():
        if not isinstance(share, tuple) and share:
            n = max(1, round(share * len(names)))
            splits |= dict.fromkeys(left[:n], split)
            left = left[n:]
    if not left:
        raise InputError(f"of {len(names)} documents none is left for train: lessen dev and test")
    return splits | dict.fromkeys(left, "train")


def _take(splits: dict[str, str], split: str, pattern: str, names: Names) -> None:
    found = [
        name for name, called in names.items() if any(fnmatchcase(each, pattern) for each in called)
    ]
    if not found:
        raise InputError(f"{split}: no document and no file is named {pattern!r}")
    for name in found:
        if splits.setdefault(name, split) != split:
            raise InputError(
                f"document {name} is in {splits[name]} and, by {pattern!r}, in {split}"
            )


def _plain(path: Path) -> str:
    return path.name.split(".")[0]

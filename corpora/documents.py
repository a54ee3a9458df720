"""Documents with coreference from files, and unions of two collections."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from annotated_types import doc

from biasbridge.corpora.protocols import SPLITS, DocumentSource, RealData, Singletons
from biasbridge.files import InputError, choice, nearest
from biasbridge.files.choice import Share
from biasbridge.files.documents import cut_sentences, read_documents
from biasbridge.files.text import OPENERS

if TYPE_CHECKING:
    from biasbridge.files.documents import Document

log = logging.getLogger(__name__)
PATTERNS = tuple(
    f"{pattern}{ending}" for pattern in ("*conll", "*.jsonl") for ending in ("", *OPENERS)
)
NameLists = Mapping[str, Collection[str]]


@choice
class DocumentFiles(RealData):
    """Documents from CoNLL files and JSON Lines (``biasbridge.files.documents.read_documents``).

    ``path``: files, folders (their files named ``*conll`` or ``*.jsonl``, also compressed) or
    patterns such as ``data/GUM_*.conll``. ``dev`` and ``test``: names or patterns of documents or
    files, or the share of documents drawn by seed (all parts of a document together); all others
    are ``train``.

    ``scheme`` names the annotators' definition of a mention. ``singletons``: drop or keep clusters
    of one mention. ``sentences``: as given, or split at punctuation
    (``biasbridge.files.documents.cut_sentences``). ``mend``: repair and log faults of the files as
    ``biasbridge.files.documents.read_conll`` does, instead of raising an error.
    """

    path: str | tuple[str, ...]
    scheme: Annotated[str, doc("name of the annotators' definition of a mention; any word")]
    dev: Annotated[
        Share | tuple[str, ...],
        doc("share of the documents, or their names and patterns such as [dev*, news_1]"),
    ] = 0.1
    test: Share | tuple[str, ...] = 0.1
    singletons: Annotated[Singletons, doc("or keep")] = "drop"
    sentences: Annotated[Literal["given", "marks"], doc("or marks: split at punctuation")] = "given"
    mend: Annotated[
        bool, doc("true: repair and log faults such as unmatched brackets instead of failing")
    ] = False
    label: str | None = None

    version: ClassVar[int] = 1
    unkeyed: ClassVar[tuple[str, ...]] = ("path", "label")
    chosen_as: ClassVar[tuple[str, ...]] = ("documents/files",)

    @property
    def name(self) -> str:
        """``label``, or the name of the first file or folder without its endings."""
        return self.label or _base_name(
            Path(self.path if isinstance(self.path, str) else self.path[0])
        )

    def files(self) -> list[Path]:
        """Return the files to read."""
        paths = (self.path,) if isinstance(self.path, str) else self.path
        return [file for path in paths for file in _find_files(path)]

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """Return the documents; see ``biasbridge.corpora.protocols.DocumentSource``."""
        documents_and_files = self._read_with_files()
        names: dict[str, set[str]] = {}
        for document, file in documents_and_files:
            aliases = names.setdefault(document.name, set())
            aliases.update((document.name, file.name, _base_name(file)))
        split_of = _assign_splits(names, {"dev": self.dev, "test": self.test}, seed=seed)
        splits: dict[str, list[Document]] = {split: [] for split in SPLITS}
        for document, _ in documents_and_files:
            splits[split_of[document.name]].append(self._prepare(document))
        if not any(document.clusters for document in splits["train"]):
            raise InputError(f"{self.name}: no training document has a cluster of two mentions")
        return splits

    def _read_with_files(self) -> list[tuple[Document, Path]]:
        faults: list[str] = []
        documents: dict[tuple[str, int], tuple[Document, Path]] = {}
        for file in self.files():
            for document in read_documents(file, mend=faults.append if self.mend else None):
                key = document.name, document.part
                first, path = documents.setdefault(key, (document, file))
                if first is not document:
                    raise InputError(f"{file}: {document.title} is in {path} too; leave one out")
        if faults:
            log.warning("%s: %d faults mended, first %s", self.name, len(faults), faults[0])
        return list(documents.values())

    def _prepare(self, document: Document) -> Document:
        document = document if self.singletons == "keep" else document.without_singletons()
        return cut_sentences(document) if self.sentences == "marks" else document


@choice
class JoinedDocuments(RealData):
    """The union of two collections, split by split; either may itself be a union.

    Collections of different schemes define mentions differently, above all clusters of one mention.
    These must be dropped from both collections; ``scheme`` names both: ``litbank+ontonotes``.
    Collections of one scheme must have the same ``singletons``.
    """

    first: DocumentSource
    second: DocumentSource

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        schemes = f"{self.first.name} ({self.first.scheme}) and {self.second.name}"
        schemes += f" ({self.second.scheme})"
        singletons = {self.first.singletons, self.second.singletons}
        same_scheme = self.first.scheme == self.second.scheme
        if len(singletons) > 1 or (not same_scheme and singletons != {"drop"}):
            raise InputError(
                f"{schemes} do not agree on clusters of one mention: set singletons=drop in both"
            )
        if self.first.generated or self.second.generated:
            raise InputError(f"{schemes}: generated documents are not joined with collected ones")

    @property
    def name(self) -> str:
        """Both names, joined by ``+``."""
        return f"{self.first.name}+{self.second.name}"

    @property
    def scheme(self) -> str:
        """All schemes, sorted and joined by ``+``."""
        return "+".join(sorted({*self.first.scheme.split("+"), *self.second.scheme.split("+")}))

    @property
    def singletons(self) -> Singletons:
        """Treatment of clusters of one mention."""
        return self.first.singletons

    def files(self) -> list[Path]:
        """Return the files of both collections."""
        return [*self.first.files(), *self.second.files()]

    def load(self, *, seed: int) -> dict[str, list[Document]]:
        """Return the documents; see ``biasbridge.corpora.protocols.DocumentSource``."""
        first, second = self.first.load(seed=seed), self.second.load(seed=seed)
        titles = {document.title for split in SPLITS for document in first[split]}
        for document in (document for split in SPLITS for document in second[split]):
            if document.title in titles:
                raise InputError(f"{self.name}: both have {document.title}; leave one out")
        return {split: first[split] + second[split] for split in SPLITS}


def _find_files(path: str) -> list[Path]:
    """Return the file, the document files below a folder, or the matches of a pattern, sorted."""
    location = Path(path)
    if "*" in path:
        pattern = str(location.relative_to(location.anchor))
        files = [file for file in Path(location.anchor or ".").glob(pattern) if file.is_file()]
    elif location.is_dir():
        files = [file for form in PATTERNS for file in location.rglob(form) if file.is_file()]
    elif location.is_file():
        return [location]
    else:
        close = nearest(location.name, [sibling.name for sibling in location.parent.glob("*")])
        raise InputError(f"no such file or folder: {path}{close}")
    if not files:
        raise InputError(f"{path}: no file there is named {' or '.join(PATTERNS)}")
    return sorted({*files})


def _assign_splits(
    names: NameLists, selections: Mapping[str, float | tuple[str, ...]], *, seed: int
) -> dict[str, str]:
    """Return the split of each document: by patterns of its names, else drawn, else ``train``."""
    splits: dict[str, str] = {}
    for split, patterns in selections.items():
        for pattern in patterns if isinstance(patterns, tuple) else ():
            _assign_matches(splits, split, pattern, names)
    remaining = sorted(name for name in names if name not in splits)
    Random(seed).shuffle(remaining)
    for split, share in selections.items():
        if not isinstance(share, tuple) and share:
            n = max(1, round(share * len(names)))
            splits |= dict.fromkeys(remaining[:n], split)
            remaining = remaining[n:]
    if not remaining:
        raise InputError(f"none of {len(names)} documents is left for train: lower dev and test")
    return splits | dict.fromkeys(remaining, "train")


def _assign_matches(splits: dict[str, str], split: str, pattern: str, names: NameLists) -> None:
    matches = [
        name
        for name, aliases in names.items()
        if any(fnmatchcase(alias, pattern) for alias in aliases)
    ]
    if not matches:
        raise InputError(f"{split}: no document and no file is named {pattern!r}")
    for name in matches:
        if splits.setdefault(name, split) != split:
            raise InputError(
                f"document {name} is in {splits[name]} and, by {pattern!r}, in {split}"
            )


def _base_name(path: Path) -> str:
    return path.name.split(".")[0]

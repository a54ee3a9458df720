"""Which split a document belongs to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from random import Random

from files import InputError, read_lines

SPLITS = ("train", "dev", "test")
Names = Mapping[str, Collection[str]]


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


def list_files(folder: str | Path) -> dict[str, Path]:
    """The list of each split: the one file of a folder whose name ends in ``.train``, ``.dev`` and
    ``.test``. Raises ``InputError`` where there is none, or several.
    """
    lists: dict[str, Path] = {}
    for split in SPLITS:
        found = sorted(Path(folder).glob(f"*.{split}"))
        if len(found) != 1:
            raise InputError(f"{folder} has {len(found)} lists *.{split}; give a folder with one")
        lists[split] = found[0]
    return lists


def read_lists(folder: str | Path) -> dict[str, str]:
    """The split of each document that the lists of a folder name, one a line."""
    splits: dict[str, str] = {}
    for split, path in list_files(folder).items():
        for line in read_lines(path):
            name = line.strip()
            if name and splits.setdefault(name, split) != split:
                raise InputError(f"{path} names {name}, which is in {splits[name]} too")
    return splits

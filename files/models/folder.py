"""Folders of language models: the files of one in another, with an eraser beside them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from files.eraser import ERASER, Eraser
from files.models.erased import hook_eraser
from files.models.language_model import open_model


def write_erased(model: Path, out: Path, eraser: Eraser) -> None:
    """A folder with the files of a model, and the eraser beside them.

    Raises ``InputError`` where the model does not take it, or nothing would change.
    """
    opened = open_model(model)
    opened.require_untouched()
    hook_eraser(opened.base, eraser)
    link_files(model, out)
    eraser.save(out / ERASER)


def link_files(folder: Path, out: Path) -> None:
    """A new folder with the files of another, which are the same on the disk where it has links."""
    out.mkdir()
    for path in folder.iterdir():
        try:
            os.link(path, out / path.name)
        except OSError:  # a file system without links
            shutil.copyfile(path, out / path.name)

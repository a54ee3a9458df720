"""Folders of language models with an eraser or an adapter."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from biasbridge.files.eraser import ERASER, Eraser
from biasbridge.files.models.erased import hook_eraser
from biasbridge.files.models.language_model import open_model


def write_erased(model: Path, out: Path, eraser: Eraser) -> None:
    """Write a folder with the files of a model and an eraser.

    Raises ``InputError`` if the eraser does not fit the model or changes nothing.
    """
    opened = open_model(model)
    opened.require_untouched()
    hook_eraser(opened.base, eraser)
    link_files(model, out)
    eraser.save(out / ERASER)


def link_files(folder: Path, out: Path) -> None:
    """Create a folder with the files and folders of another, as hard links where possible."""
    out.mkdir()
    for path in folder.iterdir():
        if path.is_dir():
            link_files(path, out / path.name)
            continue
        try:
            os.link(path, out / path.name)
        except OSError:  # a file system without links
            shutil.copyfile(path, out / path.name)

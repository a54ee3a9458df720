"""Every notebook of ``examples/`` runs from top to bottom, in an empty folder."""

from __future__ import annotations

import warnings
from pathlib import Path

import nbformat
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own parts
        from nbclient import NotebookClient

        notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    assert any(cell.get("outputs") for cell in notebook.cells)

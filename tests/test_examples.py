"""Every notebook of ``examples/`` runs from top to bottom, in an empty folder, without a warning;
its charts are stored as pictures beside their Vega-Lite.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from biasbridge.files import InputError
from biasbridge.files.places import in_package

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.ipynb"))
VEGA, PICTURE = "application/vnd.vegalite.v6+json", "image/png"
N_CHARTS = (2, 1, 1, 1, 1, 1)
BY_CHARTS = [
    pytest.param(path, n, id=path.stem) for path, n in zip(EXAMPLES, N_CHARTS, strict=True)
]
N_LINES = 20  # of the study that notebook 5 replicates


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def outputs(notebook: Any) -> Iterator[Any]:
    for cell in notebook.cells:
        yield from cell.get("outputs", [])


def require_silent(notebook: Any, n_charts: int) -> None:
    """Charts have both forms, tables are in short, and nothing is on standard error."""
    shown = list(outputs(notebook))
    assert not [output for output in shown if output.get("name") == "stderr"]
    data = [output.get("data", {}) for output in shown]
    charts = [each for each in data if VEGA in each]
    assert len(charts) == n_charts
    assert all(PICTURE in each and "text/html" not in each for each in charts)
    pages = [each["text/html"] for each in data if "text/html" in each]
    assert pages
    for page in pages:
        heads = re.findall(r"<thead>.*?</thead>", page, re.DOTALL)
        assert all(head.count("<th>") <= 11 for head in heads)  # of the index too


@pytest.mark.parametrize(("path", "n_charts"), BY_CHARTS)
def test_a_notebook_shows_its_charts_without_a_network(path: Path, n_charts: int) -> None:
    require_silent(read(path), n_charts)
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "\\u001b[" not in text
    assert not re.search(r"/(tmp|home|root|work)/", text)


@pytest.mark.slow
@pytest.mark.parametrize(("path", "n_charts"), BY_CHARTS)
def test_a_notebook_runs(path: Path, n_charts: int, tmp_path: Path) -> None:
    notebook = read(path)
    for package in re.findall(r"package:[\w-]+", "".join(cell.source for cell in notebook.cells)):
        try:
            in_package(package, (".txt", ".gz", ".vec"))
        except InputError as error:
            pytest.skip(str(error))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Jupyter's own parts
        from nbclient import NotebookClient

        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    require_silent(notebook, n_charts)
    if path.stem.startswith("2"):
        [said] = re.findall(r"decision, which here is: (.+?)\.", notebook.cells[-2].source)
        assert said in (tmp_path / "audit.html").read_text(encoding="utf-8")


def test_the_published_study_takes_twenty_lines() -> None:
    [path] = [path for path in EXAMPLES if path.stem.startswith("5")]
    first = next(cell for cell in read(path).cells if cell.cell_type == "code")
    lines = [line for line in first.source.splitlines() if line.strip()]
    assert len([line for line in lines if not line.startswith(("import", "from"))]) <= N_LINES
    [table] = [output["data"]["text/plain"] for output in first.outputs]
    rows = [row.split()[-4:] for row in table.splitlines()[1:]]
    assert [row[0] for row in rows] == ["before", "after"] * 2
    bias, clusters, classified = np.array([row[1:] for row in rows], dtype=float).T
    assert (bias[::2] > 0.2).all()
    assert (bias[1::2] == 0).all()  # the bias by its own definition is gone
    assert min(*clusters[:3], *classified) > 0.9  # Gonen & Goldberg: .999 and .925
    assert clusters[3] < 0.6  # no clusters of words chosen by the removed direction

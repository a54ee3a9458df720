"""Text classifiers in ONNX files: data for onnxruntime, which runs no code of the file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasbridge.files.errors import InputError
from biasbridge.files.models.onnx_session import MAX_BYTES

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats

LABELS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
TEXTS_AT_ONCE = 256  # the counts of words are dense inside a model
SECONDS_AT_ONCE = 300
TIMED_OUT = -14  # exit status by SIGALRM
REMEDY = "pip install onnx onnxruntime"


@dataclass(frozen=True)
class OnnxClassifier:
    """Classifier of texts in an ONNX file, with one input, a tensor of strings."""

    classes: Sequence[str]
    path: Path

    def predict_probabilities(self, texts: Sequence[str]) -> Floats:
        """Return the probability of each class, (texts, classes).

        The file runs in a process of its own. Raises ``InputError`` if that fails, takes too much
        memory or time, or gives other values.
        """
        batches = [texts[i : i + TEXTS_AT_ONCE] for i in range(0, len(texts), TEXTS_AT_ONCE)]
        completed = subprocess.run(
            [
                sys.executable,
                "-m",
                "biasbridge.files.models.onnx_session",
                self.path,
                str(SECONDS_AT_ONCE),
            ],
            input=json.dumps(batches).encode(),
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        reason = completed.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        if completed.returncode:
            problem = f"cannot be run ({reason[:200]})"
            if completed.returncode == TIMED_OUT:
                problem = f"takes more than {SECONDS_AT_ONCE} s for {TEXTS_AT_ONCE} texts"
            elif completed.returncode < 0 or "alloc" in reason or "MemoryError" in reason:
                problem = f"takes more memory than {MAX_BYTES >> 30} GiB, or than there is"
            raise InputError(f"{self.path} {problem}; give another classifier")
        outputs = json.loads(completed.stdout)
        sizes = [len(batch) for batch in batches]
        rows = [self._read(values, n) for values, n in zip(outputs, sizes, strict=True)]
        return np.concatenate([np.zeros((0, len(self.classes))), *rows])

    def _read(self, output: Any, n_texts: int) -> Floats:
        """Return the probabilities of an output: a row, or a mapping, for each text."""
        try:
            rows = [
                [row[k] for k in self.classes] if isinstance(row, dict) else row for row in output
            ]
            values = np.array(rows, dtype=float)
        except (TypeError, ValueError, LookupError):
            values = np.empty(())
        if values.shape != (n_texts, len(self.classes)):
            problem = f"gives {values.shape} values for {n_texts} texts"
            classes = f"{len(self.classes)} classes ({', '.join(self.classes)})"
            raise InputError(f"{self.path} {problem} and {classes}; give a probability for each")
        return values


def open_onnx(path: Path) -> OnnxClassifier:
    """Open a classifier. Raise ``InputError`` if a library is missing, the file is no ONNX model,
    keeps weights in other files, has other inputs than texts, or names no classes.
    """
    for library in ("onnx", "onnxruntime"):
        if not find_spec(library):
            raise InputError(f"{path} needs {library}: {REMEDY}")
    import onnx

    try:
        model = onnx.load(path, load_external_data=False)
        classes = list(_find_classes(model.graph.node))
    except Exception as error:
        raise InputError(f"{path} is no ONNX model ({type(error).__name__})") from error
    if not classes:
        raise InputError(f"{path} names no classes; give a classifier with {LABELS[0]}")
    constants = {constant.name for constant in model.graph.initializer}
    numbers = [x.type.tensor_type.elem_type for x in model.graph.input if x.name not in constants]
    if numbers != [onnx.TensorProto.STRING]:
        taken = ", ".join(map(onnx.TensorProto.DataType.Name, numbers)).lower() or "nothing"
        raise InputError(f"{path} takes {taken}; give a classifier that takes one column of texts")
    return OnnxClassifier(classes, path)


def _find_classes(nodes: Sequence[Any]) -> Iterator[str]:
    """Yield the names of the classes: those of the last node that has any."""
    for node in reversed(nodes):
        for attribute in node.attribute:
            if attribute.name in LABELS and (attribute.strings or attribute.ints):
                yield from (name.decode() for name in attribute.strings)
                yield from map(str, attribute.ints)
                return

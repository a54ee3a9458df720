"""Text classifiers in ONNX files: data for onnxruntime, which runs no code of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from files.errors import InputError

if TYPE_CHECKING:
    from stats.arrays import Floats

LABELS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
TEXTS_AT_ONCE = 256  # the counts of words are dense inside a model
LOCALE = "C"  # lower-cases ASCII, and exists on every machine
REMEDY = "pip install onnx onnxruntime"


@dataclass(frozen=True)
class OnnxClassifier:
    """Classifier of texts in an ONNX file, with one input, a tensor of strings."""

    classes: Sequence[str]
    session: Any

    def predict_probabilities(self, texts: Sequence[str]) -> Floats:
        """Return the probability of each class, (texts, classes)."""
        [entry] = self.session.get_inputs()
        shape = (-1, 1) if len(entry.shape) == 2 else (-1,)
        values = np.zeros((len(texts), len(self.classes)))
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            batch = np.array(texts[start : start + TEXTS_AT_ONCE], dtype=object).reshape(shape)
            values[start : start + TEXTS_AT_ONCE] = self._read(
                self.session.run(None, {entry.name: batch})
            )
        return values

    def _read(self, outputs: Sequence[Any]) -> Floats:
        """Return the probabilities among the outputs: a tensor, or a mapping for each text."""
        if isinstance(outputs[-1], list):
            rows = [{str(name): p for name, p in row.items()} for row in outputs[-1]]
            return np.array([[row[name] for name in self.classes] for row in rows], dtype=float)
        return np.asarray(outputs[-1], dtype=float)


def open_onnx(path: Path) -> OnnxClassifier:
    """Open a classifier. Raise ``InputError`` if a library is missing, the file is no ONNX model,
    keeps weights in other files, has other inputs than texts, or names no classes.
    """
    try:
        import onnx
        import onnxruntime  # type: ignore[import-untyped]
    except ImportError as error:
        raise InputError(f"{path} needs {error.name}: {REMEDY}") from None
    try:
        model = onnx.load(path, load_external_data=False)
        classes = list(_find_classes(model.graph.node))
    except Exception as error:
        raise InputError(f"{path} is no ONNX model ({type(error).__name__})") from error
    if not classes:
        raise InputError(f"{path} names no classes; give a classifier with {LABELS[0]}")
    try:
        session = _open_session(model, onnx, onnxruntime)
    except Exception as error:  # the library's own, of one class for each cause
        raise InputError(f"{path} cannot be opened ({str(error)[:200]})") from error
    inputs = [entry.type for entry in session.get_inputs()]
    if inputs != ["tensor(string)"]:
        problem = f"{path} takes {', '.join(inputs)}; give a classifier of texts, tensor(string)"
        raise InputError(problem)
    return OnnxClassifier(classes, session)


def _find_classes(nodes: Sequence[Any]) -> Iterator[str]:
    """Yield the names of the classes: those of the last node that has any."""
    for node in reversed(nodes):
        for attribute in node.attribute:
            if attribute.name in LABELS and (attribute.strings or attribute.ints):
                yield from (name.decode() for name in attribute.strings)
                yield from map(str, attribute.ints)
                return


def _open_session(model: Any, onnx: Any, onnxruntime: Any) -> Any:
    """Open a session from memory; with the locale C where a machine lacks the default one."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    providers = ["CPUExecutionProvider"]
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)
    except Exception as error:
        if "locale" not in str(error):
            raise
    for node in model.graph.node:
        if node.op_type == "StringNormalizer" and all(a.name != "locale" for a in node.attribute):
            node.attribute.append(onnx.helper.make_attribute("locale", LOCALE))
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)

"""Text classifiers: of transformers, from safetensors, and in ONNX files, which run no code."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from biasbridge.files.errors import InputError
from biasbridge.files.models.language_model import (
    convert_load_errors,
    load_options,
    load_tokenizer,
    longest_text,
    missing_architectures,
)
from biasbridge.files.places import find_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from biasbridge.stats.arrays import Floats

_SUFFIX = "ForSequenceClassification"
_LONGEST = 512  # tokens, where neither model nor tokenizer has a limit
_BATCH = 32  # texts
_ONNX_LABELS = ("classlabels_strings", "classlabels_int64s", "classlabels_ints")
_TEXTS_AT_ONCE = 256  # texts: the counts of words are dense inside a model


@dataclass(frozen=True)
class SequenceClassifier:
    """Classifier of texts with its tokenizer. Longer texts than the model allows are cut."""

    classes: Sequence[str]
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast

    def predict_probabilities(self, texts: Sequence[str]) -> Floats:
        """Return the probability of each class, (texts, classes).

        Softmax over classes; of a single logit, and where an item may have several classes,
        the sigmoid of each.
        """
        import torch

        config, model, tokenizer = self.model.config, cast("Any", self.model), self.tokenizer
        is_sigmoid = config.problem_type == "multi_label_classification" or config.num_labels == 1
        longest = longest_text(self.model, tokenizer, _LONGEST)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        probabilities = np.zeros((len(texts), len(self.classes)))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            encoded = cast("Any", tokenizer)(
                [texts[i] for i in batch],
                padding=True,
                truncation=True,
                max_length=longest,
                return_tensors="pt",
            )
            with torch.inference_mode():
                logits = model(**encoded).logits
            values = logits.sigmoid() if is_sigmoid else logits.softmax(-1)
            probabilities[batch] = values.double().numpy()
        return probabilities


def open_sequence_classifier(name: str) -> SequenceClassifier:
    """Open a folder that ``save_pretrained`` wrote, or a hub name with its commit.

    Raises ``InputError`` for a model without a classification head, for a regression, and for
    files that lack weights.
    """
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    with convert_load_errors(name):
        place = find_model(name)
        options: dict[str, Any] = load_options(place)
        config = AutoConfig.from_pretrained(place.source, **options)
        if problem := missing_architectures(config, "SEQUENCE_CLASSIFICATION"):
            raise InputError(f"model={name!r}: {problem}")
        architectures = config.architectures or [""]
        if not architectures[0].endswith(_SUFFIX) or config.problem_type == "regression":
            raise InputError(f"model={name!r} is {architectures[0]}, not a classifier of texts")
        common: dict[str, Any] = {"dtype": torch.float32, "use_safetensors": True}
        model, report = AutoModelForSequenceClassification.from_pretrained(
            place.source, **options, **common, output_loading_info=True
        )
        if absent := sorted(report["missing_keys"]):
            problem = f"its files lack {len(absent)} weights ({absent[0]}, ...)"
            raise InputError(f"model={name!r}: {problem}, which would be random")
        tokenizer = load_tokenizer(place, name)
    names = [str(config.id2label[number]) for number in range(config.num_labels)]
    return SequenceClassifier(names, model.eval(), tokenizer)


@dataclass(frozen=True)
class OnnxClassifier:
    """Classifier of texts in an ONNX file, with one input, a tensor of strings."""

    classes: Sequence[str]
    path: Path

    def predict_probabilities(self, texts: Sequence[str]) -> Floats:
        """Return the probability of each class, (texts, classes).

        Raises ``InputError`` if the file cannot be run, or gives other values.
        """
        rows = [np.zeros((0, len(self.classes)))]
        try:
            session = _open_session(self.path.read_bytes())
            [entry] = session.get_inputs()
            shape = (-1, 1) if len(entry.shape) == 2 else (-1,)
            for i in range(0, len(texts), _TEXTS_AT_ONCE):
                batch = np.array(texts[i : i + _TEXTS_AT_ONCE], dtype=object)
                values = session.run(None, {entry.name: batch.reshape(shape)})[-1]
                rows.append(self._read(values, len(batch)))
        except InputError:
            raise
        except Exception as error:  # of onnxruntime
            reason = traceback.format_exception_only(error)[-1].strip()[:200]
            problem = f"cannot be run ({reason})"
            raise InputError(f"{self.path} {problem}; give another classifier") from error
        return np.concatenate(rows)

    def _in_order(self, row: Any) -> Any:
        if not isinstance(row, dict):
            return row
        by_name = {str(name): value for name, value in row.items()}  # names may be numbers
        return [by_name[name] for name in self.classes]

    def _read(self, output: Any, n_texts: int) -> Floats:
        """Return the probabilities of an output: a row, or a mapping, for each text."""
        try:
            values = np.array([self._in_order(row) for row in output], dtype=float)
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
            raise InputError(f"{path} needs {library}: pip install onnx onnxruntime")
    import onnx

    try:
        model = onnx.load(path, load_external_data=False)
        classes = list(_find_classes(model.graph.node))
    except Exception as error:
        raise InputError(f"{path} is not an ONNX model ({type(error).__name__})") from error
    if not classes:
        raise InputError(f"{path} names no classes; give a classifier with {_ONNX_LABELS[0]}")
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
            if attribute.name in _ONNX_LABELS and (attribute.strings or attribute.ints):
                yield from (name.decode() for name in attribute.strings)
                yield from map(str, attribute.ints)
                return


def _open_session(content: bytes) -> Any:
    """Open a session from memory; with the locale C, which lower-cases ASCII and exists on every
    machine, where the default one is lacking.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    providers = ["CPUExecutionProvider"]
    try:
        return onnxruntime.InferenceSession(content, options, providers=providers)
    except Exception as error:
        if "locale" not in str(error):
            raise
    import onnx

    model = onnx.load_from_string(content)
    for node in model.graph.node:
        if node.op_type == "StringNormalizer" and all(a.name != "locale" for a in node.attribute):
            node.attribute.append(onnx.helper.make_attribute("locale", "C"))
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)

"""Text classifiers of transformers, from safetensors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
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
    within_bytes,
)
from biasbridge.files.places import find_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from biasbridge.stats.arrays import Floats


SUFFIX = "ForSequenceClassification"
LONGEST = 512  # tokens, where neither model nor tokenizer has a limit
BATCH = 32  # texts


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
        longest = longest_text(self.model, tokenizer, LONGEST)
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        probabilities = np.zeros((len(texts), len(self.classes)))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
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
        if not architectures[0].endswith(SUFFIX) or config.problem_type == "regression":
            raise InputError(f"model={name!r} is {architectures[0]}, not a classifier of texts")
        common: dict[str, Any] = {"dtype": torch.float32, "use_safetensors": True}
        with within_bytes(place, name), torch.device("meta"):
            AutoModelForSequenceClassification.from_config(config, dtype=torch.float32)
        model, report = AutoModelForSequenceClassification.from_pretrained(
            place.source, **options, **common, output_loading_info=True
        )
        if absent := sorted(report["missing_keys"]):
            problem = f"its files lack {len(absent)} weights ({absent[0]}, ...)"
            raise InputError(f"model={name!r}: {problem}, which would be random")
        tokenizer = load_tokenizer(place, name)
    names = [str(config.id2label[number]) for number in range(config.num_labels)]
    return SequenceClassifier(names, model.eval(), tokenizer)


# Text classifiers in ONNX files: data for onnxruntime, which runs no code of the file.

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
                "biasbridge.files.models.classifiers",
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


# Process that runs an ONNX model on texts, with bounds on its memory and time.
#
# Standard input: the texts of each batch. Standard output: the values of each batch. Both are JSON.

MAX_BYTES = 16 << 30  # of addresses; a model may take four times its file besides
LOCALE = "C"  # lower-cases ASCII, and exists on every machine


def main(path: str, seconds: int) -> None:
    """Print what the model gives for the batches of texts; each has ``seconds``, then it ends."""
    content = Path(path).read_bytes()
    with suppress(ImportError):  # Windows has neither bound
        import resource

        bound = MAX_BYTES + 4 * len(content)
        resource.setrlimit(resource.RLIMIT_AS, (bound, resource.getrlimit(resource.RLIMIT_AS)[1]))
    set_alarm = getattr(signal, "alarm", abs)
    set_alarm(seconds)
    import numpy as np

    batches = json.load(sys.stdin)
    session = _open_session(content)
    [entry] = session.get_inputs()
    shape = (-1, 1) if len(entry.shape) == 2 else (-1,)
    outputs = []
    for texts in batches:
        set_alarm(seconds)
        values = session.run(None, {entry.name: np.array(texts, dtype=object).reshape(shape)})[-1]
        outputs.append(values if isinstance(values, list) else np.asarray(values).tolist())
    json.dump(outputs, sys.stdout, default=float)


def _open_session(content: bytes) -> Any:
    """Open a session from memory; with the locale C where a machine lacks the default one."""
    import onnxruntime  # type: ignore[import-untyped]

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
            node.attribute.append(onnx.helper.make_attribute("locale", LOCALE))
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

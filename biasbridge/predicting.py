"""Predictions of a classifier that others trained, as a table for ``biasbridge.gaps``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError, nearest
from biasbridge.files.places import PACKAGE, in_package
from biasbridge.input_tables import InputTable, as_dataframe, as_names

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.files.models.classifiers import OnnxClassifier, SequenceClassifier

ONNX = ".onnx"
THRESHOLD = 0.5  # of the score
TOLERANCE = 1e-3  # of a probability, and of their sum
PICKLES = (".joblib", ".pickle", ".pkl", ".bin", ".pt")


def predict(
    classifier: str,
    texts: InputTable,
    *,
    positive: str | Sequence[str] = (),
    text: str | None = None,
    pred: str = "prediction",
) -> pd.DataFrame:
    """Classify texts with a trained classifier.

    Parameters
    ----------
    classifier
        A file ``.onnx`` that takes texts, a folder that ``save_pretrained`` wrote for sequence
        classification, ``package:NAME`` for such a file or folder inside an installed package, or
        ``org/name@COMMIT`` on a hub. A pickle is not opened: it can run any code.
    texts
        A table, or its path, with a row per text.
    positive
        Classes that count as 1. A classifier of one class, with a single probability, needs none.
    text
        Column of the texts; by default by its name and content.
    pred
        Name of the column of predictions.

    Returns
    -------
    DataFrame
        The table with three more columns: ``prediction_score``, the summed probability of the
        positive classes (of classes that do not exclude one another the largest), in [0, 1];
        ``prediction``, 1 where it is .5 or more; and ``prediction_class``, the most probable class.

    Raises
    ------
    InputError
        No such classifier, a pickle, a class or column that does not exist.

    Examples
    --------
    >>> import pandas as pd
    >>> posts = pd.DataFrame({"text": ["I hate you", "a fine day in town"]})
    >>> predict("package:hatesonar", posts, positive=["0", "1"])["prediction"].tolist()
    [1, 0]
    """
    import numpy as np

    from biasbridge.extrinsic.predictions import get_column
    from biasbridge.post_columns import guess_text

    table = as_dataframe(texts)
    column = text or guess_text(table)
    if not column:
        listed = ", ".join(map(str, table.columns))
        raise InputError(f"no column is recognised as the text ({listed}); name it with --text")
    cells = get_column(table, column).fillna("").astype(str).tolist()
    if taken := {pred, f"{pred}_class", f"{pred}_score"} & {*map(str, table.columns)}:
        raise InputError(f"the table has a column {min(taken)!r}; name another with --pred NAME")
    opened = open_classifier(classifier)
    classes = list(opened.classes)
    is_positive = [name in _positive_classes(classes, as_names(positive)) for name in classes]
    probabilities = opened.predict_probabilities(cells)
    is_defined = (probabilities > -TOLERANCE) & (probabilities < 1 + TOLERANCE)  # not of NaN
    undefined = np.flatnonzero(~is_defined.all(axis=1)).tolist()
    if undefined:
        first = undefined[0]
        listed = ", ".join(f"{value:.3g}" for value in probabilities[first])
        problem = f"text {first + 1}, {cells[first][:40]!r}, has no probabilities, but {listed}"
        raise InputError(f"{problem}; leave it out, or give a classifier of probabilities")
    chosen = probabilities[:, is_positive]
    is_exclusive = len(classes) > 1 and bool((abs(probabilities.sum(axis=1) - 1) < TOLERANCE).all())
    score = chosen.sum(axis=1) if is_exclusive else chosen.max(axis=1)
    names = [classes[number] for number in probabilities.argmax(axis=1)]
    labels = (score >= THRESHOLD).astype(int)
    return table.assign(**{pred: labels, f"{pred}_class": names, f"{pred}_score": score.round(6)})


def _positive_classes(classes: Sequence[str], positive: Collection[str]) -> Collection[str]:
    listed = f"its classes are {', '.join(classes)}"
    if not positive and len(classes) > 1:
        raise InputError(f"{listed}; name those that count as 1 with --positive CLASS")
    for name in positive:
        if name not in classes:
            raise InputError(f"no class {name!r}{nearest(name, classes)}; {listed}")
    if len({*positive}) == len(classes) > 1:
        raise InputError(f"every class is positive; {listed}")
    return positive or classes


def open_classifier(name: str) -> OnnxClassifier | SequenceClassifier:
    """Open a classifier of texts by its file, folder, package or hub name. See ``predict``."""
    packaged = in_package(name, (ONNX,))
    path = packaged[0] if packaged else Path(name)
    if path.suffix == ONNX:
        from biasbridge.files.models.classifiers import open_onnx

        if not path.is_file():
            raise InputError(f"no file {name!r}")
        return open_onnx(path)
    pickles = in_package(name, PICKLES) if name.startswith(PACKAGE) else [path]
    if not in_package(name, (".safetensors",)) and pickles and pickles[0].suffix in PICKLES:
        remedy = "give an .onnx file, or *.safetensors with config.json"
        raise InputError(f"{name} holds {pickles[0].name}, a pickle, which can run code; {remedy}")
    from biasbridge.files.models.classifiers import open_sequence_classifier

    return open_sequence_classifier(name)

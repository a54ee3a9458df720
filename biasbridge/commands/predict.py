"""Predictions of a classifier that others trained, as a table for ``biasbridge.gaps``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.command_line import Command, command_text, output_file, say
from biasbridge.files import InputError, atomic_path, nearest
from biasbridge.files.choice import as_names
from biasbridge.files.places import PACKAGE, in_package
from biasbridge.input_tables import InputTable, as_dataframe

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.files.models.classifiers import OnnxClassifier, SequenceClassifier

_ONNX = ".onnx"
_THRESHOLD = 0.5  # of the score
_TOLERANCE = 1e-3  # of a probability, and of their sum
_PICKLES = (".joblib", ".pickle", ".pkl", ".bin", ".pt")


def predict(
    classifier: str,
    texts: InputTable,
    *,
    positive: str | Sequence[str] = (),
    text: str | None = None,
    pred: str = "prediction",
    out: str | PathLike[str] | None = None,
) -> pd.DataFrame:
    """Classify texts with a trained classifier.

    Parameters
    ----------
    classifier : str
        An .onnx file, a folder of a sequence classifier, package:NAME, or org/name@COMMIT on a hub.
        The file takes texts; ``save_pretrained`` wrote the folder; a package is installed and holds
        such a file or folder. A pickle is not opened: it can run any code.
    texts : DataFrame or path
        A table with a row per text.
    positive : str or sequence of str
        Class that counts as 1; may be repeated. A classifier of one class, with a single
        probability, needs none.
    text : str, optional
        Column of the texts (default: found by name and content).
    pred : str
        Name of the column of predictions to add; the column of scores gets _score at its end.
    out : path, optional
        CSV file to write: the table with the predictions.

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

    from biasbridge.files.columns import get_column
    from biasbridge.user_data import guess_text

    is_read = isinstance(texts, str | PathLike) and out is not None
    if is_read and Path(str(out)).resolve() == Path(str(texts)).resolve():
        raise InputError(f"{out} is the input file; name another for the predictions")
    table = as_dataframe(texts)
    column = text or guess_text(table)
    if not column:
        listed = ", ".join(map(str, table.columns))
        raise InputError(f"no column is recognised as the text ({listed}); name it with --text")
    cells = get_column(table, column).fillna("").astype(str).tolist()
    if taken := {pred, f"{pred}_class", f"{pred}_score"} & {*map(str, table.columns)}:
        raise InputError(f"the table has a column {min(taken)!r}; name another with --pred NAME")
    opened = _open_classifier(classifier)
    classes = list(opened.classes)
    is_positive = [name in _positive_classes(classes, as_names(positive)) for name in classes]
    probabilities = opened.predict_probabilities(cells)
    is_defined = (probabilities > -_TOLERANCE) & (probabilities < 1 + _TOLERANCE)  # not of NaN
    undefined = np.flatnonzero(~is_defined.all(axis=1)).tolist()
    if undefined:
        first = undefined[0]
        listed = ", ".join(f"{value:.3g}" for value in probabilities[first])
        problem = f"text {first + 1}, {cells[first][:40]!r}, has no probabilities, but {listed}"
        raise InputError(f"{problem}; leave it out, or give a classifier of probabilities")
    chosen = probabilities[:, is_positive]
    is_exclusive = len(classes) > 1 and bool(
        (abs(probabilities.sum(axis=1) - 1) < _TOLERANCE).all()
    )
    score = chosen.sum(axis=1) if is_exclusive else chosen.max(axis=1)
    names = [classes[number] for number in probabilities.argmax(axis=1)]
    labels = (score >= _THRESHOLD).astype(int)
    added = {pred: labels, f"{pred}_class": names, f"{pred}_score": score.round(6)}
    table = table.assign(**added)
    if out is not None:
        with atomic_path(Path(out)) as work:
            # As it is, for a further classifier reads these texts
            table.to_csv(work, index=False, lineterminator="\n")
    return table


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


def _open_classifier(name: str) -> OnnxClassifier | SequenceClassifier:
    """Open a classifier of texts by its file, folder, package or hub name. See ``predict``."""
    packaged = in_package(name, (_ONNX,))
    path = packaged[0] if packaged else Path(name)
    if path.suffix == _ONNX:
        from biasbridge.files.models.classifiers import open_onnx

        if not path.is_file():
            raise InputError(f"no file {name!r}")
        return open_onnx(path)
    pickles = in_package(name, _PICKLES) if name.startswith(PACKAGE) else [path]
    if not in_package(name, (".safetensors",)) and pickles and pickles[0].suffix in _PICKLES:
        remedy = "give an .onnx file, or *.safetensors with config.json"
        raise InputError(f"{name} holds {pickles[0].name}, a pickle, which can run code; {remedy}")
    from biasbridge.files.models.classifiers import open_sequence_classifier

    return open_sequence_classifier(name)


def _show(table: pd.DataFrame, console: Console, *, out: Path, pred: str = "prediction") -> None:
    n_positive = int(table[pred].sum())
    for note in table.attrs.get("notes", []):
        say(console, f"note: {note}")
    share = f" ({n_positive / len(table):.0%})" if len(table) else ""
    say(console, f"{len(table):,} texts, {n_positive:,} predicted positive{share}")
    columns = {} if pred == "prediction" else {"pred": pred}
    command = command_text("gaps", out, **columns, score=f"{pred}_score")
    say(console, f"to measure gaps: {command} --gold LABEL_COLUMN --group GROUP_COLUMN")


main = Command(
    predict,
    _show,
    arguments=("classifier", "texts", "out"),
    types={"out": output_file(".csv", "")},
    spelling="classifier CLASSIFIER; texts TEXTS; out OUT.csv; positive CLASS...; text COL; "
    "pred COL",
)

"""Whether moving a bias score of a language model moves the bias of an application."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from biasbridge.command_line import Command, returns, split_names
from biasbridge.commands.train import Study, unfinished
from biasbridge.files import InputError, nearest
from biasbridge.files.choice import Count, as_names, check_arguments
from biasbridge.files.data.registry import data_folder

if TYPE_CHECKING:
    import pandas as pd


Task = Literal["bbq", "winobias"]
_METHODS = ("leace", "mean_difference", "random_direction")
_DOSES = (-1.0, -0.5, 0.5, 1.0)
_SEAT_TESTS = ("seat6b", "seat7", "seat8")  # those of gender that need no names
# By kind of model: how it is asked for a pronoun
_LIKELIHOOD_METRICS = {"masked": "lpbs", "causal": "next_word"}


class _Application(NamedTuple):
    """An experiment, the option that names the folder of its data, and where these lie."""

    experiment: str
    option: str
    data: str


_APPLICATIONS = {
    "bbq": _Application("bbq", "task.data", "models/bbq"),
    "winobias": _Application("referents", "challenge.folder", "coreference/winobias"),
}
_EPILOG = """\
No model is trained. The command fits erasers, measures scores and asks questions. Results stay in
store/: the same command continues a broken run, and another metric computes only what is new. The
report has the charts."""


def _declared_tests(study: Study) -> pd.DataFrame:
    """Return the change of the gap in each declared test, over all methods."""
    from biasbridge.commands.correlate import correlate

    table = correlate(study.folder)
    tests = table[table["verdict"] != ""].reset_index(drop=True)
    tests.attrs |= {"folder": str(study.folder), "answer": study.answer}
    return tests


@returns(_declared_tests)
@check_arguments(task=Task, limit=Count | None, config_dir=str | PathLike[str] | None)
def relate(
    models: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    task: Task,
    metrics: str | Sequence[str] = (),
    methods: str | Sequence[str] = _METHODS,
    doses: Sequence[float] = _DOSES,
    data: str | PathLike[str] | None = None,
    limit: int | None = None,
    config_dir: str | PathLike[str] | None = None,
    stale: Literal["refuse", "use", "rebuild"] = "refuse",
    results: str | PathLike[str] = "results",
    out: IO[str] | None = None,
) -> Study:
    """Relate bias scores of language models to the bias of an application.

    Erasers at several doses move the scores of each model; the application is measured each time.

    Parameters
    ----------
    models : str or sequence of str
        Language models, all masked or all causal: folders, hub names or package:NAME. They are the
        parents: with five or more a result can be claimed for other models.
    task : {"bbq", "winobias"}
        The application: questions of BBQ about gender, or whom "he" and "she" refer to in WinoBias.
    metrics : str or sequence of str
        Bias scores to measure (default: seat, and lpbs for masked or next_word for causal models).
    methods : str or sequence of str
        Methods that move the scores (default: leace, mean_difference, and random_direction as a
        control).
    doses : sequence of float
        Doses of the methods, from -1 (overbias) to 1 (debias), besides 0 (default: -1,-0.5,0.5,1).
    data : path, optional
        Folder of the task's files (default: where biasbridge data get puts them).
    limit : int, optional
        For BBQ: number of items of each template, context and polarity (default: 1).
    config_dir : path, optional
        Folder with metrics and methods of your own.
    stale : {"refuse", "use", "rebuild"}
        What to do with stored results of other versions of the code.
    results : path
        Folder in which to make the results folder ``relate_TASK``.
    out : file
        Takes what the run prints; by default nothing is printed.

    Returns
    -------
    DataFrame
        One row per score and gap: ``change`` of the gap over the range of the score, from
        ``score_low`` to ``score_high``, with its interval and ``verdict``
        (``docs/inference.md``). ``attrs["answer"]`` is what the run says, ``attrs["folder"]`` its
        results: ``plot.change(table.attrs["folder"])`` draws them.

    Raises
    ------
    InputError
        Models of different kinds, missing data (with the command that brings them), or a run that
        fails.

    Examples
    --------
    >>> relate("path/to/model", task="winobias")  # doctest: +SKIP
    """
    from biasbridge.train.cli.start import run_experiment

    printed = io.StringIO()
    arguments = _arguments(
        [str(model) for model in ([models] if isinstance(models, str | PathLike) else models)],
        task,
        metrics=as_names(metrics),
        methods=as_names(methods),
        doses=doses,
        data=data,
        limit=limit,
        results=results,
        config_dir=config_dir,
    )
    options = ["--config-dir", str(config_dir)] if config_dir else []
    command = [*options, *arguments, f"stale={stale}"]
    finished = run_experiment(command, quiet=out is None, out=out or printed)
    if finished.status:
        raise unfinished(printed.getvalue())
    return Study(finished.folder, printed.getvalue())


def _arguments(
    models: Sequence[str],
    task: str,
    *,
    metrics: Sequence[str],
    methods: Sequence[str],
    doses: Sequence[float],
    data: str | PathLike[str] | None,
    limit: int | None,
    results: str | PathLike[str],
    config_dir: str | PathLike[str] | None,
) -> list[str]:
    """Return the arguments of ``biasbridge train``. Raises ``InputError``."""
    from biasbridge.debias.methods import METHODS
    from biasbridge.train.cli.choices import choices
    from biasbridge.train.cli.command import format_override

    application, name = _APPLICATIONS[task], f"relate_{task}"
    if limit and task != "bbq":
        raise InputError(f"--limit is for items of bbq; leave it out for {task}")
    for dose in doses:
        if not -1 <= dose <= 1:
            raise InputError(f"--dose {dose}: give doses from -1 (overbias) to 1 (debias)")
    kind = _kind(models)  # before the data: whoever downloads them should not be refused after
    if not (data or (data_folder() / application.data).exists()):
        remedy = f"run biasbridge data get {task}, or give their folder by --data"
        raise InputError(f"the data of {task} are not in {data_folder()}; {remedy}")
    metrics = metrics or [_LIKELIHOOD_METRICS[kind], "seat"]
    for other in {*_LIKELIHOOD_METRICS.values()} - {_LIKELIHOOD_METRICS[kind]}:
        if other in metrics:
            raise InputError(f"{other} is not for {kind} models; give {_LIKELIHOOD_METRICS[kind]}")
    folders = [Path(config_dir)] if config_dir else []
    of_others = {"none", *METHODS["vectors"], *METHODS["text"], *METHODS["model"]}
    erasers = [name for name in choices("debias", folders) if name not in of_others]
    _require_known("metric", metrics, choices("intrinsic", folders))
    _require_known("method", methods, erasers)
    arguments = [f"+experiment={application.experiment}", format_override("models", models)]
    arguments.append(f"name={name}")
    arguments += [f"intrinsic=[{','.join(metrics)}]", f"debias={','.join(methods)}"]
    arguments += [f"debias.dose={','.join(f'{dose:g}' for dose in sorted({0.0, *doses}))}"]
    arguments += [format_override("results.dir", str(Path(results) / name))]
    if "seat" in metrics:
        arguments.append(format_override("intrinsic.seat.items.sets", _SEAT_TESTS))
    if task == "bbq":
        arguments.append(f"task.limit={limit or 1}")
    return arguments + ([format_override(application.option, str(data))] if data else [])


def _require_known(kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            hint = nearest(name, known)
            raise InputError(f"--{kind} {name}: no such {kind}{hint}; there are {', '.join(known)}")


def _kind(models: Sequence[str]) -> str:
    """Return the kind of the models. Raises ``InputError`` for several, or one without a head."""
    from biasbridge.files.models.language_model import outline_model

    outlines = {model: outline_model(model) for model in models}
    for model, outline in outlines.items():
        if outline.kind not in _LIKELIHOOD_METRICS:
            kind = "encoder-decoder" if outline.config.is_encoder_decoder else outline.kind
            remedy = "give a masked or causal language model"
            raise InputError(f"{model} is an {kind} and cannot answer questions; {remedy}")
    kinds = {model: outline.kind for model, outline in outlines.items()}
    if len({*kinds.values()}) > 1:
        text = ", ".join(f"{model} {kind}" for model, kind in kinds.items())
        raise InputError(f"{text}: they have different scores; relate one kind of model at a time")
    return next(iter(kinds.values()))


def _run(*, is_printed: bool, **options: Any) -> pd.DataFrame:
    """Relate; the run prints its progress and answer, unless rows are printed."""
    return relate(**options, out=sys.stderr if is_printed else sys.stdout)


def _read_doses(text: str) -> list[float]:
    """Read ``-1,0.5``."""
    from argparse import ArgumentTypeError

    try:
        return [float(part) for part in split_names(text)]
    except ValueError:
        raise ArgumentTypeError(f"{text!r}: give numbers, as --dose=-1,0.5") from None


main = Command(
    relate,
    run=_run,
    show=lambda *_: None,
    table=lambda table: table,
    types={"doses": _read_doses},
    required=("task",),
    arguments=["models"],
    spelling="models MODEL+; metrics --metric NAME+,; methods --method NAME+,; doses --dose X,...; "
    "data FOLDER; limit N; config_dir FOLDER; results FOLDER; out",
    epilog=_EPILOG,
)

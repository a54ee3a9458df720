"""What the score of a bias metric is worth, on models with a planted bias of known strength."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from biasbridge.command_line import Command
from biasbridge.commands.train import run_train
from biasbridge.files import InputError, nearest
from biasbridge.files.choice import METRICS, Whole, check_arguments, find_choice, search_modules
from biasbridge.files.paths import HOME
from biasbridge.files.text import read_nested
from biasbridge.train.cli import CONF

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.own_parts import OwnMetric

# The first is for metrics of words by two groups, which elsewhere are A and B
_PLANTED_QUERIES = (
    "planted_words",
    "planted",
    "planted_one_list",
    "planted_pairs",
    "planted_plurals",
)
_PLANTED_ITEMS = ("occupations", "occupations_sentences")
_OTHER_QUERIES = ("weat6b", "weat8")  # variation of a score by the choice of words
_OTHER_ITEMS = ("occupations_unseen",)
# Planted strengths, a stereotype of other words, random vectors or weights
_WORD2VEC = "embedding: word2vec, corpus.sentences: 10000"
ON_VECTORS = (
    f"{{{_WORD2VEC}, corpus.stereotype: '-0.8,-0.4,-0.2,0,0.2,0.4,0.8', seed: 'range(%d)'}}",
    f"{{{_WORD2VEC}, corpus.stereotype: 0, corpus.off_target: 0.8, seed: 'range(%d)'}}",
    f"{{{_WORD2VEC}, corpus.stereotype: 0, size.epochs: 0, seed: 'range(40)'}}",
)
_MODELS = "subject: language_model, corpus: planted_occupations, model: 'tiny_bert,tiny_gpt2'"
_ON_MODELS = (
    f"{{{_MODELS}, corpus.stereotype: '-1,-0.5,0,0.5,1', seed: 'range(%d)'}}",
    f"{{{_MODELS}, corpus.stereotype: 0, corpus.off_target: 1, seed: 'range(%d)'}}",
    f"{{{_MODELS}, corpus.stereotype: 1, model.until_learned: false, model.steps: 0,"
    " seed: 'range(40)'}",
)
_SEEDS = {"vectors": 20, "model": 3, "encoder": 3}


class _ConfiguredMetric(NamedTuple):
    """A metric in the group ``intrinsic`` of the configuration: its key, its node and its class."""

    key: str
    node: Mapping[str, Any]
    metric: Any


@check_arguments(
    seeds=Whole | None,
    query=str | None,
    config_dir=str | PathLike[str] | None,
    results=str | PathLike[str],
)
def certify(
    metric: OwnMetric,
    *,
    convention: str = "all",
    query: str | None = None,
    seeds: int | None = None,
    config_dir: str | PathLike[str] | None = None,
    stale: Literal["refuse", "use", "rebuild"] = "refuse",
    results: str | PathLike[str] = "results",
    out: TextIO | None = None,
) -> pd.DataFrame:
    """Test whether a metric detects a bias that was planted in small models.

    The models are trained in some minutes and kept in ``store``.

    Parameters
    ----------
    metric : str or metric
        Name of the metric, such as weat, or of one of your own in the config-dir. In Python also a
        class or an object of your own, which lies in a file. Word-vector metrics are certified on
        embeddings with seven planted strengths, reversed ones included, with a stereotype of other
        words and on random ones. Others are certified on small BERTs and GPT-2s with five
        strengths, the same of other words, and random weights.
    convention : str
        Published way to compute the metric, or all.
    query : str, optional
        Query of planted words, or a set of items (default: all planted words, and others).
    seeds : int, optional
        Number of models per planted strength (default: 20 embeddings or 3 language models).
    config_dir : path, optional
        Folder with modules of your own metrics and methods. A metric may have a file
        ``intrinsic/METRIC.yaml`` there.
    stale : {"refuse", "use", "rebuild"}
        What to do with stored results of other versions of the code.
    results : path
        Folder in which to make the results folder ``certify_METRIC``.
    out : file
        Where the run prints, by default standard error.

    Returns
    -------
    DataFrame
        One row per convention and kind of model, with the columns of ``certificate.csv``
        (``docs/results.md``) and ``libraries``. ``slope`` is in standard deviations of the score
        per unit of planted strength, above 0 where the score rises with the bias.

    Raises
    ------
    InputError
        An unknown metric, convention or query, too few seeds, or a run that fails.

    Examples
    --------
    >>> certify("weat", convention="default")  # doctest: +SKIP
    """
    import pandas as pd

    from biasbridge.studies.certificate_scores import FEWEST_SEEDS
    from biasbridge.train.cli.command import format_override

    name, config_dir, own_fields = _name_metric(metric, config_dir)
    configured = _find(name, config_dir)
    needs = str(configured.metric.needs)
    n_seeds = _SEEDS[needs] if seeds is None else seeds
    if n_seeds < FEWEST_SEEDS:
        raise InputError(f"seeds={n_seeds}: fewer than {FEWEST_SEEDS} give no interval; give more")
    folder = Path(results) / f"certify_{name}"
    *planted, random = ON_VECTORS if needs == "vectors" else _ON_MODELS
    grids = ",".join([*(grid % n_seeds for grid in planted), random])
    command = ["+experiment=certificate", f"intrinsic={name}", f"name=certify_{name}"]
    command += [
        f"stale={stale}",
        format_override("results.dir", str(folder)),
        f"hydra.sweeper.grids=[{grids}]",
    ]
    command += [*_query_overrides(configured, query), *_convention_override(configured, convention)]
    node = f"intrinsic.{configured.key}"
    command += [format_override(f"++{node}.{field}", value) for field, value in own_fields.items()]
    if config_dir:
        command[:0] = ["--config-dir", str(config_dir)]
    if run_train(command, out or sys.__stderr__):  # notebooks replace sys.stderr
        raise InputError("the run did not finish; see its output above")
    from biasbridge.files.tables import unescape_formulas

    table = pd.read_csv(folder / "certificate.csv", keep_default_na=True)
    return unescape_formulas(table).assign(**_versions(folder))


def _name_metric(
    metric: OwnMetric, config_dir: str | PathLike[str] | None
) -> tuple[str, str | PathLike[str] | None, dict[str, Any]]:
    """Return the name of a metric, the folder of its class, and the options that differ."""
    if isinstance(metric, str):
        return metric, config_dir, {}
    cls = metric if isinstance(metric, type) else type(metric)
    name, file = str(cls.about.name), inspect.getsourcefile(cls)
    if not cls.__module__.startswith("biasbridge."):
        if not file or not Path(file).is_file():
            raise InputError(f"{cls.__qualname__} is not in a file; write its class in a module")
        config_dir = config_dir or Path(file).resolve().parent
    options: dict[str, Any] = {}
    for field in dataclasses.fields(cls) if metric is not cls else ():
        value = getattr(metric, field.name)
        is_own = field.init and field.name not in ("queries", "items", "words")
        if is_own and value != field.default:
            options[field.name] = value
    return name, config_dir, options


def _find(metric: str, config_dir: str | PathLike[str] | None) -> _ConfiguredMetric:
    """Find the class of a metric, or its YAML. Raise ``InputError`` if there is none."""
    from biasbridge.train.cli.choices import TARGET, choices, find_class
    from biasbridge.train.cli.class_configs import class_configuration

    folders = [Path(config_dir)] if config_dir else []
    if config_dir and not Path(config_dir).is_dir():
        raise InputError(f"no such folder: {config_dir}; give the one of your own metric")
    search_modules(folders)
    candidates = [folder / METRICS / f"{metric}.yaml" for folder in [*folders, CONF]]
    path = next((candidate for candidate in candidates if candidate.is_file()), None)
    if path:
        content = read_nested(path)
    elif found := find_choice([HOME, *folders], METRICS, metric):
        content = class_configuration(found)
    else:
        hint = nearest(metric, choices(METRICS, folders))
        remedy = "your own metric is a class in a folder: --config-dir FOLDER"
        raise InputError(f"unknown metric {metric!r}{hint}; {remedy}")
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no metric; write NAME: {{_target_: module.Class}}")
    nodes = {key: node for key, node in content.items() if TARGET in (node or ())}
    if len(nodes) != 1:
        keys = ", ".join(key for key in content if key != "defaults")
        raise InputError(f"{metric} is not one metric but several: certify one of {keys}")
    [(key, node)] = nodes.items()
    return _ConfiguredMetric(key, node, find_class(node[TARGET], f"intrinsic.{key}"))


def _query_overrides(configured: _ConfiguredMetric, query: str | None) -> Iterator[str]:
    """Yield the overrides that set the queries, or item sets, of a metric."""
    node_path, metric = f"intrinsic.{configured.key}", configured.metric
    if metric.needs == "vectors":
        from biasbridge.intrinsic.words import load_queries

        def usable_queries(names: Sequence[str]) -> list[str]:
            return [query.name for query in load_queries(names) if metric.accepts(query)]

        if not (first := usable_queries([query] if query else _PLANTED_QUERIES)[:1]):
            roles = ", ".join(metric.about.required)
            source = query or "the queries of planted words"
            raise InputError(
                f"{configured.key} needs the roles {roles}, which are not all in {source}"
            )
        others = [] if query else usable_queries(_OTHER_QUERIES)
        yield f"++{node_path}.usual=[{','.join([*first, *others])}]"
        return
    from biasbridge.intrinsic.models.items import load_items

    def usable_items(names: Sequence[str]) -> list[str]:
        return [items.name for items in load_items(names) if not metric.reason_against(items)]

    if not (first := usable_items([query] if query else _PLANTED_ITEMS)[:1]):
        source = query or "the occupations of the planted corpus"
        raise InputError(f"{configured.key} does not take {source}; give a set of items it takes")
    others = [] if query else usable_items(_OTHER_ITEMS)
    if "path" in (configured.node.get("items") or ()):
        yield f"~{node_path}.items.path"
    yield f"++{node_path}.items._target_=biasbridge.corpora.items.BuiltInItems"
    yield f"++{node_path}.items.sets=[{','.join([*first, *others])}]"


def _convention_override(configured: _ConfiguredMetric, convention: str) -> list[str]:
    """Return the override of the convention. Raise ``InputError`` for an unknown one."""
    from biasbridge.intrinsic.score import ALL_CONVENTIONS, ByConvention

    if not issubclass(configured.metric, ByConvention):
        return []
    conventions = configured.metric.conventions()
    if convention not in (ALL_CONVENTIONS, *conventions):
        choices = f"{nearest(convention, conventions)}; there are {', '.join(conventions)}"
        raise InputError(f"{configured.key} has no convention {convention!r}{choices}")
    return [f"++intrinsic.{configured.key}.convention={convention}"]


def _versions(folder: Path) -> dict[str, str]:
    """Return the column ``libraries``, the versions that made the numbers."""
    from biasbridge.analysis.result_folder import describe_provenance, read_provenance

    return {"libraries": describe_provenance(read_provenance(folder))}


def _run(*, is_printed: bool, **options: Any) -> pd.DataFrame:
    """Certify; the run prints the table, unless rows are printed."""
    return certify(**options, out=sys.__stderr__ if is_printed else sys.__stdout__)


main = Command(
    certify,
    run=_run,
    show=lambda *_: None,
    table=lambda table: table,
    spelling="csv --csv --export; metric METRIC; convention NAME; query NAME; seeds N; "
    "config_dir FOLDER; results; out",
)

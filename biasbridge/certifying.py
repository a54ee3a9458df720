"""What the score of one metric is worth: measured on models in which a bias is planted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from math import isclose, isnan, nan
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from files import InputError, nearest
from files.choice import Whole, checks
from files.nested import read_nested
from files.rooms import HOME

if TYPE_CHECKING:
    import pandas as pd

    from train.store.stale import Policy

PLANTED_QUERIES = ("planted", "planted_one_list", "planted_pairs", "planted_plurals")
PLANTED_ITEMS = ("occupations", "occupations_sentences")
OTHER_QUERIES = ("weat6b", "weat8")  # other words, other templates: how much of a score is a choice
OTHER_ITEMS = ("occupations_unseen",)
ON_VECTORS = (
    "{embedding: word2vec, corpus.sentences: 10000, corpus.stereotype: '0,0.1,0.2,0.4,0.8',"
    " seed: 'range(%d)'}",
    "{embedding: word2vec, corpus.sentences: 10000, corpus.stereotype: 0, size.epochs: 0,"
    " seed: 'range(20)'}",  # random vectors
)
ON_MODELS = (
    "{subject: language_model, corpus: planted_occupations, model: 'tiny_bert,tiny_gpt2',"
    " corpus.stereotype: '0,0.5,1', seed: 'range(%d)'}",
    "{subject: language_model, corpus: planted_occupations, model: 'tiny_bert,tiny_gpt2',"
    " corpus.stereotype: 1, model.until_learned: false, model.steps: 0, seed: 'range(20)'}",
)
SEEDS = {"vectors": 8, "model": 3, "encoder": 3}
NAMES = ["metric", "convention", "subject"]


class _Found(NamedTuple):
    """A metric's file in ``intrinsic/`` of a configuration: its key there, the node and its
    class.
    """

    key: str
    node: Mapping[str, Any]
    kind: Any


@checks(
    seeds=Whole | None,
    query=str | None,
    config_dir=str | PathLike[str] | None,
    results=str | PathLike[str],
)
def certify(
    metric: str,
    *,
    convention: str = "all",
    query: str | None = None,
    seeds: int | None = None,
    config_dir: str | PathLike[str] | None = None,
    stale: Policy = "refuse",
    results: str | PathLike[str] = "results",
    out: TextIO | None = None,
) -> pd.DataFrame:
    """What the scores of ``metric`` are worth: one row a convention and kind of model, with the
    columns of ``certificate.csv`` (``docs/results.md``) and who made it.

    A metric on word vectors is asked of embeddings with five planted strengths and of random ones,
    ``query`` (default: the planted words, and others as a choice); one of language models of small
    BERTs and GPT-2s with three, and of random weights, ``query``: a set of items. ``seeds`` of each
    strength (default 8 and 3). Models are kept in ``store``; the results
    folder is ``certify_METRIC`` in ``results``. ``config_dir``: where a metric of one's own has its
    YAML, in the folder ``intrinsic``, and its module. ``stale``: what becomes of stored results
    that other code made, ``refuse``, ``use`` or ``rebuild``. ``out``: the file that the run prints
    to; default: standard error.

    Raises ``InputError`` for an unknown metric or convention, one that can ask nothing planted, and
    a run that fails.
    """
    import pandas as pd

    from studies.certificate.measures import FEWEST_SEEDS

    found = _find(metric, config_dir)
    needs = str(found.kind.needs)
    number = SEEDS[needs] if seeds is None else seeds
    if number < FEWEST_SEEDS:
        raise InputError(f"seeds={number}: fewer than {FEWEST_SEEDS} give no interval; give more")
    folder = Path(results) / f"certify_{metric}"
    planted, random = ON_VECTORS if needs == "vectors" else ON_MODELS
    command = ["train", "+experiment=certificate", f"intrinsic={metric}", f"name=certify_{metric}"]
    command += [
        f"stale={stale}",
        f"results.dir={folder}",
        f"hydra.sweeper.grids=[{planted % number},{random}]",
    ]
    command += [*_asks(found, query), *_by(found, convention)]
    if config_dir:
        command[1:1] = ["--config-dir", str(config_dir)]
    _run(command, out)
    table = pd.read_csv(folder / "certificate.csv", keep_default_na=True)
    return table.assign(**_versions(folder))


def _find(metric: str, config_dir: str | PathLike[str] | None) -> _Found:
    """The metric's YAML and class. Raises ``InputError`` where there is none."""
    from train.configure import TARGET, find_class, search_modules

    folders = [Path(config_dir)] if config_dir else []
    if config_dir and not Path(config_dir).is_dir():
        raise InputError(f"no such folder: {config_dir}; give the one that holds intrinsic/")
    paths = [folder / "intrinsic" / f"{metric}.yaml" for folder in [*folders, HOME / "conf"]]
    path = next((each for each in paths if each.is_file()), None)
    if path is None:
        known = sorted(each.stem for each in (HOME / "conf" / "intrinsic").glob("*.yaml"))
        remedy = "one of your own has its YAML in FOLDER/intrinsic: --config-dir FOLDER"
        raise InputError(f"unknown metric {metric!r}{nearest(metric, known)}; {remedy}")
    content = read_nested(path)
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no metric; write NAME: {{_target_: module.Class}}")
    nodes = {key: node for key, node in content.items() if TARGET in (node or ())}
    if len(nodes) != 1:
        names = ", ".join(key for key in content if key != "defaults")
        raise InputError(f"{metric} is not one metric but several: certify one of {names}")
    [(key, node)] = nodes.items()
    search_modules(folders)
    return _Found(key, node, find_class(node[TARGET], f"intrinsic.{key}"))


def _asks(found: _Found, query: str | None) -> Iterator[str]:
    """The overrides by which a metric asks about what is planted."""
    where = f"intrinsic.{found.key}"
    if found.kind.needs == "vectors":
        from intrinsic.wordsets import load_queries

        def able(names: Sequence[str]) -> list[str]:
            return [each.name for each in load_queries(names) if found.kind.can_ask(each)]

        asked = [query] if query else PLANTED_QUERIES
        if not (first := able(asked)[:1]):
            needed = ", ".join(found.kind.about.required)
            tried = query or "the queries of planted words"
            raise InputError(f"{found.key} asks about {needed}, and {tried} cannot give it all")
        others = [] if query else able(OTHER_QUERIES)
        yield f"++{where}.usual=[{','.join([*first, *others])}]"
        return
    from intrinsic.items.library import load_items

    def taken(names: Sequence[str]) -> list[str]:
        return [each.name for each in load_items(names) if not found.kind.takes(each)]

    if not (first := taken([query] if query else PLANTED_ITEMS)[:1]):
        tried = query or "the occupations of the planted corpus"
        raise InputError(f"{found.key} cannot ask {tried}; give a set of items that it takes")
    others = [] if query else taken(OTHER_ITEMS)
    if "path" in (found.node.get("items") or ()):
        yield f"~{where}.items.path"
    yield f"++{where}.items._target_=corpora.items.BuiltInItems"
    yield f"++{where}.items.sets=[{','.join([*first, *others])}]"


def _by(found: _Found, convention: str) -> list[str]:
    """The override that names the convention. Raises ``InputError`` for an unknown one."""
    from intrinsic.conventions import EVERY, ByConvention

    if not issubclass(found.kind, ByConvention):
        return []
    known = found.kind.conventions()
    if convention not in (EVERY, *known):
        there = f"{nearest(convention, known)}; there are {', '.join(known)}"
        raise InputError(f"{found.key} has no convention {convention!r}{there}")
    return [f"++intrinsic.{found.key}.convention={convention}"]


def _run(command: Sequence[str], out: TextIO | None) -> None:
    """The sweep in a process of its own."""
    path = os.pathsep.join(filter(None, (str(HOME), os.environ.get("PYTHONPATH"))))
    run = subprocess.run(
        [sys.executable, "-m", "biasbridge", *command],
        stdout=out or sys.__stderr__,  # a notebook has replaced the other
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    if run.returncode:
        raise InputError("the run did not finish; what stands above says why")


def _versions(folder: Path) -> dict[str, str]:
    """The columns that say who made the numbers: ``libraries``."""
    from analysis.made import describe_made, read_made

    return {"libraries": describe_made(read_made(folder))}


def check_certificate(table: pd.DataFrame) -> None:
    """Raises ``InputError`` where a table is no certificate."""
    if missing := [name for name in NAMES if name not in table]:
        raise InputError(f"the table has no column {missing[0]}; give one by --export")


def compare(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Which numbers of two certificates differ: a row each with ``metric``, ``convention``,
    ``subject``, ``quantity``, ``before``, ``after``; rows that one of them lacks are named too.

    Raises ``InputError`` for a table that is no certificate.
    """
    import pandas as pd

    for table in (one, other):
        check_certificate(table)
    both = [each.fillna({"convention": ""}).set_index(NAMES) for each in (one, other)]
    rows = []
    for key in dict.fromkeys([*both[0].index, *both[1].index]):
        there = [key in each.index for each in both]
        if not all(there):
            rows.append((*key, "row", *("there" if each else "missing" for each in there)))
            continue
        before, after = (each.loc[key] for each in both)
        rows += [
            (*key, name, before[name], after[name])
            for name in both[0].columns.intersection(both[1].columns)
            if not _same(before[name], after[name])
        ]
    return pd.DataFrame(rows, columns=[*NAMES, "quantity", "before", "after"])


def _same(one: object, other: object) -> bool:
    """Equal to nine digits, or both missing."""
    first, second = (_cell(each) for each in (one, other))
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    return (isnan(first) and isnan(second)) or isclose(first, second, rel_tol=1e-9, abs_tol=1e-9)


def _cell(value: object) -> float | str:
    """A number, NaN where nothing is there, or text."""
    text = str(value)
    try:
        return float(text) if text else nan
    except ValueError:
        return text

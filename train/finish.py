"""The end of a sweep: tables written, the study concluded from them, failures last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.frame import texts
from analysis.made import MADE, mixed, write_made
from analysis.naming import LEAST_COVERAGE
from analysis.show import short
from files.verbosity import LOG
from train.join import extend_tables, join_tables
from train.parts.part import Remarking
from train.store.lock import locked
from train.store.tools import makers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from rich.console import Console

    from analysis.results import Tables
    from analysis.study import Study
    from train.outcome import Outcome
    from train.point import Plan
    from train.store import Store


SHOWN = 3  # tables that are named
FEW = 3  # scores that may all be alike by chance, as those of ranks


def finish(
    plans: Sequence[Plan],
    outcomes: Mapping[str, Outcome],
    study: Study,
    store: Store,
    results: Path,
    console: Console,
    *,
    extend: bool = False,
) -> int:
    """Write the tables and what the study concludes from them; 0 if every point is done, 2 if all
    were refused for bad input, else 1.

    ``extend`` keeps the points that the results folder holds already (``extend_tables``). Sweeps
    that end in the same folder at the same time wait for one another.
    """
    from analysis.results import note_writes, shareable, write_tables

    tables = join_tables(plans, store, results, outcomes)
    if len(tables.points) and tables.points["refused"].all():  # what is there says more
        return _report_failures(tables.points, console)
    with locked(results / "points" / ".lock", f"the tables in {_near(results)}"):
        tables = extend_tables(tables, results) if extend else tables
        shared = shareable(tables)
        before = _kept(results)
        written = write_tables(results, shared)
        made = makers(store, {key for table in tables[:2] for key in _keys(table)})
        written.append(write_made(results, made))
        note_writes(results, study.writes)
        written += study.conclude(shared, results, console)
    lines = [
        f"the tables of other points that were in {_near(results)} are kept in {_near(folder)}"
        for folder in sorted(_kept(results) - before)
    ]
    if differing := mixed(made):
        explain = "biasbridge store explain KEY tells more"
        lines.append(f"made by mixed versions: {differing}; {explain}")
    LOG.info("%s", "\n".join(_list_written(written, results)))
    lines += [*_remarks(plans, store), *_describe_coverage(tables), *_where(written, results)]
    lines += _next(tables.points)
    _print(lines, console)
    unmoved = unmoved_points(tables)
    _print(unmoved, console)
    return _report_failures(tables.points, console) or int(bool(unmoved))


def unmoved_points(tables: Tables) -> list[str]:
    """An error for each modified embedding or model of which every score but shares, bit by bit, is
    that of its unmodified parent: what was to change it was not there when it was measured.
    """
    points = tables.points.set_index("point")
    if not {"unit_key", "parent_key"} <= {*points} or "least" not in tables.intrinsic:
        return []
    same = ["metric", "convention", "query", "part", "value"]
    scores = tables.intrinsic.query("least != 0 or most != 1")  # shares may well stay
    values = scores.assign(unit=scores["point"].map(points["unit_key"]))
    found_by = {  # those of all layers of a model
        str(unit): {*rows[same].itertuples(index=False, name=None)}
        for unit, rows in values.dropna(subset="value").groupby("unit")
    }
    found = {}
    for _, point in points.iterrows():
        unit, parent = str(point["unit_key"]), str(point["parent_key"])
        own, plain = found_by.get(unit, set()), found_by.get(parent, set())
        if unit != parent and len(own) >= FEW and own <= plain:
            condition = " ".join(map(str, (point["method"], point["direction"], point["dose"])))
            found[unit] = f"error: every score of {condition} is that of its parent, bit by bit"
    return list(dict.fromkeys(found.values()))


def _print(lines: Iterable[str], console: Console) -> None:
    for line in lines:
        console.print(line, soft_wrap=True)


def _kept(results: Path) -> set[Path]:
    """The folders of tables that were set aside."""
    return set((results / "earlier").glob("[!.]*"))


def _where(written: Sequence[Path], results: Path) -> list[str]:
    """The page to open, and the folder of the tables."""
    pages = [f"report  {_near(path)}" for path in written if path.suffix == ".html"]
    names = [path.name for path in written if path.parent == results and path.suffix != ".html"]
    names.sort(key=lambda name: name.endswith(".parquet") or name == MADE)  # conclusions first
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return [*pages, f"tables  {_near(results)}/: {', '.join(names[:SHOWN])}{more}"]


def _next(points: pd.DataFrame) -> list[str]:
    """The command to try next, where nothing was of one's own."""
    if texts(points, "generated").count("True") != len(points):
        return []
    return ["next    your own data: biasbridge check posts.csv vectors.vec"]


def _list_written(written: Sequence[Path], results: Path) -> list[str]:
    """What was written, a line a folder: a figure once, without its formats; pages last and each by
    itself, to be opened.
    """
    pages = [path for path in written if path.suffix == ".html"]
    folders: dict[Path, dict[str, None]] = {}
    for path in written:
        if path not in pages:
            name = path.name if path.parent == results else path.stem
            folders.setdefault(path.parent, {})[name] = None
    lines = [f"{_near(folder)}: {', '.join(names)}" for folder, names in folders.items()]
    return lines + [_near(page) for page in pages]


def _remarks(plans: Sequence[Plan], store: Store) -> list[str]:
    """What tasks have to say of their results, once for points of the same task."""
    tasks: dict[str, tuple[Remarking, list[Plan]]] = {}
    for plan in plans:
        if isinstance(task := plan.point.task, Remarking):
            tasks.setdefault(repr(task), (task, []))[1].append(plan)
    lines = [
        line
        for task, alike in tasks.values()
        for line in task.remarks(partial(_find, alike, store))
    ]
    return list(dict.fromkeys(lines))


def _find(plans: Sequence[Plan], store: Store, name: str) -> Path | None:
    """The folder of a step of that name; tables may outlive what they rest on."""
    folders = (
        store.path(stage)
        for plan in plans
        for stage in plan.stages().values()
        if stage.name == name
    )
    return next((folder for folder in folders if folder.exists()), None)


def _describe_coverage(tables: Tables) -> list[str]:
    """A warning where few tokens of a source have a vector: little of a text is seen by a
    classifier that knows few of its words.
    """
    if "coverage" not in tables.extrinsic:
        return []
    sources = tables.points.set_index("point")["source"]
    found = tables.extrinsic.drop_duplicates("point").assign(
        source=lambda table: table["point"].map(sources)
    )
    lines = []
    for source, rows in found.groupby("source", sort=False):
        fewest, most = float(rows["coverage"].min()), float(rows["coverage"].max())
        low, high = short(fewest), short(most)
        share = low if low == high else f"{low} to {high}"
        line = f"{share} of the tokens of source={source} have a vector"
        LOG.info(line)
        if fewest < LEAST_COVERAGE:
            lines.append(f"warning: {line}; take vectors, or a corpus, of such texts")
    return lines


def _keys(table: pd.DataFrame) -> set[str]:
    """The keys of results that a table names."""
    return {key for name in table if str(name).endswith("_key") for key in texts(table, str(name))}


def _report_failures(points: pd.DataFrame, console: Console) -> int:
    failed = points[points["status"] != "done"]
    for error, names in failed.groupby("error", sort=False)["point"]:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        _print([f"failed {names.iloc[0]}{more}: {error}"], console)
    if not len(failed):
        return 0
    return 2 if failed["refused"].all() and len(failed) == len(points) else 1


def _near(path: Path) -> str:
    """The path as seen from the working directory, where that is shorter."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)

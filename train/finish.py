"""The end of a sweep: tables written, the study concluded from them, failures last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from analysis.columns import texts
from analysis.made import mixed, write_made
from analysis.naming import LEAST_COVERAGE
from analysis.show import short
from train.join import extend_tables, join_tables
from train.parts.classify_posts import without_vector
from train.parts.hatespeech import HateSpeech
from train.parts.posts import POSTS, oddities
from train.parts.static import StaticVectors
from train.store.lock import locked
from train.store.made import makers

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd
    from rich.console import Console

    from analysis.results import Tables
    from analysis.studies.study import Study
    from corpora.kinds import Source
    from train.outcome import Outcome
    from train.point import Plan
    from train.store import Store


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
    for folder in sorted(_kept(results) - before):
        told = (
            f"the tables of other points that were in {_near(results)} are kept in {_near(folder)}"
        )
        console.print(told, soft_wrap=True, highlight=False, markup=False)
    if differing := mixed(made):
        told = f"made by mixed versions: {differing}; python -m train.store explain KEY tells more"
        console.print(told, soft_wrap=True, highlight=False, markup=False)
    for line in listed(written, results):
        console.print(line, soft_wrap=True, highlight=False, markup=False)
    if damaged := list((store.root / "damaged").glob("*")):
        where = _near(store.root / "damaged")
        told = f"{len(damaged)} damaged results were set aside in {where}"
        console.print(told, soft_wrap=True, highlight=False)
    _report_posts(plans, store, console)
    _report_coverage(tables, plans, store, console)
    return _report_failures(tables.points, console)


def _kept(results: Path) -> set[Path]:
    """The folders of tables that were set aside."""
    return set((results / "earlier").glob("[!.]*"))


def listed(written: Sequence[Path], results: Path) -> list[str]:
    """What was written, a line a folder with its files: a figure once, with its formats; pages last
    and each by itself, to be opened.
    """
    kinds: dict[Path, dict[str, list[str]]] = {}
    pages = [path for path in written if path.suffix == ".html"]
    for path in written:
        if path not in pages and (path.parent == results or path.suffix != ".csv"):
            kinds.setdefault(path.parent, {}).setdefault(path.stem, []).append(path.suffix[1:])
    lines = [
        f"{_near(folder)}: {', '.join(_in_formats(stem, ends) for stem, ends in stems.items())}"
        for folder, stems in kinds.items()
    ]
    return lines + [_near(page) for page in pages]


def _in_formats(stem: str, endings: Sequence[str]) -> str:
    return f"{stem}.{endings[0]}" if len(endings) == 1 else f"{stem} ({', '.join(endings)})"


def _report_posts(plans: Sequence[Plan], store: Store, console: Console) -> None:
    """What deserves to be said of the posts of each source that was not generated."""
    import pandas as pd

    sources: dict[Source, Path] = {}
    for plan in plans:
        if isinstance(task := plan.point.task, HateSpeech) and not task.source.generated:
            stages = plan.stages().values()
            folders = (store.path(each) for each in stages if each.name == POSTS)
            there = (each for each in folders if each.exists())  # tables may outlive them
            if folder := next(there, None):
                sources.setdefault(task.source, folder)
    for source, folder in sources.items():
        for told in oddities(pd.read_parquet(folder / "posts.parquet")):
            line = f"source={source.name}: {told}"
            console.print(line, soft_wrap=True, highlight=False, markup=False)


def _report_coverage(tables: Tables, plans: Sequence[Plan], store: Store, console: Console) -> None:
    """How many tokens of each source have a vector, the point with the fewest first; little of a
    text is seen by a classifier that knows few of its words.
    """
    if "coverage" not in tables.extrinsic:
        return
    sources = tables.points.set_index("point")["source"]
    found = tables.extrinsic.drop_duplicates("point").assign(
        source=lambda table: table["point"].map(sources)
    )
    for source, rows in found.groupby("source", sort=False):
        low, high = (
            short(float(each)) for each in (rows["coverage"].min(), rows["coverage"].max())
        )
        share = low if low == high else f"{low} to {high}"
        line = f"{share} of the tokens of source={source} have a vector"
        remedy = ""
        if (fewest := float(rows["coverage"].min())) < LEAST_COVERAGE:
            points = set(texts(rows[rows["coverage"] == fewest], "point"))
            plan = next((plan for plan in plans if plan.key in points), None)
            remedy = f"; warning: {_remedy(plan, store)}" if plan else ""
        console.print(f"{line}{remedy}", soft_wrap=True, highlight=False, markup=False)


def _remedy(plan: Plan, store: Store) -> str:
    """Which frequent tokens of the posts lack a vector, and what gives them one."""
    import pandas as pd

    from files.vectors import open_mapped

    subject = plan.point.subject
    trained = isinstance(subject, StaticVectors) and not subject.loaded
    rarer = ", or lower size.min_count and corpus.min_count" if trained else ""
    remedy = f"take vectors, or a corpus, of such texts{rarer}"
    made = plan.task.inputs.get("predictions") if plan.task else None
    if not made or not {"posts", "vectors"} <= made.inputs.keys():
        return remedy
    folders = [store.path(made.inputs[name]) for name in ("posts", "vectors")]
    if not all(folder.exists() for folder in folders):  # tables may outlive what they rest on
        return remedy
    posts = pd.read_parquet(folders[0] / "posts.parquet", columns=["text"])["text"]
    vocabulary = open_mapped(folders[1] / "vectors").key_to_index
    return f"{', '.join(without_vector(posts, vocabulary))} have none; {remedy}"


def _keys(table: pd.DataFrame) -> set[str]:
    """The keys of results that a table names."""
    return {key for name in table if str(name).endswith("_key") for key in texts(table, str(name))}


def _report_failures(points: pd.DataFrame, console: Console) -> int:
    failed = points[points["status"] != "done"]
    by_error: dict[str, list[str]] = {}
    for point, error in zip(texts(failed, "point"), texts(failed, "error"), strict=True):
        by_error.setdefault(error, []).append(point)
    for error, (point, *more) in by_error.items():
        which = f"{point} and {len(more)} more" if more else point
        console.print(f"failed {which}: {error}", soft_wrap=True, highlight=False, markup=False)
    if not len(failed):
        return 0
    return 2 if failed["refused"].all() and len(failed) == len(points) else 1


def _near(path: Path) -> str:
    """The path as seen from the working directory, where that is shorter."""
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)

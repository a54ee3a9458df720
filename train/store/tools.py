"""What ``biasbridge store`` does to a store: list it, check it, remove what is no longer
needed; and say where a result comes from, or write it to a file of one's own.
"""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.filesize import decimal
from rich.progress import track
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from analysis.made import Maker
from files import InputError, atomic_path
from files.atomic import require_new
from files.digest import digest_of
from files.progress import duration
from train.store.entry import RECIPE, Content, DamagedError, check, read_recipe
from train.store.lease import leased
from train.store.lock import HeldError, NoLockError, locked
from train.store.store import NOT_STAGES, Store, StoreError

if TYPE_CHECKING:
    from rich.console import Console

UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
TABLE = ".parquet"


def open_store(root: str) -> Store:
    """The store in a folder. Raises ``InputError`` where there is none."""
    if not (Path(root) / "locks").is_dir():
        raise InputError(f"{root} is no store: it has no folder locks; give one with --store DIR")
    return Store(root)


def entries(store: Store, stage: str | None = None) -> list[Path]:
    """The folders of all results, or of one stage. Raises ``InputError`` for a stage that has
    none.
    """
    folders = (path for path in sorted(store.root.glob("[!.]*")) if path.is_dir())
    stages = [path.name for path in folders if path.name not in NOT_STAGES]
    if stage is not None and stage not in stages:
        there = ", ".join(stages) or "none"
        raise InputError(f"{store.root} has no stage {stage!r}; it has {there}")
    return [entry for name in stages if stage in (None, name) for entry in store.entries(name)]


def find(store: Store, prefix: str) -> Path:
    """The folder of the one result whose key begins with ``prefix``. Raises ``InputError``."""
    found = [entry for entry in entries(store) if entry.name.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{prefix} is the beginning of {len(found)} keys; give more of it")
    raise InputError(
        f"no result in {store.root} has a key that begins with {prefix}; biasbridge store ls"
        " STAGE lists keys, and the tables of a sweep have them in unit_key, intrinsic_key and"
        " extrinsic_key"
    )


def ls(store: Store, stage: str | None, console: Console) -> None:
    """One row a stage, or one row a result of one stage; what is under way, orphaned and damaged
    below.
    """
    console.print(_list_stages(store) if stage is None else _list_results(store, stage))
    orphans = {path.name for path in store.orphans(remove=False)}
    being_built = store.in_progress() - orphans
    console.print(
        f"{len(being_built)} being built, {len(orphans)} orphaned,"
        f" {len(_damaged(store))} damaged and set aside"
    )


def _list_stages(store: Store) -> Table:
    table = _table(str(store.root), "stage", "results", "size", "took", "last used")
    for name in dict.fromkeys(entry.parent.name for entry in entries(store)):
        group = entries(store, name)
        known = [content for entry in group if (content := _content(entry))]
        table.add_row(
            name,
            str(len(group)),
            decimal(sum(map(size, group))),
            duration(sum(content["made"]["seconds"] for content in known)),
            _date(max(map(last_used, group))),
        )
    return table


def _list_results(store: Store, stage: str) -> Table:
    table = _table(str(store.root), "key", "made by", "size", "took", "made", "last used")
    for entry in entries(store, stage):
        cells = ("damaged",) * 4
        if content := _content(entry):
            cells = (
                content["recipe"]["made_by"].rpartition(".")[2],
                decimal(size(entry)),
                duration(content["made"]["seconds"]),
                content["made"]["time"][:10],
            )
        table.add_row(entry.name[:12], *cells, _date(last_used(entry)))
    return table


def _table(title: str, first: str, *numbers: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(first)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def verify(store: Store, stage: str | None, console: Console) -> int:
    """Compare every file with its checksum; 1 if a result is damaged, else 0."""
    found = entries(store, stage)
    hidden = not console.is_terminal
    bad = 0
    for entry in track(found, "checking", console=console, transient=True, disable=hidden):
        try:
            check(entry)
        except DamagedError as damage:
            bad += 1
            line = f"damaged: {entry.parent.name} {entry.name}: {damage}"
            console.print(line, soft_wrap=True)
    total = decimal(sum(map(size, found)))
    console.print(f"{len(found)} results, {total} checked, {bad} damaged")
    if bad:
        console.print("a damaged result is set aside and built again when a sweep next needs it")
    return 1 if bad else 0


def gc(store: Store, older_than: str | None, console: Console, *, dry_run: bool) -> None:
    """Remove what no sweep can use: orphaned work, damaged results, locks nobody holds; with an
    age, results not used for so long too, but for those that running sweeps need.

    A result that is removed is built again when it is needed. Ages are of the last use (noted once
    a process).
    """
    before = time.time() - _age(older_than) if older_than else None
    needed = leased(store.root)
    table = _table("would be removed" if dry_run else "removed", "what", "how many", "size")
    for what, folders in _garbage(store, before, needed):
        removed = [(size(path), dry_run or _remove(store, path)) for path in folders]
        gone = [count for count, done in removed if done]
        table.add_row(what, str(len(gone)), decimal(sum(gone)))
    console.print(table)
    if kept := needed & {entry.name for entry in entries(store)}:
        console.print(f"{len(kept)} results are in use by running sweeps")


def _age(text: str) -> float:
    """Seconds of an age such as ``30d``. Raises ``InputError``."""
    number, unit = text[:-1], text[-1:]
    if not (number.isdecimal() and unit in UNITS):
        raise InputError(f"--older-than {text}: give a number and m, h, d or w, such as 30d")
    return float(number) * UNITS[unit]


def _garbage(
    store: Store, before: float | None, needed: set[str]
) -> Iterator[tuple[str, list[Path]]]:
    yield "orphaned work", store.orphans(remove=False)
    yield "unfinished trainings", sorted((store.root / "unfinished").glob("*"))
    yield "damaged results", _damaged(store)
    if before is not None:
        old = [entry for entry in entries(store) if last_used(entry) < before]
        yield "unused results", [entry for entry in old if entry.name not in needed]
    yield "locks", sorted((store.root / "locks").glob("*.lock"))


def _remove(store: Store, path: Path) -> bool:
    """Remove a file or folder unless a process holds its key; whether it is gone."""
    try:
        # Whoever waits for a lock file that is removed here notices, and takes the one that has its
        # name then.
        with locked(path if path.suffix == ".lock" else store.lock(path), wait=False):
            if path.is_dir() and not path.is_symlink():
                store.remove(path)
            else:
                path.unlink(missing_ok=True)
    except HeldError:
        return False
    except (OSError, StoreError) as error:
        why = error if isinstance(error, StoreError | NoLockError) else error.strerror
        raise InputError(f"{path} cannot be removed: {why}") from error
    return True


def size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def last_used(entry: Path) -> float:
    """When a process last found the result whole, in seconds since 1970."""
    recipe = entry / RECIPE
    return (recipe if recipe.exists() else entry).stat().st_mtime


def _damaged(store: Store) -> list[Path]:
    return sorted((store.root / "damaged").glob("*"))


def _content(entry: Path) -> Content | None:
    """What is noted of a result; None for a damaged one."""
    with suppress(DamagedError):
        return read_recipe(entry)
    return None


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def explain(store: Store, prefix: str, console: Console) -> None:
    """Print the full recipe of the result whose key begins so, those of all it rests on, and the
    command that builds it again. Raises ``InputError`` for an unknown or ambiguous beginning.
    """
    entry = find(store, prefix)
    by_key = {path.name: path for path in entries(store)}
    console.print(_tree(entry.parent.name, entry.name, by_key))
    if not (content := _content(entry)):
        return
    made = content["made"]
    code, loaded = made["modules"], made.get("loaded", {})
    lines = [
        f"\nmade {made['time']} on {made['host']}, {made.get('device', 'cpu')}, by",
        f"  biasbridge {made['project'] or 'of no version'}, commit {made['commit'] or 'unknown'}",
        f"  {_list(made['libraries'])}",
        f"  code {_list({name: digest[:8] for name, digest in code.items()})}",
        f"  beside {', '.join(sorted(loaded.keys() - code)) or 'no other code'}",
        "again, in any store:",
        f"  {made.get('command', 'not noted: it was not made by train.py')}",
    ]
    console.print("\n".join(lines), soft_wrap=True)


def _tree(stage: str, key: str, by_key: Mapping[str, Path]) -> Tree:
    """The recipe of a result and, below, those of its inputs."""
    title = Text.assemble((stage, "bold"), f" {key}")
    if key not in by_key:
        return Tree(title + " (no longer in the store)")
    try:
        content = read_recipe(by_key[key])
    except DamagedError as damage:
        return Tree(title + f" (damaged: {damage})")
    recipe = content["recipe"]
    made_by = f"{recipe['made_by']} v{recipe['version']}"
    cost = f"{decimal(size(by_key[key]))}, {content['made']['seconds']:.1f} s"
    tree = Tree(title + f"  {made_by}, {cost}")
    if params := recipe["params"]:
        tree.add(", ".join(f"{name}={value}" for name, value in params.items()))
    if recipe["seed"] is not None:
        tree.add(f"seed {recipe['seed']}")
    for name, digest in recipe["files"].items():
        tree.add(f"file {name.partition(' ')[2]} sha256 {digest}")
    tree.children += [_tree(name, each, by_key) for name, each in recipe["inputs"].items()]
    return tree


def _list(values: Mapping[str, str]) -> str:
    """``Python 3.11.7, gensim 4.4.0``."""
    return ", ".join(f"{name} {value}" for name, value in values.items())


def makers(store: Store, keys: Iterable[str]) -> list[Maker]:
    """What made the results with these keys and those that they rest on; results that are no longer
    stored are left out.
    """
    folders = {entry.name: entry for entry in entries(store)}
    left, seen = list(keys), set[str]()
    counts: Counter[Maker] = Counter()
    while left:
        if (key := left.pop()) in seen or key not in folders:
            continue
        seen.add(key)
        if not (content := _content(folders[key])):
            continue
        made, recipe = content["made"], content["recipe"]
        left += recipe["inputs"].values()
        maker = Maker(
            stage=recipe["stage"],
            made_by=recipe["made_by"],
            results=0,
            project=made["project"],
            commit=made["commit"],
            code=digest_of(made["modules"])[:12],
            libraries=_list(made["libraries"]),
        )
        counts[maker] += 1
    return [maker._replace(results=counts[maker]) for maker in sorted(counts)]


def export(entry: Path, out: str | Path, console: Console, *, force: bool = False) -> None:
    """Write the vectors of a result in the format that the ending of ``out`` names, its table as
    CSV or Parquet, its text as it is.

    Raises ``InputError`` for a result that is damaged or has several files, an ending that does
    not fit, and a file that is there already.
    """
    try:
        check(entry)
    except DamagedError as damage:
        raise InputError(f"{entry} is damaged ({damage}); give the sweep again") from None
    out = Path(out)
    require_new(out, force=force)
    if (entry / "vectors").is_dir():
        from files.vectors import open_mapped, save_vectors  # loads gensim

        save_vectors(open_mapped(entry / "vectors"), out)
    else:
        _write(entry, out)
    console.print(f"wrote {out}", soft_wrap=True)


def _write(entry: Path, out: Path) -> None:
    """The one file of a result that holds more than counts."""
    files = [path for path in sorted(entry.iterdir()) if path.name != RECIPE]
    content = [path for path in files if path.suffix != ".json"] or files
    if len(content) != 1:
        names = ", ".join(path.name for path in content)
        raise InputError(f"{entry} holds {names}; copy from there what you need")
    [source] = content
    allowed = (TABLE, ".csv") if source.suffix == TABLE else (source.suffix,)
    if out.suffix not in allowed:
        endings = " or ".join(allowed)
        raise InputError(f"{out}: the result is {source.name}; give the ending {endings}")
    with atomic_path(out) as work:
        if out.suffix == source.suffix:
            shutil.copyfile(source, work)
        else:
            import pandas as pd

            from files.tables import write_csv

            write_csv(pd.read_parquet(source), work)

"""Stored results: those of other code or other versions of libraries than the current ones, and the
actions of ``biasbridge store``: list, check and clean up.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from rich.filesize import decimal
from rich.table import Table

from biasbridge.files import InputError
from biasbridge.files.errors import printable
from biasbridge.files.paths import digest_of
from biasbridge.files.progress import duration
from biasbridge.files.terminal import print_columns
from biasbridge.train.engine.locks import (
    HeldError,
    NoLockError,
    StoreError,
    is_held,
    locked,
    other_holder,
    writing,
)
from biasbridge.train.engine.source import Source, current_source, stored_digest
from biasbridge.train.engine.store import (
    RECIPE,
    RESERVED,
    Content,
    DamagedError,
    Lineage,
    Store,
    check_entry,
    key_of,
    lineage,
    read_recipe,
)

if TYPE_CHECKING:
    from rich.console import Console

    from biasbridge.analysis.result_folder import BuildRecord
    from biasbridge.train.engine.store import Provenance, Step


Policy = Literal["refuse", "use", "rebuild"]

KEY_LENGTH, N_DIGITS = 32, 8  # of a key, and those of it in a list
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Outdated(NamedTuple):
    """A stored result of other code or library versions.

    ``modules``: source files that differ; ``libraries``: as ``gensim 4.3.3 (now 4.4.0)``; ``code``:
    whether code differs here or in an ancestor.
    """

    step: Step
    code: bool
    modules: tuple[str, ...]
    libraries: tuple[str, ...]


def outdated(store: Store, ends: Iterable[Step]) -> list[Outdated]:
    """Return the outdated results that these steps use, with outdated ancestors, by recipes."""
    digest = cache(stored_digest)
    current: dict[str, Lineage] = {}  # of results, by key
    differences: dict[str, Outdated] = {}
    visited: set[str] = set()

    def current_code(step: Step, made: Provenance | None) -> Source:
        if made is None:
            return current_source(step.source, step.source, digest)
        recorded = Source(made["modules"], {}, made.get("paths", {}), made["libraries"])
        return current_source(step.source, recorded, digest)

    def lineage_of(step: Step, made: Provenance | None = None) -> Lineage:
        if step.key not in current:
            inputs = {name: lineage_of(parent) for name, parent in step.inputs.items()}
            current[step.key] = lineage(
                current_code(step, made or _provenance(store, step)), inputs
            )
        return current[step.key]

    queue = deque(ends)
    while queue:
        step = queue.popleft()
        if step.key in visited:
            continue
        visited.add(step.key)
        made = _provenance(store, step)
        is_outdated = made is not None and made["lineage"] != lineage_of(step, made)
        if made and is_outdated:
            code = made["lineage"]["code"] != current[step.key]["code"]
            differences[step.key] = _difference(step, made, current_code(step, made), code=code)
        if is_outdated or not made:  # inputs of a current stored result are not used
            queue += step.inputs.values()
    return list(differences.values())


def _provenance(store: Store, step: Step) -> Provenance | None:
    """Return how a result was made; None if it is missing, or damaged and moved away when used."""
    content = _content_of(store.path(step))
    return content["made"] if content else None


def _difference(step: Step, made: Provenance, current: Source, *, code: bool) -> Outdated:
    """Return how a stored result differs from one of the current code."""
    old_libraries, libraries = made["libraries"], current.libraries
    changed = tuple(
        f"{name} {old_libraries.get(name, 'none')} (now {libraries.get(name, 'none')})"
        for name in _differing(old_libraries, libraries)
    )
    return Outdated(step, code, tuple(_differing(made["modules"], current.files)), changed)


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in sorted({**before, **now}) if before.get(name) != now.get(name)]


def report_outdated(results: Sequence[Outdated], policy: Policy, console: Console) -> None:
    """Print what happens to outdated results; ``refuse`` raises ``InputError`` for other code."""
    other_code = [result for result in results if result.code]
    other_libraries = [result for result in results if not result.code]
    if other_code and policy == "refuse":
        raise InputError(
            f"stored results are of other code: {_describe(other_code)}. --stale rebuild rebuilds"
            " them and what depends on them. --stale use uses them unchanged"
        )
    action = "rebuilding" if policy == "rebuild" else "using"
    for group, cause in ((other_code, "code"), (other_libraries, "library versions")):
        if group:
            line = f"{action} results of other {cause}: {_describe(group)}"
            console.print(printable(line), soft_wrap=True)


def _describe(results: Sequence[Outdated]) -> str:
    """Return the number of results per step and what differs, first causes first."""
    counts = Counter((r.step.label, (*r.modules, *r.libraries)) for r in results)
    ordered = sorted(counts.items(), key=lambda entry: not entry[0][1])
    return ", ".join(
        f"{count} {label}: {'+'.join(causes) or 'depends on these'}"
        for (label, causes), count in ordered
    )


def open_store(root: str) -> Store:
    """Return the store in a folder. Raises ``InputError`` if there is none."""
    if not (Path(root) / "locks").is_dir():
        problem = f"{root} is not a store: it has no folder locks"
        raise InputError(f"{problem}; give one with --store DIR")
    store = Store(root)
    store.require_own()
    return store


def _list_entries(store: Store, step: str | None = None) -> list[Path]:
    """Return the folders of all results, or of a step. Raises ``InputError`` for no such step."""
    folders = (path for path in sorted(store.root.glob("[!.]*")) if path.is_dir())
    steps = [path.name for path in folders if path.name not in RESERVED]
    if step is not None and step not in steps:
        step_names = ", ".join(steps) or "none"
        raise InputError(f"{store.root} has no step {step!r}; it has {step_names}")
    return [entry for name in steps if step in (None, name) for entry in store.entries(name)]


def ls(store: Store, step: str | None, console: Console) -> None:
    """Print a row per step, or per result of one step, and the number of unfinished results."""
    table = _list_steps(store) if step is None else _list_results(store, step)
    print_columns(table, console, names=1 if step is None else 2)
    orphans = {path.name for path in store.orphans(remove=False)}
    being_built = store.in_progress() - orphans
    console.print(f"{len(being_built)} being built, {len(orphans)} orphaned")


def _list_steps(store: Store) -> Table:
    table = _table(str(store.root), "step", "results", "size", "took", "last used")
    for name in dict.fromkeys(entry.parent.name for entry in _list_entries(store)):
        group = _list_entries(store, name)
        contents = [content for entry in group if (content := _content_of(entry))]
        table.add_row(
            printable(name),
            str(len(group)),
            decimal(sum(map(size, group))),
            duration(sum(content["made"]["seconds"] for content in contents)),
            _date(max(map(_last_used, group))),
        )
    return table


def _list_results(store: Store, step: str) -> Table:
    table = _table(str(store.root), "key", "made by", "size", "took", "made", "last used")
    for entry in _list_entries(store, step):
        cells = ("damaged",) * 4
        if content := _content_of(entry):
            cells = (
                content["recipe"]["made_by"].rpartition(".")[2],
                decimal(size(entry)),
                duration(content["made"]["seconds"]),
                content["made"]["time"][:10],
            )
        name = entry.name[: N_DIGITS - KEY_LENGTH]
        table.add_row(*map(printable, (name, *cells)), _date(_last_used(entry)))
    return table


def _table(title: str, text_column: str, *number_columns: str) -> Table:
    table = Table(title=printable(title), title_justify="left")
    table.add_column(text_column)
    for name in number_columns:
        table.add_column(name, justify="right")
    return table


def verify(store: Store, step: str | None, console: Console) -> int:
    """Compare every file with its checksum; return 1 if a result is damaged, else 0."""
    results = _list_entries(store, step)
    n_damaged = 0
    for entry in results:
        try:
            check_entry(entry)
        except DamagedError as damage:
            n_damaged += 1
            line = f"damaged: {entry.parent.name} {entry.name}: {damage}"
            console.print(printable(line), soft_wrap=True)
    total = decimal(sum(map(size, results)))
    console.print(f"{len(results)} results, {total} checked, {n_damaged} damaged")
    if n_damaged:
        console.print("a damaged result is rebuilt when a sweep next needs it")
    return 1 if n_damaged else 0


def gc(store: Store, older_than: str | None, console: Console, *, dry_run: bool) -> None:
    """Remove orphaned work, unused locks and what was not used for long, unless a sweep runs."""
    oldest = time.time() - _age(older_than) if older_than else None
    sweeps = [path for path in store.listed("locks", "sweep-*.lock") if is_held(path)]
    if sweeps and not dry_run:
        reason = f"a sweep is running ({other_holder(sweeps[0])})"
        raise InputError(f"{store.root} cannot be cleaned up: {reason}; wait until it has ended")
    table = _table("would be removed" if dry_run else "removed", "kind", "number", "size")
    for kind, folders in _garbage(store, oldest):
        removed = [(size(path), dry_run or _remove(store, path)) for path in folders]
        sizes = [count for count, is_removed in removed if is_removed]
        table.add_row(kind, str(len(sizes)), decimal(sum(sizes)))
    print_columns(table, console)


def _age(text: str) -> float:
    """Return the seconds of an age such as ``30d``. Raises ``InputError``."""
    number, unit = text[:-1], text[-1:]
    if not (number.isdecimal() and unit in _UNITS):
        raise InputError(f"--older-than {text}: give a number and m, h, d or w, such as 30d")
    return float(number) * _UNITS[unit]


def _garbage(store: Store, oldest: float | None) -> Iterator[tuple[str, list[Path]]]:
    yield "orphaned work", store.orphans(remove=False)
    if oldest is not None:
        yield (
            "unfinished trainings",
            [
                path
                for path in store.listed("unfinished")
                if max(file.stat().st_mtime for file in (path, *path.rglob("*"))) < oldest
            ],
        )
        inside = [entry for entry in _list_entries(store) if not entry.parent.is_symlink()]
        yield "unused results", [entry for entry in inside if _last_used(entry) < oldest]
    yield "locks", store.listed("locks", "*.lock")


def _remove(store: Store, path: Path) -> bool:
    """Remove a file or folder unless a process holds its key; return whether it was removed."""
    try:
        # A process that waits for a lock file removed here notices, and takes the new one.
        with locked(path if path.suffix == ".lock" else store.lock(path), wait=False):
            if path.is_dir() and not path.is_symlink():
                store.remove(path)
            else:
                with writing(store.root):
                    path.unlink(missing_ok=True)
    except HeldError:
        return False
    except (OSError, StoreError) as error:
        reason = error if isinstance(error, StoreError | NoLockError) else error.strerror
        raise InputError(f"{path} cannot be removed: {reason}") from error
    return True


def size(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _last_used(entry: Path) -> float:
    """Return when a process last verified the result, in seconds since 1970."""
    recipe = entry / RECIPE
    return (recipe if recipe.exists() else entry).stat().st_mtime


def _content_of(entry: Path) -> Content | None:
    """Return the recipe of a result; None for a damaged one."""
    with suppress(DamagedError):
        return read_recipe(entry)
    return None


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def _libraries(made: Provenance) -> str:
    """Return ``Python 3.11.7, gensim 4.4.0``, with the instructions of torch where recorded."""
    from biasbridge.analysis.result_folder import INSTRUCTIONS  # loads pandas

    instructions = {INSTRUCTIONS: made["instructions"]} if made.get("instructions") else {}
    return ", ".join(
        f"{name} {value}" for name, value in (made["libraries"] | instructions).items()
    )


def build_records(store: Store, keys: Iterable[str]) -> list[BuildRecord]:
    """Return build records of the stored results with these keys and of their ancestors.

    A file of which one version is known, and which not every process had loaded, makes no code.
    """
    from biasbridge.analysis.result_folder import BuildRecord  # loads pandas

    folders = {key_of(entry): entry for entry in _list_entries(store)}
    queue, visited = list(keys), set[str]()
    contents: dict[tuple[str, str], list[Content]] = defaultdict(list)  # by step and class
    while queue:
        if (key := queue.pop()) in visited or key not in folders:
            continue
        visited.add(key)
        if content := _content_of(folders[key]):
            queue += content["recipe"]["inputs"].values()
            contents[content["recipe"]["step"], content["recipe"]["made_by"]].append(content)
    counts: Counter[BuildRecord] = Counter()
    for (step, made_by), kind in contents.items():
        versions: dict[str, Counter[str]] = defaultdict(Counter)  # of each file
        for content in kind:
            for name, digest in content["made"]["modules"].items():
                versions[name][digest] += 1
        told = {n for n in versions if len(versions[n]) > 1 or versions[n].total() == len(kind)}
        for made in (content["made"] for content in kind):
            record = BuildRecord(
                step=step,
                made_by=made_by,
                results=0,
                project=made["project"],
                commit=made["commit"],
                code=digest_of({n: made["modules"][n] for n in told & made["modules"].keys()})[:12],
                libraries=_libraries(made),
            )
            counts[record] += 1
    return [record._replace(results=counts[record]) for record in sorted(counts)]

"""Real data by name: what there is, under which licence, and here or not; get, verify and add it.

Data lie in the folder ``$BIASBRIDGE_DATA``, else in the user's cache. ``BIASBRIDGE_MIRROR=URL`` is
asked first; files lie there at the same paths. With ``BIASBRIDGE_OFFLINE=1`` no connection is
opened.
"""

from __future__ import annotations

import fcntl
import lzma
import os
import re
import shutil
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from biasbridge.files.data.download import (
    Differs,
    DownloadError,
    download,
    extract_repository,
    extract_zip,
    find_difference,
    split_login,
)
from biasbridge.files.data.recipes import build_corpus, find_text_difference, is_xz
from biasbridge.files.data.registry import (
    DataFile,
    DataSet,
    corpus_target,
    data_folder,
    find_sets,
    groups,
    registry,
    sets_of,
    total_size,
)
from biasbridge.files.errors import InputError, nearest
from biasbridge.files.paths import atomic_path, open_no_link
from biasbridge.files.places import require_commit
from biasbridge.files.progress import duration, progress_lines
from biasbridge.files.terminal import LOG, is_quiet, open_console

if TYPE_CHECKING:
    import pandas as pd

_OFFLINE = ("BIASBRIDGE_OFFLINE", "HF_HUB_OFFLINE")
MIRROR = "BIASBRIDGE_MIRROR"
SOURCE = "SOURCE.txt"  # beside fetched files: their licence, citation and addresses
LOCK = ".biasbridge-data.lock"
_MAX_SINGLE = 12  # files of a repository that are asked for singly: GitHub allows some 60 an hour
LINES = 20  # of a file without digest that are looked at
# Of a model's repository what is not loaded: the same weights in other formats
_UNREAD = ("*.bin", "*.h5", "*.msgpack", "*.onnx", "*.ot", "*.tflite", "onnx/*", "openvino/*")


def table() -> pd.DataFrame:
    """Return what there is: a row a name.

    Returns
    -------
    pandas.DataFrame
        ``name``, ``kind`` (``data``, ``corpus``, ``vectors``, ``model``, ``hub data``), ``what``,
        ``megabytes`` of its download (missing: not known), ``licence``, ``here`` (all its files
        are in the data folder), ``part`` (``3 of 7`` of them), ``download`` (False: only ``add``).

    Examples
    --------
    >>> table().set_index("name").loc["davidson2017", "licence"]
    'MIT'
    """
    import pandas as pd

    rows = [
        {
            "name": each.name,
            "kind": each.kind,
            "what": each.what,
            "megabytes": None if each.n_bytes is None else round(each.n_bytes / 1e6, 1),
            "licence": each.licence,
            "here": is_here(each),
            "part": f"{each.n_here} of {len(each.targets)}" if each.n_here else "",
            "download": not each.ask,
        }
        for each in registry().values()
    ]
    return pd.DataFrame(rows)


def is_here(each: DataSet) -> bool:
    """Return whether all files of a set are in the data folder, or a model in the hub's cache."""
    if each.kind not in ("model", "hub data"):
        return each.is_here
    if not each.commit:
        return False
    from huggingface_hub import try_to_load_from_cache

    kind, name = ("model", "config.json") if each.kind == "model" else ("dataset", "README.md")
    cached = try_to_load_from_cache(each.name, name, revision=each.commit, repo_type=kind)
    return isinstance(cached, str)


@dataclass
class Needs:
    """What names ask for: ``sets`` of the registry; ``others``: models as ``org/name@COMMIT``;
    ``unknown``: paths below the data folder that no set has.
    """

    sets: list[DataSet] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def find_needs(*names: str) -> Needs:
    """Return what names ask for.

    Parameters
    ----------
    *names
        Names of data sets, corpora, vectors and models, of groups (``sesari2022``) and of
        experiments; ``org/name@COMMIT``; or the arguments of ``train.py``, such as
        ``+experiment=hatespeech_en +data=en_tweets``, which belong together.

    Raises
    ------
    InputError
        An unknown name; an experiment whose configuration is not complete.
    """
    needs = Needs()
    overrides = [name for name in names if "=" in name]
    for name in names:
        if name in registry() or name in groups():
            needs.sets += find_sets(name)
        elif re.fullmatch(r"[\w.-]+/[\w.-]+@\w+", name):
            needs.others.append(name)
        elif name not in overrides:
            _require_name(name)
            _add_requests(needs, [f"+experiment={name}"])
    if overrides:
        _add_requests(needs, overrides)
    needs.sets = _united(needs.sets)
    return needs


def _united(sets: Iterable[DataSet]) -> list[DataSet]:
    """Return each set once, with all files that were asked for."""
    by_name: dict[str, DataSet] = {}
    for each in sets:
        files = by_name[each.name].files if each.name in by_name else ()
        by_name[each.name] = replace(each, files=tuple(dict.fromkeys([*files, *each.files])))
    return list(by_name.values())


def _require_name(name: str) -> None:
    from importlib.resources import files

    folder = files("conf") / "experiment"
    experiments = [path.name.removesuffix(".yaml") for path in folder.iterdir()]
    if name not in experiments:
        hint = nearest(name, [*registry(), *groups(), *experiments])
        raise InputError(f"no data, corpus or experiment {name!r}{hint}; see biasbridge data list")


def _add_requests(needs: Needs, overrides: Sequence[str]) -> None:
    """Add what the points of a command line read."""
    from biasbridge.train.cli.sweep import list_requested_data

    for path in list_requested_data(overrides):
        found = sets_of(path)
        needs.sets += found
        needs.unknown += [] if found else [path]


def get(*names: str) -> list[Path]:
    """Download what is missing, verify what is here, and return where it lies.

    Each file comes from where its authors put it, at a commit, and stands under its name only if
    its digest is that of the registry. A broken download goes on with the next call. Licence and
    citation are logged before, and written beside the files, in ``SOURCE.txt``.

    Parameters
    ----------
    *names
        As in :func:`find_needs`.

    Returns
    -------
    list of pathlib.Path
        Files and folders of the names, in their order.

    Raises
    ------
    InputError
        An unknown name; a file that no address gave, or that differs from the registry's; data that
        may not be downloaded (with the words of where to ask); a connection that would be needed
        with ``BIASBRIDGE_OFFLINE=1``.
    """
    needs = find_needs(*names)
    fetcher = _Fetcher()
    if is_offline() and (rows := missing_files(needs)):
        raise InputError(
            f"{_offline_variable()} is set, and {len(rows)} of the files named are missing. Save"
            f" each under its path below {data_folder()}, or run biasbridge data add"
            f" {' or '.join(each.name for each in needs.sets)} FILE"
        )
    paths: list[Path] = []
    refusals = [f"{path} is not public and has no name here" for path in needs.unknown]
    for number, each in enumerate(needs.sets, 1):
        try:
            paths += fetcher.get(each, needs.sets[number:])
        except _RestrictedError as refusal:
            refusals.append(str(refusal))
        except DownloadError as failure:
            refusals.append(f"{failure}; a copy of yours: biasbridge data add {each.name} FILE")
    for name in needs.others:
        paths.append(_get_from_hub(*require_commit(name), "model"))
    if refusals:
        raise InputError("; ".join(refusals))
    return paths


def missing_files(needs: Needs) -> list[DataFile]:
    """Return the files that are not here; of a corpus those that it is built from."""
    hub = [DataFile(name, (f"https://huggingface.co/{name}",)) for name in needs.others]
    return _missing(needs.sets) + hub


def _missing(sets: Iterable[DataSet]) -> list[DataFile]:
    folder = data_folder()
    files = [file for each in sets if not is_here(each) for file in each.files]
    # a source that is a folder may have been unpacked in part
    return [file for file in files if not (folder / file.target).is_file()]


def verify(*names: str) -> pd.DataFrame:
    """Compare the files of names with the registry; by default of all sets with a file here.

    Returns
    -------
    pandas.DataFrame
        A row a file: ``name``, ``target``, ``state``: ``verified``, ``missing``, ``no digest
        known`` or how it differs.
    """
    import pandas as pd

    present = (each for each in registry().values() if each.n_here or is_here(each))
    sets = find_needs(*names).sets if names else [*present]
    rows = [
        {"name": each.name, "target": target, "state": state}
        for each in sets
        for target, state in _states(each)
    ]
    return pd.DataFrame(rows, columns=["name", "target", "state"])


def _states(each: DataSet) -> Iterator[tuple[str, str]]:
    if each.kind in ("model", "hub data"):
        yield f"{each.name}@{each.commit}", "verified" if is_here(each) else "missing"
        return
    for file in _own_files(each):
        path = data_folder() / file.target
        if not path.exists():
            yield file.target, "missing"
        elif not (each.recipe or file.own_checks):
            yield file.target, "no digest known"
        else:
            yield file.target, _find_difference(each, file, path) or "verified"


def _own_files(each: DataSet) -> Sequence[DataFile]:
    """Return the files that are read: of a corpus its text."""
    return [DataFile(corpus_target(each.name), ())] if each.recipe else each.files


def _find_difference(each: DataSet, file: DataFile, path: Path) -> str:
    if each.recipe:
        return find_text_difference(each, path)
    if file.own_checks:
        return find_difference(path, file.own_checks, None if file.member else file.n_bytes)
    return "" if _fits_line(path, each.line or ".*") else "its lines have another form"


def add(name: str, *paths: str | Path) -> list[Path]:
    """Copy files of yours to where the data of a name lie, if they are what it names.

    Parameters
    ----------
    name
        A data set, a corpus or vectors; for data that cannot be downloaded this is the way.
    *paths
        Files under any name, or folders that hold them. They are known by their content.

    Returns
    -------
    list of pathlib.Path
        Where they lie now.

    Raises
    ------
    InputError
        A file that is not one of the name's.
    """
    each, *more = find_sets(name)
    if more or each.kind in ("model", "hub data"):
        raise InputError(f"{name} has no files of its own; give the name of a data set or vectors")
    with _locked():
        added = [place for path in _list_files(map(Path, paths)) for place in _add(each, path)]
        _write_sources(each, "added by hand")
    return added


def _add(each: DataSet, path: Path) -> list[Path]:
    """Unpack or copy a user's file, and return where it lies."""
    folder, differences = data_folder(), []
    members = [file for file in each.files if file.member]
    if members and zipfile.is_zipfile(path):
        extract_zip(path, members, folder)
        return [folder / file.target for file in members]
    for file in _own_files(each):
        if difference := _find_difference(each, file, path):
            differences.append(f"{file.target}: {difference}")
            continue
        place = folder / file.target
        with (
            atomic_path(place / path.name if file.target.endswith("/") else place) as copy,
            path.open("rb") as source,
            lzma.open(copy, "wb") if each.recipe and not is_xz(path) else copy.open("wb") as out,
        ):
            shutil.copyfileobj(source, out, 2**20)
        return [place]
    raise InputError(f"{path} is not a file of {each.name} ({'; '.join(differences[:3])})")


def _list_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise InputError(f"{path}: no such file")
        inside = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else []
        yield from inside or [path]


def _fits_line(path: Path, pattern: str) -> bool:
    with path.open(encoding="utf-8", errors="replace") as stream:
        lines = [*islice(stream, LINES)]  # a quoted text may take several
    return 2 * sum(bool(re.fullmatch(pattern, line, re.DOTALL)) for line in lines) > len(lines)


class _RestrictedError(InputError):
    """Data that may not be downloaded."""


@contextmanager
def _locked() -> Iterator[None]:
    """Hold the data folder against other processes; wait for one that holds it."""
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stream = os.fdopen(open_no_link(folder / LOCK, os.O_WRONLY | os.O_CREAT), "w")
    except OSError as error:
        reason = f"cannot write {folder}: {error.strerror}"
        raise InputError(
            f"{reason}; set BIASBRIDGE_DATA to a folder that can be written"
        ) from error
    with stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            LOG.warning("waiting for another process that writes to %s", folder)
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError:  # of a file system without locks
            pass
        yield


class _Fetcher:
    """Downloads of one call: the mirror, until it fails to answer, then the authors' addresses."""

    def __init__(self) -> None:
        mirror = os.environ.get(MIRROR, "").rstrip("/")
        self._mirror, self._login = split_login(mirror) if mirror else ("", "")
        self._folder = data_folder()

    def get(self, each: DataSet, later: Sequence[DataSet] = ()) -> list[Path]:
        """Bring and verify a set, and keep archives that the ``later`` ones need."""
        if each.kind in ("model", "hub data"):
            if not each.commit:
                raise _RestrictedError(
                    f"no commit of {each.name} is known; give {each.name}@COMMIT"
                )
            return [_get_from_hub(each.name, each.commit, each.kind)]
        with _locked():
            self._require_kept(each)
            missing = [file for file in _missing([each]) if not file.by_user]
            if missing or not (each.is_here or each.ask):
                _announce(each)
                try:
                    with _Progress(each, total_size(missing)).shown() as progress:
                        if each.recipe:
                            self._build(each, missing, progress)
                        else:
                            self._bring(missing, progress, _missing(later))
                finally:
                    _write_sources(each, f"fetched {date.today()}")
        if not each.is_here:
            count = f"{each.name}: {each.n_here} of {len(each.targets)} files are here"
            raise _RestrictedError(f"{count}; {each.remedy}")
        return [self._folder / target for target in each.targets]

    def _require_kept(self, each: DataSet) -> None:
        """Raise ``InputError`` if a file at hand differs: it may be the user's own."""
        for target, state in _states(each):
            if state not in ("verified", "missing", "no digest known"):
                raise InputError(
                    f"{self._folder / target} is not the file that the registry names: {state};"
                    " move it away, and give the command again"
                )

    def _build(self, corpus: DataSet, missing: list[DataFile], progress: _Progress) -> None:
        assert corpus.recipe
        target = corpus_target(corpus.name)
        if not self._from_mirror(target, partial(find_text_difference, corpus), progress):
            self._bring(missing, progress)
            progress.label = f"building {target}"
            build_corpus(corpus, self._folder)
        sources = self._folder / "sources"
        for source in corpus.recipe["sources"]:
            path = sources / source["repository"] / source["commit"]
            shutil.rmtree(path, ignore_errors=True)
            with suppress(OSError):  # others are in use
                for parent in (path.parent, path.parent.parent, sources):
                    parent.rmdir()

    def _bring(
        self, missing: Iterable[DataFile], progress: _Progress, later: Iterable[DataFile] = ()
    ) -> None:
        """Download files: from the mirror, singly, or in archives; those of ``later`` are kept."""
        rest = []
        for file in missing:
            check, n_bytes = _check(file.own_checks), None if file.member else file.n_bytes
            if not self._from_mirror(file.target, check, progress, n_bytes):
                rest.append(file)
        n_files = Counter(file.archive for file in rest)
        origins: dict[DataFile, list[DataFile]] = {}
        for file in rest:
            is_single = n_files[file.archive] <= _MAX_SINGLE and not file.target.endswith("/")
            origin = file if is_single and not file.member else file.archive
            origins.setdefault(origin or file, []).append(file)
        for origin, files in origins.items():
            path = self._folder / origin.target
            check, report, size = _check(origin.checks), progress.report, origin.n_bytes
            is_archive = origin != files[0]
            if not path.exists() and not (
                is_archive and self._from_mirror(origin.target, check, progress, size)
            ):
                progress.label = origin.target
                download(origin.addresses, path, n_bytes=size, differs=check, report=report)
            if not is_archive:
                continue
            progress.label = f"unpacking {origin.target}"
            extract = extract_zip if files[0].member else extract_repository
            try:
                extract(path, files, self._folder)
            except DownloadError:
                path.unlink()
                raise
            if origin not in [file.archive for file in later]:
                path.unlink()

    def _from_mirror(
        self, target: str, differs: Differs, progress: _Progress, n_bytes: int | None = None
    ) -> bool:
        if not self._mirror or target.endswith("/"):
            return False
        address, path = f"{self._mirror}/{quote(target)}", self._folder / target
        try:
            download(
                [address],
                path,
                login=self._login,
                n_bytes=n_bytes,
                differs=differs,
                report=progress.report,
                tries=2,
            )
        except DownloadError as error:
            if "did not answer" in str(error):
                LOG.warning("%s does not answer; asking the authors' addresses", self._mirror)
                self._mirror = ""
            elif "answered 404" not in str(error):
                LOG.warning("%s", error)
            return False
        return True


def _check(checks: dict[str, str]) -> Differs:
    return partial(find_difference, checks=checks)


def _get_from_hub(name: str, commit: str, kind: str) -> Path:
    from huggingface_hub import snapshot_download

    repository = "dataset" if kind == "hub data" else "model"
    ignored = [*_UNREAD] if repository == "model" else None
    try:
        folder = snapshot_download(
            name, revision=commit, repo_type=repository, ignore_patterns=ignored
        )
    except Exception as error:  # of the network, by several libraries
        reason = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        raise InputError(f"the hub did not give {name}@{commit}: {reason}") from error
    return Path(folder)


def is_offline() -> bool:
    """Return whether the environment forbids connections."""
    return bool(_offline_variable())


def _offline_variable() -> str:
    on = (
        name for name in _OFFLINE if os.environ.get(name, "").lower() in ("1", "true", "yes", "on")
    )
    return next(on, "")


def _announce(each: DataSet) -> None:
    LOG.warning("%s: %s", each.name, each.what)
    LOG.warning("  licence: %s (%s)", each.licence, each.licence_source)
    LOG.warning("  cite: %s", each.citation)


def describe_sources(corpus: DataSet) -> list[str]:
    """Return a line for each collection that a corpus is built from: where, licence, citation."""
    return [
        f"{source['repository']}@{source['commit']}  {source['licence']}  {source['cite']}"
        for source in (corpus.recipe or {"sources": []})["sources"]
    ]


def _write_sources(each: DataSet, how: str) -> None:
    """Write or replace the set's part of ``SOURCE.txt`` in each folder that holds its files."""
    folder = data_folder()
    by_folder: dict[Path, list[DataFile]] = {}
    for file in _own_files(each):
        if (folder / file.target).is_file():
            by_folder.setdefault((folder / file.target).parent, []).append(file)
    for place, here in by_folder.items():
        lines = [f"[{each.name}] {each.what}", f"licence: {each.licence} ({each.licence_source})"]
        lines += [f"cite: {each.citation}", *([f"note: {each.note}"] if each.note else []), how]
        for file in here:
            checks = " ".join(f"{name}:{value}" for name, value in file.own_checks.items())
            lines.append("  ".join([Path(file.target).name, checks, *file.addresses[:1]]))
        if each.recipe:
            lines += describe_sources(each)
        path = place / SOURCE
        old = path.read_text(encoding="utf-8").split("\n\n") if path.exists() else []
        kept = [
            part.strip() for part in old if part.strip() and not part.startswith(f"[{each.name}]")
        ]
        with atomic_path(path) as temporary:
            text = "\n\n".join([*kept, "\n".join(lines)]) + "\n"
            temporary.write_text(text, encoding="utf-8")


class _Progress:
    """Bytes that came, as a bar on a terminal, and as lines elsewhere."""

    def __init__(self, each: DataSet, n_bytes: int) -> None:
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        console = open_console(stderr=True)
        is_shown = console.is_terminal and console.file.isatty() and not is_quiet()
        columns = TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn()
        self._bar = Progress(
            *columns, TimeRemainingColumn(), console=console, transient=True, disable=not is_shown
        )
        self.label, self._came, self._expected = each.name, 0, n_bytes or None
        self._task = self._bar.add_task(each.name, total=self._expected)

    @contextmanager
    def shown(self) -> Iterator[_Progress]:
        """Show the progress while the block runs."""
        with self._bar, progress_lines(self._describe):
            yield self

    def report(self, n_bytes: int) -> None:
        """Count bytes that came."""
        self._came += n_bytes
        self._bar.update(self._task, completed=self._came, description=self.label)

    def _describe(self) -> str:
        of = f" of {self._expected / 1e6:,.0f}" if self._expected else ""
        left = self._bar.tasks[0].time_remaining
        about = "" if left is None else f", about {duration(left)} left"
        return f"{self.label}: {self._came / 1e6:,.0f}{of} MB{about}"

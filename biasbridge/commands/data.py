"""Real data on the command line: what there is; download, verify and add it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from biasbridge import data
from biasbridge.command_line import Command, Group, say
from biasbridge.files import InputError
from biasbridge.files.data.registry import DATA_VARIABLE, data_folder, find_sets, groups, total_size
from biasbridge.files.terminal import LOG

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from rich.console import Console

    from biasbridge.files.data.registry import DataFile, DataSet

_SHOWN = 8  # files of a set that info lists
_VERIFIED = ("verified", "no digest known")


def listing() -> pd.DataFrame:
    """List data sets, corpora, vectors and models, their licences, and what is downloaded."""
    return data.table()


def _show_list(table: pd.DataFrame, console: Console) -> None:
    from biasbridge.files.writers import TextTable, print_text_table

    rows = []
    for row in table.to_dict("records"):
        here = "yes" if row["here"] else row["part"] or ("" if row["download"] else "add")
        size = "" if row["megabytes"] != row["megabytes"] else f"{row['megabytes']:,.1f}"
        rows.append([row["name"], row["what"], row["licence"][:40], here, size])
    names = ["name", "what", "licence", "here"]
    print_text_table(TextTable("", [*names, "MB"], rows, names), console, ruled=False)
    say(console, f"groups: {', '.join(groups())}; and the name of any experiment")
    say(console, f"folder: {data_folder()} ({DATA_VARIABLE} names another)")


def info(names: Sequence[str] = ()) -> list[DataSet]:
    """Show licence, citation and files of data.

    Parameters
    ----------
    names : sequence of str
        Names of data sets, corpora, vectors and models.
    """
    _require_names("info", names)
    return [each for name in names for each in find_sets(name)]


def _show_info(sets: Sequence[DataSet], console: Console) -> None:
    for each in sets:
        part = f"{each.n_here} of {len(each.targets)} files here"
        here = "here" if data.is_here(each) else part if each.n_here else "not here"
        size = "size unknown" if each.n_bytes is None else f"{each.n_bytes / 1e6:,.1f} MB"
        lines = [
            f"licence: {each.licence} ({each.licence_source})",
            f"cite: {each.citation}",
            *filter(None, (each.note, each.ask)),
            *data.describe_sources(each),
        ]
        if not each.recipe:
            files = each.files[:_SHOWN]
            lines += [f"{file.target}  {_address(file, '')}" for file in files]
        if len(each.files) > _SHOWN:
            shown = 0 if each.recipe else _SHOWN
            lines.append(f"{len(each.files) - shown} {'files' if each.recipe else 'more files'}")
        say(console, f"{each.name}: {each.what} ({each.kind}, {size}, {here})")
        for line in lines:
            say(console, f"  {line}")


def _address(file: DataFile, otherwise: str) -> str:
    return file.addresses[0] if file.addresses else otherwise


def get(names: Sequence[str] = (), *, dry_run: bool = False) -> list[Path] | list[DataFile]:
    """Download data by name, or all that an experiment reads.

    Parameters
    ----------
    names : sequence of str
        Names of data, experiments, or overrides of an experiment such as data=en_tweets.
    dry_run : bool
        Only list what would be downloaded.
    """
    _require_names("get", names)
    if dry_run or data.is_offline():
        missing = data.missing_files(data.find_needs(*names))
        if dry_run:
            return missing
        for line in _describe_missing(missing):
            print(line)
    return data.get(*names)


def _describe_missing(missing: Sequence[DataFile]) -> list[str]:
    checks = (" ".join(f"{name}:{value}" for name, value in x.checks.items()) for x in missing)
    return [
        f"{_address(file, '-')}  {file.target}  {check}"
        for file, check in zip(missing, checks, strict=True)
    ]


def _show_files(
    found: Sequence[Path] | Sequence[DataFile], console: Console, *, dry_run: bool = False
) -> int:
    if not dry_run:
        paths: Sequence[Path] = found  # type: ignore[assignment]
        for path in dict.fromkeys(path.parent if len(paths) > _SHOWN else path for path in paths):
            say(console, path)
        return 0
    missing: Sequence[DataFile] = found  # type: ignore[assignment]
    for line in _describe_missing(missing):
        say(console, line)
    public = [file for file in missing if not file.by_user]
    n_others = len(missing) - len(public)
    by_hand = f"; {n_others} to be added by hand" if n_others else ""
    size = f"{total_size(public) / 1e6:,.1f} MB{by_hand}"
    say(console, f"{len(public)} files to download, {size}")
    return int(bool(missing))


def verify(names: Sequence[str] = ()) -> pd.DataFrame:
    """Compare downloaded files with the checksums of the registry.

    Parameters
    ----------
    names : sequence of str
        Names of data sets, corpora, vectors and models (default: all that are downloaded).
    """
    return data.verify(*names)


def _show_states(states: pd.DataFrame, console: Console, *, names: Sequence[str] = ()) -> int:
    is_missing = states["state"] == "missing"
    for name in states["name"].unique() if not names else ():
        rows = states[states["name"] == name]
        n_here = int((rows["state"] != "missing").sum())
        if n_here < len(rows):
            say(console, f"{name}: {n_here} of {len(rows)} files are here")
    states = states[~is_missing] if not names else states
    wrong = states[~states["state"].isin(_VERIFIED)]
    for row in wrong.to_dict("records"):
        say(console, f"{row['name']}: {row['target']}: {row['state']}")
    say(console, f"{len(states) - len(wrong)} of {len(states)} files verified")
    return int(len(wrong) > 0 or states.empty)


def add(names: Sequence[str] = ()) -> list[Path]:
    """Add your own copy of data that cannot be downloaded.

    Parameters
    ----------
    names : sequence of str
        Name of a data set, a corpus or vectors, then your files, under any name, or folders.
    """
    _require_names("add", names)
    name, *files = names
    paths = data.add(name, *files)
    for each in find_sets(name):
        LOG.warning("%s: %d of %d files are here", each.name, each.n_here, len(each.targets))
    return paths


def _require_names(action: str, names: Sequence[str]) -> None:
    if not names:
        raise InputError(f"biasbridge data {action} needs names; biasbridge data lists them")


def _command(function: Callable[..., object], show: Callable[..., int | None]) -> Command:
    names = "NAME*" if function is not add else "NAME_OR_FILE*"
    return Command(function, show, arguments=["names"], spelling=f"names {names}")


main = Group(
    "data",
    {
        "list": Command(listing, _show_list),
        "info": _command(info, _show_info),
        "get": _command(get, _show_files),
        "verify": _command(verify, _show_states),
        "add": _command(add, _show_files),
    },
    default="list",
    epilog="Environment variables: BIASBRIDGE_DATA (folder of the data), BIASBRIDGE_MIRROR (address"
    " that is asked first), BIASBRIDGE_OFFLINE=1 (no downloads)",
)

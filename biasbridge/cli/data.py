"""``biasbridge data``: what real data there is; download, verify and add it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from biasbridge import data
from biasbridge.files import InputError
from biasbridge.files.data.registry import DATA_VARIABLE, data_folder, find_sets, groups, total_size
from biasbridge.files.terminal import LOG, Parser, open_console, print_columns

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

SHOWN = 8  # files of a set that info lists
VERIFIED = ("verified", "no digest known")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the action; return 0 only if all that was asked for is here and verified."""
    args = _parser().parse_intermixed_args(arguments)
    console = open_console(soft_wrap=True)
    if args.action != "list" and not args.names and args.action != "verify":
        raise InputError(f"biasbridge data {args.action} takes names; biasbridge data lists them")
    if args.action == "list":
        _print_table(data.table(), console)
        console.print(f"groups: {', '.join(groups())}; and the name of any experiment")
        console.print(f"folder: {data_folder()} ({DATA_VARIABLE} names another)")
    elif args.action == "info":
        for name in args.names:
            _print_info(name, console)
    elif args.action == "verify":
        states = data.verify(*args.names)
        is_missing = states["state"] == "missing"
        for name in states["name"].unique() if not args.names else ():
            rows = states[states["name"] == name]
            n_here = int((rows["state"] != "missing").sum())
            if n_here < len(rows):
                console.print(f"{name}: {n_here} of {len(rows)} files are here")
        states = states[~is_missing] if not args.names else states
        wrong = states[~states["state"].isin(VERIFIED)]
        for row in wrong.to_dict("records"):
            console.print(f"{row['name']}: {row['target']}: {row['state']}")
        console.print(f"{len(states) - len(wrong)} of {len(states)} files verified")
        return int(len(wrong) > 0 or states.empty)
    elif args.action == "add":
        for path in data.add(args.names[0], *args.names[1:]):
            console.print(str(path))
        for each in find_sets(args.names[0]):
            LOG.warning("%s: %d of %d files are here", each.name, each.n_here, len(each.targets))
    else:
        return _get(args.names, args.dry_run, console)
    return 0


def _get(names: Sequence[str], dry_run: bool, console: Console) -> int:
    if dry_run or data.is_offline():
        missing = data.missing_files(data.find_needs(*names))
        for file in missing:
            checks = " ".join(f"{name}:{value}" for name, value in file.checks.items())
            console.print(
                f"{file.addresses[0] if file.addresses else '-'}  {file.target}  {checks}"
            )
        if dry_run:
            public = [file for file in missing if not file.by_user]
            by_hand = f"; {len(missing) - len(public)} to be added by hand"
            size = f"{total_size(public) / 1e6:,.1f} MB{by_hand * (public != missing)}"
            console.print(f"{len(public)} files to download, {size}")
            return int(bool(missing))
    paths = data.get(*names)
    for path in dict.fromkeys(path.parent if len(paths) > SHOWN else path for path in paths):
        console.print(str(path))
    return 0


def _print_table(table: pd.DataFrame, console: Console) -> None:
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    for name in ("name", "what", "licence", "here"):
        shown.add_column(name, overflow="fold")
    shown.add_column("MB", justify="right")
    for row in table.to_dict("records"):
        here = "yes" if row["here"] else row["part"] or ("" if row["download"] else "add")
        size = "" if row["megabytes"] != row["megabytes"] else f"{row['megabytes']:,.1f}"
        shown.add_row(row["name"], row["what"], row["licence"][:40], here, size)
    print_columns(shown, console)


def _print_info(name: str, console: Console) -> None:
    for each in find_sets(name):
        part = f"{each.n_here} of {len(each.targets)} files here"
        here = "here" if data.is_here(each) else part if each.n_here else "not here"
        size = "size unknown" if each.n_bytes is None else f"{each.n_bytes / 1e6:,.1f} MB"
        console.print(f"{each.name}: {each.what} ({each.kind}, {size}, {here})")
        console.print(f"  licence: {each.licence} ({each.licence_source})")
        console.print(f"  cite: {each.citation}")
        for text in filter(None, (each.note, each.ask)):
            console.print(f"  {text}")
        for line in data.describe_sources(each):
            console.print(f"  {line}")
        for file in () if each.recipe else each.files[:SHOWN]:
            console.print(f"  {file.target}  {file.addresses[0] if file.addresses else ''}")
        if len(each.files) > SHOWN:
            shown = 0 if each.recipe else SHOWN
            console.print(f"  {len(each.files) - shown} {'files' if each.recipe else 'more files'}")


def _parser() -> Parser:
    parser = Parser(
        prog="biasbridge data",
        description="Real data by name: data sets, corpora, vectors, models, and what an experiment"
        " reads. Without an action: list.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="environment: BIASBRIDGE_DATA (folder), BIASBRIDGE_MIRROR (asked first),"
        " BIASBRIDGE_OFFLINE=1",
    )
    actions = {
        "list": "what there is",
        "info": "licence, citation and files of names",
        "get": "download names or what an experiment reads (also its overrides: data=en_tweets)",
        "verify": "compare what is here with the registry",
        "add": "NAME FILE...: take over a copy of your own",
    }
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        choices=actions,
        help="; ".join(f"{name}: {text}" for name, text in actions.items()),
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="names; of add a name and files")
    parser.add_argument("--dry-run", action="store_true", help="list what get would download")
    return parser

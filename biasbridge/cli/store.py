"""``biasbridge store``: list the results in a store, explain one, check them, remove old ones."""

from __future__ import annotations

from collections.abc import Sequence

from biasbridge.files.terminal import Parser

DESCRIPTION = "Inspect a store of results: list, explain, export, verify or remove results."
COMMANDS = {
    "ls": "list the results with their size and time",
    "explain": "show the recipe of a result and the command that recomputes it",
    "export": "write the vectors of a result to a file",
    "gc": "remove orphaned and long unused results",
    "verify": "compare every file with its checksum",
}


def _parser() -> Parser:
    parser = Parser(prog="biasbridge store", description=DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True)
    parsers = {name: commands.add_parser(name, help=text) for name, text in COMMANDS.items()}
    for name in ("ls", "verify"):
        parsers[name].add_argument("step", nargs="?", help="only this step, such as vectors")
    for name in ("explain", "export"):
        parsers[name].add_argument("key", help="a key or the beginning of one")
    out = "its extension sets the format: .vec, .bin, .glove"
    parsers["export"].add_argument("file", help=out)
    parsers["export"].add_argument("--force", action="store_true", help="replace the file")
    parsers["gc"].add_argument(
        "--older-than",
        metavar="AGE",
        help="also results and unfinished trainings so old: 12h, 8w",
    )
    parsers["gc"].add_argument(
        "--dry-run", action="store_true", help="only list what would be removed"
    )
    for command in parsers.values():
        command.add_argument(
            "--store", default="store", metavar="DIR", help="the store's folder (default: store)"
        )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command of ``biasbridge store``; return 1 if ``verify`` finds damage."""
    args = _parser().parse_args(arguments)
    from biasbridge.files.terminal import open_console
    from biasbridge.train.engine.store_tools import (
        explain,
        export,
        find_entry,
        gc,
        ls,
        open_store,
        verify,
    )

    console, store = open_console(), open_store(args.store)
    if args.command == "explain":
        explain(store, args.key, console)
    elif args.command == "export":
        export(find_entry(store, args.key), args.file, console, force=args.force)
    elif args.command == "gc":
        gc(store, args.older_than, console, dry_run=args.dry_run)
    elif args.command == "verify":
        return verify(store, args.step, console)
    else:
        ls(store, args.step, console)
    return 0

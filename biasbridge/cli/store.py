"""``biasbridge store``: list the results in a store, explain one, check them, remove old ones."""

from __future__ import annotations

from collections.abc import Sequence

from files.options import Parser

DESCRIPTION = "Look into a store of results: list it, explain a result, check it, clean it."
COMMANDS = {
    "ls": "what is stored, how large it is and how long it took",
    "explain": "the full recipe of a result and the command that makes it again",
    "export": "write the vectors, table or text of a result to a file of your own",
    "gc": "remove orphaned work and damaged results, and results not used for long",
    "verify": "compare every file with its checksum",
}


def _parser() -> Parser:
    parser = Parser(prog="biasbridge store", description=DESCRIPTION)
    commands = parser.add_subparsers(dest="command", required=True)
    each = {name: commands.add_parser(name, help=what) for name, what in COMMANDS.items()}
    for name in ("ls", "verify"):
        each[name].add_argument("stage", nargs="?", help="one stage only, such as vectors")
    for name in ("explain", "export"):
        each[name].add_argument("key", help="a key or the beginning of one")
    out = "its ending says the format: .vec, .bin, .glove, .csv, .parquet"
    each["export"].add_argument("file", help=out)
    each["export"].add_argument("--force", action="store_true", help="replace the file")
    each["gc"].add_argument(
        "--older-than", metavar="AGE", help="also results not used for so long: 12h, 30d, 8w"
    )
    each["gc"].add_argument(
        "--dry-run", action="store_true", help="say what would be removed and remove nothing"
    )
    for command in each.values():
        command.add_argument(
            "--store", default="store", metavar="DIR", help="the store's folder (default: store)"
        )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """``biasbridge store ls``, or another of its commands; 1 where verify finds damage."""
    given = _parser().parse_args(arguments)
    from files.terminal import open_console
    from train.store.tools import explain, export, find, gc, ls, open_store, verify

    console, store = open_console(), open_store(given.store)
    if given.command == "explain":
        explain(store, given.key, console)
    elif given.command == "export":
        export(find(store, given.key), given.file, console, force=given.force)
    elif given.command == "gc":
        gc(store, given.older_than, console, dry_run=given.dry_run)
    elif given.command == "verify":
        return verify(store, given.stage, console)
    else:
        ls(store, given.stage, console)
    return 0

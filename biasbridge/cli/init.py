"""``biasbridge init``: write an experiment file for one's own data, to read, edit and run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from biasbridge.cli.options import add_data
from biasbridge.data import read_data
from files import InputError, atomic_path
from files.atomic import require_new
from files.options import Parser

DESCRIPTION = "Write an experiment file for your own data, to read, edit and run."


def main(arguments: Sequence[str] | None = None) -> int:
    """Write ``experiment/NAME.yaml`` and print the command that runs it."""
    options = Parser(prog="biasbridge init", description=DESCRIPTION)
    add_data(options)
    options.add_argument("--name", default="mine", help="of the experiment (default: mine)")
    options.add_argument("--force", action="store_true", help="replace the file that is there")
    given = options.parse_args(arguments)
    if not given.name.isidentifier():
        raise InputError(f"--name {given.name}: give letters, digits and underscores")
    data = read_data(given)
    from biasbridge.examine import examine  # takes seconds
    from biasbridge.init import MODIFIED, command, experiment

    settings = data.settings()
    if problems := examine(data, settings | MODIFIED).problems:
        raise InputError("; ".join(problems))
    path = Path("experiment") / f"{given.name}.yaml"
    path.parent.mkdir(exist_ok=True)
    require_new(path, read=data.paths.values(), force=given.force)
    with atomic_path(path) as work:
        work.write_text(experiment(data, settings, given.name), encoding="utf-8")
    print(f"wrote {path}; look at it, then: {command(given.name)}")
    return 0

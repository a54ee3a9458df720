"""``biasbridge completion bash``: a script by which a shell completes commands, their options and
what ``train`` chooses from. At each press of the key it asks ``biasbridge completion words ...``.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from biasbridge.cli.store import COMMANDS as OF_STORE
from biasbridge.commands import ALSO, COMMANDS
from files import InputError
from train.start import CONF

# For bash a word ends at =, so it is given what follows the last one
BASH = """_biasbridge() {
  local line="${COMP_LINE:0:COMP_POINT}" words typed
  read -ra words <<< "$line"
  [[ $line == *' ' ]] && words+=('')
  typed="${words[-1]}"
  mapfile -t COMPREPLY < <(biasbridge completion words "${words[@]:1}" 2>/dev/null)
  COMPREPLY=("${COMPREPLY[@]#"${typed%"${typed##*=}"}"}")
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _biasbridge biasbridge"""
ZSH = """_biasbridge() {
  local -a found
  found=(${(f)"$(biasbridge completion words "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  compadd -S '' -- $found || _files
}
compdef _biasbridge biasbridge"""
SCRIPTS = {"bash": BASH, "zsh": ZSH}


def main(arguments: Sequence[str]) -> int:
    """Print the script of a shell, or, a line each, what may stand for the last of some words."""
    if arguments[:1] == ["words"]:
        print("\n".join(complete(arguments[1:])))
    elif len(arguments) == 1 and arguments[0] in SCRIPTS:
        print(SCRIPTS[arguments[0]])
    else:
        given = " ".join(arguments) or "no shell"
        raise InputError(f"completion: {given}; give {' or '.join(SCRIPTS)}")
    return 0


def complete(words: Sequence[str]) -> list[str]:
    """What the last word may become, after those before it: ``["train", "+experiment=hate"]``."""
    *before, typed = words or [""]
    if not before:
        found: Iterator[str] = iter(COMMANDS)
    elif before[0] == "train" and not typed.startswith("-"):
        found = list_settings(typed)
    else:
        found = list_options(ALSO.get(before[0], before[0]), before[1:])
    return [each for each in found if each.startswith(typed)]


def list_settings(typed: str) -> Iterator[str]:
    """``KEY=`` of each group of the configuration, or ``KEY=CHOICE`` once the key is there."""
    key, equals, _ = typed.partition("=")
    groups = [path.relative_to(CONF) for path in sorted(CONF.rglob("*")) if path.is_dir()]
    for group in groups if not equals else [Path(key.lstrip("+"))]:
        plus = "+" if str(group) in ("experiment", "sweep") else ""
        folders = (CONF / group, group) if plus else (CONF / group,)  # one's own lie here
        choices = sorted({path.stem for folder in folders for path in folder.glob("*.yaml")})
        if equals:
            yield from (f"{key}={choice}" for choice in choices)
        elif choices:
            yield f"{plus}{group.as_posix()}="


def list_options(command: str, after: Sequence[str]) -> Iterator[str]:
    """The options that the help of a command names; of ``store`` its own commands first."""
    if command not in COMMANDS:
        return
    if command == "store" and not after:
        yield from OF_STORE
    printed = io.StringIO()
    asked = [*after[:1], "--help"] if command == "store" else ["--help"]
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        importlib.import_module(f"biasbridge.cli.{command}").main(asked)
    yield from re.findall(r"^  (?:-\w+, )?(--[\w-]+)", printed.getvalue(), re.MULTILINE)

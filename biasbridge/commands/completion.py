"""``biasbridge completion bash``: shell completion of commands, options and choices of ``train``.

The script calls ``biasbridge completion words ...`` for each completion.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from biasbridge.commands import COMMANDS
from biasbridge.files import InputError
from biasbridge.train.cli.choices import choice_groups, choices
from biasbridge.train.cli.start import CONFIG_DIR, OPTIONS

# bash splits words at =, so it receives only what follows the last =
_BASH = """_biasbridge() {
  local line="${COMP_LINE:0:COMP_POINT}" words typed
  read -ra words <<< "$line"
  [[ $line == *' ' ]] && words+=('')
  typed="${words[-1]}"
  mapfile -t COMPREPLY < <(biasbridge completion words "${words[@]:1}" 2>/dev/null)
  COMPREPLY=("${COMPREPLY[@]#"${typed%"${typed##*=}"}"}")
  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -F _biasbridge biasbridge"""
_ZSH = """_biasbridge() {
  local -a found
  found=(${(f)"$(biasbridge completion words "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  compadd -S '' -- $found || _files
}
compdef _biasbridge biasbridge"""
_APPENDED = ("experiment", "sweep")  # groups that need + on the command line
_SCRIPTS = {"bash": _BASH, "zsh": _ZSH}


def main(arguments: Sequence[str]) -> int:
    """Print the script of a shell, or the completions of the last word, one per line."""
    if arguments[:1] == ["words"]:
        print("\n".join(complete(arguments[1:])))
    elif len(arguments) == 1 and arguments[0] in _SCRIPTS:
        print(_SCRIPTS[arguments[0]])
    else:
        unknown = " ".join(arguments) or "no shell"
        raise InputError(f"completion: {unknown}; give {' or '.join(_SCRIPTS)}")
    return 0


def complete(words: Sequence[str]) -> list[str]:
    """Return the completions of the last word, such as ``["train", "+experiment=hate"]``."""
    *before, typed = words or [""]
    if not before:
        candidates: Iterator[str] = iter(COMMANDS)
    elif before[0] == "train" and not typed.startswith("-"):
        options = pairwise(before)
        folders = [value for name, value in options if name in CONFIG_DIR]
        candidates = _list_settings(typed, folders)
    else:
        candidates = _list_options(before[0], before[1:])
    return [candidate for candidate in candidates if candidate.startswith(typed)]


def _list_settings(typed: str, folders: Sequence[str] = ()) -> Iterator[str]:
    """Yield ``KEY=`` for each group of the configuration, or ``KEY=CHOICE`` for a complete key.

    ``folders``: those of ``--config-dir``, else an experiment is also sought in this folder.
    """
    key, equals, _ = typed.partition("=")
    group = key.removeprefix("+")
    if equals:
        places = folders or (["."] if group in _APPENDED else [])
        yield from (f"{key}={choice}" for choice in choices(group, places))
    else:
        yield from (f"{'+' if group in _APPENDED else ''}{group}=" for group in choice_groups())


def _list_options(command: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the options of a command; of a group its commands first."""
    if command in COMMANDS.keys() - {"train", "completion"}:
        yield from importlib.import_module(f"biasbridge.commands.{command}").main.options(arguments)
    elif command == "train":
        yield from re.findall(r"--[\w-]+", OPTIONS)

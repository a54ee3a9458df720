"""Commands, options and functions that are gone, and what to use instead: for one release."""

from __future__ import annotations

from collections.abc import Iterable

from biasbridge.files.errors import InputError

# As they were called: "biasbridge NAME", "biasbridge NAME --option", "train.py KEY=" (or
# "KEY=VALUE"), or a function of Python, "NAME()". Each with the remedy, a phrase that begins with a
# verb.
REMOVED: dict[str, str] = {
    "train.py power=": "use plan=true, which says whether a verdict is possible",
    "choose_threshold()": "give a threshold's gaps to a gate: gate(table, bounds, threshold=X)",
    "reliability()": "measure calibration by gaps(table, score=COLUMN, measures='ece')",
    "biasbridge gaps --bound": "choose from --threshold all, and give --threshold X --fail-above",
    "biasbridge gaps --cost": "choose from the table of --threshold all",
    "biasbridge gaps --thresholds": "give --threshold all",
    "biasbridge gaps --at": "give --threshold share, or --threshold X,share",
    "biasbridge gaps --depth": "name single columns by --group, and repeat --cross",
    "biasbridge gaps --groups": "name the groups by --unprivileged",
    "biasbridge gaps --compare": "give --privileged, which may be none: the items in no group",
    "biasbridge gaps --missing": "write a group into the empty cells",
    "biasbridge gaps --items": "name the items in the file of --names, by the column of labels",
    "biasbridge gaps --unquoted": "leave it out: marks that are not quotes are read as text",
    "biasbridge gaps --reliability": "measure calibration by --measures ece",
    "biasbridge gaps --fail-if": "give --fail-above; status 4 says that nobody can tell",
    "biasbridge gaps --fail-on": "give two --pred and --harm, the largest harm that is allowed",
    "biasbridge gaps --tex": "give --write FILE.tex",
    "biasbridge gaps --md": "give --write FILE.md",
    "biasbridge gaps --eee": "write the rows and their metadata by --json",
    "train.py study=control": "run python docs/studies/control.py RESULTS in a clone",
    "biasbridge atlas": "run python docs/atlas/atlas.py in a clone",
    "biasbridge completion": "type the command with --help, which lists its options",
    "biasbridge store explain": "read recipe.json in the folder of the result",
    "biasbridge store export": "give a command the folder vectors of the result, as it is",
}


def refuse_removed(names: Iterable[str]) -> None:
    """Raise ``InputError`` for the first name of something that is gone, with what to use."""
    for name in names:
        if name in REMOVED:
            raise InputError(f"{name} was removed; {REMOVED[name]}")

"""The columns of a table of posts, and the pair of groups compared, guessed by name and content."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files import InputError
from biasbridge.files.tables import require_columns

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd


TEXT_NAMES = ("text", "texto", "tweet", "post", "comment", "comment_text", "sentence")
LABEL_NAMES = (
    *("label", "class", "hateful", "hate", "odio", "hs", "toxic", "etiqueta", "hd"),
    *("label_gold", "gold_label", "gold", "y_true", "target"),
)
GROUP_NAMES = (
    *("group", "grupo", "gender", "identity", "target_group", "group_gold", "gold_group"),
    "target",
)
AMBIGUOUS = "target"  # the label if it holds 0 and 1, else the group
BINARY = {"0", "1", "0.0", "1.0", "True", "False"}
# The first is privileged: the gap is positive where the second fares worse
PAIRS = (
    ("male", "female"),
    ("man", "woman"),
    ("men", "women"),
    ("m", "f"),
    ("hombre", "mujer"),
    ("hombres", "mujeres"),
    ("masculino", "femenino"),
    ("local", "migrant"),
)


def find_columns(posts: pd.DataFrame, args: Namespace, path: Path) -> dict[str, str]:
    """Return columns by role, given or guessed by name. Raise ``InputError`` for unknown ones."""
    given = {"text": args.text, "label": args.label, "group": args.group}
    require_columns(posts, filter(None, given.values()), str(path))
    columns: dict[str, str] = {}
    for role, column in given.items():
        if column in columns.values():
            other_role = next(name for name in columns if columns[name] == column)
            raise InputError(f"--{other_role} and --{role} are both {column!r}; name two columns")
        columns |= {role: column} if column else {}
    for role, guess in (("label", _guess_label), ("group", _guess_group), ("text", guess_text)):
        unused = posts[[name for name in posts if name not in columns.values()]]
        if role not in columns and (column := guess(unused)):
            columns[role] = column
        elif role not in columns and role != "group":
            names = ", ".join(map(str, posts))
            problem = f"{path}: no column is recognised as the {role} ({names})"
            raise InputError(f"{problem}; name it with --{role}")
    return {role: columns[role] for role in given if role in columns}


def _guess_label(posts: pd.DataFrame) -> str:
    """Return the label column by name, or the only one of 0 and 1; else an empty string."""
    named = _columns_named(posts, LABEL_NAMES)
    binary = [str(name) for name in posts if _is_binary(posts[name])]
    named = [name for name in named if name.lower() != AMBIGUOUS or name in binary]
    return named[0] if named else binary[0] if len(binary) == 1 else ""


def _guess_group(posts: pd.DataFrame) -> str:
    for name in _columns_named(posts, GROUP_NAMES):
        if name.lower() != AMBIGUOUS or not _is_binary(posts[name]):
            return name
    return ""


def guess_text(posts: pd.DataFrame) -> str:
    """Return the text column, else an empty string.

    In this order: by name, if its cells hold spaces, which ids do not; the only column of mostly
    distinct cells with spaces; by name alone.
    """
    with_spaces = [str(name) for name in posts if _holds_spaces(posts[name])]
    named = _columns_named(posts, TEXT_NAMES)
    distinct = [name for name in with_spaces if posts[name].nunique() > len(posts) / 2]
    candidates = [name for name in named if name in with_spaces]
    candidates += distinct if len(distinct) == 1 else []
    candidates += [] if distinct else named
    return candidates[0] if candidates else ""


def _columns_named(posts: pd.DataFrame, names: Iterable[str]) -> list[str]:
    return [str(column) for name in names for column in posts if str(column).lower() == name]


def _holds_spaces(cells: pd.Series) -> bool:
    """Test whether most cells hold a space."""
    return bool(cells.astype(str).str.strip().str.contains(r"\s").mean() > 0.5)


def _is_binary(cells: pd.Series) -> bool:
    labels = set(classes(cells))
    return len(labels) == 2 and labels <= BINARY


def classes(cells: pd.Series) -> list[str]:
    """Return the distinct labels, sorted; empty cells have none."""
    return sorted({str(cell).strip() for cell in cells.dropna()} - {""})


def guess_pair(groups: Collection[str]) -> tuple[str, str] | None:
    """Return the privileged and the unprivileged group, if their names are known."""
    by_name = {group.lower(): group for group in groups}
    pairs = ((by_name[a], by_name[b]) for a, b in PAIRS if a in by_name and b in by_name)
    return next(pairs, None)

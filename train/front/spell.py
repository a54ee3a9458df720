"""Values in Hydra's grammar of overrides, quoted where they would be read as something else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

BARE = re.compile(r"[A-Za-z_./][\w./-]*", re.ASCII)
NOT_TEXT = {"true", "false", "null", "nan", "inf"}  # what the grammar takes for no text


def format_override(key: str, value: str | float | Sequence[str]) -> str:
    """``KEY=VALUE`` such that a text is read as this text, were it ``null`` or a number."""
    if isinstance(value, float | bool):
        return f"{key}={str(value).lower()}"
    if not isinstance(value, str):
        return f"{key}=[{','.join(map(quote, value))}]"
    bare = BARE.fullmatch(value) and value.lower() not in NOT_TEXT
    return f"{key}={value if bare else quote(value)}"


def quote(text: str) -> str:
    """The text in double quotes."""
    escaped = re.sub(r'(\\*)("|$)', lambda found: found[1] * 2 + found[2].replace('"', '\\"'), text)
    return f'"{escaped}"'


def quote_value(line: str) -> str:
    """An override that could not be read, its value in quotes; of a list, each of its items."""
    key, _, value = line.partition("=")
    if value.startswith("[") and value.endswith("]"):
        return format_override(key, list(_plain(value[1:-1].split(","))))
    return f"{key}={quote(value.strip(QUOTES))}"


QUOTES = " '\""


def _plain(items: Iterable[str]) -> Iterable[str]:
    return (item.strip(QUOTES) for item in items)

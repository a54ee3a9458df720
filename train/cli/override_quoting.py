"""Values in Hydra's grammar of overrides, quoted where they would be read as something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

BARE = re.compile(r"[A-Za-z_./][\w./-]*", re.ASCII)
NOT_TEXT = {"true", "false", "null", "nan", "inf"}  # not read as text by the grammar


def format_override(key: str, value: str | float | Sequence[str]) -> str:
    """Return ``KEY=VALUE`` such that a text is read as text, even ``null`` or a number."""
    if isinstance(value, float | bool):
        return f"{key}={str(value).lower()}"
    if not isinstance(value, str):
        return f"{key}=[{','.join(map(quote, value))}]"
    bare = BARE.fullmatch(value) and value.lower() not in NOT_TEXT
    return f"{key}={value if bare else quote(value)}"


def quote(text: str) -> str:
    """Return the text in double quotes."""
    escaped = re.sub(r'(\\*)("|$)', lambda match: match[1] * 2 + match[2].replace('"', '\\"'), text)
    return f'"{escaped}"'

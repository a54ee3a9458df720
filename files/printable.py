"""Text that shows as it is: nothing in it moves a cursor, ends a line or turns what follows."""

from __future__ import annotations

import re

# Control characters, line and paragraph separators, overrides of text direction, half surrogates,
# and what is no character
CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str) -> str:
    r"""The text with control characters as escapes: ``\n``, ``\x1b``, ``\u202e``."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)

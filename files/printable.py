"""Text without characters that move the cursor, end a line or change the text direction."""

from __future__ import annotations

import re

# Control characters, line and paragraph separators, overrides of text direction, half surrogates
# and noncharacters
CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def printable(text: str) -> str:
    r"""Escape the control characters of a text: ``\n``, ``\x1b``, ``\u202e``."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)

"""Hashes of what decides a result."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path


def digest_of(value: object) -> str:
    """32 hexadecimal digits of the SHA-256 of a value as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def sha256(path: Path) -> str:
    """64 hexadecimal digits of a file's bytes."""
    with open(path, "rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()

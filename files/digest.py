"""Hashes of values and files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path


def digest_of(value: object) -> str:
    """Hash a value as JSON with sorted keys: 32 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def sha256(path: Path) -> str:
    """Hash the bytes of a file: 64 hexadecimal digits."""
    with open(path, "rb") as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()

"""Seeds for stages."""

from __future__ import annotations

import hashlib


def derive_seed(run_seed: int, stage: str) -> int:
    """A seed in [0, 2**31) from (run seed, stage name), so that adding a stage shifts the
    randomness of no other.
    """
    digest = hashlib.sha256(f"{run_seed}/{stage}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1

"""Hydra front end: from a configuration to a point or a sweep; no other package uses Hydra."""

from pathlib import Path

CONF = Path(__file__).resolve().parents[2] / "conf"

__all__ = ["CONF"]

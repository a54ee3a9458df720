"""Hydra front end: from a configuration to a point or a sweep; no other package uses Hydra."""

from train.cli.compose import CONF

__all__ = ["CONF"]

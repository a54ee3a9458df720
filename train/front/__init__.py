"""The one package that knows Hydra: configurations in, a point or a sweep out."""

from train.front.compose import CONF

__all__ = ["CONF"]

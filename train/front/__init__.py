"""The front door's hinge, the one package that knows Hydra: configurations in, a point or a sweep
out.
"""

from train.front.compose import CONF
from train.front.door import main

__all__ = ["CONF", "main"]

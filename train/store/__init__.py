"""Every stage's result under a hash of everything that decides it; ``python -m train.store`` looks
into one.
"""

from train.store.entry import DamagedError
from train.store.stage import Stage
from train.store.store import Store, StoreError

__all__ = ["DamagedError", "Stage", "Store", "StoreError"]

"""Every stage's result under a hash of everything that decides it; ``biasbridge store`` looks
into one.
"""

from files.loaded import watch_loads
from train.store.entry import DamagedError
from train.store.stage import Stage
from train.store.store import Store, StoreError

watch_loads()  # before the modules load that a stage runs

__all__ = ["DamagedError", "Stage", "Store", "StoreError"]

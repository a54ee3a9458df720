"""Store of step results by a hash of everything that decides them (see ``biasbridge store``)."""

from train.engine.provenance.loaded import watch_loads
from train.engine.store.disk_errors import StoreError
from train.engine.store.entry import DamagedError
from train.engine.store.step import Step
from train.engine.store.store import Store

watch_loads()  # before the modules that a step runs are loaded

__all__ = ["DamagedError", "Step", "Store", "StoreError"]

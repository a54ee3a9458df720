"""Store of step results by a hash of everything that decides them (see ``biasbridge store``)."""

from train.engine.store.entry import DamagedError
from train.engine.store.locks import StoreError
from train.engine.store.step import Step
from train.engine.store.store import Store

__all__ = ["DamagedError", "Step", "Store", "StoreError"]

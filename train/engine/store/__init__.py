"""Store of step results by a hash of everything that decides them (see ``biasbridge store``)."""

from biasbridge.train.engine.store.entry import DamagedError
from biasbridge.train.engine.store.locks import StoreError
from biasbridge.train.engine.store.step import Step
from biasbridge.train.engine.store.store import Store

__all__ = ["DamagedError", "Step", "Store", "StoreError"]

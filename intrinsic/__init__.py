"""Bias metrics on word vectors, and their word sets. Importing the package loads no metric."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

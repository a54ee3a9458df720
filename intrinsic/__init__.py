"""Bias metrics on word vectors, and their word sets. Importing the package loads no metric."""

import lazy_loader

from biasbridge.shadowed_packages import refuse_hidden

refuse_hidden("files")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Bias metrics on word vectors, and the word sets they ask about. Light: importing the package
loads no metric.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Input text: corpora, labelled posts, and synthetic worlds with planted bias."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

"""Methods that lower or raise bias, by changing text, vectors, hidden states or labels."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

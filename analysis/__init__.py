"""Tables in; correlations and figures out. Independent of vectors and models: tables may come from
elsewhere.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

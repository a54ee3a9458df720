"""Does the bias measured on word embeddings predict the bias of the applications built on them?

    from biasbridge import audit, query, gaps, correlate, debias

Importing the package loads none of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

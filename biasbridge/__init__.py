"""Does the bias measured on a representation predict the bias of the applications built on it?

    from biasbridge import audit, certify, query, gaps, gate, correlate, debias, plot, read_results

Importing the package loads none of them.
"""

from importlib import metadata

import lazy_loader

from biasbridge.shadowed_packages import NEEDED, refuse_hidden

refuse_hidden("files")
__version__ = metadata.version("biasbridge")
_loaded, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    refuse_hidden(*NEEDED.get(name, ()))
    return _loaded(name)

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
    value = _loaded(name)
    if callable(value):
        from biasbridge.extras import named_extra

        value = named_extra(f"biasbridge.{name}")(value)
        value.__module__ = __name__  # where a pickle by name looks for it
        globals()[name] = value
    return value

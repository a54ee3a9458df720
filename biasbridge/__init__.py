"""Does the bias measured on a representation predict the bias of the applications built on it?

    from biasbridge import audit, debias, gaps, gate, correlate, certify, study, plot, read_results

``docs/reference.md`` lists all names. Importing the package loads none of them.
"""

import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import ModuleType

import lazy_loader

__version__ = "0.1.0"
_folder = Path(__file__).parent
if not (_folder / "files").is_dir():
    __path__.append(str(_folder.parent))  # a checkout has the rooms beside this folder
_loaded, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    try:
        value = _loaded(name)
    except AttributeError:
        from biasbridge.files.removed import refuse_removed

        refuse_removed([f"{name}()"])
        raise
    if callable(value):
        from biasbridge.files.extras import named_extra

        value = _displayed(named_extra(f"biasbridge.{name}")(value))
        value.__module__ = __name__  # where a pickle by name looks for it
        globals()[name] = value
    return value


def _displayed(function: Callable[..., object]) -> Callable[..., object]:
    """Have a function refuse unknown options, and notebooks show the main columns and the notes of
    the tables that it returns.
    """
    from inspect import signature

    from biasbridge.files.errors import require_known

    parameters = signature(function).parameters

    @wraps(function)
    def displayed(*args: object, **kwargs: object) -> object:
        if "options" not in parameters:
            require_known(kwargs, parameters, f"{function.__name__}()")
        result = function(*args, **kwargs)
        if type(result).__name__ != "DataFrame":
            return result
        from biasbridge.result_table import as_result

        return as_result(result, function.__name__)  # type: ignore[arg-type]

    return displayed


class _Front(ModuleType):
    """A package whose function ``debias`` stays in its place when its room ``debias`` is loaded."""

    def __setattr__(self, name: str, value: object) -> None:
        if name != "debias" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Front

"""Does the bias measured on a representation predict the bias of the applications built on it?

    from biasbridge import audit, debias, gaps, gate, correlate, certify, study, plot, read_results

``docs/reference.md`` lists all names. Importing the package loads none of them.
"""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path

import lazy_loader

__version__ = "0.1.0"
_folder = Path(__file__).parent
if not (_folder / "files").is_dir():
    __path__.append(str(_folder.parent))  # without links, as on Windows, the rooms are beside it
_loaded, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
import_module("biasbridge.debias")  # A room becomes an attribute when it is loaded, once:
del globals()["debias"]  # from here on the name is free for the function


def __getattr__(name: str) -> object:
    from biasbridge.files.deprecations import check_names

    try:
        check_names([f"{name}()"])
    except ValueError as removal:
        raise AttributeError(str(removal)) from None
    value = _loaded(name)
    if callable(value):
        from biasbridge.files.extras import named_extra

        value = _displayed(named_extra(f"biasbridge.{name}")(value))
        value.__module__ = __name__  # where a pickle by name looks for it
        globals()[name] = value
    return value


def _displayed(function: Callable[..., object]) -> Callable[..., object]:
    """Have a function take ``metric=`` for ``metrics=`` and refuse unknown options, and notebooks
    show the main columns and the notes of the tables that it returns.
    """
    from inspect import signature

    from biasbridge.files.deprecations import check_names
    from biasbridge.files.errors import require_known

    parameters = signature(function).parameters

    @wraps(function)
    def displayed(*args: object, **kwargs: object) -> object:
        check_names(f"{function.__name__}({name})" for name in kwargs)
        if "options" not in parameters:
            for name in [name for name in kwargs if name not in parameters]:
                if f"{name}s" in parameters and f"{name}s" not in kwargs:  # as commands spell it
                    kwargs[f"{name}s"] = kwargs.pop(name)
            require_known(kwargs, parameters, f"{function.__name__}()")
        result = function(*args, **kwargs)
        if type(result).__name__ != "DataFrame":
            return result
        from biasbridge.result_table import as_result

        return as_result(result, function.__name__)  # type: ignore[arg-type]

    return displayed

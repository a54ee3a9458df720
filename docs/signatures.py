"""Show functions with the fields of the dataclass that they take: an extension of mkdocstrings."""

from __future__ import annotations

import inspect
from importlib import import_module

from griffe import Extension, Function, Parameter, ParameterKind, Parameters


class Signatures(Extension):
    """Give a function with the decorator ``takes`` the parameters that its source lacks."""

    def on_function(self, *, func: Function, **_: object) -> None:
        """Replace the parameters."""
        if any(str(decorator.value).startswith("takes(") for decorator in func.decorators):
            func.parameters = Parameters()
            function = getattr(import_module(func.module.path), func.name)
            for name, given in inspect.signature(function).parameters.items():
                default = None if given.default is given.empty else repr(given.default)
                kind = ParameterKind(given.kind.description)
                func.parameters.add(Parameter(name, kind=kind, default=default))

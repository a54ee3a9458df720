"""Versions of the libraries that the code imports."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata

# Libraries that check, print and lock, and compute nothing
PLUMBING = frozenset({"annotated_types", "lazy_loader", "pydantic", "rich"})
# Distributions whose name differs from their module's; searching for others is slow
DISTRIBUTIONS = {"sklearn": "scikit-learn", "yaml": "PyYAML"}
# Libraries that compute for an imported library
DEPENDENCIES = {
    **dict.fromkeys(("gensim", "sklearn"), ("numpy", "scipy")),
    "nltk": ("regex",),
    "transformers": ("safetensors", "tokenizers"),
}


@cache
def library_versions(module: str) -> Mapping[str, str]:
    """Return the versions of a library's distributions by name."""
    name = DISTRIBUTIONS.get(module, module)
    try:
        return {name: metadata.version(name)}
    except (metadata.PackageNotFoundError, ValueError):
        names = _distributions().get(module, ())
        return {name: metadata.version(name) for name in names}


@cache
def _distributions() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


def versions_of(modules: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of the libraries that modules belong to or depend on."""
    versions = {"Python": platform.python_version()}
    dependencies = {name for module in modules for name in DEPENDENCIES.get(module, ())}
    for module in sorted({*modules, *dependencies} - PLUMBING - sys.stdlib_module_names):
        versions |= library_versions(module)
    return versions

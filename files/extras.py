"""Packages of the extras, and the error where one that is needed is not installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module

from biasbridge.files.errors import InputError

# By extra: modules, with the distribution that brings each; ``study`` includes the first two
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "plots": {"altair": "altair", "vl_convert": "vl-convert-python"},
    "parquet": {"pyarrow": "pyarrow"},
    "excel": {"openpyxl": "openpyxl", "python_calamine": "python-calamine"},
    "study": {
        "datasets": "datasets",
        "gensim": "gensim",
        "huggingface_hub": "transformers",
        "hydra": "hydra-core",
        "joblib": "joblib",
        "nltk": "nltk",
        "regex": "regex",
        "omegaconf": "hydra-core",
        "safetensors": "safetensors",
        "sklearn": "scikit-learn",
        "tokenizers": "transformers",
        "torch": "torch",
        "transformers": "transformers",
    },
}


@contextmanager
def named_extra(user: str) -> Iterator[None]:
    """Raise ``InputError`` with the remedy where a package of an extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        for extra, packages in EXTRAS.items():
            if package := packages.get(error.name or ""):
                raise InputError(f"{user} needs {package}: {_remedy(extra)}") from error
        raise


def describe_missing_charts() -> str:
    """Return a note that charts are left out, with the remedy; empty where they can be drawn."""
    try:
        for module in EXTRAS["plots"]:
            import_module(module)
    except ModuleNotFoundError as error:
        return f"charts need {error.name}: {_remedy('plots')}"
    return ""


def _remedy(extra: str) -> str:
    return f"run pip install '.[{extra}]' in the clone of biasbridge"

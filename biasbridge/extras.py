"""Packages that only studies, vectors and language models need, and the error where they lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from biasbridge.files import InputError

# The extra study: modules, with the distribution that brings each
STUDY: Mapping[str, str] = {
    "datasets": "datasets",
    "gensim": "gensim",
    "huggingface_hub": "transformers",
    "hydra": "hydra-core",
    "joblib": "joblib",
    "nltk": "nltk",
    "omegaconf": "hydra-core",
    "safetensors": "safetensors",
    "sklearn": "scikit-learn",
    "tokenizers": "transformers",
    "torch": "torch",
    "transformers": "transformers",
}


@contextmanager
def named_extra(user: str) -> Iterator[None]:
    """Raise ``InputError`` with the remedy where a package of the extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (package := STUDY.get(error.name or "")) is None:
            raise
        remedy = "run pip install '.[study]' in the clone of biasbridge"
        raise InputError(f"{user} needs {package}: {remedy}") from error

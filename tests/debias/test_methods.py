"""Every debiasing method by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from debias.methods import METHODS, MODEL_KINDS, VECTOR_KINDS, make_method
from files import InputError

CONF = Path(__file__).resolve().parents[2] / "conf" / "debias"
EVERY = {
    name: (changes, path) for changes, methods in METHODS.items() for name, path in methods.items()
}


@pytest.mark.parametrize("name", EVERY)
def test_a_name_is_that_of_the_class_and_of_its_configuration(name: str) -> None:
    changes, path = EVERY[name]
    made = make_method(name, [changes])
    assert (made.name, made.acts_on) == (name, changes)
    written = yaml.safe_load((CONF / f"{name}.yaml").read_text(encoding="utf-8"))
    assert written["_target_"] == path == f"{type(made).__module__}.{type(made).__name__}"


@pytest.mark.parametrize(
    ("name", "acts_on", "fields", "message"),
    [
        ("leac", VECTOR_KINDS, {}, "unknown method 'leac'; did you mean 'leace'"),
        (
            "balance",
            VECTOR_KINDS,
            {},
            "balance acts on text; methods on word vectors: attract_",
        ),
        ("steering", VECTOR_KINDS, {}, "acts on a causal language model; methods on word vectors:"),
        (
            "attract_repel",
            MODEL_KINDS,
            {},
            "word vectors; methods on a language model: inlp",
        ),
        ("inlp", VECTOR_KINDS, {"round": 4}, "inlp has no round; did you mean 'rounds'"),
        ("inlp", VECTOR_KINDS, {"rounds": 0}, "rounds=0: give a whole number of at least 1"),
        ("leace", VECTOR_KINDS, {"dose": 1.5}, "dose=1.5: give a number from -1 to 1"),
        (
            "leace",
            VECTOR_KINDS,
            {"direction": "overbias"},
            "no direction; a negative dose overbias",
        ),
        ("attract_repel", VECTOR_KINDS, {"dose": -0.5}, "dose=-0.5: give a number from 0 to 1"),
    ],
)
def test_what_does_not_fit_is_refused(
    name: str, acts_on: tuple[str, ...], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        make_method(name, acts_on, **fields)

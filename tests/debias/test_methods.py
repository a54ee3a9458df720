"""Every debiasing method by name."""

from __future__ import annotations

from typing import Any

import pytest

from biasbridge.debias.methods import METHODS, MODEL_KINDS, VECTOR_KINDS, make_method
from biasbridge.files import InputError
from biasbridge.files.choice_classes import PROJECT, find_choice
from biasbridge.train.cli.class_configs import configuration

EVERY = {name: (changes, cls) for changes, each in METHODS.items() for name, cls in each.items()}


@pytest.mark.parametrize("name", EVERY)
def test_a_name_is_that_of_the_class_and_of_its_configuration(name: str) -> None:
    changes, cls = EVERY[name]
    made = make_method(name, [changes])
    assert (made.name, made.acts_on, type(made)) == (name, changes, cls)
    found = find_choice([PROJECT], "debias", name)
    assert found
    assert configuration(found)["_target_"] == f"{cls.__module__}.{cls.__name__}"


def test_every_kind_has_its_methods() -> None:
    assert {kind: len(methods) for kind, methods in METHODS.items()} == {
        "vectors": 4,
        "states": 7,
        "model": 1,
        "text": 2,
    }


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
            "word vectors; methods on a language model: bam",
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

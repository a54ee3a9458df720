"""Debiasing and overbiasing of existing vectors and language models."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biasbridge.before_after import compare_vectors
from biasbridge.files import InputError
from biasbridge.files.choice import Whole, check_arguments
from biasbridge.files.language import UNDETERMINED
from biasbridge.inputs import (
    OpenedModel,
    Vectors,
    Words,
    as_vectors,
    built_in,
    is_model,
    query,
    word_file,
)
from biasbridge.own_classes import use_folder

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from biasbridge.debias.attract_repel import AttractRepel
    from biasbridge.debias.base import Direction, Pair, VectorsMethod
    from biasbridge.debias.until import Goal
    from biasbridge.files.eraser import Eraser
    from biasbridge.files.models.encoder import Pooling
    from biasbridge.files.models.language_model import AnyModel
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.words import Query


@dataclass(frozen=True)
class ModifiedVectors:
    """Modified vectors, the method with the dose used, and its eraser, if any."""

    method: VectorsMethod
    vectors: KeyedVectors
    eraser: Eraser | None


@check_arguments(seed=Whole, layer=int)
def debias(
    vectors: Vectors | OpenedModel,
    words: Words = "gender_union",
    *,
    method: str = "attract_repel",
    direction: Direction | None = None,
    dose: float | None = None,
    until: str | float | None = None,
    case: str = "exact",
    seed: int = 0,
    trusted: bool = False,
    items: str | PathLike[str] | None = None,
    layer: int = -1,
    pooling: Pooling = "mean",
    out: str | PathLike[str] | None = None,
    config_dir: str | PathLike[str] | None = None,
    **options: object,
) -> Any:
    """Debias or overbias a copy of word vectors or of a language model.

    Parameters
    ----------
    vectors
        Word vectors or a language model, see :func:`audit`; left unchanged.
    words
        See :func:`query`; by default words of gender.
    method
        ``"attract_repel"`` (vectors), ``"hard"``, ``"leace"``, ...: ``biasbridge.debias.methods``
        lists all.
    direction
        Of ``attract_repel``: ``"debias"`` (default) or ``"overbias"``.
    dose
        From -1 (overbias) over 0 (unmodified) to 1 (default); of ``attract_repel`` from 0 to 1.
    until
        Instead of a dose, the target of a score: a number for WEAT of ``words``, or
        ``"weat6b=0"``, ``"ect:names_professions=1"``, for a language model ``"seat:seat6b=0"``.
    case
        Of vectors: ``"lower"`` also looks up words in lower case, as in :func:`audit`. Methods find
        the words that they move in either case.
    seed, trusted, layer, pooling
        See :func:`audit`.
    items
        For a language model: sentences of two groups instead of words, a file or a name
        (``"bec_pro"``).
    out
        For a language model: a new folder for the copy with its eraser.
    config_dir
        Folder with a module of your own method.
    **options
        Further fields of the method, such as ``rounds=4`` of ``inlp``.

    Returns
    -------
    KeyedVectors or LanguageModel
        Vectors have ``attrs``: ``method``, ``direction``, ``dose``, of an eraser ``norm`` and
        ``rank``, and ``scores``, a table of WEAT of the words (and the score of ``until``)
        ``before`` and ``after``; and ``notes``. A language model passes its hidden states through
        its ``eraser``.

    Raises
    ------
    InputError
        No word in the vocabulary, or a method or option that does not apply.

    Examples
    --------
    >>> vectors = {"he": [5, 0, 1], "she": [0, 5, 1], "doctor": [4, 1, 2], "judge": [3, 2, 1]}
    >>> vectors |= {"nurse": [1, 4, 2], "maid": [2, 2, 3]}
    >>> words = {"X": ["doctor", "judge"], "Y": ["nurse", "maid"], "A": ["he"], "B": ["she"]}
    >>> scores = debias(vectors, words, method="attract_repel").attrs["scores"]
    >>> print(bool(scores["after"].item() < scores["before"].item()))
    True
    """
    from biasbridge.debias.methods import MODEL_KINDS, VECTOR_KINDS, make_method
    from biasbridge.debias.until import Goal
    from biasbridge.intrinsic.lookup import CASES

    use_folder(config_dir)
    if case not in CASES:
        raise InputError(f"case={case!r}: give one of {', '.join(CASES)}")
    if until is not None and dose is not None:
        raise InputError(f"until={until!r} finds the dose; leave out dose={dose}")
    word_query = query(words)
    fields = {"dose": dose, "direction": direction, **options}
    if is_model(vectors):
        from biasbridge.model_debiasing import ModelErasure, model_goal, read_items

        erasing_method = make_method(method, MODEL_KINDS, items=read_items(items), **fields)
        model = fspath(vectors) if isinstance(vectors, PathLike) else cast("AnyModel", vectors)
        encoding: Any = {"layer": layer, "pooling": pooling}
        erasure = ModelErasure.fit(model, erasing_method, word_query, **encoding, seed=seed)
        if until is not None:
            erasure = erasure.until(model_goal(str(until)))
        if out is not None:
            erasure.write(Path(out))
        return erasure.model()
    model_options = {"items": items, "out": out, "layer": layer + 1, "pooling": pooling != "mean"}
    if unused := [name for name, value in model_options.items() if value]:
        raise InputError(f"{unused[0]} applies to language models; leave it out for vectors")
    vector_method = make_method(method, VECTOR_KINDS, **fields)
    original = as_vectors(cast("Vectors", vectors), trusted=trusted)
    with word_file(None if built_in(words) else words) as file:
        name = word_query.name
        goal = None if until is None else Goal.read(str(until), file, name, case=case)
        goals = [*usual_goals(name, file, case), *([goal] if goal else [])]
    modified = move(
        vector_method,
        original,
        word_query.lowered(original.key_to_index) if case == "lower" else word_query,
        goal=goal,
        direction=direction,
        seed=seed,
    )
    scores = compare_vectors([goal.metric for goal in goals], original, modified.vectors)
    modified.vectors.attrs = {
        "method": modified.method.name,
        "direction": getattr(modified.method, "direction", ""),
        "dose": getattr(modified.method, "dose", 1.0),
        **eraser_facts(modified.eraser),
        "scores": scores.drop(columns="part"),
        "notes": vector_notes("vectors", original, modified.method),
    }
    return modified.vectors


def vector_notes(name: str, vectors: KeyedVectors, method: VectorsMethod) -> list[str]:
    """Return what was odd in vectors, and whether the method may take their order for frequency."""
    from biasbridge.files.vectors import reading_notes
    from biasbridge.intrinsic.audit import doubt_order

    by_order = ["double_hard"] if method.name == "double_hard" else []
    return [*reading_notes(vectors), *doubt_order(name, vectors, by_order)]


def usual_goals(query: str, words: str | None, case: str) -> list[Goal[Metric]]:
    """Return WEAT of the query if it has the roles for it."""
    from biasbridge.debias.until import Goal

    with suppress(InputError):
        return [Goal.of("weat", query, 0, words, case=case)]
    return []


def move(
    method: VectorsMethod,
    vectors: KeyedVectors,
    query: Query,
    *,
    goal: Goal[Metric] | None,
    direction: Direction | None,
    seed: int,
) -> ModifiedVectors:
    """Modify vectors by the method's dose, or by the dose that reaches the goal."""
    from biasbridge.debias.base import require_sound, signed_dose
    from biasbridge.debias.until import find_method
    from biasbridge.debias.words import require_roles

    require_roles(query, method.roles)
    if goal:
        method, axis = find_method(method, vectors, query, goal, direction, seed=seed)
    else:
        axis = method.dose_axis(vectors, query, seed=seed)
    changed = axis.at(dose := signed_dose(method))
    if dose:
        require_sound(method, vectors, changed)
    return ModifiedVectors(method, changed, axis.eraser)


def move_pairs(
    method: AttractRepel,
    vectors: KeyedVectors,
    attract: Sequence[Pair],
    repel: Sequence[Pair],
    *,
    goal: Goal[Metric] | None,
    seed: int,
) -> ModifiedVectors:
    """Modify vectors by your own pairs, which have no opposite direction."""
    from biasbridge.debias.until import find_dose

    axis = method.pairs_dose_axis(vectors, attract, repel, seed=seed)
    if goal:
        method = method.with_dose(find_dose(axis, vectors, goal, (1,)))
    return ModifiedVectors(method, axis.at(method.dose), None)


def eraser_facts(eraser: Eraser | None) -> dict[str, Any]:
    """Return the operator norm and the rank of an eraser."""
    return {"norm": eraser.norm, "rank": eraser.rank} if eraser else {}


def language_of_words(query: Query) -> str:
    """Return the language of the query; English if it is not stated."""
    return "en" if query.language == UNDETERMINED else query.language

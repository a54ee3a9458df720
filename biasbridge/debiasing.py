"""Every intervention on vectors and on models that exist: for the command, and in Python."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biasbridge.before_after import compare_vectors
from biasbridge.given import (
    Opened,
    Vectors,
    Words,
    as_vectors,
    built_in,
    is_model,
    query,
    word_file,
)
from files import InputError
from files.choice import Whole, checks
from files.language import UNDETERMINED

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from debias.base import Direction, DosedMethod, Pair, PairsMethod
    from debias.until import Goal
    from files.eraser import Eraser
    from files.models.encoder import Pooling
    from files.models.language_model import AnyModel
    from intrinsic.metric import Metric
    from intrinsic.wordsets import Query


@dataclass(frozen=True)
class Moved:
    """Vectors by a method with the dose that was asked for, or found; and its eraser, if any."""

    method: DosedMethod
    vectors: KeyedVectors
    eraser: Eraser | None


@checks(seed=Whole, layer=int)
def debias(
    given: Vectors | Opened,
    words: Words = "gender_union",
    *,
    method: str = "attract_repel",
    direction: Direction | None = None,
    dose: float | None = None,
    until: str | float | None = None,
    case: str = "lower",
    seed: int = 0,
    trusted: bool = False,
    revision: str | None = None,
    items: str | PathLike[str] | None = None,
    layer: int = -1,
    pooling: Pooling = "mean",
    out: str | PathLike[str] | None = None,
    **options: object,
) -> Any:
    """A debiased or overbiased copy of vectors, or a language model whose hidden states pass
    through an eraser.

    ``given``: see ``audit``. ``words``: see ``query``; by default those of gender.
    ``method``: ``attract_repel`` (vectors), ``hard``, ``leace``, ...: ``debias.every`` has all.
    ``dose``: how far, from -1 (overbias) over 0 (untouched) to 1, the default; of ``attract_repel``
    from 0 to 1 in a ``direction``, ``debias`` by default. ``until``, without a dose: as far as it
    takes for WEAT of the words to be a number, such as 0, or for another score, such as
    ``"weat6b=0"``, ``"ect:names_professions=1"`` or, of a model, ``"seat:seat6b=0"``.
    ``options``: further fields of the method, such as ``rounds=4`` of ``inlp``. ``case``, of
    vectors: ``lower`` takes the words in lower case, ``exact`` as they are written. ``trusted``:
    see ``audit``.

    The ``attrs`` of the vectors returned, a dictionary, say what was done: ``method``,
    ``direction``, ``dose``, of an eraser ``norm`` and ``rank``, and ``scores``, a table of WEAT of
    the words, and of the score of ``until``, ``before`` and ``after``.

    Of a model ``items`` are sentences of two groups in the place of words, a file or a name such as
    ``bec_pro``; ``revision``, ``layer`` and ``pooling``: see ``audit``; ``out``: a new folder for a
    copy of it with its eraser. The ``LanguageModel`` returned has the ``eraser``. What is given is
    left as it is, vectors and opened models too.

    Raises ``InputError`` where no word is known, for a method on something else, and for what it
    does not take.
    """
    from debias.every import ON_MODELS, ON_VECTORS, make_method
    from intrinsic.lookup import CASES

    if case not in CASES:
        raise InputError(f"case={case!r}: give one of {', '.join(CASES)}")
    if until is not None and dose is not None:
        raise InputError(f"until={until!r} finds the dose; leave out dose={dose}")
    named = query(words)
    asked = named.lowered() if case == "lower" else named
    fields = {"dose": dose, "direction": direction, **options}
    if revision or is_model(given):
        from biasbridge.model_debiasing import Erasing, model_goal, read_items

        chosen = make_method(method, ON_MODELS, items=read_items(items), **fields)
        model = fspath(given) if isinstance(given, PathLike) else cast("AnyModel", given)
        encoding: Any = {"layer": layer, "pooling": pooling}
        erasing = Erasing.of(model, revision, chosen, named, **encoding, seed=seed)
        if until is not None:
            erasing = erasing.until(model_goal(str(until)))
        if out is not None:
            erasing.write(Path(out))
        return erasing.model()
    about_models = {"items": items, "out": out, "layer": layer + 1, "pooling": pooling != "mean"}
    if unused := [name for name, value in about_models.items() if value]:
        raise InputError(f"{unused[0]} is about language models; leave it out for vectors")
    chosen = make_method(method, ON_VECTORS, **fields)
    vectors = as_vectors(cast("Vectors", given), trusted=trusted)
    with word_file(None if built_in(words) else words) as own:
        goal = None if until is None else read_goal(str(until), own, named.name)
        goals = [*usual_goals(named.name, own), *([goal] if goal else [])]
    moved = move(chosen, vectors, asked, goal=goal, direction=direction, seed=seed)
    moved.vectors.attrs = {
        "method": moved.method.name,
        "direction": moved.method.direction,
        "dose": moved.method.dose,
        **facts(moved.eraser),
        "scores": compare_vectors([each.metric for each in goals], vectors, moved.vectors).drop(
            columns="part"
        ),
    }
    return moved.vectors


def read_goal(until: str, words: str | None, usual: str) -> Goal[Metric]:
    """The goal of vectors; a number alone is WEAT of the query ``usual``."""
    from debias.until import Goal

    return Goal.read(until, words, usual)


def usual_goals(query: str, words: str | None) -> list[Goal[Metric]]:
    """WEAT of the words, where it can ask about them."""
    from debias.until import Goal

    with suppress(InputError):
        return [Goal.of("weat", query, 0, words)]
    return []


def move(
    method: DosedMethod,
    vectors: KeyedVectors,
    query: Query,
    *,
    goal: Goal[Metric] | None,
    direction: Direction | None,
    seed: int,
) -> Moved:
    """The vectors by the method's dose, or by that at which the goal is reached."""
    from debias.base import require_sound, signed
    from debias.roles import require_roles
    from debias.until import find_method

    require_roles(query, method.roles)
    if goal:
        method, axis = find_method(method, vectors, query, goal, direction, seed=seed)
    else:
        axis = method.along(vectors, query, seed=seed)
    changed = axis.at(signed(method))
    if method.dose:
        require_sound(method, vectors, changed)
    return Moved(method, changed, axis.eraser)


def move_pairs(
    method: PairsMethod,
    vectors: KeyedVectors,
    attract: Sequence[Pair],
    repel: Sequence[Pair],
    *,
    goal: Goal[Metric] | None,
    seed: int,
) -> Moved:
    """The same of pairs of one's own, which have no other side."""
    from debias.until import find_dose

    axis = method.along_pairs(vectors, attract, repel, seed=seed)
    if goal:
        method = method.by(find_dose(axis, vectors, goal, (1,)))
    return Moved(method, axis.at(method.dose), None)


def facts(eraser: Eraser | None) -> dict[str, Any]:
    """The operator norm and the rank of an eraser."""
    return {"norm": eraser.norm, "rank": eraser.rank} if eraser else {}


def language_of_words(query: Query) -> str:
    """Theirs; English where none is known."""
    return "en" if query.language == UNDETERMINED else query.language

"""How far each condition changed gaps, scores and task performance."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from biasbridge.command_line import STANDARD_OUTPUT, Command, returns, say
from biasbridge.files import InputError
from biasbridge.files.paths import require_results

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from rich.console import Console

    from biasbridge.analysis.effects import Effect
    from biasbridge.files.writers import Document


class _StudyEffects(NamedTuple):
    """The effects of a results folder, and the measures that its study declared."""

    effects: Sequence[Effect]
    confirmatory: Sequence[str]
    are_compared: bool = False


def _as_table(found: _StudyEffects) -> pd.DataFrame:
    from biasbridge.analysis.effects import comparison_table, effect_table

    return (comparison_table if found.are_compared else effect_table)(found.effects)


@returns(_as_table)
def effects(results: str | PathLike[str], method: str = "", other: str = "") -> _StudyEffects:
    """Show how far each condition changed gaps, scores and task performance, or compare two
    methods.

    Parameters
    ----------
    results : path
        A results folder, as a sweep writes it.
    method, other : str, optional
        Methods to compare on the same parents, in declared gaps and utility. Each is taken at its
        largest dose, and where both changed the mean of a score by the most that both reach.

    Returns
    -------
    DataFrame
        One row per effect, with the columns of ``effects.csv`` (``docs/results.md``): ``effect``,
        the change from the unmodified embedding, with its 95% interval, and of gaps a verdict. Of
        two methods ``effect`` is that of the first less that of the other.

    Raises
    ------
    InputError
        A table is missing or damaged, or the folder has no modified models, or no such method.

    Examples
    --------
    >>> {"method", "dose", "effect", "verdict"} <= {*effects("docs/runs/answer_en").columns}
    True
    >>> compared = effects("docs/runs/paper001_open", "attract_repel", "balance")
    >>> sorted({*compared["dose"]})
    ['equal score', 'full']
    """
    require_results(results)
    from biasbridge.analysis.declaration import Declaration
    from biasbridge.analysis.effects import compare_methods
    from biasbridge.analysis.effects import effects as condition_effects
    from biasbridge.analysis.tables import read_tables

    study = Declaration.of(Path(results))
    tables = read_tables(Path(results))
    methods = [name for name in (method, other) if name]
    found = (
        compare_methods(tables, (method, other), study.confirmatory, study.utility)
        if methods
        else condition_effects(tables, study.utility, study.smallest_change)
    )
    if not found:
        problem = "it has no modified models, or no unmodified embedding to compare them with"
        if methods:
            problem = f"{method} and {other} share no direction and parents"
        raise InputError(f"{results}: {problem}")
    return _StudyEffects(found, study.confirmatory, bool(methods))


def _as_document(found: _StudyEffects) -> Document:
    from biasbridge.analysis.effects import comparison_document, effects_document

    describe = comparison_document if found.are_compared else effects_document
    return describe(found.effects, found.confirmatory)


def _show(found: _StudyEffects, console: Console) -> None:
    from biasbridge.files.writers import print_document

    print_document(_as_document(found), console, ruled=False)


def _name_file(found: _StudyEffects, console: Console, *, csv: Path = STANDARD_OUTPUT) -> None:
    if csv != STANDARD_OUTPUT:
        say(console, csv)


main = Command(
    effects,
    _show,
    end=_name_file,
    table=_as_table,
    document=_as_document,
    arguments=("results", "method", "other"),
    spelling="csv --csv --out; method METHOD?; other METHOD?",
)

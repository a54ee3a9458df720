"""Scores of BBQ from the answers of a model, as a function."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biasbridge.input_tables import InputTable, as_dataframe, with_notes
from files import InputError
from files.choice import check_arguments

if TYPE_CHECKING:
    import pandas as pd

Convention = Literal["paper", "helm", "lm_eval", "drop_ambiguous", "all"]


@check_arguments(convention=Convention, answer=str | None)
def bbq(
    answers: InputTable | Sequence[InputTable],
    *,
    answer: str | None = None,
    convention: Convention = "paper",
    data: str | PathLike[str] | None = None,
) -> pd.DataFrame:
    """Compute accuracy and bias scores of BBQ, by category and context, with 95% intervals.

    Parameters
    ----------
    answers
        Answers of one model: a table with the fields of BBQ and a column of answers, its path (JSON
        Lines, CSV, Parquet), the log of an evaluation harness, a folder of these, or several.
    answer
        Column of the answers: text, letter or place (0, 1, 2) of an option. By default ``answer``.
    convention
        ``"paper"`` (Parrish et al., 2022); ``"helm"``: with the accuracy over both contexts, and 0
        where no answer names anybody; ``"lm_eval"``: with its groups, and unmatched outputs as
        wrong answers that name nobody; ``"drop_ambiguous"``: as in the paper, without items that
        name the stereotyped group in both answers or in none; ``"all"``: each of the four.
    data
        Folder of BBQ's own files, which bring the fields that a log lacks.

    Returns
    -------
    DataFrame
        A row per category, ``context`` (``"ambiguous"``, ``"disambiguated"``) and ``convention``:
        ``accuracy`` and ``score``, in [-1, 1], above 0 where answers follow the stereotype, with
        intervals over the ``n_templates`` questions that items are made of; ``n`` answers,
        ``n_unmatched`` outputs that mean none of the options, and further counts. ``reason`` says
        why a value or an interval is NaN. Columns and formulas: ``extrinsic.bbq.scores``.

    Raises
    ------
    InputError
        A file, column or field that is missing or not as in BBQ, or an item answered twice.

    Examples
    --------
    >>> import pandas as pd
    >>> info = {"ans0": ["Ann", "old"], "ans1": ["Eve", "nonOld"], "ans2": ["Unknown", "unknown"]}
    >>> item = {
    ...     "category": "Age",
    ...     "question_polarity": "neg",
    ...     "context_condition": "ambig",
    ...     "answer_info": info,
    ...     "additional_metadata": {"stereotyped_groups": ["old"]},
    ...     **{"ans0": "Ann", "ans1": "Eve", "ans2": "Unknown", "label": 2},
    ... }
    >>> answers = ["Ann", "Ann", "Eve", "Unknown"]
    >>> table = pd.DataFrame([item | {"question_index": n % 2} for n in range(4)])
    >>> print(round(bbq(table.assign(answer=answers))["score"].item(), 2))
    0.25
    """
    import pandas as pd

    from extrinsic.bbq.reading import complete, name_output, read_answer_table, read_items
    from extrinsic.bbq.scores import CONVENTIONS, Row, score_rows

    sources = [answers] if isinstance(answers, str | PathLike | pd.DataFrame) else [*answers]
    if not sources:
        raise InputError("no answers are given; give a table, or the path of a file or folder")
    tables, notes = [], []
    for source in sources:
        is_path = isinstance(source, str | PathLike)
        title = source if is_path else "the table"
        if is_path:
            table = read_answer_table(Path(source), answer)
        else:
            table = name_output(as_dataframe(source), answer, title)
        notes += table.attrs.get("notes", [])
        tables.append(complete(table, Path(data) if data else None, title))
    items, chosen = read_items(pd.concat(tables, ignore_index=True))
    conventions = CONVENTIONS if convention == "all" else [convention]
    rows = pd.DataFrame(score_rows(items, chosen, conventions), columns=list(Row._fields))
    rows = with_notes(rows, "reason")
    rows.attrs["notes"] = [*notes, *rows.attrs["notes"]]
    return rows

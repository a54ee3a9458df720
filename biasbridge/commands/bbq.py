"""Accuracy and bias scores of BBQ, from a model's answers."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biasbridge.command_line import Command
from biasbridge.files import InputError
from biasbridge.files.choice import check_arguments
from biasbridge.input_tables import InputTable, as_dataframe, with_notes

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.files.writers import Document

_MANY_UNMATCHED = 0.05  # share of outputs above which a note says so
_EPILOG = """\
Scores are in [-1, 1]. Above 0 answers follow the stereotype. Intervals are 95%, over templates. An
output that matches none of the options is left out and counted. Conventions: paper is that of the
authors. helm takes the accuracy of both contexts together, and a score of 0 where nobody is named.
lm_eval takes its own groups, and counts unmatched outputs as wrong. drop_ambiguous leaves out items
that name the stereotyped group in both answers or in none."""
Convention = Literal["paper", "helm", "lm_eval", "drop_ambiguous", "all"]


@check_arguments(convention=Convention, answer=str | None)
def bbq(
    answers: InputTable | Sequence[InputTable],
    *,
    answer: str | None = None,
    convention: Convention = "paper",
    data: str | PathLike[str] | None = None,
    filter: str = "",
) -> pd.DataFrame:
    """Compute accuracy and bias scores of BBQ, by category and context, with 95% intervals.

    Parameters
    ----------
    answers : DataFrame, path, or several
        Answers of one model: tables with BBQ's fields and a column of answers, logs of evaluation
        harnesses, or folders of these. A table is a pandas one, or JSON Lines, CSV or Parquet.
    answer : str, optional
        Column of the answers in a table, as text, letter or place of an option (default: answer).
        Places are 0, 1, 2; or 1, 2, 3.
    convention : {"paper", "helm", "lm_eval", "drop_ambiguous", "all"}
        How to compute the scores. ``"paper"`` (Parrish et al., 2022); ``"helm"``: with the accuracy
        over both contexts, and 0 where no answer names anybody; ``"lm_eval"``: with its groups, and
        unmatched outputs as wrong answers that name nobody; ``"drop_ambiguous"``: as in the paper,
        without items that name the stereotyped group in both answers or in none; ``"all"``: each of
        the four.
    data : path, optional
        Folder of BBQ's own files, for fields that a log lacks (default: where biasbridge data get
        bbq puts them).
    filter : str
        Name of one of several filters (lm-evaluation-harness) or scorers (Inspect) of a log.

    Returns
    -------
    DataFrame
        A row per category, ``convention`` and ``context``: ``accuracy`` and ``score``, in [-1, 1],
        above 0 where answers follow the stereotype, with intervals over ``n_templates`` templates
        (``biasbridge.extrinsic.bbq``). Of ``n`` answers, ``n_not_unknown`` name somebody and
        ``n_biased`` follow the stereotype; ``n_unmatched`` outputs mean no option; ``n_unclear``
        items name the stereotyped group in both answers or in none. ``reason``: of a NaN, or of 0.

    Raises
    ------
    InputError
        A file, column or field that is missing or not as in BBQ, or an item answered twice.

    Examples
    --------
    >>> import pandas as pd
    >>> info = {"ans0": ["Ann", "old"], "ans1": ["Eve", "nonOld"], "ans2": ["Unknown", "unknown"]}
    >>> item = {"category": "Age", "question_polarity": "neg", "context_condition": "ambig"}
    >>> item |= {"ans0": "Ann", "ans1": "Eve", "ans2": "Unknown", "label": 2, "answer_info": info}
    >>> item["additional_metadata"] = {"stereotyped_groups": ["old"]}
    >>> answers = ["Ann", "Ann", "Eve", "Unknown"]
    >>> table = pd.DataFrame([item | {"question_index": n % 2} for n in range(4)])
    >>> print(round(bbq(table.assign(answer=answers))["score"].item(), 2))
    0.25
    """
    import pandas as pd

    from biasbridge.extrinsic.bbq import CONVENTIONS, NO_ANSWER, score_table
    from biasbridge.extrinsic.bbq_answers import downloaded_data, open_answers, read_items

    given = [answers] if isinstance(answers, str | PathLike | pd.DataFrame) else answers
    sources = [Path(x) if isinstance(x, str | PathLike) else as_dataframe(x) for x in given]
    tables = open_answers(sources, answer, Path(data) if data else downloaded_data(), filter)
    if not sum(map(len, tables)):
        raise InputError("there are no answers; give a table, or the path of a file or folder")
    together = pd.concat(tables, ignore_index=True)
    items, chosen = read_items(together)
    rows = score_table(items, chosen, CONVENTIONS if convention == "all" else [convention])
    rows = with_notes(rows, "reason")
    if (n_unmatched := chosen.count(NO_ANSWER)) > _MANY_UNMATCHED * len(chosen):
        example = repr(str(together["output"].iloc[chosen.index(NO_ANSWER)])[:80])
        note = f"{n_unmatched} of {len(chosen)} outputs match none of the three answers"
        rows.attrs["notes"].insert(0, f"{note}, such as {example}; scores leave them out")
    rows.attrs["notes"][:0] = [note for table in tables for note in table.attrs.get("notes", [])]
    return rows


def _as_document(scores: pd.DataFrame) -> Document:
    from biasbridge.extrinsic.bbq import score_document

    return score_document(scores)


main = Command(
    bbq,
    table=lambda scores: scores,
    document=_as_document,
    spelling="answers ANSWERS+; answer COLUMN; data FOLDER; filter NAME",
    epilog=_EPILOG,
)

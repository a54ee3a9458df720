"""Scores of coreference predictions against the key."""

from __future__ import annotations

import json
import sys
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from biasbridge.command_line import Command
from biasbridge.files.errors import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from biasbridge.extrinsic.coreference.scorer import Score
    from biasbridge.files.documents import Document as CoreferenceDocument
    from biasbridge.files.writers import Document

_TITLES = {
    "mentions": "mention detection",
    "muc": "MUC",
    "b3": "B-cubed",
    "ceaf_e": "CEAF-e",
    "ceaf_m": "CEAF-m",
    "lea": "LEA",
    "blanc": "BLANC",
    "conll": "CoNLL (mean of MUC, B-cubed, CEAF-e)",
}
_EPILOG = """\
Files are JSON Lines (.jsonl) or CoNLL, also as .gz, .bz2 and .xz. In CoNLL the last column has the
mentions. As in the reference scorer, counts are summed over documents before they are divided, and
0 / 0 is 0. Clusters of one mention count like others. If the key does not annotate them
(OntoNotes), each one in the response costs precision in all metrics but MUC. --singletons drop
removes them from both sides."""


class _CoreferenceScores(NamedTuple):
    """Scores by metric, the pairs of documents scored, and what was done with singletons."""

    scores: Mapping[str, Score]
    pairs: list[tuple[CoreferenceDocument, CoreferenceDocument]]
    singletons: str


def coreference(
    key: str | PathLike[str],
    response: str | PathLike[str],
    *,
    singletons: Literal["keep", "drop"] = "keep",
    mend: bool = False,
) -> _CoreferenceScores:
    """Score coreference predictions.

    Parameters
    ----------
    key : path
        The true clusters.
    response : path
        The predicted clusters.
    singletons : {"keep", "drop"}
        Keep clusters of one mention, as the reference scorer does, or drop them.
    mend : bool
        Repair unpaired brackets and repeated mentions with a warning instead of an error.
    """
    from biasbridge.extrinsic.coreference.scorer import pair_documents, score
    from biasbridge.files.documents import read_documents

    faults: list[str] = []
    sides = [
        [
            document.without_singletons() if singletons == "drop" else document
            for document in read_documents(Path(path), mend=faults.append if mend else None)
        ]
        for path in (key, response)
    ]
    pairs = pair_documents(*sides)
    for fault in faults:
        print(f"mended: {printable(fault)}", file=sys.stderr)
    return _CoreferenceScores(score(pairs), pairs, singletons)


def _as_document(result: _CoreferenceScores) -> Document:
    """Return the scores in percent as text."""
    from biasbridge.files.writers import Document, TextTable

    rows = [
        [title, *(f"{100 * rate:.2f}" for rate in (row.precision, row.recall, row.f1))]
        for row, title in ((result.scores[name], title) for name, title in _TITLES.items())
    ]
    counts = [f"{len(result.pairs)} documents"]
    for side, documents in zip(("key", "response"), zip(*result.pairs, strict=True), strict=True):
        mentions = sum(len(document.mentions) for document in documents)
        clusters = sum(len(document.clusters) for document in documents)
        counts.append(f"{side}: {mentions} mentions in {clusters} clusters")
    table = TextTable("", ["%", "precision", "recall", "F1"], rows)
    return Document((), (), [table], ["; ".join(counts)])


def _as_table(result: _CoreferenceScores) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([{"metric": name, **row._asdict()} for name, row in result.scores.items()])


def _format_json(result: _CoreferenceScores) -> str:
    """Return the rates from 0 to 1."""
    rates = {name: row._asdict() for name, row in result.scores.items()}
    facts = {"documents": len(result.pairs), "singletons": result.singletons, "scores": rates}
    return json.dumps(facts, indent=1) + "\n"


main = Command(
    coreference,
    table=_as_table,
    document=_as_document,
    documents={"json": _format_json},
    spelling="key KEY; response RESPONSE",
    epilog=_EPILOG,
)

"""One analogy, by 3CosAdd, with and without the words that it is asked with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasbridge.command_line import Command
from biasbridge.files import InputError
from biasbridge.input_vectors import Vectors, as_vectors
from biasbridge.intrinsic.lookup import LetterCase

if TYPE_CHECKING:
    import pandas as pd

    from biasbridge.files.writers import Document


def analogy(
    vectors: Vectors,
    a: str,
    b: str,
    c: str,
    *,
    number: int = 10,
    vocabulary: int = 50_000,
    case: LetterCase = "lower",
    trusted: bool = False,
) -> pd.DataFrame:
    """Answer "a is to b as c is to ..." by 3CosAdd (Mikolov et al., 2013).

    Parameters
    ----------
    vectors : vectors
        A file of vectors, or vectors. See :func:`audit`.
    a : str
        Such as man.
    b : str
        Such as computer_programmer.
    c : str
        Such as woman.
    number : int
        Number of answers.
    vocabulary : int
        Number of the most frequent words to search, besides a, b and c.
    case : {"lower", "exact"}
        How to look up words: lower also tries lower case for words not found as written.
    trusted : bool
        Open gensim's own format, a pickle that can run any code; only for files you made.

    Returns
    -------
    pandas.DataFrame
        The words of the largest ``cosine`` with unit(b) - unit(a) + unit(c): ``word``, not one of
        the three, as published analogies have it, and ``any_word`` with ``any_cosine``.

    Raises
    ------
    InputError
        A word out of vocabulary, or twice.
    """
    import numpy as np
    import pandas as pd

    from biasbridge.intrinsic.lookup import find, most_frequent, unit_rows

    found = as_vectors(vectors, trusted=trusted)
    asked = find(found, [a, b, c], case=case)
    if len(asked.words) < 3:
        lost = ", ".join(asked.lost)
        raise InputError(f"not in the vocabulary: {lost}" if lost else "give three different words")
    words = list(dict.fromkeys([*most_frequent(found, vocabulary), *asked.words]))
    rows = unit_rows(found.vectors[[found.key_to_index[word] for word in words]])
    first, second, third = asked.matrix
    cosines = rows @ unit_rows([second - first + third])[0]
    order = np.argsort(-cosines, kind="stable")[: max(0, number) + 3].tolist()
    answers = [(words[i], float(cosines[i])) for i in order]
    others = [answer for answer in answers if answer[0] not in asked.words][:number]
    pairs = zip(others, answers, strict=False)
    rows_of_table = [(rank, *other, *answer) for rank, (other, answer) in enumerate(pairs, 1)]
    columns = ["rank", "word", "cosine", "any_word", "any_cosine"]
    return pd.DataFrame(rows_of_table, columns=columns)


def _as_document(answers: pd.DataFrame) -> Document:
    from biasbridge.files.writers import Document, text_table

    note = "word: other than the three asked with, as in published analogies; any word: any"
    return Document((), (), [text_table("3CosAdd", answers)], [note])


main = Command(
    analogy,
    table=lambda answers: answers,
    document=_as_document,
    spelling="vectors VECTORS; a A; b B; c C; number N; vocabulary N",
)

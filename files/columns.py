"""The columns of a table as people and programs write them: what is missing, a number, a name, a
truth value or a label, and which rows are copies.

Names are compared in one form (``name_key``), and printed as they are first spelled.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_list_like, is_numeric_dtype, is_scalar

from biasbridge.files.errors import InputError, nearest
from biasbridge.files.language import normalise_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

EMPTY = "(empty)"  # stands for an empty cell where rows are grouped by names
CLASS_NONE = ("None",)  # a label of hate speech, and no missing one
# What programs write for an empty cell, in this case: "none" may be a name
_MISSING = {"", "NA", "N/A", "#N/A", "<NA>", "nan", "NaN", "NaT", "None", "NULL", "null"}
_MISSING_NUMBERS = {"-", *map(str.lower, _MISSING)}
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_JOINTS = (";", "|", ",", "/", "+", "&", "\n")  # between several names in a cell
# Truth values as programs write them, and spreadsheets in the language of their user
_TRUTH_PAIRS = (
    "1,0/0,0 true/false yes/no wahr/falsch ja/nein vrai/faux oui/non verdadero/falso sí/no si/no"
    " verdadeiro/falso sim/não vero/falso sì/no waar/onwaar ja/nee prawda/fałsz истина/ложь"
    " doğru/yanlış doğru/yanliş"
)
_TRUTH = dict(
    entry for pair in _TRUTH_PAIRS.split() for entry in zip(pair.split("/"), "10", strict=True)
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(e[+-]?\d+)?", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
_MAX_NUMBER = 1e100
_FEWEST_DISTINCT = 5  # rows; of fewer any table of labels and groups consists
_MOSTLY = 0.9  # share of distinct cells in a column of texts or measurements
_LIST_OF_ONE = re.compile(r"""\[\s*(?:(['"])([^'"\[\]]+)\1|([+-]?\d+(?:\.\d+)?))\s*,?\s*\]""")
_NESTED = re.compile(r"""\s*(\{.*\}|\[\s*(["'{[\d].*)?\])\s*""", re.DOTALL)
_RANGE = re.compile(r"\s*\d+\s*[-\u2013]\s*\d+\s*")
_DATES = (("", "%Y-%m-%d"), ("2000 ", "%Y %d-%b"), ("2000 ", "%Y %b-%d"))


def name_key(name: object) -> str:
    """Return the form in which the names of groups, clusters and labels are compared: that of
    ``normalise_text``, and whole floats as integers.

    >>> name_key(1.0), name_key("01.00 ")
    ('1', '01')
    """
    text = normalise_text(str(name))
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def is_missing(name: object, *, number: bool = False) -> bool:
    """Return whether text stands for an empty cell, such as ``NA``; beside a ``number`` such words
    do in either case, and a dash.
    """
    if (text := str(name))[-1:].isdigit():  # as most ids and numbers do
        return False
    text = normalise_text(text)
    return text in _MISSING or (number and text.lower() in _MISSING_NUMBERS)


def binary_key(label: object) -> str:
    """Return the key of a label, a truth value as ``1`` or ``0``.

    >>> binary_key(True), binary_key("FALSCH"), binary_key("hate")
    ('1', '0', 'hate')
    """
    key = name_key(label)
    return _TRUTH.get(key.lower(), key)


def label_key(label: object) -> str:
    """Return a label as it is compared: ``True`` as ``1``, and other truth values as words."""
    key = name_key(label)
    return {"true": "1", "false": "0"}.get(key.lower(), key)


def are_flags(names: Collection[str]) -> bool:
    """Return whether names are truth values, words of one language; NO and SI are countries.

    >>> are_flags(["yes", "0"]), are_flags(["no", "ja"])
    (True, False)
    """
    keys = {*map(name_key, names)}
    words = {key.lower() for key in keys} - {"0", "1", "0,0", "1,0", "true", "false"}
    is_one_language = any(words <= {*pair.split("/")} for pair in _TRUTH_PAIRS.split())
    return bool(keys) and is_one_language and not {"NO", "SI"} <= keys


def first_spellings(names: Iterable[object]) -> dict[str, str]:
    """Return the spelling to print by key: the first, with plain spaces and none at its ends."""
    spellings: dict[str, str] = {}
    for name in names:
        spelling = name_key(name) if isinstance(name, float) else normalise_text(str(name))
        spellings.setdefault(name_key(name), spelling)
    return spellings


def find_joined(
    texts: Collection[str], among: Collection[str] | None = None
) -> tuple[str, str, str] | None:
    """Return a text that joins one of the names ``among`` them to others, that name, and what
    joins them.
    """
    keys = {*map(name_key, texts if among is None else among)}
    for text in sorted(text for text in texts if among is None or name_key(text) not in keys):
        for joint in _JOINTS:
            parts = [part for part in text.split(joint) if part.strip()]  # not "LGBTQ+"
            if len(parts) > 1 and (shared := [part for part in parts if name_key(part) in keys]):
                return text, normalise_text(shared[0]), joint
    return None


def positive_keys(positive: Iterable[object], labels: Collection[str], where: str) -> set[str]:
    """Return the keys of the positive ``labels``; ``InputError`` for one that no row has, and for a
    label that joins one of them to others.
    """
    keys = {label_key(label): label for label in positive}
    for key in (key for key in keys if key not in labels):
        problem = f"no row of {where} has the label {str(keys[key])!r}{nearest(key, labels)}"
        raise InputError(f"{problem}; labels: {', '.join(sorted(labels)[:10])}")
    if joined := find_joined([*{*labels} - keys.keys(), *keys], among=keys):
        problem = f"{where} holds {joined[0]!r} beside {joined[1]!r}"
        raise InputError(f"{problem}; name it too if it counts as 1, or give one label in a cell")
    return {*keys}


def case_note(names: Iterable[str], kind: str, marks: str = "") -> str:
    """Return a note on names that differ only in case, or in ``marks``; empty if there are none."""
    by_folded: defaultdict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys(names):
        has_letter = any(map(str.isalpha, name))  # 1.0 and 10 are different numbers
        plain = name.translate(dict.fromkeys(map(ord, marks))) if has_letter else name
        by_folded[plain.casefold()].append(name)
    same = [names for names in by_folded.values() if len(names) > 1]
    pairs = [" and ".join(map(repr, names)) for names in same]
    is_case = all(len({*map(str.casefold, names)}) == 1 for names in same)
    difference = "case" if is_case else "case, blanks or marks"
    listed = ", ".join(pairs[:3]) + (f" and {len(pairs) - 3} more" if len(pairs) > 3 else "")
    return f"{kind} that differ only in {difference} count as different: {listed}" if pairs else ""


# A column by its name, and what its cells hold.


def get_column(
    table: pd.DataFrame, column: str, remedy: str = "", *, is_value: bool = False
) -> pd.Series:
    """Return a column by name; ``InputError``, with the nearest name, if it is missing, and, with
    the ``remedy``, for cells that are lists or no text, number or date; of values also as text.
    """
    cells = find_column(table, column)
    rows = np.arange(0 if cells.dtype.kind in "biufM" else len(cells))
    if isinstance(cells.dtype, pd.StringDtype | pd.CategoricalDtype):  # each distinct cell once
        rows = np.flatnonzero(~cells.duplicated())
    for row, cell in zip((rows + 1).tolist(), cells.iloc[rows], strict=True):
        is_nested = is_value and isinstance(cell, str) and _NESTED.fullmatch(cell)
        if is_nested or is_list_like(cell) or isinstance(cell, bytes | complex):
            fields = [f", or name {x}" for x in map(str, table) if x.startswith(f"{column}.")]
            remedy = f"give one text or number in each cell{remedy}{''.join(fields[:1])}"
            raise InputError(f"{describe_nested(column, cell, row)}; {remedy}")
    return cells


def find_column(table: pd.DataFrame, column: str) -> pd.Series:
    """Return a column by name; ``InputError``, with the nearest name, if it is missing."""
    if column in table.columns:
        return table[column]
    present = ", ".join(repr(name) for name in table.columns)
    is_named = isinstance(table.index, pd.RangeIndex) or table.index.name is not None
    index = "" if is_named else f"; its index has no name: give table.rename_axis({column!r})"
    option = {"label": "gold", "prediction": "pred", "group": "group"}.get(column, "")
    remedy = f"; name another by --{option}, in Python {option}=" if option else ""
    raise InputError(
        f"no column {column!r}{nearest(column, table.columns)}; columns present: {present}"
        f"{index}{remedy}"
    )


def describe_nested(column: str, cell: object, row: int = 0) -> str:
    """Return that a column holds a cell of the wrong type."""
    text = f"{str(cell)[:60]}{'...' * (len(str(cell)) > 60)}"
    kind = {"{": "an object", "[": "a list"}.get(text.lstrip()[:1], type(cell).__name__)
    return f"column {column!r} holds {text}{f' in row {row}' if row else ''}, {kind}"


def find_blank(
    cells: pd.Series, named: Collection[str] = (), *, numbers: bool = False
) -> pd.Series[bool]:
    """Return whether each cell is empty, or text that stands for an empty cell and is not
    ``named``. ``numbers``: as in ``is_missing``.
    """
    is_blank = cells.isna()
    texts = set(_texts(cells[~is_blank]))
    blanks = [x for x in texts if is_missing(x, number=numbers) and name_key(x) not in named]
    return is_blank | cells.isin(blanks) if blanks else is_blank


def _texts(cells: pd.Series) -> Iterable[str]:
    """Return the distinct texts of a column, whatever else it holds."""
    if isinstance(cells.dtype, pd.StringDtype):
        return cells.dropna().unique().tolist()
    is_mixed = cells.dtype in (object, "category")
    return {cell for cell in cells if isinstance(cell, str)} if is_mixed else ()


def describe_empty_words(cells: pd.Series) -> str:
    """Return which words of a column count as empty; empty text where none does."""
    words = sorted({normalise_text(cell) for cell in _texts(cells) if is_missing(cell)} - {""})
    return f" ({', '.join(map(repr, words))} counts as empty)" if words else ""


def note_missing(table: pd.DataFrame, columns: Iterable[str]) -> list[str]:
    """Return a note on each column in which words count as empty."""
    cells = {name: table[name] for name in columns if name in table}
    return [
        f"{find_blank(cells[name]).sum():,} of {len(table):,} rows have an empty {name!r}{words}"
        for name in cells
        if (words := describe_empty_words(cells[name]))
    ]


def distinct_names(cells: pd.Series, named: Collection[str] = ()) -> list[str]:
    """Return the names of a column in one spelling each, sorted."""
    return sorted({*map(str, spell_alike(cells, named).dropna())})


def spell_alike(cells: pd.Series, named: Collection[str] = ()) -> pd.Series:
    """Return a column with names that compare equal in one spelling, missing ones as NaN;
    ``named`` ones are not missing.
    """
    keys = {cell: name_key(cell) for cell in cells.dropna().unique()}
    known = [cell for cell in keys if not is_missing(cell) or keys[cell] in named]
    if len(known) == len(keys) and all(cell == key for cell, key in keys.items()):
        return cells  # most columns of ids
    spellings = first_spellings(known)
    return cells.map({cell: spellings.get(key) for cell, key in keys.items()})


def as_text(table: pd.DataFrame, column: str) -> list[str]:
    """Return a column as text; empty text for an empty cell or a missing column."""
    if column not in table:
        return [""] * len(table)
    values = table[column]
    if isinstance(values.dtype, pd.StringDtype):
        texts: list[str] = values.fillna("").tolist()
        return texts
    if values.dtype == object:
        return [*map(_as_text, get_column(table, column).tolist())]
    codes, distinct = pd.factorize(values)
    labels = [*map(_as_text, distinct.tolist())]
    cells: list[str] = np.array([*labels, ""], dtype=object)[codes].tolist()  # -1: missing
    return cells


def _as_text(value: Any) -> str:
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def as_labels(table: pd.DataFrame, column: str) -> list[str]:
    """Return a column as text to group by, names that compare equal (``name_key``) in one form: the
    numbers 6 and 6.0 are the label ``6``; a missing one is ``EMPTY``.
    """
    texts, distinct = pd.factorize(np.array(as_text(table, column), dtype=object))
    labels = np.array(
        [EMPTY if is_missing(text) else name_key(text) for text in distinct], dtype=object
    )
    cells: list[str] = labels[texts].tolist()
    return cells


def spell_names(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Return the table with the names in columns of text as they are compared."""
    texts = [x for x in columns if x in table and isinstance(table[x].dtype, pd.StringDtype)]
    keys = {x: {name: name_key(name) for name in table[x].dropna().unique()} for x in texts}
    changed = [x for x in keys if any(name != key for name, key in keys[x].items())]
    return table.assign(**{x: table[x].map(keys[x]) for x in changed}) if changed else table


def text_rows(table: pd.DataFrame, columns: Iterable[str]) -> list[tuple[str, ...]]:
    """Return for each row its texts in the given columns."""
    return list(zip(*(as_text(table, name) for name in columns), strict=True))


def text_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the columns that hold no numbers."""
    return [
        str(name)
        for name, column in table.items()
        if is_bool_dtype(column) or not is_numeric_dtype(column)
    ]


def read_numbers(cells: pd.Series) -> tuple[pd.Series[float], bool]:
    """Return a column as numbers, NaN where a cell is none, and whether they have decimal commas.

    Commas count as decimal where no number has a point, unless all may part thousands: ``1,234``.
    """
    if cells.dtype.kind in "mM":  # dates count nanoseconds
        return pd.Series(np.nan, cells.index), False
    if isinstance(cells.dtype, pd.StringDtype):  # each distinct text once
        code, distinct = pd.factorize(cells, use_na_sentinel=False)
        numbers, has_commas = read_numbers(pd.Series(distinct, dtype=object))
        return pd.Series(numbers.to_numpy()[code], cells.index, name=cells.name), has_commas
    try:
        numbers = pd.to_numeric(cells, errors="coerce").astype("float64")
    except OverflowError:  # JSON has integers that are too large for a float
        cells = cells.map(lambda cell: str(cell) if isinstance(cell, int) else cell)
        numbers = pd.to_numeric(cells, errors="coerce").astype("float64")
    texts = {cell: normalise_text(cell) for cell in _texts(cells[numbers.isna()])}
    commas = {cell: text for cell, text in texts.items() if _DECIMAL_COMMA.fullmatch(text)}
    has_point = bool(commas) and cells[numbers.notna()].map(lambda cell: "." in str(cell)).any()
    has_commas = not has_point and not all(map(_THOUSANDS.fullmatch, commas.values()))
    if has_commas:
        texts |= {cell: text.replace(",", ".") for cell, text in commas.items()}
    # Those with blanks of other scripts at their ends too
    changed = pd.Series({cell: text for cell, text in texts.items() if text != cell}, dtype=str)
    known = pd.to_numeric(changed, errors="coerce").dropna().to_dict()
    found = [known.get(x) if isinstance(x, str) else None for x in cells] if known else []
    return numbers.fillna(pd.Series(found, cells.index[: len(found)], float)), has_commas


def as_float(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return a column as floats; NaN for blanks and the usual words for missing, or a missing
    column. Raise ``InputError`` for other text, and for numbers whose squares overflow.
    """
    if column not in table:
        return np.full(len(table), np.nan)
    values = table[column]
    if is_numeric_dtype(values):
        cells = values.to_numpy(dtype=float, na_value=np.nan)
    else:
        numbers = read_numbers(values)[0]
        is_wrong = (numbers.isna() & ~find_blank(values, numbers=True)).to_numpy()
        if is_wrong.any():
            row = int(is_wrong.argmax())
            problem = f"column {column!r} holds {values.iloc[row]!r} in row {row + 1}"
            raise InputError(f"{problem}, which is not a number; choose a numeric column")
        cells = numbers.to_numpy()
    if too_large := cells[np.isfinite(cells) & (np.abs(cells) > _MAX_NUMBER)].tolist():
        raise InputError(f"column {column!r} holds {too_large[0]:g}; give it in larger units")
    return cells


def find_fractions(table: pd.DataFrame, column: str) -> pd.Series[float] | None:
    """Return a column of finite numbers, not all whole, NaN where it is empty; else None."""
    cells = find_column(table, column)
    others = cells if cells.dtype in (object, complex) else ()
    if any(is_list_like(cell) or isinstance(cell, complex) for cell in others):
        return None
    numbers = read_numbers(cells)[0]
    known = numbers[~find_blank(cells)]
    is_finite = known.abs() < np.inf
    return None if not is_finite.all() or (known % 1 == 0).all() else numbers


def as_arrays(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return a column of lists of numbers. Shape (rows, longest).

    NaN where a list is shorter or missing; no columns where the table lacks the column. A list that
    a CSV file holds as text, possibly shortened, counts as missing.
    """
    values = table[column].tolist() if column in table else []
    cells = ([] if isinstance(value, str) else value for value in values)
    arrays = [np.atleast_1d(np.asarray(value, dtype=float)) for value in cells]
    padded = np.full((len(table), max(map(len, arrays), default=0)), np.nan)
    for row, array in zip(padded, arrays, strict=False):
        row[: len(array)] = array
    return padded


def read_binary(table: pd.DataFrame, column: str, remedy: str = "") -> NDArray[np.int64]:
    """Read a column of 0 and 1 (also as text) or of true and false as integers; ``InputError``,
    which ends in the ``remedy``, for anything else.
    """
    code, distinct = pd.factorize(get_column(table, column).array, use_na_sentinel=False)
    numbers = pd.to_numeric(pd.Series([*map(binary_key, distinct)], dtype=object), errors="coerce")
    rule = f"it must be 0 or 1 in every row{remedy}"
    require_cells(pd.Series(numbers.isin([0.0, 1.0]).to_numpy()[code]), table[column], rule)
    return np.asarray(numbers.iloc[code], dtype=np.int64)


def read_scores(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Read a column of finite numbers; ``InputError`` for anything else."""
    numbers = read_numbers(get_column(table, column))[0]
    require_cells(numbers.abs() < np.inf, table[column], "give a number in every row")
    return np.asarray(numbers, dtype=np.float64)


def read_labels(table: pd.DataFrame, column: str) -> pd.Series[str]:
    """Read a column of labels of any names as text; ``InputError`` for an empty cell."""
    values = spell_alike(get_column(table, column), CLASS_NONE)
    if missing := int(values.isna().sum()):
        count = f"{missing} of {len(values)} rows"
        raise InputError(f"column {column!r} is empty in {count}; give a label in every row")
    return values


def require_cells(valid: pd.Series[bool], values: pd.Series, rule: str) -> None:
    """Raise ``InputError``, which ends in the rule, unless all cells are valid."""
    if valid.all():
        return
    wrong = values[~valid.to_numpy()]
    examples = ", ".join(repr(value) for value in wrong.unique().tolist()[:3])
    rows = f"{len(wrong)} of {len(values)} rows"
    raise InputError(f"column {values.name!r} holds {examples} in {rows}; {rule}")


# What programs make of a table: lists of one, ranges as dates, copied rows.


def unwrap_lists(table: pd.DataFrame, but: str | tuple[str, ...] = ()) -> pd.DataFrame:
    """Return a table whose columns of lists of one text or number, also as text, hold these. Empty
    cells stay, and so does a column with any other list, or whose name ends as in ``but``.
    """
    names = (str(name) for name in table if table[name].dtype in (object, "str"))
    for name in (name for name in names if not name.endswith(but)):
        if not any(is_list_like(_only_part(cell)) for cell in table[name]):
            table = table.assign(**{name: table[name].map(_only_part)})
    return table


def _only_part(cell: Any) -> object:
    """Return the part of a list of one, an empty cell as it is, and anything else as a list."""
    if isinstance(cell, str) and (listed := _LIST_OF_ONE.fullmatch(cell.strip())):
        return listed[2] or listed[3]
    if isinstance(cell, list | tuple | np.ndarray):
        return cell[0] if len(cell) == 1 and is_scalar(cell[0]) else cell
    is_empty = is_scalar(cell) and (pd.isna(cell) or not str(cell).strip())
    return cell if is_empty else [cell]


def restore_ranges(table: pd.DataFrame, columns: Iterable[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with dates beside ranges such as 18-24 as the ranges from which a
    spreadsheet made them, and notes.
    """
    notes = []
    for name in (name for name in columns if name in table and table[name].dtype.kind == "O"):
        is_text = isinstance(table[name].dtype, pd.StringDtype)
        texts = table[name].fillna("") if is_text else table[name].map(str)
        distinct = [str(text) for text in texts.unique()]
        if not any(map(_RANGE.fullmatch, distinct)):
            continue
        restored = texts.map({text: _date_as_range(text) for text in distinct})
        is_date = restored.astype(object).fillna("") != ""
        if is_date.any():
            table = table.assign(**{name: table[name].astype(object).mask(is_date, restored)})
            made = ", ".join(sorted({*restored[is_date]}))
            notes.append(f"{is_date.sum():,} cells of {name!r} are dates; they are read as {made}")
    return table, notes


def _date_as_range(text: str) -> str:
    """Return the range that a date may have been: 5-17 of 17 May; empty for another text."""
    for year, form in _DATES:
        with suppress(ValueError):
            date = datetime.strptime(year + text.strip().removesuffix(" 00:00:00"), form)
            is_year = date.day == 1 and date.year < 2000  # 1-50 is January of 1950
            ends = (date.month, date.year % 100 if is_year else date.day)
            return "-".join(map(str, sorted(ends)))
    return ""


def _find_copies(table: pd.DataFrame, among: Sequence[Hashable] = ()) -> pd.Series[bool]:
    """Return which rows repeat an earlier one in all columns, if it is not by chance: the others
    are several, and nearly all differ in a column ``among`` these, by default those of words.
    """
    texts = table.astype(str)
    is_copy = texts.duplicated()
    kept = texts[~is_copy]
    if not is_copy.any() or len(kept) < _FEWEST_DISTINCT:
        return is_copy & False
    names = among or [x for x in kept if read_numbers(kept[x])[0].isna().mean() > 0.5]
    return is_copy & any(kept[name].nunique() >= _MOSTLY * len(kept) for name in names)


def leave_out_copies(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the table without copies of rows with an id, and a note; without ids they may be
    items of their own, and stay.
    """
    if "id" in table:
        repeated = get_column(table, "id").map(name_key).duplicated(keep=False)
        texts = table[repeated].map(name_key)
        is_copy = texts.duplicated().reindex(table.index, fill_value=False)
        note = "repeat another row with the same id in all columns; they are left out"
        table = table[~is_copy]
    else:
        is_copy = _find_copies(table)  # without a text or a name, rows are alike by chance
        note = "repeat an earlier row in all columns. Each counts, so leave out copies"
    n = int(is_copy.sum())
    return table, [f"{n:,} of {len(is_copy):,} rows {note}"] if n else []


def clean_models(
    table: pd.DataFrame, x: str, y: str, names: Iterable[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Return a table of models without rows that repeat another in all columns, with the ranges of
    columns of ``names`` restored, and notes.

    Where values of ``x`` or ``y`` often recur, rows may be alike by chance, and stay.
    """
    is_copy = _find_copies(table, [name for name in (x, y) if name in table])
    notes = []
    if n := int(is_copy.sum()):
        note = f"{n} of {len(table)} rows repeat another row in all columns; they are left out"
        notes.append(f"{note}, and others are numbered anew")
        table = table[~is_copy].reset_index(drop=True)
    named = [*dict.fromkeys(filter(None, names))]
    table, dates = restore_ranges(table, named)
    return table, [*notes, *dates, *note_missing(table, named)]

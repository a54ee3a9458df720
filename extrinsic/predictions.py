"""Tables of predictions: the options that say how to read one, and its columns as arrays."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from biasbridge.extrinsic.gaps import CRITERIA, Comparison, Gaps
from biasbridge.extrinsic.group_columns import (
    LIST,
    GroupColumn,
    combine,
    count_rows,
    cross_all,
    describe_small,
    name_unknown,
    prefix_shared,
    read_groups,
)
from biasbridge.extrinsic.grouped_predictions import (
    ALL,
    NONE,
    REST,
    UNKNOWN,
    UNKNOWN_FLAG,
    GroupedPredictions,
)
from biasbridge.extrinsic.measures import ECE, RANKINGS, SCORED, placements
from biasbridge.files import InputError, nearest
from biasbridge.files.choice import as_names
from biasbridge.files.columns import (
    CLASS_NONE,
    binary_key,
    case_note,
    find_blank,
    find_fractions,
    find_joined,
    get_column,
    label_key,
    leave_out_copies,
    name_key,
    positive_keys,
    read_binary,
    read_labels,
    read_numbers,
    read_scores,
    require_cells,
    restore_ranges,
    spell_alike,
)
from biasbridge.stats.intervals import ALPHA, holm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from biasbridge.extrinsic.grouped_predictions import Mask
    from biasbridge.extrinsic.measures import Counts

# Base rates move others, such as precision and F1
DEFAULT_MEASURES = ("base_rate", "recall", "fpr")
HARM = 0.02  # the smallest harm of interest, a share of items
SHARE = "share"  # a threshold: where as many items are flagged as by the first version
_GROUP_SEPARATOR = "\x1f"  # between the groups of an item in several
_UNKNOWN_GROUP = "they count in no group and in no rest"
_UNKNOWN_OF_COLUMN = "they count in no group of that column and in no rest of it"
_WITHOUT_GROUP = "they are in no group, and count in the rest of each"
_MIN_ORDERED = 0.75  # share of pairs in which a score agrees with predictions
_MANY_ERRORS = 3  # standard errors below an AUC of .5
_BINARY = {"0", "1"}
_MARKS = " ._-"  # between the words of a label or group, or after them
_LISTED_GROUPS = 5  # of rows that are left out
_LARGE_LOGIT = 20.0  # of larger scores from 0 to 100 each is a percentage
_MANY_NUMBERS = 20  # more are not codes of groups
_CODE_REMEDY = ". Recode labels with --map, such as LABEL_1=1,LABEL_0=0 (map= in Python)"
_LABEL_REMEDY = (
    ". Name the label that counts as 1 with --positive LABEL (positive=LABEL in Python), or compare"
    " each label with the rest by --multiclass (multiclass=True)"
)


class Unanswered(NamedTuple):
    """Items of a group with one label; ``n`` are left out, without a prediction or score."""

    group: str
    label: str
    n: int
    n_items: int

    @property
    def share(self) -> float:
        """Share of the items: how far their errors may be from those that are counted."""
        return self.n / self.n_items


@dataclass(frozen=True, kw_only=True)
class GapRequest:
    """What is asked of a table of predictions: the options of ``biasbridge.gaps``, explained there.

    Names are lists, ``cross`` a list of lists. ``group`` is by default the column "group", or none
    where columns are crossed. Raises ``InputError`` for incompatible options.
    """

    filter: str = ""
    gold: str = "label"
    pred: str | Sequence[str] = "prediction"
    score: str | Sequence[str] = ()
    group: str | Sequence[str] = ()
    group_sep: str = ""
    cross: Sequence[str] | Sequence[Sequence[str]] = ()
    privileged: str | None = None
    unprivileged: str | Sequence[str] = ()
    measures: str | Sequence[str] = ()
    positive: str | Sequence[str] = ()
    multiclass: bool = False
    cluster: str | None = None
    min_support: int = 10
    threshold: float | str | Sequence[float | str] | None = None
    cut: float | None = None
    map: str | Mapping[Any, object] | None = None

    def __post_init__(self) -> None:
        for name in ("pred", "score", "group", "unprivileged", "measures", "positive"):
            vars(self)[name] = as_names(getattr(self, name) or ())
        cross: Any = self.cross.split(",") if isinstance(self.cross, str) else self.cross or ()
        cross = [cross] if cross and isinstance(cross[0], str) else cross
        vars(self).update(cross=cross, group=self.group or ([] if cross else ["group"]))
        for problem in self._problems():
            raise InputError(problem)

    @property
    def measured(self) -> Sequence[str]:
        """The measures; by default with scores also AUCs."""
        return self.measures or (*DEFAULT_MEASURES, *(RANKINGS if self.score else ()))

    @property
    def is_at_share(self) -> bool:
        """Whether later classifiers flag the first one's share of the items."""
        return isinstance(self.threshold, Sequence) and SHARE in self.threshold

    def _problems(self) -> Iterator[str]:
        """Yield what is wrong with the options by themselves or together."""
        if not self.pred:
            yield "--pred names no column; give one for each classifier"
        if repeated := _repeated(self.group):
            yield f"--group {repeated} is given twice; name each column once"
        for columns in self.cross:
            if not 1 < len({*columns}) == len(columns):
                yield f"--cross {','.join(columns)}: give two or more columns, each once"
        if [*self.pred] == [self.gold]:
            yield f"--gold and --pred are both {self.gold!r}; name two columns"
        if repeated := _repeated(self.pred):
            yield f"--pred {repeated} is given twice; name each classifier once"
        if self.score and len(self.score) != len(self.pred):
            counts = f"{len(self.score)} --score and {len(self.pred)} --pred"
            yield f"{counts}; give a column of scores for each of the predictions"
        if self.multiclass and self.positive:
            yield "--multiclass measures every label, --positive one; give one of the two"
        if self.multiclass and self.score:
            yield "--score needs labels 0 and 1; leave it out, or leave out --multiclass"
        if self.is_at_share and not 1 < len(self.pred) == len(self.score):
            yield "--threshold share compares versions by their scores; give two or more --score"
        criteria = [name for name in self.measured if name in CRITERIA]
        if criteria and len(self.unprivileged) == 1 and not self.privileged:
            yield f"--measures {criteria[0]} compares two groups; name another --unprivileged"
        scored = [name for name in self.measured if name in SCORED]
        if scored and not self.score and not self.multiclass:
            yield f"--measures {' '.join(scored)} needs scores; give their column by --score"

    def read(self, table: pd.DataFrame) -> tuple[dict[str, pd.DataFrame], Gaps]:
        """Read the predictions of each classifier, with the columns of
        ``read_grouped_predictions``, the index of their rows and notes on their groups, and choose
        the comparisons.

        Raises ``InputError`` for a missing column or group, and for labels other than 0 and 1, or
        other than ``positive`` and ``multiclass`` allow.
        """
        if table.empty:
            raise InputError("the table of predictions has no rows; give one for each item")
        table = self._cut_fractions(table)
        table, date_notes = restore_ranges(table, self._group_columns)
        # Columns are joined by position; the index says of which rows, for the items of a change
        index, table = table.index, table.reset_index(drop=True)
        table, copy_notes = leave_out_copies(table)
        blanks = self._find_blanks(table)
        groups, is_kept, notes, unanswered = self._read_groups(table, blanks)
        table = table if is_kept.all() else table[is_kept]
        index, table = index[table.index], table.reset_index(drop=True)
        scores = self.score or [""] * len(self.pred)
        classifiers = {
            name: self._read_columns(table, name, score).assign(group=groups)
            for name, score in zip(self.pred, scores, strict=True)
        }
        notes += [*date_notes, *copy_notes]
        notes += [*self._column_notes(table), *self._case_notes(table)]
        notes += self._score_notes(table, classifiers)
        if self.is_at_share:
            notes.append(_flag_share_of_first(classifiers))
        repeats = bool(self.cluster) and table.attrs.get("cluster") == self.cluster
        for predictions in classifiers.values():
            predictions.attrs |= {"notes": notes, "repeats": repeats, "unanswered": unanswered}
            predictions.index = index
        return classifiers, self._choose_gaps(groups)

    @property
    def _group_columns(self) -> list[str]:
        """Columns of groups, and those that are crossed."""
        return list(dict.fromkeys(chain(self.group, *self.cross)))

    @property
    def _named_groups(self) -> set[str]:
        """Groups that options name, as names are compared."""
        return {*map(name_key, filter(None, (*self.unprivileged, self.privileged)))}

    def _cut_fractions(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the table with columns of fractions as 1, from ``cut`` on, and 0.

        Raises ``InputError`` for labels, and for groups of many values, that no option cuts.
        """
        named = self._named_groups
        has_names = bool(self.positive) or self.multiclass
        labels = [] if has_names else [self.gold]
        flags = {}
        for name in dict.fromkeys((*labels, *self._group_columns)):
            if (numbers := find_fractions(table, name)) is None:
                continue
            if self.cut is not None:
                flags[name] = (numbers >= self.cut).astype(float).where(numbers.notna()).array
                continue
            n, is_share = numbers.nunique(), bool(numbers.dropna().between(0, 1).all())
            are_codes = (n <= 2 or not is_share) and n <= _MANY_NUMBERS
            if name in labels or not (are_codes or {*map(name_key, numbers)} & named):
                kind = "labels" if name in labels else "names of groups"
                problem = f"column {name!r} holds numbers such as {_example(numbers)}, not {kind}"
                raise InputError(f"{problem}; give --cut 0.5 (cut=0.5) if 0.5 and more mean yes")
        for name in () if has_names else self.pred:
            if (numbers := find_fractions(table, name)) is not None:
                problem = f"column {name!r} holds scores such as {_example(numbers)}"
                middle = middle_score(table, [name])
                remedy = (
                    f"give --score {name} --threshold {middle} (score=, threshold=) and no --pred"
                )
                raise InputError(f"{problem}; {remedy}")
        return table.assign(**flags) if flags else table

    def _find_blanks(self, table: pd.DataFrame) -> dict[str, Mask]:
        """Return which rows lack a label, a prediction or a score, by column; ``InputError`` if all
        do.
        """
        named = CLASS_NONE if self.multiclass or self.positive else ()
        blanks = {}
        for name in dict.fromkeys((self.gold, *self.pred, *self.score)):
            cells = get_column(table, name, is_value=True)
            is_blank = find_blank(cells, named, numbers=name in self.score)
            blanks[name] = is_blank.to_numpy(dtype=bool)
        if np.any([*blanks.values()], axis=0).all():
            empty = [name for name, is_blank in blanks.items() if is_blank.all()]
            lacking = f"column {empty[0]!r} is empty" if empty else "a value is missing"
            listed = ", ".join(map(repr, blanks))
            raise InputError(f"{lacking} in every row; a row needs a value in each of {listed}")
        return {name: is_blank for name, is_blank in blanks.items() if is_blank.any()}

    def _read_groups(
        self, table: pd.DataFrame, blanks: Mapping[str, Mask]
    ) -> tuple[pd.Categorical, Mask, list[str], Unanswered]:
        """Return the groups of the rows that are kept, joined by ``_GROUP_SEPARATOR``, whether each
        row is, notes on rows without values, empty cells and crossed groups of little support, and
        where the last version has no prediction.

        Raises ``InputError`` for a missing column, and for cells that hold no names.
        """
        names = self._group_columns
        columns = prefix_shared({name: self._read_group_column(table, name) for name in names})
        is_left_out = np.any([np.zeros(len(table), bool), *blanks.values()], axis=0)
        is_kept: Mask = ~is_left_out
        notes = []
        unknown = _UNKNOWN_OF_COLUMN if self.group[1:] else _UNKNOWN_GROUP
        for meaning in (unknown, _WITHOUT_GROUP):
            empty = {
                name: column
                for name, column in columns.items()
                if column.is_empty.any() and column.has_unknown == (meaning == unknown)
            }
            is_empty = np.any([is_left_out & False, *(x.is_empty for x in empty.values())], axis=0)
            if n_empty := int((is_empty & is_kept).sum()):
                listed = " or ".join(map(repr, empty))
                count = f"{n_empty:,} of {is_kept.sum():,} rows have an empty {listed}"
                words = sorted({*chain(*(column.words for column in empty.values()))} - {""})
                count += f" ({', '.join(map(repr, words))} counts as empty)" if words else ""
                notes.append(f"{count}: {meaning}")
        group_columns = [name_unknown(columns[name]) for name in self.group]
        if self.cross:
            crossed = cross_all([[columns[name] for name in names] for names in self.cross])
            n_rows = dict(chain(*(count_rows(column, is_kept).items() for column in crossed)))
            notes.append(describe_small(n_rows, self.min_support))
            if self.group:  # the note alone names small cells
                small = {name for name, n in n_rows.items() if n < max(self.min_support, 1)}
                crossed = [column.without(small) for column in crossed]
            group_columns += [name_unknown(column) for column in crossed if column.groups]
        notes += [
            case_note(column.groups, f"groups of {name!r}", _MARKS)
            for name, column in columns.items()
        ]
        combined = combine(group_columns, chain)
        if blanks:
            has_repeats = "id" in table and bool(table["id"].duplicated().any())
            is_tested = not (self.cluster or has_repeats)  # rows are lost one by one
            notes.insert(0, self._describe_left_out(combined, blanks, is_left_out, is_tested))
        unanswered = self._find_unanswered(table, combined, blanks)
        return _as_categorical(combined, is_kept), is_kept, [*filter(None, notes)], unanswered

    def _find_unanswered(
        self, table: pd.DataFrame, groups: GroupColumn, blanks: Mapping[str, Mask]
    ) -> Unanswered:
        """Return of which group and label most items lack a prediction or score of a version."""
        lacking = [rows for name, rows in blanks.items() if name != self.gold]
        if not lacking:
            return Unanswered("", "", 0, 1)
        is_blank = np.any(lacking, axis=0)
        is_labelled = ~blanks.get(self.gold, np.zeros(len(table), dtype=bool))
        labels = table[self.gold].astype(str).map(name_key)
        found = [Unanswered("", "", 0, 1)]
        for label in labels[is_labelled].unique():
            rows: Mask = is_labelled & labels.eq(label).to_numpy()
            n_blank = count_rows(groups, rows & is_blank)
            n_all = count_rows(groups, rows) | {ALL: int(rows.sum())}
            n_blank[ALL] = int((rows & is_blank).sum())
            found += [Unanswered(name, label, n_blank[name], n) for name, n in n_all.items() if n]
        return max(found, key=lambda one: one.share)

    def _describe_left_out(
        self, groups: GroupColumn, blanks: Mapping[str, Mask], is_left_out: Mask, is_tested: bool
    ) -> str:
        """Return how many rows are left out, of which groups, and of which significantly many."""
        counts = " or ".join(f"{name!r} ({rows.sum():,})" for name, rows in blanks.items())
        versions = " of all versions" if len(self.pred) > 1 else ""
        note = f"{is_left_out.sum():,} of {len(is_left_out):,} rows lack {counts}"
        n_rows = count_rows(groups, np.ones(len(is_left_out), dtype=bool))
        n_left_out = count_rows(groups, is_left_out)
        names = [name for name, n in n_rows.items() if n]
        names.sort(key=lambda name: -n_left_out[name] / n_rows[name])
        listed = [f"{name} {n_left_out[name]:,} of {n_rows[name]:,}" for name in names]
        n_more = len(listed) - _LISTED_GROUPS
        listed[_LISTED_GROUPS:] = [f"{n_more} more groups"] if n_more > 0 else []
        note += f"; they are left out{versions}. By group: {', '.join(listed) or 'none'}"
        if not is_tested or len(names) < 2:
            return note
        k, n = np.array([(n_left_out[name], n_rows[name]) for name in names]).T
        p = holm(_exact_p(k, n, int(is_left_out.sum()), len(is_left_out)))
        often = [name for name, adjusted in zip(names, p, strict=True) if adjusted < ALPHA]
        most = [name for name in often if n_left_out[name] / n_rows[name] > is_left_out.mean()]
        verb = "more" if most else "less"
        differing = f"{verb} often of {', '.join(most or often)} than of other rows"
        tested = f"They are {differing} (exact test, Holm-adjusted p < {ALPHA})"
        return f"{note}. {tested}" if often else note

    def _column_notes(self, table: pd.DataFrame) -> Iterator[str]:
        """Yield notes on empty clusters and on decimal commas."""
        if self.cluster and (n_empty := int(find_blank(table[self.cluster]).sum())):
            count = f"{n_empty:,} of {len(table):,} rows have an empty {self.cluster!r}"
            yield f"{count}: each of these items is a cluster of its own"
        for name in self.score:
            if read_numbers(table[name])[1]:
                yield f"column {name!r} has decimal commas"
        if self.cut is not None:
            yield f"columns of fractions are cut: {self.cut:g} and more count as 1"

    def _read_group_column(self, table: pd.DataFrame, column: str) -> GroupColumn:
        """Read a column of groups, with those of its empty cells. A column of 0 and 1 gives its
        values if an option names one of them as a group.
        """
        separator = "\n" if self.group_sep == "\\n" else self.group_sep  # as a shell passes it
        read = read_groups(table, column, self._named_groups, separator)
        # Without a name in it, a cell of several names, or the one row of an item, is in no group
        may_be_none = bool(separator) or ("id" in table and bool(table["id"].duplicated().any()))
        unknown = [UNKNOWN] if read.is_flag or not may_be_none else []
        return read.with_empty(unknown)

    def _case_notes(self, table: pd.DataFrame) -> list[str]:
        """Return notes on labels and clusters that differ only in case, and on joined classes."""
        labels = {self.gold, *self.pred} if self.multiclass or self.positive else set()
        columns = labels | ({self.cluster} if self.cluster else set())
        cells = {name: map(str, table[name].unique()) for name in sorted(columns)}
        marks = {name: _MARKS * (name in labels) for name in cells}
        notes = [case_note(map(name_key, cells[x]), f"names in {x!r}", marks[x]) for x in cells]
        if self.positive:
            present = sorted({*read_labels(table, self.gold).map(label_key)})
            zeros = [label for label in present if label not in {*map(label_key, self.positive)}]
            listed = ", ".join(map(repr, zeros[:_LISTED_GROUPS])) + ", ..." * (len(zeros) > 5)
            notes += [f"labels of {self.gold!r} that count as 0: {listed}"] if zeros[1:] else []
        if self.multiclass and (joined := find_joined({*map(str, table[self.gold].unique())})):
            notes.append(f"{joined[0]!r} beside {joined[1]!r} is a class of its own")
        return [note for note in notes if note]

    def _score_notes(
        self, table: pd.DataFrame, classifiers: Mapping[str, pd.DataFrame]
    ) -> Iterator[str]:
        """Yield notes on scores that contradict predictions, or that are larger for label 0.

        Where a threshold of the score predicts, a column ``prediction`` of the table is compared.
        """
        is_used = {*self.measured} & {*SCORED} or self.is_at_share
        for name, score in zip(self.pred, self.score if is_used else (), strict=False):
            columns = classifiers[name]
            labels, predicted = columns["label"], columns["prediction"]
            if name.startswith(f"{score} ") and "prediction" in table:
                with suppress(InputError):
                    predicted = self._read_columns(table, "prediction", "")["prediction"]
            n_pairs = 12 * labels.sum() * (1 - labels).sum() or 1
            by_chance = 0.5 - _MANY_ERRORS * ((len(labels) + 1) / n_pairs) ** 0.5
            sides = [("predicted", predicted, _MIN_ORDERED), ("label", labels, by_chance)]
            for kind, flags, lowest in sides:
                if (share := _ordered_share(columns["score"], flags)) < lowest:
                    pairs = f"{kind} 1 has a larger {score!r} than {kind} 0 in {share:.0%} of pairs"
                    yield f"{pairs}: give the score of label 1, or AUCs are turned round"
                    break

    def _read_columns(self, table: pd.DataFrame, pred: str, score: str) -> pd.DataFrame:
        """Return the columns, groups aside, that ``read_grouped_predictions`` reads."""
        names = [self.gold, pred]
        labels: Sequence[Counts | pd.Series]
        if self.multiclass:
            labels = [read_labels(table, name) for name in names]
        elif self.positive:
            labels = [*_read_positive(table, names, self.positive).T]
        else:
            remedies = zip(names, (_LABEL_REMEDY, _CODE_REMEDY), strict=True)
            labels = [read_binary(table, name, remedy) for name, remedy in remedies]
        columns = pd.DataFrame({"label": labels[0], "prediction": labels[1]})
        if score:
            is_used = {*self.measured} & {*SCORED} or self.is_at_share
            columns["score"] = (read_scores if is_used else get_column)(table, score)
        if score and ECE in self.measured:
            is_probability = columns["score"].between(0, 1)
            require_cells(is_probability, table[score], f"{ECE} needs probabilities from 0 to 1")
        if "id" in table:
            columns["id"] = get_column(table, "id")
        if self.cluster:
            columns["unit"] = _read_clusters(table, self.cluster)
        return columns

    def _choose_gaps(self, groups: pd.Categorical) -> Gaps:
        """Return the requested comparisons. Default: the privileged group against the unprivileged
        one, or against each other group; without a privileged group each group against the rest;
        and the two furthest apart if there are more than two.
        """
        cells = groups.remove_unused_categories().categories
        present = {*_known_groups(chain(*(cell.split(_GROUP_SEPARATOR) for cell in cells)))}
        spelled = {name_key(name): name for name in present}
        others = [spelled.get(name_key(name), name) for name in self.unprivileged]
        privileged = spelled.get(name_key(self.privileged or ""), self.privileged or "")
        has_none = privileged == NONE and NONE not in present
        privileged = "" if has_none else privileged
        is_pair = bool(privileged) and len(others) == 1
        for name in filter(None, (privileged, *(others if is_pair else ()))):
            if name not in present:
                raise _no_such_group(name, sorted(present), is_crossed=not self.group)
        if privileged and not present - {privileged}:
            only = f"every row with a group is of group {privileged!r}"
            raise InputError(f"{only}; a gap needs a second group")
        without = groups.isna() | groups.isin([x for x in cells if x.startswith(UNKNOWN)])
        has_rest = groups.isna().any() or (has_none and without.any())
        if len(present) < 2 - bool(has_rest):
            remedy = "; an empty cell is of none" if without.any() else ""
            raise InputError(
                f"groups present: {', '.join(present) or 'none'}; a gap needs two{remedy}"
            )
        kind: Comparison = "one-vs-none" if has_none else "one-vs-rest"
        if privileged:
            kind = "pair" if is_pair else "pairwise"
        first = privileged or min(present)
        is_spread = len(present) > 2 and len(others) != 1
        is_spread |= not {*CRITERIA}.isdisjoint(self.measured)
        return Gaps(
            first,
            others[0] if is_pair else min(present - {first}, default=REST),
            self.min_support,
            measures=tuple(self.measured),
            compare=(kind, "max-difference") if is_spread else (kind,),
            groups=() if is_pair else tuple(others),
        )


def read_grouped_predictions(predictions: pd.DataFrame, gaps: Gaps) -> GroupedPredictions:
    """Read predictions as arrays; ``InputError`` for those that ``gaps`` cannot use."""
    predictions = flag_share(predictions, gaps.at)
    groups, row, group_id, unknown = _read_memberships(predictions, gaps)
    columns: dict[str, NDArray[Any]] = {
        name: read_binary(predictions, name) for name in ("label", "prediction")
    }
    if {*gaps.measures} & {*SCORED}:
        columns["score"] = read_scores(predictions, "score")
    if "unit" in predictions:
        columns["unit"] = pd.factorize(spell_alike(predictions["unit"]))[0]
    item, first = _read_items(predictions, columns, groups, row, group_id)
    columns = {name: values[first] for name, values in columns.items()}
    keys = predictions.get("resampled_by")
    return GroupedPredictions(
        groups,
        member=item[row],
        group_id=group_id,
        confusion_cell=2 * columns["label"] + columns["prediction"],
        score=columns.get("score"),
        unit=columns.get("unit"),
        resampled_by=None if keys is None else keys.iloc[first].astype(str).tolist(),
        level=gaps.level,
        min_support=gaps.min_support,
        unknown=unknown,
        repeats=predictions.attrs.get("repeats", False),
    )


def predict_by_threshold(table: pd.DataFrame, column: str, threshold: float) -> pd.Series:
    """Return whether each score is at least the threshold; None where it is missing."""
    cells = get_column(table, column)
    is_scored = ~find_blank(cells)
    scores = read_scores(table[is_scored], column)
    return pd.Series(scores >= threshold, cells.index[is_scored], object).reindex(cells.index)


def flag_share(predictions: pd.DataFrame, at: str | float) -> pd.DataFrame:
    """Return predictions of 1 for a share of the items, those of the highest scores; at "threshold"
    the predictions as they are.

    ``at``: the share; "share" for that of label 1. The number of items is the nearest that
    separates no equal scores, of two equally near the smaller. Rows of one ``id`` are one item.
    Raises ``InputError`` without scores.
    """
    if at == "threshold":
        return predictions
    if "score" not in predictions:
        raise InputError(f"gaps.at={at}: there are no scores to flag items by; leave gaps.at out")
    items = _one_row_each(predictions)
    share = read_binary(items, "label").mean() if at == "share" else float(at)
    thresholds, counts = np.unique(read_scores(items, "score"), return_counts=True)
    n_flagged = np.append(0, counts[::-1].cumsum())  # at thresholds from the highest on
    nearest = np.abs(n_flagged - share * len(items)).argmin()
    is_flagged = read_scores(predictions, "score") >= np.append(np.inf, thresholds[::-1])[nearest]
    return predictions.assign(prediction=is_flagged.astype(np.int64))


def _flag_share_of_first(classifiers: dict[str, pd.DataFrame]) -> str:
    """Let the later classifiers flag the share of items that the first one flags; return a note."""
    first, *later = classifiers
    items = _one_row_each(classifiers[first])
    n_flagged = {first: int(items["prediction"].sum())}
    for name in later:
        classifiers[name] = flag_share(classifiers[name], n_flagged[first] / len(items))
        n_flagged[name] = int(classifiers[name].loc[items.index, "prediction"].sum())
    counts = ", ".join(f"{name} {n:,}" for name, n in n_flagged.items())
    return f"an equal share is flagged: {counts} of {len(items):,} items"


def middle_score(table: pd.DataFrame, scores: Sequence[str]) -> float:
    """Return the usual threshold of scores: .5 of probabilities, 50 of percentages, 0 of others."""
    numbers = pd.concat([read_numbers(table[name])[0].dropna() for name in scores])
    if numbers.between(0, 1).all():
        return 0.5
    return 50.0 if numbers.between(0, 100).all() and numbers.max() > _LARGE_LOGIT else 0.0


def _one_row_each(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the first row of each item."""
    if "id" not in predictions:
        return predictions
    return predictions[~spell_alike(predictions["id"]).duplicated()]


def _read_positive(table: pd.DataFrame, columns: Sequence[str], positive: Sequence[str]) -> Counts:
    """Read columns of labels of any names as 1, if ``positive``, or 0: (rows, columns).

    A later column of 0 and 1 only is taken as it is where the first has other labels only; one of
    true and false, where the first is not: it says what is predicted positive.

    Raises ``InputError`` for a row without a label, a positive label that is not in the first
    column, labels of another column that are not in the first, and a column of 0 and 1 that may be
    labels or predictions of the positive ones.
    """
    plain = [read_labels(table, name).map(label_key) for name in columns]
    first = columns[0]
    labels_present = {*plain[0]}
    for label in map(label_key, positive):
        others = [name for name, labels in zip(columns, plain, strict=True) if label in {*labels}]
        if others and first not in others:
            remedy = f"recode it by --map {label}=LABEL (map= in Python)"
            raise InputError(f"{others[0]!r} holds {label!r}, and {first!r} does not; {remedy}")
    positive_labels = positive_keys(positive, labels_present, f"column {first!r}")
    flags = []
    for name, labels in zip(columns, plain, strict=True):
        is_truth = _is_truth(table[name]) and not _is_truth(table[first])
        if is_truth or ({*labels} <= _BINARY and not labels_present & _BINARY):
            flags.append(table[name].map(binary_key) == "1")
            continue
        are_labels = _BINARY & positive_labels == {"1"}  # predicted positive all the same
        is_mixed = labels_present & _BINARY and labels_present - _BINARY
        if {*labels} == _BINARY and is_mixed and not are_labels:
            raise InputError(
                f"column {name!r} holds 0 and 1 only, which may be labels of {first!r} or mean"
                " 'predicted positive'; give a column of labels, or of true and false"
            )
        if unknown := sorted({*labels} - labels_present):
            problem = f"column {name!r} holds {unknown[0]!r}, which {first!r} does not"
            listed = ", ".join(sorted(labels_present)[:10])
            remedy = f"recode them by --map {unknown[0]}=LABEL"
            raise InputError(f"{problem}; its labels: {listed}; {remedy}")
        flags.append(labels.isin(positive_labels))
    return np.column_stack(flags).astype(np.int64)


def _repeated(names: Sequence[str]) -> str:
    return " ".join(dict.fromkeys(name for name in names if names.count(name) > 1))


def _exact_p(k: Counts, n: Counts, n_marked: int, n_rows: int) -> list[float]:
    """Return twice the smaller exact tail of k marked rows among n, if marks fell at random."""
    from scipy.stats import hypergeom  # slow to import

    tails = hypergeom.cdf(k, n_rows, n_marked, n), hypergeom.sf(k - 1, n_rows, n_marked, n)
    p: list[float] = np.minimum(1, 2 * np.minimum(*tails)).tolist()
    return p


def _example(numbers: pd.Series[float]) -> str:
    return f"{numbers[numbers % 1 > 0].iloc[0]:g}"


def _ordered_share(scores: pd.Series[float], flags: pd.Series) -> float:
    """Return the share of pairs in which the flagged row has the larger score; 1 without pairs."""
    values, is_flagged = scores.to_numpy(), flags.to_numpy() == 1
    has_pairs = 0 < is_flagged.sum() < len(values)
    return (
        float(placements(values[is_flagged], values[~is_flagged])[0].mean()) if has_pairs else 1.0
    )


def _as_categorical(column: GroupColumn, kept: Mask) -> pd.Categorical:
    """Return the groups of the kept rows, joined; every group is a category, used or not."""
    texts = [_GROUP_SEPARATOR.join(names) for names in column.cells]
    categories = [*dict.fromkeys(filter(None, (*texts, *column.groups)))]
    index = {text: number for number, text in enumerate(categories)} | {"": -1}
    codes = np.array([index[text] for text in texts], dtype=np.int64)[column.code[kept]]
    joined: pd.Categorical = pd.Categorical.from_codes(codes, categories)  # type: ignore[call-overload]
    return joined


def _read_memberships(
    predictions: pd.DataFrame, gaps: Gaps
) -> tuple[Sequence[str], Counts, Counts, Mapping[str, str]]:
    """Return all groups, those that ``gaps`` names first and empty ones last, the row and the
    number of the group of each membership, and the name of each group's unknown items.
    """
    column = _read_groups(predictions, "group")
    names = [str(cell).split(_GROUP_SEPARATOR) for cell in column.cat.categories]
    cells_present = (names[code] for code in np.unique(column.cat.codes) if code >= 0)
    present = _known_groups(chain(*cells_present))
    allowed = _known_groups(chain(*names))
    _check_groups(present, allowed, gaps)
    groups = [*dict.fromkeys((*gaps.named, *gaps.groups, *present, *allowed))]
    unknown = sorted({*chain(*names)} - {*allowed}, reverse=True)  # of columns of 0 and 1 first
    index = {name: number for number, name in enumerate((*groups, *unknown))}
    # Numbers of all cells in one array, those of a cell from its start; a missing cell has code -1
    flat = np.array([index[name] for cell in names for name in cell], dtype=np.int64)
    size = np.array([*map(len, names), 0])
    code = column.cat.codes.to_numpy()
    n_groups, start = size[code], (np.cumsum(size) - size)[code]
    row = np.repeat(np.arange(len(code)), n_groups)
    shift = start - np.cumsum(n_groups) + n_groups
    of_groups = {group: name for name in unknown for group in name[1:].split(UNKNOWN)}
    return groups, row, flat[shift[row] + np.arange(len(row))], of_groups


def _read_items(
    predictions: pd.DataFrame,
    columns: Mapping[str, NDArray[Any]],
    groups: Sequence[str],
    row: Counts,
    group_id: Counts,
) -> tuple[Counts, Counts]:
    """Return the item of each row, (rows,), and the first row of each item, (items,): rows of one
    ``id`` are one item in several groups, with equal ``columns``.
    """
    rows = np.arange(len(predictions))
    if "id" not in predictions:
        return rows, rows
    ids = spell_alike(predictions["id"])
    if missing := int(ids.isna().sum()):
        raise InputError(f"{missing} of {len(ids)} rows have no id; give each, or drop the column")
    item = pd.factorize(ids)[0]
    first = np.unique(item, return_index=True)[1]
    remedy = "give each item an id of its own, or drop the column"
    for name, values in columns.items():
        if len(differing := np.flatnonzero(values != values[first][item])):
            raise InputError(
                f"the rows of id {ids.iloc[differing[0]]!r} differ in their"
                f" {'cluster' if name == 'unit' else name}; {remedy}"
            )
    ungrouped = np.setdiff1d(rows, row)
    row = np.concatenate([row, ungrouped])
    group_id = np.concatenate([group_id, np.full(len(ungrouped), -1)])
    pairs = pd.DataFrame({"item": item[row], "group": group_id})
    if len(repeated := np.flatnonzero(pairs.duplicated())):
        number = group_id[repeated[0]]
        is_group = 0 <= number < len(groups)
        where = f"in group {groups[number]!r}" if is_group else "without a group"
        raise InputError(f"id {ids.iloc[row[repeated[0]]]!r} occurs twice {where}; {remedy}")
    return item, first


def _read_groups(table: pd.DataFrame, column: str) -> pd.Series:
    """Return a column of groups as a categorical one, as which it keeps its empty categories;
    ``InputError`` for lists, written as text too.
    """
    remedy = ", and of an item in several groups a row for each, with its name in a column id"
    groups = get_column(table, column, remedy)
    if isinstance(groups.dtype, pd.CategoricalDtype):
        return groups
    groups = spell_alike(groups).astype("string").astype("category")
    for name in groups.cat.categories:
        if LIST.fullmatch(name):
            raise InputError(f"column {column!r} holds {name!r}, a list; give one group{remedy}")
    return groups


def _known_groups(names: Iterable[str]) -> list[str]:
    """Return the distinct names of groups, without those of unknown ones."""
    return sorted({name for name in names if not name.startswith((UNKNOWN, UNKNOWN_FLAG))})


def split_groups(cell: str) -> list[str]:
    """Return the groups of an item from its cell in the column ``group`` of predictions."""
    return _known_groups(cell.split(_GROUP_SEPARATOR))


def _check_groups(present: Sequence[str], allowed: Collection[str], gaps: Gaps) -> None:
    """Raise ``InputError`` for a group with a reserved name, and for one that does not exist."""
    reserved = {ALL: "the rows over all items"}
    if "one-vs-rest" in gaps.compare:
        reserved[REST] = "all items but those of a group"
    if "one-vs-none" in gaps.compare:
        reserved[NONE] = "the items in no group"
    for name, meaning in reserved.items():
        if name in present:
            raise InputError(f"a group is called {name!r}, the name of {meaning}; rename it")
    for group in (*gaps.named, *gaps.groups):
        if group not in (present if group in gaps.named else allowed):
            raise _no_such_group(group, present)


def _no_such_group(group: str, present: Sequence[str], *, is_crossed: bool = False) -> InputError:
    """Return the error for a named group without rows."""
    listed = ", ".join(repr(name) for name in present) or "none"
    remedy = "; name its column by --group too" if is_crossed else ""
    problem = f"no rows of group {group!r}{nearest(group, present)}"
    return InputError(f"{problem}; groups present: {listed}{remedy}")


def _read_clusters(table: pd.DataFrame, column: str) -> pd.Series[str]:
    """Return a column of clusters as text, of an empty cell its item; ``InputError`` for a single
    cluster.
    """
    clusters = spell_alike(get_column(table, column))
    if clusters.isna().all():
        raise InputError(f"column {column!r} is empty in every row; leave out --cluster")
    items = spell_alike(table["id"]) if "id" in table else table.index.to_series()
    clusters = clusters.fillna(UNKNOWN + items.astype(str))
    if len(clusters.unique()) == 1:
        raise InputError(f"column {column!r} has one cluster; an interval needs two or more")
    return clusters


def _is_truth(cells: pd.Series) -> bool:
    known = cells.dropna().unique()
    return {*map(binary_key, known)} <= _BINARY - {*map(name_key, known)}

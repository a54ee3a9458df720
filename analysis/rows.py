"""The rows of a slice, and the rows that the means of models are taken over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasbridge.analysis.residuals import factorize

if TYPE_CHECKING:
    from biasbridge.stats.arrays import Floats, Ints, Labels, Truths

MAX_MISSING = 0.2  # share of models: a kind of row that more of them lack is left out for all


@dataclass(frozen=True)
class Resampled:
    """Numbers over resamples for each row; rows that share theirs store them once.

    Shapes: values (distinct rows, resamples), place (n,); sizes (distinct rows,): number of words
    or items that resamples are drawn from, infinite where unknown.
    """

    values: Floats
    place: Ints
    sizes: Floats

    @classmethod
    def of(cls, values: Floats) -> Resampled:
        """Give each row its own numbers. Shape (n, resamples)."""
        return cls(values, np.arange(len(values)), np.full(len(values), np.inf))

    def __getitem__(self, places: Ints) -> Resampled:
        """Select rows."""
        return replace(self, place=self.place[places])

    def times(self, factor: Floats) -> Resampled:
        """Multiply each row by a factor, equal for rows that share their numbers. Shape (n,)."""
        value_factors = np.ones(len(self.values))
        value_factors[self.place] = factor
        return replace(self, values=self.values * value_factors[:, None])

    @property
    def size(self) -> float:
        """Return the median number of words or items; infinity where none is known."""
        return float(np.median(self.sizes[self.place])) if len(self.place) else np.inf

    def rows(self) -> Floats:
        """Return the numbers of every row. Shape (n, resamples)."""
        return self.values[self.place]


class Rows(NamedTuple):
    """The rows of a slice.

    Shapes: x, y, utility (n,); labels (n,): the ``model`` (an embedding or language model), its
    ``parent`` and the ``cluster`` of that (corpus, seed or language: the independent unit), its
    ``condition`` (method, words, options, direction and dose), its ``method``, the ``family`` of
    that and its ``word_list``, empty where unmodified; the ``setting`` (classifier and training
    data), the ``training`` behind a gap, and ``score_gap`` (names);
    ``x_resampled``, ``y_resampled``: over words and items drawn alike for all rows.
    """

    x: Floats
    y: Floats
    model: Labels
    parent: Labels
    cluster: Labels
    condition: Labels
    method: Labels
    family: Labels
    word_list: Labels
    setting: Labels
    training: Labels
    score_gap: Labels
    pattern: Labels
    utility: Floats
    x_resampled: Resampled
    y_resampled: Resampled

    @property
    def is_complete(self) -> Truths:
        """Return which rows have a score and a gap."""
        return both_finite(self.x, self.y)

    @property
    def kind(self) -> Ints:
        """Return a number from 0 for each setting, score and gap."""
        return factorize(np.char.add(np.char.add(self.setting, "\n"), self.score_gap))

    def comparable(self) -> Rows:
        """Return the rows with a score and a gap that the means of models are taken over, so that
        all are means of the same kinds, see ``select_comparable``; where no kind was planned for
        all models, models are compared with those of the same ``pattern`` of kinds.
        """
        is_used, pattern = select_comparable(factorize(self.model), self.kind, self.is_complete)
        parent = factorize(self.parent)
        patterns = np.bincount(np.unique(np.stack([parent, pattern]), axis=1)[0], minlength=1)
        names = np.where(patterns[parent] > 1, np.char.mod("%d", pattern), "")
        return self._replace(pattern=names).at(np.flatnonzero(is_used))

    def at(self, places: Ints) -> Rows:
        """Select rows."""
        return Rows._make(column[places] for column in self)


def select_comparable(
    model: Ints, kind: Ints, is_complete: Truths, max_missing: float = MAX_MISSING
) -> tuple[Truths, Ints]:
    """Return which rows the means of models are taken over, and for each row a number that differs
    between models whose means are of different kinds. Shapes: (n,) each -> (n,), (n,).

    Models have rows of several kinds (classifiers, doses of labels, queries), each with its own
    level, so that a mean over the available kinds would reflect which ones are missing. A kind that
    was not planned for all models (it has no row, not even an unknown one) is left out for all, and
    so is one that more than ``max_missing`` of the models lack while they have another: the worst
    first, and never the last. A model that lacks one of the other kinds is left out. Rows of one
    kind (trainings) may be fewer. Where no kind was planned for all models, each must have those
    planned for it.
    """
    shape = int(model.max(initial=-1)) + 1, int(kind.max(initial=-1)) + 1
    planned, measured = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    planned[model, kind], measured[model[is_complete], kind[is_complete]] = True, True
    planned &= measured.any(axis=0)  # kinds that no model has do not count
    planned_models = planned[planned.any(axis=1)]  # models without planned kinds do not count
    used_kinds: Truths = np.logical_and.reduce(planned_models)
    if not len(planned_models) or not used_kinds.any():
        has_all: Truths = np.logical_and.reduce(measured == planned, axis=1)
        pattern = np.unique(planned, axis=0, return_inverse=True)[1]
        return is_complete & has_all[model], pattern[model]
    while used_kinds.sum() > 1:
        partial = measured[measured[:, used_kinds].any(axis=1)]
        share_missing = np.where(used_kinds, (~partial).mean(axis=0), 0)
        if share_missing.max() <= max_missing:
            break
        used_kinds[share_missing.argmax()] = False
    has_all = np.logical_and.reduce(measured[:, used_kinds], axis=1)
    return is_complete & used_kinds[kind] & has_all[model], np.zeros_like(model)


def row_weights(model: Ints, kind: Ints) -> Floats:
    """Return weights of rows in the mean of their model, all kinds equal. Shape (n,)."""
    kinds = int(kind.max(initial=-1)) + 1
    pair = np.unique(model * kinds + kind, return_inverse=True)[1]
    share = 1 / np.bincount(pair)[pair]
    weights: Floats = share / np.bincount(model, share)[model]
    return weights


def both_finite(x: Floats, y: Floats) -> Truths:
    """Return which pairs are finite on both sides. Shapes: (n,), (n,) -> (n,)."""
    complete: Truths = np.isfinite(x) & np.isfinite(y)
    return complete

"""The rows of a slice, and which of them the means of models are taken over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from analysis.residuals import codes

if TYPE_CHECKING:
    from analysis.arrays import Floats, Ints, Labels, Truths

MOST_LACKING = 0.2  # of the models: a kind of row that more of them lack is left out for all


@dataclass(frozen=True)
class Resampled:
    """For each row numbers over resamples; many rows have the same ones, which are kept once.
    Shapes: values (different rows, resamples), place (n,); sizes (different rows,): how many words
    or items are drawn from, infinite where not known.
    """

    values: Floats
    place: Ints
    sizes: Floats

    @classmethod
    def of(cls, values: Floats) -> Resampled:
        """Each row with its own. Shape (n, resamples)."""
        return cls(values, np.arange(len(values)), np.full(len(values), np.inf))

    def __getitem__(self, places: Ints) -> Resampled:
        """Those of some of the rows."""
        return replace(self, place=self.place[places])

    def times(self, factor: Floats) -> Resampled:
        """Those of each row times a number, the same for rows that share theirs. Shape (n,)."""
        of_values = np.ones(len(self.values))
        of_values[self.place] = factor
        return replace(self, values=self.values * of_values[:, None])

    @property
    def size(self) -> float:
        """Return the median number of words or items; infinity where none is known."""
        return float(np.median(self.sizes[self.place])) if len(self.place) else np.inf

    def rows(self) -> Floats:
        """The numbers of every row. Shape (n, resamples)."""
        return self.values[self.place]


class Rows(NamedTuple):
    """The rows of a slice. Shapes: x, y, utility (n,); labels (n,): the ``model`` (an embedding or
    language model), the ``parent`` it was made from, the ``cluster`` of that (corpus, seed or
    language; what is independent of one another), its ``condition`` (method, words, options,
    direction and dose), its ``method``; the ``setting`` (classifier and what it learned from), the
    ``training`` in it that a gap comes of and what was ``asked`` (the score and the gap);
    ``x_resampled``, ``y_resampled``: over words and items drawn alike for all rows.
    """

    x: Floats
    y: Floats
    model: Labels
    parent: Labels
    cluster: Labels
    condition: Labels
    method: Labels
    setting: Labels
    training: Labels
    asked: Labels
    utility: Floats
    x_resampled: Resampled
    y_resampled: Resampled

    @property
    def known(self) -> Truths:
        """Which rows have a score and a gap."""
        return both_finite(self.x, self.y)

    @property
    def kind(self) -> Ints:
        """A number for each setting and question, from 0 on."""
        return codes(np.char.add(np.char.add(self.setting, "\n"), self.asked))

    def comparable(self) -> Rows:
        """The rows with a score and a gap that the means of models are taken over, so that all are
        means of the same things, see ``agreed``; where no kind was meant for all, models are
        compared with those that have the same.
        """
        kept, pattern = agreed(codes(self.model), self.kind, self.known)
        rows = self
        if len(set(pattern.tolist())) > 1:
            rows = rows._replace(parent=np.char.add(rows.parent, np.char.mod(" %d", pattern)))
        return rows.at(np.flatnonzero(kept))

    def at(self, places: Ints) -> Rows:
        """Some of the rows."""
        return Rows._make(column[places] for column in self)


def agreed(
    model: Ints, kind: Ints, known: Truths, most: float = MOST_LACKING
) -> tuple[Truths, Ints]:
    """Which rows the means of models are taken over, and for each row a number that differs between
    models whose means are of different kinds. Shapes: (n,) each -> (n,), (n,).

    Models have rows of several kinds (classifiers, doses of labels, queries), each with a level of
    its own, so that a mean over whatever is known would say what is missing. A kind that not all
    models were meant to have (it has no row, not even an unknown one) is left out for all, and so
    is one that a share above ``most`` of the models lack while they have another: the worst first,
    and never the last. A model that lacks one of the rest is left out. Rows of one kind (trainings)
    may be fewer. Where no kind was meant for all models each has to have those meant for it.
    """
    shape = int(model.max(initial=-1)) + 1, int(kind.max(initial=-1)) + 1
    planned, has = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    planned[model, kind], has[model[known], kind[known]] = True, True
    planned &= has.any(axis=0)  # what nobody has makes no difference
    asked = planned[planned.any(axis=1)]  # models meant for none of these say nothing of them
    kept: Truths = np.logical_and.reduce(asked)
    if not len(asked) or not kept.any():
        whole: Truths = np.logical_and.reduce(has == planned, axis=1)
        return known & whole[model], np.unique(planned, axis=0, return_inverse=True)[1][model]
    while kept.sum() > 1:
        some = has[has[:, kept].any(axis=1)]
        lacking = np.where(kept, (~some).mean(axis=0), 0)
        if lacking.max() <= most:
            break
        kept[lacking.argmax()] = False
    whole = np.logical_and.reduce(has[:, kept], axis=1)
    return known & kept[kind] & whole[model], np.zeros_like(model)


def weights_of(model: Ints, kind: Ints) -> Floats:
    """What each row counts for in the mean of its model, in which all kinds count alike. Shapes:
    (n,), (n,) -> (n,).
    """
    kinds = int(kind.max(initial=-1)) + 1
    own = np.unique(model * kinds + kind, return_inverse=True)[1]
    alike = 1 / np.bincount(own)[own]
    weights: Floats = alike / np.bincount(model, alike)[model]
    return weights


def both_finite(x: Floats, y: Floats) -> Truths:
    """Which pairs are known on both sides. Shapes: (n,), (n,) -> (n,)."""
    known: Truths = np.isfinite(x) & np.isfinite(y)
    return known

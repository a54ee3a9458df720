"""Can a linear classifier tell two groups apart from encodings? The metric ``probe``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from files import InputError, choice
from intrinsic.conventions import Convention
from intrinsic.item_metric import Floats, ItemMetric, Observed, sizes
from intrinsic.items.item import SLOT, ItemSet
from intrinsic.score import About

if TYPE_CHECKING:
    from files.models.encoder import Encoder

FOLDS = 5
ROUNDING = 1e-12  # of the mean square; below it all vectors are equal but for rounding


class Example(NamedTuple):
    """A sentence, its group, the word that makes it one of that group, and what else it shares."""

    sentence: str
    group: str
    term: str
    template: str
    attribute: str


@choice
class LinearProbe(ItemMetric):
    """The accuracy of a logistic regression on sentences whose words it was not trained on."""

    about: ClassVar[About] = About(
        name="probe",
        title="Linear probe, accuracy on held-out words",
        formula=(
            "share of sentences with sign(w . v + b) = group;  v: encoding, centred, over the root"
            " of the mean variance of its dimensions;  w, b: logistic regression (L2, C = 1) on the"
            " other folds"
        ),
        sign=(
            "1: a line tells the groups apart; chance: none does. Below chance: what was erased on"
            " the same words points the other way without those held out; no bias turned round"
        ),
        range=(0, 1),
        source="Conneau et al. (2018); after erasing Ravfogel et al. (2020)",
        roles={"first": "sentences", "second": "sentences"},
        unbiased=0.5,
        asks=("bec_pro_balanced", "lpbs_professions"),
        default=(
            "Ours: five folds, no term in two of them; where a group has one term alone, no"
            " template, and where there is one alone, no attribute. The n-th terms of both groups,"
            " often a pair, are held out together. No bias: the share of the larger group."
        ),
    )
    others: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "random_folds",
            "As usually done: five folds of sentences at random, so that the classifier may"
            " know the words again.",
            {"folds": "random"},
        ),
    )
    needs: ClassVar[str] = "encoder"

    folds: Annotated[Literal["shared", "random"], doc("what is held out together")] = "shared"

    @classmethod
    def takes(cls, items: ItemSet) -> str:
        """Sentences of two groups, or texts with a slot and fillers for it."""
        if not items.items:
            return f"{items.name} has no texts of two groups"
        if len({item.fills for item in items.items}) > 1 and items.fillers:
            return f"{items.name} mixes texts that hold their term with texts that ask for it"
        number = len({each.group for each in examples_of(items)})
        groups = "1 group" if number == 1 else f"{number} groups"
        return "" if number == 2 else f"{items.name} has {groups}, and two are told apart"

    def observe(self, given: Encoder, items: ItemSet) -> Observed:
        """1 where a sentence is classified right, 0 where it is not."""
        asked = examples_of(items)
        known = [each for each in asked if given.knows(each.sentence)]
        groups = [each.group for each in known]
        if len({*groups}) < 2:
            raise InputError(f"the model knows no sentence of a group of {items.name}")
        fields = ("term", "template", "attribute")
        labels = {name: [getattr(each, name) for each in known] for name in fields}
        factors = {name: each for name, each in labels.items() if any(each)}
        held_out, folds = self._folds(known, factors, items)
        vectors = np.asarray(given.encode([each.sentence for each in known]), dtype=np.float64)
        chance = max(map(groups.count, groups)) / len(groups)
        return Observed(
            values=classified_right(vectors, groups, folds),
            names=[each.sentence for each in known],
            factors=factors,
            groups=groups,
            settings={
                "pooling": given.pooling,
                "layer": given.layer % (given.layers + 1),
                "dtype": given.opened.dtype,
                **sizes(factors),
                "held out": held_out,
                "folds": len({*folds}),
                "chance": chance,
            },
            lost=sorted({each.sentence for each in asked} - {each.sentence for each in known}),
            unbiased=chance,
        )

    def _folds(
        self, known: Sequence[Example], factors: Mapping[str, Sequence[str]], items: ItemSet
    ) -> tuple[str, list[int]]:
        """What is held out together, and the fold of each example."""
        groups = [each.group for each in known]
        if self.folds == "random":
            sentences = [each.sentence for each in known]
            pairs = zip(groups, sentences, strict=True)
            drawn = sorted(pairs, key=lambda pair: sha256(pair[1].encode()).digest())
            dealt = deal(*zip(*drawn, strict=True))
            return "sentences", [dealt[sentence] for sentence in sentences]
        for name, labels in factors.items():
            if min(len({*each}) for each in _by_group(groups, labels).values()) > 1:
                dealt = deal(groups, labels)
                return name, [dealt[label] for label in labels]
        raise InputError(
            f"a group of {items.name} has one term, template and attribute alone, so that nothing"
            " can be held out"
        )

    def summarise(self, seen: Observed, weights: Floats) -> Mapping[str, Floats]:
        """The share of sentences that are classified right."""
        with np.errstate(invalid="ignore"):
            return {"": seen.values @ weights / weights.sum(axis=0)}

    def singles(self, seen: Observed) -> Mapping[str, float]:
        """The share of each term's sentences."""
        found = _by_group(seen.factors["term"], seen.values.tolist())
        return {term: float(np.mean(values)) for term, values in found.items()}


def examples_of(items: ItemSet) -> list[Example]:
    """The sentences of the groups: of texts with a slot for fillers the first one's and the
    second's, under the names of the first pair of fillers.
    """
    found = []
    for item in items.items:
        if item.fills or SLOT not in item.text:
            about = (item.group, item.term, item.template, item.attribute)
            found.append(Example(item.sentence, *about))
            continue
        for pair in items.fillers_of(item):
            for group, filler in zip(items.fillers[0], pair, strict=True):
                text = item.text.replace(SLOT, filler)
                found.append(Example(text, group, filler.lower(), item.template, item.term))
    return found


def deal(groups: Sequence[str], labels: Sequence[str]) -> dict[str, int]:
    """The fold of each label: the n-th of each group is in fold n modulo the number of folds, five
    or as many as the smaller group has labels.
    """
    found = [list(dict.fromkeys(each)) for each in _by_group(groups, labels).values()]
    number = min(FOLDS, *map(len, found))
    dealt: dict[str, int] = {}
    for each in found:
        for place, label in enumerate(each):
            dealt.setdefault(label, place % number)
    return dealt


def classified_right(vectors: Floats, groups: Sequence[str], folds: Sequence[int]) -> Floats:
    """1 where a logistic regression on all other folds gives a row its group, else 0, (n,).

    Vectors, (n, dim), are centred and divided by one number, the root of the mean variance of the
    dimensions trained on: neither scale nor rotation changes the result. ``InputError`` where these
    are all the same, or a fold holds all rows of a group.
    """
    from sklearn.linear_model import LogisticRegression  # slow to import

    classes, fold_of = np.asarray(groups), np.asarray(folds)
    right: NDArray[np.float64] = np.zeros(len(classes))
    for fold in np.unique(fold_of):
        tested = fold_of == fold
        trained = vectors[~tested]
        if len(np.unique(classes[~tested])) < 2:
            raise InputError(
                "one fold holds all sentences of a group; give both the same templates"
            )
        centre, variance = trained.mean(axis=0), trained.var(axis=0).mean()
        if variance <= ROUNDING * (trained**2).mean():
            raise InputError("all sentences have the same vector, so there is nothing to learn")
        model = LogisticRegression(solver="liblinear", max_iter=1000)  # the fastest
        model.fit((trained - centre) / np.sqrt(variance), classes[~tested])
        found = model.predict((vectors[tested] - centre) / np.sqrt(variance))
        right[tested] = found == classes[tested]
    return right


def _by_group(groups: Sequence[str], values: Sequence[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for group, value in zip(groups, values, strict=True):
        found.setdefault(group, []).append(value)
    return found

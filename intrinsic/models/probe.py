"""Linear probe for two groups in encodings: the metric ``probe``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import compress
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from annotated_types import doc
from numpy.typing import NDArray

from biasbridge.files import InputError, choice
from biasbridge.intrinsic.models.item_metric import ItemMetric, ItemObservations, items_from, sizes
from biasbridge.intrinsic.models.items import SLOT, ItemSet
from biasbridge.intrinsic.score import Convention, MetricInfo

if TYPE_CHECKING:
    from biasbridge.files.models.encoder import Encoder
    from biasbridge.stats.arrays import Floats


_FOLDS = 5
_NO_VARIANCE = 1e-12  # x mean square; a smaller variance is rounding error


class ProbeSentence(NamedTuple):
    """A sentence, its group, the word that assigns the group, its template and attribute."""

    sentence: str
    group: str
    term: str
    template: str
    attribute: str


@choice
class LinearProbe(ItemMetric):
    """Accuracy of a logistic regression on sentences with words held out of training."""

    about: ClassVar[MetricInfo] = MetricInfo(
        name="probe",
        title="Linear probe, accuracy on held-out words",
        formula=(
            "share of sentences with sign(w . v + b) = group;  v: encoding, centred, over the root"
            " of the mean variance of its dimensions;  w, b: logistic regression (L2, C = 1) on the"
            " other folds"
        ),
        sign=(
            "1: the groups are linearly separable; chance: they are not. Below chance: the bias was"
            " erased on the same words, held-out ones included; no reversed bias"
        ),
        range=(0, 1),
        source="Conneau et al. (2018); after erasing Ravfogel et al. (2020)",
        roles={"first": "sentences", "second": "sentences"},
        unbiased=0.5,
        asks=("bec_pro_balanced", "lpbs_professions"),
        default=(
            "Ours: five folds, and no term is in two of them. If a group has a single term, no"
            " template is; if it has a single template, no attribute is. The n-th terms of both"
            " groups, often a pair, are held out together. No bias: the share of the larger group."
        ),
    )
    further_conventions: ClassVar[tuple[Convention, ...]] = (
        Convention(
            "random_folds",
            "As usually done: five random folds of sentences, so that the classifier may have"
            " seen the words.",
            {"folds": "random"},
        ),
    )
    needs: ClassVar[str] = "encoder"
    version: ClassVar[int] = 2
    configuration: ClassVar[Mapping[str, object]] = items_from(
        "BuiltInItems", sets=["lpbs_professions"]
    )

    folds: Annotated[
        Literal["shared", "random"],
        doc("held out together: sentences that share a word, or random ones"),
    ] = "shared"

    @classmethod
    def reason_against(cls, items: ItemSet) -> str:
        """Return why the items do not give sentences of two groups; empty if they do."""
        if not items.items:
            return f"{items.name} has no texts of two groups"
        if len({item.fills for item in items.items}) > 1 and items.fillers:
            return f"{items.name} mixes texts that contain their term with texts that it fills"
        n_groups = len({example.group for example in _examples_of(items)})
        groups = "1 group" if n_groups == 1 else f"{n_groups} groups"
        return "" if n_groups == 2 else f"{items.name} has {groups}, and the probe needs two"

    def observe(self, encoder: Encoder, items: ItemSet) -> ItemObservations:
        """Return 1 for each sentence classified correctly, else 0."""
        examples = _examples_of(items)
        is_readable = [
            encoder.knows(example.sentence) and encoder.fits(example.sentence)
            for example in examples
        ]
        readable = list(compress(examples, is_readable))
        groups = [example.group for example in readable]
        if len({*groups}) < 2:
            raise InputError(f"the model knows no sentence of a group of {items.name}")
        # Of all sentences, so that a lost one does not part the n-th terms of both groups
        held_out, all_folds = self._folds(examples, is_readable, items)
        folds, factors = list(compress(all_folds, is_readable)), _factors(readable)
        sentences = [example.sentence for example in readable]
        vectors = np.asarray(encoder.encode(sentences), dtype=np.float64)
        chance = max(map(groups.count, groups)) / len(groups)
        return ItemObservations(
            values=_is_correct(vectors, groups, folds),
            names=sentences,
            factors=factors,
            groups=groups,
            settings={
                "pooling": encoder.pooling,
                "layer": encoder.layer % (encoder.layers + 1),
                "dtype": encoder.opened.dtype,
                **sizes(factors),
                "held out": held_out,
                "folds": len({*folds}),
                "chance": chance,
            },
            lost=sorted({example.sentence for example in examples} - {*sentences}),
            unbiased=chance,
        )

    def _folds(
        self, examples: Sequence[ProbeSentence], is_readable: Sequence[bool], items: ItemSet
    ) -> tuple[str, list[int]]:
        """Return the factor held out, of which each group has several labels, and the folds."""
        groups = [example.group for example in examples]
        if self.folds == "random":
            sentences = [example.sentence for example in examples]
            pairs = zip(groups, sentences, strict=True)
            shuffled = sorted(pairs, key=lambda pair: sha256(pair[1].encode()).digest())
            fold_of = _assign_folds(*zip(*shuffled, strict=True))
            return "sentences", [fold_of[sentence] for sentence in sentences]
        readable_groups = list(compress(groups, is_readable))
        for name, labels in _factors(examples).items():
            labels_of = _by_group(readable_groups, list(compress(labels, is_readable)))
            if min(len({*group}) for group in labels_of.values()) > 1:
                fold_of = _assign_folds(groups, labels)
                return name, [fold_of[label] for label in labels]
        raise InputError(
            f"a group of {items.name} has a single term, template and attribute, so nothing can be"
            " held out"
        )

    def singles(self, observed: ItemObservations) -> Mapping[str, float]:
        """Return the accuracy on each term's sentences."""
        values_of = _by_group(observed.factors["term"], observed.values.tolist())
        return {term: float(np.mean(values)) for term, values in values_of.items()}


def _factors(examples: Sequence[ProbeSentence]) -> dict[str, list[str]]:
    fields = ("term", "template", "attribute")
    labels_of = {name: [getattr(example, name) for example in examples] for name in fields}
    return {name: labels for name, labels in labels_of.items() if any(labels)}


def _examples_of(items: ItemSet) -> list[ProbeSentence]:
    """Return the sentences of the groups; a slot gives one for each filler."""
    examples = []
    for item in items.items:
        if item.fills or SLOT not in item.text:
            labels = (item.group, item.term, item.template, item.attribute)
            examples.append(ProbeSentence(item.sentence, *labels))
            continue
        for pair in items.fillers_of(item):
            for group, filler in zip(items.fillers[0], pair, strict=True):
                text = item.text.replace(SLOT, filler)
                examples.append(
                    ProbeSentence(text, group, filler.lower(), item.template, item.term)
                )
    return examples


def _assign_folds(groups: Sequence[str], labels: Sequence[str]) -> dict[str, int]:
    """Assign the n-th label of each group to a fold in turn, of five, or as many as labels."""
    labels_of = [list(dict.fromkeys(group)) for group in _by_group(groups, labels).values()]
    n_folds = min(_FOLDS, *map(len, labels_of))
    fold_of: dict[str, int] = {}
    for group_labels in labels_of:
        for n, label in enumerate(group_labels):
            fold_of.setdefault(label, n % n_folds)
    return fold_of


def _is_correct(vectors: Floats, groups: Sequence[str], folds: Sequence[int]) -> Floats:
    """Return 1 where a logistic regression on all other folds predicts a row's group, else 0, (n,).

    Vectors (n, dim) are centred and divided by one number, the root of the mean variance of the
    training dimensions, so that neither scale nor rotation changes the result.
    """
    from sklearn.linear_model import LogisticRegression  # slow to import

    classes, fold_of = np.asarray(groups), np.asarray(folds)
    correct: NDArray[np.float64] = np.zeros(len(classes))
    for fold in np.unique(fold_of):
        is_test = fold_of == fold
        training = vectors[~is_test]
        if len(np.unique(classes[~is_test])) < 2:
            raise InputError(
                "one fold holds all sentences of a group; give both the same templates"
            )
        centre, variance = training.mean(axis=0), training.var(axis=0).mean()
        if variance <= _NO_VARIANCE * (training**2).mean():
            raise InputError("all sentences have the same vector, so there is nothing to learn")
        classifier = LogisticRegression(solver="liblinear", max_iter=1000)  # the fastest
        classifier.fit((training - centre) / np.sqrt(variance), classes[~is_test])
        predicted = classifier.predict((vectors[is_test] - centre) / np.sqrt(variance))
        correct[is_test] = predicted == classes[is_test]
    return correct


def _by_group(groups: Sequence[str], values: Sequence[Any]) -> dict[str, list[Any]]:
    values_of: dict[str, list[Any]] = {}
    for group, value in zip(groups, values, strict=True):
        values_of.setdefault(group, []).append(value)
    return values_of

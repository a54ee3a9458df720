"""Every metric on a language model: of its likelihoods, of the texts it encodes, and of the vectors
that it gives words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from biasbridge.certificates import gender_words
from corpora.items import OwnItems, named_items, own_items
from files import InputError, nearest
from files.models.encoder import Encoder, Pooling
from files.models.language_model import AnyModel, LanguageModel, open_model
from intrinsic.audit import Audited, choose_metrics, conventions_of
from intrinsic.audit import audit as audit_vectors
from intrinsic.items.read import no_fillers
from intrinsic.likelihood.every import MODEL_METRICS
from intrinsic.likelihood.slots import BETWEEN, COMPARED, LOST
from intrinsic.metrics.every import METRICS

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

    from intrinsic.item_metric import ItemMetric
    from intrinsic.items.item import ItemSource
    from intrinsic.metric import Metric

Measuring = tuple["ItemMetric", LanguageModel | Encoder]


def audit_model(
    model: AnyModel,
    revision: str | None = None,
    *,
    metrics: Sequence[str] = (),
    queries: Sequence[str] = (),
    items: str | None = None,
    fillers: Sequence[str] = (),
    convention: str | None = None,
    language: str | None = None,
    layer: int = -1,
    pooling: Pooling = "mean",
    random_seed: int | None = None,
    name: str | None = None,
    device: str = "cpu",
    resamples: int = 0,
    seed: int = 0,
) -> list[Audited]:
    """The scores of a model, one a metric, convention and set of items, or part of it.

    ``model``, ``revision``, ``random_seed``: see ``open_model``; ``name``: it in the table.
    ``metrics``: by name; none: all that measure models of its kind. ``queries``: sets of items by
    name, of metrics on word vectors queries; ``items``: one's own file, in whose slots ``fillers``
    are put (``["he/she"]``) in the place of those of its language. ``convention``: by name, or
    ``all``. ``layer``, ``pooling``: of the encoder, where a convention does not say; single words
    are the mean of their tokens. ``resamples``: of the words of metrics on word vectors; those on
    items have their intervals always.

    Raises ``InputError`` for an unknown name, a convention that no metric has, items that cannot be
    read, slots without fillers, and a model that cannot be opened whole.
    """
    known = {**MODEL_METRICS, **METRICS}
    for each in metrics:
        if each not in known:
            there = f"{nearest(each, known)}; there are {', '.join(known)}"
            raise InputError(f"unknown metric {each!r}{there}")
    if items and queries:
        raise InputError(f"give items={items!r} or queries ({', '.join(queries)}), not both")
    if fillers and not items:
        raise InputError(f"fillers {', '.join(fillers)} are for the slots of items: give --items")
    own = own_items(items, language, fillers) if items else None
    if own:  # what is wrong with the items is said before a model is opened
        _require_fillers(own, metrics or list(MODEL_METRICS))
    given = named_items(queries) if queries else own
    opened = open_model(model, revision, device=device, random_seed=random_seed)
    opened = replace(opened, name=name or opened.name)
    encoder = Encoder(opened, layer=layer, pooling=pooling)
    on_items = [name for name in metrics if name in MODEL_METRICS]
    chosen = list(
        _metrics(on_items or list(MODEL_METRICS), given, convention, named=bool(on_items))
    )
    kind = opened.kind if random_seed is None else "random"
    sources = {metric.items for metric in chosen}
    languages = {each.name: gender_words(each) for source in sources for each in source.load()}
    audited: list[Audited] = []
    for metric in chosen if on_items or not metrics else ():
        if metric.needs == "model" and opened.kind == "encoder" and not on_items:
            continue  # it has no likelihoods, and nobody asked for them
        rows = metric.detailed(encoder if metric.needs == "encoder" else opened, seed=seed)
        audited += [Audited(opened.name, *row, kind, languages[row[0].query]) for row in rows]
    if on_words := [name for name in metrics if name in METRICS]:
        asked = choose_metrics(
            on_words,
            queries=queries,
            convention=convention,
            language=language or "en",
            resamples=resamples,
        )
        vectors = word_vectors_of(encoder, asked)
        scored = audit_vectors(vectors, asked, seed=seed)
        audited += [Audited(opened.name, *row, kind) for row in scored]
    if not audited:
        raise InputError(_nothing(metrics, convention))
    return audited


def _require_fillers(source: ItemSource, metrics: Sequence[str]) -> None:
    """Raise ``InputError`` where a metric puts fillers into one's own slots, and there are none."""
    kinds = [MODEL_METRICS[name] for name in metrics if name in MODEL_METRICS]
    asking = any("fillers" in kind.about.roles for kind in kinds)
    for each in source.load():
        if asking and isinstance(source, OwnItems) and (why := no_fillers(each)):
            raise InputError(why)


def notes_on(audited: Sequence[Audited], items: str | None, language: str | None) -> list[str]:
    """Return in what language one's own ``items`` were taken to be where none is stated, what was
    compared between texts, and how many items were lost for which reason.
    """
    notes = []
    for score in (one.score for one in audited if not one.score.part):
        if items and not language:
            notes.append(f"{items} is taken to be in {score.language!r}; give the language if not")
        title, total = f"{score.metric} {score.query}", score.n_found + score.n_lost
        for setting in score.settings.split("; "):
            name, _, value = setting.partition("=")
            if setting == f"{COMPARED}={BETWEEN}":
                notes.append(f"{title} compares between texts, which have terms of one group each")
            elif name.startswith(LOST):
                notes.append(f"{title}: {value} of {total} items {name}")
    return list(dict.fromkeys(notes))


def _metrics(
    names: Sequence[str], given: ItemSource | None, convention: str | None, *, named: bool
) -> Iterable[ItemMetric]:
    """Each metric by each convention asked for, on the items given or on its usual ones."""
    for name in names:
        kind = MODEL_METRICS[name]
        source = given or named_items(kind.about.asks, there_only=not named)
        if not source.load() or (given and not named and not _takes_any(kind, given)):
            continue
        for each in conventions_of(kind, convention):
            yield kind.by(each, items=source)


def _takes_any(kind: type[ItemMetric], source: ItemSource) -> bool:
    return any(not kind.takes(each) for each in source.load())


def word_vectors_of(encoder: Encoder, metrics: Sequence[Metric]) -> KeyedVectors:
    """The vectors of all words that metrics ask about, each word alone."""
    from train.word_states import in_templates, word_vectors

    words = {
        spelt: None
        for metric in metrics
        for query in metric.asked
        for wordset in query.sets.values()
        for word in wordset.words
        for spelt in ((word, word.lower()) if metric.case == "lower" else (word,))
    }
    return word_vectors(encoder, in_templates([*words], ["{}"]), layer=encoder.layer)


def _nothing(metrics: Sequence[str], convention: str | None) -> str:
    about = ", ".join(metrics) or "any metric of a language model"
    if not convention:
        return f"there is nothing to ask for {about}; give --items FILE.csv, or --query NAME"
    kinds = [MODEL_METRICS[name] for name in metrics if name in MODEL_METRICS]
    known = dict.fromkeys(
        name for kind in kinds or MODEL_METRICS.values() for name in kind.conventions()
    )
    there = f"{nearest(convention, known)}; there are {', '.join(known)}"
    return f"{about} has no convention {convention!r}{there}"

"""Study and probe of base pairs (Zhang, Sneyd & Stevenson, 2020): how far scores of words depend on
the base pair that is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless, Whole
from biasbridge.files.paths import digest_of
from biasbridge.intrinsic.lookup import find, most_frequent, unit_rows
from biasbridge.intrinsic.metric import PairScores, WordItem
from biasbridge.intrinsic.word_forms import Form, word_form
from biasbridge.intrinsic.words import load_queries, query_names

if TYPE_CHECKING:
    import pandas as pd
    from gensim.models import KeyedVectors
    from rich.console import Console

    from biasbridge.analysis.tables import Tables
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.stats.arrays import Floats

_PUBLISHED = Path(__file__).with_name("published_base_pairs.csv")
_NOTES = (
    "A word's direction is the sign of its score: towards the first or the second word of a pair."
    " Kappa is agreement beyond chance: 1 is perfect, 0 is as expected by chance.",
    "agreement is Landis and Koch's (1977) word: slight up to .20, fair to .40, moderate to .60,"
    " substantial to .80, almost perfect above, poor below 0.",
    "Intervals are 95%. low and high are over words (bootstrap). pairs low and pairs high are over"
    " base pairs (jackknife, Student's t). Neither covers the variation between trained"
    " embeddings.",
    "magnitude: how often another base pair changes a word's score by at least one standard"
    " deviation of the vocabulary's scores, as a share.",
    "Words out of vocabulary are left out. Forms are compared where both are in the vocabulary.",
)
_PairRow = dict[str, str | float]
_TEXTS = (*("metric", "convention", "query", "kind", "set", "word", "form"), "pair", "pair_form")
_NUMBERS = ("truth", "score", "sd", "n")
_EMPTY_PAIR_ROW: _PairRow = {
    **dict.fromkeys((*_TEXTS, "compared_with"), ""),
    **dict.fromkeys(_NUMBERS, np.nan),
}
_BLOCK = 5_000


@choice
class BasePairStudy(Fileless):
    """Dependence of words' scores on the base pair, after Zhang, Sneyd & Stevenson (2020): their
    tables 1 to 6 and figures 1 and 2, for any metrics of the probe ``base_pairs``.

    Prints a summary and writes ``base_pairs.csv``, figures and ``report.html``.
    """

    resamples: Annotated[Whole, doc("bootstrap resamples of the words, for intervals")] = 1_000
    least_words: Annotated[Count, doc("fewer words give no kappa")] = 10
    published: Annotated[
        bool, doc("true: add the numbers that Zhang et al. (2020) print for GoogleNews")
    ] = False

    name: ClassVar[str] = "base_pairs"
    version: ClassVar[int] = 2
    writes: ClassVar[tuple[str, ...]] = ("base_pairs.csv", "figures", "report.html")
    chosen_as: ClassVar[tuple[str, ...]] = ("study/base_pairs",)

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw the study; return the paths written."""
        from biasbridge.studies.base_pair_estimates import (
            Bootstrap,
            add_unaided_solutions,
            estimate_all,
        )
        from biasbridge.studies.base_pair_tables import (
            add_agreement,
            base_pair_charts,
            point_names,
            read_probes,
            report_tables,
        )
        from biasbridge.studies.conclusion import Conclusion, conclude

        try:
            query_results = list(read_probes(tables))
        except InputError as refusal:
            console.print(f"no study of base pairs: {refusal}")
            return []
        names = point_names(tables.points)
        estimates = estimate_all(query_results, Bootstrap(self.resamples, self.least_words))
        estimates = add_unaided_solutions(estimates, tables.intrinsic)
        if self.published:
            estimates = _with_published(estimates)
        add_agreement(estimates)
        estimates.insert(0, "vectors", [names[point] for point in estimates["point"]])
        drawings = base_pair_charts(estimates, query_results, names)
        missing_words = {
            word: None
            for *_, results in query_results
            for result in results.values()
            for words in result.oov.values()
            for word in words
        }
        out_of_vocabulary = f"Out of vocabulary: {', '.join(missing_words) or 'none'}."
        conclusion = Conclusion(
            "Do scores along base pairs depend on the pair?",
            _base_pair_answer(estimates),
            {"base_pairs": estimates},
            report_tables(estimates),
            {name: chart for name, (chart, _) in drawings.items()},
            [*_NOTES, out_of_vocabulary],
            {name: chart_data for name, (_, chart_data) in drawings.items()},
        )
        return conclude(conclusion, tables.points, folder, console)


def _with_published(estimates: pd.DataFrame) -> pd.DataFrame:
    """Add ``published``, which Zhang, Sneyd & Stevenson (2020) print for all ten pairs, and for
    means over fewer pairs ``published_here``, the mean of their numbers for these pairs.
    """
    import pandas as pd

    keys = ["query", "statistic", "metric", "compared_with", "pair"]
    published = pd.read_csv(_PUBLISHED, keep_default_na=False)
    joined = estimates.merge(published, on=keys, how="left", validate="many_to_one")
    single_pairs = joined[joined["pair"].ne("") & joined["value"].notna()]
    means = single_pairs.groupby(["point", *keys[:-1]], sort=False)["published"].mean()
    means_here = means.rename("published_here").reset_index().assign(pair="")
    return joined.merge(means_here, on=["point", *keys], how="left", validate="many_to_one")


def _base_pair_answer(estimates: pd.DataFrame) -> str:
    """Say in one sentence how far the pairs of the first query agree on its words' directions."""
    from biasbridge.studies.base_pair_tables import agreement_in_words

    rows = estimates[estimates["statistic"].eq("fleiss")]
    query = rows["query"].iloc[0] if len(rows) else ""
    rows, parts = rows[rows["query"].eq(query)], []
    for metric, part in rows.groupby("metric", sort=False):
        values = [value for value in part["value"].tolist() if isfinite(value)]
        if values:
            ends = [min(values), max(values)][: len(values)]
            shown = (f"{kappa:.2f} ({agreement_in_words(kappa)})" for kappa in ends)
            parts.append(f"{metric} {' to '.join(shown)}")
    kappas = ", ".join(parts) or "undefined for all metrics"
    title = f"Agreement of base pairs on the directions of words ({query}), Fleiss's kappa"
    return f"{title}: {kappas}."


@choice
class BasePairScores(Fileless):
    """Score of every word under every base pair, for metrics that have such scores
    (``biasbridge.intrinsic.metric.Metric.by_pair``), after Zhang, Sneyd & Stevenson (2020).
    Rows by ``kind``:

    * ``score``: of a ``word`` in a ``form`` under a ``pair`` in a ``pair_form``; ``set``: the role
      of the query's own words, or the query of ``truths`` with the word in X (``truth`` 1) or Y
      (-1)
    * ``vocabulary``: mean and ``sd`` under a pair, over the ``vocabulary`` most frequent words
    * ``difference``: cosine of the differences a - b of ``pair`` and ``compared_with``
    * ``likeness``: cosine of the two words of a pair, base pairs and pairs that are scored
    * ``random``: mean and ``sd`` of ``samples`` cosines of random words, and of their differences
    * ``oov``: a word or pair that is out of vocabulary

    Words and base pairs are those of each query of the metric. Raises ``InputError`` for a metric
    without such scores, fewer than two base pairs and a pair of one word.
    """

    truths: Annotated[
        tuple[str, ...], doc("queries whose X goes with the pairs' first words, and Y with second")
    ] = ("trait_forms", "animal_names")
    forms: Annotated[tuple[Form, ...], doc("other forms of the words; plural: English only")] = (
        "plural",
        "capital",
        "upper",
    )
    pair_forms: Annotated[tuple[Form, ...], doc("other forms of the base pairs")] = ("capital",)
    vocabulary: Annotated[Whole, doc("frequent words for mean and sd; 0: none")] = 50_000
    samples: Annotated[Count, doc("random pairs of words, and of differences")] = 100_000

    name: ClassVar[str] = "base_pairs"
    version: ClassVar[int] = 2
    needs: ClassVar[str] = "vectors"
    per_metric: ClassVar[bool] = True
    chosen_as: ClassVar[tuple[str, ...]] = ("probe/base_pairs",)

    def keyed(self) -> Mapping[str, object]:
        """Return a digest of the built-in words of ``truths``; a metric's own file has a key."""
        built_in = load_queries([name for name in self.truths if name in query_names()])
        return {"truths": digest_of([query.key_fields() for query in built_in])}

    def rows(self, vectors: KeyedVectors, metric: Metric | None, *, seed: int) -> pd.DataFrame:
        """Return the rows of every query of the metric; see the class."""
        import pandas as pd

        if metric is None:
            raise InputError("the probe base_pairs examines metrics; name some in intrinsic=[...]")
        rows: list[_PairRow] = []
        for query in metric.loaded_queries:
            about: _PairRow = {"metric": metric.name, "convention": metric.label}
            about["query"] = query.name
            scores = PairScores.resolve(metric, vectors, query)
            frequent = most_frequent(vectors, self.vocabulary or len(vectors))
            parts: list[Iterable[_PairRow]] = [
                (
                    {"kind": "oov", "set": role, "word": word}
                    for role in (scores.metric.items, "pairs")
                    for word in scores.resolved[role].lost
                ),
                _cosines(scores),
                _random_cosines(vectors, frequent, self.samples, seed),
                _scores(scores, self._entries(scores, metric), self.pair_forms),
            ]
            if scores.metric.items == "words" and self.vocabulary:
                parts.append(_vocabulary_moments(scores, frequent))
            rows += [_EMPTY_PAIR_ROW | about | row for part in parts for row in part]
        return pd.DataFrame(rows)

    def _entries(self, scores: PairScores, metric: Metric) -> list[_Entry]:
        """List the query's items, its words in every form, and words of known direction."""
        role, language = scores.metric.items, scores.resolved.query.language
        query_entries = [
            _Entry(role, 0, item, "base", item) for item in scores.resolved[role].items
        ]
        if role != "words":
            return query_entries
        entries = query_entries[:]
        for form in self.forms:
            for entry in query_entries:
                changed_word = word_form(entry.item[0], form, language)
                if changed_word and scores.has(changed_word):
                    entries.append(_Entry(role, 0, entry.item, form, (changed_word,)))
        for query in load_queries(self.truths, metric.words):
            for side, truth in (("X", 1), ("Y", -1)):
                if side not in query.sets:
                    raise InputError(f"truths: query {query.name!r} has no {side}; name another")
                words = find(scores.resolved.vectors, query[side].words, case=metric.case)
                entries += [_Entry(query.name, truth, item, "base", item) for item in words.items]
        return entries


class _Entry(NamedTuple):
    """Item to score: ``item`` of the query, changed to a ``form``, which is ``looked_up``."""

    set: str
    truth: int
    item: WordItem
    form: Form
    looked_up: WordItem


def _scores(
    scores: PairScores, entries: Sequence[_Entry], pair_forms: Sequence[Form]
) -> Iterator[_PairRow]:
    """Yield every entry under every base pair, and the query's own also under the pairs' forms."""
    forms: tuple[Form, ...] = ("base", *pair_forms)
    for pair_form in forms:
        block_entries = entries
        pairs: list[tuple[WordItem, WordItem]] = [(pair, pair) for pair in scores.pairs]
        if pair_form != "base":
            changes = [
                (pair, tuple(word_form(w, pair_form) or w for w in pair)) for pair, _ in pairs
            ]
            pairs = [(pair, new) for pair, new in changes if pair != new and scores.has(*new)]
            block_entries = [entry for entry in entries if entry.form == "base" and not entry.truth]
        if not pairs:
            continue
        items = [entry.looked_up for entry in block_entries]
        values = scores(items, [changed for _, changed in pairs])
        for entry, row in zip(block_entries, values.tolist(), strict=True):
            about: _PairRow = {"kind": "score", "set": entry.set, "truth": entry.truth}
            about |= {"word": ":".join(entry.item), "form": entry.form, "pair_form": pair_form}
            for (pair, _), score in zip(pairs, row, strict=True):
                yield about | {"pair": ":".join(pair), "score": score}


def _vocabulary_moments(scores: PairScores, words: Sequence[str]) -> Iterator[_PairRow]:
    sums = np.zeros((2, len(scores.pairs)))
    for start in range(0, len(words), _BLOCK):
        values = scores([(word,) for word in words[start : start + _BLOCK]], scores.pairs)
        sums += values.sum(axis=0), (values**2).sum(axis=0)
    means, squares = sums / len(words)
    spreads = np.sqrt(np.maximum(squares - means**2, 0))
    for pair, mean, sd in zip(scores.pairs, means.tolist(), spreads.tolist(), strict=True):
        about: _PairRow = {"kind": "vocabulary", "pair": ":".join(pair), "n": len(words)}
        yield about | {"score": mean, "sd": sd}


def _cosines(scores: PairScores) -> Iterator[_PairRow]:
    """Yield cosines of the differences of every two base pairs, and of the two words of a pair."""
    words = scores.resolved
    pairs = words["pairs"].raw
    differences = unit_rows(pairs[:, 0] - pairs[:, 1])
    names = words["pairs"].words
    for i, j in combinations(range(len(names)), 2):
        about: _PairRow = {"kind": "difference", "pair": names[i], "compared_with": names[j]}
        yield about | {"score": float(differences[i] @ differences[j])}
    for role in ("pairs", scores.metric.items):
        if words.query[role].width == 2:
            likeness = np.einsum("ij,ij->i", *words[role].matrix.swapaxes(0, 1))
            for name, value in zip(words[role].words, likeness.tolist(), strict=True):
                yield {"kind": "likeness", "set": role, "word": name, "score": value}


def _random_cosines(
    vectors: KeyedVectors, words: Sequence[str], samples: int, seed: int
) -> Iterator[_PairRow]:
    """Yield moments of the cosines of random differences a - b, c - d and of random words a, c."""
    rng = np.random.default_rng(seed)
    word_indices = np.array([vectors.key_to_index[word] for word in words], dtype=np.intp)
    cosines: list[list[Floats]] = []
    for start in range(0, samples, _BLOCK):
        sample = rng.choice(word_indices, size=(4, min(_BLOCK, samples - start)))
        a, b, c, d = np.asarray(vectors.vectors[sample], dtype=np.float64)
        cosines.append([_row_cosines(a - b, c - d), _row_cosines(a, c)])
    for name, parts in zip(("differences", "words"), zip(*cosines, strict=True), strict=True):
        values = np.concatenate(parts)
        finite = values[np.isfinite(values)]  # a word may be drawn with itself
        about: _PairRow = {"kind": "random", "set": name, "n": len(finite)}
        yield about | {"score": float(finite.mean()), "sd": float(finite.std())}


def _row_cosines(x: Floats, y: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
        return np.asarray(np.einsum("ij,ij->i", x, y) / lengths)

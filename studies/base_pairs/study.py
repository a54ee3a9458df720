"""Study of base pairs: how far scores of words depend on the base pair that is chosen."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import doc

from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count, Fileless, Whole

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.analysis.results import Tables

PUBLISHED = Path(__file__).parent / "published.csv"
NOTES = (
    "A word's direction is the sign of its score: towards the first or the second word of a pair."
    " Kappa is agreement beyond chance: 1 perfect, 0 as expected by chance.",
    "Intervals are 95%: low and high over words (bootstrap), pairs low and pairs high over base"
    " pairs (jackknife, Student's t). Neither covers the variation between trained embeddings.",
    "magnitude: share of changes of the base pair that change a word's score by at least one"
    " standard deviation of the vocabulary's scores.",
    "Out-of-vocabulary words are left out; forms are compared where both are in the vocabulary.",
)


@choice
class BasePairs(Fileless):
    """Dependence of words' scores on the base pair, after Zhang, Sneyd & Stevenson (2020): their
    tables 1 to 6 and figures 1 and 2, for any metrics of the probe ``base_pairs``.

    Prints a summary and writes ``base_pairs.csv``, figures and ``report.html``. ``resamples`` of
    the words give intervals; fewer than ``least_words`` words give no kappa. ``published`` adds the
    numbers that the paper prints for GoogleNews.
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
        from biasbridge.studies.base_pairs.analogies import add_unaided_solutions
        from biasbridge.studies.base_pairs.estimate import Bootstrap
        from biasbridge.studies.base_pairs.figures import charts
        from biasbridge.studies.base_pairs.probe_results import read_probes
        from biasbridge.studies.base_pairs.report_tables import point_names, report_tables
        from biasbridge.studies.base_pairs.table import estimate_all
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
            estimates = with_published(estimates)
        estimates.insert(0, "vectors", [names[point] for point in estimates["point"]])
        drawings = charts(estimates, query_results, names)
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
            answer(estimates),
            {"base_pairs": estimates},
            report_tables(estimates),
            {name: chart for name, (chart, _) in drawings.items()},
            [*NOTES, out_of_vocabulary],
            {name: chart_data for name, (_, chart_data) in drawings.items()},
        )
        return conclude(conclusion, tables.points, folder, console)


def with_published(estimates: pd.DataFrame) -> pd.DataFrame:
    """Add ``published``, which Zhang, Sneyd & Stevenson (2020) print for all ten pairs, and for
    means over fewer pairs ``published_here``, the mean of their numbers for these pairs.
    """
    import pandas as pd

    keys = ["query", "statistic", "metric", "compared_with", "pair"]
    published = pd.read_csv(PUBLISHED, keep_default_na=False)
    joined = estimates.merge(published, on=keys, how="left", validate="many_to_one")
    single_pairs = joined[joined["pair"].ne("") & joined["value"].notna()]
    means = single_pairs.groupby(["point", *keys[:-1]], sort=False)["published"].mean()
    means_here = means.rename("published_here").reset_index().assign(pair="")
    return joined.merge(means_here, on=["point", *keys], how="left", validate="many_to_one")


def answer(estimates: pd.DataFrame) -> str:
    """Say in one sentence how far the pairs of the first query agree on its words' directions."""
    rows = estimates[estimates["statistic"].eq("fleiss")]
    query = rows["query"].iloc[0] if len(rows) else ""
    rows, parts = rows[rows["query"].eq(query)], []
    for metric, part in rows.groupby("metric", sort=False):
        values = [value for value in part["value"].tolist() if isfinite(value)]
        if values:
            low, high = min(values), max(values)
            parts.append(f"{metric} {low:.2f}" + (f" to {high:.2f}" if len(values) > 1 else ""))
    kappas = ", ".join(parts) or "undefined for all metrics"
    title = f"Agreement of base pairs on the directions of words ({query}), Fleiss's kappa"
    return f"{title}: {kappas}."

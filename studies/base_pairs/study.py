"""Are scores of words along base pairs those of the words, or of the pairs chosen?"""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from files import InputError, choice
from files.choice import Count, Fileless, Whole

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from analysis.results import Tables

PUBLISHED = Path(__file__).parent / "published.csv"
NOTES = (
    "A word's direction is the sign of its score: towards the first or the second word of a pair."
    " Kappas are agreement beyond chance: 1 always, 0 as by chance.",
    "Intervals are 95%: low and high over words (bootstrap), pairs low and pairs high over base"
    " pairs (jackknife, Student's t). Neither says what other trainings would give.",
    "magnitude: share of changes of the base pair that change a word's score by at least one"
    " standard deviation of the vocabulary's scores.",
    "Words outside the vocabulary are left out; forms are compared where both are in it.",
)


@choice
class BasePairs(Fileless):
    """How far scores of words depend on the base pair, after Zhang, Sneyd & Stevenson (2020): their
    tables 1 to 6 and figures 1 and 2, for any metrics of the probe ``base_pairs``.

    Prints a summary and writes ``base_pairs.csv``, figures and ``report.html``. Intervals over
    words are drawn ``resamples`` times; fewer than ``least_words`` words give no kappa.
    ``published`` puts the numbers beside that the study prints for GoogleNews. ``shown``: the word
    of figure 1; by default the first with all forms there are.
    """

    resamples: Whole = 1_000
    least_words: Count = 10
    published: bool = False
    shown: str | None = None

    name: ClassVar[str] = "base_pairs"
    version: ClassVar[int] = 1
    writes: ClassVar[tuple[str, ...]] = ("base_pairs.csv", "figures", "report.html")

    def conclude(self, tables: Tables, folder: Path, console: Console) -> list[Path]:
        """Print, write and draw; the paths written."""
        from studies.base_pairs.analogies import unaided
        from studies.base_pairs.estimate import Bootstrap
        from studies.base_pairs.figures import charts
        from studies.base_pairs.readings import read_probes
        from studies.base_pairs.shown import point_names, shown_tables
        from studies.base_pairs.table import estimate_all
        from studies.conclusion import Conclusion, conclude

        try:
            every = list(read_probes(tables))
        except InputError as refusal:
            console.print(f"no study of base pairs: {refusal}")
            return []
        names = point_names(tables.points)
        found = estimate_all(every, Bootstrap(self.resamples, self.least_words))
        found = unaided(found, tables.intrinsic)
        if self.published:
            found = beside_published(found)
        found.insert(0, "vectors", [names[point] for point in found["point"]])
        drawn = charts(found, every, names, self.shown)
        lost = {
            word: None
            for *_, readings in every
            for each in readings.values()
            for words in each.lost.values()
            for word in words
        }
        outside = f"Outside the vocabulary: {', '.join(lost) or 'none'}."
        conclusion = Conclusion(
            "Do scores along base pairs depend on the pair?",
            answer(found),
            {"base_pairs": found},
            shown_tables(found),
            {name: chart for name, (chart, _) in drawn.items()},
            [*NOTES, outside],
            {name: numbers for name, (_, numbers) in drawn.items()},
        )
        return conclude(conclusion, tables.points, folder, console)


def beside_published(found: pd.DataFrame) -> pd.DataFrame:
    """The estimates with ``published``, the number that Zhang, Sneyd & Stevenson (2020) print for
    all ten pairs, and for means over fewer pairs ``published_here``, that of the pairs there are.
    """
    import pandas as pd

    on = ["query", "statistic", "metric", "other", "pair"]
    printed = pd.read_csv(PUBLISHED, keep_default_na=False)
    joined = found.merge(printed, on=on, how="left", validate="many_to_one")
    of_pairs = joined[joined["pair"].ne("") & joined["value"].notna()]
    means = of_pairs.groupby(["point", *on[:-1]], sort=False)["published"].mean()
    here = means.rename("published_here").reset_index().assign(pair="")
    return joined.merge(here, on=["point", *on], how="left", validate="many_to_one")


def answer(found: pd.DataFrame) -> str:
    """One sentence: how far the pairs of the first query agree on its words' directions."""
    rows = found[found["statistic"].eq("fleiss")]
    first = rows["query"].iloc[0] if len(rows) else ""
    rows, parts = rows[rows["query"].eq(first)], []
    for metric, part in rows.groupby("metric", sort=False):
        values = [value for value in part["value"].tolist() if isfinite(value)]
        if values:
            low, high = min(values), max(values)
            parts.append(f"{metric} {low:.2f}" + (f" to {high:.2f}" if len(values) > 1 else ""))
    measured = ", ".join(parts) or "undefined in all"
    what = f"Agreement of base pairs on the directions of words ({first}), Fleiss's kappa"
    return f"{what}: {measured}."

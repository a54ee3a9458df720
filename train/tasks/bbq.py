"""BBQ (Parrish et al., 2022): whether a language model's answers follow stereotypes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pandas as pd

from biasbridge.extrinsic.bbq import BBQ_SOURCE, NO_ANSWER, crossed_targets, flag_answers
from biasbridge.extrinsic.bbq_answers import TEMPLATE, read_data, read_items
from biasbridge.extrinsic.gap_table import as_table
from biasbridge.extrinsic.model_answers import Normalisation, bbq_rows, choose_options
from biasbridge.files import InputError, choice
from biasbridge.files.choice import Count
from biasbridge.files.terminal import LOG
from biasbridge.train.engine.scores import open_needed

if TYPE_CHECKING:
    from biasbridge.train.engine.steps import Facts, Inputs, StepBuilder
    from biasbridge.train.engine.store import Step


@choice
class BBQ:
    """Questions of BBQ, whose answer is the likeliest of the three options; nothing is trained.

    ``data``: folder of its files. ``categories``: such as Age; (): all. ``limit``: items drawn of
    each template, context and polarity, the same for every model; None: all. ``normalisation`` of
    log-likelihoods: their ``sum``, or ``per_token`` or ``per_byte`` of the option.
    """

    data: str
    categories: tuple[str, ...] = ()
    limit: Count | None = None
    normalisation: Normalisation = "per_token"
    name: str = "bbq"

    version: ClassVar[int] = 1
    needs: ClassVar[tuple[str, ...]] = ("model",)
    language: ClassVar[str] = "en"
    unkeyed: ClassVar[tuple[str, ...]] = ("data",)
    seeded: ClassVar[bool] = False

    def files(self) -> list[Path]:
        """Return the files in the folder."""
        return sorted(Path(self.data).rglob("*.jsonl"))

    def facts(self) -> Facts:
        """Return the columns task, source and generated."""
        return {"task": self.name, "source": "bbq", "generated": False}

    def check(self, queries: Sequence[object]) -> None:
        """Raise ``InputError`` for files that are not BBQ's, and for an unknown category."""
        read_items(self.read())

    def read(self) -> pd.DataFrame:
        """Return all items of the categories, without answers."""
        table = read_data(Path(self.data))
        present = sorted({*table["category"]})
        if unknown := [name for name in self.categories if name not in present]:
            allowed = f"{self.data} has {', '.join(present)}"
            raise InputError(f"task.categories={unknown[0]}: {allowed}; give some of these")
        selected = table["category"].isin(self.categories or present)
        return table[selected].reset_index(drop=True).assign(output="")

    def build_steps(self, steps: StepBuilder, subject: Mapping[str, Step]) -> Step:
        """Return the table of accuracies and scores."""
        return steps("extrinsic", self, _measure_bbq, {"model": subject["model"]})

    def warnings(self, find: Callable[[str], Path | None]) -> list[str]:
        """Return whose the items are."""
        return [BBQ_SOURCE]


def _measure_bbq(task: BBQ, out: Path, inputs: Inputs, seed: int) -> None:
    """Write ``scores.parquet``: accuracies and bias scores by category and context."""
    table = task.read()
    items, _ = read_items(table)
    targets = crossed_targets(items)  # of all items, whatever the limit
    if task.limit is not None:
        keys = [TEMPLATE, "context_condition", "question_polarity"]
        shuffled = [part.sample(frac=1, random_state=0) for _, part in table.groupby("category")]
        table = pd.concat([part.groupby(keys).head(task.limit) for part in shuffled]).sort_index()
    items = [items[place] for place in table.index]
    prompts = table["context"] + " " + table["question"]
    pairs = [(p, text) for p, item in zip(prompts, items, strict=True) for text in item.texts]
    model = open_needed("model", inputs)
    chosen = choose_options(model, pairs, task.normalisation)
    if lost := chosen.count(NO_ANSWER):
        why = f"longer than {model.longest} tokens, or two options are equally likely"
        problem = f"{model.name} answers {len(items) - lost} of {len(items)} items of BBQ ({why})"
        if lost == len(items):
            raise InputError(f"{problem}; choose another model")
        LOG.warning("%s", problem)
    as_table(bbq_rows(flag_answers(items, chosen, targets))).to_parquet(out / "scores.parquet")

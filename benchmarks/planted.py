"""Whether tiny language models learn what is planted, and how fast.

``python -m benchmarks.planted [--world es]`` trains both architectures at four strengths;
``--unbiased 40`` trains so many models at strength 0 and counts false alarms: the groups of
occupations differ with two-sided permutation p < .05.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.row import Row, Work
from corpora.planted_occupations import Language, PlantedOccupations
from files import run_cli
from files.options import Parser
from files.terminal import open_console
from intrinsic.permutation import permutation_p
from train.device import one_thread
from train.tiny_model import Architecture, TinyModel

if TYPE_CHECKING:
    from rich.console import Console

STRENGTHS = (-1.0, 0.0, 0.5, 1.0)
ARCHITECTURES: tuple[Architecture, ...] = ("bert", "gpt2")
SHOWN = ("steps", "cpu_seconds", "loss")
LEVEL = 0.05


def learn(
    folder: Path, architecture: Architecture, strength: float, seed: int, world: Language = "en"
) -> dict[str, object]:
    """Train a model into a folder; how it went."""
    corpus = PlantedOccupations(stereotype=strength, world=world)
    text = folder / "corpus.txt"
    corpus.write(text, seed=seed)
    truths = corpus.truths(seed=seed)
    return TinyModel(architecture).train(text, folder, seed=seed, truths=truths)


def work(architecture: Architecture, folder: Path) -> Work:
    """A training at strength 1."""
    return partial(learn, folder, architecture, 1.0, 0)


ROWS = [
    Row("tiny BERT learns what is planted", partial(work, "bert"), 60),
    Row("tiny GPT-2 learns what is planted", partial(work, "gpt2"), 90),
]


def show_strengths(world: Language, seed: int, console: Console) -> None:
    """A line a model: the cost, and the agreement on held-out words."""
    for strength in STRENGTHS:
        for architecture in ARCHITECTURES:
            with tempfile.TemporaryDirectory() as folder:
                facts = learn(Path(folder), architecture, strength, seed, world)
            parts = [f"{name} {facts[name]}" for name in SHOWN]
            kinds = {"seen": strength, "unseen": strength, "controls": 1}
            for kind, planted in kinds.items():
                names = ("r", "slope") if planted else ("magnitude",)
                found = " ".join(f"{name} {facts[f'held_out_{kind}_{name}']}" for name in names)
                parts.append(f"{kind}: {found}")
            console.print(f"{architecture} {world} s={strength:g}", *parts, sep="; ")


def log_odds(folder: Path, seed: int) -> dict[str, list[float]]:
    """Of the model in a folder, by group, those of its occupations."""
    from files.models.load import load_model, load_tokenizer
    from files.models.place import find_model
    from train.planted_probe import measure_log_odds

    name = str(folder)
    model, _ = load_model(find_model(name), name)
    tokenizer = load_tokenizer(find_model(name), name)
    found: dict[str, list[float]] = {}
    truths = PlantedOccupations(stereotype=0.0).truths(seed=seed).values()
    values = measure_log_odds(model.eval(), tokenizer, [each.seen for each in truths])
    for each, value in zip(truths, values.tolist(), strict=True):
        found.setdefault(each.group, []).append(value)
    return found


def count_false_alarms(
    architecture: Architecture, models: int, first: int, console: Console
) -> None:
    """How many unbiased models seem to be biased."""
    alarms, magnitudes, seconds = 0, [], []
    for seed in range(first, first + models):
        with tempfile.TemporaryDirectory() as folder:
            facts = learn(Path(folder), architecture, 0.0, seed)
            male, female = log_odds(Path(folder), seed).values()
        p = permutation_p(male, female, tail="two-sided", seed=seed).p
        alarms += p < LEVEL
        magnitudes.append(mean(map(abs, [*male, *female])))
        seconds.append(float(str(facts["cpu_seconds"])))
        difference = mean(male) - mean(female)
        console.print(
            f"{architecture} seed {seed}: p {p:.3f}, difference {difference:.4f},"
            f" mean |log odds| {magnitudes[-1]:.4f}, {seconds[-1]} CPU s, {facts['steps']} steps"
        )
    console.print(
        f"{architecture}: {alarms} of {models} false alarms, mean |log odds|"
        f" {mean(magnitudes):.4f}, {mean(seconds):.1f} CPU s a model"
    )


class Arguments(argparse.Namespace):
    """What the command line holds."""

    world: Language
    architecture: Architecture
    unbiased: int
    seed: int


def main() -> None:
    """One of the two tables, a line as it comes."""
    parser = Parser(prog="python -m benchmarks.planted", description=__doc__)
    parser.add_argument("--world", choices=("en", "es"), default="en")
    parser.add_argument("--unbiased", type=int, default=0, help="models at strength 0")
    parser.add_argument("--architecture", choices=ARCHITECTURES, default="bert", help="of these")
    parser.add_argument("--seed", type=int, default=0, help="of the first model")
    given = parser.parse_args(namespace=Arguments())
    console = open_console(width=250)
    with one_thread():
        if given.unbiased:
            count_false_alarms(given.architecture, given.unbiased, given.seed, console)
        else:
            show_strengths(given.world, given.seed, console)


if __name__ == "__main__":
    run_cli(main)

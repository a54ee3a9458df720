"""Learning of planted biases by tiny language models, and its cost.

``python -m benchmarks.planted [--world es]`` trains both architectures at four strengths;
``--unbiased 40`` trains 40 models at strength 0 and counts false alarms: groups of occupations that
differ with two-sided permutation p < .05.
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
from train.engine.device import one_thread
from train.subjects.tiny_model import Architecture, TinyModel

if TYPE_CHECKING:
    from rich.console import Console

STRENGTHS = (-1.0, 0.0, 0.5, 1.0)
ARCHITECTURES: tuple[Architecture, ...] = ("bert", "gpt2")
COST_FACTS = ("steps", "cpu_seconds", "loss")
LEVEL = 0.05


def learn(
    folder: Path, architecture: Architecture, strength: float, seed: int, world: Language = "en"
) -> dict[str, object]:
    """Train a model in a folder; return the facts about its training."""
    corpus = PlantedOccupations(stereotype=strength, world=world)
    text = folder / "corpus.txt"
    corpus.write(text, seed=seed)
    truths = corpus.truths(seed=seed)
    return TinyModel(architecture).train(text, folder, seed=seed, truths=truths)


def work(architecture: Architecture, folder: Path) -> Work:
    """Time a training at strength 1."""
    return partial(learn, folder, architecture, 1.0, 0)


ROWS = [
    Row("tiny BERT learns what is planted", partial(work, "bert"), 60),
    Row("tiny GPT-2 learns what is planted", partial(work, "gpt2"), 90),
]


def show_strengths(world: Language, seed: int, console: Console) -> None:
    """Print a line per model: cost, and agreement on held-out words."""
    for strength in STRENGTHS:
        for architecture in ARCHITECTURES:
            with tempfile.TemporaryDirectory() as folder:
                facts = learn(Path(folder), architecture, strength, seed, world)
            parts = [f"{name} {facts[name]}" for name in COST_FACTS]
            kinds = {"seen": strength, "unseen": strength, "controls": 1}
            for kind, planted in kinds.items():
                names = ("r", "slope") if planted else ("magnitude",)
                figures = " ".join(f"{name} {facts[f'held_out_{kind}_{name}']}" for name in names)
                parts.append(f"{kind}: {figures}")
            console.print(f"{architecture} {world} s={strength:g}", *parts, sep="; ")


def log_odds(folder: Path, seed: int) -> dict[str, list[float]]:
    """Return log odds of occupations by group, for the model in a folder."""
    from files.models.load import load_model, load_tokenizer
    from files.models.place import find_model
    from train.subjects.planted_probe import measure_log_odds

    name = str(folder)
    model, _ = load_model(find_model(name), name)
    tokenizer = load_tokenizer(find_model(name), name)
    group_log_odds: dict[str, list[float]] = {}
    truths = PlantedOccupations(stereotype=0.0).truths(seed=seed).values()
    values = measure_log_odds(model.eval(), tokenizer, [truth.seen for truth in truths])
    for truth, value in zip(truths, values.tolist(), strict=True):
        group_log_odds.setdefault(truth.group, []).append(value)
    return group_log_odds


def count_false_alarms(
    architecture: Architecture, models: int, first: int, console: Console
) -> None:
    """Print how many unbiased models appear biased."""
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
        f" {mean(magnitudes):.4f}, {mean(seconds):.1f} CPU s per model"
    )


class Arguments(argparse.Namespace):
    """Command-line arguments."""

    world: Language
    architecture: Architecture
    unbiased: int
    seed: int


def main() -> None:
    """Print one of the two tables line by line."""
    parser = Parser(prog="python -m benchmarks.planted", description=__doc__)
    parser.add_argument("--world", choices=("en", "es"), default="en")
    parser.add_argument("--unbiased", type=int, default=0, help="number of models at strength 0")
    parser.add_argument(
        "--architecture", choices=ARCHITECTURES, default="bert", help="of the unbiased models"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the first model")
    args = parser.parse_args(namespace=Arguments())
    console = open_console(width=250)
    with one_thread():
        if args.unbiased:
            count_false_alarms(args.architecture, args.unbiased, args.seed, console)
        else:
            show_strengths(args.world, args.seed, console)


if __name__ == "__main__":
    run_cli(main)

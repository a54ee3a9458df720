"""Scale: ``python -m benchmarks.scale [TOKENS] [--folder FOLDER] [--epochs N]``.

Time and peak memory of tokenising, balancing and training on as much text as the paper's corpus for
coreference has, 440 million tokens, and on a sixteenth and a quarter of it; beside gensim alone.
The text is generated: Zipf's law over the vocabulary of an encyclopedia, with the words of WEAT 6
among the frequent ones.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from rich.table import Table

from benchmarks.row import peak_memory
from biasbridge.corpora.corpus import TextCorpus
from biasbridge.debias.text import Balance
from biasbridge.files import run_cli
from biasbridge.files.terminal import Parser, open_console
from biasbridge.intrinsic.words import load_query
from biasbridge.train.subjects.static import Word2Vec

TOKENS = 440_000_000
TYPES = 4_000_000  # that may occur; about 2.6 million of them do
SENTENCE, DOCUMENT = 22, 10  # tokens, sentences
_SHIFT = 2.7  # of Zipf's law, after Mandelbrot
_FIRST_QUERY_WORD, _BETWEEN_QUERY_WORDS = 100, 60  # ranks
STEPS = ("tokenise", "balance", "train", "gensim")


class Arguments(argparse.Namespace):
    """Command-line arguments."""

    tokens: int
    folder: Path | None
    epochs: int
    step: str | None


def main() -> None:
    """Measure each step at three sizes, each in a process of its own, and print a table."""
    parser = Parser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("tokens", nargs="?", type=int, default=TOKENS, help="of the largest text")
    parser.add_argument("--folder", type=Path, help="keep the texts here (2.5 GB for 440 million)")
    parser.add_argument("--epochs", type=int, default=1, help="of the training")
    parser.add_argument("--step", choices=STEPS, help="measure this step alone, as JSON")
    arguments = parser.parse_args(namespace=Arguments())
    folder = arguments.folder or Path(mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.step:
        print(json.dumps(measure(arguments.step, arguments.tokens, folder, arguments.epochs)))
        return
    table = Table("tokens")
    for column in ("step", "seconds", "peak MB"):
        table.add_column(column, justify="right")
    for tokens in (arguments.tokens // 16, arguments.tokens // 4, arguments.tokens):
        write_text(folder / f"{tokens}.txt", tokens)
        for step in STEPS:
            command = [sys.executable, "-m", "benchmarks.scale", str(tokens), "--step", step]
            command += ["--folder", str(folder.resolve()), "--epochs", str(arguments.epochs)]
            root = Path(__file__).resolve().parent.parent
            done = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE)
            seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
            table.add_row(f"{tokens:,}", step, f"{seconds:,.0f}", f"{megabytes:,.0f}")
            print(f"{tokens:,} tokens, {step}: {seconds:,.0f} s, {megabytes:,.0f} MB", flush=True)
    open_console().print(table)


def measure(step: str, tokens: int, folder: Path, epochs: int) -> tuple[float, float]:
    """Run one step on the text of so many tokens; return seconds and the peak memory in MB of the
    whole process.
    """
    raw, text, balanced = (folder / f"{tokens}.{end}" for end in ("txt", "tokens", "balanced"))
    embedding = Word2Vec(epochs=epochs)
    start = time.perf_counter()
    if step == "tokenise":
        TextCorpus(path=str(raw), tokeniser="sentences", language="en").write(text, seed=0)
    elif step == "balance":
        Balance(direction="debias").rewrite(text, balanced, load_query("weat6b"), seed=0)
    elif step == "train":
        embedding.train(balanced, seed=0)
    else:
        from gensim.models import Word2Vec as GensimWord2Vec

        GensimWord2Vec(
            corpus_file=str(balanced), sg=1, vector_size=300, workers=1, epochs=epochs, seed=0
        )
    return time.perf_counter() - start, peak_memory()


def write_text(path: Path, tokens: int) -> None:
    """Write documents of capitalised sentences with full stops, one document a line."""
    if path.exists():
        return
    rng = np.random.default_rng(0)
    words = np.array(list(_vocabulary()), dtype=object)
    share = 1 / (np.arange(TYPES) + _SHIFT)
    cumulative = np.cumsum(share / share.sum())
    n_words = SENTENCE - 1  # and the full stop
    with path.open("w", encoding="ascii") as text:
        for _ in range(0, tokens, 1000 * SENTENCE * DOCUMENT):
            draws = cumulative.searchsorted(rng.random((1000, DOCUMENT, n_words)))
            for document in words[draws.clip(max=TYPES - 1)]:
                sentences = (" ".join(sentence).capitalize() for sentence in document)
                text.write(". ".join(sentences) + ".\n")


def _vocabulary() -> Iterator[str]:
    """Yield made-up words by rank, the words of WEAT 6b at regular ranks among them."""
    query = load_query("weat6b")
    known = [word.lower() for role in "XYAB" for word in query[role].words]
    ranks = range(_FIRST_QUERY_WORD, TYPES, _BETWEEN_QUERY_WORDS)
    placed = dict(zip(ranks, known, strict=False))
    for rank in range(TYPES):
        yield placed.get(rank) or _spell(rank)


def _spell(number: int) -> str:
    """Return a pronounceable word for a number: alternating consonants and vowels."""
    letters: list[str] = []
    while number or len(letters) < 2:
        number, consonant = divmod(number, 20)
        number, vowel = divmod(number, 5)
        letters.append("bcdfghjklmnpqrstvwxz"[consonant] + "aeiou"[vowel])
    return "".join(letters)


if __name__ == "__main__":
    run_cli(main)

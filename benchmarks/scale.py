"""Scale: ``python -m benchmarks scale``, hours and 2.5 GB on disk; not run unless it is named.

Sweeps of up to 100,000 points are planned, and one of 10,000 is concluded, whose results are those
of one seed with noise in the scores. Tokenising, balancing and training on as much text as the
paper's corpus for coreference has, 440 million tokens, and on a sixteenth and a quarter of it;
beside gensim alone. The text is generated: Zipf's law over the vocabulary of an encyclopedia, with
the words of WEAT 6 among the frequent ones.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from gensim.models import Word2Vec as GensimWord2Vec

from benchmarks.row import Row, Work
from biasbridge.corpora.corpus import TextCorpus
from biasbridge.debias.text import Balance
from biasbridge.intrinsic.words import load_query
from biasbridge.train.cli.command import hydra_started, read_command, read_options
from biasbridge.train.cli.composing import Composer
from biasbridge.train.cli.start import run_experiment
from biasbridge.train.engine.point import plan_point
from biasbridge.train.engine.steps import SharedSteps
from biasbridge.train.engine.store import Store
from biasbridge.train.subjects.static import Word2Vec

SWEEP = ["+experiment=hatespeech_en", "corpus.sentences=1000", "size.dim=8", "source.posts=1200"]
CELLS = 14  # of a seed of this sweep
TOKENS = 440_000_000
TYPES = 4_000_000  # that may occur; about 2.6 million of them do
SENTENCE, DOCUMENT = 22, 10  # tokens, sentences
_SHIFT = 2.7  # of Zipf's law, after Mandelbrot
_FIRST_QUERY_WORD, _BETWEEN_QUERY_WORDS = 100, 60  # ranks


def scale(step: str, tokens: int, folder: Path) -> Work:
    """Time one step on the text of so many tokens, made by the steps before it."""
    raw, text, balanced = (folder / f"{tokens}.{end}" for end in ("txt", "tokens", "balanced"))
    write_text(raw, tokens)
    if step == "tokenise":
        corpus = TextCorpus(path=str(raw), tokeniser="sentences", language="en")
        return partial(corpus.write, text, seed=0)
    if step == "balance":
        rewrite = Balance(direction="debias").rewrite
        return partial(rewrite, text, balanced, load_query("weat6b"), seed=0)
    if step == "an epoch":
        return partial(Word2Vec(epochs=1).train, balanced, seed=0)
    train = partial(GensimWord2Vec, corpus_file=str(balanced), vector_size=300, sg=1)
    return partial(train, workers=1, epochs=1, seed=0)


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


def planned(n_points: int, folder: Path) -> Work:
    """Time the plan of so many cells."""
    return partial(run_experiment, [*SWEEP, f"seed=range({n_points // CELLS})", "plan=true"])


def concluded(folder: Path) -> Work:
    """Time the tables and conclusions of 10,000 points, on a store of 220,000 inodes."""
    command = [*SWEEP, f"store.dir={folder / 'store'}", f"results.dir={folder / 'results'}"]
    run_experiment([*command, "seed=0"])
    command.append(f"seed=range({10_000 // CELLS})")
    store, shared, rng = Store(folder / "store"), SharedSteps(), np.random.default_rng(0)
    options = read_options(command)
    with hydra_started():
        parsed = read_command(options)
        composer = Composer(parsed.hydra)
        points = [composer.read(cell).point for cell in composer.list_cells(parsed)]
    first: dict[str, Path] = {}
    for plan in (plan_point(point, store, shared) for point in points):
        for step in plan.steps.values():
            kind = f"{step.name} {step.made_by} {step.params}"
            build = partial(copy_noisily, first.setdefault(kind, store.path(step)), rng)
            store.make(replace(step, build=build, decide=None))
    return partial(run_experiment, [*command, "overwrite=only-cache"])


def copy_noisily(
    result: Path, rng: np.random.Generator, out: Path, inputs: Mapping[str, Path]
) -> None:
    """Copy the files of a result; add noise to its scores."""
    shutil.copytree(result, out, ignore=shutil.ignore_patterns("recipe.json"), dirs_exist_ok=True)
    if (scores := out / "scores.parquet").exists():
        table = pd.read_parquet(scores)
        noise = rng.normal(scale=0.05, size=len(table))
        moved = {name: table[name] + noise for name in ("value", "low", "high")}
        table.assign(**moved).to_parquet(scores)


# Of 440 million tokens: 14 minutes, 37 s; of a sixteenth 320 s an epoch, beside 324 in gensim alone
SECONDS = {
    "tokenise": 14 * 60,
    "balance": 60,
    "an epoch": 90 * 60,
    "an epoch, gensim alone": 90 * 60,
}
ROWS = [
    Row(f"{step}, {n:,} tokens", partial(scale, step, n), most * n / TOKENS, 10_000)
    for n in (TOKENS // 16, TOKENS // 4, TOKENS)
    for step, most in SECONDS.items()
]
ROWS += [
    *(Row(f"plan of {n:,} cells", partial(planned, n), n / 500, 1000) for n in (10_000, 100_000)),
    Row("conclusions of 10,000 points", concluded, 240, 4000),
]

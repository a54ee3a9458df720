"""A debiased or overbiased copy of a file of word vectors, in the same format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from debias.attract_repel import NORMS, AttractRepel
from debias.checks import DIRECTIONS
from debias.expand import expand
from debias.lexicon import Lexicon, Pair, load_lexicon, pairs, read_lexicon, write_lexicon
from debias.pairs import mean_cosine, read_pairs, usable_pairs
from files import InputError, read_lines, run_cli

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


def parser() -> argparse.ArgumentParser:
    """The command line."""
    options = argparse.ArgumentParser(prog="python -m debias", description=__doc__)
    options.add_argument(
        "vectors", type=Path, help="word2vec text or binary, GloVe, fastText, or a mapped folder"
    )
    options.add_argument(
        "out",
        type=Path,
        help="the copy; its suffix tells the format where that of VECTORS cannot be written",
    )
    options.add_argument("--method", choices=["attract_repel"], default="attract_repel")
    options.add_argument(
        "--direction", choices=DIRECTIONS, help="lower or raise the bias of the lexicon"
    )
    options.add_argument(
        "--dose", type=float, default=1.0, help="how far to go, from 0 (untouched) to 1 (default)"
    )
    options.add_argument(
        "--norms",
        choices=NORMS,
        default="keep",
        help="keep the length of each word (default) or make all 1",
    )
    options.add_argument("--seed", type=int, default=0)
    words = options.add_argument_group("words from a lexicon, with --direction")
    either = words.add_mutually_exclusive_group()
    either.add_argument(
        "--lexicon", help="one of ours: gender_union (default), weat6b, weat7, weat8"
    )
    either.add_argument("--lexicon-file", type=Path, help="a YAML file of your own")
    words.add_argument(
        "--lowercase", action="store_true", help="lower the lexicon, for vectors in lower case"
    )
    words.add_argument(
        "--expand",
        type=int,
        metavar="K",
        help="add to each side its K nearest neighbours in VECTORS",
    )
    words.add_argument("--stop", type=Path, help="words that --expand leaves out, one a line")
    words.add_argument("--write-lexicon", type=Path, help="save the lexicon used, to read and edit")
    own = options.add_argument_group("or pairs of your own, two words a line, without a direction")
    own.add_argument("--attract", type=Path, help="pairs to pull together")
    own.add_argument("--repel", type=Path, help="pairs to push apart")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Read, move, write, and say what became of the pairs."""
    given = parser().parse_args(arguments)
    # Loads gensim: not before the arguments are right
    from files.vectors import WRITABLE, detect_format, read_vectors, save_vectors

    own_pairs = given.attract is not None or given.repel is not None
    of_lexicon = [
        given.direction,
        given.lexicon,
        given.lexicon_file,
        given.expand,
        given.stop,
        given.write_lexicon,
    ]
    if own_pairs and (any(of_lexicon) or given.lowercase):
        raise InputError(
            "--attract and --repel say what is moved and where; leave out --direction and what"
            " concerns a lexicon"
        )
    if not own_pairs and given.direction is None:
        raise InputError(
            "give --direction debias or overbias, or pairs of your own with --attract and --repel"
        )
    method = AttractRepel(given.direction or "debias", dose=given.dose, norms=given.norms)
    vectors = read_vectors(given.vectors)
    if own_pairs:
        attract, repel = (read_pairs(path) if path else [] for path in (given.attract, given.repel))
    else:
        attract, repel = pairs(_lexicon(given, vectors), given.direction)
    moved = method.modify_pairs(vectors, attract, repel, seed=given.seed)
    form = detect_format(given.vectors)
    save_vectors(moved, given.out, format=form if form in WRITABLE else None)
    _report(attract, repel, vectors, moved)
    print(f"wrote {given.out}")
    return 0


def _lexicon(given: argparse.Namespace, vectors: KeyedVectors) -> Lexicon:
    """The lexicon that the arguments describe; written out if they say so."""
    if given.lexicon_file:
        lexicon = read_lexicon(given.lexicon_file, lowercase=given.lowercase)
    else:
        lexicon = load_lexicon(given.lexicon or "gender_union", lowercase=given.lowercase)
    if given.expand is not None:
        lexicon = expand(
            lexicon,
            vectors,
            k=given.expand,
            stop=[line.strip() for line in read_lines(given.stop)] if given.stop else (),
        )
    if given.write_lexicon:
        write_lexicon(lexicon, given.write_lexicon)
    return lexicon


def _report(
    attract: list[Pair], repel: list[Pair], before: KeyedVectors, after: KeyedVectors
) -> None:
    """Print the pairs kept and their mean cosine before and after."""
    kept = usable_pairs(attract, repel, before.key_to_index)
    for name, all_pairs, used in (("attract", attract, kept.attract), ("repel", repel, kept.repel)):
        change = (
            f"; mean cosine {mean_cosine(before, used):.4f} -> {mean_cosine(after, used):.4f}"
            if used
            else ""
        )
        print(f"{name}: {len(used)} of {len(set(all_pairs))} pairs kept{change}")
    if kept.missing:
        print(
            f"not in the vectors: {len(kept.missing)} words:"
            f" {', '.join(kept.missing[:20])}{', ...' if len(kept.missing) > 20 else ''}"
        )


if __name__ == "__main__":
    run_cli(main)

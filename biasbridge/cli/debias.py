"""``biasbridge debias``: a debiased or overbiased copy of a file of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from biasbridge.cli.options import add_trusted
from debias.attract_repel import AttractRepel, Norms
from debias.base import Direction
from debias.constraints import Pair, mean_cosine, read_pairs, usable_pairs
from debias.until import Goal, find_dose, find_method
from debias.word_choice import WordChoice
from files import InputError
from files.atomic import require_new
from files.options import Parser
from files.printable import printable
from files.vector_files import vector_files
from intrinsic.wordsets import read_query, write_query
from intrinsic.wordsets.parse import EXAMPLE

if TYPE_CHECKING:
    from argparse import Namespace

    from gensim.models import KeyedVectors


USUAL = "gender_union"
DESCRIPTION = "A debiased or overbiased copy of a file of word vectors, in the same format."


def _parser() -> Parser:
    options = Parser(prog="biasbridge debias", description=DESCRIPTION)
    add = options.add_argument
    vectors = "word2vec text or binary, GloVe, fastText, or a mapped folder"
    add("vectors", type=Path, help=vectors)
    out = "the copy; its suffix says the format where that of VECTORS cannot be written"
    add("out", type=Path, help=out)
    add("--force", action="store_true", help="replace OUT, or the file of --write-words")
    add_trusted(options)
    add("--method", choices=["attract_repel"], default="attract_repel")
    direction = "lower or raise the bias of the query (default with --until: as its score asks)"
    add("--direction", choices=get_args(Direction), help=direction)
    dose = "how far to go, from 0 (untouched) to 1 (default)"
    add("--dose", type=float, help=dose)
    until = "go as far as it takes for a score: 0 for WEAT of the words, or [METRIC:]QUERY=VALUE"
    add("--until", metavar="SCORE", help=until)
    similarity = "with --until: word similarity files, a word, a word and a number a line"
    add("--similarity", nargs="+", default=[], metavar="FILE", help=similarity)
    norms = "keep the length of each word (default) or make all 1"
    add("--norms", choices=get_args(Norms), default="keep", help=norms)
    add("--seed", type=int, default=0)

    add = options.add_argument_group(
        "the words of a query, with --direction or --until"
    ).add_argument
    query = "weat6b, weat7, ..., or one of --words (default: gender_union, or the only one there)"
    add("--query", metavar="NAME", help=query)
    add("--words", metavar="FILE", help=f"your own queries, JSON or YAML: {EXAMPLE}")
    add("--swap", action="store_true", help="exchange targets and attributes")
    add("--lowercase", action="store_true", help="lower the words, for vectors in lower case")
    expand = "add to each of X, Y, A and B its K nearest neighbours"
    add("--expand", type=int, default=0, metavar="K", help=expand)
    add("--neighbours", metavar="FILE", help="vectors to seek them in (default: VECTORS)")
    add("--stop", metavar="FILE", help="words that --expand leaves out, one a line")
    write_words = "save the words used, to read and edit"
    add("--write-words", type=Path, metavar="FILE", help=write_words)

    own = "or pairs of your own, two words a line, without a direction"
    add = options.add_argument_group(own).add_argument
    add("--attract", type=Path, metavar="FILE", help="pairs to pull together")
    add("--repel", type=Path, metavar="FILE", help="pairs to push apart")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, move, write, and say what became of the pairs."""
    given = _parser().parse_args(arguments)
    # Loads gensim: not before the arguments are right
    from files.vectors import WRITABLE, detect_format, read_vectors, save_vectors

    _check_outputs(given)
    own_pairs = given.attract is not None or given.repel is not None
    _check_words(given, own_pairs)
    dose = 1.0 if given.dose is None else given.dose
    method = AttractRepel(given.direction or "debias", dose=dose, norms=given.norms)
    goal = _read_goal(given)
    words = _word_choice(given)
    vectors = read_vectors(given.vectors, trusted=given.trusted)
    if own_pairs:
        attract, repel = (read_pairs(path) if path else [] for path in (given.attract, given.repel))
    else:
        query = words.words(vectors)
        if goal:
            method = find_method(method, vectors, query, goal, given.direction, seed=given.seed)
        attract, repel = method.constraints(query)
        if given.write_words:
            write_query(query, given.write_words)
    if goal:
        if own_pairs:
            found = find_dose(method, vectors, attract, repel, goal, seed=given.seed)
            method = replace(method, dose=found)
        way = "" if own_pairs or given.direction else f"direction {method.direction}, "
        print(f"{way}dose {method.dose:.4f}: {goal.name} is {goal.value:g}")
    moved = method.modify_pairs(vectors, attract, repel, seed=given.seed)
    if goal:
        _compare(vectors, moved, goal, given)
    form = detect_format(given.vectors)
    save_vectors(moved, given.out, format=form if form in WRITABLE else None)
    _print_pairs(attract, repel, vectors, moved)
    print(f"wrote {given.out}")
    return 0


def _read_goal(given: Namespace) -> Goal | None:
    if given.until is None:
        if given.similarity:
            raise InputError("--similarity is compared before and after --until; give that too")
        return None
    if given.dose is not None:
        raise InputError("--until finds the dose; leave out --dose")
    return Goal.read(given.until, given.words, _name_of_query(given))


def _name_of_query(given: Namespace) -> str:
    """The query whose words are moved; empty where they are pairs."""
    if given.attract or given.repel:
        return ""
    if given.words:
        return read_query(given.words, given.query).name
    return given.query or USUAL


def _compare(before: KeyedVectors, after: KeyedVectors, goal: Goal, given: Namespace) -> None:
    """Print the score of every query before and after, and what the vectors are good for: word
    similarity and analogies.
    """
    from intrinsic.audit import choose_metrics

    [asked] = goal.metric.asked
    language = "en" if asked.language == "und" else asked.language
    metrics, files = [goal.metric], given.similarity
    for name in ("weat", "analogies", *(["sq"] if files else [])):
        with suppress(InputError):  # there are none in the language
            metrics += choose_metrics([name], language=language, case="lower", similarity=files)
    rows: dict[str, str] = {}
    without = set()
    for metric in metrics:
        for old, new in zip(*(metric.score(each, seed=0) for each in (before, after)), strict=True):
            label = " ".join(filter(None, (old.metric, old.query, old.part)))
            if isnan(old.value) and isnan(new.value):
                without.add(label)
            else:
                rows[label] = f"{old.value:8.4f} -> {new.value:8.4f}"
    width = max(map(len, rows))
    for label, change in rows.items():
        print(f"{label:<{width}} {change}")
    if without:
        print(f"no value, for their words are not in the vectors: {', '.join(sorted(without))}")


def _check_outputs(given: Namespace) -> None:
    """Refuse to write over what is read, and, without ``--force``, over what is there."""
    named = [given.words, given.neighbours, given.stop, given.attract, given.repel]
    read = [given.vectors, *vector_files(given.vectors), *(Path(each) for each in named if each)]
    for path in filter(None, (given.out, given.write_words)):
        require_new(path, read=read, force=given.force)


def _check_words(given: Namespace, own_pairs: bool) -> None:
    """Refuse a query beside pairs of one's own, and neither of the two."""
    words = (given.query, given.words, given.swap, given.lowercase)
    expansion = (given.expand, given.neighbours, given.stop)
    if own_pairs and any((given.direction, *words, *expansion, given.write_words)):
        raise InputError(
            "--attract and --repel say what is moved and where; leave out --direction and what"
            " concerns a query"
        )
    if not own_pairs and given.direction is None and given.until is None:
        raise InputError(
            "give --direction debias or overbias, or --until, which finds it, or pairs of your own"
            " with --attract and --repel"
        )


def _word_choice(given: Namespace) -> WordChoice:
    return WordChoice(
        query=given.query or (None if given.words else USUAL),
        file=given.words,
        swap=given.swap,
        lowercase=given.lowercase,
        expand=given.expand,
        neighbours=given.neighbours,
        stop=given.stop,
        trusted=given.trusted,
    )


def _print_pairs(
    attract: list[Pair], repel: list[Pair], before: KeyedVectors, after: KeyedVectors
) -> None:
    """Print the pairs kept and their mean cosine before and after."""
    kept = usable_pairs(attract, repel, before.key_to_index)
    for name, given, used in (("attract", attract, kept.attract), ("repel", repel, kept.repel)):
        change = f"{mean_cosine(before, used):.4f} -> {mean_cosine(after, used):.4f}"
        cosine = f"; mean cosine {change}" if used else ""
        print(f"{name}: {len(used)} of {len(set(given))} pairs kept{cosine}")
    if kept.missing:
        some = f"{', '.join(kept.missing[:20])}{', ...' if len(kept.missing) > 20 else ''}"
        print(f"not in the vectors: {len(kept.missing)} words: {printable(some)}")

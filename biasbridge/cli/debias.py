"""``biasbridge debias``: a debiased or overbiased copy of vectors, or of a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from biasbridge.cli.options import add_trusted
from debias.attract_repel import Norms
from debias.base import Direction, PairsMethod
from debias.constraints import mean_cosine, read_pairs, usable_pairs
from debias.every import METHODS, ON_MODELS, ON_VECTORS, make_method
from debias.word_choice import WordChoice
from files import InputError
from files.atomic import require_new
from files.models.encoder import Pooling
from files.models.place import names_model
from files.options import Parser
from files.printable import printable
from files.vector_files import vector_files
from intrinsic.wordsets import read_query, write_query
from intrinsic.wordsets.parse import EXAMPLE

if TYPE_CHECKING:
    from argparse import Namespace

    from gensim.models import KeyedVectors

    from debias.base import Pair
    from debias.until import Goal
    from files.eraser import Eraser
    from intrinsic.metric import Metric
    from intrinsic.wordsets import Query

USUAL = "gender_union"
DESCRIPTION = (
    "A debiased or overbiased copy of a file of word vectors, in the same format, or of a language"
    " model, with an eraser beside it; and what became of bias and of use."
)
OF_VECTORS = (
    *("direction", "attract", "repel", "norms", "similarity", "expand", "write_words", "trusted"),
)
OF_MODELS = ("items", "layer", "pooling", "revision")
OWN_OPTIONS = ("dose", "direction", "norms", "items")  # fields of methods


def _parser() -> Parser:
    options = Parser(prog="biasbridge debias", description=DESCRIPTION)
    add = options.add_argument
    given = "word2vec text or binary, GloVe, fastText, or a mapped folder; or a language model: a"
    given += " folder, a hub name with --revision, or package:NAME"
    add("given", metavar="IN", help=given)
    out = "the copy; of vectors its suffix says the format where that of IN cannot be written, of a"
    out += " model it is a new folder"
    add("out", type=Path, metavar="OUT", help=out)
    add("--force", action="store_true", help="replace OUT, or the file of --write-words")
    add_trusted(options)
    names = [name for changes in (*ON_VECTORS, "model") for name in METHODS[changes]]
    method = f"of {', '.join(names)}; attract_repel is the default"
    add("--method", default="attract_repel", metavar="NAME", help=method)
    dose = "how far to go, from -1 (overbias) over 0 (untouched) to 1 (default); attract_repel:"
    dose += " from 0 to 1 in the --direction"
    add("--dose", type=float, help=dose)
    until = "go as far as it takes for a score: [METRIC:]QUERY=VALUE, as weat7=0, of a model"
    until += " seat:seat6b=0; a number alone is WEAT of the words"
    add("--until", metavar="SCORE", help=until)
    option = "a further field of the method, as rounds=4 of inlp (again for more)"
    add("--option", action="append", default=[], metavar="NAME=VALUE", help=option)
    similarity = "word similarity files to compare by, a word, a word and a number a line"
    add("--similarity", nargs="+", metavar="FILE", help=similarity)
    add("--seed", type=int, default=0)

    add = options.add_argument_group("the words").add_argument
    query = "weat6b, weat7, ..., or one of --words (default: gender_union, or the only one there)"
    add("--query", metavar="NAME", help=query)
    add("--words", metavar="FILE", help=f"your own queries, JSON or YAML: {EXAMPLE}")
    add("--swap", action="store_true", help="exchange targets and attributes")
    add("--lowercase", action="store_true", help="lower the words, for vectors in lower case")
    expand = "add to each of X, Y, A and B its K nearest neighbours"
    add("--expand", type=int, metavar="K", help=expand)
    add("--neighbours", metavar="FILE", help="vectors to seek them in (default: IN)")
    add("--stop", metavar="FILE", help="words that --expand leaves out, one a line")
    write_words = "save the words used, to read and edit"
    add("--write-words", type=Path, metavar="FILE", help=write_words)

    add = options.add_argument_group("of attract_repel").add_argument
    direction = "lower or raise the bias of the query (default with --until: as its score asks)"
    add("--direction", choices=get_args(Direction), help=direction)
    norms = "keep the length of each word (default) or make all 1"
    add("--norms", choices=get_args(Norms), help=norms)
    attract = "pairs of your own to pull together, two words a line, without a direction"
    add("--attract", type=Path, metavar="FILE", help=attract)
    add("--repel", type=Path, metavar="FILE", help="pairs to push apart")

    add = options.add_argument_group("of a language model").add_argument
    items = "sentences of two groups in the place of words: a file, or a name such as bec_pro"
    add("--items", metavar="FILE", help=items)
    add("--layer", type=int, help="to erase from: 0 embeddings, -1 the last (default)")
    pooling = "what becomes a text's vector: mean (default), words, cls, last"
    add("--pooling", choices=get_args(Pooling), help=pooling)
    add("--revision", metavar="COMMIT", help="of a model on a hub")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, change, write, and say what became of it."""
    given = _parser().parse_args(arguments)
    if given.until is not None and given.dose is not None:
        raise InputError("--until finds the dose; leave out --dose")
    of_model = bool(given.revision) or names_model(given.given)
    for option in OF_VECTORS if of_model else OF_MODELS:
        if (value := getattr(given, option)) is not None and value is not False:
            what = "word vectors" if of_model else f"language models, and {given.given} is none"
            shown = option.replace("_", "-")
            raise InputError(f"--{shown} is about {what}; leave it out")
    return _debias_model(given) if of_model else _debias_vectors(given)


def _debias_model(given: Namespace) -> int:
    from biasbridge.before_after import print_scores
    from biasbridge.model_debiasing import (
        Erasing,
        model_goal,
        read_items,
        require_new_model,
        usual_metrics,
    )

    fields = {"dose": given.dose, "items": read_items(given.items)}
    method = make_method(given.method, ON_MODELS, **{**_options(given), **fields})
    require_new_model(given.out, force=given.force)
    query = _word_choice(given).seed_words()
    goal = None if given.until is None else model_goal(given.until)
    erasing = Erasing.of(
        given.given,
        given.revision,
        method,
        query,
        layer=-1 if given.layer is None else given.layer,
        pooling=given.pooling or "mean",
        seed=given.seed,
    )
    _print_fit(erasing.eraser)
    metrics = usual_metrics(erasing.encoder.opened)
    if goal:
        erasing = erasing.until(goal)
        metrics = [goal.metric, *metrics]
        print(f"dose {erasing.method.dose:.4f}: {goal.name} is {goal.value:g}")
    erasing.write(given.out, force=given.force)
    print_scores(erasing.compared(metrics))
    print(f"wrote {given.out}")
    print(
        "it is opened with its eraser by biasbridge (audit, open_model, sweeps); from_pretrained"
        " alone gives the untouched model"
    )
    return 0


def _debias_vectors(given: Namespace) -> int:
    own_pairs = given.attract is not None or given.repel is not None
    fields = {"dose": given.dose, "direction": given.direction, "norms": given.norms}
    method = make_method(given.method, ON_VECTORS, **{**_options(given), **fields})
    _check_outputs(given)
    if own_pairs or isinstance(method, PairsMethod):
        _check_words(given, method, own_pairs)
    # Loads gensim: not before the arguments are right
    from biasbridge.before_after import compare_vectors, print_scores, usual_metrics
    from biasbridge.debiasing import language_of_words, move, move_pairs
    from files.vectors import WRITABLE, detect_format, read_vectors, save_vectors

    words = _word_choice(given)
    name = "" if own_pairs else _name_of_query(given, words)
    goal = _goal(given, name)
    usual = usual_metrics(language_of_words(words.seed_words()), given.similarity or ())
    vectors = read_vectors(given.given, trusted=given.trusted)
    if own_pairs:
        pairs = [read_pairs(path) if path else [] for path in (given.attract, given.repel)]
        moved = move_pairs(method, vectors, *pairs, goal=goal, seed=given.seed)
    else:
        query = words.words(vectors)
        direction = given.direction
        moved = move(method, vectors, query, goal=goal, direction=direction, seed=given.seed)
        if given.write_words:
            write_query(query, given.write_words)
    if goal:
        method = moved.method
        directed = isinstance(method, PairsMethod) and not (own_pairs or given.direction)
        way = f"direction {method.direction}, " if directed else ""
        print(f"{way}dose {method.dose:.4f}: {goal.name} is {goal.value:g}")
    form = detect_format(given.given)
    save_vectors(moved.vectors, given.out, format=form if form in WRITABLE else None)
    if isinstance(moved.method, PairsMethod):
        attract, repel = pairs if own_pairs else moved.method.constraints(query)
        _print_pairs(attract, repel, vectors, moved.vectors)
    elif moved.eraser:
        _print_fit(moved.eraser)
    else:
        _print_words(query, method.roles, vectors)
    metrics = [*([goal.metric] if goal else []), *_weat(name, given.words), *usual]
    print_scores(compare_vectors(metrics, vectors, moved.vectors))
    print(f"wrote {given.out}")
    return 0


def _options(given: Namespace) -> Mapping[str, Any]:
    """The further fields of a method, their values as in YAML."""
    import yaml

    found = {}
    for text in given.option:
        name, equals, value = text.partition("=")
        if name in OWN_OPTIONS:
            raise InputError(f"--option {text}: give --{name} {value}")
        if not (name and equals):
            raise InputError(f"--option {text}: give NAME=VALUE, as rounds=4")
        try:
            found[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InputError(f"--option {text}: the value cannot be read ({error})") from None
    return found


def _goal(given: Namespace, name: str) -> Goal[Metric] | None:
    from biasbridge.debiasing import read_goal

    return None if given.until is None else read_goal(given.until, given.words, name)


def _weat(name: str, words: str | None) -> list[Metric]:
    from biasbridge.debiasing import usual_goals
    from intrinsic.resampling import RESAMPLES

    return [replace(each.metric, resamples=RESAMPLES) for each in usual_goals(name, words)]


def _name_of_query(given: Namespace, words: WordChoice) -> str:
    """The query whose words are moved."""
    return read_query(given.words, given.query).name if given.words else str(words.query)


def _check_outputs(given: Namespace) -> None:
    """Refuse to write over what is read, and, without ``--force``, over what is there."""
    named = [given.words, given.neighbours, given.stop, given.attract, given.repel]
    read = [given.given, *vector_files(given.given), *filter(None, named)]
    for path in filter(None, (given.out, given.write_words)):
        require_new(path, read=read, force=given.force)


def _check_words(given: Namespace, method: object, own_pairs: bool) -> None:
    """Refuse a query beside pairs of one's own, and neither of the two."""
    if own_pairs and not isinstance(method, PairsMethod):
        raise InputError(f"--attract and --repel are of attract_repel; {given.method} has words")
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
            " with --attract and --repel; or another --method"
        )


def _word_choice(given: Namespace) -> WordChoice:
    return WordChoice(
        query=given.query or (None if given.words else USUAL),
        file=given.words,
        swap=given.swap,
        lowercase=given.lowercase,
        expand=given.expand or 0,
        neighbours=given.neighbours,
        stop=given.stop,
        trusted=given.trusted,
    )


def _print_fit(eraser: Eraser) -> None:
    """Print what an eraser was fitted on and what it is."""
    fitted = dict(eraser.fitted)
    print(f"{fitted.pop('method')} fitted on {fitted.pop('on')}")
    print(f"operator norm {eraser.norm:.3f}, rank {eraser.rank}")
    for name, value in fitted.items():
        print(f"{name}: {value}")


def _print_words(query: Query, roles: Sequence[str], vectors: KeyedVectors) -> None:
    """Print how many words of each role there are."""
    from intrinsic.lookup import find_set

    for role in roles:
        found = find_set(vectors, query[role], case="lower")
        print(f"{role}: {len(found.items)} of {len(query[role].items)} of {query[role].name}")


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

"""``biasbridge debias``: a debiased or overbiased copy of vectors, or of a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from biasbridge.cli.options import add_config_dir, add_trusted
from biasbridge.debias.attract_repel import (
    AttractRepel,
    Norms,
    mean_cosine,
    read_pairs,
    usable_pairs,
)
from biasbridge.debias.base import Direction
from biasbridge.debias.methods import METHODS, MODEL_KINDS, VECTOR_KINDS, make_method
from biasbridge.debias.words import WordChoice
from biasbridge.files import InputError
from biasbridge.files.errors import printable
from biasbridge.files.models.encoder import Pooling
from biasbridge.files.paths import require_new
from biasbridge.files.places import is_model_path
from biasbridge.files.terminal import Parser
from biasbridge.files.text import require_written_archive
from biasbridge.files.vector_files import vector_files
from biasbridge.intrinsic.lookup import CASES
from biasbridge.intrinsic.words import EXAMPLE, read_query, write_query
from biasbridge.own_classes import use_folder

if TYPE_CHECKING:
    from argparse import Namespace

    from gensim.models import KeyedVectors

    from biasbridge.debias.base import Pair
    from biasbridge.files.eraser import Eraser
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.words import Query

DEFAULT_QUERY = "gender_union"
DESCRIPTION = (
    "Write a debiased or overbiased copy of word vectors, in the same format, or of a language"
    " model, with an eraser beside it, and compare bias and utility before and after."
)
VECTOR_OPTIONS = (
    *(
        "direction",
        "case",
        "attract",
        "repel",
        "norms",
        "similarity",
        "expand",
        "write_words",
        "trusted",
    ),
)
MODEL_OPTIONS = ("items", "layer", "pooling")
FIELD_OPTIONS = ("dose", "direction", "norms", "items")  # fields of methods


def _parser() -> Parser:
    options = Parser(prog="biasbridge debias", description=DESCRIPTION)
    add = options.add_argument
    subject = "word2vec text or binary, GloVe, fastText, a mapped folder, or a name of biasbridge"
    subject += " data; or a language model: a"
    subject += " folder, org/name@COMMIT on a hub, or package:NAME"
    add("subject", metavar="IN", help=subject)
    out = "the copy; of vectors its suffix says the format where that of IN cannot be written, of a"
    out += " model it is a new folder"
    add("out", type=Path, metavar="OUT", help=out)
    add("--force", action="store_true", help="replace OUT, or the file of --write-words")
    add_trusted(options)
    add_config_dir(options)
    names = [name for changes in (*VECTOR_KINDS, "model") for name in METHODS[changes]]
    method = f"of {', '.join(names)}; attract_repel is the default"
    add("--method", default="attract_repel", metavar="NAME", help=method)
    dose = "how far to go, from -1 (overbias) over 0 (untouched) to 1 (default); attract_repel:"
    dose += " from 0 to 1 in the --direction"
    add("--dose", type=float, help=dose)
    until = "go as far as a score requires: [METRIC:]QUERY=VALUE, as weat7=0, of a model"
    until += " seat:seat6b=0; a number alone is WEAT of the words"
    add("--until", metavar="SCORE", help=until)
    option = "a further field of the method, as rounds=4 of inlp (again for more)"
    add("--option", action="append", default=[], metavar="NAME=VALUE", help=option)
    similarity = "word similarity files to compare by, a word, a word and a number per line"
    add("--similarity", nargs="+", metavar="FILE", help=similarity)
    add("--seed", type=int, default=0)

    add = options.add_argument_group("the words").add_argument
    query = "weat6b, weat7, ..., or one of --words (default: gender_union, or its only one)"
    add("--query", metavar="NAME", help=query)
    add("--words", metavar="FILE", help=f"your own queries, JSON or YAML: {EXAMPLE}")
    add("--swap", action="store_true", help="exchange targets and attributes")
    add("--lowercase", action="store_true", help="lower the words, for vectors in lower case")
    lower = "lower: scores look up words not found as written in lower case"
    add("--case", choices=CASES, help=lower)
    expand = "add to each of X, Y, A and B its K nearest neighbours"
    add("--expand", type=int, metavar="K", help=expand)
    add("--neighbours", metavar="FILE", help="vectors to search (default: IN)")
    add("--stop", metavar="FILE", help="words that --expand leaves out, one per line")
    write_words = "save the words used, to read and edit"
    add("--write-words", type=Path, metavar="FILE", help=write_words)

    add = options.add_argument_group("of attract_repel").add_argument
    direction = "lower or raise the bias of the query (default with --until: as its score asks)"
    add("--direction", choices=get_args(Direction), help=direction)
    norms = "keep the length of each word (default) or make all 1"
    add("--norms", choices=get_args(Norms), help=norms)
    attract = "pairs of your own to pull together, two words per line, without a direction"
    add("--attract", type=Path, metavar="FILE", help=attract)
    add("--repel", type=Path, metavar="FILE", help="pairs to push apart")

    add = options.add_argument_group("of a language model").add_argument
    items = "sentences of two groups in the place of words: a file, or a name such as bec_pro"
    add("--items", metavar="FILE", help=items)
    add("--layer", type=int, help="to erase from: 0 embeddings, -1 the last (default)")
    pooling = "what becomes a text's vector: mean (default), words, cls, last"
    add("--pooling", choices=get_args(Pooling), help=pooling)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Read, modify, write, and compare before and after."""
    args = _parser().parse_args(arguments)
    use_folder(args.config_dir)
    if args.until is not None and args.dose is not None:
        raise InputError("--until finds the dose; leave out --dose")
    is_model = is_model_path(args.subject)
    for option in VECTOR_OPTIONS if is_model else MODEL_OPTIONS:
        if (value := getattr(args, option)) is not None and value is not False:
            subject = "word vectors" if is_model else f"language models, unlike {args.subject}"
            name = option.replace("_", "-")
            raise InputError(f"--{name} applies to {subject}; leave it out")
    return _debias_model(args) if is_model else _debias_vectors(args)


def _debias_model(args: Namespace) -> int:
    from biasbridge.before_after import print_scores
    from biasbridge.model_debiasing import (
        ModelErasure,
        model_goal,
        read_items,
        require_new_model,
        usual_metrics,
    )

    if args.items and (args.query or args.words or args.swap or args.lowercase):
        raise InputError("--items stands for words; leave out --query, --words and the like")
    fields = {"dose": args.dose, "items": read_items(args.items)}
    method = make_method(args.method, MODEL_KINDS, **{**_options(args), **fields})
    require_new_model(args.out, force=args.force)
    query = _word_choice(args).seed_words()
    goal = None if args.until is None else model_goal(args.until)
    erasure = ModelErasure.fit(
        args.subject,
        method,
        query,
        layer=-1 if args.layer is None else args.layer,
        pooling=args.pooling or "mean",
        seed=args.seed,
    )
    _print_fit(erasure.eraser)
    metrics = usual_metrics(erasure.encoder.opened)
    if goal:
        erasure = erasure.until(goal)
        metrics = [goal.metric, *metrics]
        print(f"dose {erasure.method.dose:.4f}: {goal.name} is {goal.value:g}")
    erasure.write(args.out, force=args.force)
    print_scores(erasure.compared(metrics))
    print(f"wrote {args.out}")
    print(
        "biasbridge audit opens it with its eraser; from_pretrained alone opens the unmodified"
        " model. In Python:\nfrom biasbridge.files.models.language_model import open_model\n"
        f"model = open_model({str(args.out)!r})"
    )
    return 0


def _debias_vectors(args: Namespace) -> int:
    has_pairs = args.attract is not None or args.repel is not None
    fields = {"dose": args.dose, "direction": args.direction, "norms": args.norms}
    method = make_method(args.method, VECTOR_KINDS, **{**_options(args), **fields})
    _check_outputs(args)
    if has_pairs or isinstance(method, AttractRepel):
        _check_words(args, method, has_pairs)
    # Loads gensim: not before the arguments are right
    from biasbridge.before_after import compare_vectors, print_scores, usual_metrics
    from biasbridge.debias.until import Goal
    from biasbridge.debiasing import language_of_words, move, move_pairs, vector_notes
    from biasbridge.files.vectors import (
        WRITABLE,
        detect_format,
        read_vectors,
        require_writable,
        save_vectors,
    )

    words = _word_choice(args)
    name = "" if has_pairs else _name_of_query(args, words)
    case = "lower" if args.lowercase else args.case or "exact"
    goal = None if args.until is None else Goal.read(args.until, args.words, name, case=case)
    language = language_of_words(words.seed_words())
    default_metrics = usual_metrics(language, args.similarity or (), case)
    vectors = read_vectors(args.subject, trusted=args.trusted)
    form = detect_format(args.subject)
    form = require_writable(vectors.index_to_key, args.out, form if form in WRITABLE else None)
    if has_pairs:
        pairs = [read_pairs(path) if path else [] for path in (args.attract, args.repel)]
        modified = move_pairs(method, vectors, *pairs, goal=goal, seed=args.seed)
    else:
        query = words.words(vectors)
        direction = args.direction
        modified = move(method, vectors, query, goal=goal, direction=direction, seed=args.seed)
        if args.write_words:
            write_query(query, args.write_words)
    if goal:
        method = modified.method
        has_direction = isinstance(method, AttractRepel) and not (has_pairs or args.direction)
        direction_text = f"direction {method.direction}, " if has_direction else ""
        print(f"{direction_text}dose {method.dose:.4f}: {goal.name} is {goal.value:g}")
    save_vectors(modified.vectors, args.out, format=form)
    if isinstance(modified.method, AttractRepel):
        attract, repel = pairs if has_pairs else modified.method.constraints(query)
        _print_pairs(attract, repel, vectors, modified.vectors)
    elif modified.eraser:
        _print_fit(modified.eraser)
    else:
        _print_words(query, method.roles, vectors)
    metrics = [*([goal.metric] if goal else []), *_weat(name, args.words, case), *default_metrics]
    print_scores(compare_vectors(metrics, vectors, modified.vectors))
    for note in vector_notes(Path(args.subject).name, vectors, modified.method):
        print(printable(note))
    print(f"wrote {args.out}")
    return 0


def _options(args: Namespace) -> Mapping[str, Any]:
    import yaml

    fields = {}
    for text in args.option:
        name, equals, value = text.partition("=")
        if name in FIELD_OPTIONS:
            raise InputError(f"--option {text}: give --{name} {value}")
        if not (name and equals):
            raise InputError(f"--option {text}: give NAME=VALUE, as rounds=4")
        try:
            fields[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InputError(f"--option {text}: the value cannot be read ({error})") from None
    return fields


def _weat(name: str, words: str | None, case: str) -> list[Metric]:
    from biasbridge.debiasing import usual_goals
    from biasbridge.intrinsic.resampling import RESAMPLES

    return [replace(goal.metric, resamples=RESAMPLES) for goal in usual_goals(name, words, case)]


def _name_of_query(args: Namespace, words: WordChoice) -> str:
    return read_query(args.words, args.query).name if args.words else str(words.query)


def _check_outputs(args: Namespace) -> None:
    """Refuse to overwrite inputs, and, without ``--force``, other files."""
    inputs = [args.words, args.neighbours, args.stop, args.attract, args.repel]
    read = [args.subject, *vector_files(args.subject), *filter(None, inputs)]
    require_written_archive(args.out)
    for path in filter(None, (args.out, args.write_words)):
        require_new(path, inputs=read, force=args.force)


def _check_words(args: Namespace, method: object, has_pairs: bool) -> None:
    """Raise ``InputError`` unless the arguments have either a query or pairs."""
    if has_pairs and not isinstance(method, AttractRepel):
        raise InputError(
            f"--attract and --repel belong to attract_repel; {args.method} takes a query"
        )
    words = (args.query, args.words, args.swap, args.lowercase)
    expansion = (args.expand, args.neighbours, args.stop)
    if has_pairs and any((args.direction, *words, *expansion, args.write_words)):
        raise InputError(
            "--attract and --repel define the change; leave out --direction and the options of a"
            " query"
        )
    if not has_pairs and args.direction is None and args.until is None:
        raise InputError(
            "give --direction debias or overbias, or --until, which finds it, or your own pairs"
            " with --attract and --repel; or another --method"
        )


def _word_choice(args: Namespace) -> WordChoice:
    return WordChoice(
        query=args.query or (None if args.words else DEFAULT_QUERY),
        file=args.words,
        swap=args.swap,
        lowercase=args.lowercase,
        expand=args.expand or 0,
        neighbours=args.neighbours,
        stop=args.stop,
        trusted=args.trusted,
    )


def _print_fit(eraser: Eraser) -> None:
    fitted = dict(eraser.fitted)
    print(f"{fitted.pop('method')} fitted on {fitted.pop('on')}")
    print(f"operator norm {eraser.norm:.3f}, rank {eraser.rank}")
    for name, value in fitted.items():
        print(f"{name}: {value}")


def _print_words(query: Query, roles: Sequence[str], vectors: KeyedVectors) -> None:
    """Print how many words of each role are in the vocabulary."""
    from biasbridge.intrinsic.lookup import find_set

    for role in roles:
        words = find_set(vectors, query[role], case="lower")
        print(f"{role}: {len(words.items)} of {len(query[role].items)} of {query[role].name}")


def _print_pairs(
    attract: list[Pair], repel: list[Pair], before: KeyedVectors, after: KeyedVectors
) -> None:
    """Print the pairs kept and their mean cosine before and after."""
    usable = usable_pairs(attract, repel, before.key_to_index)
    for name, pairs, used in (("attract", attract, usable.attract), ("repel", repel, usable.repel)):
        change = f"{mean_cosine(before, used):.4f} -> {mean_cosine(after, used):.4f}"
        cosine = f"; mean cosine {change}" if used else ""
        print(f"{name}: {len(used)} of {len(set(pairs))} pairs kept{cosine}")
    if missing := usable.missing:
        words = f"{', '.join(missing[:20])}{', ...' if len(missing) > 20 else ''}"
        print(f"out of vocabulary: {len(missing)} words: {printable(words)}")

"""A debiased or overbiased copy of word vectors, or of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biasbridge.command_line import Command, refuse_options, returns, say
from biasbridge.debias.attract_repel import AttractRepel, mean_cosine, usable_pairs
from biasbridge.debias.base import Direction
from biasbridge.debias.methods import METHODS, MODEL_KINDS, VECTOR_KINDS, make_method
from biasbridge.debias.words import WordChoice
from biasbridge.files import InputError
from biasbridge.files.choice import Whole, check_arguments
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.models.encoder import Pooling
from biasbridge.files.paths import require_new
from biasbridge.files.text import open_plain, require_written_archive
from biasbridge.files.vector_files import vector_files
from biasbridge.input_vectors import OpenedModel, Vectors, as_vectors, is_model
from biasbridge.input_words import WordsInput, built_in, word_file
from biasbridge.intrinsic.lookup import CASES, LetterCase
from biasbridge.own_parts import register, use_folder

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from rich.console import Console

    from biasbridge.debias.base import VectorsMethod, WordPair
    from biasbridge.debias.until import Goal
    from biasbridge.files.eraser import Eraser
    from biasbridge.intrinsic.metric import Metric
    from biasbridge.intrinsic.words import Query
    from biasbridge.model_debiasing import ModelErasure

_DEFAULT_QUERY = "gender_union"


@dataclass
class _ModifiedVectors:
    """Vectors before and after, the method with the dose used, its eraser, if any, and the query
    that it worked on. ``weat``: WEAT of the query, if it has the roles for it.
    """

    method: VectorsMethod
    before: KeyedVectors
    vectors: KeyedVectors
    eraser: Eraser | None
    query: Query
    goal: Goal[Metric] | None = None
    weat: Sequence[Metric] = ()
    name: str = "vectors"

    @property
    def notes(self) -> list[str]:
        """What was odd in the vectors, and doubts that their order is by frequency."""
        from biasbridge.files.vectors import reading_notes
        from biasbridge.intrinsic.audit import doubt_order

        by_order = ["double_hard"] if self.method.name == "double_hard" else []
        return [*reading_notes(self.before), *doubt_order(self.name, self.before, by_order)]


def _python_result(modified: _ModifiedVectors | ModelErasure) -> Any:
    """Return a model with its eraser, or vectors with what was done in ``attrs``."""
    if not isinstance(modified, _ModifiedVectors):
        return modified.model()
    from biasbridge.before_after import compare_vectors

    goals = [modified.goal.metric] if modified.goal else []
    scores = compare_vectors([*modified.weat, *goals], modified.before, modified.vectors)
    eraser, method = modified.eraser, modified.method
    modified.vectors.attrs = {
        "method": method.name,
        "direction": getattr(method, "direction", ""),
        "dose": getattr(method, "dose", 1.0),
        **({"norm": eraser.norm, "rank": eraser.rank} if eraser else {}),
        "scores": scores.drop(columns="part"),
        "notes": modified.notes,
    }
    return modified.vectors


@returns(_python_result)
@check_arguments(seed=Whole, layer=int)
def debias(
    vectors: Vectors | OpenedModel,
    words: WordsInput | None = None,
    *,
    out: str | PathLike[str] | None = None,
    force: bool = False,
    method: Any = "attract_repel",
    dose: float | None = None,
    until: str | float | None = None,
    query: str | None = None,
    swap: bool = False,
    lowercase: bool = False,
    case: LetterCase = "exact",
    direction: Direction | None = None,
    items: str | PathLike[str] | None = None,
    layer: int = -1,
    pooling: Pooling = "mean",
    seed: int = 0,
    trusted: bool = False,
    config_dir: str | PathLike[str] | None = None,
    **options: object,
) -> _ModifiedVectors | ModelErasure:
    """Debias or overbias a copy of word vectors or of a language model.

    Parameters
    ----------
    vectors : vectors or language model
        A file of word vectors, a name of biasbridge data, or a language model (a folder,
        org/name@COMMIT on a hub, or package:NAME). See :func:`audit`; left unchanged.
    words : path, name or mapping, optional
        Your own queries: a JSON or YAML file with X, Y, A and B. In Python also a mapping or the
        name of a built-in query, see :func:`query`; by default words of gender.
    out : path, optional
        Where to write the copy: a file for vectors, a new folder for a model. Vectors keep the
        format of the original where it can be written; else the suffix sets it. The model has its
        eraser beside it.
    force : bool
        Replace the copy if it exists.
    method : str or method
        Name of the method, such as hard or leace. ``biasbridge.debias.methods`` lists all. In
        Python also a class or an object of your own.
    dose : float, optional
        How much to change, from -1 (overbias) to 1 (debias, the default); 0 changes nothing. Of
        ``attract_repel`` it is from 0 to 1, in the direction.
    until : str or float, optional
        Score to reach instead of a dose, [METRIC:]QUERY=VALUE, such as weat7=0, or seat:seat6b=0
        for a model. A number alone is WEAT of the words.
    query : str, optional
        Query to debias, such as weat7, or one of your own words (default: gender_union, or your
        only query).
    swap : bool
        Exchange targets and attributes.
    lowercase : bool
        Write the words in lower case, for vectors in lower case.
    case : {"exact", "lower"}
        How scores look up words: lower also tries lower case for words not found as written.
        Methods find the words that they move in either case.
    direction : {"debias", "overbias"}, optional
        For attract_repel: lower or raise the bias (default with --until: what the score needs).
    items : path or name, optional
        For a language model: sentences of two groups instead of words, a file or a name such as
        bec_pro.
    layer : int
        Layer of a model to erase from (0: embeddings, -1: the last).
    pooling : {"mean", "words", "cls", "last"}
        How a model turns the states of a text into one vector.
    seed : int
        Seed of random numbers (default: 0).
    trusted : bool
        Open gensim's own format, a pickle that can run any code; only for files you made.
    config_dir : path, optional
        Folder with modules of your own metrics and methods.
    **options
        Further fields of the method, such as ``rounds=4`` of ``inlp``.

    Returns
    -------
    KeyedVectors or LanguageModel
        Vectors have ``attrs``: ``method``, ``direction``, ``dose``, of an eraser ``norm`` and
        ``rank``, and ``scores``, a table of WEAT of the words (and the score of ``until``)
        ``before`` and ``after``; and ``notes``. A language model passes its hidden states through
        its ``eraser``.

    Raises
    ------
    InputError
        No word in the vocabulary, or a method or option that does not apply.

    Examples
    --------
    >>> vectors = {"he": [5, 0, 1], "she": [0, 5, 1], "doctor": [4, 1, 2], "judge": [3, 2, 1]}
    >>> vectors |= {"nurse": [1, 4, 2], "maid": [2, 2, 3]}
    >>> words = {"X": ["doctor", "judge"], "Y": ["nurse", "maid"], "A": ["he"], "B": ["she"]}
    >>> scores = debias(vectors, words, method="attract_repel").attrs["scores"]
    >>> print(bool(scores["after"].item() < scores["before"].item()))
    True
    """
    use_folder(config_dir)
    if case not in CASES:
        raise InputError(f"case={case!r}: give one of {', '.join(CASES)}")
    if until is not None and dose is not None:
        raise InputError("--until finds the dose; leave out --dose")
    are_models = is_model(vectors)
    if are_models:
        of_vectors: dict[str, object] = {
            "direction": direction,
            "case": case != "exact",
            "trusted": trusted,
        }
        refuse_options(of_vectors, "word vectors; leave it out")
    else:
        name = vectors if isinstance(vectors, str) else "this one"
        of_models: dict[str, object] = {"items": items, "layer": layer + 1}
        of_models |= {"pooling": pooling != "mean"}
        refuse_options(of_models, f"language models, unlike {name}; leave it out")
    if built_in(words):
        query, words = query or str(words), None
    out, fields = Path(out) if out else None, {"dose": dose, **options}
    with word_file(words) as file:
        choose_words: dict[str, Any] = {
            "query": query or (None if file else _DEFAULT_QUERY),
            "file": file,
            "swap": swap,
            "lowercase": lowercase,
        }
        if are_models:
            if items and (query or words or swap or lowercase):
                raise InputError(
                    "--items stands for words; leave out --query, --words and the like"
                )
            from biasbridge.model_debiasing import ModelErasure, model_goal, read_items

            eraser = _make_method(method, MODEL_KINDS, items=read_items(items), **fields)
            goal_of_model = None if until is None else model_goal(str(until))
            seed_words = WordChoice(**choose_words).seed_words()
            encoding: Any = {"layer": layer, "pooling": pooling, "seed": seed}
            place: Any = {"out": out, "force": force}
            return ModelErasure.of(vectors, eraser, seed_words, goal_of_model, **encoding, **place)
        mover = _make_method(method, VECTOR_KINDS, direction=direction, **fields)
        read = [Path(path) for path in (vectors, words) if isinstance(path, str | PathLike)]
        if isinstance(vectors, str | PathLike):
            read += vector_files(vectors if isinstance(vectors, str) else Path(vectors))
        if out:
            require_written_archive(out)
            require_new(fspath(out), inputs=read, force=force)
        choice = WordChoice(**choose_words)
        name = choice.seed_words().name if file else str(choice.query)
        # Loads gensim: not before the arguments are right
        from biasbridge.debias.until import Goal

        case = "lower" if lowercase else case
        goal = None if until is None else Goal.read(str(until), file, name, case=case)
        weat: list[Metric] = []
        with suppress(InputError):  # it lacks the roles of WEAT
            weat = [Goal.of("weat", name, 0, file, case=case).metric]
        before = as_vectors(cast("Vectors", vectors), trusted=trusted)
        form = _output_format(vectors, before, out)
        chosen = choice.words(before)
        if case == "lower" and not lowercase:
            chosen = chosen.lowered(before.key_to_index)
        modified = move(mover, before, chosen, goal=goal, direction=direction, seed=seed)
    modified.goal, modified.weat = goal, weat
    if isinstance(vectors, str | PathLike):
        modified.name = Path(vectors).name
    if out:
        from biasbridge.files.vectors import save_vectors

        save_vectors(modified.vectors, out, format=form)
    return modified


def _make_method(method: Any, kinds: Sequence[str], **fields: Any) -> Any:
    """Return a method by name or class; of an object, itself."""
    if isinstance(method, type):
        method = register(method)
    if isinstance(method, str):
        return make_method(method, kinds, **fields)
    if method.acts_on not in kinds:
        raise InputError(f"{method.name} acts on {method.acts_on}; give one of {', '.join(kinds)}")
    for name in (name for name, value in fields.items() if value is not None):
        raise InputError(f"{name} is a field of {method.name}; set it in the object that you give")
    return method


def _output_format(vectors: object, opened: KeyedVectors, out: Path | None) -> Any:
    from biasbridge.files.vectors import WRITABLE, detect_format, require_writable

    if out is None:
        return None
    form = detect_format(fspath(vectors)) if isinstance(vectors, str | PathLike) else None
    return require_writable(opened.index_to_key, out, form if form in WRITABLE else None)


def move(
    method: VectorsMethod,
    vectors: KeyedVectors,
    query: Query,
    *,
    goal: Goal[Metric] | None,
    direction: Direction | None,
    seed: int,
) -> _ModifiedVectors:
    """Modify vectors by the method's dose, or by the dose that reaches the goal."""
    from biasbridge.debias.base import require_sound, signed_dose
    from biasbridge.debias.until import find_method
    from biasbridge.debias.words import require_roles

    require_roles(query, method.roles)
    if goal:
        method, axis = find_method(method, vectors, query, goal, direction, seed=seed)
    else:
        axis = method.dose_axis(vectors, query, seed=seed)
    changed = axis.at(dose := signed_dose(method))
    if dose:
        require_sound(method, vectors, changed)
    return _ModifiedVectors(method, vectors, changed, axis.eraser, query)


def _run(
    *, vectors: str, option: Sequence[str] = (), similarity: Sequence[str] = (), **options: Any
) -> _ModifiedVectors | ModelErasure:
    """Debias with the method's fields as text.

    Parameters
    ----------
    option : sequence of str
        Set a further field of the method, such as rounds=4 for inlp; may be repeated.
    """
    import yaml

    fields: dict[str, Any] = {}
    for text in option:
        name, equals, value = text.partition("=")
        if name in ("dose", "direction", "items"):
            raise InputError(f"--option {text}: give --{name} {value}")
        if not (name and equals):
            raise InputError(f"--option {text}: give NAME=VALUE, as rounds=4")
        try:
            fields[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise InputError(f"--option {text}: the value cannot be read ({error})") from None
    if "words" in options:
        options["words"] = Path(options["words"])
    use_folder(options.get("config_dir"))
    method = METHODS["vectors"].get(options.get("method", "attract_repel"))
    if not is_model(vectors) and hasattr(method, "pairs_dose_axis"):
        if not options.keys() & {"direction", "until", "attract", "repel"}:
            raise InputError(
                "give --direction debias or overbias, or --until, which finds the direction, or"
                " your own pairs with --attract and --repel; or give another --method"
            )
    elif is_model(vectors) and similarity:
        raise InputError("--similarity applies to word vectors; leave it out")
    for path in similarity:
        open_plain(Path(path)).close()  # before the work
    return debias.raw(vectors, **options, **fields)  # type: ignore[attr-defined, no-any-return]


def _show(
    modified: _ModifiedVectors | ModelErasure,
    console: Console,
    *,
    out: Path,
    direction: Direction | None = None,
    similarity: Sequence[str] = (),
    case: str = "exact",
    lowercase: bool = False,
) -> None:
    """Print what was done, and scores of bias and utility before and after.

    Parameters
    ----------
    similarity : sequence of str
        Files of word similarity to compare by, with a word, a word and a number per line.
    """
    from biasbridge.before_after import compare_vectors, print_scores, usual_metrics
    from biasbridge.files.eraser import MERGED
    from biasbridge.intrinsic.resampling import RESAMPLES
    from biasbridge.model_debiasing import utility_line

    goal, method = modified.goal, modified.method
    reached = f"dose {method.dose:.4f}: {goal.name} is {goal.value:g}" if goal else ""
    if console.quiet:  # comparing a model takes minutes
        return
    if not isinstance(modified, _ModifiedVectors):
        _print_fit(modified.eraser, console)
        if reached:
            say(console, reached)
        table = modified.compared()
        print_scores(table, console)
        say(console, utility_line(table))
        say(console, f"wrote {out}")
        if (Path(out) / MERGED).is_file():
            say(console, "its weights contain the eraser: from_pretrained opens it")
            return
        say(console, "from_pretrained alone opens the unmodified model. With its eraser:")
        say(console, f"import sys, transformers; sys.path.insert(0, {str(out)!r})")
        say(console, "from eraser_hook import hook_eraser")
        heads = {"masked": "ForMaskedLM", "causal": "ForCausalLM"}
        loader = f"transformers.AutoModel{heads.get(modified.encoder.opened.kind, '')}"
        say(console, f"model = hook_eraser({loader}.from_pretrained({str(out)!r}))")
        return
    query, is_of_pairs = modified.query, method.moves_pairs
    if reached:
        found = is_of_pairs and not direction
        say(console, f"direction {method.direction}, {reached}" if found else reached)
    if is_of_pairs:
        pairs = cast("AttractRepel", method).constraints(query)
        _print_pairs(*pairs, modified.before, modified.vectors, console)
    elif modified.eraser:
        _print_fit(modified.eraser, console)
    else:
        _print_words(query, method.roles, modified.before, console)
    language = query.language if query.language != UNDETERMINED else "en"
    metrics: list[Any] = [goal.metric] if goal else []
    metrics += [replace(metric, resamples=RESAMPLES) for metric in modified.weat]
    metrics += usual_metrics(language, similarity, "lower" if lowercase else case)
    print_scores(compare_vectors(metrics, modified.before, modified.vectors), console)
    for note in (*modified.notes, f"wrote {out}"):
        say(console, note)


def _print_fit(eraser: Eraser, console: Console) -> None:
    fitted = dict(eraser.fitted)
    say(console, f"{fitted.pop('method')} fitted on {fitted.pop('on')}")
    say(console, f"largest stretch of a vector (operator norm) {eraser.norm:.3f}")
    say(console, f"dimensions changed (rank) {eraser.rank}")
    for name, value in fitted.items():
        say(console, f"{name}: {value}")


def _print_words(
    query: Query, roles: Sequence[str], vectors: KeyedVectors, console: Console
) -> None:
    """Print how many words of each role are in the vocabulary."""
    from biasbridge.intrinsic.lookup import find_set

    for role in roles:
        words = find_set(vectors, query[role], case="lower")
        counts = f"{len(words.items)} of {len(query[role].items)}"
        say(console, f"{role}: {counts} found ({query[role].name})")


def _print_pairs(
    attract: list[WordPair],
    repel: list[WordPair],
    before: KeyedVectors,
    after: KeyedVectors,
    console: Console,
) -> None:
    """Print the pairs kept and their mean cosine before and after."""
    usable = usable_pairs(attract, repel, before.key_to_index)
    for name, pairs, used in (("attract", attract, usable.attract), ("repel", repel, usable.repel)):
        change = f"{mean_cosine(before, used):.4f} -> {mean_cosine(after, used):.4f}"
        cosine = f"; mean cosine {change}" if used else ""
        say(console, f"{name}: {len(used)} of {len(set(pairs))} pairs kept{cosine}")
    if missing := usable.missing:
        words = f"{', '.join(missing[:20])}{', ...' if len(missing) > 20 else ''}"
        say(console, f"{len(missing)} words out of vocabulary: {words}")


main = Command(
    debias,
    _show,
    run=_run,
    arguments=("vectors", "out"),
    spelling="vectors IN; out OUT; words FILE; method NAME; until SCORE; query NAME; items FILE; "
    "config_dir FOLDER; option NAME=VALUE...; options; similarity FILE+",
)

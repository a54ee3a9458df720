"""A debiased or overbiased copy of word vectors, or of a language model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biasbridge.command_line import Command, refuse_options, returns, say
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
from biasbridge.files.choice import Whole, check_arguments
from biasbridge.files.language import UNDETERMINED
from biasbridge.files.models.encoder import Pooling
from biasbridge.files.paths import require_new
from biasbridge.files.text import open_plain, require_written_archive
from biasbridge.files.vector_files import vector_files
from biasbridge.input_vectors import OpenedModel, Vectors, as_vectors, is_model, require_files
from biasbridge.input_words import WordsInput, built_in, word_file
from biasbridge.intrinsic.lookup import CASES, LetterCase
from biasbridge.intrinsic.words import write_query
from biasbridge.own_parts import register, use_folder

if TYPE_CHECKING:
    import pandas as pd
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
    """Vectors before and after, the method with the dose used, its eraser, if any, and the pairs
    or the query that it worked on. ``weat``: WEAT of the query, if it has the roles for it.
    """

    method: VectorsMethod
    before: KeyedVectors
    vectors: KeyedVectors
    eraser: Eraser | None = None
    query: Query | None = None
    pairs: tuple[list[WordPair], list[WordPair]] | None = None
    goal: Goal[Metric] | None = None
    weat: Sequence[Metric] = ()
    name: str = "vectors"
    case: str = "exact"

    @property
    def notes(self) -> list[str]:
        """What was done with which words, what was odd in the vectors, and doubts that their order
        is by frequency.
        """
        from biasbridge.files.vectors import reading_notes
        from biasbridge.intrinsic.audit import doubt_order

        by_order = ["double_hard"] if self.method.name == "double_hard" else []
        odd = [*reading_notes(self.before), *doubt_order(self.name, self.before, by_order)]
        return [*self._facts(), *odd]

    def _facts(self) -> list[str]:
        if self.method.moves_pairs:
            own = cast("AttractRepel", self.method)
            pairs = self.pairs or own.constraints(cast("Query", self.query))
            return _describe_pairs(*pairs, self.before, self.vectors)
        if self.eraser:
            return self.eraser.facts()
        return _describe_words(cast("Query", self.query), self.method.roles, self.before)

    def scores(self, similarity: Sequence[str] = ()) -> pd.DataFrame:
        """Compare the goal, WEAT of the words, tests of gender and utility, before and after."""
        from biasbridge.before_after import compare_vectors, usual_metrics

        query = self.query
        language = query.language if query and query.language != UNDETERMINED else "en"
        metrics: list[Any] = [self.goal.metric] if self.goal else []
        metrics += [*self.weat, *usual_metrics(language, similarity, self.case)]
        return compare_vectors(metrics, self.before, self.vectors)


def _python_result(modified: _ModifiedVectors | ModelErasure) -> Any:
    """Return a model with its eraser, or vectors with what was done in ``attrs``."""
    if not isinstance(modified, _ModifiedVectors):
        return modified.model()
    from biasbridge.before_after import missing_notes

    eraser, method, scores = modified.eraser, modified.method, modified.scores()
    modified.vectors.attrs = {
        "method": method.name,
        "direction": getattr(method, "direction", ""),
        "dose": getattr(method, "dose", 1.0),
        **({"norm": eraser.norm, "rank": eraser.rank} if eraser else {}),
        "scores": scores.dropna(subset=["before", "after"], how="all").drop(columns="part"),
        "notes": [*modified.notes, *missing_notes(scores)],
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
    expand: int | None = None,
    neighbours: str | PathLike[str] | None = None,
    stop: str | PathLike[str] | None = None,
    write_words: str | PathLike[str] | None = None,
    direction: Direction | None = None,
    norms: Norms | None = None,
    attract: str | PathLike[str] | None = None,
    repel: str | PathLike[str] | None = None,
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
        Replace the copy, or the file of written words, if it exists.
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
    expand : int, optional
        Add to each of X, Y, A and B its K nearest neighbours.
    neighbours : path, optional
        Vectors to search for neighbours (default: the given ones).
    stop : path, optional
        File of words not to add, one per line.
    write_words : path, optional
        Save the words used, to read and edit.
    direction : {"debias", "overbias"}, optional
        For attract_repel: lower or raise the bias (default with --until: what the score needs).
    norms : {"keep", "unit"}, optional
        For attract_repel: keep the length of each vector (default), or make all lengths 1.
    attract : path, optional
        For attract_repel: file of your own pairs to pull together, two words per line.
    repel : path, optional
        For attract_repel: file of your own pairs to push apart, two words per line.
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
        ``rank``; ``scores``, a table of the score of ``until``, WEAT of the words, tests of gender
        and utility, ``before`` and ``after``; and ``notes``, what the command prints. A language
        model passes its hidden states through its ``eraser``.

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
            "attract": attract,
        }
        of_vectors |= {"repel": repel, "norms": norms, "expand": expand}
        of_vectors |= {"write-words": write_words, "trusted": trusted}
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
            "expand": expand or 0,
            "neighbours": neighbours and fspath(neighbours),
            "stop": stop and fspath(stop),
            "trusted": trusted,
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
        require_files([cast("Vectors", vectors)])
        fields |= {"direction": direction, "norms": norms}
        mover = _make_method(method, VECTOR_KINDS, **fields)
        inputs = (vectors, words, neighbours, stop, attract, repel)
        read = [Path(path) for path in inputs if isinstance(path, str | PathLike)]
        if isinstance(vectors, str | PathLike):
            read += vector_files(vectors if isinstance(vectors, str) else Path(vectors))
        if out:
            require_written_archive(out)
        outputs = [fspath(path) for path in (out, write_words) if path]
        for path in outputs:
            require_new(path, inputs=read, force=force)
        has_pairs = bool(attract or repel)
        if has_pairs:
            has_words = query or words or swap or lowercase or expand or neighbours or stop
            _check_pairs(mover, has_others=bool(direction or has_words or write_words))
        choice = WordChoice(**choose_words)
        name = "" if has_pairs else choice.seed_words().name if file else str(choice.query)
        # Loads gensim: not before the arguments are right
        from biasbridge.debias.until import Goal
        from biasbridge.intrinsic.resampling import RESAMPLES

        case = "lower" if lowercase else case
        goal = None if until is None else Goal.read(str(until), file, name, case=case)
        weat: list[Metric] = []
        with suppress(InputError):  # it lacks the roles of WEAT
            of_words = Goal.of("weat", name, 0, file, case=case).metric
            weat = [replace(of_words, resamples=RESAMPLES)]
            _ = weat[0].loaded_queries  # while the file is there
        before = as_vectors(cast("Vectors", vectors), trusted=trusted)
        form = _output_format(vectors, before, out)
        if has_pairs:
            pairs = tuple(read_pairs(Path(path)) if path else [] for path in (attract, repel))
            modified = _move_pairs(mover, before, *pairs, goal=goal, seed=seed)
        else:
            chosen = choice.words(before)
            if case == "lower" and not lowercase:
                chosen = chosen.lowered(before.key_to_index)
            modified = move(mover, before, chosen, goal=goal, direction=direction, seed=seed)
            if write_words:
                write_query(chosen, Path(write_words))
    modified.goal, modified.weat, modified.case = goal, weat, case
    if isinstance(vectors, str | PathLike):
        modified.name = Path(vectors).name
    if out:
        from biasbridge.files.vectors import save_vectors

        save_vectors(modified.vectors, out, format=form)
    return modified


def _check_pairs(method: object, *, has_others: bool) -> None:
    """Raise ``InputError`` for a method without pairs, and for other options beside pairs."""
    pairs = "--attract and --repel"
    if not getattr(method, "moves_pairs", False):
        name = getattr(method, "name", "this method")
        raise InputError(f"{pairs} belong to attract_repel; {name} takes a query")
    if has_others:
        remedy = "leave out --direction and the options of a query"
        raise InputError(f"{pairs} define the change; {remedy}")


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


def _move_pairs(
    method: AttractRepel,
    vectors: KeyedVectors,
    attract: list[WordPair],
    repel: list[WordPair],
    *,
    goal: Goal[Metric] | None,
    seed: int,
) -> _ModifiedVectors:
    """Modify vectors by your own pairs, which have no opposite direction."""
    from biasbridge.debias.until import find_dose

    axis = method.pairs_dose_axis(vectors, attract, repel, seed=seed)
    if goal:
        method = method.with_dose(find_dose(axis, vectors, goal, (1,)))
    return _ModifiedVectors(method, vectors, axis.at(method.dose), pairs=(attract, repel))


def _run(
    *,
    vectors: str,
    option: Sequence[str] = (),
    similarity: Sequence[str] = (),
    metrics: Sequence[str] = (),
    **options: Any,
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
        if name in ("dose", "direction", "norms", "items"):
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
    are_models, needed = is_model(vectors), {"direction", "until", "attract", "repel"}
    if not are_models and hasattr(method, "pairs_dose_axis") and not options.keys() & needed:
        raise InputError(
            "give --direction debias or overbias, or --until, which finds the direction, or"
            " your own pairs with --attract and --repel; or give another --method"
        )
    if are_models:
        refuse_options({"similarity": similarity}, "word vectors; leave it out")
    else:
        refuse_options({"metric": metrics}, "language models; leave it out")
    if metrics:  # before the work; loads torch
        from biasbridge.model_debiasing import model_metric

        [*map(model_metric, metrics)]
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
    metrics: Sequence[str] = (),
) -> None:
    """Print what was done, and scores of bias and utility before and after.

    Parameters
    ----------
    metrics : sequence of str
        Metrics of a language model to compare by (default: those of an audit, seat first).
    similarity : sequence of str
        Files of word similarity to compare by, with a word, a word and a number per line.
    """
    from biasbridge.before_after import print_scores
    from biasbridge.files.eraser import MERGED
    from biasbridge.model_debiasing import utility_line

    goal, method = modified.goal, modified.method
    reached = f"dose {method.dose:.4f}: {goal.name} is {goal.value:g}" if goal else ""
    if console.quiet:  # comparing a model takes minutes
        return
    if isinstance(modified, _ModifiedVectors):
        found = method.moves_pairs and not (modified.pairs or direction)
        reached = f"direction {method.direction}, {reached}" if found and reached else reached
        for line in filter(None, (reached, *modified.notes)):
            say(console, line)
        print_scores(modified.scores(similarity), console)
        say(console, f"wrote {out}")
        return
    for line in filter(None, (*modified.eraser.facts(), reached)):
        say(console, line)
    table = modified.compared(metrics)
    print_scores(table, console)
    for note in table.attrs["notes"]:
        say(console, note)
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


def _describe_words(query: Query, roles: Sequence[str], vectors: KeyedVectors) -> list[str]:
    """Return how many words of each role are in the vocabulary."""
    from biasbridge.intrinsic.lookup import find_set

    sets = {role: find_set(vectors, query[role], case="lower") for role in roles}
    return [
        f"{role}: {len(words.items)} of {len(query[role].items)} found ({query[role].name})"
        for role, words in sets.items()
    ]


def _describe_pairs(
    attract: list[WordPair], repel: list[WordPair], before: KeyedVectors, after: KeyedVectors
) -> list[str]:
    """Return how many pairs are kept, their mean cosine before and after, and missing words."""
    usable = usable_pairs(attract, repel, before.key_to_index)
    lines = []
    for name, pairs, used in (("attract", attract, usable.attract), ("repel", repel, usable.repel)):
        change = f"{mean_cosine(before, used):.4f} -> {mean_cosine(after, used):.4f}"
        cosine = f"; mean cosine {change}" if used else ""
        lines.append(f"{name}: {len(used)} of {len(set(pairs))} pairs kept{cosine}")
    if missing := usable.missing:
        listed = f"{', '.join(missing[:20])}{', ...' if len(missing) > 20 else ''}"
        count = f"{len(missing)} word{'s are' if len(missing) > 1 else ' is'}"
        lines.append(f"{count} out of vocabulary: {listed}")
    return lines


main = Command(
    debias,
    _show,
    run=_run,
    arguments=("vectors", "out"),
    spelling="vectors IN; out OUT; words FILE; method NAME; until SCORE; query NAME; expand K; "
    "neighbours FILE; stop FILE; write_words FILE; attract FILE; repel FILE; items FILE; "
    "config_dir FOLDER; option NAME=VALUE...; options; similarity FILE+; metrics --metric NAME+,",
)

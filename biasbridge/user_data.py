"""User data, recognised by content (posts, corpus, words, vectors, published collections), and the
settings or the command that run them.

The columns of a table of posts, and the pair of groups compared, are guessed by name and content.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from biasbridge.command_line import command_text
from biasbridge.extrinsic.predictions import middle_score
from biasbridge.files import InputError, read_lines
from biasbridge.files.columns import (
    CLASS_NONE,
    are_flags,
    binary_key,
    distinct_names,
    find_blank,
    find_fractions,
    find_joined,
    get_column,
    name_key,
    note_missing,
    restore_ranges,
)
from biasbridge.files.language import UNDETERMINED, guess_language
from biasbridge.files.tables import (
    EXCEL,
    JSON_LINES,
    SEP_LINE,
    SEPARATORS,
    read_table,
    require_columns,
    table_suffix,
)
from biasbridge.files.text import open_plain, read_head
from biasbridge.files.vector_files import find_registered
from biasbridge.input_tables import as_dataframe
from biasbridge.intrinsic.words import Query, read_wordsets
from biasbridge.prediction_tables import ReleaseRequest, as_predictions, measure_gaps, recode

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd
    from gensim.models import KeyedVectors


_HEAD = 1 << 16  # bytes of a file searched for field names
_PREDICTION = re.compile(
    r"(y_)?pred(icted|iction|ictions)?(_label)?|y_?hat|vorhersage|predicci[oó]n", re.IGNORECASE
)
_VERSION = re.compile(r"(v|version|model|pred|prediction|y_pred|y_?hat)_?\d+", re.IGNORECASE)
_SCORE = re.compile(
    r"(\w+_)?(scores?|prob(a|ability)?|confidence|logits?)(_1)?|wahrscheinlichkeit|probabilidad",
    re.IGNORECASE,
)
_HUB = "LABEL_"  # begins the labels of models without names for them
_DEFAULTS = {"gold": "label", "pred": "prediction", "group": "group"}
_MAX_GROUPS = 25  # values of a field that may be groups


class PublishedCollection(NamedTuple):
    """A collection with fields that no other table has.

    ``use``: how it is used, or why it is not. ``kind``: ``items`` (for ``biasbridge audit``),
    ``posts``, ``answers`` (for ``biasbridge bbq``), or empty if no command reads it.
    """

    name: str
    fields: set[str]
    use: str
    kind: str = ""


_BEGIN = re.compile(r"^#\s*begin document", re.MULTILINE)
_MODELS = "items for language models"
_OWN_SLOTS = {"text", "group", "term"}  # posts have these and a label
COLLECTIONS = (
    PublishedCollection(
        "HateXplain (Mathew et al., 2021)",
        {"annotators", "post_tokens"},
        "not read yet: write a table with text, label and group, one row per post",
    ),
    PublishedCollection(
        "BBQ (Parrish et al., 2022)",
        {"question_polarity", "context_condition"},
        "questions; with a column of a model's answers they can be scored",
        "answers",
    ),
    PublishedCollection(
        "the Gab Hate Corpus (Kennedy et al., 2022)",
        {"hd", "cv", "vo"},
        "posts; label hd: an assault on human dignity",
        "posts",
    ),
    PublishedCollection(
        "BEC-Pro (Bartl et al., 2020)", {"Sent_TM", "Prof_Gender"}, _MODELS, "items"
    ),
    PublishedCollection(
        "HONEST (Nozza et al., 2021)",
        {"template_masked", "identity"},
        "items for masked language models (disco); its own score is not computed",
        "items",
    ),
    PublishedCollection(
        "CrowS-Pairs (Nangia et al., 2020)", {"sent_more", "sent_less"}, _MODELS, "items"
    ),
    PublishedCollection("a table of pairs", {"stereo", "anti"}, _MODELS, "items"),
    PublishedCollection("a table of slots", _OWN_SLOTS, _MODELS, "items"),
)


def recognise(path: Path) -> PublishedCollection | None:
    """Return the collection that a file belongs to; None for other files and for folders."""
    names = _field_names(path) if path.is_file() else set()
    is_of_posts = not names.isdisjoint({*LABEL_NAMES})
    collections = (collection for collection in COLLECTIONS if collection.fields <= names)
    return next((x for x in collections if not (is_of_posts and x.fields <= _OWN_SLOTS)), None)


def is_result_file(path: Path) -> bool:
    """Return whether ``describe_answers`` describes a file or folder."""
    from biasbridge.extrinsic.logs import JSON_OBJECTS, detect_format

    return detect_format(path) not in ("", JSON_OBJECTS)


class _Roles(NamedTuple):
    """Columns of a table of predictions, and ``codes``, the true labels of predicted ones.

    ``scores``: empty where columns hold predicted labels.
    """

    gold: str
    preds: list[str]
    scores: list[str]
    groups: list[str]
    codes: str


def describe_predictions(path: Path, given: DataOptions) -> list[str]:
    """Return what a table of predictions holds and the command for its gaps; none for other files.

    The command has run. Columns with the labels of a column that is given as the true ones are
    versions. Raises ``InputError`` as it does, and where no column is recognised.
    """
    names = _field_names(path) if path.is_file() else set()
    is_predicted = any(form.fullmatch(name) for form in _PREDICTED for name in names)
    is_labelled = "label" in names and names & {*_GOLD_NAMES}
    if not is_predicted and not is_labelled and given.label not in names:
        return []
    table = as_predictions(path)
    roles = _guess_roles(table, given)
    gold, preds, scores, groups, codes = roles
    if not preds and not scores:
        return []
    for name in filter(None, (gold, *preds)):
        get_column(table, name, is_value=True)
    for name in (name for name in scores if name.endswith("_1")):
        if (other := f"{name[:-1]}0") in table and middle_score(table, [name]) != 0.5:
            remedy = f"write {name} - {other} into a column X, and give --score X --threshold 0"
            raise InputError(f"{path}: {name} alone is no score of label 1; {remedy}")
    if not gold or not groups:
        role, option = ("group", "group") if gold else ("label", "gold")
        command = command_text("gaps", path, pred=preds, **{option: "COLUMN"})
        problem = f"{path}: no column is recognised as the {role}"
        raise InputError(f"{problem}; name it in {command}")
    table = recode(table, [gold, *preds], codes) if codes else table
    options = _guess_options(table, roles, given.positive)
    measured = measure_gaps(ReleaseRequest(table, **options | {"gold": gold}))
    found = ", ".join(measured.parts[0].sample.groups)
    kind = "scores" if "score" in options else "predictions"
    what = f"{kind} {', '.join(scores or preds)}, labels {gold}, groups {found}"
    command = command_text("gaps", path, **options | {"map": codes})
    return [*measured.notes, f"{path}: {what}", f"to measure gaps: {command}"]


def _guess_roles(table: pd.DataFrame, given: DataOptions) -> _Roles:
    """Guess the roles of columns by their names and content; empty where none has one."""
    ends = {name: name.rpartition(".")[2] for name in map(str, table)}
    preds, versions, scores = (
        [name for name in ends if form.fullmatch(ends[name])] for form in _PREDICTED
    )
    others = [name for name in ends if name not in (*preds, *versions, *scores)]
    few = [name for name in others if 1 < table[name].map(str).nunique() <= _MAX_GROUPS]
    true = given.label if given.label in others else _first_named(_GOLD_NAMES, others)
    versions += ["label"] if true not in (None, "", "label") and "label" in few else []
    named = dict.fromkeys(filter(None, (*few, true, *preds, *versions)))
    texts = {name: table[name].map(str, na_action="ignore") for name in named}
    cells = {name: distinct_names(texts[name], CLASS_NONE) for name in texts}
    keys = {x: {*map(binary_key if are_flags(cells[x]) else name_key, cells[x])} for x in cells}
    alike = (x for x in few for y in preds if keys[x] <= keys[y] or keys[y] <= keys[x])
    flags = (x for x in few if keys[x] <= BINARY)
    gold = true or _first_named(LABEL_NAMES, others) or next(alike, "") or next(flags, "")
    labels = keys.get(gold, set())
    if given.label and not preds:
        preds = [name for name in few if name != gold and {*keys[name]} == labels]
    preds += [name for name in versions if {x.removeprefix(_HUB) for x in keys[name]} <= labels]
    scores = [name for name in scores if find_fractions(table, name) is not None]
    scores = [] if preds else scores
    codes = given.map or ""
    predicted = {label for name in preds for label in keys[name]}
    coded = sorted(label for label in predicted - labels if label.startswith(_HUB))
    if coded and {x.removeprefix(_HUB) for x in coded} <= labels:
        codes = codes or ",".join(f"{x}={x.removeprefix(_HUB)}" for x in coded)
    few = [name for name in few if name not in (gold, *preds, *TEXT_NAMES)]
    groups = [name for name in others if name != gold and ends[name] in GROUP_NAMES]
    groups = [given.group] if given.group in others else groups
    groups = groups or [name for name in few if keys[name] <= BINARY]
    groups = groups or [
        name for name in others if name != gold and find_fractions(table, name) is not None
    ]
    groups = groups or few[:1]
    return _Roles(gold, preds, scores, groups, codes)


def _guess_options(table: pd.DataFrame, roles: _Roles, positive: Sequence[str]) -> dict[str, Any]:
    """Return the options of ``biasbridge gaps`` that differ from their defaults."""
    gold, preds, scores, groups, _ = roles
    options: dict[str, Any] = {"gold": [gold], "pred": preds, "group": groups}
    options = {role: names for role, names in options.items() if names != [_DEFAULTS[role]]}
    if all(find_fractions(table, name) is not None for name in preds):
        scores = scores or preds
        options |= {"pred": "", "score": scores, "threshold": middle_score(table, scores)}
    if any(find_fractions(table, name) is not None for name in (gold, *groups)):
        options["cut"] = 0.5
    elif not {*map(binary_key, table.loc[~find_blank(table[gold]), gold])} <= BINARY:
        positive = positive or _positive_of_two(table[gold])
        options |= {"positive": positive, "multiclass": not positive}
    units = (x for x in map(str, table) if x.lower() in _UNITS)
    repeated = (x for x in units if table[x].duplicated().mean() > 0.1)
    options["cluster"] = next(repeated, "")
    if joined := find_joined({*chain(*(table[name].dropna().map(str) for name in groups))}):
        options["group_sep"] = joined[2].replace("\n", "\\n")
    return {x: value for x, value in options.items() if value or isinstance(value, float)}


def _positive_of_two(cells: pd.Series) -> list[str]:
    """Return the positive one of two labels: the one that is not of a word for neither or for
    harmless, else the rarer; nothing of more labels.
    """
    counts = cells[~find_blank(cells)].map(name_key).value_counts()
    if len(counts) != 2:
        return []
    harmless = [x for x in counts.index if _HARMLESS.match(x.lower())]
    return [x for x in counts.index[::-1] if len(harmless) != 1 or x not in harmless][:1]


def _first_named(names: Iterable[str], columns: Iterable[object]) -> str:
    """Return the column of the first name that is one, or that a nested field has; else ""."""
    texts = [*map(str, columns)]
    by_end = {text.rpartition(".")[2]: text for text in reversed(texts)} | {x: x for x in texts}
    return next((by_end[name] for name in names if name in by_end), "")


def describe_bbq(path: Path) -> str:
    """Return the command for the scores of BBQ; of questions alone, what they lack."""
    from biasbridge.extrinsic import bbq_answers as bbq
    from biasbridge.extrinsic.bbq import NO_ANSWER

    known = {*bbq.FIELDS, *bbq.ANSWERS, *bbq.PROMPTS[0], bbq.ID, bbq.TEMPLATE, "answer"}
    names = [name for name in map(str, read_table(path)) if name.partition(".")[0] not in known]
    for name in ["", *names]:
        with suppress(InputError):
            [table] = bbq.open_answers([path], name or None, bbq.downloaded_data())
            if {*bbq.read_items(table)[1]} - {NO_ANSWER}:
                return f"to use it: {command_text('bbq', path, answer=name)}"
    return "to score a model, write its answers into a column answer"


def describe_answers(path: Path) -> list[str]:
    """Return what a result file is, its fields that can be groups, and the command for gaps."""
    from biasbridge.extrinsic.log_items import OWN_COLUMNS
    from biasbridge.extrinsic.logs import FORMATS, read_answers

    items = read_answers(path)
    facts = {name: items.attrs[name] for name in ("model", "task")}
    listed = "".join(f", {name} {value}" for name, value in facts.items() if value)
    title = FORMATS[items.attrs["format"]].title
    lines = [f"{path}: {title}{listed}; {len(items):,} items"]
    lines += [f"warning: {note}" for note in items.attrs["notes"]]
    columns = items.drop(columns=[*OWN_COLUMNS], errors="ignore").select_dtypes(exclude="float")
    counts = {str(name): columns[name].dropna().map(str).nunique() for name in columns}
    groups = [
        name for name, count in counts.items() if 1 < count <= min(_MAX_GROUPS, len(items) / 2)
    ]
    listed = ", ".join(f"{name} ({counts[name]})" for name in groups)
    lines.append(f"fields with few values, for --group: {listed or 'none'}")
    if {"question_polarity", "context_condition"} <= {*items} or "bbq" in facts["task"].lower():
        lines.append(f"to score the answers to BBQ: {command_text('bbq', path)}")
    options: dict[str, Any] = {}
    has_classes = "label" in items and len({*items["label"]}) > 1
    if not has_classes:
        options = {"gold": "expected", "pred": "correct", "measures": "accuracy"}
    elif not {*items["label"].dropna()} <= {0, 1}:
        options = {"positive": str(items["label"].mode()[0])}
    if cluster := items.attrs.get("cluster"):
        options["cluster"] = cluster
    groups.sort(key=lambda name: (name == cluster, name not in GROUP_NAMES, counts[name]))
    for group in groups if has_classes or items["correct"].notna().any() else ():
        with suppress(InputError):
            measure_gaps(ReleaseRequest(path, group=group, **options))
            what = "gaps" if has_classes else "gaps of accuracy"
            command = command_text("gaps", path, group=group, **options)
            return [*lines, f"to measure {what}: {command}"]
    return lines


def are_documents(path: Path) -> bool:
    """Return whether a file holds documents with clusters of coreference."""
    if not path.is_file():
        return False
    return {"sentences", "clusters"} <= _field_names(path) or bool(_BEGIN.search(_head(path)))


def describe_documents(paths: Sequence[Path]) -> str:
    """Return the command that scores the second file of documents against the first."""
    if len(paths) != 2:
        return f"{paths[0]}: documents; to score clusters, give two files: true ones first"
    return f"to score {paths[1]}: {command_text('coreference', *paths)}"


def audit_command(model: Path | str, *items: Path, language: str | None = None) -> str:
    """Return the command that audits a model, with items in the given or guessed language."""
    options: dict[str, Any] = {}
    if items:
        language = language or guess_language(re.findall(r"\w+", _head(items[0]).lower()))
        known = {} if language in (UNDETERMINED, "en") else {"language": language}
        options = {"items": items, **known}
    return command_text("audit", model, **options)


def _field_names(path: Path) -> set[str]:
    suffix = table_suffix(path)
    if suffix in (".parquet", EXCEL):
        return {*map(str, read_table(path))}
    if suffix in (".json", JSON_LINES):
        return {*re.findall(r'"(\w+)"\s*:', _head(path))}
    lines = _head(path).splitlines()[:2]
    lines = [line for line in lines if not SEP_LINE.fullmatch(line.strip())]
    return {*re.split(r'[\t,;"]+', "".join(lines[:1]).strip())}


def _head(path: Path) -> str:
    return read_head(path, _HEAD)


StudySettings = dict[str, str | float | list[str]]
LOOKED_AT = 20_000  # lines of a corpus, words of vectors
TEXT_NAMES = ("text", "texto", "tweet", "post", "comment", "comment_text", "sentence")
LABEL_NAMES = (
    *("label", "class", "hateful", "hate", "odio", "hs", "toxic", "etiqueta", "hd"),
    *("label_gold", "gold_label", "gold", "y_true", "labels", "target"),
)
GROUP_NAMES = (
    *("group", "grupo", "gruppe", "gender", "sex", "race", "ethnicity", "religion", "identity"),
    *("target_group", "group_gold", "gold_group", "target"),
)
_GOLD_NAMES = ("label_gold", "gold_label", "gold", "y_true", "true_label", "labels")
_HARMLESS = re.compile(
    r"(no|none|not|non|ok|okay|neutral|normal|negative|neither|clean|safe|other|nein)\b"
)
_UNITS = {"author", "author_id", "user", "user_id", "template", "thread"}  # of several items
_PREDICTED = _PREDICTION, _VERSION, _SCORE
_AMBIGUOUS = "target"  # the label if it holds 0 and 1, else the group
BINARY = {"0", "1"}
# The first is privileged: the gap is positive where the second fares worse
_PAIRS = (
    *(("male", "female"), ("man", "woman"), ("men", "women"), ("m", "f"), ("hombre", "mujer")),
    *(("hombres", "mujeres"), ("masculino", "femenino"), ("local", "migrant")),
)


@dataclass(frozen=True)
class DataOptions:
    """What the user says of the data: the options of :func:`check`. By default all is guessed."""

    data: Sequence[str | PathLike[str]]
    _: KW_ONLY
    text: str | None = None
    label: str | None = None
    positive: Sequence[str] = ()
    group: str | None = None
    privileged: str | None = None
    unprivileged: str | None = None
    language: str | None = None
    trusted: bool = False
    map: str | None = None


@dataclass
class Data:
    """The content of the user's files by kind.

    ``positive``: labels of the positive class; empty if labels are 0 and 1, or unknown. ``pair``:
    the groups compared, if their names are known. ``sample``: lines of the corpus, all of them if
    ``is_sample_complete``. ``has_given_language``: by the user, not guessed.
    """

    posts: pd.DataFrame | None = None
    vectors: KeyedVectors | None = None
    queries: list[Query] = field(default_factory=list)
    sample: list[str] = field(default_factory=list)
    is_sample_complete: bool = True
    paths: dict[str, Path] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    positive: list[str] = field(default_factory=list)
    pair: tuple[str, str] | None = None
    language: str = UNDETERMINED
    trusted: bool = False
    has_given_language: bool = False

    @property
    def texts(self) -> pd.Series:
        """The texts of the posts."""
        assert self.posts is not None
        return self.posts[self.columns["text"]].astype("string").fillna("")

    @property
    def groups(self) -> list[str]:
        """The annotated groups of the posts."""
        if self.posts is None or "group" not in self.columns:
            return []
        return distinct_names(self.posts[self.columns["group"]])

    @property
    def compared(self) -> list[str]:
        """The pair of groups, or all groups; empty if words in the posts determine the group."""
        return list(self.pair or self.groups)

    def settings(self) -> StudySettings:
        """Return the settings of a run, by the keys of the configuration."""
        settings: StudySettings = {}
        if self.language != UNDETERMINED:
            settings["language"] = self.language
        if "vectors" in self.paths:
            settings |= {"embedding": "pretrained", "embedding.path": str(self.paths["vectors"])}
            if self.trusted:
                settings["embedding.trusted"] = True
        if "corpus" in self.paths:
            settings |= {"corpus": "text", "corpus.path": str(self.paths["corpus"])}
        elif "vectors" not in self.paths and self.language in (UNDETERMINED, "en"):
            settings["corpus"] = "generated"
        settings |= self._post_settings() if "posts" in self.paths else {"source": "none"}
        if "words" in self.paths:
            settings["intrinsic.weat.words"] = str(self.paths["words"])
        weat_queries = [
            query.name for query in self.queries if {"X", "Y", "A", "B"} <= query.sets.keys()
        ]
        if weat_queries:
            file = str(self.paths["words"])
            settings |= {"words": "file", "words.file": file, "words.query": weat_queries[0]}
        return settings

    def _post_settings(self) -> StudySettings:
        settings: StudySettings = {"source": "csv", "source.path": str(self.paths["posts"])}
        settings |= {f"source.{role}": name for role, name in self.columns.items()}
        if self.positive:
            settings["source.positive"] = self.positive
        settings["task.name"] = self.paths["posts"].stem
        if self.pair:
            settings |= {"gaps.privileged": self.pair[0], "gaps.unprivileged": self.pair[1]}
        elif self.groups:
            settings["gaps.compare"] = ["one-vs-rest"]
        return settings


def read_data(options: DataOptions) -> Data:
    """Read every file by its kind. Raise ``InputError`` for other files and two of one kind."""
    data = Data(trusted=options.trusted)
    for path in map(Path, options.data):
        kind = kind_of(path)
        if kind in data.paths:
            sweep = f", and both in the run: embedding.path={data.paths[kind]},{path}"
            remedy = f"give one of them{sweep if kind == 'vectors' else ''}"
            raise InputError(f"{data.paths[kind]} and {path} are both {kind}; {remedy}")
        data.paths[kind] = path
    if (words := data.paths.get("words")) is not None:
        data.queries = list(read_wordsets(words).queries.values())
    if (posts := data.paths.get("posts")) is not None:
        _read_posts(data, options, posts)
    if (corpus := data.paths.get("corpus")) is not None:
        lines = read_lines(corpus)
        data.sample = list(islice(lines, LOOKED_AT))
        data.is_sample_complete = next(lines, None) is None
    if (vectors := data.paths.get("vectors")) is not None:
        from biasbridge.files.vectors import read_vectors  # loads gensim

        data.vectors = read_vectors(vectors, trusted=options.trusted)
    data.has_given_language = options.language is not None
    data.language = options.language or _language(data)
    return data


def _read_posts(data: Data, options: DataOptions, path: Path) -> None:
    data.posts = as_dataframe(path)
    for name in (x for x in data.posts if data.posts[x].dtype == object):  # may hold lists
        data.posts[name] = data.posts[name].map(str, na_action="ignore")
    if not len(data.posts):
        raise InputError(f"{path} holds no posts")
    data.columns = _find_columns(data.posts, options, path)
    for role in data.columns.keys() & {"label", "group"}:
        get_column(data.posts, data.columns[role], is_value=True)
    groups = [data.columns[role] for role in data.columns if role == "group"]
    data.posts, dates = restore_ranges(data.posts, groups)
    notes = [*data.posts.attrs.get("notes", []), *dates, *note_missing(data.posts, groups)]
    data.posts.attrs["notes"] = notes
    data.positive = list(options.positive)
    pair = options.privileged, options.unprivileged
    if any(pair) and not (pair[0] and pair[1] and data.groups):
        column = "" if data.groups else " and with --group, the column of the groups"
        raise InputError(f"--privileged and --unprivileged go together{column}; give both")
    data.pair = (pair[0], pair[1]) if pair[0] and pair[1] else guess_pair(data.groups)


def kind_of(path: Path) -> str:
    """Return ``posts``, ``corpus``, ``words`` or ``vectors``, by file extension and content."""
    from biasbridge.files.vector_files import detect_format

    if path.is_dir() or find_registered(path):
        return "vectors"
    open_plain(path).close()

    if collection := recognise(path):
        if collection.kind != "posts":
            raise InputError(f"{path} is {collection.name}, {collection.use}; leave it out")
        return "posts"
    suffix = table_suffix(path)
    if suffix in (".yaml", ".yml", ".json"):
        return "words"
    if suffix in (".parquet", JSON_LINES):
        return "posts"
    if suffix in (".csv", ".tsv", ".tab", EXCEL):
        names = {str(name) for name in read_table(path)}
        return "words" if {"role", "word"} <= names or {"X", "Y"} <= names else "posts"
    may_be_corpus = suffix in (*SEPARATORS, ".text", ".tok")
    try:
        form = detect_format(path)
    except InputError:
        if may_be_corpus:
            return "corpus"
        raise
    return "corpus" if may_be_corpus and form == "glove" and _is_prose(path) else "vectors"


def _is_prose(path: Path) -> bool:
    """Test whether the first lines have different numbers of words, unlike rows of vectors."""
    with suppress(InputError):
        lines = (line.split() for line in read_lines(path))
        return len({len(words) for words in islice(filter(None, lines), 5)}) > 1
    return False


def guess_languages(data: Data) -> dict[str, str]:
    """Guess the language of each kind of data by frequent words; of words it may be stated."""
    languages: dict[str, str] = {}
    if data.posts is not None:
        languages["posts"] = guess_language(_tokens(data.texts))
    if data.sample:
        languages["corpus"] = guess_language(_tokens(data.sample))
    if data.vectors is not None:
        languages["vectors"] = guess_language(data.vectors.index_to_key[:200])
    stated_languages = {query.language for query in data.queries} - {UNDETERMINED}
    if len(stated_languages) == 1:
        languages["words"] = stated_languages.pop()
    return {kind: code for kind, code in languages.items() if code != UNDETERMINED}


def _tokens(texts: Iterable[str]) -> Iterator[str]:
    return (token for text in texts for token in text.lower().split())


def _language(data: Data) -> str:
    languages = guess_languages(data)
    kinds = (kind for kind in ("posts", "corpus", "words", "vectors") if kind in languages)
    return next((languages[kind] for kind in kinds), UNDETERMINED)


def _find_columns(posts: pd.DataFrame, options: DataOptions, path: Path) -> dict[str, str]:
    """Return columns by role, given or guessed by name. Raise ``InputError`` for unknown ones."""
    given = {"text": options.text, "label": options.label, "group": options.group}
    require_columns(posts, filter(None, given.values()), str(path))
    columns: dict[str, str] = {}
    for role, column in given.items():
        if column in columns.values():
            other_role = next(name for name in columns if columns[name] == column)
            raise InputError(f"--{other_role} and --{role} are both {column!r}; name two columns")
        columns |= {role: column} if column else {}
    for role, guess in (("label", _guess_label), ("group", _guess_group), ("text", guess_text)):
        unused = posts[[name for name in posts if name not in columns.values()]]
        if role not in columns and (column := guess(unused)):
            columns[role] = column
        elif role not in columns and role != "group":
            names = ", ".join(map(str, posts))
            problem = f"{path}: no column is recognised as the {role} ({names})"
            raise InputError(f"{problem}; name it with --{role}")
    return {role: columns[role] for role in given if role in columns}


def _guess_label(posts: pd.DataFrame) -> str:
    """Return the label column by name, or the only one of 0 and 1; else an empty string."""
    named = _columns_named(posts, LABEL_NAMES)
    binary = [str(name) for name in posts if _is_binary(posts[name])]
    named = [name for name in named if name.lower() != _AMBIGUOUS or name in binary]
    return named[0] if named else binary[0] if len(binary) == 1 else ""


def _guess_group(posts: pd.DataFrame) -> str:
    for name in _columns_named(posts, GROUP_NAMES):
        if name.lower() != _AMBIGUOUS or not _is_binary(posts[name]):
            return name
    return ""


def guess_text(posts: pd.DataFrame) -> str:
    """Return the text column, else an empty string.

    In this order: by name, if its cells hold spaces, which ids do not; the only column of mostly
    distinct cells with spaces; by name alone.
    """
    with_spaces = [str(name) for name in posts if _holds_spaces(posts[name])]
    named = _columns_named(posts, TEXT_NAMES)
    distinct = [name for name in with_spaces if posts[name].nunique() > len(posts) / 2]
    candidates = [name for name in named if name in with_spaces]
    candidates += distinct if len(distinct) == 1 else []
    candidates += [] if distinct else named
    return candidates[0] if candidates else ""


def _columns_named(posts: pd.DataFrame, names: Iterable[str]) -> list[str]:
    return [str(column) for name in names for column in posts if str(column).lower() == name]


def _holds_spaces(cells: pd.Series) -> bool:
    """Test whether most cells hold a space."""
    return bool(cells.astype(str).str.strip().str.contains(r"\s").mean() > 0.5)


def _is_binary(cells: pd.Series) -> bool:
    return {*map(binary_key, distinct_names(cells))} == BINARY


def guess_pair(groups: Collection[str]) -> tuple[str, str] | None:
    """Return the privileged and the unprivileged group, if their names are known."""
    by_name = {group.lower(): group for group in groups}
    pairs = ((by_name[a], by_name[b]) for a, b in _PAIRS if a in by_name and b in by_name)
    return next(pairs, None)

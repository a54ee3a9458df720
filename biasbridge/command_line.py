"""The command line of a function: options from its signature, their help from its docstring.

A parameter without a default is an argument, another one an option of its name: a flag if it is a
bool, with choices if it is a ``Literal``. The first sentence on it under ``Parameters`` is its
help. A ``spelling`` says what a signature cannot, as ``metrics --metric NAME+,``: another flag, and
a metavar whose end tells how several values are given: ``COL...`` by repeating the option, ``A,B``
with commas, ``A,B...`` lists by repeating it, ``FILE+`` and ``FILE*`` one after another, ``NAME+,``
either way. An empty spelling hides the parameter.
"""

from __future__ import annotations

import inspect
import io
import re
import shlex
import sys
from argparse import SUPPRESS, ArgumentTypeError
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, wraps
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
)

from biasbridge.files import InputError, atomic_path, nearest
from biasbridge.files.choice import as_names
from biasbridge.files.deprecations import check_names
from biasbridge.files.errors import printable
from biasbridge.files.paths import require_output
from biasbridge.files.terminal import Parser, set_verbosity
from biasbridge.files.text import open_plain

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from biasbridge.files.writers import Document

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

STANDARD_OUTPUT = Path("-")
# What has an option of its own; all that a command writes is written by --write, by its ending
_ROWS = {"csv": "Write the rows as CSV", "json": "Write the rows as JSON"}
_WRITTEN = {
    "csv": "rows",
    "json": "rows",
    "md": "model card",
    "tex": "LaTeX",
    "html": "page",
    "xlsx": "rows",
}
_SENTENCE = re.compile(r"\.(?=\s|$)")
_MANY = re.compile(r"(.*?)(\.\.\.|\+,|[+*?])?")


def returns(convert: Callable[[R], T]) -> Callable[[Callable[P, R]], Callable[P, T]]:
    """Decorate a function whose command shows more than Python gets: ``convert(result)``."""

    def decorate(function: Callable[P, R]) -> Callable[P, T]:
        @wraps(function)
        def converted(*args: P.args, **kwargs: P.kwargs) -> T:
            return convert(function(*args, **kwargs))

        converted.raw = function  # type: ignore[attr-defined]
        return converted

    return decorate


def takes(options: Callable[P, T]) -> Callable[[Callable[[T], R]], Callable[P, R]]:
    """Decorate a function of a dataclass: callers give the fields, and its signature has them."""

    def decorate(function: Callable[[T], R]) -> Callable[P, R]:
        returned = inspect.signature(function).return_annotation
        signature = inspect.signature(options).replace(return_annotation=returned)

        @wraps(function)
        def taken(*args: P.args, **kwargs: P.kwargs) -> R:
            signature.bind(*args, **kwargs)  # a TypeError does not speak of the dataclass
            return function(options(*args, **kwargs))

        taken.__signature__ = signature  # type: ignore[attr-defined]
        modules = [vars(sys.modules[base.__module__]) for base in cast("type", options).__mro__]
        taken.names = ChainMap(*modules)  # type: ignore[attr-defined]
        return taken

    return decorate


class Command:
    """A command: a function, what calls it, and what shows and writes its result.

    Parameters
    ----------
    function : callable
        The function of the Python interface. Its summary describes the command.
    show : callable
        Prints the result, ``show(result, console)``, unless rows are printed; by default the
        document. A number that it returns is the exit status.
    run : callable
        What is called with the options; by default the function.
    also : sequence of callable
        Functions that ``run`` calls too: their parameters are options.
    end : callable
        As ``show``, after all files are written, and on standard error where rows are printed.
    table : callable
        What returns the table of a result, which is written as csv, json and xlsx.
    document : callable
        What returns the ``Document`` that is shown, and written as md, tex and html; by default
        that of the main columns is written.
    documents : mapping of str to callable
        For "csv", "json", "md" and "tex" what returns the text, given the result, in place of
        these.
    report : callable
        What writes the page, ``report(result, path)``.
    arguments : sequence of str
        Parameters that are arguments; by default those without a default.
    required : sequence of str
        Options that must be given; by default those without a default.
    spelling : str
        Parameters and kinds of documents, each with its spelling (see the module), parted by ";".
    types : mapping of str to callable
        What reads the text of a parameter, such as :func:`output_file`.

    Notes
    -----
    Further keyword-only parameters of ``run``, ``show``, ``end``, ``report`` and of documents are
    options too if they are documented. All functions get the options that they have a parameter of;
    ``documents`` are the kinds written, ``is_printed`` tells whether one is on standard output.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        show: Callable[..., int | None] | None = None,
        *,
        run: Callable[..., Any] | None = None,
        also: Sequence[Callable[..., Any]] = (),
        end: Callable[..., int | None] | None = None,
        table: Callable[..., pd.DataFrame] | None = None,
        document: Callable[..., Document] | None = None,
        documents: Mapping[str, Callable[..., str]] | None = None,
        report: Callable[..., object] | None = None,
        arguments: Sequence[str] | None = None,
        required: Sequence[str] = (),
        spelling: str = "",
        types: Mapping[str, Callable[[str], Any]] | None = None,
        epilog: str = "",
        name: str = "",
    ) -> None:
        self.name = name or function.__module__.rpartition(".")[2]
        self.run: Callable[..., Any] = getattr(function, "raw", function) if run is None else run
        self._function, self._also = function, also
        self._show: Callable[..., int | None] | None = show
        if document and not show:
            self._show = partial(_print, document)
        self._end: Callable[..., int | None] | None = end
        own = _table_documents(self.name, table, document) if table else {}
        self._documents = {**own, **(documents or {})}
        if "csv" in self._documents:
            self._documents["xlsx"] = self._documents["csv"]
        self._report, self._epilog = report, epilog
        words = (part.split() for part in spelling.split(";") if part.strip())
        self._spelling = {name: spelled for name, *spelled in words}
        self._arguments = arguments
        self._types, self._required = types or {}, required

    def __call__(self, arguments: Sequence[str] | None = None) -> int:
        """Run the command with arguments, by default those of the process; return its status."""
        values = self.read(arguments)
        is_quiet = values.pop("quiet", False)
        written = [(kind, values[kind]) for kind in self._documents if kind in values]
        page: Path | None = values.get("report") if self._report else None
        written += [("html", page)] if page else []
        written += [(path.suffix[1:].lower(), path) for path in values.pop("write", ())]
        kinds, paths = [kind for kind, _ in written], [path for _, path in written]
        if paths.count(STANDARD_OUTPUT) > 1:
            both = " and ".join(f"--{kind}" for kind, path in written if path == STANDARD_OUTPUT)
            raise InputError(f"{both} both print rows; give one of them a file")
        places = [path.resolve() for path in paths]
        for place, path in zip(places, paths, strict=True):
            if places.count(place) > 1:
                raise InputError(f"{path}: two documents in one file; name another")
        if is_quiet:
            set_verbosity(["--quiet"])
        from biasbridge.files.terminal import open_console

        is_printed = STANDARD_OUTPUT in paths  # instead of what is shown
        values |= {"documents": kinds, "is_printed": is_printed}
        console = open_console(stderr=is_printed, quiet=is_quiet)
        parameters = inspect.signature(self.run).parameters.values()
        is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        public = map(inspect.signature, (self._function, *self._also) if is_open else ())
        result = _call(self.run, values, others=[x for each in public for x in each.parameters])
        status, pages = None, list[Path]()
        for kind, path in written:  # before anything is printed, whose reader may have left
            if kind == "html" and self._report:
                _call(self._report, values, result, path)
                pages.append(path)
            else:
                write_text(_call(self._documents[kind], values, result), path)
        if self._show and not is_printed:
            status = _call(self._show, values, result, console)
        for page in pages:
            say(console, page)
        last = _call(self._end, values, result, console) if self._end else None
        return int(last or status or 0)

    def read(self, arguments: Sequence[str] | None) -> dict[str, Any]:
        """Return the arguments and options that are given, by parameter."""
        flags = (word.partition("=")[0] for word in arguments or sys.argv[1:])
        check_names(f"biasbridge {self.name} {flag}" for flag in flags)
        values = vars(self.parser().parse_intermixed_args(arguments))
        for name in values:
            if self._spell(name)[1].endswith("+,"):
                values[name] = split_names(",".join(values[name]))
        for name, parameter in inspect.signature(self._function).parameters.items():
            if "InputTable" in str(parameter.annotation):
                for path in map(Path, as_names(values.get(name, ()))):
                    if not path.exists():
                        open_plain(path)  # says what is near, before slow imports
        return values

    @property
    def summary(self) -> str:
        """First paragraph of the function's docstring."""
        text = inspect.cleandoc(self._function.__doc__ or "").partition("\n\n")[0]
        return " ".join(text.split())

    def parser(self) -> Parser:
        """Build the parser."""
        parser = Parser(
            prog=f"biasbridge {self.name}",
            description=self.summary,
            epilog=self._epilog,
            argument_default=SUPPRESS,
        )
        for function, parameter, text in self._parameters():
            self._add(parser, function, parameter, text)
        for kind in filter(self._documents.__contains__, _ROWS):
            text = f"{_ROWS[kind]} to FILE, or to the terminal without FILE"
            file: Any = {"nargs": "?", "const": STANDARD_OUTPUT}
            file["type"] = output_file(f".{kind}", "", stdout=True)
            flags, _ = self._spell(kind)
            parser.add_argument(*flags, dest=kind, metavar="FILE", help=text, **file)
        if self._report:
            page, text = output_file(".html"), "Write a page with the results in words and charts"
            parser.add_argument("--report", type=page, metavar="PAGE.html", help=text)
        if kinds := self._kinds():
            held = ", ".join(f".{kind} ({_WRITTEN[kind]})" for kind in kinds)
            text = f"Write FILE by its ending: {held}; may be repeated"
            endings = output_file(*(f".{kind}" for kind in kinds))
            options: Any = {"action": "append", "type": endings, "metavar": "FILE", "help": text}
            parser.add_argument("--write", **options)
        quiet = "Print nothing but errors and the rows asked for"
        parser.add_argument("--quiet", action="store_true", help=quiet)
        return parser

    def _kinds(self) -> list[str]:
        """Return the endings of the files that the command writes."""
        kinds = {*self._documents} | ({"html"} if self._report else set())
        return [kind for kind in _WRITTEN if kind in kinds]

    def _parameters(self) -> Iterator[tuple[Callable[..., Any], inspect.Parameter, str]]:
        """Yield the parameters that are options, each with its function and help."""
        public = [self._function, *self._also]
        others = (self.run, self._show, self._end, self._report, *self._documents.values())
        names = {"report", *self._documents}
        for function in (*public, *filter(None, others)):
            texts = read_parameters(function)
            for name, parameter in inspect.signature(function).parameters.items():
                is_open = function in public or parameter.kind is parameter.KEYWORD_ONLY
                is_shown = name in texts and self._spelling.get(name) != []
                if is_open and is_shown and name not in names:
                    names.add(name)
                    yield function, parameter, texts[name]

    def _spell(self, name: str) -> tuple[list[str], str]:
        """Return the flags and the metavar of an option."""
        words = self._spelling.get(name, [])
        flags = [word for word in words if word.startswith("-")]
        metavar = next((word for word in words if not word.startswith("-")), "")
        return flags or [f"--{name.replace('_', '-')}"], metavar

    def _add(
        self, parser: Parser, function: Callable[..., Any], parameter: inspect.Parameter, text: str
    ) -> None:
        name, default = parameter.name, parameter.default
        flags, metavar = self._spell(name)
        is_needed = default is parameter.empty and function is self._function
        is_argument = is_needed if self._arguments is None else name in self._arguments
        settings = _settings(parameter, function, metavar)
        if name in self._types:
            settings["type"] = self._types[name]
        if type(default) in (str, int, float) and default != "":
            text += "" if "default" in text else f" (default: {default})"
        settings["help"] = text.replace("%", "%%")
        if is_argument:
            parser.add_argument(name, **settings)
        else:
            is_needed |= name in self._required
            parser.add_argument(*flags, dest=name, required=is_needed, **settings)


class Group:
    """Commands under one name, as ``biasbridge store ls``; ``default`` is run without one."""

    def __init__(
        self, name: str, commands: Mapping[str, Command], *, default: str = "", epilog: str = ""
    ) -> None:
        self.name, self.commands, self._default, self._epilog = name, commands, default, epilog
        for action, command in commands.items():
            command.name = f"{name} {action}"

    def __call__(self, arguments: Sequence[str] | None = None) -> int:
        """Run the command that the first argument names."""
        arguments = sys.argv[1:] if arguments is None else arguments
        action, *rest = arguments or [self._default or "--help"]
        if action in ("-h", "--help"):
            print(f"usage: biasbridge {self.name} {{{','.join(self.commands)}}} ...\n")
            for name, command in self.commands.items():
                print(f"  {name:<10} {command.summary}")
            print(f"\n{self._epilog}" if self._epilog else "")
            return 0
        check_names([f"biasbridge {self.name} {action}"])
        if action not in self.commands:
            allowed = f"{nearest(action, self.commands)}; give one of {', '.join(self.commands)}"
            remedy = f"biasbridge {self.name} --help shows what they do"
            raise InputError(f"biasbridge {self.name} has no {action!r}{allowed}; {remedy}")
        return self.commands[action](rest)


def _settings(
    parameter: inspect.Parameter, function: Callable[..., Any], metavar: str
) -> dict[str, Any]:
    """Return what argparse must know of a parameter: action, type, choices, number of values."""
    hint = _hint(parameter, function)
    if hint is bool:
        return {"action": "store_false" if parameter.default else "store_true"}
    is_list = "," in metavar and not metavar.endswith("+,")
    is_once = is_list and (metavar.endswith(",...") or not metavar.endswith("..."))
    matched = None if is_once else _MANY.fullmatch(metavar)
    metavar, many = matched.groups() if matched else (metavar, "")
    settings: dict[str, Any] = {"metavar": metavar} if metavar else {}
    if get_origin(hint) is Literal:
        settings["choices"] = get_args(hint)
    elif get_origin(hint) is Annotated:
        settings["type"] = count
    elif hint in (int, float):
        settings["type"] = hint
    if many == "...":
        settings["action"] = "append"
    elif many:
        settings["nargs"] = many[0]
    if is_list:
        settings["type"] = split_names
    return settings


def _hint(parameter: inspect.Parameter, function: Callable[..., Any]) -> Any:
    """Return the type of a parameter without None; None if it has several, or one of a library
    that is not loaded.
    """
    try:
        names = getattr(function, "names", inspect.unwrap(function).__globals__)
        hint = eval(parameter.annotation, {}, names)
    except (NameError, TypeError):
        return None
    if get_origin(hint) not in (Union, UnionType):
        return hint
    hints = [kind for kind in get_args(hint) if kind is not NoneType]
    return hints[0] if len(hints) == 1 else None


def _call(
    function: Callable[..., Any],
    values: Mapping[str, Any],
    *positional: Any,
    others: Iterable[str] = (),
) -> Any:
    """Call a function with those of the values that it has a parameter of, or with ``others``."""
    names = [*inspect.signature(function).parameters][len(positional) :]
    names = list(dict.fromkeys([*names, *others]))
    return function(*positional, **{name: values[name] for name in names if name in values})


def read_parameters(function: Callable[..., Any]) -> dict[str, str]:
    """Return the first sentence on each parameter in a numpydoc docstring."""
    text = inspect.getdoc(function) or ""
    _, _, section = text.partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w+\n---", section)[0]
    texts: dict[str, str] = {}
    for names, lines in re.findall(r"^(\S.*)\n((?:(?:[ ].*)?(?:\n|\Z))+)", section, re.MULTILINE):
        sentence = _SENTENCE.split(" ".join(lines.split()))[0].replace("``", "")
        texts |= dict.fromkeys(
            re.split(r",\s*", names.partition(" : ")[0].replace("*", "")), sentence
        )
    return texts


def output_file(*endings: str, stdout: bool = False) -> Callable[[str], Path]:
    """Return the argparse type of an output file, which is checked before anything is read.

    "" among the ``endings`` allows a name without one; ``-`` is allowed with ``stdout``.
    """

    def check(text: str) -> Path:
        if text == "-":
            if stdout:
                return STANDARD_OUTPUT
            raise ArgumentTypeError("cannot write to -, the standard output; give a file")
        try:
            return require_output(text, endings)
        except InputError as error:
            raise ArgumentTypeError(str(error)) from None

    return check


def count(text: str) -> int:
    """Parse a whole number of at least 1, as an argparse type."""
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"{text!r}: give a whole number of at least 1")
    return int(text)


def split_names(text: str) -> list[str]:
    """Split ``a, b`` into names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def refuse_options(options: Mapping[str, object], applies_to: str) -> None:
    """Raise ``InputError`` for the first option that is set; they apply to something else."""
    for option in filter(options.get, options):
        raise InputError(f"--{option} applies to {applies_to}")


def command_text(name: str, *arguments: object, **options: Any) -> str:
    """Return the command with these arguments and options, quoted for a shell."""
    words = ["biasbridge", name, *map(str, arguments)]
    for option, value in options.items():
        flag = f"--{option.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif value or isinstance(value, float):
            values = [value] if isinstance(value, str | int | float) else value
            words += [word for one in values for word in (flag, str(one))]
    return shlex.join(words)


def say(console: Console, line: object) -> None:
    """Print a line as it is, unwrapped, with control characters escaped."""
    console.print(printable(str(line)), soft_wrap=True)


def write_text(text: str, path: Path) -> None:
    """Write a text to a file, rows of CSV also as .xlsx, or to standard output."""
    if path == STANDARD_OUTPUT:
        print(text, end="")
        return
    if path.suffix.lower() == ".xlsx":
        import pandas as pd

        from biasbridge.files.tables import write_table

        texts = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
        codes = {x: str for x in texts if texts[x].str.match(r"0\d").any()}  # names such as 01
        options: Any = {"dtype": codes, "keep_default_na": False, "na_values": [""]}
        write_table(pd.read_csv(io.StringIO(text), **options), path)
        return
    with atomic_path(path) as work:
        work.write_text(text, encoding="utf-8", newline="\n")


def _print(as_document: Callable[[Any], Document], result: object, console: Console) -> None:
    from biasbridge.files.writers import print_document

    print_document(as_document(result), console)


def _table_documents(
    name: str,
    as_table: Callable[[Any], pd.DataFrame],
    as_document: Callable[[Any], Document] | None,
) -> dict[str, Callable[..., str]]:
    """Return what formats a result by kind: its table, or the document that people read."""

    def text(kind: str, result: object) -> str:
        from biasbridge.files.writers import format_document, format_json
        from biasbridge.result_table import main_document

        if kind in _ROWS:
            return (as_csv if kind == "csv" else format_json)(as_table(result))
        document = as_document(result) if as_document else main_document(as_table(result), name)
        return format_document(kind, document, name)

    return {kind: partial(text, kind) for kind in _WRITTEN if kind != "xlsx"}


def as_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV."""
    from biasbridge.files.tables import csv_text

    return csv_text(table)

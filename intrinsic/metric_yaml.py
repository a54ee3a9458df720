"""The configuration of a metric as YAML, made of its class: every field with what it allows."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from annotated_types import DocInfo

from files.choice import hints_of, spell
from files.rooms import plain
from intrinsic.wordsets import queries_with

if TYPE_CHECKING:
    from intrinsic.metric import Metric

Value = bool | int | float | str | tuple[str, ...] | None

# What a configuration sets that is not the default: in every metric, and in some.
SHARED: Mapping[str, Value] = {"case": "lower", "language": "${language}"}
USUAL = "queries asked where neither queries nor words are given, in the language"
OWN: Mapping[str, Mapping[str, Value]] = {
    "weat": {"usual": ("weat6b", "weat7", "weat8"), "resamples": 1000},  # as the main study asks
    "sq": {"file": "???"},
}


@dataclass(frozen=True)
class OptionFacts:
    """A field of a metric; ``allowed`` is empty where any text is."""

    name: str
    allowed: str
    meaning: str
    default: Value
    by_convention: bool


def option_facts(kind: type[Metric]) -> Iterator[OptionFacts]:
    """Every field of a metric but its convention."""
    defaults = {each.name: cast("Value", each.default) for each in dataclasses.fields(kind)}
    for name, hint in hints_of(kind).items():
        meaning = [note.documentation for note in get_args(hint) if isinstance(note, DocInfo)]
        allowed = spell(hint)
        yield OptionFacts(
            name,
            "" if "a text" in allowed else allowed,
            "; ".join(meaning),
            defaults[name],
            by_convention=name in kind.options(),
        )


def metric_yaml(kind: type[Metric]) -> str:
    """The configuration: null leaves an option as the convention has it."""
    about = kind.about
    asks = tuple(queries_with(about.asks, "en"))
    given = {"usual": asks, "queries": None, **SHARED, **OWN.get(about.name, {})}
    lines = [
        f"# {about.title}. {about.source}.",
        f"# {about.sign}.",
        "# null: as the convention says.",
        f"{about.name}:",
        f"  _target_: {plain(kind.__module__)}.{kind.__qualname__}",
        f"  convention: default # one of {', '.join(kind.conventions())}",
    ]
    if given["usual"]:
        lines.append(f"  usual: {spell_value(given['usual'])} # {USUAL}")
    for option in option_facts(kind):
        value = given.get(option.name, None if option.by_convention else option.default)
        default = f"default {spell_value(option.default)}" if option.by_convention else ""
        allowed = "; ".join(filter(None, [option.allowed, default]))
        note = f"{option.meaning} ({allowed})" if allowed else option.meaning
        lines.append(f"  {option.name}: {spell_value(value)} # {note}")
    return "\n".join(lines) + "\n"


def spell_value(value: Value) -> str:
    """A value as YAML has it."""
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return value if isinstance(value, str) else json.dumps(value)

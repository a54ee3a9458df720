"""``docs/stable.csv`` lists what may be relied on; nothing of it goes without a deprecation.

``python -m tests.test_stability`` writes the list: it adds what is new, and takes out only what an
earlier version deprecated.
"""

from __future__ import annotations

import csv
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from packaging.version import Version

import biasbridge
from biasbridge.__main__ import main
from biasbridge.command_line import Command, Group
from biasbridge.commands import COMMANDS
from biasbridge.files import InputError
from biasbridge.files.deprecations import DEPRECATIONS, Deprecation
from biasbridge.train.cli.choices import choice_groups, choices
from biasbridge.train.cli.command import _OPTION_NAMES
from biasbridge.train.engine.store import _SCHEME

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs/stable.csv"
TABLES: tuple[str, ...] = ("points.parquet", "intrinsic.parquet", "extrinsic.parquet")
TABLES += ("correlations.csv", "gaps.csv", "effects.csv")
ADDED = ("data", "experiment", "sweep")  # groups that are typed with a plus

Names = dict[tuple[str, str], list[str]]  # by kind and what they belong to


def present_names() -> Names:
    """Return what a user can name in this version."""
    names: Names = {}
    for name in dir(biasbridge):
        if callable(value := getattr(biasbridge, name)):
            names["parameters", f"{name}()"] = [*inspect.signature(value).parameters]
    for name in COMMANDS:
        names |= {("options", owner): options for owner, options in _options(name)}
    with (ROOT / "docs/columns.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for table in {*row["table"].split(", ")} & {*TABLES} if row["column"] else ():
                names.setdefault(("columns", table), []).extend(row["column"].split(", "))
    settings = yaml.safe_load((ROOT / "conf/config.yaml").read_text(encoding="utf-8"))
    names["settings", "train.py"] = [name for name in settings if name != "defaults"]
    for group in choice_groups():
        owner = f"+{group}=" if group in ADDED else f"{group}="
        names["choices", owner] = choices(group)
    names["store", "scheme of keys"] = [str(_SCHEME)]
    return names


def _options(name: str) -> Iterator[tuple[str, list[str]]]:
    """Yield commands with the names of their arguments and options."""
    if name == "train":
        yield "biasbridge train", [*_OPTION_NAMES]
        return
    command = import_module(f"biasbridge.commands.{name}").main
    for member in command.commands.values() if isinstance(command, Group) else [command]:
        assert isinstance(member, Command)
        actions = member.parser()._actions  # noqa: SLF001 - argparse has no other list
        words = [word for each in actions for word in each.option_strings or [each.dest]]
        yield f"biasbridge {member.name}", words


def listed_names() -> Names:
    """Return what was promised."""
    with LIST.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {(row["kind"], row["of"]): row["names"].split() for row in rows}


def called(of: str, name: str) -> Iterator[str]:
    """Yield how a name is deprecated: alone, or with all that it belongs to."""
    yield of
    yield {"train.py": f"train.py {name}="}.get(of, f"{of.removesuffix('()')}({name})")
    yield f"{of} {name}"
    yield f"train.py {of.removeprefix('+')}{name}"


def may_go(of: str, name: str) -> bool:
    """Return whether a name is gone, and an earlier version deprecated it."""
    found = (DEPRECATIONS[each] for each in called(of, name) if each in DEPRECATIONS)
    now = Version(biasbridge.__version__)
    return any(each.is_gone and Version(each.version) < now for each in found)


def test_nothing_goes_without_a_deprecation() -> None:
    present = present_names()
    gone = {
        f"{of} {name}"
        for (kind, of), names in listed_names().items()
        for name in names
        if name not in present.get((kind, of), ()) and not may_go(of, name)
    }
    assert not gone, "deprecate these for one release in files/deprecations.py"


def test_all_that_is_there_is_listed() -> None:
    listed = listed_names()
    new = {
        f"{of} {name}"
        for (kind, of), names in present_names().items()
        for name in names
        if name not in listed.get((kind, of), ())
    }
    assert not new, "run python -m tests.test_stability, or take back what no user should need"


OLD = {
    "biasbridge gaps": ["gaps", "--help"],
    "biasbridge gaps --harm": ["gaps", "--harm", "7"],
    "biasbridge store ls": ["store", "ls", "--help"],
    "train.py seed=": ["train", "seed=0"],
    "train.py debias=hard": ["train", "debias=hard"],
}


@pytest.mark.parametrize("name", OLD)
def test_an_old_name_is_refused_with_what_to_use(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(DEPRECATIONS, name, Deprecation("1.0", "give nothing", is_gone=True))
    with pytest.raises((InputError, SystemExit)) as refusal:
        main(OLD[name])
    message = f"{refusal.value} {capsys.readouterr().err}"  # train prints its own
    assert f"{name} was removed; give nothing" in message


def test_a_deprecated_name_works_and_says_what_to_use(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("biasbridge gaps --harm", "query()", "query(words)"):
        monkeypatch.setitem(DEPRECATIONS, name, Deprecation("1.0", "give nothing"))
    monkeypatch.delitem(biasbridge.__dict__, "query", raising=False)
    with pytest.raises(InputError, match=r"no such file: nothing\.csv"):
        main(["gaps", "nothing.csv", "--harm", ".1"])
    biasbridge.query(words={"X": ["he"], "Y": ["she"]})
    assert capsys.readouterr().err.splitlines() == [
        "biasbridge gaps --harm is deprecated since 1.0; give nothing",
        "query() is deprecated since 1.0; give nothing",
        "query(words) is deprecated since 1.0; give nothing",
    ]


def test_a_function_that_is_gone_is_no_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DEPRECATIONS, "old()", Deprecation("1.0", "call gaps", is_gone=True))
    assert not hasattr(biasbridge, "old")
    with pytest.raises(AttributeError, match=r"^old\(\) was removed; call gaps$"):
        getattr(biasbridge, "old")  # noqa: B009 - not declared


if __name__ == "__main__":
    kept = {
        key: [name for name in names if not may_go(key[1], name)]
        for key, names in listed_names().items()
    }
    for key, names in present_names().items():
        kept[key] = list(dict.fromkeys([*kept.get(key, []), *names]))
    with LIST.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", "of", "names"])
        writer.writerows([kind, of, " ".join(names)] for (kind, of), names in kept.items())

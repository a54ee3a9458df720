"""The table of real data in the docs, from the registry and from what conf reads."""

import csv
import io
import re
from collections import defaultdict
from pathlib import Path

from biasbridge.files.choice import choice_classes
from biasbridge.files.data.registry import registry, sets_of
from biasbridge.files.paths import HOME
from biasbridge.train.cli.choices import choice_groups
from biasbridge.train.cli.class_configs import class_configuration

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "howto" / "data_sets.csv"
REQUEST = re.compile(r"\$\{data:([^}]+)\}")


def readers() -> dict[str, list[str]]:
    """Return the choices of conf that read each set."""
    names = defaultdict(list)
    conf = ROOT / "conf"
    files = {
        (path.parent.relative_to(conf).as_posix(), path.stem): path.read_text()
        for path in conf.rglob("*.yaml")
    }
    classes = {
        (group, found.name): str(class_configuration(found))
        for group in choice_groups()
        for found in choice_classes(HOME, group)
    }
    for (group, name), text in sorted({**classes, **files}.items()):
        choice = f"+{group}={name}" if group in ("experiment", "sweep") else f"{group}={name}"
        for relative in dict.fromkeys(REQUEST.findall(text)):
            for each in sets_of(relative):
                names[each.name].append(choice)
    return names


def table() -> str:
    """Return the table as CSV; "by add": not downloaded, but handed over by its owners."""
    read_by, out = readers(), io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["name", "what", "licence", "MB", "read by"])
    for each in registry().values():
        size = "" if each.n_bytes is None else f"{each.n_bytes / 1e6:,.1f}"
        licence = "by collection" if each.recipe else each.licence
        choices = ", ".join(read_by.get(each.name, ()))
        rows.writerow([each.name, each.what, licence, "by add" if each.ask else size, choices])
    return out.getvalue()


def test_table_is_the_registry() -> None:
    current = TABLE.read_text(encoding="utf-8")
    assert table() == current, "write the table anew: python -m tests.test_data_page"


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")

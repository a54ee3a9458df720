"""Display names of groups and versions: what people read in place of the names in a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

from biasbridge.files.errors import InputError, nearest
from biasbridge.files.text import read_nested

CROSSED_BY = " & "
_COLUMNS = ("group", "privileged", "unprivileged")
_VERSIONS = ("classifier", "earlier")
_RESERVED = {"all": "all items", "rest": "all other items", "none": "items in no group"}
# Where a reason or a note names a group: "of group x, fewer than 10", "groups: x (3), y (4)", "by
# group x 2 of 50, y 0 of 50. They are more often of x than of other rows"
_IN_TEXT = (
    r"(of group |by group |often of |: |, )({})(?=,|;|$| are one cluster| \(\d| [\d,]+ of | than )"
)


@dataclass(frozen=True)
class GroupNames:
    """Display names by group and by version; others keep theirs. ``items``: what positive items
    are called, "toxic comments"; by default after their label.
    """

    names: Mapping[str, str]
    versions: Mapping[str, str] = field(default_factory=dict)
    items: str = ""

    def in_text(self, text: str) -> str:
        """Replace the groups that a reason or a note names."""
        listed = "|".join(map(re.escape, sorted(self.names, key=len, reverse=True)))
        pattern = _IN_TEXT.format(listed)
        return re.sub(pattern, lambda at: at[1] + self.names[at[2]], text) if listed else text

    def in_row(self, row: Any) -> Any:
        """Replace the groups and versions of a row of gaps, a named tuple."""
        groups = {name: getattr(row, name) for name in _COLUMNS}
        shown = {name: self.names.get(group, group) for name, group in groups.items()}
        versions = {name: getattr(row, name) for name in _VERSIONS}
        shown |= {name: self.versions.get(version, version) for name, version in versions.items()}
        return row._replace(**shown, reason=self.in_text(row.reason))


AS_THEY_ARE = GroupNames({})


def read_group_names(
    path: str | Path, groups: Iterable[str], versions: Mapping[str, str], gold: str = "label"
) -> GroupNames:
    """Read display names: a CSV of group and name, or a name by group in YAML.

    The parts of a crossed group, ``female & black``, have their own names, unless it has one.
    ``versions`` are the classifiers by what a file may call each, such as the column of its score.
    The name of the column ``gold`` is that of the positive items. Raise ``InputError`` where no
    name is of a group or version, or two would have the same name.
    """
    groups = [group for group in groups if group not in _RESERVED]
    if Path(path).suffix.lower() in (".yaml", ".yml", ".json"):
        content = read_nested(path)
        if not isinstance(content, Mapping):
            raise InputError(f"{path}: give a line for each group, such as 'f: women'")
        rows: list[Any] = [*content.items()]
    else:
        from biasbridge.files.tables import read_table  # loads pandas

        table = read_table(path)
        if table.shape[1] < 2:
            raise InputError(f"{path} has one column; give two, group and display name")
        rows = [tuple(table.columns), *table.itertuples(index=False)]  # a header may be a group
    names = {str(row[0]).strip(): str(row[1]).strip() for row in rows}
    shown = {
        group: names.get(group)
        or CROSSED_BY.join(names.get(part) or part for part in group.split(CROSSED_BY))
        for group in groups
    }
    shown_versions = {version: names[key] for key, version in versions.items() if key in names}
    is_of_no_group = all(group == name for group, name in shown.items())
    items = names.get(gold, "")
    if not (shown_versions or items or shown.keys() & names.keys()) and is_of_no_group:
        first = next(iter(names), "")
        remedy = f"groups: {', '.join(groups[:5])}{nearest(first, groups)}"
        raise InputError(f"{path} names {first!r}, which is not a group of the table; {remedy}")
    owners = {**_RESERVED, **{group: group for group, name in shown.items() if group == name}}
    for group, name in shown.items():
        if owners.setdefault(name, group) != group:
            raise InputError(f"{path}: {name!r} is the name of {owners[name]} and of {group}")
    pairs = {
        f"{later} - {earlier}": " - ".join(
            shown_versions.get(name, name) for name in (later, earlier)
        )
        for later, earlier in permutations(versions.values(), 2)
    }
    renamed = {group: name for group, name in shown.items() if group != name}
    return GroupNames(renamed, shown_versions | pairs, items)

"""Display names of groups: what people read in place of the names in a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from biasbridge.files.errors import InputError, nearest
from biasbridge.files.text import read_nested

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("group", "privileged", "unprivileged")
CROSSED_BY = " & "
_RESERVED = {"all": "all items", "rest": "all other items", "none": "items in no group"}
# Where a reason or a note names a group: "of group x, fewer than 10", "groups: x (3), y (4)"
_BEFORE, _AFTER = r"(?P<before>of group |: |, )", r"(?=,|;|$| are one cluster| \(\d)"


@dataclass(frozen=True)
class GroupNames:
    """Display names of the groups of a table, by group; other groups keep theirs."""

    names: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, group: str) -> str:
        return self.names.get(group, group)

    def in_text(self, text: str) -> str:
        """Replace the groups that a reason or a note names."""
        if not self.names:
            return text
        listed = "|".join(map(re.escape, sorted(self.names, key=len, reverse=True)))
        pattern = f"{_BEFORE}(?P<group>{listed}){_AFTER}"
        return re.sub(pattern, lambda match: match["before"] + self[match["group"]], text)

    def in_row(self, row: GapRow) -> GapRow:
        """Replace the groups of a row of gaps."""
        shown = {name: self[getattr(row, name)] for name in COLUMNS}
        return row._replace(**shown, reason=self.in_text(row.reason))

    def in_table(self, table: pd.DataFrame) -> pd.DataFrame:
        """Replace the groups in the columns of a table of gaps."""
        shown = {name: table[name].map(self.__getitem__) for name in COLUMNS if name in table}
        return table.assign(**shown, reason=table["reason"].map(self.in_text))


def read_group_names(path: str | Path, groups: Iterable[str]) -> GroupNames:
    """Read the display names of the groups that a table has.

    Parameters
    ----------
    path
        CSV whose first two columns are group and display name, or YAML with a name by group. The
        parts of a crossed group, ``female & black``, have their own names, unless it has one.
    groups
        Those of the table; "all", "rest" and "none" keep their names.

    Returns
    -------
    GroupNames
        The names of these groups.

    Raises
    ------
    InputError
        No name is of a group, or two groups would have the same name.
    """
    groups = [group for group in groups if group not in _RESERVED]
    names = _read(Path(path), groups)

    def display(group: str) -> str:
        parts = group.split(CROSSED_BY)
        return names.get(group) or CROSSED_BY.join(names.get(part, part) for part in parts)

    shown = {group: display(group) for group in groups}
    if all(group == name for group, name in shown.items()):
        first = next(iter(names), "")
        remedy = f"groups: {', '.join(groups[:5])}{nearest(first, groups)}"
        raise InputError(f"{path} names {first!r}, which is no group of the table; {remedy}")
    owners = dict(_RESERVED)
    for group, name in sorted(shown.items(), key=lambda pair: pair[0] != pair[1]):
        if owners.setdefault(name, group) != group:
            raise InputError(f"{path}: {name!r} is the name of {owners[name]} and of {group}")
    return GroupNames({group: name for group, name in shown.items() if group != name})


def _read(path: Path, groups: Sequence[str]) -> dict[str, str]:
    if path.suffix.lower() in (".yaml", ".yml", ".json"):
        content = read_nested(path)
        if not isinstance(content, Mapping):
            raise InputError(f"{path}: give a line for each group, such as 'f: women'")
        pairs = list(content.items())
    else:
        from biasbridge.files.tables import read_table

        table = read_table(path)
        if table.shape[1] < 2:
            raise InputError(f"{path} has one column; give two, group and display name")
        head = [tuple(table.columns[:2])] if table.columns[0] in groups else []
        pairs = [*head, *zip(table.iloc[:, 0], table.iloc[:, 1], strict=True)]
    texts = [(str(group).strip(), str(name).strip()) for group, name in pairs]
    return {group: name for group, name in texts if name}

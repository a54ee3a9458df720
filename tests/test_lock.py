"""The lock is complete: it pins everything that is installed for the project and its extras, but
for packages that bring weights.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
FIRST = "torch"  # installed before the lock, for its builds differ by machine


def needed() -> set[str]:
    """The names of all that the project needs on this machine, directly or through others."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    of_extras = [of for name, of in project["optional-dependencies"].items() if name != "models"]
    listed = (project["dependencies"], *of_extras)
    todo = [Requirement(each) for requirements in listed for each in requirements]
    found: set[tuple[str, str]] = set()
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        if name == project["name"] or (name, str(requirement.extras)) in found:
            continue
        found.add((name, str(requirement.extras)))
        try:
            further = [Requirement(each) for each in requires(name) or []]
        except PackageNotFoundError:  # of an extra that is not installed here
            continue
        extras = [{"extra": extra} for extra in (*requirement.extras, "")]
        todo += [
            each
            for each in further
            if each.marker is None or any(each.marker.evaluate(extra) for extra in extras)
        ]
    return {name for name, _ in found}


def test_the_lock_pins_all_that_is_needed_with_hashes() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in lock.splitlines() if line and not line.startswith("#")]
    assert all("--hash=sha256:" in line for line in lines)
    pinned = {canonicalize_name(re.split("[=[ ]", line)[0]) for line in lines}
    assert needed() - {FIRST} <= pinned
    assert FIRST not in pinned

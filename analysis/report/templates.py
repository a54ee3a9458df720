"""The templates of pages: all text is escaped, and no page needs the network."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from biasbridge.analysis.naming import STAMP
from biasbridge.files import atomic_path
from biasbridge.files.columns import as_text

if TYPE_CHECKING:
    import pandas as pd


_HERE = Path(__file__).parent
_TEMPLATES = Environment(
    autoescape=True,
    keep_trailing_newline=True,
    loader=FileSystemLoader(_HERE),
    lstrip_blocks=True,
    trim_blocks=True,
    undefined=StrictUndefined,
)
_TEMPLATES.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}


def write_page(path: Path, template: str, **values: object) -> Path:
    """Render a template of this folder into a page."""
    with atomic_path(path) as work:
        work.write_text(render(template, **values), encoding="utf-8")
    return path


def render(template: str, **values: object) -> str:
    """Render a template of this folder; a value that it uses and lacks is an error."""
    return _TEMPLATES.get_template(template).render(values)


def _read_part(name: str) -> Markup:
    """Read a style sheet or a script of this folder, which is not escaped."""
    return Markup((_HERE / name).read_text(encoding="utf-8"))


def as_image(svg: bytes) -> str:
    """Return the address that holds a drawing."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"


def count_points(points: pd.DataFrame) -> str:
    """Count the points: ``9 of 10 done, 1 failed``."""
    done = as_text(points, "status").count("done")
    failed = len(points) - done
    return f"{done} of {len(points)} done" + (f", {failed} failed" if failed else "")


_TEMPLATES.globals |= {"read_part": _read_part, "synthetic_stamp": STAMP}

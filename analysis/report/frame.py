"""The frame of every page: head, style, security policy, and the banner for synthetic data."""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from analysis.charts import STAMP
from analysis.frame import as_text

if TYPE_CHECKING:
    import pandas as pd

HERE = Path(__file__).parent


def read_part(name: str) -> str:
    """Read a file of this folder."""
    return (HERE / name).read_text(encoding="utf-8")


def build_page(title: str, body: str, policy: str) -> str:
    """Build a page from a title and a body in HTML.

    ``policy``: what the content security policy allows besides the style. It forbids all else, so
    the page needs no network.
    """
    return fill(
        "frame.html",
        {"title": title, "style": read_part("style.css"), "policy": policy, "body": body},
    )


def fill(name: str, words: Mapping[str, str]) -> str:
    """Read a file of this folder and replace every ``$word``."""
    return Template(read_part(name)).substitute(words)


def banner(synthetic: bool) -> str:
    """Return the banner of synthetic data; an empty string for other data."""
    return f'<p class="banner" role="note">{html.escape(STAMP)}</p>' if synthetic else ""


def count_points(points: pd.DataFrame) -> str:
    """Count the points: ``9 of 10 done, 1 failed``."""
    done = as_text(points, "status").count("done")
    failed = len(points) - done
    return f"{done} of {len(points)} done" + (f", {failed} failed" if failed else "")

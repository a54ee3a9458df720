"""What every page has: its head, its style, what it may load, and what it says of synthetic data
and of the points behind it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from analysis.charts import STAMP
from analysis.frame import texts

if TYPE_CHECKING:
    import pandas as pd

HERE = Path(__file__).parent


def read_part(name: str) -> str:
    """A file of this folder."""
    return (HERE / name).read_text(encoding="utf-8")


def build_page(title: str, body: str, policy: str) -> str:
    """A whole page. ``title`` and ``body`` are HTML; ``policy`` is what the content security policy
    allows besides the style: all else is forbidden, so that nothing is asked of a network.
    """
    return fill(
        "frame.html",
        {"title": title, "style": read_part("style.css"), "policy": policy, "body": body},
    )


def fill(name: str, words: Mapping[str, str]) -> str:
    """A file of this folder with every ``$word`` replaced."""
    return Template(read_part(name)).substitute(words)


def banner(synthetic: bool) -> str:
    """What a page says first of synthetic data; nothing of others."""
    return f'<p class="banner" role="note">{html.escape(STAMP)}</p>' if synthetic else ""


def count_points(points: pd.DataFrame) -> str:
    """How many points are done: ``9 of 10 done, 1 failed``."""
    done = texts(points, "status").count("done")
    failed = len(points) - done
    return f"{done} of {len(points)} done" + (f", {failed} failed" if failed else "")

"""Drawings of altair charts, made without a network or a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from files.atomic import atomic_path
from files.errors import InputError, nearest

if TYPE_CHECKING:
    import altair as alt

FORMATS = (".svg", ".png", ".pdf", ".html")


def require_format(path: Path) -> Path:
    """``path``, where its name ends in one of ``FORMATS``; else raises ``InputError``."""
    if path.suffix not in FORMATS:
        raise InputError(
            f"cannot draw to {path}: the name must end in {', '.join(FORMATS)}"
            f"{nearest(path.suffix, FORMATS)}"
        )
    return path


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> Path:
    """Write the chart as ``.svg``, ``.png`` (two pixels to the point), ``.pdf`` or self-contained
    ``.html``; the whole file or none.
    """
    path = require_format(Path(path))
    return save_charts(chart, path.with_suffix(""), [path.suffix])[0]


def save_charts(chart: alt.TopLevelMixin, stem: Path, suffixes: Sequence[str]) -> list[Path]:
    """Write the chart in several formats, drawn once: the others are made from the SVG."""
    import altair as alt  # with what it draws by: slow to import
    import vl_convert

    with alt.data_transformers.enable("default", max_rows=None):
        spec = chart.to_dict()
    svg = vl_convert.vegalite_to_svg(spec)
    written = []
    for suffix in suffixes:
        written.append(stem.with_name(stem.name + suffix))
        with atomic_path(written[-1]) as work:
            if suffix == ".svg":
                work.write_text(svg, encoding="utf-8")
            elif suffix == ".html":
                # Not bundled, the page would load Vega from a server
                page = vl_convert.vegalite_to_html(spec, bundle=True)
                work.write_text(page, encoding="utf-8")
            elif suffix == ".png":
                work.write_bytes(vl_convert.svg_to_png(svg, scale=2))
            else:
                work.write_bytes(vl_convert.svg_to_pdf(svg))
    return written

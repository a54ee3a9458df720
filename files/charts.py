"""Drawings from Vega-Lite specifications, made without a network or a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import vl_convert

from files.atomic import atomic_path
from files.errors import InputError, nearest

FORMATS = (".svg", ".png", ".pdf", ".html")
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

Spec = dict[str, Any]


def require_format(path: Path) -> Path:
    """``path``, where its name ends in one of ``FORMATS``; else raises ``InputError``."""
    if path.suffix not in FORMATS:
        raise InputError(
            f"cannot draw to {path}: the name must end in {', '.join(FORMATS)}"
            f"{nearest(path.suffix, FORMATS)}"
        )
    return path


def save_chart(chart: Spec, path: str | Path) -> Path:
    """Write the chart as ``.svg``, ``.png`` (two pixels to the point), ``.pdf`` or self-contained
    ``.html``; the whole file or none.
    """
    path = require_format(Path(path))
    return save_charts(chart, path.with_suffix(""), [path.suffix])[0]


def save_charts(chart: Spec, stem: Path, suffixes: Sequence[str]) -> list[Path]:
    """Write the chart in several formats, drawn once: the others are made from the SVG."""
    svg = vl_convert.vegalite_to_svg(chart)
    written = []
    for suffix in suffixes:
        written.append(stem.with_name(stem.name + suffix))
        with atomic_path(written[-1]) as work:
            if suffix == ".svg":
                work.write_text(svg, encoding="utf-8")
            elif suffix == ".html":
                # Not bundled, the page would load Vega from a server
                page = vl_convert.vegalite_to_html(chart, bundle=True)
                work.write_text(page, encoding="utf-8")
            elif suffix == ".png":
                work.write_bytes(vl_convert.svg_to_png(svg, scale=2))
            else:
                work.write_bytes(vl_convert.svg_to_pdf(svg))
    return written

"""Drawing of altair charts without a network or a browser."""

from __future__ import annotations

import json
import re
import struct
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from biasbridge.files.choice import choice
from biasbridge.files.errors import printable
from biasbridge.files.paths import atomic_path, require_output

if TYPE_CHECKING:
    import altair as alt

_RENDERER = "vega_and_picture"
FORMATS = (".svg", ".png", ".pdf", ".html", ".json")
FigureFormat = Literal["svg", "pdf", "png"]
FigureWidth = Literal["page", "column"]
FigureAxes = Literal["default", "paper"]
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')  # of an SVG
_LEGEND_COLUMNS = 3  # so that a legend is no wider than a panel
_COLUMN, _TEXT = 219, 455  # points: the widths of a column, and of the text, of ACL papers


@choice
class FigureStyle:
    """How the figures of studies are written.

    ``formats``: beside SVG, which pages show. ``width``: for ``column`` PDFs have no title, and fit
    a column of a paper; a grid of panels is as wide as its text. ``axes``: for ``paper`` figure 3
    has the gap on the horizontal axis and the score on the vertical one.
    """

    formats: tuple[FigureFormat, ...] = ("svg", "pdf")
    width: FigureWidth = "page"
    axes: FigureAxes = "default"

    @property
    def suffixes(self) -> list[str]:
        """The endings of the files."""
        return [f".{name}" for name in dict.fromkeys(("svg", *self.formats))]


_style: ContextVar[FigureStyle] = ContextVar("figure_style")


@contextmanager
def figures_as(style: FigureStyle) -> Iterator[None]:
    """Write the figures of studies in a style."""
    token = _style.set(style)
    try:
        yield
    finally:
        _style.reset(token)


def figure_style() -> FigureStyle:
    """Return the style of the figures of studies."""
    return _style.get(FigureStyle())


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> Path:
    """Write the chart as ``.svg``, ``.png`` (two pixels to the point), ``.pdf``, self-contained
    ``.html`` or ``.json`` (Vega-Lite); the whole file or none.
    """
    path = require_output(path, FORMATS)
    return save_charts(chart, path.with_suffix(""), [path.suffix])[0]


def make_spec(chart: alt.TopLevelMixin) -> Any:
    """Return the chart as Vega-Lite that renders."""
    import altair as alt

    with alt.data_transformers.enable("default", max_rows=None):
        return _mend(chart.to_dict())


def _mend(spec: dict[str, Any]) -> dict[str, Any]:
    """Escape control characters: an SVG with one of them is no XML, and its renderer ends the
    process. Where a title holds a backslash, leave out descriptions, in which Vega-Lite does not
    escape it.
    """
    mended: dict[str, Any] = _escape(spec)
    titles = json.dumps({name: part for name, part in mended.items() if name != "datasets"})
    if "\\\\" in titles:
        mended["config"] = {**mended.get("config", {}), "aria": False}
    return mended


def _escape(node: Any) -> Any:
    """Escape the control characters of all texts, except line ends."""
    if isinstance(node, dict):
        return {_escape(name): _escape(value) for name, value in node.items()}
    if isinstance(node, list):
        return [_escape(value) for value in node]
    return "\n".join(map(printable, node.split("\n"))) if isinstance(node, str) else node


def draw_svg(chart: alt.TopLevelMixin) -> str:
    """Return the chart as SVG."""
    import vl_convert  # slow to import

    return str(vl_convert.vegalite_to_svg(make_spec(chart)))


def show_pictures() -> None:
    """Have notebooks show charts with a picture, so that they need no network, and of any number of
    rows: Altair's own limit is 5,000.

    Jupyter draws the Vega-Lite where it can; GitHub and others show the PNG. A renderer that the
    user chose stays.
    """
    import altair as alt

    if _RENDERER in alt.renderers.names() or alt.renderers.active != "default":
        return
    alt.renderers.register(_RENDERER, _as_mime_bundle)
    alt.renderers.enable(_RENDERER)
    alt.data_transformers.disable_max_rows()


def _as_mime_bundle(spec: dict[str, Any], **_: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a chart for a notebook, and the size of its picture, with two pixels to the point."""
    import vl_convert

    picture = vl_convert.vegalite_to_png(_mend(spec), scale=2)
    width, height = struct.unpack(">II", picture[16:24])
    version = spec["$schema"].rpartition("/v")[2].partition(".")[0]
    bundle = {
        f"application/vnd.vegalite.v{version}+json": spec,
        "image/png": b64encode(picture).decode(),
        "text/plain": "<chart>",
    }
    return bundle, {"image/png": {"width": width // 2, "height": height // 2}}


def save_charts(
    chart: alt.TopLevelMixin, stem: Path, suffixes: Sequence[str] | None = None
) -> list[Path]:
    """Write the chart in several formats, by default those of studies, all from one SVG."""
    import vl_convert

    spec = make_spec(chart)
    # A description of each mark would double the file
    config = {"mark": {"aria": False}, **spec.get("config", {})}
    svg = vl_convert.vegalite_to_svg(spec | {"config": config})
    written = []
    for suffix in figure_style().suffixes if suffixes is None else suffixes:
        written.append(stem.with_name(stem.name + suffix))
        with atomic_path(written[-1]) as work:
            if suffix == ".svg":
                work.write_text(svg, encoding="utf-8")
            elif suffix == ".html":
                # Not bundled, the page would load Vega from a server
                page = vl_convert.vegalite_to_html(spec, bundle=True)
                work.write_text(page, encoding="utf-8")
            elif suffix == ".json":
                work.write_text(json.dumps(spec, ensure_ascii=False), encoding="utf-8")
            elif suffix == ".png":
                work.write_bytes(vl_convert.svg_to_png(svg, scale=2))
            elif figure_style().width == "column":
                work.write_bytes(_column_pdf(spec | {"config": config}))
            else:
                work.write_bytes(vl_convert.svg_to_pdf(svg))
    return written


def _column_pdf(spec: dict[str, Any]) -> bytes:
    """Return a chart without title, its parts one below the other, in the width of a column; a grid
    of panels in that of the text.
    """
    import vl_convert

    stacked = _stack({name: part for name, part in spec.items() if name != "title"})
    legend = stacked["config"].get("legend", {}) | {"columns": _LEGEND_COLUMNS}
    stacked["config"] = stacked["config"] | {"legend": legend}
    svg = vl_convert.vegalite_to_svg(stacked)
    drawn, height = map(float, _SIZE.findall(svg)[0])
    width = _TEXT if "facet" in stacked else _COLUMN
    size = f'width="{width:g}" height="{height * width / drawn:g}"'
    return bytes(vl_convert.svg_to_pdf(_SIZE.sub(size, svg, count=1)))


def _stack(node: Any) -> Any:
    """Put what a chart has side by side one below the other."""
    if isinstance(node, dict):
        named = ("vconcat" if name == "hconcat" else name for name in node)
        stacked = dict(zip(named, map(_stack, node.values()), strict=True))
        return stacked | {"columns": 1} if "concat" in stacked else stacked
    return [_stack(part) for part in node] if isinstance(node, list) else node

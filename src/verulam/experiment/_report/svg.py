"""Pictures for a web page: vector drawings that take the colour of the text around them."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

#: Stands for the colour of the page's text until the drawing is written.
INK = "#010203"
#: Smaller than this share of its natural size, a picture cannot be read and is scrolled instead.
SMALLEST = 0.58
#: Points of an inch, the unit of SVG.
POINTS = 72
#: Text stays text, labels are never read as formulas, and the same picture has the same source.
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "verulam",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.labelcolor": INK,
    "boxplot.boxprops.color": INK,
    "boxplot.whiskerprops.color": INK,
    "boxplot.capprops.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
}


@dataclass(frozen=True)
class ReportFigure:
    """A picture of a report.

    Attributes
    ----------
    title
        Its heading.
    caption
        How to read it.
    svg
        The picture.
    on_white
        Whether it needs a white background.
    folded
        Whether it is shown only when asked for.
    leading
        Whether it stands beside the results, before everything else.
    """

    title: str
    caption: str
    svg: str
    on_white: bool = False
    folded: bool = False
    leading: bool = False


def drawn(draw: Callable[[], Any], *, on_white: bool = False) -> str:
    """Return what a function draws as SVG, to be put into a page.

    Parameters
    ----------
    draw
        Draws and returns Matplotlib axes.
    on_white
        Keep black as it is, for pictures that bring their own background.
    """
    import matplotlib.pyplot as plt

    with _settings():
        figure = draw().figure
        try:
            source = _drawn_once(figure)
        finally:
            plt.close(figure)
    return page_svg(source, on_white=on_white)


def _drawn_once(figure: Any) -> str:
    """Return a figure as SVG, cropped to what it shows."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    # To save with a tight box draws everything twice, once to lay it out: the layout and the box
    # need no more than the sizes of the parts.
    canvas = FigureCanvasSVG(figure)
    dpi, figure.dpi = figure.dpi, POINTS
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
        figure.set_layout_engine("none")
    box = figure.get_tightbbox().padded(rcParams["savefig.pad_inches"])
    top = figure.get_figheight() - box.y1
    figure.dpi = dpi
    buffer = io.StringIO()
    canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    corner, size = (box.x0, top), (box.width, box.height)
    left, upper, width, height = (f"{POINTS * inches:.6f}" for inches in (*corner, *size))
    head = f'width="{width}pt" height="{height}pt" viewBox="{left} {upper} {width} {height}"'
    return re.sub(
        r'width="[\d.]+pt" height="[\d.]+pt" viewBox="[^"]*"', head, buffer.getvalue(), count=1
    )


def page_svg(source: str, *, on_white: bool = False) -> str:
    """Return a stand-alone SVG as a part of a page: no prologue, no names, the page's ink.

    Parameters
    ----------
    source
        What Matplotlib wrote.
    on_white
        Keep black as it is.

    Examples
    --------
    >>> page_svg('<?xml?><svg width="9pt" height="5pt"><g id="x" stroke="#010203"/></svg>')
    '<svg style="width:9pt;min-width:5pt"><g stroke="currentColor"/></svg>'
    """
    svg = source[source.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    head, _, body = svg.partition(">")
    head = re.sub(r' height="[^"]*"', "", head)
    head = re.sub(r' width="([\d.]*)pt"', _flexible, head)
    svg = f"{head}>{body}"
    inks = (INK,) if on_white else (INK, "#000000")
    for ink in inks:
        svg = svg.replace(ink, "#000000" if on_white else "currentColor")
    return svg


def _flexible(width: re.Match[str]) -> str:
    """Return the natural width as a style, which lets a page shrink the picture a little."""
    natural = float(width[1])
    return f' style="width:{natural:.0f}pt;min-width:{SMALLEST * natural:.0f}pt"'


@contextmanager
def _settings() -> Iterator[None]:
    import logging

    import matplotlib as mpl

    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    # The page's own fonts are used, so that it does not matter which are here.
    logger.setLevel(logging.ERROR)
    try:
        with mpl.rc_context(SETTINGS):
            yield
    finally:
        logger.setLevel(level)

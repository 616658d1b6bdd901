"""What the pictures share: colours that everyone can tell apart, markers, axes and legends."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any, TypeVar

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure, SubFigure
from numpy.typing import NDArray

Record = TypeVar("Record")

#: The palette of Okabe and Ito, in an order that keeps neighbours apart.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#f0e442")
#: Second sign for each class, so that colour is never the only one.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
HATCHES = ("///", "...", "xxx", "+++")
MANY_ENTRIES = 5
#: Characters of a label that fit on a line beside axes of ordinary width.
LABEL_WIDTH = 36


def axes_or_new(ax: Axes | None, width: float | None = None, height: float | None = None) -> Axes:
    """Return the given axes, or those of a new figure, which may have a size in inches.

    A figure given in place of axes lends its only ones, or gets some.
    """
    place: Any = ax
    if isinstance(place, Figure | SubFigure):
        if len(place.axes) > 1:
            raise TypeError(f"ax is a figure with {len(place.axes)} axes: give one of figure.axes.")
        return place.axes[0] if place.axes else place.subplots()
    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(
            f"ax must be Matplotlib axes, such as plt.subplots()[1], not {type(ax).__name__}."
        )
    if ax is not None:
        return ax
    size = None if width is None or height is None else (width, height)
    return plt.subplots(figsize=size, layout="constrained")[1]


def colour(position: int) -> str:
    """Return the colour of a class or curve by its position; the palette repeats."""
    return PALETTE[position % len(PALETTE)]


def marker(position: int) -> str:
    """Return the marker of a class; it changes also where the palette begins again."""
    return MARKERS[(position + position // len(PALETTE)) % len(MARKERS)]


def line(position: int) -> str:
    """Return the line style of a curve."""
    return LINES[position % len(LINES)]


def tint(position: int, strength: float | NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a class colour mixed with white: 0 is white, 1 the colour itself."""
    share = np.asarray(strength, dtype=np.float64)[..., np.newaxis]
    return 1.0 - share * (1.0 - np.array(to_rgb(colour(position))))


def place_legend(ax: Axes, *, beside: bool = False, **options: Any) -> None:
    """Put the legend inside the axes, or beside them if asked to or if it has many entries."""
    entries = ax.get_legend_handles_labels()[0]
    if not entries:
        return
    if beside or len(entries) > MANY_ENTRIES:
        place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0}
        small = {"fontsize": "small"} if len(entries) > 3 * MANY_ENTRIES else {}
        options = {**options, **place, **small}
    for text in ax.legend(**options).get_texts():
        text.set_text(folded(text.get_text()))


def folded(text: str, width: int = LABEL_WIDTH) -> str:
    """Return a long label on several lines, so that it leaves room for what it labels."""
    return fill(text, width, break_long_words=False, break_on_hyphens=False) or text


def by_name(records: Mapping[str, Record] | Record) -> dict[str, Record]:
    """Return one record or several as a dictionary; a single one needs no name."""
    return dict(records) if isinstance(records, Mapping) else {"": records}


def with_area(name: str, area: float, what: str = "area") -> str:
    """Return the label of a curve: its name, if it has one, and the area under it."""
    text = f"{what} {area:.3f}"
    return f"{name} ({text})" if name else text

"""What the pictures share: colours that everyone can tell apart, markers, axes and legends."""

from collections.abc import Mapping, Sequence
from itertools import product
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


def annotate_apart(
    ax: Axes, points: NDArray[np.float64], texts: Sequence[str], size: float = 8.0
) -> None:
    """Write a text beside each point, on the side and at the height where it covers no other.

    The limits of the axes must be final: what is free is measured on the page.
    """
    # The layout is known once it has been drawn.
    ax.figure.canvas.draw()
    pixels = ax.figure.dpi / 72.0
    at = ax.transData.transform(np.asarray(points, dtype=np.float64).reshape(-1, 2)) / pixels
    # Points are in the way as well as texts.
    taken = [(x - 3.0, y - 3.0, x + 3.0, y + 3.0) for x, y in at]
    for (x, y), point, text in zip(at, points, texts, strict=True):
        # A letter is about half as wide as the type is high.
        width = 0.55 * size * len(text)
        for lift, right in product((4.0, -11.0, 14.0, -21.0, 24.0, -31.0), (True, False)):
            left = x + 5.0 if right else x - 5.0 - width
            box = (left, y + lift, left + width, y + lift + size)
            if not any(_overlap(box, other) for other in taken):
                break
        else:
            lift, right, box = 4.0, True, (x + 5.0, y + 4.0, x + 5.0 + width, y + 4.0 + size)
        taken.append(box)
        ax.annotate(
            text, tuple(point), (5.0 if right else -5.0, lift), textcoords="offset points",
            fontsize=size, ha="left" if right else "right",
        )  # fmt: skip


def _overlap(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    apart = (
        first[2] <= second[0] or second[2] <= first[0] or first[3] <= second[1]
        or second[3] <= first[1]
    )  # fmt: skip
    return not apart


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

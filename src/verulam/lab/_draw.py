"""Pictures of the plane in the browser: arrays in, figures of Bokeh out."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from bokeh.events import DoubleTap, Pan, PanEnd, PanStart, Press, PressUp, Tap
from bokeh.models import ColumnDataSource, LinearColorMapper, Range1d
from bokeh.plotting import figure

from verulam.lab._jobs import LEVELS, MOST_CODES, Picture
from verulam.lab._lines import Line
from verulam.lab._state import Points
from verulam.lab._style import LIGHT, MARKERS, Tones, class_palette, density_palette
from verulam.plots._style import PALETTE

#: Width, dash and strength of the lines of each role.
LINES = {
    "boundary": (1.2, "solid", 0.75),
    "margin": (1.2, "dashed", 0.8),
    "contour": (0.8, "solid", 0.35),
    "net": (1.0, "solid", 0.7),
    "split": (1.0, "solid", 0.4),
    "rule": (1.4, "solid", 0.65),
    "window": (0.9, "solid", 0.45),
    "curve": (2.4, "solid", 1.0),
    "band": (1.0, "dotted", 0.8),
}
#: A mouse that moved less than this share of the axes did not move.
STILL = 0.01
EMPTY_IMAGE = np.zeros((1, 1), dtype=np.uint8)


def plain_figure(tones: Tones, width: int, height: int, **options: Any) -> Any:
    """Return axes in the colours of the page, without tools.

    Parameters
    ----------
    tones
        Colours.
    width, height
        In pixels.
    **options
        Passed on to Bokeh's `figure`.
    """
    plot: Any = figure(
        width=width,
        height=height,
        toolbar_location=None,
        output_backend="canvas",
        **{"tools": "", **options},
    )
    plot.background_fill_color = plot.border_fill_color = tones.panel
    plot.outline_line_color = tones.edge
    plot.grid.visible = False
    for axis in plot.axis:
        axis.axis_line_color = axis.major_tick_line_color = tones.edge
        axis.minor_tick_line_color = None
        axis.major_label_text_color = axis.axis_label_text_color = tones.faint
        axis.axis_label_text_font_style = "normal"
    plot.title.text_color = tones.ink
    plot.title.text_font_style = "normal"
    return plot


def on_click(plot: Any, clicked: Callable[[Any], None]) -> None:
    """Have every click on a figure reported.

    To Bokeh the second of two quick clicks is a double one, and a button that is held for a moment
    is pressed: neither is a tap, nor does a drag begin with a press, whatever the mouse does then.

    Parameters
    ----------
    plot
        The figure.
    clicked
        Called with the event at the end of each click.
    """
    for kind in (Tap, DoubleTap, PressUp):
        plot.on_event(kind, clicked)


def joined(lines: Sequence[Line], role: str) -> dict[str, np.ndarray]:
    """Return the lines of a role as one, with gaps: two arrays travel faster than many."""
    members = [line for line in lines if line.role == role]
    gap = [np.nan]
    columns = {}
    for name, axis in (("x", "horizontal"), ("y", "vertical")):
        parts = [part for line in members for part in (getattr(line, axis), gap)]
        columns[name] = np.concatenate(parts).astype(np.float32) if parts else np.empty(0)
    return columns


class PlaneFigure:
    """The picture of one learner: regions, lines, marks and the points above them.

    Parameters
    ----------
    tones
        Colours.
    size
        Width and height in pixels.

    Examples
    --------
    >>> from verulam.lab._style import LIGHT
    >>> PlaneFigure(LIGHT).plot.toolbar_location is None
    True
    """

    def __init__(self, tones: Tones, size: int = 420) -> None:
        self.tones = tones
        self._palettes = {"classes": class_palette(tones), "density": density_palette(tones)}
        self.plot = plain_figure(
            tones,
            size,
            size - 20,
            x_range=Range1d(start=-3, end=3),
            y_range=Range1d(start=-3, end=3),
            min_border=5,
            min_border_left=38,
            min_border_bottom=38,
        )
        self._mapper = LinearColorMapper(palette=self._palettes["classes"], low=0, high=255)
        self._extent = (-3.0, 3.0, -3.0, 3.0)
        self._pressed: tuple[float, float] | None = None
        self._image = ColumnDataSource({"image": [EMPTY_IMAGE]})
        self._picture = self.plot.image(
            "image", source=self._image, x=-3, y=-3, dw=6, dh=6, color_mapper=self._mapper
        )
        self._picture.visible = False
        self._set_palette("classes")
        self._band = self.plot.varea(
            "x", "low", "high", source=_empty("x", "low", "high"), color=PALETTE[0], alpha=0.18
        )
        self._lines = {role: self._line(role) for role in LINES}
        self._points = [self._scatter(code) for code in range(MOST_CODES)]
        self._marks = self.plot.scatter(
            "x",
            "y",
            source=_empty("x", "y"),
            marker="circle",
            size=13,
            fill_color=None,
            line_color=tones.ink,
            line_width=1.4,
        )
        for renderer in (self._band, *self._lines.values(), *self._points, self._marks):
            renderer.visible = False

    def _line(self, role: str) -> Any:
        width, dash, strength = LINES[role]
        colour = PALETTE[0] if role in ("curve", "band") else self.tones.ink
        return self.plot.line(
            "x",
            "y",
            source=_empty("x", "y"),
            line_width=width,
            line_dash=dash,
            line_alpha=strength,
            line_color=colour,
        )

    def _scatter(self, code: int) -> Any:
        last = code == MOST_CODES - 1
        return self.plot.scatter(
            "x",
            "y",
            source=_empty("x", "y"),
            size=8 if code != 2 else 9,
            marker="x" if last else MARKERS[code],
            fill_color=self.tones.faint if last else PALETTE[code],
            line_color=self.tones.ink if last else LIGHT.panel,  # also seen on dark regions
            line_width=0.8,
        )

    def on_draw(
        self,
        tap: Callable[[float, float, bool], None],
        grab: Callable[[float, float], None],
        drag: Callable[[float, float], None],
        release: Callable[[float, float], None],
    ) -> None:
        """Have clicks and drags reported in units of the axes; a click with Shift says so."""

        def click(event: Any) -> None:
            start, self._pressed = self._pressed, None
            left, right, bottom, top = self._extent
            x, y = start or (event.x, event.y)
            if np.hypot((event.x - x) / (right - left), (event.y - y) / (top - bottom)) > STILL:
                grab(x, y)
                release(event.x, event.y)
            else:
                tap(event.x, event.y, bool((event.modifiers or {}).get("shift")))

        def press(event: Any) -> None:
            self._pressed = event.x, event.y

        on_click(self.plot, click)
        self.plot.on_event(Press, press)
        self.plot.on_event(PanStart, lambda event: grab(event.x, event.y))
        self.plot.on_event(Pan, lambda event: drag(event.x, event.y))
        self.plot.on_event(PanEnd, lambda event: release(event.x, event.y))

    def set_axes(self, extent: tuple[float, float, float, float], names: tuple[str, str]) -> None:
        """Set the ends and the names of the axes."""
        left, right, bottom, top = self._extent = extent
        self.plot.x_range.update(start=left, end=right)
        self.plot.y_range.update(start=bottom, end=top)
        self.plot.xaxis.axis_label, self.plot.yaxis.axis_label = names
        self._picture.glyph.update(x=left, y=bottom, dw=right - left, dh=top - bottom)

    def set_points(self, points: Points, codes: Sequence[int] = ()) -> None:
        """Show the points, in the colours of their classes or of other codes."""
        rows = points.rows if len(points) else np.empty((0, 2))
        signs = np.asarray(codes if len(codes) == len(points) else points.codes, dtype=np.intp)
        signs = np.where(signs < 0, MOST_CODES - 1, signs % (MOST_CODES - 1))
        for code, renderer in enumerate(self._points):
            members = rows[signs == code].astype(np.float32)
            _fill(renderer, {"x": members[:, 0], "y": members[:, 1]})

    def show(self, picture: Picture) -> None:
        """Show what a learner looks like."""
        if picture.image is None:
            self._picture.visible = False
        else:
            self._set_palette(picture.kind)
            self._image.data = {"image": [picture.image]}
            self._picture.visible = True
        for role, renderer in self._lines.items():
            _fill(renderer, joined(picture.lines, role))
        band = [line for line in picture.lines if line.role == "band"]
        empty = np.empty(0)
        _fill(
            self._band,
            {"x": band[0].horizontal, "low": band[0].vertical, "high": band[1].vertical}
            if len(band) == 2
            else {"x": empty, "low": empty, "high": empty},
        )
        marks = picture.marks.astype(np.float32)
        _fill(self._marks, {"x": marks[:, 0], "y": marks[:, 1]})

    def clear(self) -> None:
        """Show the points alone."""
        self.show(Picture(None, "curve"))

    def _set_palette(self, kind: str) -> None:
        palette = self._palettes.get(kind, self._palettes["classes"])
        if self._mapper.palette is not palette and list(self._mapper.palette) != palette:
            self._mapper.update(palette=palette, low=0, high=len(palette) - 1)


def _empty(*names: str) -> ColumnDataSource:
    return ColumnDataSource({name: np.empty(0, dtype=np.float32) for name in names})


def _fill(renderer: Any, columns: dict[str, np.ndarray]) -> None:
    """Show other values; what is the same is not sent, and what is empty not drawn.

    A browser asks for the style of everything visible whenever it paints, however empty.
    """
    source = renderer.data_source
    if not all(
        np.array_equal(source.data[name], columns[name], equal_nan=True) for name in columns
    ):
        source.data = columns
    renderer.visible = len(columns["x"]) > 0


assert LEVELS * MOST_CODES <= 256

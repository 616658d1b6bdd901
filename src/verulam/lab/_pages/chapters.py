"""The chapters: figures of the text, each with its knobs, its section and its code."""

import base64
import html
import json
import zlib
from collections.abc import Callable
from typing import Any

import panel as pn
from bokeh.models import ColumnDataSource, Range1d
from panel.viewable import Viewable

from verulam.base import DataError
from verulam.lab._chapters.pictures import (
    FIGURES,
    NODES,
    ChapterFigure,
    Drawing,
    Knob,
    check_knobs,
    clicked_cell,
    clicked_nodes,
    code_of,
    render,
)
from verulam.lab._draw import on_click, plain_figure
from verulam.lab._pool import Outcome
from verulam.lab._shell import CodeDrawer, LinkKeeper, Session, words
from verulam.lab._studies.workspace import DOCUMENTATION, documentation
from verulam.lab._style import LIGHT

CHAPTERS = {
    8: "Nonparametric methods",
    9: "Decision trees",
    10: "Linear discrimination",
    11: "Multilayer perceptrons",
    12: "Local models",
    13: "Kernel machines",
    14: "Graphical models",
    15: "Hidden Markov models",
    16: "Bayesian estimation",
    17: "Combining learners",
    18: "Reinforcement learning",
    19: "Experiments",
}
#: Where the gallery of the documentation shows more pictures of a chapter.
GALLERY = {
    8: "nonparametric-methods",
    9: "trees-and-rules",
    10: "linear-discrimination",
    11: "neural-networks",
    12: "maps-and-prototypes",
    13: "kernel-machines",
    14: "graphical-models",
    15: "sequences",
    16: "bayesian-estimation",
    17: "ensembles",
    18: "reinforcement-learning",
    19: "figures-of-chapter-19-and-appendix-a",
}
WIDTH = 300
PICTURE_WIDTH = 640
#: What is known of a node, as it is said in a list.
UNKNOWN = "not known"


class ChaptersView:
    """One figure at a time, with the list of all.

    Parameters
    ----------
    session
        Of the tab.

    Examples
    --------
    >>> from verulam.lab._pool import Pool
    >>> ChaptersView(Session(Pool())).figure.title
    'Bandwidth of a window'
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        session.view = self
        self.number = 0
        self.values: dict[str, Any] = dict(FIGURES[0].defaults)
        self.drawing: Drawing | None = None
        self._shown = 0
        self._quiet = False
        self._index = pn.widgets.Select(
            label="Figures by chapter", options=index(), value=0, width=WIDTH, size=len(FIGURES)
        )
        self._index.param.watch(lambda event: self.select(event.new), "value")
        self._heading = pn.pane.HTML("", sizing_mode="stretch_width")
        self._facts = pn.pane.HTML("", sizing_mode="stretch_width")
        self._knobs = pn.Column(width=WIDTH + 20)
        self._mirrors: list[Callable[[], None]] = []
        self._picture = _ClickablePicture(self.clicked)
        self.code = CodeDrawer(lambda: code_of(self.figure.function, self.values))
        self.links = LinkKeeper(session, self.restore)
        middle = pn.Column(
            self._heading,
            self._picture.view,
            self._facts,
            self.code.view,
            styles={"flex": f"1 1 {PICTURE_WIDTH}px", "min-width": "0"},
        )
        side = pn.Column(self._knobs, self._index, width=WIDTH + 30, styles={"flex": "0 0 auto"})
        self.view = pn.FlexBox(middle, side, gap="16px", sizing_mode="stretch_width")
        self.select(0)

    @property
    def figure(self) -> ChapterFigure:
        """The figure that is shown."""
        return FIGURES[self.number]

    def select(self, number: int, values: dict[str, Any] | None = None) -> None:
        """Show a figure, with the values that its knobs begin with unless others are known."""
        if self._quiet:
            return
        self.number = number
        self.values = dict(self.figure.defaults if values is None else values)
        self._quiet = True
        self._index.value = number
        self._quiet = False
        self._mirrors.clear()
        self._knobs[:] = [self._knob(knob) for knob in self.figure.knobs]
        self._heading.object = heading(self.figure)
        self.change()

    def change(self, **values: Any) -> None:
        """Draw the figure with other values of some knobs."""
        if self._quiet:
            return
        try:
            self.values = check_knobs(self.figure, {**self.values, **values})
        except DataError as error:
            self._facts.object = words(str(error), "wrong")
            return
        self._quiet = True
        for mirror in self._mirrors:
            mirror()
        self._quiet = False
        self.session.start("figure", render, self.number, dict(self.values), deliver=self._arrived)
        self.links.keep(self._link)
        self.code.refresh()

    def clicked(self, across: float, up: float) -> None:
        """Change what was clicked in the picture: evidence of a node, or a cell of a grid."""
        if self.drawing is None:
            return
        place = self.drawing.place(across, up)
        for knob in self.figure.knobs:
            known = self.values[knob.name]
            if knob.clicked == "nodes":
                self.change(**{knob.name: clicked_nodes(self.drawing, known or {}, place)})
            elif knob.clicked == "cells":
                self.change(**{knob.name: clicked_cell(known, place)})

    def restore(self, link: str) -> None:
        """Show the figure and the values that a link holds."""
        try:
            number, values = read_link(link)
        except DataError as error:
            self._facts.object = words(str(error), "wrong")
            return
        self.select(number, values)

    def _link(self) -> str:
        return write_link(self.number, self.values)

    def _arrived(self, outcome: Outcome) -> None:
        self._shown += 1
        if outcome.state == "failed":
            line = words(outcome.message, "wrong")
        else:
            self.drawing = outcome.value
            self._picture.show(outcome.value)
            line = "; ".join(
                words(f"{name}: {_number(value)}") for name, value in self._fact_items()
            )
        self._facts.object = (
            f'<div class=caption role=status aria-live=polite data-shown="{self._shown}" '
            f'data-figure="{self.number}">{line}</div>'
        )

    def _fact_items(self) -> list[tuple[str, Any]]:
        assert self.drawing is not None
        return list(self.drawing.facts.items())

    def _knob(self, knob: Knob) -> Viewable:
        value = self.values[knob.name]
        if knob.clicked:
            label = pn.pane.HTML(words(knob.label[0].upper() + knob.label[1:] + ".", "quiet"))
            write = self._nodes if knob.clicked == "nodes" else self._cells
            return pn.Column(label, *write(knob.name), margin=0)
        widget: Any
        if knob.options:
            widget = pn.widgets.Select(label=knob.label, options=list(knob.options), value=value)
            source = "value"
        elif knob.step == 1:
            widget = pn.widgets.IntSlider(
                label=knob.label, start=round(knob.low), end=round(knob.high), value=value
            )
            source = "value_throttled"
        else:
            widget = pn.widgets.FloatSlider(
                label=knob.label, start=knob.low, end=knob.high, step=knob.step, value=value
            )
            source = "value_throttled"
        widget.width = WIDTH
        name = knob.name
        widget.param.watch(lambda event: self.change(**{name: event.new}), source)
        return widget

    def _nodes(self, name: str) -> list[Viewable]:
        """Return a list for each node, which says what a click in the picture says."""
        lists = {
            node: pn.widgets.Select(label=node, options=[UNKNOWN, "yes", "no"], width=WIDTH)
            for node in NODES
        }

        def ask(_: Any) -> None:
            known = {node: item.value for node, item in lists.items() if item.value != UNKNOWN}
            self.change(**{name: known})

        def mirror() -> None:
            for node, item in lists.items():
                item.value = (self.values[name] or {}).get(node, UNKNOWN)

        return self._mirrored(mirror, ask, list(lists.values()))

    def _cells(self, name: str) -> list[Viewable]:
        """Return a field with the map as text, which can be typed instead of clicked."""
        field = pn.widgets.TextAreaInput(
            label="Map: . free, # wall, P pit, G goal, S start", rows=5, width=WIDTH
        )

        def mirror() -> None:
            field.value = self.values[name]

        def ask(event: Any) -> None:
            self.change(**{name: "\n".join(event.new.split())})

        return self._mirrored(mirror, ask, [field])

    def _mirrored(
        self, mirror: Callable[[], None], ask: Callable[[Any], None], widgets: list[Any]
    ) -> list[Viewable]:
        mirror()
        self._mirrors.append(mirror)
        for widget in widgets:
            widget.param.watch(ask, "value")
        return widgets


class _ClickablePicture:
    """A picture that says where it was clicked, as shares of its width and height."""

    def __init__(self, clicked: Any) -> None:
        self._source = ColumnDataSource({"url": []})
        # Figures of the text are drawn for paper: they keep a light ground.
        self.plot = plain_figure(
            LIGHT,
            PICTURE_WIDTH,
            480,
            x_range=Range1d(start=0, end=1),
            y_range=Range1d(start=0, end=1),
            min_border=0,
        )
        self.plot.axis.visible = False
        self.plot.outline_line_color = None
        self.plot.image_url("url", source=self._source, x=0, y=1, w=1, h=1)
        on_click(self.plot, lambda event: clicked(event.x, event.y))
        self.view = pn.pane.Bokeh(self.plot)

    def show(self, drawing: Drawing) -> None:
        """Show another picture."""
        scale = min(1.0, PICTURE_WIDTH / drawing.width)
        self.plot.width = round(drawing.width * scale)
        self.plot.height = round(drawing.height * scale)
        data = base64.b64encode(drawing.png).decode()
        self._source.data = {"url": [f"data:image/png;base64,{data}"]}


def heading(figure: ChapterFigure) -> str:
    """Return the title of a figure, its section, and the ways to the guide and the gallery.

    The two are linked where the documentation was built beside the library.
    """
    guide, gallery = f"guide: {figure.guide}", "gallery"
    if documentation() is not None:
        place = f"{DOCUMENTATION}/gallery.html#{GALLERY[figure.chapter]}"
        guide = f'<a href="{DOCUMENTATION}/guide/{figure.guide}.html" target=_blank>{guide}</a>'
        gallery = f'<a href="{place}" target=_blank data-gallery>{gallery}</a>'
    return (
        f"<h2>{html.escape(figure.title)}</h2><span class=quiet>Alpaydin {figure.section}, "
        f"{html.escape(CHAPTERS[figure.chapter].lower())}; {guide}; {gallery}</span>"
    )


def index() -> dict[str, int]:
    """Return the figures by chapter and title."""
    return {f"{item.chapter} · {item.title}": number for number, item in enumerate(FIGURES)}


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def write_link(number: int, values: dict[str, Any]) -> str:
    """Return a figure and the values of its knobs as the end of an address."""
    text = json.dumps({"figure": number, "values": values}, separators=(",", ":"))
    return "#c=" + base64.urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")


def read_link(link: str) -> tuple[int, dict[str, Any]]:
    """Return the figure and the values in a link; anything else is refused.

    Parameters
    ----------
    link
        What `write_link` returned.
    """
    _, mark, packed = link.rpartition("#c=")
    try:
        raw = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        record = json.loads(zlib.decompressobj().decompress(raw, 10_000))
        number, values = record["figure"], record["values"]
        known = mark and isinstance(number, int) and 0 <= number < len(FIGURES)
    except (ValueError, KeyError, TypeError, zlib.error):
        known = False
    if not known:
        raise DataError("link must hold a figure after #c=; this one is damaged.")
    return number, check_knobs(FIGURES[number], values)


def chapters_page(session: Session) -> Viewable:
    """Return the chapters for a tab.

    Parameters
    ----------
    session
        Of the tab.
    """
    return ChaptersView(session).view

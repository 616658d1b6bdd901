"""The plane: draw points, choose learners, watch what they make of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import panel as pn
from panel.viewable import Viewable

from verulam.base import DataError
from verulam.lab._code import plane_code
from verulam.lab._jobs import nearest_point
from verulam.lab._pages.tile import Tile, setting_for
from verulam.lab._parameters import check_setting
from verulam.lab._shell import CodeDrawer, LinkKeeper, Session, words
from verulam.lab._state import (
    CLASSES,
    GENERATORS,
    MOST_LEARNERS,
    MOST_POINTS,
    TASKS,
    Generated,
    LearnerSetting,
    PlaneState,
    Points,
    extent_of,
    from_link,
    to_link,
)
from verulam.lab._table_points import FileLoader
from verulam.lab._widgets import WIDTH, button, folded, labelled_select

#: Sizes of pictures: one alone, and several side by side.
ALONE, BESIDE = 520, 400
#: How near to a point a click must be to mean it, as a share of the axes.
REACH = 0.02
FRAME_MILLISECONDS = 25


class PlaneView:
    """The plane of one tab.

    Parameters
    ----------
    session
        Of the tab.
    state
        What it shows first.

    Examples
    --------
    >>> from verulam.lab._pool import Pool
    >>> PlaneView(Session(Pool())).state.task
    'classification'
    """

    def __init__(self, session: Session, state: PlaneState | None = None) -> None:
        self.session = session
        session.view = self
        first = PlaneState() if state is None else state
        self.state = replace(first, extent=extent_of(first.points)) if state is None else first
        self.tiles: list[Tile] = []
        self._dragged: int | None = None
        self._player: Any = None
        self.code = CodeDrawer(lambda: plane_code(self.state))
        self._message = pn.pane.HTML("", sizing_mode="stretch_width")
        self._pictures = pn.FlexBox(gap="4px", sizing_mode="stretch_width")
        self._forms = pn.Column(width=WIDTH + 30)
        self._tools = _Tools(self)
        self.links = LinkKeeper(session, self.restore)
        pictures = pn.Column(
            self._pictures,
            self._tools.player,
            self._message,
            self.code.view,
            styles=_beside(ALONE),
        )
        self._left = pictures
        controls = pn.Column(
            self._tools.view, self._forms, width=WIDTH + 40, styles={"flex": "0 0 auto"}
        )
        self.view = pn.FlexBox(pictures, controls, gap="16px", sizing_mode="stretch_width")
        self.change()

    def change(self, *, live: bool = False, **parts: Any) -> None:
        """Show a state that differs from the present one in some parts."""
        with self.session.together():
            self._change(live, parts)

    def _change(self, live: bool, parts: dict[str, Any]) -> None:
        try:
            state = replace(self.state, **parts)
            points = state.points
        except (DataError, ValueError) as error:
            self.say(str(error), wrong=True)
            return
        self.state = state
        self.say("")
        self.stop()
        if len(self.state.learners) != len(self.tiles):
            self._set_tiles()
        else:
            self._prepare(points, live=live)
        self._train(live=live)

    def _train(self, *, live: bool = False) -> None:
        for tile in self.tiles:
            tile.request(self.state, live=live)
        self.links.keep(lambda: to_link(self.state))
        if not live:
            self.code.refresh()
            self._tools.refresh()

    def _prepare(self, points: Points, *, live: bool = False) -> None:
        for tile in self.tiles:
            if live:
                tile.figure.set_points(points)
                continue
            tile.figure.set_axes(self.state.extent, self._names(points))
            tile.set_form(self.state)
            tile.expect(points)

    def _names(self, points: Points) -> tuple[str, str]:
        regression = self.state.task == "regression" and points.names == ("x1", "x2")
        return ("x", "y") if regression else points.names

    def _set_tiles(self) -> None:
        for tile in self.tiles:
            tile.close()
        several = len(self.state.learners) > 1
        size = BESIDE if several else ALONE
        self.tiles = [
            Tile(self.session, place, size, self._set_learner)
            for place in range(len(self.state.learners))
        ]
        for tile in self.tiles:
            tile.figure.on_draw(self.tap, self.grab, self.drag, self.release)
        # A browser knows parts of a page once they are in it: they go there complete.
        self._prepare(self.state.points)
        for tile in self.tiles:
            tile.figure.set_points(self.state.points)
        self._left.styles = _beside(size + 10)
        self._pictures[:] = [tile.view for tile in self.tiles]
        self._forms[:] = [tile.form_view for tile in self.tiles]

    def _set_learner(self, place: int, setting: LearnerSetting) -> None:
        learners = list(self.state.learners)
        learners[place] = setting
        self.change(learners=tuple(learners))

    def set_task(self, task: str) -> None:
        """Change the task: the learners and, between curves and clouds, the points."""
        count = len(self.state.learners)
        learners = tuple(setting_for(task, place) for place in range(count))
        data = self.state.data
        curve = "regression" in (task, self.state.task)
        if curve and isinstance(data, Generated) and GENERATORS[data.name] != task:
            name = "noisy sine" if task == "regression" else "Gaussians"
            data = replace(data, name=name)
        parts: dict[str, Any] = {"task": task, "learners": learners, "data": data}
        if data is not self.state.data:
            parts["extent"] = extent_of(replace(self.state, data=data).points)
        self.change(**parts)

    def set_count(self, count: int) -> None:
        """Show so many learners side by side."""
        learners = self.state.learners[:count]
        while len(learners) < count:
            learners = (*learners, setting_for(self.state.task, len(learners)))
        self.change(learners=learners)

    def set_data(self, data: Points | Generated) -> None:
        """Show other points, and axes that hold them."""
        try:
            extent = extent_of(replace(self.state, data=data).points)
        except (DataError, ValueError) as error:
            self.say(str(error), wrong=True)
            return
        self.change(data=data, extent=extent)

    def tap(self, horizontal: float, vertical: float, shift: bool) -> None:
        """Draw a point where the mouse was clicked, or erase the one that is there."""
        if shift or self._tools.mode.value == "Erase":
            place = self._point_at(horizontal, vertical)
            if place is not None:
                self.change(data=self.state.points.without(place))
            return
        self.add(horizontal, vertical)

    def add(self, horizontal: float, vertical: float) -> None:
        """Draw a point of the class that is active."""
        if len(self.state.points) >= MOST_POINTS:
            self.say(f"The plane holds at most {MOST_POINTS} points.", wrong=True)
            return
        code = self._tools.code if self.state.task == "classification" else 0
        self.change(data=self.state.points.added(horizontal, vertical, code))

    def erase(self, horizontal: float, vertical: float) -> None:
        """Erase the point nearest to a place, however far it is."""
        place = nearest_point(
            self.state.points, horizontal, vertical, self.state.extent, float("inf")
        )
        if place is not None:
            self.change(data=self.state.points.without(place))

    def grab(self, horizontal: float, vertical: float) -> None:
        """Take the point under the mouse."""
        self._dragged = self._point_at(horizontal, vertical)

    def drag(self, horizontal: float, vertical: float) -> None:
        """Move the point that was taken."""
        if self._dragged is not None:
            moved = self.state.points.moved(self._dragged, horizontal, vertical)
            self.change(data=moved, live=True)

    def release(self, horizontal: float, vertical: float) -> None:
        """Leave the point where it is now."""
        if self._dragged is not None:
            moved = self.state.points.moved(self._dragged, horizontal, vertical)
            self._dragged = None
            self.change(data=moved)

    def _point_at(self, horizontal: float, vertical: float) -> int | None:
        return nearest_point(self.state.points, horizontal, vertical, self.state.extent, REACH)

    def restore(self, link: str) -> None:
        """Show the state that a link holds; one that is damaged is refused in words."""
        try:
            state = from_link(link)
            learners = tuple(check_setting(item, state.task) for item in state.learners)
            self.state = replace(state, learners=learners)
        except (DataError, KeyError, ValueError) as error:
            self.say(str(error), wrong=True)
            return
        self.stop()
        self.say("")
        self._set_tiles()
        self._train()

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Say something below the pictures."""
        line = words(text, "wrong" if wrong else "quiet") if text else ""
        html = f'<div role="alert" data-message>{line}</div>' if line else ""
        if self._message.object != html:
            self._message.object = html

    def play(self) -> None:
        """Show pass after pass of all trainings that have them, from the beginning."""
        self.stop()
        if not any(tile.has_passes() for tile in self.tiles):
            self.say("None of these learners is trained in passes.", wrong=True)
            return
        for tile in self.tiles:
            tile.train_in_passes()
            tile.frame = -1
        self._tools.playing(True)
        self._player = self.session.every(FRAME_MILLISECONDS, self.step)

    def step(self) -> None:
        """Show the next pass."""
        for tile in self.tiles:
            tile.train_in_passes()
        moved = [tile.show_frame(tile.frame + 1) for tile in self.tiles]
        if self._player is not None and not any(moved) and all(t.is_idle for t in self.tiles):
            self.stop()

    def stop(self) -> None:
        """Pause where it is."""
        if self._player is not None:
            self.session.document.remove_periodic_callback(self._player)
            self._player = None
            self._tools.playing(False)


class _Tools:
    """The controls beside the pictures."""

    def __init__(self, plane: PlaneView) -> None:
        self.plane = plane
        state = plane.state
        self._quiet = False
        self.task = labelled_select(
            "Task", list(TASKS), state.task, self._if_loud(plane.set_task), width=WIDTH
        )
        self.count = pn.widgets.RadioButtonGroup(
            label="Learners side by side",
            options=list(range(1, MOST_LEARNERS + 1)),
            value=len(state.learners),
            width=WIDTH,
        )
        self.count.param.watch(lambda event: self._if_loud(plane.set_count)(event.new), "value")
        self.mode = pn.widgets.RadioButtonGroup(
            label="Mouse", options=["Draw and drag", "Erase"], value="Draw and drag", width=WIDTH
        )
        self.classes = pn.widgets.RadioButtonGroup(
            label="Class to draw", options=list(CLASSES), value="A", width=WIDTH
        )
        self._recipe = _RecipeForm(plane)
        self._file = FileLoader(plane.session, plane.set_data, plane.say)
        self.view = pn.Column(
            self.task,
            pn.pane.HTML("<span class=quiet>Learners side by side</span>", margin=(4, 5, 0, 5)),
            self.count,
            pn.pane.HTML(
                "<span class=quiet>Click to draw, drag to move, Shift and click to erase</span>",
                margin=(6, 5, 0, 5),
            ),
            self.mode,
            self.classes,
            folded("Points", self._recipe.view),
            folded("Add or erase by numbers", self._point_form()),
            folded("Two columns of a file", self._file.view),
            width=WIDTH + 30,
        )
        self._play = button("Play", self._toggle, width=80)
        self._is_playing = False
        self.player = pn.Row(
            self._play,
            button("Step", plane.step, width=80),
            button("Clear points", lambda: plane.change(data=Points()), width=110),
        )

    @property
    def code(self) -> int:
        """The class that is drawn."""
        return CLASSES.index(self.classes.value)

    def playing(self, now: bool) -> None:
        """Say whether a training is being played."""
        self._is_playing = now
        self._play.label = "Pause" if now else "Play"

    def _toggle(self) -> None:
        (self.plane.stop if self._is_playing else self.plane.play)()

    def refresh(self) -> None:
        """Show the state in the controls, without acting on it."""
        self._quiet = True
        self.task.value = self.plane.state.task
        self.count.value = len(self.plane.state.learners)
        self.classes.visible = self.plane.state.task == "classification"
        self._quiet = False

    def _if_loud(self, call: Callable[[Any], None]) -> Callable[[Any], None]:
        def act(value: Any) -> None:
            if not self._quiet:
                call(value)

        return act

    def _point_form(self) -> Viewable:
        horizontal = pn.widgets.FloatInput(label="Horizontal", value=0.0, width=100)
        vertical = pn.widgets.FloatInput(label="Vertical", value=0.0, width=100)

        def place() -> tuple[float, float]:
            # A field that was emptied holds None.
            return horizontal.value or 0.0, vertical.value or 0.0

        return pn.Column(
            pn.Row(horizontal, vertical),
            pn.Row(
                button("Add", lambda: self.plane.add(*place()), width=80),
                button("Erase the nearest", lambda: self.plane.erase(*place()), width=140),
            ),
        )


class _RecipeForm:
    """Generators of points and their numbers."""

    def __init__(self, plane: PlaneView) -> None:
        self.plane = plane
        recipe = plane.state.data if isinstance(plane.state.data, Generated) else Generated()
        self.name = pn.widgets.Select(
            label="Generator", options=list(GENERATORS), value=recipe.name, width=WIDTH
        )
        self.n = pn.widgets.IntSlider(
            label="Points", start=10, end=1000, step=10, value=recipe.n, width=WIDTH
        )
        self.noise = pn.widgets.FloatSlider(
            label="Noise", start=0.0, end=1.0, step=0.05, value=recipe.noise, width=WIDTH
        )
        self.seed = pn.widgets.IntInput(
            label="Seed", start=0, end=9999, value=recipe.seed, width=90
        )
        self.gaussians = pn.widgets.TextAreaInput(
            label="Gaussians: mean, then variances and covariance (xx, xy, yy), a line each",
            value=gaussian_lines(recipe),
            rows=5,
            width=WIDTH,
        )
        self.view = pn.Column(
            self.name,
            self.n,
            self.noise,
            self.gaussians,
            self.seed,
            button("Draw these points", self._draw, width=160),
            width=WIDTH + 16,
        )
        self.name.param.watch(self._named, "value")
        self._named()

    def _named(self, *_: Any) -> None:
        gaussians = self.name.value == "Gaussians"
        self.gaussians.visible, self.noise.visible = gaussians, not gaussians

    def _draw(self) -> None:
        try:
            means, covariances = read_gaussians(self.gaussians.value or "")
        except DataError as error:
            self.plane.say(str(error), wrong=True)
            return
        recipe = Generated(
            self.name.value,
            self.n.value or 10,
            self.noise.value or 0.0,
            self.seed.value or 0,
            means,
            covariances,
        )
        self.plane.set_data(recipe)


def gaussian_lines(recipe: Generated) -> str:
    """Return means and covariances as lines of five numbers."""
    pairs = zip(recipe.means, recipe.covariances, strict=True)
    return "\n".join(" ".join(f"{value:g}" for value in (*mean, *spread)) for mean, spread in pairs)


def read_gaussians(
    text: str,
) -> tuple[tuple[tuple[float, float], ...], tuple[tuple[float, float, float], ...]]:
    """Return the means and covariances in lines of five numbers.

    Parameters
    ----------
    text
        A line for each class: two means, two variances with the covariance between them.

    Examples
    --------
    >>> read_gaussians("0 1 2 0.5 2" + chr(10) + "3 3 1 0 1")[0]
    ((0.0, 1.0), (3.0, 3.0))
    """
    lines = [line for line in text.replace(",", " ").splitlines() if line.strip()]
    if not 2 <= len(lines) <= len(CLASSES):
        raise DataError(f"Gaussians must be two to five lines, not {len(lines)}.")
    means, covariances = [], []
    for line in lines:
        try:
            first, second, left, both, right = (float(word) for word in line.split())
        except ValueError:
            raise DataError(f"Gaussians need five numbers in a line, not {line!r}.") from None
        if not (left > 0.0 and right > 0.0 and left * right > both * both):
            raise DataError(f"The covariance of {line!r} must be positive definite.")
        means.append((first, second))
        covariances.append((left, both, right))
    return tuple(means), tuple(covariances)


def _beside(width: int) -> dict[str, str]:
    """Return a style: controls stand beside the pictures where there is room, else below."""
    return {"flex": f"1 1 {width}px", "min-width": "0"}


def plane_page(session: Session) -> Viewable:
    """Return the plane for a tab.

    Parameters
    ----------
    session
        Of the tab.
    """
    return PlaneView(session).view

"""One learner on the plane: its picture, what is said below it, its form and its training."""

import html
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import panel as pn

from verulam.catalogue import entry
from verulam.lab._draw import PlaneFigure
from verulam.lab._jobs import Picture, estimate, frames, pass_words, picture
from verulam.lab._parameters import make_learner, plane_learners
from verulam.lab._pool import Outcome
from verulam.lab._shell import Session, words
from verulam.lab._state import LearnerSetting, PlaneState, Points
from verulam.lab._style import PARTS
from verulam.lab._widgets import WIDTH, ParameterForm, labelled_select

#: Milliseconds after which points are shown without the picture that belongs to them: to paint
#: twice in a row would hold up the picture.
ALONE_AFTER = 150
#: Seconds for cross-validation and for all frames of a training.
ESTIMATE_LIMIT, FRAMES_LIMIT = 30.0, 60.0


class Tile:
    """The place of one learner.

    Parameters
    ----------
    session
        Of the tab.
    place
        Position among the learners.
    size
        Of the picture, in pixels.
    changed
        Called with the position and the new setting.

    Examples
    --------
    >>> from verulam.lab._pool import Pool
    >>> tile = Tile(Session(Pool()), 0, 420, print)
    >>> tile.figure.plot.width
    420
    """

    def __init__(
        self,
        session: Session,
        place: int,
        size: int,
        changed: Callable[[int, LearnerSetting], None],
    ) -> None:
        self.session, self.place, self._changed = session, place, changed
        self.figure = PlaneFigure(session.tones, size)
        self.caption = pn.pane.HTML("", width=size, margin=(0, 5, 8, 5), stylesheets=[PARTS])
        self.view = pn.Column(
            pn.pane.Bokeh(self.figure.plot), self.caption, margin=4, width=size + 10
        )
        self.form_view = pn.Column(width=WIDTH + 24)
        self.frames: list[Picture] = []
        self.frame = -1
        self.frames_ended = False
        self._has_begun = False
        self._form: ParameterForm | None = None
        self._task = ""
        self._state: PlaneState | None = None
        self._is_training = False
        self._next: PlaneState | None = None
        self._shown = 0
        self._due: Points | None = None
        self._lines: tuple[str, str] = ("", "")

    def set_form(self, state: PlaneState) -> None:
        """Show the parameters of the learner, unless they are shown already."""
        setting = state.learners[self.place]
        current = self._form.setting if self._form is not None else None
        if current == setting and self._task == state.task:
            return
        if current is None or current.name != setting.name or self._task != state.task:
            self._task = state.task
        self._form = ParameterForm(setting, lambda new: self._changed(self.place, new))
        options = {entry(name).spoken: name for name in plane_learners(state.task)}
        select = labelled_select(
            f"Learner {self.place + 1}",
            dict(sorted(options.items(), key=lambda pair: pair[0].lower())),
            setting.name,
            lambda name: self._changed(self.place, LearnerSetting(name)),
            width=WIDTH,
        )
        self.form_view[:] = [select, self._form.view]

    def expect(self, points: Points) -> None:
        """Show points with the picture that will be made of them, or alone if that takes long."""
        self._due = points
        self.session.after(ALONE_AFTER, self._show_due)

    def _show_due(self) -> None:
        if self._due is not None:
            self.figure.set_points(self._due)
            self._due = None

    def request(self, state: PlaneState, *, live: bool = False) -> None:
        """Have the picture of a state made.

        While a point is dragged, states come faster than pictures: the one that is being made is
        shown, and the newest follows it.
        """
        if live and self._is_training:
            self._next = state
            return
        self._is_training, self._next, self._state = True, None, state
        self.session.stop(f"frames-{self.place}")
        self.session.forget(f"estimate-{self.place}")
        self.frames, self.frame, self.frames_ended, self._has_begun = [], -1, False, False
        self.session.start(
            f"picture-{self.place}", picture, state, self.place, deliver=self.picture_arrived
        )

    def picture_arrived(self, outcome: Outcome) -> None:
        """Show a picture that was made, or say why there is none."""
        self._is_training = False
        self._show_due()
        state = self._next or self._state
        assert state is not None
        if outcome.state == "done":
            self._show(outcome.value)
            notes = " ".join(outcome.warnings[:1])
            drawn: Picture = outcome.value
            marks = f"{len(drawn.marks)} {drawn.mark_words}" if drawn.mark_words else ""
            facts = ", ".join(part for part in (drawn.words, marks) if part)
            self._say(f"{words(facts)} {words(notes, 'quiet')}", "…")
        else:
            self.figure.clear()
            self._say(words(outcome.message, "wrong"), "")
        if self._next is not None:
            self.request(self._next, live=True)
        elif outcome.state == "done":
            self.session.start(
                f"estimate-{self.place}",
                estimate,
                state,
                self.place,
                deliver=self._estimate_arrived,
                urgent=False,
                limit=ESTIMATE_LIMIT,
            )

    def _show(self, drawn: Picture) -> None:
        assert self._state is not None
        self.figure.show(drawn)
        if drawn.codes:
            self.figure.set_points(self._state.points, drawn.codes)
        self.figure.plot.title.text = (
            f"{drawn.pass_words} {drawn.pass_number}" if drawn.pass_words else ""
        )

    def _estimate_arrived(self, outcome: Outcome) -> None:
        if outcome.state == "failed":
            self._say(self._lines[0], words(outcome.message, "wrong"), shown=False)
        elif outcome.value is None:
            self._say(self._lines[0], "", shown=False)
        else:
            line = f"{outcome.value}, {outcome.value.folds}-fold"
            self._say(self._lines[0], words(line), shown=False)

    def _say(self, first: str, second: str, *, shown: bool = True) -> None:
        self._shown += shown
        self._lines = (first, second)
        name = entry(self._state.learners[self.place].name).spoken if self._state else ""
        self.caption.object = (
            f'<div class="caption" role="status" aria-live="polite" data-tile="{self.place}" '
            f'data-shown="{self._shown}" data-estimate="{html.escape(second)}">'
            f"<b>{words(name)}</b> <span>{second}</span><br>{first}</div>"
        )

    @property
    def is_idle(self) -> bool:
        """Whether no further pass will come."""
        return self.frames_ended or not self._has_begun

    def has_passes(self) -> bool:
        """Whether the training of this learner can be played."""
        if self._state is None:
            return False
        learner = make_learner(self._state.learners[self.place], self._state.seed)
        return bool(pass_words(learner))

    def train_in_passes(self) -> None:
        """Have the picture after each pass made, unless that is done already."""
        if self._has_begun or self._state is None or not self.has_passes():
            return
        self._has_begun = True
        state = replace(self._state, resolution=min(self._state.resolution, 80))
        self.session.start(
            f"frames-{self.place}",
            frames,
            state,
            self.place,
            deliver=self._frame_arrived,
            limit=FRAMES_LIMIT,
        )

    def _frame_arrived(self, outcome: Outcome) -> None:
        if outcome.state == "part":
            self.frames.append(outcome.value)
            return
        self.frames_ended = True
        if outcome.state == "failed":
            self._say(words(outcome.message, "wrong"), self._lines[1])

    def show_frame(self, number: int) -> bool:
        """Show a pass; False where it is not there yet, or no more."""
        if not 0 <= number < len(self.frames):
            return False
        self.frame = number
        self._show(self.frames[number])
        return True

    def close(self) -> None:
        """End the work of this place."""
        for kind in ("picture", "estimate", "frames"):
            self.session.stop(f"{kind}-{self.place}")


def setting_for(task: str, place: int) -> LearnerSetting:
    """Return the learner that a place begins with."""
    first = FIRST_LEARNERS[task]
    name = first[place % len(first)]
    return LearnerSetting(name, dict(FIRST_PARAMETERS.get(name, {})))


FIRST_LEARNERS = {
    "classification": (
        "nonparametric.KNeighborsClassifier",
        "kernel.SupportVectorClassifier",
        "tree.DecisionTreeClassifier",
        "neural.MLPClassifier",
    ),
    "regression": (
        "nonparametric.KernelSmoother",
        "bayes.GaussianProcessRegressor",
        "tree.DecisionTreeRegressor",
        "neural.MLPRegressor",
    ),
    "density": (
        "nonparametric.KernelDensity",
        "cluster.GaussianMixture",
        "parametric.GaussianDensity",
        "nonparametric.HistogramDensity",
    ),
    "clustering": (
        "cluster.KMeans",
        "local.SelfOrganisingMap",
        "cluster.AgglomerativeClustering",
        "cluster.KMedoids",
    ),
    "outliers": (
        "kernel.OneClassMachine",
        "nonparametric.LocalOutlierFactor",
        "nonparametric.GaussianDetector",
        "kernel.SupportVectorDescription",
    ),
}
#: Where the defaults are for more data than a hand draws.
FIRST_PARAMETERS: dict[str, dict[str, Any]] = {
    "cluster.KMeans": {"n_clusters": 3},
    "cluster.GaussianMixture": {"n_components": 2},
    "local.SelfOrganisingMap": {"grid_shape": 6},
    "neural.MLPClassifier": {"hidden_layer_sizes": 8, "activation": "tanh"},
    "neural.MLPRegressor": {"hidden_layer_sizes": 8, "activation": "tanh"},
}

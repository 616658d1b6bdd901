"""The page Studies: a store is looked at while it grows, and asked again and again."""

import html
from dataclasses import replace
from typing import Any

import panel as pn
from panel.viewable import Viewable

from verulam.base import DataError
from verulam.experiment._text import counted
from verulam.lab._pool import Outcome
from verulam.lab._shell import CodeDrawer, LinkKeeper, Session, words
from verulam.lab._studies.answers import (
    STYLE,
    AnswerView,
    answer_html,
    pictures_html,
    table_html,
)
from verulam.lab._studies.looking import (
    StudyView,
    judge,
    look,
    margins_around,
    open_store,
    run_details,
    store_path,
)
from verulam.lab._studies.questions import StudyQuestion
from verulam.lab._table_points import dropped_file, file_dropper
from verulam.lab._widgets import button, labelled_select

WIDTH = 300
#: Milliseconds between two looks at a store that may be growing.
LOOK = 2_000
#: Seconds that reading a store may take.
LONGEST_LOOK = 60.0
SUFFIXES = (".sqlite", ".sqlite3", ".db")


class StudiesView:
    """A store, what is asked of it, and the answer.

    Parameters
    ----------
    session
        Of the tab.

    Examples
    --------
    >>> from verulam.lab._pool import Pool
    >>> StudiesView(Session(Pool())).question
    StudyQuestion(path='', key='', study='', measure='', matters=None, data='')
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        session.view = self
        self.root = session.folder
        self.question = StudyQuestion()
        self.opened: StudyView | None = None
        self.answer: AnswerView | None = None
        self._usual: float | None = None
        self._quiet = False
        self._answers = self._looks = 0
        self._make_controls()
        self._make_parts()
        self.code = CodeDrawer(
            lambda: self.question.code(str(store_path(self.root, self.question)))
        )
        self.code.view.visible = False
        side = pn.Column(
            self._store_card,
            self._question_card,
            self._run_card,
            width=WIDTH + 30,
            styles={"flex": "0 0 auto"},
        )
        middle = pn.Column(
            self._status,
            self._answer,
            self._details,
            self._pictures,
            self._failures,
            self.code.view,
            styles={"flex": "1 1 460px", "min-width": "0"},
        )
        self.view = pn.FlexBox(side, middle, gap="16px", sizing_mode="stretch_width")
        self.links = LinkKeeper(session, self.restore)

    def _make_controls(self) -> None:
        self.path = pn.widgets.TextInput(
            label="Path of a store", placeholder="study.sqlite", width=WIDTH
        )
        self.dropper = file_dropper(width=WIDTH, layout="compact")
        self.dropper.param.watch(self._dropped, "value")
        self.studies = labelled_select("Study", {}, None, self._set_study, width=WIDTH)
        self.measure = labelled_select("Measure", {}, None, self._set_measure, width=WIDTH)
        self.data = labelled_select(
            "Data set in the pictures", [], None, self._set_data, width=WIDTH
        )
        self.matters = pn.widgets.DiscreteSlider(
            label="Difference that matters",
            options=[0.0, 1.0],
            value=0.0,
            formatter="%.3g",
            width=WIDTH,
        )
        self.matters.param.watch(self._set_matters, "value")
        self.contestant = labelled_select("Contestant", {}, None, self._show_run, width=WIDTH)
        self.split = labelled_select("Split", {}, None, self._show_run, width=WIDTH)

    def _make_parts(self) -> None:
        def part(text: str = "") -> Any:
            return pn.pane.HTML(text, sizing_mode="stretch_width", stylesheets=[STYLE])

        self._status = part(words("Open the store of a study; nothing in it is changed.", "quiet"))
        self._answer, self._pictures, self._failures = part(), part(), part()
        self._details = part()
        self._store_card = pn.Column(
            pn.pane.HTML("<h2>Store</h2>"),
            self.path,
            button("Open", self._open_path, color="primary", width=140),
            self.dropper,
            width=WIDTH + 20,
        )
        self._question_card = pn.Column(
            pn.pane.HTML("<h2>Question</h2>"),
            self.studies,
            self.measure,
            self.matters,
            self.data,
            width=WIDTH + 20,
            visible=False,
        )
        self._run_card = pn.Column(
            pn.pane.HTML("<h2>One run</h2>"),
            self.contestant,
            self.split,
            button("Show the run", self._show_run, width=140),
            width=WIDTH + 20,
            visible=False,
        )

    def _open_path(self) -> None:
        text = (self.path.value_input or self.path.value or "").strip()
        if not text:
            self._say("Name the file of a store first.", wrong=True)
            return
        self.open(StudyQuestion(text))

    def open(self, question: StudyQuestion) -> None:
        """Look at a store, from now on again and again."""
        self.opened, self.answer = None, None
        self.question = question
        self._say("Reading the store ...")
        self._answer.object = self._pictures.object = self._failures.object = ""
        self._details.object = ""
        self._look()

    def _dropped(self, event: Any) -> None:
        if not event.new:
            return
        try:
            name, data = dropped_file(event.new, SUFFIXES)
        except DataError as error:
            self._say(str(error), wrong=True)
            return
        self.opened = None
        self._say(f"Reading {name} ...")
        self.session.start(
            "look", open_store, self.root, name, data, deliver=self._looked, limit=LONGEST_LOOK
        )

    def restore(self, link: str) -> None:
        """Show the store and the question that a link holds."""
        try:
            question = StudyQuestion.from_link(link)
        except DataError as error:
            self._say(str(error), wrong=True)
            return
        if question.path or question.key:
            self.path.value = "" if question.key else question.path
            self.open(question)

    def _look(self) -> None:
        self.session.start(
            "look", look, self.root, self.question, deliver=self._looked, limit=LONGEST_LOOK
        )

    def _look_again(self) -> None:
        if self.opened is None or self.opened.progress.ended:
            return
        if self.session.seen:
            self._look()
        else:  # nobody looks now; the tab may come back
            self.session.after(LOOK, self._look_again)

    def _looked(self, outcome: Outcome) -> None:
        if outcome.state != "done":
            self._say(outcome.message, wrong=True)
            return
        before, self.opened = self.opened, outcome.value
        opened = outcome.value
        self._looks += 1
        if before is None or before.question.study != opened.question.study:
            self.question = opened.question
            self._fill_choices(opened)
        self._say(_progress_words(opened))
        self._failures.object = _failures_html(opened)
        if before is None or before.progress != opened.progress:
            self._judge()
        if not opened.progress.ended and self.session.document is not None:
            self.session.after(LOOK, self._look_again)

    def _fill_choices(self, opened: StudyView) -> None:
        self._quiet = True
        self.studies.options = opened.studies
        self.studies.value = opened.question.study
        self.measure.options = opened.measures
        names = list(opened.measures.values())
        self.measure.value = self.question.measure if self.question.measure in names else names[0]
        self.data.options = list(opened.data)
        self.data.value = (
            self.question.data if self.question.data in opened.data else opened.data[0]
        )
        self.data.visible = len(opened.data) > 1
        self.contestant.options = opened.contestants
        self.contestant.value = next(iter(opened.contestants.values()))
        self.split.options = {
            f"repeat {repeat}, fold {fold}": (repeat, fold) for repeat, fold in opened.splits
        }
        self.split.value = opened.splits[0]
        self._usual = None
        self._quiet = False
        self._question_card.visible = self._run_card.visible = True
        self.code.view.visible = True

    def _set_study(self, key: str) -> None:
        if not self._quiet and key:
            self.open(replace(self.question, study=key, measure="", matters=None, data=""))

    def _set_measure(self, name: str) -> None:
        if self._quiet or self.opened is None:
            return
        first = next(iter(self.opened.measures.values()))
        # A margin is in units of its measure: another measure has another.
        self._usual = None
        self._ask(measure="" if name == first else name, matters=None)

    def _set_data(self, label: str) -> None:
        if not self._quiet and label:
            self._ask(data=label)

    def _set_matters(self, event: Any) -> None:
        if not self._quiet:
            self._ask(matters=float(event.new))

    def _ask(self, **changes: Any) -> None:
        self.question = replace(self.question, **changes)
        self._judge()

    def _judge(self) -> None:
        self.session.start(
            "judge", judge, self.root, self.question, deliver=self._judged, limit=LONGEST_LOOK
        )
        self.code.refresh()
        self.links.keep(self._link)

    def _link(self) -> str:
        return self.question.to_link()

    def _judged(self, outcome: Outcome) -> None:
        if outcome.state == "failed":
            self._answer.object = f"<p>{words(outcome.message, 'wrong')}</p>"
            self._pictures.object = ""
        elif outcome.state == "part":
            self.answer = view = outcome.value
            if not view.pictures:
                self._answers += 1
                self._answer.object = answer_html(view, self._answers)
                self._fill_slider(view)
            else:
                self._pictures.object = pictures_html(view)

    def _fill_slider(self, view: AnswerView) -> None:
        """Put the places of the slider around the usual margin of the measure."""
        if self._usual is not None or view.margin is None:
            return
        self._usual = view.margin
        self._quiet = True
        self.matters.options = margins_around(view.margin, view.margin)
        self.matters.value = view.margin
        self._quiet = False

    def _show_run(self, _: Any = None) -> None:
        if self._quiet or self.opened is None:
            return
        repeat, fold = self.split.value
        self.session.start(
            "run",
            run_details,
            self.root,
            self.question,
            self.contestant.value,
            self.data.value,
            repeat,
            fold,
            deliver=self._detailed,
            limit=LONGEST_LOOK,
        )

    def _detailed(self, outcome: Outcome) -> None:
        if outcome.state != "done":
            self._details.object = words(outcome.message, "wrong")
            return
        self._details.object = (
            "<section data-run role=status><h3>The run</h3>"
            + table_html(("what", "value"), outcome.value, "The run")
            + "</section>"
        )

    def _say(self, text: str, *, wrong: bool = False) -> None:
        bar = ""
        if self.opened is not None and not wrong:
            progress = self.opened.progress
            bar = (
                f'<p><progress max="{max(progress.total, 1)}" value="{progress.done}" '
                'aria-label="Runs"></progress></p>'
            )
        heading = "" if self.opened is None else f"<h2>{html.escape(self.opened.title)}</h2>"
        self._status.object = (
            f'<div role=status data-looks="{self._looks}">{heading}'
            f"{words(text, 'wrong' if wrong else 'quiet')}{bar}</div>"
        )


def _progress_words(opened: StudyView) -> str:
    progress = opened.progress
    ended = "" if progress.ended else "; looked at again every two seconds"
    return f"{progress.done} of {counted(progress.total, 'run')} ended: {opened.headline}{ended}."


def _failures_html(opened: StudyView) -> str:
    if not opened.n_failures:
        return ""
    more = opened.n_failures - len(opened.failures)
    rest = f"<p class=quiet>And {counted(more, 'more failure')}.</p>" if more else ""
    heads = ("contestant", "data set", "split", "status", "error")
    table = table_html(heads, opened.failures, "Failed runs")
    return f"<section data-failures><h3>Failed runs</h3>{table}{rest}</section>"


def studies_page(session: Session) -> Viewable:
    """Return the page Studies for a tab.

    Parameters
    ----------
    session
        Of the tab.
    """
    return StudiesView(session).view

"""The page Table: a table is opened, described, and its learners compared."""

import html
from dataclasses import replace
from typing import Any

import panel as pn
from panel.viewable import Viewable

from verulam.base import DataError
from verulam.data import list_datasets
from verulam.experiment._text import counted, spoken_name
from verulam.lab._pool import Outcome
from verulam.lab._shell import CodeDrawer, LinkKeeper, Session, words
from verulam.lab._studies.answers import (
    STYLE,
    AnswerView,
    answer_html,
    pictures_html,
    table_html,
)
from verulam.lab._studies.comparing import (
    CompareOutcome,
    OpenedTable,
    RunProgress,
    describe,
    earlier,
    make_model,
    open_upload,
    run_comparison,
    source_of,
    store_of,
)
from verulam.lab._studies.questions import StudyQuestion, TableQuestion
from verulam.lab._table_points import dropped_file, file_dropper
from verulam.lab._widgets import button, folded, labelled_select

WIDTH = 300
#: Seconds that a comparison, opening a file, and making a model may take.
LONGEST_RUN, LONGEST_OPENING, LONGEST_FIT = 7 * 86_400.0, 60.0, 3_600.0
NOTHING, USUAL = "choose one", "the usual one"
HEADS = ("column", "kind", "missing", "distinct", "values", "becomes")


class ComparisonView:
    """A table, what is asked of it, and the answer.

    Parameters
    ----------
    session
        Of the tab.

    Examples
    --------
    >>> from verulam.lab._pool import Pool
    >>> ComparisonView(Session(Pool())).state
    'idle'
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        session.view = self
        self.root = session.folder
        self.question = TableQuestion()
        self.opened: OpenedTable | None = None
        self.answer: AnswerView | None = None
        self.progress: RunProgress | None = None
        self.state = "idle"
        self._study = ""
        self._quiet = False
        self._answers = self._openings = 0
        self._make_controls()
        self._make_parts()
        self.code = CodeDrawer(lambda: self.question.code(source_of(self.root, self.question)))
        self.code.view.visible = False
        side = pn.Column(
            self._data_card, self._question_card, width=WIDTH + 30, styles={"flex": "0 0 auto"}
        )
        middle = pn.Column(
            self._status,
            self._answer,
            self._downloads,
            self._pictures,
            self.code.view,
            self._table,
            styles={"flex": "1 1 460px", "min-width": "0"},
        )
        self.view = pn.FlexBox(side, middle, gap="16px", sizing_mode="stretch_width")
        self.links = LinkKeeper(session, self.restore)
        self._show_state()

    def _make_controls(self) -> None:
        sets = list_datasets()
        names = [str(name) for name in sets.index[sets["task"] != "none"]]
        self.bundled = labelled_select(
            "Bundled data set", [NOTHING, *names], NOTHING, self.open_bundled, width=WIDTH
        )
        self.dropper = file_dropper(width=WIDTH, layout="compact")
        self.dropper.param.watch(self._dropped, "value")
        self.target = labelled_select("Target", [], None, self._set_target, width=WIDTH)
        self.left_out = self._column_list("Columns to leave out")
        self.categorical = self._column_list("Numbers that are codes or classes")
        self.learners = pn.widgets.CheckBoxGroup(options=[], value=[], width=WIDTH)
        self.learners.param.watch(lambda _: self._changed(), "value")
        self.more = labelled_select(
            "Add a learner", [NOTHING], NOTHING, self.add_learner, width=WIDTH
        )
        self.measure = labelled_select(
            "Measure", [USUAL], USUAL, lambda _: self._changed(), width=WIDTH
        )
        self.matters = pn.widgets.FloatInput(
            label="Difference that matters (empty: the usual)",
            value=None,
            start=0.0,
            step=0.005,
            width=WIDTH,
            placeholder="such as 0.01",
        )
        self.matters.param.watch(lambda _: self._changed(), "value")
        self.start_button = button("Compare", self.start, color="primary", width=140)
        self.stop_button = button("Stop", self.stop, width=140)
        self.model_button = button("Make the final model", self.finalise, width=190)

    def _column_list(self, title: str) -> Any:
        """Return a list of which any number of columns can be taken."""
        columns = pn.widgets.MultiSelect(label=title, options=[], value=[], size=5, width=WIDTH)
        columns.param.watch(lambda _: self._set_columns(), "value")
        return columns

    def _make_parts(self) -> None:
        def part() -> Any:
            return pn.pane.HTML("", sizing_mode="stretch_width", stylesheets=[STYLE])

        self._status, self._answer, self._pictures = part(), part(), part()
        self._table, self._links, self._model = part(), part(), part()
        self._downloads = pn.Column(
            self._links,
            pn.Row(self.model_button),
            self._model,
            visible=False,
            sizing_mode="stretch_width",
        )
        self._data_card = pn.Column(
            pn.pane.HTML("<h2>1 Data</h2>"), self.bundled, self.dropper, width=WIDTH + 20
        )
        self._asked_card = pn.Column(
            pn.pane.HTML("<span class=quiet>Contestants</span>", margin=(5, 10, 0, 10)),
            self.learners,
            self.more,
            self.measure,
            self.matters,
            pn.pane.HTML("<h2>3 Run</h2>"),
            pn.Row(self.start_button, self.stop_button),
            width=WIDTH + 20,
        )
        self._question_card = pn.Column(
            pn.pane.HTML("<h2>2 Question</h2>"),
            self.target,
            folded("Columns", self.left_out, self.categorical),
            self._asked_card,
            width=WIDTH + 20,
            visible=False,
        )

    def open_bundled(self, name: str) -> None:
        """Open a data set that comes with the library."""
        if not self._quiet and name != NOTHING:
            self._open(describe, TableQuestion(name))

    def _dropped(self, event: Any) -> None:
        if not event.new:
            return
        self._leave_answer()
        try:
            name, data = dropped_file(event.new)
        except DataError as error:
            self._say(str(error), wrong=True)
            return
        self._say(f"Reading {name} ...")
        self.session.start(
            "open",
            open_upload,
            self.root,
            name,
            data,
            deliver=self._described,
            limit=LONGEST_OPENING,
        )

    def _open(
        self, function: Any, question: TableQuestion, asked: TableQuestion | None = None
    ) -> None:
        self._leave_answer()
        self._say(f"Reading {question.title} ...")

        def arrived(outcome: Outcome) -> None:
            self._described(outcome, asked)

        self.session.start(
            "open", function, self.root, question, deliver=arrived, limit=LONGEST_OPENING
        )

    def restore(self, link: str) -> None:
        """Show the table and the question that a link holds."""
        try:
            question = TableQuestion.from_link(link)
        except DataError as error:
            self._say(str(error), wrong=True)
            return
        if question.title:
            self._open(describe, question, question)

    def _set_target(self, name: str) -> None:
        if not self._quiet and self.opened is not None and name and name != NOTHING:
            question = self.opened.question
            rest: dict[str, Any] = {
                role: tuple(column for column in getattr(question, role) if column != name)
                for role in ("leave_out", "categorical")
            }
            self._open(describe, replace(question, target=name, drop_missing=False, **rest))

    def _set_columns(self) -> None:
        """Describe the table anew, with other columns left out or read as classes."""
        if self._quiet or self.opened is None:
            return
        question = replace(
            self.question,
            leave_out=tuple(self.left_out.value),
            categorical=tuple(self.categorical.value),
        )
        self._open(describe, question, question)

    def _described(self, outcome: Outcome, asked: TableQuestion | None = None) -> None:
        if outcome.state != "done":
            self._say(outcome.message, wrong=True)
            return
        self.opened = opened = outcome.value
        self._openings += 1
        self._quiet = True
        self.bundled.value = opened.question.bundled or NOTHING
        self.target.options = [*([] if opened.question.target else [NOTHING]), *opened.targets]
        self.target.value = opened.question.target or NOTHING
        inputs = [name for name in opened.targets if name != opened.question.target]
        for columns, names in (
            (self.left_out, opened.question.leave_out),
            (self.categorical, opened.question.categorical),
        ):
            columns.options, columns.value = inputs, list(names)
        self._fill_choices(opened, asked)
        self._quiet = False
        self._question_card.visible = True
        self._asked_card.visible = bool(opened.task)
        self._table.object = _description_html(opened, self._openings)
        self._changed()
        if opened.task:
            self.session.start("earlier", earlier, self.root, self.question, deliver=self._known)

    def _fill_choices(self, opened: OpenedTable, asked: TableQuestion | None) -> None:
        usual = {spoken_name(name): name for name in opened.usual}
        # A link may hold another name of a contestant that is listed.
        known = {spoken.casefold(): name for spoken, name in usual.items()}
        asked_for = [] if asked is None else asked.learners
        names = [known.get(spoken_name(name).casefold(), name) for name in asked_for]
        extra = {name: name for name in names if name not in usual.values()}
        self.learners.options = {**usual, **extra}
        self.learners.value = names or list(opened.usual)
        self.more.options = [NOTHING, *opened.others]
        self.more.value = NOTHING
        self.measure.options = {USUAL: "", **(opened.measures or {})}
        self.measure.value = "" if asked is None else asked.measure
        self.matters.value = None if asked is None else asked.matters

    def _known(self, outcome: Outcome) -> None:
        if outcome.state != "done" or outcome.value is None or self.state != "idle":
            return
        question, progress = outcome.value
        if self.question != question and not self._is_untouched:
            return
        if self.question != question and self.opened is not None:
            self._quiet = True
            self._fill_choices(self.opened, question)
            self._quiet = False
            self._changed()
        self.progress = progress
        self._set_state("kept" if progress.ended else "stopped")

    @property
    def _is_untouched(self) -> bool:
        """Whether the question is what the data alone suggest."""
        return self.opened is not None and self.question == self.opened.question

    def add_learner(self, name: str) -> None:
        """Let one more learner of the catalogue take part."""
        if self._quiet or name == NOTHING:
            return
        self._quiet = True
        self.learners.options = {**self.learners.options, name: name}
        self.learners.value = [*self.learners.value, name]
        self.more.value = NOTHING
        self._quiet = False
        self._changed()

    def _changed(self) -> None:
        """Take over what the widgets say."""
        if self._quiet or self.opened is None:
            return
        usual = list(self.opened.usual)
        learners = list(self.learners.value)
        question = replace(
            self.opened.question,
            learners=() if learners == usual else tuple(learners),
            measure="" if self.measure.value in (None, USUAL) else self.measure.value,
            matters=self.matters.value,
        )
        if question != self.question:
            # What is shown would be the answer to another question.
            self._leave_answer()
            self.question = question
        self.code.view.visible = bool(self.opened.task)
        self.code.refresh()
        self.links.keep(self._link)

    def _link(self) -> str:
        return self.question.to_link()

    def start(self) -> None:
        """Compare, or go on with what was stopped."""
        if self.opened is None or not self.opened.task:
            return
        if len(self.learners.value) < 2:
            self._say("Choose two contestants at least.", wrong=True)
            return
        self._leave_answer()
        self.progress = None
        self._set_state("running")
        self.session.start(
            "compare",
            run_comparison,
            self.root,
            self.question,
            deliver=self._advanced,
            urgent=False,
            limit=LONGEST_RUN,
        )

    def stop(self) -> None:
        """End the comparison; what has been run is kept."""
        self.session.stop("compare")
        if self.state == "running":
            self._set_state("stopped")

    def _advanced(self, outcome: Outcome) -> None:
        if outcome.state == "failed":
            self._set_state("idle")
            self._say(outcome.message, wrong=True)
        elif isinstance(outcome.value, RunProgress):
            self.progress = outcome.value
            self._show_state()
        elif isinstance(outcome.value, CompareOutcome):
            self._show_answer(outcome.value)

    def _show_answer(self, outcome: CompareOutcome) -> None:
        self.answer, self._study = outcome.view, outcome.study
        self._answers += not outcome.view.pictures and not outcome.report
        self._answer.object = answer_html(outcome.view, self._answers) + _failures_html(outcome)
        self._pictures.object = pictures_html(outcome.view)
        self._downloads.visible = True
        self._links.object = self._report_html(outcome.report)
        self._set_state("answered" if outcome.report else "drawing")
        self.code.refresh()

    def _report_html(self, report: str) -> str:
        folder = store_of(self.root, self.question).parent.name
        study = StudyQuestion(key=folder, study=self._study)
        written = (
            f'<a href="/kept/{folder}/{report}" target=_blank data-report>Open the report</a>'
            if report
            else "<span class=quiet>The report is being written ...</span>"
        )
        return (
            f'<p>{written} · <a href="/studies{study.to_link()}" data-closer>Look closer</a> '
            f"<span class=quiet>(other measures, a slider for the difference that matters, single "
            "runs)</span></p>"
        )

    def finalise(self) -> None:
        """Fit the recommended learner to all rows."""
        self.model_button.disabled = True
        self._model.object = words("The model is being fitted to all rows ...", "quiet")
        self.session.start(
            "model",
            make_model,
            self.root,
            self.question,
            self._study,
            deliver=self._made,
            urgent=False,
            limit=LONGEST_FIT,
        )

    def _made(self, outcome: Outcome) -> None:
        self.model_button.disabled = False
        if outcome.state != "done":
            self._model.object = words(outcome.message, "wrong")
            return
        model, card = outcome.value
        folder = store_of(self.root, self.question).parent.name
        self._model.object = (
            f'<p><a href="/kept/{folder}/{model}" download data-model>Download the model</a> · '
            f'<a href="/kept/{folder}/{card}" target=_blank>its card</a> <span class=quiet>'
            "(verulam predict uses it)</span></p>"
        )

    def _leave_answer(self) -> None:
        """Take away an answer that is not one to the question any more."""
        self.stop()
        self.answer, self.progress = None, None
        self._answer.object = self._pictures.object = self._model.object = ""
        self._downloads.visible = False
        self._set_state("idle")

    def _set_state(self, state: str) -> None:
        self.state = state
        self._show_state()

    def _show_state(self) -> None:
        running = self.state == "running"
        self.start_button.disabled = running
        self.start_button.label = "Resume" if self.state == "stopped" else "Compare"
        self.stop_button.disabled = not running
        line = {
            "idle": self._next_step(),
            "running": "Comparing ...",
            "stopped": "Stopped. What has been run is kept; Resume goes on from there.",
            "kept": "These data were compared before; Compare repeats no run.",
        }.get(self.state, "")
        self._status.object = self._status_html(words(line, "quiet"))

    def _next_step(self) -> str:
        if self.opened is None:
            return "Open a table: a bundled data set, or a file of yours."
        return "" if self.opened.task else "Choose the target: the column to predict."

    def _say(self, text: str, *, wrong: bool = False) -> None:
        self._status.object = self._status_html(words(text, "wrong" if wrong else "quiet"))

    def _status_html(self, line: str) -> str:
        progress = self.progress
        bar = ""
        if progress is not None and self.state in ("running", "stopped"):
            failed = f", {progress.failed} failed" if progress.failed else ""
            spoken = f"{progress.done} of {counted(progress.total, 'run')}{failed}"
            if progress.repeat > 1:
                spoken += f"; repeat {progress.repeat}"
            bar = (
                f'<p><progress max="{max(progress.total, 1)}" value="{progress.done}" '
                f'aria-label="Runs"></progress> {spoken}</p>'
            )
        done = 0 if progress is None else progress.done
        return (
            f'<div role=status aria-live=polite data-state="{self.state}" data-done="{done}">'
            f"{line}{bar}</div>"
        )


def _description_html(opened: OpenedTable, count: int) -> str:
    findings = "".join(f"<li>{html.escape(text)}</li>" for text in opened.findings)
    looks = f"<h3>What deserves a look</h3><ul data-findings>{findings}</ul>" if findings else ""
    gaps = ""
    if opened.gaps:
        rows = counted(opened.gaps, "row")
        gaps = f"<p>{rows} without a value of the target are left out.</p>"
    return (
        f'<section data-opened="{count}"><h2>{html.escape(opened.question.title)}</h2>'
        f"<p>{html.escape(opened.headline)}</p>{gaps}{looks}"
        f"{table_html(HEADS, opened.columns, 'Columns')}</section>"
    )


def _failures_html(outcome: CompareOutcome) -> str:
    if not outcome.failures:
        return ""
    return "<h3>Failed runs</h3>" + table_html(
        ("contestant", "error"), outcome.failures, "Failed runs"
    )


def table_page(session: Session) -> Viewable:
    """Return the page Table for a tab.

    Parameters
    ----------
    session
        Of the tab.
    """
    return ComparisonView(session).view

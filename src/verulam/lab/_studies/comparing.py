"""The work of the page Table, done in processes: open, describe, compare, report, finalise."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from verulam.base import DataError, write_whole
from verulam.catalogue import entries, entry
from verulam.data import Dataset
from verulam.experiment import Comparison, Results, compare, finalise
from verulam.experiment._preparation.inspection import Finding, inspect_table, rare_classes
from verulam.experiment._preparation.preparation import columns_become
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._store.store import Store
from verulam.experiment._study.choices import default_learners
from verulam.experiment._study.data_source import open_data
from verulam.experiment._text import spoken_name
from verulam.lab._studies.answers import AnswerView, answer_view, with_pictures
from verulam.lab._studies.questions import TableQuestion
from verulam.lab._studies.workspace import QUESTION, RUNS, folder_of, keep_upload, key_of
from verulam.measures import measures

#: Seconds between two looks at how far a comparison has come.
PAUSE = 0.4
#: Of more columns than this the first ones are listed.
MOST_COLUMNS = 60
#: Measures that need what few learners give are left to studies.
_NEEDS = ("labels", "probabilities", "scores", "values")


@dataclass(frozen=True)
class OpenedTable:
    """A table that was opened, as a page describes it.

    Attributes
    ----------
    question
        What can be asked of it: the data, and its target where it has one.
    headline
        Its size and task.
    columns
        Rows of column, kind, missing, distinct, values, and what it becomes.
    targets
        Columns that may be predicted.
    findings
        What deserves a look.
    task
        "classification", "regression", or empty without a target.
    usual
        Contestants where nobody names any.
    others
        Further learners of the catalogue for the task.
    measures
        Names of measures by their titles.
    gaps
        Number of rows whose target is missing.
    """

    question: TableQuestion
    headline: str
    columns: tuple[tuple[str, ...], ...]
    targets: tuple[str, ...]
    findings: tuple[str, ...]
    task: str = ""
    usual: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    measures: dict[str, str] | None = None
    gaps: int = 0


@dataclass(frozen=True)
class RunProgress:
    """How far a study has come.

    Attributes
    ----------
    done, total, failed
        Runs that have ended, that are known to be needed by now, and that did not succeed.
    repeat
        Number of the repeat that was added last, to settle the choice; 1 before any was.
    ended
        Whether no run is left.
    """

    done: int
    total: int
    failed: int
    repeat: int = 1
    ended: bool = False


@dataclass(frozen=True)
class CompareOutcome:
    """The end of a comparison.

    Attributes
    ----------
    view
        The answer.
    study
        Key of the study in the store.
    report
        Name of the report in the folder of the data.
    failures
        Learner and error of runs that failed.
    """

    view: AnswerView
    study: str
    report: str
    failures: tuple[tuple[str, str], ...]


def open_upload(root: Path, name: str, content: bytes) -> OpenedTable:
    """Keep a file that was sent, and describe the table in it.

    Parameters
    ----------
    root
        Where the lab keeps files.
    name, content
        Of the file.
    """
    path = keep_upload(root, name, content)
    return describe(root, TableQuestion(key=path.parent.name, file=path.name))


def source_of(root: Path, question: TableQuestion) -> str:
    """Return the data of a question as `compare` takes them: a name, or a path."""
    if question.bundled:
        return question.bundled
    return str(root / question.key / question.file)


def store_of(root: Path, question: TableQuestion) -> Path:
    """Return the store of the runs on some data, whatever is asked of them."""
    key = question.key or key_of(f"bundled {question.bundled}".encode())
    return folder_of(root, key) / RUNS


def describe(root: Path, question: TableQuestion) -> OpenedTable:
    """Return what is to be known of a table before anything is learnt.

    Parameters
    ----------
    root
        Where the lab keeps files.
    question
        The data, and the target where one is known.

    Examples
    --------
    >>> view = describe(Path("."), TableQuestion("iris"))
    >>> view.headline, view.question.target
    ("150 rows, classification of 'species' (setosa, versicolor, virginica)", 'species')
    """
    if not question.bundled and not Path(source_of(root, question)).is_file():
        raise DataError(f"The copy of {question.file!r} is not kept any more; open the file again.")
    whole = open_data(source_of(root, question))
    data, gaps = _as_asked(root, question, whole)
    findings = inspect_table(data)
    task = str(data.task or "") if data.target else ""
    usual, omission = _usual_learners(data) if task else ((), "")
    for name in question.learners:
        if entry(name).abilities.task != task:
            raise DataError(f"{name!r} is no learner for {task or 'a table without a target'}.")
    return OpenedTable(
        TableQuestion(
            question.bundled,
            question.key,
            question.file,
            data.target or "",
            drop_missing=gaps > 0,
            leave_out=question.leave_out,
            categorical=question.categorical,
        ),
        repr(data).partition("\n")[0].partition(": ")[2],
        tuple(_column_rows(data, findings))[:MOST_COLUMNS],
        tuple(map(str, whole.table.columns)),
        tuple(filter(None, (*map(str, findings), omission))),
        task,
        usual,
        _other_learners(task, usual),
        measure_titles(task),
        gaps,
    )


def _as_asked(root: Path, question: TableQuestion, whole: Dataset) -> tuple[Dataset, int]:
    """Return the table with the roles that were asked for, and how many rows have no target."""
    target = question.target or whole.target
    columns: dict[str, Any] = {
        "leave_out": question.leave_out,
        "categorical": question.categorical,
    }
    if not target:
        return open_data(source_of(root, question), **columns), 0
    if target not in whole.table:
        raise DataError(f"target: {target!r} is no column of {question.title}.")
    gaps = int(whole.table[target].isna().sum())
    source = source_of(root, question)
    return open_data(source, target=target, drop_missing_target=True, **columns), gaps


def _usual_learners(data: Dataset) -> tuple[tuple[str, ...], str]:
    names, omission = default_learners(
        str(data.task), data.n_rows, rare=bool(rare_classes(data)), by_labels=False
    )
    return tuple(names), omission


def _other_learners(task: str, usual: tuple[str, ...]) -> tuple[str, ...]:
    if not task:
        return ()
    known = {spoken_name(name) for name in usual}
    names = {item.spoken: item.name for item in entries() if item.abilities.task == task}
    return tuple(sorted((name for name in names if name not in known), key=str.casefold))


def measure_titles(task: str) -> dict[str, str]:
    """Return the names of the measures of a task by their titles; none for no task."""
    if task not in ("classification", "regression"):
        return {}
    table = measures("regression" if task == "regression" else "classification")
    table = table[table["needs"].isin(_NEEDS) & (table.index != "risk")]
    return {str(title): str(name) for name, title in table["title"].items()}


def _column_rows(data: Dataset, findings: tuple[Finding, ...]) -> Iterator[tuple[str, ...]]:
    outcomes = columns_become(data, findings)
    for (name, row), outcome in zip(data.summary().iterrows(), outcomes, strict=True):
        yield (
            str(name), str(row["kind"]), str(row["missing"]), str(row["distinct"]),
            _values(row), outcome,
        )  # fmt: skip


def _values(row: "pd.Series[Any]") -> str:
    parts = []
    if row["minimum"] != "":
        low, high = (_plain(row[end]) for end in ("minimum", "maximum"))
        parts.append(f"{low} to {high}")
    if row["most_frequent"] != "" and row["kind"] != "text":
        parts.append(f"mostly {row['most_frequent']}")
    return ", ".join([*parts, *filter(None, [str(row["note"])])])


def _plain(value: Any) -> str:
    """Return an end of a range as people write it: few decimals, days without hours."""
    if isinstance(value, float):
        return f"{value:,.0f}" if 9_999.5 <= abs(value) < 1e15 else f"{value:.4g}"
    return str(value).removesuffix(" 00:00:00")


def run_comparison(root: Path, question: TableQuestion) -> Iterator[RunProgress | CompareOutcome]:
    """Compare learners; yield how far that has come, then the answer, then more of it.

    Parameters
    ----------
    root
        Where the lab keeps files.
    question
        What is compared. Runs that the store has are not repeated.
    """
    store = store_of(root, question)
    write_whole(store.with_name(QUESTION), question.to_link())
    ended: list[Comparison | BaseException] = []

    def work() -> None:
        try:
            ended.append(
                compare(
                    source_of(root, question), store=store, progress=False, **question.arguments()
                )
            )
        # Whatever it is, it belongs to the one who waits for this thread.
        except BaseException as error:
            ended.append(error)

    # The runs go on in a thread, so that the generator has nothing to do but to look at the store.
    thread = threading.Thread(target=work, daemon=True)
    before = last_study(store)
    thread.start()
    last = None
    while thread.is_alive():
        thread.join(PAUSE)
        # Until its plan is written, the store may have an earlier comparison.
        latest = None if last_study(store) == before else _progress(store)
        if latest is not None and latest != last:
            last = latest
            yield latest
    (outcome,) = ended
    if isinstance(outcome, BaseException):
        raise outcome
    yield from _answers(outcome, store)


def _answers(comparison: Comparison, store: Path) -> Iterator[CompareOutcome]:
    """Yield the words first, then the pictures, and the report when it is written."""
    analysis = comparison.analysis
    study = analysis.results.study
    failures = comparison.failures.drop_duplicates(["learner", "error"])
    pairs = tuple((str(row.learner), str(row.error)) for row in failures.itertuples())
    view = answer_view(analysis)
    yield CompareOutcome(view, study, "", pairs)
    view = with_pictures(view, analysis)
    yield CompareOutcome(view, study, "", pairs)
    report = f"report-{study[:12]}.html"
    comparison.report(store.with_name(report))
    yield CompareOutcome(view, study, report, pairs)


def last_study(store: Path) -> tuple[str, float] | None:
    """Return the study that was begun last in a store, and when; None where there is none."""
    if not store.is_file():
        return None
    try:
        with Store(store, read_only=True) as opened:
            studies = opened.studies()
    except DataError:
        return None  # its tables are being made just now
    if studies.empty:
        return None
    return str(studies["study"].iloc[-1]), float(studies["added"].iloc[-1])


def _progress(store: Path) -> RunProgress | None:
    try:
        return progress_of(Results(store))
    except DataError:
        return None  # its plan is being written just now


def progress_of(results: Results) -> RunProgress:
    """Return how far a study has come.

    Parameters
    ----------
    results
        Of the study, maybe while it is carried out.

    Notes
    -----
    A study that adds repeats until its choice is settled has planned more than it may need: those
    of the repeats that have begun are counted.
    """
    runs = results.runs()
    ended = runs["status"] != "left"
    begun = int(runs.loc[ended, "repeat"].max()) + 1 if ended.any() else 1
    whole = bool(ended.all())
    how = resampling(results.description["resampling"])
    if how.max_repeats is not None and not whole:
        runs = runs[runs["repeat"] < max(begun, how.repeats)]
        ended = runs["status"] != "left"
    failed = int((ended & (runs["status"] != "done")).sum())
    added = begun if begun > how.repeats else 1
    return RunProgress(int(ended.sum()), len(runs), failed, added, whole)


def make_model(root: Path, question: TableQuestion, study: str) -> tuple[str, str]:
    """Fit the recommended learner to all rows; return the names of the model and of its card.

    Parameters
    ----------
    root
        Where the lab keeps files.
    question
        What was compared.
    study
        Key of the study in the store.
    """
    store = store_of(root, question)
    path = store.parent / f"model-{study[:12]}.skops"
    made = finalise(Results(store, study), path=path, force=True)
    page, _ = made.card_paths
    return made.path.name, page.name


def earlier(root: Path, question: TableQuestion) -> tuple[TableQuestion, RunProgress] | None:
    """Return what was asked of these data before, and how far it came; None for nothing.

    Parameters
    ----------
    root
        Where the lab keeps files.
    question
        The data.
    """
    store = store_of(root, question)
    file = store.with_name(QUESTION)
    progress = _progress(store) if last_study(store) else None
    if progress is None or not file.is_file():
        return None
    return TableQuestion.from_link(file.read_text(encoding="utf-8")), progress

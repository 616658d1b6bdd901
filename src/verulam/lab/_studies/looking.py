"""The work of the page Studies, done in processes: a store is read, and never changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from verulam.base import DataError, visible_text
from verulam.experiment import Results, analyse
from verulam.experiment._store.responses import contestant_name
from verulam.experiment._store.store import Store
from verulam.experiment._text import (
    memory_text,
    number_text,
    seconds_text,
    shortened,
    size_text,
    spoken_name,
)
from verulam.lab._studies.answers import AnswerView, answer_view, with_pictures
from verulam.lab._studies.comparing import RunProgress, measure_titles, progress_of
from verulam.lab._studies.questions import StudyQuestion
from verulam.lab._studies.workspace import RUNS, keep_upload, workspace

#: Of more failures than this the page says how many there are.
MOST_FAILURES = 50
#: Multiples of the usual difference that matters, for the slider.
MULTIPLES = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.5, 10.0, 15.0, 20.0)


@dataclass(frozen=True)
class StudyView:
    """A study in a store, as far as it has come.

    Attributes
    ----------
    question
        The study that is meant: the one asked for, or the last one.
    title, headline
        Its name, and how many runs have which status.
    studies
        All studies of the store by what they are called in a list.
    progress
        How far it has come.
    measures
        Names of measures by their titles; the first is that of the study.
    data, contestants
        Labels of data sets, and names of contestants by how they are spoken of.
    splits
        Repeat and fold of each split.
    failures
        Data set, contestant, repeat, fold, status and error of runs that failed.
    n_failures
        How many there are in all.
    """

    question: StudyQuestion
    title: str
    headline: str
    studies: dict[str, str]
    progress: RunProgress
    measures: dict[str, str]
    data: tuple[str, ...]
    contestants: dict[str, str]
    splits: tuple[tuple[int, int], ...]
    failures: tuple[tuple[str, ...], ...]
    n_failures: int


def store_path(root: Path, question: StudyQuestion) -> Path:
    """Return the store that a question is about.

    Parameters
    ----------
    root
        Where the lab keeps files.
    question
        What is asked; a study file stands for the store beside it.
    """
    if question.key:
        return root / question.key / (question.path or RUNS)
    path = Path(question.path).expanduser()
    place, here = path.resolve(), root.resolve()
    # Reports show where they are from: what another browser asked for stays its own all the same.
    if place.is_relative_to(workspace().resolve()) and not place.is_relative_to(here):
        raise DataError(f"There is no store {path.name!r} in your part of the lab.")
    return path.with_suffix(".sqlite") if path.suffix == ".toml" else path


def open_store(root: Path, name: str, content: bytes) -> StudyView:
    """Keep a store that was sent, and look at it.

    Parameters
    ----------
    root
        Where the lab keeps files.
    name, content
        Of the file.
    """
    path = keep_upload(root, name, content)
    return look(root, StudyQuestion(path.name, path.parent.name))


def look(root: Path, question: StudyQuestion) -> StudyView:
    """Return how far a study has come.

    Parameters
    ----------
    root
        Where the lab keeps files.
    question
        The store, and the study in it.
    """
    path = store_path(root, question)
    results = Results(path, question.study or None)
    runs = results.runs()
    runs["contestant"] = _contestants(runs)
    status = ", ".join(f"{count} {word}" for word, count in results.status().items())
    failures = results.failures()
    names = sorted(set(runs["contestant"]), key=lambda name: spoken_name(name).casefold())
    splits = runs[["repeat", "fold"]].drop_duplicates().sort_values(["repeat", "fold"])
    return StudyView(
        StudyQuestion(
            question.path, question.key, results.study, question.measure, question.matters,
            question.data,
        ),
        visible_text(str(results.description["name"])),
        status,
        _studies(path),
        progress_of(results),
        _measures(results),
        tuple(str(key.label) for key in results.data_keys()),
        {spoken_name(name): name for name in names},
        tuple((int(repeat), int(fold)) for repeat, fold in splits.to_numpy()),
        tuple(_failure_rows(failures.head(MOST_FAILURES))),
        len(failures),
    )  # fmt: skip


def _contestants(runs: pd.DataFrame) -> list[str]:
    return [
        contestant_name(learner, setting)
        for learner, setting in zip(runs["learner"], runs["setting"], strict=True)
    ]


def _studies(path: Path) -> dict[str, str]:
    with Store(path, read_only=True) as store:
        keys = [
            (str(key), float(added))
            for key, added in store.studies()[["study", "added"]].itertuples(index=False)
        ]
    studies = {}
    for key, added in reversed(keys):
        try:
            name = Results(path, key).description["name"]
        except DataError:
            continue  # without its plan nothing can be said of it
        when = datetime.fromtimestamp(added, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        studies[visible_text(f"{name}, {when}, {key[:6]}")] = key
    return studies


def _measures(results: Results) -> dict[str, str]:
    first = results.measures[0]
    return {first.title: first.name} | measure_titles(first.task)


def _failure_rows(failures: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    for row in failures.itertuples():
        name = spoken_name(contestant_name(str(row.learner), str(row.setting)))
        place = f"repeat {row.repeat}, fold {row.fold}"
        yield name, str(row.data), place, str(row.status), shortened(visible_text(str(row.error)))


def judge(root: Path, question: StudyQuestion) -> Iterator[AnswerView]:
    """Yield the answer of a study as it is asked for, first without and then with pictures.

    Parameters
    ----------
    root
        Where the lab keeps files.
    question
        The study, the measure that decides, and the difference that matters.
    """
    results = Results(store_path(root, question), question.study or None)
    analysis = analyse(results, question.measure or None, matters=question.matters)
    view = answer_view(analysis, question.data)
    yield view
    yield with_pictures(view, analysis, question.data)


def run_details(
    root: Path, question: StudyQuestion, contestant: str, data: str, repeat: int, fold: int
) -> tuple[tuple[str, str], ...]:
    """Return what is known of one run, as pairs of a heading and its content.

    Parameters
    ----------
    root
        Where the lab keeps files.
    question
        The study.
    contestant, data, repeat, fold
        Which run.
    """
    results = Results(store_path(root, question), question.study or None)
    runs = results.runs()
    names = pd.Series(_contestants(runs), index=runs.index)
    place = (names == contestant) & (runs["data"] == data)
    place &= (runs["repeat"] == repeat) & (runs["fold"] == fold)
    if not place.any():
        raise DataError(f"{spoken_name(contestant)} has no run on fold {fold} of repeat {repeat}.")
    run = runs[place].iloc[-1]
    pairs = [
        ("status", str(run["status"])),
        ("training share", f"{run['share']:.0%}"),
        ("seed", str(run["seed"])),
        ("preparation", str(run["preparation"])),
        ("run", str(run["run"])),
    ]
    if run["status"] != "left":
        pairs += _costs(run)
    for heading in ("error", "warning"):
        if isinstance(run[heading], str) and run[heading]:
            pairs.append((heading, shortened(visible_text(run[heading]))))
    if run["status"] == "done":
        pairs += _scores(results, runs[place], question.measure)
        pairs += _tuned(results, run)
    return tuple(pairs)


def _costs(run: "pd.Series") -> list[tuple[str, str]]:
    writers = {
        "fit_seconds": ("time to fit", seconds_text),
        "predict_seconds": ("time to predict", seconds_text),
        "peak_memory": ("memory", memory_text),
        "model_size": ("size of the model", size_text),
    }
    return [
        (heading, write(float(run[name])))
        for name, (heading, write) in writers.items()
        if run[name] == run[name]
    ]


def _scores(results: Results, run: pd.DataFrame, measure: str) -> list[tuple[str, str]]:
    asked = {one.name: one for one in (*results.measures, *results.resolve(measure or None))}
    scores = results.scores(list(asked.values()), runs=run).iloc[-1]
    return [
        (one.title.lower(), number_text(float(scores[name])))
        for name, one in asked.items()
        if scores[name] == scores[name]
    ]


def _tuned(results: Results, run: "pd.Series") -> list[tuple[str, str]]:
    table = results.tuning()
    keys = ["data", "learner", "setting", "repeat", "fold", "share"]
    same = table[(table[keys] == run[keys]).all(axis=1)] if len(table) else table
    return [("tuned", str(setting)) for setting in same["chosen"]]


def margins_around(usual: float, asked: float | None) -> list[float]:
    """Return the places of a slider for the difference that matters.

    Parameters
    ----------
    usual
        The usual difference.
    asked
        A difference that must be among them, or None.

    Examples
    --------
    >>> margins_around(0.01, 0.03)[:4]
    [0.0, 0.001, 0.0025, 0.005]
    """
    places = {float(f"{multiple * usual:.3g}") for multiple in MULTIPLES}
    return sorted(places | ({asked} if asked is not None else set()))

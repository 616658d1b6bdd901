"""Which learner a study ends in, and the same contestant once more, built from its record."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verulam.base import DataError, UnknownNameError, unknown_name
from verulam.data import Dataset
from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._learning.fitting import fit_learner
from verulam.experiment._plan.data import PlannedData
from verulam.experiment._plan.plan import make_plan
from verulam.experiment._plan.records import Contestant
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._store.responses import StoredContestant
from verulam.experiment._store.results import Results
from verulam.experiment._study.choices import DataChoice
from verulam.experiment._study.data_source import open_choice
from verulam.experiment._study.study import Study
from verulam.experiment._study.toml import parse_study
from verulam.experiment._text import full_name, measure_words, number_text, spoken_name


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """A contestant and its data set, as they were when the study was run.

    Attributes
    ----------
    study
        The study.
    planned
        The data set with its splits and locked rows.
    contestant
        The unfitted learner.
    classes
        Labels of the classes; none where the target is a number.
    as_array
        Whether the runs of the study gave the learner numbers without names.
    """

    study: Study
    planned: PlannedData
    contestant: Contestant
    classes: list[Any]
    as_array: bool

    @cached_property
    def development_rows(self) -> NDArray[np.intp]:
        """Training and validation rows: all that are not locked away."""
        return np.setdiff1d(np.arange(len(self.planned.targets)), self.planned.locked)

    def fit(self, estimator: Any, rows: NDArray[np.intp]) -> Any:
        """Return a learner fitted to some rows, with their groups and weights."""
        groups, weights = self.planned.groups, self.planned.weights
        return fit_learner(
            estimator,
            self.inputs(rows),
            self.planned.targets[rows],
            groups=None if groups is None else groups[rows],
            weights=None if weights is None else weights[rows],
        )

    def inputs(self, rows: NDArray[np.intp]) -> Any:
        """Return some rows in the form in which the learner was given them in the study."""
        numbers = self.planned.numbers if self.as_array else None
        return self.planned.inputs.iloc[rows] if numbers is None else numbers[rows]


def refuse_other_tasks(results: "Results") -> None:
    """Raise for a study that predicts nothing, of which no model that predicts can be made.

    Parameters
    ----------
    results
        The study.
    """
    if any(isinstance(table.get("target"), list) for table in results.description["data"]):
        raise DataError(
            f"store: {results.path} has a study of several outputs, and a final model predicts one "
            "target; finalise a study of each."
        )
    task = results.description.get("task")
    if task is not None:
        how = (
            "train the agent that it recommends with verulam.reinforcement.train"
            if task == "control"
            else "fit the learner that it recommends to all rows"
        )
        raise DataError(
            f"store: {results.path} has a study of {task}, and a final model predicts a target; "
            f"{how}."
        )


def data_label(results: Results, data: str | None) -> str:
    """Return the data set that is meant, or say which ones there are.

    Parameters
    ----------
    results
        The study.
    data
        Label of a data set; None where there is but one.
    """
    labels = [known.label for known in results.data_keys()]
    if data is None:
        if len(labels) > 1:
            raise DataError(
                f"data: the study has {len(labels)} data sets, name one of {', '.join(labels)}."
            )
        return str(labels[0])
    if data not in labels:
        raise unknown_name("data set", data, labels)
    return data


def select_contestant(
    analysis: Analysis, data: str, learner: str | None = None
) -> StoredContestant:
    """Return the contestant that a word stands for.

    Parameters
    ----------
    analysis
        What the study found.
    data
        Label of the data set.
    learner
        "best" for the best mean response on the data set, "recommended" for the one that the
        answer of the study recommends, the name of a contestant, or that of a learner, whose best
        setting is taken. None takes the recommended one; where there is none for all data sets,
        the choice on this one.
    """
    contestants = {contestant.name: contestant for contestant in analysis.responses.contestants}
    table = analysis.tables[data].dropna(subset=["mean"])
    if table.empty:
        raise DataError(f"No run on {data} has finished, so that there is nothing to finalise.")
    if learner is None:
        evidence = analysis.evidence.get(data)
        learner = "best" if evidence is None else evidence.selection.name
        if analysis.recommended in table.index:
            learner = str(analysis.recommended)
    if learner == "recommended":
        if analysis.recommended is None:
            raise DataError("learner: the study recommends none; name one, or take 'best'.")
        return contestants[analysis.recommended]
    if learner in contestants:
        return contestants[learner]
    names = list(table.index)
    if learner != "best":
        spellings = {learner, full_name(learner), spoken_name(full_name(learner))}
        names = [name for name in table.index if contestants[name].learner in spellings]
        if not names:
            known = [*contestants, *{contestant.learner for contestant in contestants.values()}]
            raise unknown_name("learner", learner, ["best", "recommended", *dict.fromkeys(known)])
    means = table.loc[names, "mean"]
    # Means over fewer splits than those of the others are compared only where there are no others.
    complete = means[table.loc[names, "failed"] == 0]
    means = means if complete.empty else complete
    return contestants[
        str(means.idxmax() if analysis.measure.greater_is_better else means.idxmin())
    ]


def reason_for(analysis: Analysis, data: str, name: str, learner: str | None) -> str:
    """Return why a contestant is the one that a study ends in, in words.

    Parameters
    ----------
    analysis
        What the study found.
    data
        Label of the data set.
    name
        Name of the contestant.
    learner
        What was asked for, as `select_contestant` takes it.
    """
    means = analysis.tables[data]["mean"]
    best = select_contestant(analysis, data, "best").name
    if (evidence := analysis.evidence.get(data)) is not None:
        # As the report has them: of all rows together, where the measure is no mean of splits.
        means = evidence.table["estimate"].reindex(means.index).fillna(means)
    lead = f"the best mean {measure_words(analysis.measure)} ({number_text(means[best])})"
    recommended = analysis.recommended
    advice = "" if recommended is None else f"the study recommends {spoken_name(recommended)}"
    if learner is None or learner == "recommended":
        words = "recommended by the study" if name == recommended else f"the choice on {data}"
        if name == best:
            return f"{words}, and with {lead}"
        return (
            f"{words}: simpler, and as good as the best for all that is known; "
            f"{spoken_name(best)} has {lead}, this one {number_text(means[name])}"
        )
    words = f"it has {lead}" if learner == "best" else "named by whoever made the model"
    if name == recommended:
        return f"{words}, and the study recommends it" if learner == "best" else words
    return f"{words}; {advice or 'the study recommends none'}"


def rebuild(
    results: Results,
    data: str,
    contestant: StoredContestant,
    *,
    study: Study | None = None,
    source: Any = None,
) -> Rebuilt:
    """Build a contestant and its data set once more, and check that they are the same as before.

    Parameters
    ----------
    results
        The study.
    data
        Label of the data set.
    contestant
        The contestant.
    study
        The study itself, where the store cannot tell: learners given as objects.
    source
        The data, where they are not found where they were.
    """
    _, place, key = next(known for known in results.data_keys() if known.label == data)
    known_runs = results.run_ids(place)
    asked = study or _study_from(results.description, contestant)
    choice = asked.data[place]
    location = _present_location(choice.source if source is None else source, results.path)
    opened = _opened(location, choice)
    plan = make_plan(replace(asked, data=[replace(choice, source=opened, label=data)]), part=True)
    planned = plan.data[0]
    if planned.key != key:
        raise DataError(
            f"data: {data} is not what it was when the study was run, or the columns that are used "
            "of it have changed with this version. Run the study again, or say where the unchanged "
            "data are (source)."
        )
    rebuilt = next(
        (
            candidate
            for candidate in plan.contestants[0]
            if candidate.label == contestant.learner
            and _same_setting(candidate.setting, contestant.levels)
        ),
        None,
    )
    # Later repeats may not have been needed.
    first = resampling(asked.resampling).repeats
    ids = {
        run.run_id
        for run in plan.runs
        if plan.contestants[0][run.contestant] is rebuilt and run.split.repeat < first
    }
    if rebuilt is None or not ids <= known_runs:
        raise DataError(
            f"learner: {contestant.name} cannot be built again as it was when the study was run; "
            "pass study=, the study itself, or run the study again with the versions of today."
        )
    labels = np.unique(planned.targets).tolist() if planned.task == "classification" else []
    as_array = planned.numbers is not None and not rebuilt.uses_names
    return Rebuilt(asked, planned, rebuilt, labels, as_array)


def _opened(source: Any, choice: DataChoice) -> Dataset:
    try:
        return open_choice(replace(choice, source=source))
    except (DataError, UnknownNameError, OSError) as error:
        raise DataError(
            f"data: {source} cannot be opened again; say where it is (source). {error}"
        ) from error


def _study_from(description: Mapping[str, Any], contestant: StoredContestant) -> Study:
    """Return the study that a store describes, as far as one contestant needs it."""
    content = _without_none(description)
    for described in content["learners"]:
        if not isinstance(described["name"], str):
            raise DataError(
                f"learner: {contestant.name} is one of a study whose learners were given as "
                "objects; pass study=, the study itself."
            )
    return parse_study(content)


def _without_none(value: Any) -> Any:
    """Return described values without those that were not given."""
    if isinstance(value, Mapping):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value


def _present_location(source: Any, store: Path) -> Any:
    """Return where the data are: where they were, or beside the store."""
    if isinstance(source, str | Path) and not Path(source).exists():
        # A study is often moved as a folder, with its data.
        beside = store.parent / Path(source).name
        if beside.is_file():
            return str(beside)
    return source


def _same_setting(setting: Mapping[str, Any], levels: Mapping[str, Any]) -> bool:
    return {name: str(level) for name, level in setting.items()} == {
        name: str(level) for name, level in levels.items()
    }

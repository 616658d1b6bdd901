"""Results of a study, read from its store: any measure, any time, with no refitting."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from verulam.base import DataError
from verulam.experiment._plan.row_columns import NuisanceColumn
from verulam.experiment._resampling.resampling import drawn_title, resampling
from verulam.experiment._store.damage import (
    damage_words,
    damaged_arrays,
    stored_array,
    stored_json,
)
from verulam.experiment._store.scoring import Scorer, bootstrap_errors, planned_runs
from verulam.experiment._store.store import Store
from verulam.experiment._study.budget import budget
from verulam.experiment._study.cost_matrix import study_measure
from verulam.experiment._study.notebook import results_html
from verulam.experiment._study.study import COST_RESPONSES
from verulam.experiment._tasks.tasks import TASKS
from verulam.experiment._text import counted
from verulam.measures import Measure

DEFAULT_MEASURES = {
    "classification": "error",
    "regression": "root_mean_squared_error",
    **{name: task.measure for name, task in TASKS.items()},
}

_TUNING_COLUMNS = [
    "data", "learner", "setting", "repeat", "fold", "share", "chosen", "score",
    "tuning_measure", "settings", "fits", "seconds", "trials",
]  # fmt: skip
_TUNINGS = """
SELECT p.label AS data, p.learner, p.setting, s.repeat, s.fold, p.share, t.chosen, t.score,
       t.measure AS tuning_measure, t.settings, t.fits, t.seconds, t.trials
FROM planned p JOIN splits s ON s.split = p.split JOIN tunings t ON t.run = p.run
JOIN runs r ON r.run = p.run WHERE p.study = ? AND r.status = 'done'
ORDER BY p.place, p.learner, p.setting, p.share, s.repeat, s.fold
"""
_UNREPEATABLE = """
SELECT p.label AS data, p.learner, p.setting, c.difference FROM planned p JOIN checks c USING (run)
WHERE p.study = ? AND c.difference != '' ORDER BY p.learner, p.setting
"""
_FOLDS = """
SELECT p.label, d.task, count(DISTINCT s.fold), count(DISTINCT s.repeat) FROM (
    SELECT DISTINCT label, place, data, split FROM planned WHERE study = ?) p
JOIN splits s ON s.split = p.split JOIN data d ON d.data = p.data
GROUP BY p.label ORDER BY min(p.place)
"""
_NOTICES = "SELECT notice FROM notices WHERE study = ? ORDER BY place"
_DATA_KEYS = "SELECT DISTINCT label, place, data FROM planned WHERE study = ? ORDER BY place"
_DATA_SETS = """
SELECT p.label, d.task, d.target, d.n_rows, d.n_columns, d.classes
FROM (SELECT DISTINCT label, place, data FROM planned WHERE study = ?) p
JOIN data d ON d.data = p.data ORDER BY p.place
"""
_RUN_IDS = "SELECT DISTINCT run FROM planned WHERE study = ? AND place = coalesce(?, place)"
_PREPARATIONS = """
SELECT DISTINCT preparation, learner FROM planned WHERE study = ? ORDER BY place, learner
"""
#: The sign keeps SQLite from looking each run up by its key, which takes longer than one pass.
_ENVIRONMENTS = """
SELECT content FROM environments WHERE environment IN (
    SELECT DISTINCT environment FROM runs
    WHERE +run IN (SELECT run FROM planned WHERE study = ?))
"""
_NUISANCE = """
SELECT n.name, n.levels, n.codes FROM nuisance n
JOIN (SELECT DISTINCT data FROM planned WHERE study = ? AND label = ?) p ON p.data = n.data
"""
_TASKS = """
SELECT d.task FROM planned p JOIN data d ON d.data = p.data WHERE p.study = ?
GROUP BY d.task ORDER BY min(p.place)
"""


class DataKey(NamedTuple):
    """A data set of a study: its label, its place in the study, and its key in the store."""

    label: str
    place: int
    key: str


class Results:
    """What a study found, as far as it has been carried out.

    Parameters
    ----------
    path
        The store.
    study
        Key of the study; None takes the one that was carried out last.
    measures
        The responses of the study, where they are not all known by name; None looks up the
        names that the store has.
    changes
        What changed in the study since it was carried out before, in words.

    Examples
    --------
    >>> import tempfile
    >>> from verulam.experiment import DataChoice, LearnerChoice, Study, run
    >>> learners = [LearnerChoice("majority class"), LearnerChoice("naive bayes")]
    >>> study = Study("flowers", [DataChoice("iris")], learners, resampling="5-fold")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run(study, f"{folder}/runs.sqlite", engine="serial", progress=False)
    ...     results.scores("error").groupby("learner")["error"].mean().round(3).to_dict()
    {'majority class': 0.667, 'parametric.NaiveBayes': 0.047}
    """

    def __init__(
        self,
        path: str | Path,
        study: str | None = None,
        *,
        measures: Sequence[Measure] | None = None,
        changes: Sequence[str] = (),
    ) -> None:
        self.path = Path(path)
        with Store(self.path, read_only=True) as store:
            studies = store.studies()
            if studies.empty:
                if runs := _finished(store):
                    raise _lost(self.path, runs)
                raise DataError(f"The store {self.path} has no study.")
            if study is not None:
                studies = studies[studies["study"] == study]
                if studies.empty:
                    raise DataError(f"The store {self.path} has no study {study}.")
            self.study = str(studies["study"].iloc[-1])
            if not store.has_whole_plan(self.study):
                raise _lost(self.path, _finished(store))
        text = studies["content"].iloc[-1]
        self.description: dict[str, Any] = stored_json(self.path, text, "the text of the study")
        self.changes = tuple(changes)
        self._measure_objects = tuple(measures or ())

    def status(self) -> dict[str, int]:
        """Return how many runs are done, failed, timed out, killed or left."""
        with Store(self.path, read_only=True) as store:
            return store.status_counts(self.study)

    @property
    def left_out(self) -> str:
        """What the budget of the study left out, in words; empty where nothing was."""
        limits = budget(self.description.get("budget"))
        left = 0 if limits is None else self.status().get("left", 0)
        if limits is None or not left:
            return ""
        words = f"The budget of {limits.title} left out {counted(left, 'run')}"
        return f"{words}; raise it to carry {'it' if left == 1 else 'them'} out."

    def damage(self) -> str:
        """Return what is wrong with the file of the store, in words; empty for nothing."""
        with Store(self.path, read_only=True) as store:
            verdict = str(next(store.rows("PRAGMA quick_check(1)"))[0])
            words = " ".join(verdict.split()).removeprefix("*** in database main *** ")
            words = damaged_arrays(store) if verdict == "ok" else words
        return f"{damage_words(self.path, words)}." if words else ""

    @cached_property
    def design(self) -> str:
        """How the splits were drawn, in words."""
        rows = self._rows(_FOLDS)
        folds = {label: count for label, _, count, _ in rows}
        repeats = {label: count for label, *_, count in rows}
        asked = resampling(self.description["resampling"])
        open_still = asked.max_repeats is not None and self.status().get("left", 0) > 0
        tasks = [task for _, task, *_ in rows]
        if open_still and self.left_out:
            # Repeats that the budget did not pay for are planned, but never begun.
            runs = self.runs()
            counts = runs[runs["status"] != "left"].groupby("data")["repeat"].nunique()
            begun = {str(label): int(count) for label, count in counts.items()}
            return f"{drawn_title(asked, folds, tasks, begun)}, when the budget was spent"
        return drawn_title(asked, folds, tasks, None if open_still else repeats)

    @cached_property
    def notices(self) -> tuple[str, ...]:
        """What had to be done otherwise than the study asked for."""
        with Store(self.path, read_only=True) as store:
            if not store.has_table("notices"):  # older than they are
                return ()
            return tuple(notice for (notice,) in store.rows(_NOTICES, (self.study,)))

    def runs(self) -> pd.DataFrame:
        """Return one row per planned run: what it was, how it ended, what it cost."""
        with Store(self.path, read_only=True) as store:
            return planned_runs(store, self.study)

    def failures(self) -> pd.DataFrame:
        """Return the runs that did not succeed, with stage and error."""
        columns = ["data", "learner", "setting", "repeat", "fold", "status", "stage", "error"]
        with Store(self.path, read_only=True) as store:
            if not any(store.rows("SELECT 1 FROM runs WHERE status != 'done' LIMIT 1")):
                return pd.DataFrame(columns=columns)
        runs = self.runs()
        unsuccessful = ~runs["status"].isin(["done", "left"])
        return runs.loc[unsuccessful, columns].reset_index(drop=True)

    def run_ids(self, place: int | None = None) -> set[str]:
        """Return the identities of the planned runs, of all data sets or of one by its place."""
        return {run for (run,) in self._rows(_RUN_IDS, place)}

    def data_keys(self) -> list[DataKey]:
        """Return label, place and key of each data set, in the order of the study."""
        return [DataKey(*row) for row in self._rows(_DATA_KEYS)]

    def data_sets(self) -> pd.DataFrame:
        """Return one row per data set: label, task, target, size and classes."""
        with Store(self.path, read_only=True) as store:
            table = store.read(_DATA_SETS, (self.study,))
        stored = [stored_json(self.path, text, "names of classes") for text in table["classes"]]
        classes = [[str(label) for label in labels] for labels in stored]
        return table.assign(classes=pd.Series(classes, table.index, dtype=object))

    def nuisance_columns(self, data: str) -> list[NuisanceColumn]:
        """Return the nuisance factors that are columns of a data set, named by its label."""
        with Store(self.path, read_only=True) as store:
            if not store.has_table("nuisance"):
                return []
            return [
                NuisanceColumn(
                    name,
                    tuple(stored_json(self.path, levels, f"the levels of {name}")),
                    stored_array(store, codes, f"the values of {name}"),
                )
                for name, levels, codes in store.rows(_NUISANCE, (self.study, data))
            ]

    def preparations(self) -> dict[str, list[str]]:
        """Return what was done to the columns first, in words, and for which learners."""
        learners: dict[str, dict[str, None]] = {}
        for words, learner in self._rows(_PREPARATIONS):
            learners.setdefault(words, {})[learner] = None
        return {words: list(names) for words, names in learners.items()}

    def environments(self) -> list[dict[str, Any]]:
        """Return where the runs were made: system and versions of packages, each once."""
        rows = self._rows(_ENVIRONMENTS)
        return [stored_json(self.path, text, "versions of packages") for (text,) in rows]

    def unrepeatable(self) -> pd.DataFrame:
        """Return the runs that were carried out twice with the same seed, and ended otherwise."""
        with Store(self.path, read_only=True) as store:
            if not store.has_table("checks"):
                return pd.DataFrame(columns=["data", "learner", "setting", "difference"])
            return store.read(_UNREPEATABLE, (self.study,))

    def tuning(self) -> pd.DataFrame:
        """Return what each finished run of a tuned learner chose, and what the search took.

        `score` is the mean of `tuning_measure` over the inner folds, `trials` every setting that
        was tried, with its share of the rows and its score.
        """
        with Store(self.path, read_only=True) as store:
            if not store.has_table("tunings"):
                return pd.DataFrame(columns=_TUNING_COLUMNS)
            table = store.read(_TUNINGS, (self.study,))
        for column in ("chosen", "trials"):
            table[column] = [
                stored_json(self.path, text, "what was tuned") for text in table[column]
            ]
        return table

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The responses of the study, the one that decides first."""
        if self._measure_objects:
            return self._measure_objects
        names = self.description["measures"]
        if not names:
            names = [DEFAULT_MEASURES[task] for (task,) in self._rows(_TASKS)]
        return tuple(self._measure(name) for name in names)

    def _measure(self, measure: Any) -> Measure:
        study = self.description
        return study_measure(measure, study.get("losses"), study.get("reject_cost"))

    def scores(self, measures: Any = None, *, runs: pd.DataFrame | None = None) -> pd.DataFrame:
        """Return the scores of all finished runs, one column per measure.

        Parameters
        ----------
        measures
            A measure or several, by name or as objects; None takes those of the study. A
            measure that a learner's predictions do not allow gives NaN.
        runs
            What `runs` returned, where it is known already.
        """
        resolved = self.resolve(measures)
        with Store(self.path, read_only=True) as store:
            runs = planned_runs(store, self.study) if runs is None else runs
            # A measure may be called error, as the column of error messages is.
            runs = runs[runs["status"] == "done"].drop(columns=["status", "stage", "error"])
            runs = runs.reset_index(drop=True)
            scorer = Scorer(store)
            for measure in resolved:
                runs[measure.name] = runs["run"].map(scorer.score(self.study, measure))
        return runs

    @property
    def response(self) -> tuple[str, ...]:
        """What is judged together: names of measures and of costs, at least one."""
        names = self.description.get("response") or [self.measures[0].name]
        return tuple(names)

    def response_scores(self) -> pd.DataFrame:
        """Return the response of all finished runs, one column for each of its parts."""
        by_name = {measure.name: measure for measure in self.measures}
        parts = [by_name[name] for name in self.response if name not in COST_RESPONSES]
        scores = self.scores(parts)
        costs = [name for name in self.response if name in COST_RESPONSES]
        return scores.assign(**{name: scores[COST_RESPONSES[name]] for name in costs})

    def resolve(self, measures: Any = None) -> Sequence[Measure]:
        """Return measures by whatever they are given; None stands for those of the study."""
        if measures is None:
            return self.measures
        if isinstance(measures, str | Measure) or callable(measures):
            measures = [measures]
        return [self._measure(measure) for measure in measures]

    def bootstrap_errors(self, measure: Any = None) -> pd.DataFrame:
        """Return the .632 and .632+ estimates of a study that was resampled by "bootstrap".

        One row per data set and contestant: the mean over the learners' own samples
        (`training`), over the rows that they had not drawn (`out_of_bag`), what predictions
        without information would have (`no_information`), the relative `overfitting`, and the
        estimates between them, as :func:`verulam.statistics.bootstrap_error` makes them.

        Parameters
        ----------
        measure
            A measure that is a mean over rows, by name or as an object; None takes the first of
            the study.

        Notes
        -----
        No learner is fitted for it: in place of one more, fitted to all rows, the training
        error is that of the learners on their own samples.
        """
        (resolved,) = self.resolve(measure)[:1]
        kind = resampling(self.description["resampling"]).kind
        with Store(self.path, read_only=True) as store:
            return bootstrap_errors(store, self.study, kind, resolved)

    def _rows(self, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """Return what a query about this study gives."""
        with Store(self.path, read_only=True) as store:
            return list(store.rows(query, (self.study, *parameters)))

    def _repr_html_(self) -> str:
        return results_html(self)

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {status}" for status, count in self.status().items())
        return f"{self.description['name']}: {counts} ({self.path})"

    __repr__ = __str__


def _finished(store: Store) -> int:
    return int(next(store.rows("SELECT count(*) FROM runs"))[0])


def _lost(path: Path, runs: int) -> DataError:
    return DataError(
        f"The plan of the study in {path} was lost, as it may be in a store that was recovered: "
        f"run the study file once with this store (verulam run STUDY --store {path}), which writes "
        f"the plan anew; the {counted(runs, 'run')} in it are kept, and none of them is refitted."
    )

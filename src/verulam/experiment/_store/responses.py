"""Who took part in a study and what was measured, read back from its store."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from sklearn.utils import get_tags

from verulam.base import DataError
from verulam.catalogue import entry
from verulam.experiment._store.damage import stored_array, stored_json
from verulam.experiment._store.store import Store
from verulam.experiment._study.choices import learner_label

if TYPE_CHECKING:
    from verulam.experiment._store.results import Results
    from verulam.measures import Measure

#: The agent that learns nothing.
RANDOM_AGENT = "verulam.reinforcement.RandomAgent"
_CONTESTANTS = "SELECT DISTINCT learner, setting, levels FROM planned WHERE study = ?"
_DATA = "SELECT label FROM planned WHERE study = ? GROUP BY label ORDER BY min(place)"
_SIZES = """
SELECT p.label, s.split, s.train_rows, s.test
FROM (SELECT DISTINCT label, split FROM planned WHERE study = ?) p
JOIN splits s ON s.split = p.split
"""


@dataclass(frozen=True)
class StoredContestant:
    """A learner with one setting of its factors, as a store knows it.

    Attributes
    ----------
    name
        Learner and setting.
    learner, setting
        The parts of the name.
    levels
        Level of each factor.
    baseline
        Whether it ignores the inputs, such as the majority class.
    """

    name: str
    learner: str
    setting: str
    levels: Mapping[str, Any]
    baseline: bool


@dataclass(frozen=True, eq=False)
class Responses:
    """The scores of a study by data set, split and contestant.

    Attributes
    ----------
    contestants
        Baselines, then the order of the study.
    data
        Labels of the data sets.
    measure
        What the scores measure.
    scores
        One row per finished run.
    runs
        One row per planned run.
    test_shares
        For each data set the mean share of the validation rows in a split.
    training_rows
        For each data set the mean number of rows that a split gives to learn from.
    """

    contestants: tuple[StoredContestant, ...]
    data: tuple[str, ...]
    measure: "Measure"
    scores: pd.DataFrame
    runs: pd.DataFrame
    test_shares: Mapping[str, float]
    training_rows: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def names(self) -> list[str]:
        """Names of the contestants, baselines first."""
        return [contestant.name for contestant in self.contestants]

    @cached_property
    def learners(self) -> list[str]:
        """The learners, whatever their settings, in the order of the contestants."""
        return list(dict.fromkeys(contestant.learner for contestant in self.contestants))

    def settings_of(self, learner: str) -> list[StoredContestant]:
        """Return the contestants that are settings of one learner."""
        return [contestant for contestant in self.contestants if contestant.learner == learner]

    @cached_property
    def full(self) -> pd.DataFrame:
        """The scores with the largest training share that each contestant was planned with."""
        return self.scores[at_largest_share(self.scores, self.runs)]

    @cached_property
    def full_runs(self) -> pd.DataFrame:
        """The planned runs with the largest training share of their contestant."""
        return self.runs[at_largest_share(self.runs, self.runs)]

    @cached_property
    def shared_out(self) -> pd.DataFrame:
        """The scores of contestants that learnt from several shares of the training rows."""
        # Planned shares, not finished ones: a curve is one before all of its points are there.
        counts = self.runs.groupby("contestant", observed=True)["share"].nunique()
        return self.scores[self.scores["contestant"].astype(object).map(counts) > 1]

    def by_split(self, data: str) -> pd.DataFrame:
        """Return the scores on one data set: a row per split, a column per contestant."""
        if data not in self._tables:
            scores = self.full[self.full["data"] == data]
            table = scores.pivot_table(
                index=["repeat", "fold"], columns="contestant", values="score", observed=True
            )
            present = [name for name in self.names if name in table.columns]
            # Plain names, since those of a category cannot be joined by others.
            self._tables[data] = table[present].set_axis(
                pd.Index(present, name="contestant"), axis=1
            )
        return self._tables[data]

    @cached_property
    def _tables(self) -> dict[str, pd.DataFrame]:
        return {}

    def first_repeats(self, count: int) -> "Responses":
        """Return what was known after so many repeats."""
        return replace(
            self,
            scores=self.scores[self.scores["repeat"] < count],
            runs=self.runs[self.runs["repeat"] < count],
        )

    def with_failures(self, data: str) -> set[str]:
        """Return the contestants of which some run on a data set did not succeed."""
        unsuccessful = (self.runs["data"] == data) & ~self.runs["status"].isin(["done", "left"])
        unsuccessful &= at_largest_share(self.runs, self.runs)
        return set(self.runs.loc[unsuccessful, "contestant"].astype(str))

    def by_data(self) -> pd.DataFrame:
        """Return the mean scores: a row per data set, a column per contestant."""
        means = self.full.pivot_table(
            index="data", columns="contestant", values="score", observed=True
        )
        present = [name for name in self.names if name in means.columns]
        labels = pd.Index(list(self.data), name="data")
        return means[present].set_axis(pd.Index(present, name="contestant"), axis=1).reindex(labels)


def responses(results: "Results", measure: Any = None) -> Responses:
    """Return what a study measured.

    Parameters
    ----------
    results
        The study.
    measure
        A measure, by name or as an object; None takes the first of the study.
    """
    resolved = results.resolve(measure)[0]
    runs = results.runs()
    scores = results.scores(resolved, runs=runs)
    with Store(results.path, read_only=True) as store:
        rows = store.read(_CONTESTANTS, (results.study,))
        data = store.read(_DATA, (results.study,))["label"].tolist()
        sizes = store.read(_SIZES, (results.study,))
        sizes["test_rows"] = [
            stored_array(store, test, f"rows of split {split}").size
            for split, test in zip(sizes["split"], sizes["test"], strict=True)
        ]
    rows["levels"] = [
        stored_json(results.path, text, "the levels of the plan") for text in rows["levels"]
    ]
    contestants = _in_order(rows, results.description["learners"])
    # A type of their own, which a table without rows does not have.
    scores = scores.rename(columns={resolved.name: "score"}).astype({"score": np.float64})
    if len(scores) and scores["score"].isna().all():
        raise DataError(
            f"measure: {resolved.name!r} cannot be computed from the stored predictions; it is for "
            f"{resolved.task} and needs {resolved.needs}."
        )
    return Responses(
        contestants,
        tuple(data),
        resolved,
        _with_names(scores[scores["score"].notna()]),
        _with_names(runs),
        _test_shares(sizes),
        {
            str(label): float(rows)
            for label, rows in sizes.groupby("label")["train_rows"].mean().items()
        },
    )


def at_largest_share(table: pd.DataFrame, runs: pd.DataFrame) -> pd.Series:
    """Return which rows have the largest share of the training rows that their contestant has.

    Parameters
    ----------
    table
        Some runs, with their contestants.
    runs
        All planned runs.
    """
    largest = runs.groupby("contestant", observed=True)["share"].max()
    return table["share"] == table["contestant"].astype(object).map(largest)


def contestant_name(learner: str, setting: str) -> str:
    """Return what a learner with a setting is called."""
    return f"{learner} ({setting})" if setting else learner


def _with_names(runs: pd.DataFrame) -> pd.DataFrame:
    """Return runs with the names of their contestants, as categories, which group quickly."""
    pairs = zip(runs["learner"], runs["setting"], strict=True)
    names = pd.Categorical([contestant_name(*pair) for pair in pairs])
    return runs.assign(contestant=names, data=pd.Categorical(runs["data"]))


def _in_order(rows: pd.DataFrame, learners: Sequence[Any]) -> tuple[StoredContestant, ...]:
    known = {learner_label(learner): (place, learner) for place, learner in enumerate(learners)}
    placed = []
    for row in rows.itertuples(index=False):
        levels: dict[str, Any] = cast("dict[str, Any]", row.levels)
        place, learner = known.get(str(row.learner), (len(known), {"name": "", "factors": {}}))
        steps = [_place(levels.get(name), learner["factors"][name]) for name in learner["factors"]]
        baseline = is_baseline(learner["name"])
        name = contestant_name(str(row.learner), str(row.setting))
        contestant = StoredContestant(name, str(row.learner), str(row.setting), levels, baseline)
        placed.append(((not baseline, place, steps, name), contestant))
    return tuple(contestant for _, contestant in sorted(placed, key=lambda pair: pair[0]))


def _place(level: Any, levels: Any) -> tuple[int, float]:
    """Return where a level stands: in its list, or in a range, by its size."""
    if isinstance(levels, list):
        return levels.index(level) if level in levels else len(levels), 0.0
    number = isinstance(level, int | float)
    return int(not number), float(level) if number else 0.0


def is_baseline(name: Any) -> bool:
    """Return whether a described learner ignores the inputs.

    Parameters
    ----------
    name
        Name in the catalogue, or the description of an estimator.
    """
    if not name:
        return False
    if not isinstance(name, str):
        path = str(name["class"])
        return path.startswith("sklearn.dummy.") or path == RANDOM_AGENT
    known = entry(name)
    return known.path == RANDOM_AGENT or bool(get_tags(known.example()).no_validation)


def _test_shares(sizes: pd.DataFrame) -> dict[str, float]:
    means = sizes.groupby("label")[["train_rows", "test_rows"]].mean()
    shares = means["test_rows"] / means.sum(axis=1)
    return {str(label): float(share) for label, share in shares.items()}

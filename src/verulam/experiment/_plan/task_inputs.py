"""What contestants of a task beyond prediction are given: worlds, scaled numbers, or categories."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from verulam.base import Abilities, DataError, abilities, is_categorical
from verulam.catalogue import entry, learners
from verulam.data import Dataset
from verulam.experiment._preparation.preparation import usable_inputs
from verulam.experiment._resampling.resampling import resampling
from verulam.experiment._study.choices import DataChoice, LearnerChoice
from verulam.experiment._study.data_source import open_data
from verulam.experiment._tasks.environments import EnvironmentChoice, World, open_world
from verulam.experiment._tasks.tasks import DENSITY, TASKS
from verulam.experiment._text import counted, listed

if TYPE_CHECKING:
    from verulam.experiment._study.study import Study

#: Fewest rows that can be cut into parts to fit and to judge by.
FEWEST_ROWS = 4
#: Bins of about equal weight that numbers are cut into, where probabilities of categories compete.
N_BINS = 5


@dataclass(frozen=True, eq=False)
class TaskInputs:
    """The data of a task that predicts nothing.

    Attributes
    ----------
    data
        The data set, or the world.
    inputs
        What learners see: columns of numbers on one scale, or of categories alone; no columns where
        agents act.
    notices
        What had to be done otherwise than asked for.
    groups
        The group of each row; None where there are none.
    """

    data: Dataset | World
    inputs: pd.DataFrame
    notices: tuple[str, ...] = ()
    groups: np.ndarray | None = None


def task_inputs(study: "Study", choice: DataChoice | EnvironmentChoice) -> TaskInputs:
    """Return what the contestants of a study are given.

    Parameters
    ----------
    study
        The study.
    choice
        One of its data sets, or environments.

    Notes
    -----
    All densities of a study are of one sample space, or their log-likelihoods could not be
    compared: numbers on one scale, or, for densities that take categories, categories, among them
    the bins of numbers. Rows with gaps stay where every density sums over what is missing.
    """
    if isinstance(choice, EnvironmentChoice):
        # Seeds stand where rows do: each is tested once by every agent.
        n_seeds = resampling(study.resampling).n_splits(0)
        return TaskInputs(open_world(choice), pd.DataFrame(index=range(n_seeds)))
    data = open_data(choice.source, target=choice.target, leave_out=choice.leave_out)
    column = choice.groups or resampling(study.resampling).groups
    if column is not None and column not in data.table:
        raise DataError(f"groups: data set {data.name!r} has no column {column!r}.")
    inputs, notices = usable_inputs(
        data.inputs.drop(columns=[column] if column else [], errors="ignore"), choice.keep
    )
    of_categories = study.task == DENSITY and _take_categories(study)
    table = _categories(inputs) if of_categories else _numbers(inputs)
    sum_over_gaps = study.task == DENSITY and all(able.missing for _, able in _contestants(study))
    present = table.notna().to_numpy()
    usable = present.any(axis=1) if sum_over_gaps else present.all(axis=1)
    if usable.sum() < FEWEST_ROWS:
        raise DataError(
            f"data set {data.name!r} has {counted(int(usable.sum()), 'row')} "
            f"{'with values' if sum_over_gaps else 'without gaps'}; at least {FEWEST_ROWS} "
            f"are needed for {study.task}."
        )
    places = np.flatnonzero(usable)
    groups = None if column is None else pd.factorize(data.table[column].iloc[places])[0]
    # A column may be constant in the rows that are left.
    rows = _varying(table.iloc[places].reset_index(drop=True))
    about = [
        _omission(inputs, rows, of_categories),
        _gap_words(rows, len(table)),
        _target_words(data),
    ]
    shown = rows if of_categories else _scaled(rows)
    return TaskInputs(data, shown, (*notices, *filter(None, about)), groups)


def usual_learners(task: str, choice: DataChoice) -> Mapping[str, Mapping[str, Any]]:
    """Return who is compared where nobody is named, and the factors that are varied of each.

    Parameters
    ----------
    task
        "density" or "clustering".
    choice
        The data set; where half of its inputs are categories, densities that take them are meant.
    """
    usual = TASKS[task]
    if not usual.learners_of_categories:
        return usual.learners
    data = open_data(choice.source, target=choice.target, leave_out=choice.leave_out)
    inputs, _ = usable_inputs(data.inputs, choice.keep)
    words = [name for name in inputs if is_categorical(inputs[name])]
    numbers = inputs.select_dtypes("number").columns
    mostly = words and len(words) >= len(numbers)
    return usual.learners_of_categories if mostly else usual.learners


def _contestants(study: "Study") -> list[tuple[str, Abilities]]:
    """Return what each learner of a study is called, and what it can."""
    return [_contestant(choice) for choice in study.learners]


def _contestant(choice: LearnerChoice) -> tuple[str, Abilities]:
    if isinstance(choice.learner, str):
        known = entry(choice.learner)
        return choice.label or known.name, known.abilities
    return choice.label or type(choice.learner).__name__, abilities(choice.learner)


def _take_categories(study: "Study") -> bool:
    """Return whether the densities of a study are of categories, and refuse two kinds of them."""
    contestants = _contestants(study)
    able = [name for name, ability in contestants if ability.categorical]
    others = [name for name, ability in contestants if not ability.categorical]
    if able and others:
        raise DataError(
            f"learners: {listed(able)} {'gives' if len(able) == 1 else 'give'} probabilities of "
            f"categories, {listed(others)} densities of numbers, which cannot be compared; take "
            "one kind of them."
        )
    return bool(able)


def _numbers(inputs: pd.DataFrame) -> pd.DataFrame:
    """Return the columns of numbers that vary; what is infinite is missing."""
    numbers = inputs.select_dtypes("number").astype(np.float64)
    numbers = _varying(numbers.replace([np.inf, -np.inf], np.nan))
    if numbers.empty:
        able = learners(DENSITY, tags=["categorical"])["name"].tolist()
        raise DataError(
            "the table has no column of numbers that vary, which this task needs; densities of "
            f"categories are {listed(able)}."
        )
    return numbers


def _categories(inputs: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that are categories, or become such: numbers are cut into bins."""
    columns = {
        name: inputs[name] if is_categorical(inputs[name]) else _cut(inputs[name])
        for name in inputs
        if is_categorical(inputs[name]) or pd.api.types.is_numeric_dtype(inputs[name])
    }
    table = _varying(pd.DataFrame(columns))
    if table.empty:
        raise DataError(
            "the table has no column of categories or numbers that vary, which this task needs."
        )
    # Levels that no row has would be given a share of the probability.
    return table.apply(lambda column: column.astype("category").cat.remove_unused_categories())


def _cut(column: pd.Series) -> pd.Series:
    """Return a column of numbers as categories: its values where they are few, else bins."""
    numbers = column.astype(np.float64).replace([np.inf, -np.inf], np.nan)
    if numbers.nunique() <= N_BINS:
        return numbers.astype("category")
    shares = np.arange(1, N_BINS) / N_BINS
    cuts = np.unique(np.quantile(numbers.dropna(), shares, method="inverted_cdf"))
    # One cut for all splits and contestants: it says what there is to give a probability to.
    bins = pd.cut(numbers, [-np.inf, *cuts[cuts < numbers.max()], np.inf])
    return bins.cat.rename_categories(str)


def _varying(table: pd.DataFrame) -> pd.DataFrame:
    return table[[name for name in table if len(table[name].dropna().unique()) > 1]]


def _omission(inputs: pd.DataFrame, rows: pd.DataFrame, of_categories: bool) -> str:
    """Return which columns are no inputs, and which were cut."""
    others = [str(name) for name in inputs if name not in rows]
    kind = "categories or numbers" if of_categories else "numbers"
    words = [f"No {kind} that vary, and left out: {listed(others)}."] if others else []
    cut = [str(name) for name in rows if of_categories and not is_categorical(inputs[name])]
    if cut:
        words.append(
            f"Numbers as categories, cut into bins where they have more than {N_BINS} values: "
            f"{listed(cut)}."
        )
    return " ".join(words)


def _gap_words(rows: pd.DataFrame, n_rows: int) -> str:
    """Return what became of rows with gaps."""
    dropped, gaps = n_rows - len(rows), int(rows.isna().any(axis=1).sum())
    if gaps:
        return f"{counted(gaps, 'row')} with gaps, of {n_rows}: what is missing is summed over."
    return f"{counted(dropped, 'row')} with gaps left out, of {n_rows}." if dropped else ""


def _scaled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return columns with mean 0 and standard deviation 1."""
    # One affine map for all splits moves every log-density by the same amount: differences are
    # those in the units of the table, and no column outweighs another in a distance.
    return (rows - rows.mean()) / rows.std(ddof=0)


def _target_words(data: Any) -> str:
    if data.target is None:
        return ""
    return f"{data.target}, which could be predicted, is no input."

"""What a forest owes to a column: the loss that grows when its values are shuffled."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.ensemble._forest.forest import Forest

#: Takes the values of leaves, and the numbers of their rows; returns the loss of each row.
Losses = Callable[[NDArray[np.float64], NDArray[np.intp]], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class ColumnImportance:
    """By how much the loss grows when a column is shuffled.

    Attributes
    ----------
    names : tuple
        Names of the columns.
    increases : ndarray of shape (n_columns, n_measurements)
        The increase of the mean loss in each tree, or with each shuffle: of the error rate in
        classification, of the squared error in regression.
    """

    names: tuple[Any, ...]
    increases: NDArray[np.float64]

    def __repr__(self) -> str:
        return str(self.to_frame().round(4))

    @property
    def importances_mean(self) -> NDArray[np.float64]:
        """The mean increase of each column."""
        return self.increases.mean(axis=1)

    @property
    def importances_std(self) -> NDArray[np.float64]:
        """The standard deviation of the increases of each column."""
        return self.increases.std(axis=1)

    def to_frame(self) -> pd.DataFrame:
        """Return the columns, the most important first, with the standard errors of the means."""
        errors = self.importances_std / np.sqrt(self.increases.shape[1])
        frame = pd.DataFrame(
            {"importance": self.importances_mean, "standard_error": errors},
            index=pd.Index(self.names, name="column"),
        )
        return frame.sort_values("importance", ascending=False, kind="stable")


def increases_out_of_bag(
    forest: Forest,
    rows: NDArray[np.float64],
    rows_aside: Iterator[NDArray[np.intp]],
    losses: Losses,
    random: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the increase of each tree's loss on its rows aside, for each column."""
    increases = np.zeros((rows.shape[1], len(forest)))
    for number, aside in enumerate(rows_aside):
        if len(aside) == 0:
            continue
        part = rows[aside]
        place = slice(forest.starts[number], forest.starts[number + 1])
        values, steps = forest.values[place], forest.steps[place]
        inner = steps["child"] != np.arange(len(steps))
        before = losses(values[forest.leaves(number, part)], aside).mean()
        # A column that the tree does not look at changes nothing.
        for column in np.unique(steps["column"][inner] >> 1):
            original = part[:, column].copy()
            part[:, column] = random.permutation(original)
            after = losses(values[forest.leaves(number, part)], aside).mean()
            part[:, column] = original
            increases[column, number] = after - before
    return increases


def increases_by_shuffling(
    forest: Forest,
    rows: NDArray[np.float64],
    losses: Losses,
    n_repeats: int,
    random: np.random.Generator,
    n_jobs: int,
) -> NDArray[np.float64]:
    """Return the increase of the forest's loss for each column and shuffle."""
    every, part = np.arange(len(rows)), rows.copy()
    before = losses(forest.average(part, n_jobs), every).mean()
    increases = np.zeros((rows.shape[1], n_repeats))
    for column in range(rows.shape[1]):
        for repeat in range(n_repeats):
            part[:, column] = random.permutation(rows[:, column])
            increases[column, repeat] = losses(forest.average(part, n_jobs), every).mean() - before
        part[:, column] = rows[:, column]
    return increases

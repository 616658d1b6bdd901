"""Loss matrices of actions and classes, and the conditional risks that follow from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError
from verulam.decision._bayes import PerClass, per_class

#: Loss of each action (row) for each class (column): a table, with or without names.
Loss = ArrayLike | pd.DataFrame | Mapping[Any, Mapping[Any, float]]


@dataclass(frozen=True, eq=False)
class LossTable:
    r"""The loss of each action when the truth is each class.

    Attributes
    ----------
    actions
        Names of the rows.
    classes
        Names of the columns.
    matrix
        Loss :math:`\lambda_{ik}` of action i where the truth is class k.
    can_reject
        The last action withholds the decision.
    """

    actions: NDArray[Any]
    classes: NDArray[Any]
    matrix: NDArray[np.float64]
    can_reject: bool = False

    def risks(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected loss of each action, given class probabilities in the last axis."""
        return probabilities @ self.matrix.T

    def best(self, probabilities: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the position of the action of least risk.

        The first of several decisions that tie is taken, but only if it is strictly cheaper
        than to reject.
        """
        risks = self.risks(probabilities)
        choice = np.argmin(risks, axis=-1)
        if self.can_reject:
            # argmin takes the first of equals, but a tie with the last action is a rejection.
            doubtful = risks[..., -1] <= risks[..., :-1].min(axis=-1)
            choice = np.where(doubtful, len(self.actions) - 1, choice)
        return choice

    def to_frame(self) -> pd.DataFrame:
        """Return the table with its names."""
        return pd.DataFrame(self.matrix, index=list(self.actions), columns=list(self.classes))


def loss_table(
    classes: Sequence[Any] | NDArray[Any],
    loss: Loss | None = None,
    *,
    actions: Sequence[Any] | None = None,
    reject_cost: float | PerClass | None = None,
    reject_label: Any = "reject",
) -> LossTable:
    """Return the checked table of losses, the reject action last.

    Parameters
    ----------
    classes
        The classes, in the order of their probabilities.
    loss
        Actions in rows, classes in columns. A pandas table or a dictionary of dictionaries
        (``{action: {class: loss}}``) brings its own names. None is the 0/1 loss.
    actions
        Names of the rows of an array; not needed if the actions are the classes.
    reject_cost
        Loss of withholding a decision: one number, or one per class.
    reject_label
        Name of the reject action.

    Examples
    --------
    >>> loss_table(["healthy", "ill"], reject_cost=0.2).to_frame()
            healthy  ill
    healthy     0.0  1.0
    ill         1.0  0.0
    reject      0.2  0.2
    """
    labels = as_labels(classes)
    if loss is not None:
        matrix, rows = _named_matrix(loss, labels, actions)
    elif actions is None:
        matrix, rows = 1.0 - np.eye(len(labels)), labels
    else:
        raise DataError("actions names the rows of a loss matrix, but loss is None.")
    if reject_cost is not None:
        cost = _reject_row(reject_cost, labels, matrix, loss is None)
        if reject_label in list(rows):
            raise DataError(
                f"reject_label={reject_label!r} is the name of another action: {rows.tolist()}."
            )
        matrix, rows = np.vstack([matrix, cost]), as_labels([*rows.tolist(), reject_label])
    return LossTable(rows, labels, matrix, can_reject=reject_cost is not None)


def as_labels(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Return labels as an array that keeps numbers as numbers beside words."""
    if isinstance(values, np.ndarray):
        return values
    items = list(values)
    if len({isinstance(item, str) for item in items}) == 1:
        return np.asarray(items)
    # NumPy would turn numbers beside words into words.
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _named_matrix(
    loss: Loss, classes: NDArray[Any], actions: Sequence[Any] | None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    if isinstance(loss, Mapping):
        loss = pd.DataFrame({action: dict(row) for action, row in loss.items()}).T
    if isinstance(loss, pd.DataFrame):
        if actions is not None:
            raise DataError("actions is only for a loss without names: this one brings its own.")
        if set(loss.columns) != set(classes):
            raise DataError(
                f"loss must have one column for each of the classes {classes.tolist()}, "
                f"but its columns are {list(loss.columns)}."
            )
        actions = loss.index.tolist()
        # By place, since a list of truth values would choose rows.
        columns = list(loss.columns)
        loss = loss.iloc[:, [columns.index(label) for label in classes.tolist()]].to_numpy()
    matrix = np.asarray(loss, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[1] != len(classes) or len(matrix) < 2:
        raise DataError(
            "loss must have a row per action (two or more) and a column for each of the "
            f"{len(classes)} classes {classes.tolist()}, but its shape is {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise DataError("loss must hold finite numbers, but it contains NaN or infinity.")
    if (matrix < 0).any():
        raise DataError(
            "loss must not be negative: subtract the smallest value of each column, "
            "which changes no decision."
        )
    return matrix, _row_names(actions, matrix, classes)


def _row_names(
    actions: Sequence[Any] | None, matrix: NDArray[np.float64], classes: NDArray[Any]
) -> NDArray[Any]:
    if actions is None:
        if len(matrix) != len(classes):
            raise DataError(
                f"loss has {len(matrix)} rows for {len(classes)} classes: name the rows with "
                "`actions`, or give a pandas table."
            )
        return classes
    names = list(actions)
    if len(names) != len(matrix) or len(set(names)) != len(names):
        raise DataError(
            f"actions must be {len(matrix)} different names, one per row of loss, but got {names}."
        )
    return as_labels(names)


def _reject_row(
    cost: float | PerClass,
    classes: NDArray[Any],
    matrix: NDArray[np.float64],
    zero_one: bool,
) -> NDArray[np.float64]:
    row = np.full(len(classes), float(cost)) if isinstance(cost, Real) else None
    if row is None:
        row = per_class(cost, classes, "reject_cost")
    largest = matrix.max()
    if not (np.isfinite(row).all() and (row > 0).all() and (row < largest).all()):
        unit = "" if zero_one else ", the largest loss"
        raise DataError(
            f"reject_cost must lie between 0 and {largest:g}{unit} (both excluded), "
            f"but got {row.tolist()}."
        )
    return row

"""Comparison of linear trainers on the same two classes: convergence, errors, margin, time."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, DataWarning, Seed, clone, unknown_name
from verulam.linear._descent.descent_discriminant import DescentDiscriminant
from verulam.linear._descent.programs import LinearProgramDiscriminant
from verulam.linear._descent.squared_error import HoKashyap, MinimumSquaredError
from verulam.linear._logistic.logistic import LogisticDiscriminant
from verulam.linear._online.least_mean_squares import LeastMeanSquares
from verulam.linear._online.pocket import PocketPerceptron
from verulam.linear._online.relaxation import Relaxation
from verulam.linear._online.voted import VotedPerceptron
from verulam.linear._online.winnow import BalancedWinnow
from verulam.linear._training.perceptrons import (
    BatchPerceptron,
    FarthestMarginPerceptron,
    Perceptron,
)
from verulam.linear._training.separability import Separability, separability
from verulam.linear._training.tables import check_labels, check_rows
from verulam.linear._training.trainer import LEFT_OPEN, conclude
from verulam.numerics import inverse


@dataclass(frozen=True)
class LineComparison:
    """Several lines between the same two classes.

    Attributes
    ----------
    table : DataFrame
        One row for each trainer: whether it converged, passes over the data, misclassified rows
        and their share, the distance of the nearest row where the line separates, seconds, and
        what the trainer had to say.
    trainers : dict
        The fitted trainers by name.
    separability
        Whether any line separates the classes, with the proof.
    inputs, classes
        The data, for pictures.

    Examples
    --------
    >>> from verulam.linear import compare_lines
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> lines = compare_lines(corners, [0, 0, 0, 1], ["batch perceptron", "least squares"])
    >>> lines.table[["converged", "errors"]]
                      converged  errors
    trainer
    batch perceptron       True       0
    least squares          True       0
    """

    table: pd.DataFrame
    trainers: dict[str, Any]
    separability: Separability
    inputs: np.ndarray
    classes: np.ndarray

    def __str__(self) -> str:
        answer = {
            True: "The linear program says that a line separates the classes.",
            False: "The linear program says that no line separates the classes.",
            None: "The linear program could not decide whether a line separates the classes: "
            "rounding hides it. Centre and scale the inputs.",
        }[self.separability.separable]
        return f"{answer}\n{self.table.to_string()}"


def line_trainers(random_state: Seed = 0) -> dict[str, Any]:
    """Return every trainer of the comparison by name, with trajectories on."""
    steps: dict[str, Any] = {"record": "passes"}
    chance: dict[str, Any] = {"random_state": random_state}
    falling = inverse(1.0, 0.5)
    return {
        "gradient descent": DescentDiscriminant(criterion="quadratic", **steps),
        "newton descent": DescentDiscriminant(criterion="quadratic", solver="newton", **steps),
        "batch perceptron": BatchPerceptron(**steps),
        "fixed increment": Perceptron(**steps, **chance),
        "variable increment": Perceptron(margin=0.5, learning_rate=falling, **steps, **chance),
        "batch variable increment": BatchPerceptron(margin=0.5, learning_rate=falling, **steps),
        "balanced winnow": BalancedWinnow(**steps, **chance),
        "batch relaxation": Relaxation(mode="batch", **steps),
        "single-sample relaxation": Relaxation(**steps, **chance),
        "pocket": PocketPerceptron(**steps, **chance),
        "averaged perceptron": Perceptron(average=True, **steps, **chance),
        "farthest margin": FarthestMarginPerceptron(max_iter=1000, **steps),
        "least mean squares": LeastMeanSquares(**steps, **chance),
        "batch least mean squares": LeastMeanSquares(mode="batch", **steps),
        "least squares": MinimumSquaredError(**steps),
        "fisher": MinimumSquaredError(margins="fisher", **steps),
        "ho-kashyap": HoKashyap(max_iter=1000, **steps),
        "modified ho-kashyap": HoKashyap(solver="modified", max_iter=1000, **steps),
        "linear program": LinearProgramDiscriminant(**steps),
        "dual linear program": LinearProgramDiscriminant(dual=True, **steps),
        "voted perceptron": VotedPerceptron(record="steps", **chance),
        "logistic": LogisticDiscriminant(),
    }


def compare_lines(
    X: ArrayLike,
    y: ArrayLike,
    trainers: Mapping[str, Any] | list[str] | str | None = None,
    *,
    random_state: Seed = 0,
) -> LineComparison:
    """Train every linear trainer, or those named, on the same two classes.

    Parameters
    ----------
    X, y
        Rows and their two classes.
    trainers
        Names from `line_trainers`, or trainers of one's own by name; None takes all.
    random_state
        Seed of the trainers that need chance.

    Notes
    -----
    See Bartkowiak 5.7.
    """
    known = line_trainers(random_state)
    inputs = check_rows(X)
    labels = check_labels(y, len(inputs))
    answer = separability(inputs, labels)
    fitted, rows = {}, []
    for name, trainer in _select(trainers, known).items():
        fitted[name] = clone(trainer)
        record = _train(fitted[name], inputs, labels)
        # Trainers leave it open whether a line separates large tables; here it is known.
        ending, left_open, _ = record["remark"].partition(LEFT_OPEN)
        record["remark"] = conclude(ending, answer) if left_open else ending
        rows.append({"trainer": name, **record})
    return LineComparison(pd.DataFrame(rows).set_index("trainer"), fitted, answer, inputs, labels)


def _select(
    trainers: Mapping[str, Any] | list[str] | str | None, known: dict[str, Any]
) -> Mapping[str, Any]:
    if trainers is None:
        return known
    if not len(trainers):
        raise DataError(f"trainers is empty; name some of {', '.join(known)}.")
    if isinstance(trainers, Mapping):
        return trainers
    if isinstance(trainers, str):
        trainers = [trainers]
    for name in trainers:
        if name not in known:
            raise unknown_name("trainer", name, known)
    return {name: known[name] for name in trainers}


def _train(trainer: Any, inputs: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.simplefilter("always", DataWarning)
        try:
            trainer.fit(inputs, labels)
        except DataError as error:
            nothing = {"converged": False, "passes": pd.NA, "errors": pd.NA, "error rate": np.nan}
            seconds = time.perf_counter() - start
            return {**nothing, "margin": np.nan, "seconds": seconds, "remark": str(error)}
    seconds = time.perf_counter() - start
    wrong = int((trainer.predict(inputs) != labels).sum())
    return {
        "converged": bool(getattr(trainer, "converged_", True)),
        "passes": getattr(trainer, "n_iter_", 1),
        "errors": wrong,
        "error rate": wrong / len(labels),
        "margin": _margin(trainer, inputs) if wrong == 0 else np.nan,
        "seconds": seconds,
        "remark": "; ".join(str(warning.message) for warning in remarks),
    }


def _margin(trainer: Any, inputs: np.ndarray) -> float:
    length = float(np.linalg.norm(getattr(trainer, "coef_", 0.0)))
    return float(np.abs(trainer.decision_function(inputs)).min()) / length if length else np.nan

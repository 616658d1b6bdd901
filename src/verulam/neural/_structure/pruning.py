r"""Taking weights or units away from a trained network while it gets no worse."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    NUMBER,
    TABLE,
    TEXT,
    DataError,
    check_is_fitted,
    checked_arguments,
    clone,
    is_classifier,
    one_blas_thread,
    unknown_name,
    whole_trainings,
)
from verulam.neural._arguments import PAIR, TARGETS
from verulam.neural._network.curvature import hessian_diagonal
from verulam.neural._network.network import TrainingError, error_of_rows
from verulam.neural._perceptron.classifier import MLPClassifier
from verulam.neural._perceptron.regressor import MLPRegressor

_ORDERS = ("magnitude", "saliency", "trial")
_PARTS = ("weights", "units")


@dataclass(frozen=True)
class Pruning:
    """A network with fewer weights, and how it came to them.

    Attributes
    ----------
    learner
        The smallest network that was not worse, fitted.
    path : DataFrame
        For each network tried: its weights and its error on the rows for validation.
    """

    learner: Any
    path: pd.DataFrame


@checked_arguments(X=TABLE, y=TARGETS, by=TEXT, what=TEXT, share=NUMBER, tol=NUMBER)
@whole_trainings()
@one_blas_thread()
def prune(
    learner: Any,
    X: ArrayLike,
    y: Any,
    validation: tuple[Any, Any],
    *,
    by: str = "magnitude",
    what: str = "weights",
    share: float = 0.1,
    tol: float = 0.0,
) -> Pruning:
    r"""Remove weights or hidden units step by step, training on in between.

    Parameters
    ----------
    learner
        A fitted `verulam.neural.MLPClassifier` or `verulam.neural.MLPRegressor`.
    X, y
        The rows that it is trained on.
    validation
        Other rows and their targets: pruning ends when the error on them has risen.
    by
        What goes first: "magnitude", the smallest :math:`\sum w^2`; "saliency", the least rise of
        the error by its second derivatives, :math:`\sum \tfrac12 h_{ii} w^2`; "trial", the least
        error on the rows for validation without it, each tried in turn.
    what
        "weights", single connections, or "units", hidden units with all their connections.
    share
        Share of what is left that is removed in a step; always at least one.
    tol
        Rise of the validation error that is allowed, in all, above the least on the way.

    Returns
    -------
    Pruning
        The pruned network and the path to it.

    Notes
    -----
    See Alpaydin 11.9, where pruning is the destructive way to a network's structure. Removed
    weights stay exactly zero: they become the learner's `masks`. Training goes on from the weights
    that are left, with the learner's own solver.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPRegressor, prune
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(200, 4))
    >>> y = X[:, 0] + random.normal(scale=0.1, size=200)
    >>> net = MLPRegressor(6, solver="lbfgs", random_state=0, tol=1e-3).fit(X[:100], y[:100])
    >>> small = prune(net, X[:100], y[:100], (X[100:], y[100:]), share=0.3)
    >>> bool(small.path["weights"].min() < 30)
    True
    """
    if not isinstance(learner, MLPClassifier | MLPRegressor):
        raise DataError(
            "learner: expected a fitted MLPClassifier or MLPRegressor of verulam.neural, not "
            f"{type(learner).__name__}."
        )
    check_is_fitted(learner)
    if by not in _ORDERS:
        raise unknown_name("by", by, _ORDERS)
    if what not in _PARTS:
        raise unknown_name("what", what, _PARTS)
    if not 0.0 < share <= 1.0:
        raise DataError(f"share: {share:g}; expected a number above 0 and at most 1.")
    if not PAIR.accepts(validation):
        raise DataError("validation: expected other rows and their targets, (X, y).")
    known, unseen = _problem(learner, X, y), _problem(learner, *validation)
    best = learner
    path = [(_n_weights(best), _error(best, unseen))]
    while True:
        smaller = _smaller(best, known, unseen, by, what, share)
        if smaller is None:
            break
        smaller.fit(X, y)
        least = min(error for _, error in path)
        path.append((_n_weights(smaller), _error(smaller, unseen)))
        if path[-1][1] > least + tol:
            break
        best = smaller
    return Pruning(best, pd.DataFrame(path, columns=["weights", "validation_error"]))


def _problem(learner: Any, X: Any, y: Any) -> TrainingError:
    rows = np.ascontiguousarray(X, dtype=np.float64)
    n_inputs = learner.network_.layout.sizes[0]
    if rows.ndim != 2 or rows.shape[1] != n_inputs or len(rows) != len(y):
        raise DataError(
            f"X and validation: expected rows of {n_inputs} columns with a target each; got "
            f"{rows.shape} and {len(y)}."
        )
    targets: NDArray[Any]
    if is_classifier(learner):
        targets = np.searchsorted(learner.classes_, np.asarray(y))
    else:
        targets = np.asarray(y, dtype=np.float64).reshape(len(rows), -1)
    return TrainingError(learner.network_, rows, targets, None, float(learner.alpha))


def _error(learner: Any, problem: TrainingError) -> float:
    return error_of_rows(learner.network_, learner.parameters_, problem.inputs, problem.targets)


def _n_weights(learner: Any) -> int:
    return int(learner.size_report()["weights"].sum())


def _smaller(
    learner: Any, known: TrainingError, unseen: TrainingError, by: str, what: str, share: float
) -> Any:
    """Return an unfitted learner without the least important part; None where nothing is left."""
    layout = learner.network_.layout
    parts = _units(layout) if what == "units" else _weights(layout)
    present = layout.mask if len(layout.mask) else np.ones(layout.n_parameters, dtype=bool)
    parts = [part[present[part]] for part in parts]
    parts = [part for part in parts if len(part)]
    if len(parts) < 2:
        return None
    ranks = _importance(learner, known, unseen, by, parts)
    count = max(1, int(share * len(parts)))
    left = present.copy()
    for place in np.argsort(ranks, kind="stable")[: min(count, len(parts) - 1)]:
        left[parts[place]] = False
    masks = [layout.weights(left, layer).copy() for layer in range(layout.n_layers)]
    theta = np.where(left, learner.parameters_, 0.0)
    return clone(learner).set_params(masks=masks, init=theta, n_init=1)


def _weights(layout: Any) -> list[NDArray[np.intp]]:
    """Return the place of each weight between layers."""
    places = layout.is_weight.copy()
    if layout.skip:
        places[layout.skip_place :] = False
    return [np.array([place]) for place in np.flatnonzero(places)]


def _units(layout: Any) -> list[NDArray[np.intp]]:
    """Return the places of the weights into and out of each hidden unit."""
    numbers = np.arange(layout.n_parameters)
    return [
        np.concatenate(
            [layout.weights(numbers, layer)[:, unit], layout.weights(numbers, layer + 1)[unit]]
        )
        for layer in range(layout.n_layers - 1)
        for unit in range(layout.sizes[layer + 1])
    ]


def _importance(
    learner: Any,
    known: TrainingError,
    unseen: TrainingError,
    by: str,
    parts: list[NDArray[np.intp]],
) -> NDArray[np.float64]:
    theta = np.asarray(learner.parameters_, dtype=np.float64)
    if by == "trial":
        errors = []
        for part in parts:
            without = theta.copy()
            without[part] = 0.0
            errors.append(error_of_rows(learner.network_, without, unseen.inputs, unseen.targets))
        return np.array(errors)
    squares = theta**2
    if by == "saliency":
        squares = 0.5 * hessian_diagonal(known, theta) * squares
    return np.array([squares[part].sum() for part in parts])

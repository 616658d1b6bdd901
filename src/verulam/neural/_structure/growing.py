"""Adding hidden units one by one until a network is good enough: dynamic node creation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import (
    NUMBER,
    WHOLE,
    DataError,
    checked_arguments,
    clone,
    generator,
    whole_trainings,
)
from verulam.neural._arguments import ROWS, TARGETS
from verulam.neural._network.layout import SMALL, Layout
from verulam.neural._perceptron.classifier import MLPClassifier
from verulam.neural._perceptron.regressor import MLPRegressor


@dataclass(frozen=True)
class Growth:
    """A network and the units that were added to it.

    Attributes
    ----------
    learner
        The last network, fitted.
    path : DataFrame
        For each network: its hidden units, its training error and the epochs it took.
    """

    learner: Any
    path: pd.DataFrame


@checked_arguments(X=ROWS, y=TARGETS, goal=NUMBER, max_units=WHOLE)
@whole_trainings()
def grow(learner: Any, X: Any, y: Any, *, goal: float, max_units: int = 20) -> Growth:
    """Train with one hidden unit, and add units while the training error is above a goal.

    Parameters
    ----------
    learner
        An `verulam.neural.MLPClassifier` or `verulam.neural.MLPRegressor` whose settings are used;
        its `hidden_layer_sizes` are not.
    X, y
        Rows and targets.
    goal
        Training error, `loss_`, that is low enough.
    max_units
        Most hidden units.

    Returns
    -------
    Growth
        The network and the path to it.

    Notes
    -----
    Dynamic node creation (Alpaydin 11.9, fig. 11.17): a new unit starts with random weights, small
    ones to the outputs; the others go on from where they are, and all are trained.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPClassifier, grow
    >>> xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> settings = MLPClassifier(
    ...     activation="tanh", solver="lbfgs", alpha=0.0, tol=1e-6, random_state=0
    ... )
    >>> grown = grow(settings, xor, [0, 1, 1, 0], goal=0.01)
    >>> grown.path["units"].tolist()[-1] > 1, grown.learner.predict(xor).tolist()
    (True, [0, 1, 1, 0])
    """
    if not goal > 0.0 or max_units < 1:
        raise DataError(
            f"goal must be positive and max_units at least 1; got {goal!r} and {max_units!r}."
        )
    if not isinstance(learner, MLPClassifier | MLPRegressor):
        raise DataError(
            f"learner: expected an MLPClassifier or MLPRegressor of verulam.neural, not "
            f"{type(learner).__name__}."
        )
    if learner.masks is not None or learner.tied is not None:
        raise DataError("grow: masks and tied are for networks of one size; leave them out.")
    random = generator(learner.random_state)
    current = clone(learner).set_params(hidden_layer_sizes=(1,)).fit(X, y)
    path = [(1, current.loss_, current.n_iter_)]
    while current.loss_ > goal and path[-1][0] < max_units:
        layout = current.network_.layout
        sizes = (layout.sizes[0], layout.sizes[1] + 1, layout.sizes[2])
        start = with_one_more(layout, current.parameters_, random)
        current = clone(learner).set_params(hidden_layer_sizes=(sizes[1],), init=start, n_init=1)
        current.fit(X, y)
        path.append((sizes[1], current.loss_, current.n_iter_))
    return Growth(current, pd.DataFrame(path, columns=["units", "loss", "epochs"]))


def with_one_more(
    layout: Layout, theta: NDArray[np.floating], random: np.random.Generator
) -> NDArray[np.floating]:
    """Return the weights of a network with one hidden unit more, which hardly reaches the outputs.

    Parameters
    ----------
    layout
        Layout of a network with one hidden layer.
    theta
        Its weights.
    random
        Draws the new ones.
    """
    n_inputs, n_units, n_outputs = layout.sizes
    larger = Layout((n_inputs, n_units + 1, n_outputs), layout.skip)
    grown = random.uniform(-SMALL, SMALL, larger.n_parameters).astype(theta.dtype)
    # It must say something different from row to row, or no gradient would reach its outputs.
    larger.weights(grown, 0)[:] = random.normal(size=(n_inputs, n_units + 1))
    larger.biases(grown, 0)[:] = random.normal(size=n_units + 1)
    larger.weights(grown, 0)[:, :n_units] = layout.weights(theta, 0)
    larger.biases(grown, 0)[:n_units] = layout.biases(theta, 0)
    larger.weights(grown, 1)[:n_units] = layout.weights(theta, 1)
    larger.biases(grown, 1)[:] = layout.biases(theta, 1)
    if layout.skip:
        larger.skip_weights(grown)[:] = layout.skip_weights(theta)
    return grown

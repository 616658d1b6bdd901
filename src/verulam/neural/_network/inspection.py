"""What a network shows of itself: gradients by layer, and the importance of its inputs."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import VECTOR, DataError, Kind, check_is_fitted, checked_arguments
from verulam.neural._arguments import LAYERED_ERROR
from verulam.neural._network.layout import Layout

LEARNER_OF_LAYERS = Kind(
    "a fitted perceptron",
    lambda value: hasattr(value, "fit") and not isinstance(value, type),
)


@checked_arguments(error=LAYERED_ERROR, theta=VECTOR)
def gradient_norms(error: Any, theta: NDArray[np.floating]) -> pd.Series:
    """Return how much of the gradient arrives in each layer, or at each step of sequences.

    Parameters
    ----------
    error
        A `verulam.neural.TrainingError`: the length of the gradient by the weights of each layer.
        Or a `verulam.neural.SequenceError`: what arrives of the error of the last step at the
        hidden units one step before, two steps before, and so on.
    theta
        Weights and biases, flat.

    Notes
    -----
    In deep networks of saturating units it shrinks from layer to layer on the way down, which is
    why the lowest layers learn last; a network that is unfolded in time is as deep as sequences
    are long (Alpaydin 11.13).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import Network, TrainingError, gradient_norms, layout_of
    >>> layout = layout_of((2, 5, 5, 5, 1))
    >>> theta = layout.start(np.random.default_rng(0), "glorot", "logistic", float)
    >>> rows = np.random.default_rng(1).normal(size=(50, 2))
    >>> error = TrainingError(Network(layout, "logistic"), rows, rows[:, :1])
    >>> norms = gradient_norms(error, theta)
    >>> bool((norms.diff().dropna() > 0).all())
    True
    """
    theta = np.asarray(theta)
    expected = getattr(error, "n_parameters", error.network.layout.n_parameters)
    if theta.shape != (expected,):
        raise DataError(f"theta: expected {expected} numbers; got {len(theta)}.")
    if hasattr(error, "step_norms"):
        norms = error.step_norms(theta)
        steps = pd.RangeIndex(len(norms), name="steps before the last")
        return pd.Series(norms, index=steps, name="gradient norm")
    gradient = error.value_and_gradient(theta)[1]
    layout = error.network.layout
    return pd.Series(
        [
            float(np.linalg.norm(layout.weights(gradient, layer)))
            for layer in range(layout.n_layers)
        ],
        index=[f"layer {layer + 1}" for layer in range(layout.n_layers)],
        name="gradient norm",
    )


@checked_arguments(learner=LEARNER_OF_LAYERS)
def input_importance(learner: Any) -> pd.Series:
    r"""Return how much each input of a network weighs, as shares that sum to one.

    Parameters
    ----------
    learner
        A fitted perceptron.

    Notes
    -----
    The product of the absolute weights of all layers, summed over the ways from an input to the
    outputs, :math:`|W_1| |W_2| \cdots 1`. Inputs should be on a common scale, or a wide column
    looks unimportant (Alpaydin 11.11).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPRegressor, input_importance
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> net = MLPRegressor(
    ...     4, activation="tanh", solver="lbfgs", alpha=1.0, tol=1e-3, random_state=0
    ... )
    >>> int(input_importance(net.fit(X, X[:, 1])).to_numpy().argmax())
    1
    """
    check_is_fitted(learner)
    if not isinstance(getattr(getattr(learner, "network_", None), "layout", None), Layout):
        raise DataError(
            "learner: expected a fitted perceptron, whose layers follow one another; got "
            f"{type(learner).__name__}."
        )
    ways = np.ones(learner.coefs_[-1].shape[1])
    for weights in reversed(learner.coefs_):
        ways = np.abs(weights) @ ways
    if learner.network_.layout.skip:
        ways = ways + np.abs(learner.network_.layout.skip_weights(learner.parameters_)).sum(axis=1)
    names = getattr(learner, "feature_names_in_", None)
    index = names if names is not None else np.arange(len(ways))
    return pd.Series(ways / (ways.sum() or 1.0), index=index, name="importance")

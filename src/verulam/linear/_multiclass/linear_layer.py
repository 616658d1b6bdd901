"""Parallel units: one linear layer with any output, learned or taken from elsewhere."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from verulam.base import DataError, unknown_name
from verulam.linear._training.geometry import points_of
from verulam.numerics import softmax

_OUTPUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda values: values,
    "threshold": lambda values: (values > 0).astype(np.float64),
    "sigmoid": expit,
    "softmax": lambda values: softmax(values, axis=1),
}


@dataclass(frozen=True)
class LinearLayer:
    r"""Units :math:`y = W x + w_0` side by side, with an output function.

    Attributes
    ----------
    weights : ndarray of shape (n_units, n_inputs)
        Weights of each unit.
    biases : ndarray of shape (n_units,)
        Biases.
    output
        "linear", "threshold" (zero at zero), "sigmoid" or "softmax".

    Notes
    -----
    Fewer units than inputs make a linear projection. Weights may be learned by any method that
    gives a linear function. See Alpaydin 11.2 (11.1-11.6).

    Examples
    --------
    >>> import numpy as np
    >>> layer = LinearLayer(np.array([[1.0, 1.0], [-1.0, 0.0]]), np.array([-1.5, 0.5]), "threshold")
    >>> layer([[1, 1], [0, 1]])
    array([[1., 0.],
           [0., 1.]])
    """

    weights: np.ndarray
    biases: np.ndarray
    output: str = "linear"

    def __post_init__(self) -> None:
        if self.output not in _OUTPUTS:
            raise unknown_name("output", self.output, _OUTPUTS)
        if len(self.biases) != len(self.weights):
            raise DataError(f"{len(self.weights)} units need as many biases; got {self.biases}.")

    @classmethod
    def from_learner(cls, learner: Any, output: str = "linear") -> "LinearLayer":
        """Return the layer that a fitted linear learner amounts to.

        Parameters
        ----------
        learner
            Anything with `coef_` and `intercept_` (discriminants, regressions, support vector
            machines), or with `components_` and `mean_` (projections).
        output
            Output function.
        """
        if hasattr(learner, "components_"):
            weights = np.atleast_2d(learner.components_)
            mean = getattr(learner, "mean_", None)
            # W (x - m) = W x - W m: centring becomes a bias.
            biases = np.zeros(len(weights)) if mean is None else -weights @ mean
            return cls(weights, biases, output)
        if not hasattr(learner, "coef_"):
            raise DataError(
                f"{type(learner).__name__} has neither coef_ nor components_: it is not fitted, "
                "or not linear."
            )
        weights = np.atleast_2d(np.asarray(learner.coef_, dtype=np.float64))
        biases = np.broadcast_to(np.ravel(getattr(learner, "intercept_", 0.0)), len(weights))
        return cls(weights, np.array(biases, dtype=np.float64), output)

    def __call__(self, inputs: ArrayLike) -> np.ndarray:
        """Return the outputs of the units for each row."""
        values = points_of(inputs, self.weights.shape[1]) @ self.weights.T + self.biases
        return _OUTPUTS[self.output](values)

    def choose(self, inputs: ArrayLike) -> np.ndarray:
        """Return the position of the unit with the largest output."""
        return self(inputs).argmax(axis=1)

    def then(self, following: "LinearLayer") -> "LinearLayer":
        """Return one layer that does what two linear ones do in a row: nothing is gained by two."""
        if self.output != "linear":
            raise DataError(
                f"a layer with {self.output} output does not collapse with the next: only "
                "linear ones do."
            )
        weights = following.weights @ self.weights
        return LinearLayer(
            weights, following.weights @ self.biases + following.biases, following.output
        )

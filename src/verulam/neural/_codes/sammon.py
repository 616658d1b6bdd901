"""Sammon's mapping by a network, which places new rows too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from verulam.base import (
    DataError,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    spawn_seeds,
)
from verulam.neural._network.batches import BatchError, Floats
from verulam.neural._network.network import Network
from verulam.neural._network.passes import dual_backward, dual_forward
from verulam.neural._perceptron.perceptron import MultilayerPerceptron, Problem
from verulam.numerics import AdaptiveRate, Epoch, Schedule, distances
from verulam.reduction import stress

_SHARED = (
    "hidden_layer_sizes", "activation", "skip", "solver", "learning_rate", "momentum", "batch_size",
    "max_iter", "tol", "n_iter_no_change", "alpha", "init", "n_init", "random_state",
)  # fmt: skip


@dataclass
class StressError(BatchError):
    """The stress of what a network makes of rows: how far it changes their distances.

    Attributes
    ----------
    network : Network
        The map.
    inputs
        Rows.
    weighting
        Weight of a pair, as in `verulam.reduction.stress`.
    alpha, decay_biases
        Weight decay, as in `verulam.neural.TrainingError`.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import Network, StressError, layout_of
    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> error = StressError(Network(layout_of((1, 1))), rows)
    >>> error.value_and_gradient(np.array([1.0, 5.0]))[0]  # a shift changes no distance
    0.0
    >>> error.value_and_gradient(np.array([0.5, 0.0]))[0]
    0.25
    """

    network: Network
    inputs: Floats
    weighting: str = "squared"
    alpha: float = 0.0
    decay_biases: bool = False

    def __post_init__(self) -> None:
        self._weigh(len(self.inputs), None)
        self._rows = np.asarray(self.inputs, dtype=np.float64)

    def _batch(self, theta: Floats, batch: NDArray[np.int64]) -> tuple[float, Floats]:
        rows, weights = self._rows[batch], np.asarray(theta, dtype=np.float64)
        if len(batch) < 2:
            return 0.0, np.zeros_like(theta)
        run = dual_forward(self.network, weights, rows, None)
        result = stress(distances(rows, rows), run.sums, weighting=self.weighting)
        gradient = dual_backward(
            self.network, weights, run, result.gradient, np.zeros_like(run.sums)
        )
        # A mean over rows is made of it afterwards.
        count = len(batch)
        return count * result.stress, (count * gradient).astype(theta.dtype)


class SammonNetwork(ClassNamePrefixFeaturesOutMixin, MultilayerPerceptron, Transformer):
    r"""Network that maps rows to a plane so that their distances stay.

    The weights of a perceptron :math:`g` minimise Sammon's stress

    .. math::
        E = \sum_{r<s} \left[ \frac{\|g(x^r) - g(x^s)\| - \|x^r - x^s\|}{\|x^r - x^s\|} \right]^2 .

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int
        Units of each hidden layer.
    n_components
        Outputs: dimensions of the map.
    weighting
        Weight of a pair at distance :math:`d`: "squared" for :math:`1/d^2` as above, "sammon" for
        :math:`1/d` as in Sammon's paper, "none" for 1. The stress is a share of the weighted
        squares of the distances.
    activation
        Function of the hidden units: "tanh", "logistic", "relu", "gaussian" or "identity".
    skip
        Whether inputs also reach the outputs directly.
    solver
        "lbfgs", "cg" and "newton-cg" use all pairs at once; "adam" or "sgd" step after each batch,
        by the pairs within it.
    learning_rate : float, Schedule, AdaptiveRate or "auto"
        Rate of a step; "auto" is 0.001 for Adam and 0.01 for descent.
    momentum
        Share of the last change in the next ("sgd").
    batch_size : int, "auto" or "all"
        Rows of a step.
    max_iter
        Most epochs.
    tol, n_iter_no_change
        Training ends when the stress has not fallen by `tol` for so many epochs, or when the
        gradient is as small as `tol`.
    alpha
        Weight decay.
    init : "glorot", "small" or array
        Start of the weights.
    n_init
        Networks trained from different starts, of which the best is taken.
    random_state
        Seed of starts and orders.

    Attributes
    ----------
    parameters_ : ndarray
        All weights and biases, flat; `coefs_` and `intercepts_` are views of it by layer.
    stress_ : float
        Stress of the training rows.
    history_ : DataFrame
        A row for each epoch.
    restarts_ : DataFrame
        A row for each start.
    n_iter_ : int
        Epochs.

    Notes
    -----
    See Alpaydin 11.11, eq. 11.40 (Mao and Jain, 1995). `verulam.reduction.StressScaling` moves the
    places themselves and has to place new rows one by one; here they go through the network.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.neural import SammonNetwork
    >>> X = load_iris().data[::3]
    >>> net = SammonNetwork(8, tol=1e-3, random_state=0).fit(X)
    >>> net.transform(X).shape, bool(net.stress_ < 0.05)
    ((50, 2), True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: MultilayerPerceptron._parameter_constraints[name] for name in _SHARED},
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "weighting": [StrOptions({"none", "sammon", "squared"})],
    }
    gain = 1.0
    nesterov = False
    shuffle = True
    decay_biases = False
    masks = None
    tied = None
    combine = "mean"
    penalties = None
    early_stopping = False
    validation_fraction = 0.1

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = 20,
        *,
        n_components: int = 2,
        weighting: str = "squared",
        activation: str = "tanh",
        skip: bool = True,
        solver: str = "lbfgs",
        learning_rate: float | Schedule | AdaptiveRate | str = "auto",
        momentum: float = 0.9,
        batch_size: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-5,
        n_iter_no_change: int = 10,
        alpha: float = 0.0,
        init: Any = "glorot",
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.n_components = n_components
        self.weighting = weighting
        self.activation = activation
        self.skip = skip
        self.solver = solver
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.alpha = alpha
        self.init = init
        self.n_init = n_init
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["SammonNetwork"]:
        return [cls(5, solver="adam", learning_rate=0.01, tol=1e-3)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _outputs(self) -> tuple[str, int]:
        return "identity", int(self.n_components)

    @property
    def _n_features_out(self) -> int:
        return int(self.network_.layout.sizes[-1])

    def _stress_problem(self, X: Any) -> Problem:
        self._forget()
        rows = self._read(X, reset=True)
        if len(rows) < 2 or (rows == rows[0]).all():
            raise DataError(
                f"X: {len(rows)} sample(s) without any distance between them; at least 2 different "
                "rows are needed."
            )
        network = self._network(rows.shape[1])
        return Problem(StressError(network, rows, self.weighting, float(self.alpha)))

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the map.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Ignored.
        """
        problem = self._stress_problem(X)
        self._train(problem, spawn_seeds(self.random_state, self.n_init + 1))
        self.stress_ = problem.training.value_and_gradient(self.parameters_)[0]
        return self

    def epochs(self, X: Any) -> Iterator[Epoch]:
        """Train while somebody watches: yield after each epoch."""
        self._validate_params()
        seeds = spawn_seeds(self.random_state, self.n_init + 1)
        yield from self._watch(self._stress_problem(X), generator(seeds[0]))

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Return the place of each row."""
        check_is_fitted(self)
        return self.network_.outputs(self.parameters_, self._read(X, reset=False))

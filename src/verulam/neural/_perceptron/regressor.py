"""A multilayer perceptron that predicts numbers."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from verulam.base import (
    DataError,
    Regressor,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    column_or_1d,
)
from verulam.neural._perceptron.perceptron import MultilayerPerceptron
from verulam.numerics import AdaptiveRate, Epoch, Schedule


class MLPRegressor(MultilayerPerceptron, Regressor):
    r"""Multilayer perceptron for regression, trained by back-propagation of the squared error.

    Hidden units :math:`z_h = s(w_h^T x)` feed outputs :math:`y_i = v_i^T z`. Training minimises

    .. math::
        E = \frac{1}{2N} \sum_t \sum_i (r_i^t - y_i^t)^2 + \frac{\alpha}{2N} \sum_w w^2 .

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int
        Units of each hidden layer.
    activation
        Function of the hidden units: "relu", "logistic", "tanh", "gaussian" or "identity".
    gain
        Steepness of logistic units.
    output_activation
        Function of the outputs: "identity", or "logistic" or "tanh" for targets between bounds.
    skip
        Whether inputs also reach the outputs directly, as a linear part.
    solver
        "adam" or "sgd" step after each batch; "lbfgs", "cg" and "newton-cg" use all rows at once.
    learning_rate : float, Schedule, AdaptiveRate or "auto"
        Rate of a step; "auto" is 0.001 for Adam and 0.01 for descent.
    momentum, nesterov
        Share of the last change in the next, and whether to look ahead along it ("sgd").
    batch_size : int, "auto" or "all"
        Rows of a step: 1 is online learning, "auto" is 200. A step follows the mean gradient.
    max_iter
        Most epochs.
    tol, n_iter_no_change
        Training ends when the error has not fallen by `tol` for so many epochs. Solvers that use
        all rows at once compare `tol` with the gradient. With a `tol` of 0, and no fewer
        epochs than `max_iter`, training has `max_iter` epochs, and nobody is warned.
    shuffle
        Whether each epoch has a new random order.
    alpha
        Weight decay: strength of the penalty on squared weights.
    decay_biases
        Whether biases are penalised too, as in the text.
    masks, tied : list of array, or None
        For each layer of weights, inputs by units: which weights there are; and numbers, equal for
        weights that share their value and -1 for free ones.
    combine
        Whether tied weights follow the "mean" of their gradients or, as a convolution does, the
        "sum".
    penalties : list of penalties, or None
        Terms beside the error summed over all rows: `InvarianceHint`, `IntervalHint`,
        `TangentHint`, `SoftSharing`.
    early_stopping
        Whether to set rows aside and keep the weights of the epoch that is best on them.
    validation_fraction
        Share of the rows that is set aside then.
    init : "glorot", "small" or array
        Random start within bounds that suit the units, within 0.01, or all weights and biases.
    n_init
        Networks trained from different starts, of which the best is taken.
    random_state
        Seed of starts, orders and rows set aside.

    Attributes
    ----------
    parameters_ : ndarray
        All weights and biases, flat; `coefs_` and `intercepts_` are views of it by layer.
    history_ : DataFrame
        A row for each epoch: error, validation error, learning rate, length of the weights.
    restarts_ : DataFrame
        A row for each start: epochs, errors, and which was kept.
    network_ : Network
        Layers and functions.
    n_iter_ : int
        Epochs.
    loss_ : float
        Training error of the last epoch.

    Notes
    -----
    See Alpaydin 11.5-11.8. Several targets share the hidden units; for a network of its own for
    each, use scikit-learn's ``MultiOutputRegressor``. Scales are those of
    `verulam.neural.MLPClassifier`. Targets far from the unit scale train slowly: put
    ``TransformedTargetRegressor`` around.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPRegressor
    >>> x = np.linspace(-0.5, 0.5, 50)[:, None]
    >>> net = MLPRegressor(
    ...     hidden_layer_sizes=2, activation="logistic", solver="lbfgs", alpha=0, max_iter=1000,
    ...     n_init=3, random_state=0,
    ... )
    >>> net.fit(x, np.sin(6 * x[:, 0])).predict([[0.1], [0.25]]).round(1)
    array([0.6, 1. ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultilayerPerceptron._parameter_constraints,
        "output_activation": [StrOptions({"identity", "logistic", "tanh"})],
    }

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        *,
        activation: str = "relu",
        gain: float = 1.0,
        output_activation: str = "identity",
        skip: bool = False,
        solver: str = "adam",
        learning_rate: float | Schedule | AdaptiveRate | str = "auto",
        momentum: float = 0.9,
        nesterov: bool = False,
        batch_size: int | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        shuffle: bool = True,
        alpha: float = 0.0001,
        decay_biases: bool = False,
        masks: Sequence[Any] | None = None,
        tied: Sequence[Any] | None = None,
        combine: str = "mean",
        penalties: Sequence[Any] | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        init: Any = "glorot",
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.gain = gain
        self.output_activation = output_activation
        self.skip = skip
        self.solver = solver
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.nesterov = nesterov
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.alpha = alpha
        self.decay_biases = decay_biases
        self.masks = masks
        self.tied = tied
        self.combine = combine
        self.penalties = penalties
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.init = init
        self.n_init = n_init
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @classmethod
    def _example_learners(cls) -> list["MLPRegressor"]:
        return [cls(20, max_iter=2000, tol=0.001, learning_rate=0.01)]

    def _outputs(self) -> tuple[str, int]:
        return self.output_activation, self._n_targets

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Numbers to predict: one for each row, or a table with a column for each target.
        sample_weight
            Weights of the rows.
        """
        rows, targets = self._prepared(X, y)
        self._fit(rows, targets, sample_weight)
        return self

    def epochs(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Epoch]:
        """Train the network while somebody watches: yield after each epoch.

        The learner can be used between epochs; ending the loop ends the training. Only the first
        of `n_init` starts is trained.
        """
        self._validate_params()
        rows, targets = self._prepared(X, y)
        yield from self._watched(rows, targets, sample_weight)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train one epoch on further rows.

        Parameters
        ----------
        X, y
            Rows and the numbers to predict.
        sample_weight
            Weights of the rows.
        """
        self._validate_params()
        rows = self._read(X, reset=not hasattr(self, "_training"))
        self._continue(rows, self._targets(y, rows), sample_weight)
        return self

    def _prepared(self, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        self._forget()
        rows = self._read(X, reset=True)
        return rows, self._targets(y, rows)

    def _targets(self, y: Any, rows: NDArray[np.floating]) -> NDArray[np.floating]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        targets = check_array(
            y, dtype=rows.dtype, ensure_2d=False, input_name="y", ensure_min_samples=0
        )
        if targets.ndim == 0:
            raise DataError(f"y must be a vector or a table of numbers; got {y!r}.")
        if len(targets) != len(rows):
            raise DataError(f"y has {len(targets)} entries for {len(rows)} rows of X.")
        if targets.ndim == 2 and targets.shape[1] == 1 and not hasattr(self, "_training"):
            column_or_1d(y, warn=True)
        self._single = targets.ndim == 1 or targets.shape[1] == 1
        targets = targets.reshape(len(targets), -1)
        low = {"logistic": 0.0, "tanh": -1.0}.get(self.output_activation)
        if low is not None and not ((targets >= low) & (targets <= 1)).all():
            raise DataError(
                f"output_activation={self.output_activation!r} gives numbers from {low:g} to 1; y "
                "has others. Rescale y, or take output_activation='identity'."
            )
        self._n_targets = targets.shape[1]
        return targets

    def predict(self, X: Any) -> NDArray[np.floating]:
        """Return the numbers for each row; a table where there are several targets."""
        check_is_fitted(self)
        outputs = self.network_.outputs(self.parameters_, self._read(X, reset=False))
        return outputs[:, 0] if self._single else outputs

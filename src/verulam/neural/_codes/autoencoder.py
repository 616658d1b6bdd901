"""Autoencoders: networks that reproduce their inputs through a narrow layer."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from verulam.base import DataError, Seed, Transformer, check_is_fitted, checked_fit
from verulam.neural._network.network import unit_outputs
from verulam.neural._perceptron.perceptron import MultilayerPerceptron
from verulam.numerics import AdaptiveRate, Epoch, Schedule

_CHOSEN = (
    "hidden_layer_sizes", "activation", "solver", "learning_rate", "momentum", "batch_size",
    "max_iter", "tol", "n_iter_no_change", "alpha", "early_stopping", "validation_fraction", "init",
    "n_init", "random_state",
)  # fmt: skip


class Autoencoder(ClassNamePrefixFeaturesOutMixin, MultilayerPerceptron, Transformer):
    r"""Network that learns to reproduce its inputs; its narrow middle layer is a code of them.

    An encoder :math:`z = f(x)` and a decoder :math:`\hat x = g(z)`, its mirror image, minimise

    .. math::
        E = \frac{1}{2N} \sum_t \|x^t - \hat x^t\|^2 + \frac{\alpha}{2N} \sum_w w^2 .

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int
        Units of each layer of the encoder; the last is the code. The decoder has the same in
        reverse.
    activation
        Function of the hidden units: "tanh", "logistic", "relu", "gaussian", or "identity", whose
        code spans the principal components.
    solver
        "lbfgs", "cg" and "newton-cg" use all rows at once; "adam" or "sgd" step after each batch.
    learning_rate : float, Schedule, AdaptiveRate or "auto"
        Rate of a step; "auto" is 0.001 for Adam and 0.01 for descent.
    momentum
        Share of the last change in the next ("sgd").
    batch_size : int, "auto" or "all"
        Rows of a step.
    max_iter
        Most epochs.
    tol, n_iter_no_change
        Training ends when the error has not fallen by `tol` for so many epochs, or when the
        gradient is as small as `tol`.
    alpha
        Weight decay.
    early_stopping
        Whether to set rows aside and keep the weights of the epoch that is best on them.
    validation_fraction
        Share of the rows that is set aside then.
    init : "glorot", "small" or array
        Start of the weights.
    n_init
        Networks trained from different starts, of which the best is taken.
    random_state
        Seed of starts, orders and rows set aside.

    Attributes
    ----------
    parameters_ : ndarray
        All weights and biases, flat; `coefs_` and `intercepts_` are views of it by layer.
    history_ : DataFrame
        A row for each epoch.
    restarts_ : DataFrame
        A row for each start.
    n_iter_ : int
        Epochs.
    loss_ : float
        Training error of the last epoch.

    Notes
    -----
    See Alpaydin 11.11, fig. 11.19. With linear units the code spans the same plane as the principal
    components, without their order; with others it can follow curved ones.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import Autoencoder
    >>> angle = np.linspace(0, np.pi, 60)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> coder = Autoencoder((6, 1), max_iter=2000, n_init=3, random_state=0).fit(arc)
    >>> coder.transform(arc).shape
    (60, 1)
    >>> bool(coder.reconstruction_error(arc).mean() < 0.01)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: MultilayerPerceptron._parameter_constraints[name] for name in _CHOSEN
    }
    gain = 1.0
    skip = False
    nesterov = False
    shuffle = True
    decay_biases = False
    masks = None
    tied = None
    combine = "mean"
    penalties = None

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = 2,
        *,
        activation: str = "tanh",
        solver: str = "lbfgs",
        learning_rate: float | Schedule | AdaptiveRate | str = "auto",
        momentum: float = 0.9,
        batch_size: int | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        alpha: float = 0.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        init: Any = "glorot",
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.alpha = alpha
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.init = init
        self.n_init = n_init
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["Autoencoder"]:
        return [cls(solver="adam", tol=0.05)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _hidden_sizes(self) -> tuple[int, ...]:
        encoder = super()._hidden_sizes()
        return (*encoder, *encoder[-2::-1])

    def _outputs(self) -> tuple[str, int]:
        return "identity", self.n_features_in_

    @property
    def _n_features_out(self) -> int:
        return int(self.network_.layout.sizes[self._code_layer + 1])

    @property
    def _code_layer(self) -> int:
        return (self.network_.layout.n_layers - 1) // 2

    @checked_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train encoder and decoder.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Ignored.
        sample_weight
            Weights of the rows.
        """
        self._forget()
        rows = self._read(X, reset=True)
        self._fit(rows, rows, sample_weight)
        return self

    def epochs(self, X: Any, sample_weight: Any = None) -> Iterator[Epoch]:
        """Train while somebody watches: yield after each epoch."""
        self._validate_params()
        self._forget()
        rows = self._read(X, reset=True)
        yield from self._watched(rows, rows, sample_weight)

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Return the code of each row."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        return self.network_.hidden(self.parameters_, rows, self._code_layer)

    def inverse_transform(self, X: Any) -> NDArray[np.floating]:
        """Return the rows that codes stand for.

        Parameters
        ----------
        X
            Codes.
        """
        check_is_fitted(self)
        layout, values = self.network_.layout, np.asarray(X)
        width = layout.sizes[self._code_layer + 1]
        if values.ndim != 2 or values.shape[1] != width:
            raise DataError(f"X: codes have {width} columns; got the shape {values.shape}.")
        for layer in range(self._code_layer + 1, layout.n_layers):
            weights, biases = (
                layout.weights(self.parameters_, layer), layout.biases(self.parameters_, layer)
            )  # fmt: skip
            values = values @ weights + biases
            if layer < layout.n_layers - 1:
                values = unit_outputs(values, self.activation)
        return values

    def reconstruction_error(self, X: Any) -> NDArray[np.floating]:
        r"""Return :math:`\|x - \hat x\|^2` of each row."""
        rows = self._read(X, reset=False)
        return ((rows - self.inverse_transform(self.transform(X))) ** 2).sum(axis=1)

"""A multilayer perceptron that tells classes apart."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_sample_weight

from verulam.base import (
    Classifier,
    DataError,
    Seed,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_fit,
    encode_classes,
)
from verulam.neural._perceptron.perceptron import MultilayerPerceptron
from verulam.numerics import AdaptiveRate, Epoch, Schedule


class MLPClassifier(MultilayerPerceptron, Classifier):
    r"""Multilayer perceptron for classification, trained by back-propagation of cross-entropy.

    Hidden units :math:`z_h = s(w_h^T x)` feed outputs :math:`o_i = v_i^T z`; two classes have one
    output with :math:`y = 1/(1 + e^{-o})`, more have
    :math:`y_i = e^{o_i} / \sum_k e^{o_k}`. Training minimises

    .. math::
        E = -\frac{1}{N} \sum_t \sum_i r_i^t \log y_i^t + \frac{\alpha}{2N} \sum_w w^2 .

    Parameters
    ----------
    hidden_layer_sizes : int or sequence of int
        Units of each hidden layer.
    activation
        Function of the hidden units: "relu", "logistic", "tanh", "gaussian" or "identity".
    gain
        Steepness of logistic units.
    skip
        Whether inputs also reach the outputs directly.
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
    class_weight : dict, "balanced" or None
        Weights of the classes.
    init : "glorot", "small" or array
        Random start within bounds that suit the units, within 0.01, or all weights and biases.
    n_init
        Networks trained from different starts, of which the best is taken.
    random_state
        Seed of starts, orders and rows set aside.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
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
    See Alpaydin 11.5-11.8. His :math:`\lambda` of (11.33) is `alpha`; that of (11.32) is the
    learning rate times it, and that of (11.37) half of it. A step of his sums over the rows where
    ours takes the mean, so that his rate is ours divided by the rows of a batch. The same seed
    gives the same network for any number of threads.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import MLPClassifier
    >>> xor = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> net = MLPClassifier(
    ...     hidden_layer_sizes=3, activation="tanh", solver="lbfgs", n_init=5, random_state=0
    ... )
    >>> net.fit(xor, [0, 1, 1, 0]).predict(xor)
    array([0, 1, 1, 0])
    >>> net.size_report()["parameters"].tolist()
    [9, 4]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MultilayerPerceptron._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = (100,),
        *,
        activation: str = "relu",
        gain: float = 1.0,
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
        class_weight: Mapping[Any, float] | str | None = None,
        init: Any = "glorot",
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.gain = gain
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
        self.class_weight = class_weight
        self.init = init
        self.n_init = n_init
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["MLPClassifier"]:
        return [cls(max_iter=1000, tol=0.001)]

    def _outputs(self) -> tuple[str, int]:
        n_classes = len(self.classes_)
        return ("binary", 1) if n_classes == 2 else ("softmax", n_classes)

    def _strata(self, targets: NDArray[Any]) -> list[NDArray[np.intp]]:
        return [np.flatnonzero(targets == code) for code in range(len(self.classes_))]

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X
            Rows of numbers, on a common scale.
        y
            Their classes.
        sample_weight
            Weights of the rows.
        """
        rows, codes, weights = self._prepared(X, y, sample_weight)
        self._fit(rows, codes, weights)
        return self

    def epochs(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Epoch]:
        """Train the network while somebody watches: yield after each epoch.

        The learner can be used between epochs; ending the loop ends the training. Only the first
        of `n_init` starts is trained.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from verulam.neural import MLPClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> net = MLPClassifier(8, random_state=0)
        >>> for epoch in net.epochs(X, y):
        ...     if net.score(X, y) > 0.9:
        ...         break
        >>> len(net.history_) == epoch.number
        True
        """
        self._validate_params()
        rows, codes, weights = self._prepared(X, y, sample_weight)
        yield from self._watched(rows, codes, weights)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train one epoch on further rows.

        Parameters
        ----------
        X, y
            Rows and their classes.
        classes
            All classes there will be; needed at the first call.
        sample_weight
            Weights of the rows.
        """
        self._validate_params()
        first = not hasattr(self, "_training")
        rows = self._read(X, reset=first)
        if first:
            if classes is None:
                raise ValueError("classes: name all classes at the first call of partial_fit.")
            self.classes_ = np.unique(classes)
        labels = np.asarray(y)
        codes = np.searchsorted(self.classes_, labels)
        known = codes < len(self.classes_)
        known[known] = self.classes_[codes[known]] == labels[known]
        if not known.all():
            raise ValueError(
                f"y has the label {labels[~known].tolist()[0]!r}, which is none of the classes "
                f"{self.classes_.tolist()}."
            )
        self._continue(rows, codes, self._class_weights(labels, sample_weight, rows))
        return self

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> Any:
        self._forget()
        rows = self._read(X, reset=True)
        codes, self.classes_ = encode_classes(self, y)
        if len(codes) != len(rows):
            raise DataError(f"y has {len(codes)} labels for {len(rows)} rows of X.")
        if len(self.classes_) < 2:
            (label,) = self.classes_.tolist()
            raise ValueError(f"y has one class alone, {label!r}: there is nothing to tell apart.")
        return rows, codes, self._class_weights(self.classes_[codes], sample_weight, rows)

    def _class_weights(self, labels: Any, sample_weight: Any, rows: NDArray[Any]) -> Any:
        weights = check_weights(sample_weight, rows)
        if self.class_weight is None:
            return weights
        factors = compute_sample_weight(self.class_weight, labels)
        return factors if weights is None else factors * weights

    def predict_proba(self, X: Any) -> NDArray[np.floating]:
        """Return the probability of each class for each row."""
        check_is_fitted(self)
        outputs = self.network_.outputs(self.parameters_, self._read(X, reset=False))
        return np.hstack([1.0 - outputs, outputs]) if len(self.classes_) == 2 else outputs

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        most_probable = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[most_probable]

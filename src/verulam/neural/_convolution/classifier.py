"""A convolutional network that tells images apart."""

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from verulam.base import (
    Classifier,
    DataError,
    Seed,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_fit,
    encode_classes,
    generator,
    spawn_seeds,
)
from verulam.neural._convolution.maps import ImageError, MapNetwork, map_layout
from verulam.neural._convolution.torch_gradient import torch_is_installed
from verulam.neural._perceptron.perceptron import COUNT, MultilayerPerceptron, Problem
from verulam.numerics import AdaptiveRate, Epoch, Schedule

_SHARED = (
    "activation", "solver", "learning_rate", "momentum", "batch_size", "max_iter", "tol",
    "n_iter_no_change", "shuffle", "alpha", "early_stopping", "validation_fraction", "init",
    "n_init", "random_state",
)  # fmt: skip
#: Images of more pixels than this are left to PyTorch where it is installed.
MOST_PIXELS = 24 * 24


class ConvolutionalClassifier(MultilayerPerceptron, Classifier):
    r"""Network of maps whose units see a patch each and share their weights all over an image.

    A unit at a place :math:`(i, j)` of map :math:`m` has the output
    :math:`z_{mij} = s(\sum_{a,b,c} w_{mabc}\, x_{c,\,i+a,\,j+b} + w_{m0})`; layers of maps see the
    maps below, and the last is connected to the classes.

    Parameters
    ----------
    n_maps : int or sequence of int
        Maps of each layer.
    image_shape : tuple of int, or None
        Height and width, or channels, height and width; None takes grey squares, or a strip of
        one row where the number of columns is no square.
    patch_size
        Pixels of a patch along each axis; where a layer has fewer, its units see all of them.
    stride
        Pixels between one patch and the next.
    activation
        Function of the units: "relu", "logistic", "tanh", "gaussian" or "identity".
    backend
        "numpy" computes by own loops, "torch" by PyTorch, which is quicker for large images;
        "auto" takes it for those above 24 by 24 pixels, where it is installed.
    solver
        "adam" or "sgd" step after each batch; "lbfgs", "cg" and "newton-cg" use all rows at once.
    learning_rate : float, Schedule, AdaptiveRate or "auto"
        Rate of a step; "auto" is 0.001 for Adam and 0.01 for descent.
    momentum
        Share of the last change in the next ("sgd").
    batch_size : int, "auto" or "all"
        Images of a step; "auto" is 200.
    max_iter
        Most epochs.
    tol, n_iter_no_change
        Training ends when the error has not fallen by `tol` for so many epochs. Solvers that use
        all rows at once compare `tol` with the gradient.
    shuffle
        Whether each epoch has a new random order.
    alpha
        Weight decay.
    early_stopping
        Whether to set images aside and keep the weights of the epoch that is best on them.
    validation_fraction
        Share of the images that is set aside then.
    init : "glorot", "small" or array
        Start of the weights.
    n_init
        Networks trained from different starts, of which the best is taken.
    random_state
        Seed of starts, orders and images set aside.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    parameters_ : ndarray
        All weights and biases, flat; `coefs_` and `intercepts_` are views of it by layer.
    history_ : DataFrame
        A row for each epoch.
    restarts_ : DataFrame
        A row for each start.
    network_ : MapNetwork
        Layers and functions.
    n_iter_ : int
        Epochs.
    loss_ : float
        Training error of the last epoch.

    Notes
    -----
    See Alpaydin 11.8.3, figs. 11.14 and 11.15. An image that moves by a stride moves its maps by a
    unit. The gradient of a weight is the sum over all places, that of the text their mean; biases
    are shared as well. A network of `window_layer` with ties is the same with full matrices.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from verulam.neural import ConvolutionalClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> net = ConvolutionalClassifier((4, 8), learning_rate=0.02, tol=0.02, random_state=0)
    >>> bool(net.fit(X[:1200] / 16, y[:1200]).score(X[1200:] / 16, y[1200:]) > 0.9)
    True
    >>> net.size_report()["parameters"].tolist()
    [40, 296, 1290]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: MultilayerPerceptron._parameter_constraints[name] for name in _SHARED},
        "n_maps": ["array-like", COUNT],
        "image_shape": ["array-like", None],
        "patch_size": [COUNT],
        "stride": [COUNT],
        "backend": [StrOptions({"auto", "numpy", "torch"})],
    }
    gain = 1.0
    skip = False
    nesterov = False
    decay_biases = False
    masks = None
    tied = None
    combine = "sum"
    penalties = None

    def __init__(
        self,
        n_maps: int | Sequence[int] = (8, 16),
        *,
        image_shape: Sequence[int] | None = None,
        patch_size: int = 3,
        stride: int = 1,
        activation: str = "relu",
        backend: str = "auto",
        solver: str = "adam",
        learning_rate: float | Schedule | AdaptiveRate | str = "auto",
        momentum: float = 0.9,
        batch_size: int | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        shuffle: bool = True,
        alpha: float = 0.0001,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        init: Any = "glorot",
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.n_maps = n_maps
        self.image_shape = image_shape
        self.patch_size = patch_size
        self.stride = stride
        self.activation = activation
        self.backend = backend
        self.solver = solver
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.alpha = alpha
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.init = init
        self.n_init = n_init
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["ConvolutionalClassifier"]:
        return [cls((4, 4), learning_rate=0.01, max_iter=500, tol=0.001)]

    def _strata(self, targets: NDArray[Any]) -> list[NDArray[np.intp]]:
        return [np.flatnonzero(targets == code) for code in range(len(self.classes_))]

    def _shape(self, n_columns: int) -> tuple[int, ...]:
        """Return channels, height and width."""
        if self.image_shape is None:
            side = isqrt(n_columns)
            return (1, side, side) if side * side == n_columns else (1, 1, n_columns)
        sizes = np.asarray(self.image_shape)
        if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) not in (2, 3):
            raise DataError(
                "image_shape: height and width, or channels, height and width, in whole numbers; "
                f"got {self.image_shape!r}."
            )
        shape = tuple(int(size) for size in sizes)
        if min(shape) < 1 or int(np.prod(shape)) != n_columns:
            raise DataError(
                f"image_shape: images of {' x '.join(map(str, shape))} have {np.prod(shape)} "
                f"numbers; X has {n_columns} columns."
            )
        return shape if len(shape) == 3 else (1, *shape)

    def _map_network(self, n_columns: int) -> MapNetwork:
        counts = np.atleast_1d(np.asarray(self.n_maps))
        if counts.ndim != 1 or counts.dtype.kind not in "iu" or (counts < 1).any():
            raise DataError(
                "n_maps must be whole numbers of at least 1, one for each layer; got "
                f"{self.n_maps!r}."
            )
        n_classes = len(self.classes_)
        output, n_outputs = ("binary", 1) if n_classes == 2 else ("softmax", n_classes)
        shape = self._shape(n_columns)
        layout = map_layout(shape, counts.tolist(), self.patch_size, self.stride, n_outputs)
        return MapNetwork(layout, self.activation, output)

    def _read(self, X: Any, *, reset: bool) -> NDArray[np.floating]:
        shape = getattr(X, "shape", ())
        if len(shape) in (3, 4):
            raise DataError(
                "X: expected images as rows of pixels; got an array of the shape "
                f"{tuple(shape)}. Take X.reshape(len(X), -1) and image_shape={tuple(shape[1:])}."
            )
        return super()._read(X, reset=reset)

    def _prepared(self, X: Any, y: Any) -> tuple[NDArray[np.floating], NDArray[np.int64]]:
        self._forget()
        rows = self._read(X, reset=True)
        codes, self.classes_ = encode_classes(self, y)
        if len(codes) != len(rows):
            raise DataError(f"y has {len(codes)} labels for {len(rows)} rows of X.")
        if len(self.classes_) < 2:
            (label,) = self.classes_.tolist()
            raise ValueError(f"y has one class alone, {label!r}: there is nothing to tell apart.")
        return rows, codes.astype(np.int64)

    def _image_problem(
        self, X: Any, y: Any, sample_weight: Any, random: np.random.Generator
    ) -> Problem:
        rows, codes = self._prepared(X, y)
        weights = check_weights(sample_weight, rows)
        network = self._map_network(rows.shape[1])
        large = rows.shape[1] > MOST_PIXELS and torch_is_installed()
        backend = self.backend if self.backend != "auto" else ("torch" if large else "numpy")

        def error_of(part: Any) -> ImageError:
            shares = None if weights is None else weights[part]
            return ImageError(
                network, rows[part], codes[part], shares, float(self.alpha), backend=backend
            )

        return self._split(error_of, codes, weights, random)

    @checked_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X
            Images as rows of pixels: row after row and, where there are several channels, one
            channel after the other.
        y
            Their classes.
        sample_weight
            Weights of the images.
        """
        seeds = spawn_seeds(self.random_state, self.n_init + 1)
        problem = self._image_problem(X, y, sample_weight, generator(seeds[-1]))
        self._train(problem, seeds)
        return self

    def epochs(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Epoch]:
        """Train the network while somebody watches: yield after each epoch."""
        self._validate_params()
        seeds = spawn_seeds(self.random_state, self.n_init + 1)
        problem = self._image_problem(X, y, sample_weight, generator(seeds[-1]))
        yield from self._watch(problem, generator(seeds[0]))

    def predict_proba(self, X: Any) -> NDArray[np.floating]:
        """Return the probability of each class for each image."""
        check_is_fitted(self)
        outputs = self.network_.outputs(self.parameters_, self._read(X, reset=False))
        return np.hstack([1.0 - outputs, outputs]) if len(self.classes_) == 2 else outputs

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each image."""
        most_probable = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[most_probable]

    def feature_maps(self, X: Any, layer: int = -1) -> NDArray[np.floating]:
        """Return the outputs of a layer of maps: images by maps by height by width.

        Parameters
        ----------
        X
            Images as rows of pixels.
        layer
            Layer of maps, counted from 0; -1 is the last.
        """
        check_is_fitted(self)
        count = len(self.network_.layout.layers)
        if not -count <= layer < count:
            raise DataError(f"layer: {layer}; the network has {count} layers of maps.")
        rows = self._read(X, reset=False)
        return self.network_.maps(self.parameters_, rows, layer % count)

    def hidden_outputs(self, X: Any, layer: int = -1) -> NDArray[np.floating]:
        """Return the outputs of a layer of maps as rows: the network's own features.

        Parameters
        ----------
        X, layer
            As in `feature_maps`.
        """
        maps = self.feature_maps(X, layer)
        return maps.reshape(len(maps), -1)

    @property
    def coefs_(self) -> list[NDArray[np.floating]]:
        """Weights of each layer: those of patches by maps, and at last units by outputs."""
        layout = self.network_.layout
        parts = [layer.weights(self.parameters_) for layer in layout.layers]
        return [*parts, layout.output_weights(self.parameters_)]

    @property
    def intercepts_(self) -> list[NDArray[np.floating]]:
        """Biases of each layer, one for each map."""
        layout = self.network_.layout
        parts = [layer.biases(self.parameters_) for layer in layout.layers]
        return [*parts, layout.output_biases(self.parameters_)]

"""The Parzen classifier: windows vote for the class of the point they stand on."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    Classifier,
    DataError,
    Interval,
    StrOptions,
    check_is_fitted,
    check_weights,
    checked_fit,
    encode_classes,
    validate_data,
)
from verulam.nonparametric._density.bandwidths import find_bandwidth
from verulam.nonparametric._density.window_shapes import shape_units
from verulam.nonparametric._windows.functions import Profile, Window, find_window
from verulam.nonparametric._windows.window_sums import StoredPoints, log_window_sums, store_points
from verulam.numerics import PosteriorMixin


class ParzenClassifier(PosteriorMixin, Classifier):
    r"""Estimate the density of each class by windows, and choose the most probable class.

    Parameters
    ----------
    kernel
        Name of a window or a function of the distance, as for `KernelDensity`.
    bandwidth
        The width :math:`h`, or how to find it from the data less their class means: "scott",
        "silverman" or "likelihood".
    shape
        What :math:`h` is measured in: "spherical", "diagonal" or "full", see `KernelDensity`;
        spreads are those within classes.
    priors
        None for the shares of the classes in the data, or "equal".
    rtol
        Relative error allowed in a sum of windows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    priors_ : ndarray of shape (n_classes,)
        Class priors :math:`P_i`.
    bandwidth_ : float
        The width :math:`h`.
    whitening_ : ndarray of shape (n_features, n_features)
        Matrix that maps inputs to units of the bandwidth.

    Notes
    -----
    .. math:: g_i(x) = \hat p(x \mid C_i) \hat P(C_i)
              = \frac{1}{N h^d} \sum_t K\left(\frac{x - x^t}{h}\right) r_i^t

    Where no window reaches, the priors decide. A Gaussian window that narrows becomes the
    nearest-neighbour rule. See Alpaydin 8.4 (8.13)-(8.14), Bartkowiak 4.2, SIT1305 III.

    Examples
    --------
    >>> from verulam.nonparametric import ParzenClassifier
    >>> classifier = ParzenClassifier(bandwidth=1.0).fit([[0.0], [1.0], [4.0]], ["a", "a", "b"])
    >>> classifier.predict([[2.0], [3.5]]).tolist()
    ['a', 'b']
    >>> classifier.predict_proba([[2.0]]).round(3)
    array([[0.846, 0.154]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [str, callable, Window],
        "bandwidth": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"scott", "silverman", "likelihood"}),
        ],
        "shape": [StrOptions({"spherical", "diagonal", "full"})],
        "priors": [StrOptions({"equal"}), None],
        "rtol": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        *,
        kernel: str | Window | Profile = "gaussian",
        bandwidth: float | str = "scott",
        shape: str = "spherical",
        priors: str | None = None,
        rtol: float = 0.0,
    ) -> None:
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.shape = shape
        self.priors = priors
        self.rtol = rtol

    @classmethod
    def _example_learners(cls) -> list["ParzenClassifier"]:
        return [cls(), cls(kernel="epanechnikov", bandwidth=1.0, priors="equal")]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Store the points of each class; `sample_weight` says how often each counts."""
        inputs, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        weights = check_weights(sample_weight, inputs)
        counts = np.ones(len(inputs)) if weights is None else weights
        if counts.sum() <= 0:
            raise DataError("sample_weight: all weights are zero; at least one must be above.")
        codes, self.classes_ = encode_classes(self, labels)
        present = counts > 0
        inputs, codes, counts = inputs[present], codes[present], counts[present]
        totals = np.bincount(codes, counts, len(self.classes_))
        self.priors_ = totals / totals.sum()
        if self.priors == "equal":
            self.priors_ = np.full(len(totals), 1.0 / len(totals))
        # Spreads within classes: the distance between classes says nothing about their shape.
        centred = _less_class_means(inputs, codes, counts, totals)
        units = shape_units(centred, counts, self.shape)
        width = find_bandwidth(self.bandwidth, centred @ units, counts, find_window(self.kernel))
        self.bandwidth_ = width
        self.whitening_ = units / width
        self._windows = ClassWindows(inputs @ self.whitening_, codes, counts, len(totals))
        return self

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of each row under each class."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        window = find_window(self.kernel)
        sums = self._windows.log_sums(inputs @ self.whitening_, window, self.rtol)
        volume = np.linalg.slogdet(self.whitening_)[1]
        with np.errstate(divide="ignore"):
            totals = np.log(self._windows.counts)
        # A class whose rows all have weight zero has no density anywhere.
        totals[np.isneginf(totals)] = 0.0
        return sums - totals + volume - window.log_norm(inputs.shape[1])

    def _joint_log_likelihood(self, X: ArrayLike) -> np.ndarray:
        joint = self.class_log_density(X)
        with np.errstate(divide="ignore"):
            log_priors = np.log(self.priors_)
        joint += log_priors
        joint[np.isneginf(joint).all(axis=1)] = log_priors
        return joint


@dataclass(frozen=True)
class ClassWindows:
    """Stored points by class, in units of the bandwidth.

    Attributes
    ----------
    points
        One row per point.
    codes
        Class of each, as a position.
    weights
        How often each counts.
    n_classes
        Number of classes.
    """

    points: np.ndarray
    codes: np.ndarray
    weights: np.ndarray
    n_classes: int

    def __getstate__(self) -> dict[str, Any]:
        # Blocks are copies of the points: quick to make again, and no need to store them twice.
        return {name: value for name, value in vars(self).items() if name != "blocks"}

    @property
    def counts(self) -> np.ndarray:
        """Total weight of each class."""
        return np.bincount(self.codes, self.weights, self.n_classes)

    @cached_property
    def blocks(self) -> list[StoredPoints | None]:
        """The points of each class in blocks; None where none of them has any weight."""
        return [self._block(code) for code in range(self.n_classes)]

    def _block(self, code: int) -> StoredPoints | None:
        members = (self.codes == code) & (self.weights > 0)
        if not members.any():
            return None
        return store_points(self.points[members], self.weights[members])

    def log_sums(self, queries: np.ndarray, window: Window, rtol: float = 0.0) -> np.ndarray:
        """Return the logarithm of the sum of windows of each class, at each query."""
        sums = np.full((len(queries), self.n_classes), -np.inf)
        for code, stored in enumerate(self.blocks):
            if stored is not None:
                sums[:, code] = log_window_sums(queries, stored, window, rtol=rtol)
        return sums


def _less_class_means(
    inputs: np.ndarray, codes: np.ndarray, counts: np.ndarray, totals: np.ndarray
) -> np.ndarray:
    """Return the inputs with the mean of their class taken off."""
    sums = np.zeros((len(totals), inputs.shape[1]))
    np.add.at(sums, codes, counts[:, None] * inputs)
    return inputs - (sums / np.maximum(totals, 1e-300)[:, None])[codes]

"""The Parzen classifier: windows vote for the class of the point they stand on."""

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
from verulam.nonparametric._density.kernel_density import find_bandwidth, shape_units
from verulam.nonparametric._window_classifiers.class_windows import ClassWindows
from verulam.nonparametric._windows.functions import Profile, Window, find_window
from verulam.numerics import PosteriorMixin


class ParzenClassifier(PosteriorMixin, Classifier):
    r"""Estimate the density of each class by windows, and choose the most probable class.

    Parameters
    ----------
    window
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
        "window": [str, callable, Window],
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
        window: str | Window | Profile = "gaussian",
        bandwidth: float | str = "scott",
        shape: str = "spherical",
        priors: str | None = None,
        rtol: float = 0.0,
    ) -> None:
        self.window = window
        self.bandwidth = bandwidth
        self.shape = shape
        self.priors = priors
        self.rtol = rtol

    @classmethod
    def _example_learners(cls) -> list["ParzenClassifier"]:
        return [cls(), cls(window="epanechnikov", bandwidth=1.0, priors="equal")]

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Store the points of each class; `sample_weight` says how often each counts."""
        inputs, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        weights = check_weights(sample_weight, inputs)
        counts = np.ones(len(inputs)) if weights is None else weights
        if counts.sum() <= 0:
            raise DataError("sample_weight: all weights are zero; at least one must be above.")
        codes, self.classes_ = encode_classes(self, labels)
        kept = counts > 0
        inputs, codes, counts = inputs[kept], codes[kept], counts[kept]
        totals = np.bincount(codes, counts, len(self.classes_))
        self.priors_ = totals / totals.sum()
        if self.priors == "equal":
            self.priors_ = np.full(len(totals), 1.0 / len(totals))
        centred = _less_class_means(inputs, codes, counts, totals)
        units = shape_units(centred, counts, self.shape)
        width = find_bandwidth(self.bandwidth, centred @ units, counts, find_window(self.window))
        self.bandwidth_ = width
        self.whitening_ = units / width
        self._windows = ClassWindows(inputs @ self.whitening_, codes, counts, len(totals))
        return self

    def class_log_density(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of each row under each class."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        window = find_window(self.window)
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


def _less_class_means(
    inputs: np.ndarray, codes: np.ndarray, counts: np.ndarray, totals: np.ndarray
) -> np.ndarray:
    """Return the inputs with the mean of their class taken off."""
    sums = np.zeros((len(totals), inputs.shape[1]))
    np.add.at(sums, codes, counts[:, None] * inputs)
    return inputs - (sums / np.maximum(totals, 1e-300)[:, None])[codes]

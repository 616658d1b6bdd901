"""The probabilistic neural network: one hidden unit per stored pattern."""

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
    checked_fit,
    encode_classes,
    validate_data,
)
from verulam.nonparametric._window_classifiers.parzen import ClassWindows
from verulam.nonparametric._windows.functions import WINDOWS
from verulam.numerics import PosteriorMixin


class ProbabilisticNeuralNetwork(PosteriorMixin, Classifier):
    r"""Classify directions by stored patterns, which can be added and removed at any time.

    Parameters
    ----------
    bandwidth
        Width :math:`\sigma` of the activation, in units of the unit sphere's radius.
    priors
        "sample" sums the activations of each class; "equal" takes their means.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    patterns_ : ndarray of shape (n_patterns, n_features)
        Weights of the hidden units: the training rows, scaled to length one.
    codes_ : ndarray of shape (n_patterns,)
        Class of each, as a position in `classes_`.

    Notes
    -----
    Rows are scaled to length one (a row of zeros stays one). Unit :math:`k` answers to
    :math:`z_k = x^T w_k` with

    .. math:: e^{(z_k - 1) / \sigma^2} = e^{-\|x - w_k\|^2 / 2\sigma^2}

    so that the network is a Parzen classifier on the sphere. Learning is one pass; so is
    unlearning. See Bartkowiak 4.3.

    Examples
    --------
    >>> from verulam.nonparametric import ProbabilisticNeuralNetwork
    >>> network = ProbabilisticNeuralNetwork().fit([[1.0, 0.0], [0.0, 2.0]], ["east", "north"])
    >>> network.predict([[3.0, 1.0]]).tolist()
    ['east']
    >>> network.partial_fit([[2.0, 1.0]], ["north"]).predict([[3.0, 1.4]]).tolist()
    ['north']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "bandwidth": [Interval(Real, 0, None, closed="neither")],
        "priors": [StrOptions({"sample", "equal"})],
    }

    def __init__(self, *, bandwidth: float = 0.5, priors: str = "sample") -> None:
        self.bandwidth = bandwidth
        self.priors = priors

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Store the patterns."""
        inputs, labels = validate_data(self, X, y, dtype=np.float64, order="C", any_size=True)
        codes, self.classes_ = encode_classes(self, labels)
        return self._store(unit_rows(inputs), codes)

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Add patterns; `classes` names, at the first call, those that will ever come."""
        first = not hasattr(self, "patterns_")
        inputs, labels = validate_data(
            self, X, y, dtype=np.float64, order="C", reset=first, any_size=True
        )
        announced = encode_classes(self, labels if classes is None else np.asarray(classes))[1]
        if first:
            self.classes_ = announced
        codes = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        unknown = self.classes_[codes] != labels
        if unknown.any():
            raise DataError(
                f"y has the class {labels[unknown][0]!r}, which is not among classes "
                f"{', '.join(map(str, self.classes_))}; name all of them in the first partial_fit."
            )
        patterns = unit_rows(inputs)
        if not first:
            patterns = np.concatenate([self.patterns_, patterns])
            codes = np.concatenate([self.codes_, codes])
        return self._store(patterns, codes)

    def remove(self, patterns: ArrayLike) -> Self:
        """Forget the stored patterns at the given positions."""
        check_is_fitted(self)
        stays = np.ones(len(self.patterns_), dtype=bool)
        removed = np.asarray(patterns, dtype=np.intp)
        if removed.size and (removed.min() < 0 or removed.max() >= len(stays)):
            raise DataError(f"patterns must be positions from 0 to {len(stays) - 1}.")
        stays[removed] = False
        if not stays.any():
            raise DataError("patterns: at least one pattern must stay.")
        return self._store(self.patterns_[stays], self.codes_[stays])

    def _store(self, patterns: np.ndarray, codes: np.ndarray) -> Self:
        self.patterns_, self.codes_ = patterns, codes
        scaled = patterns / self.bandwidth
        self._windows = ClassWindows(scaled, codes, np.ones(len(codes)), len(self.classes_))
        return self

    def activations(self, X: ArrayLike) -> np.ndarray:
        """Return the answer of each hidden unit to each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False, any_size=True)
        # Squares are 1 but for rows of zeros, and for rounding: with them no answer exceeds 1.
        squares = np.square(unit_rows(inputs)).sum(axis=1)[:, None]
        pattern_squares = np.square(self.patterns_).sum(axis=1)
        products = unit_rows(inputs) @ self.patterns_.T
        return np.exp((products - 0.5 * (squares + pattern_squares)) / self.bandwidth**2)

    def _joint_log_likelihood(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False, any_size=True)
        sums = self._windows.log_sums(unit_rows(inputs) / self.bandwidth, WINDOWS["gaussian"])
        if self.priors == "sample":
            return sums
        return sums - np.log(np.maximum(self._windows.counts, 1.0))


def unit_rows(inputs: np.ndarray) -> np.ndarray:
    """Return rows scaled to length one; a row of zeros stays as it is."""
    largest = np.abs(inputs).max(axis=1, keepdims=True)
    # By the largest entry first: squares of huge or tiny numbers would not be numbers.
    scaled = inputs / np.where(largest > 0, largest, 1.0)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled / np.where(lengths > 0, lengths, 1.0)

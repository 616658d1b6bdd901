"""Maximum-likelihood densities: Bernoulli, multinomial and Gaussian."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlog1py, xlogy

from verulam.base import (
    Chunk,
    DataError,
    Density,
    Interval,
    OnePass,
    Seed,
    StrOptions,
    SumRecord,
    check_is_fitted,
    generator,
    validate_data,
)
from verulam.numerics import factorise, gaussian_log_density
from verulam.parametric._class_parameters import (
    class_moments,
    estimate_covariances,
    raise_to_floor,
    total_variances,
)

#: All rows are one class, whose covariance is the tied one: cheaper sums, and messages that
#: name no class.
_TIED = {"full": "tied", "diag": "tied_diag", "spherical": "tied_spherical"}


class LogLikelihoodMixin:
    """The total log-likelihood of a sample, from `score_samples`."""

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Return the log-likelihood of the rows of `X`."""
        return float(self.score_samples(X).sum())  # type: ignore[attr-defined] # by the learner


@dataclass(frozen=True)
class ColumnTotals(SumRecord):
    """Total weight of the rows, and weighted sum of each column."""

    weight: float
    sums: np.ndarray


@dataclass(frozen=True)
class Probabilities:
    """The fitted parameters, named as the attributes of the densities."""

    probabilities: np.ndarray


def column_totals(chunk: Chunk) -> ColumnTotals:
    """Return the totals of one chunk."""
    if chunk.weights is None:
        return ColumnTotals(float(len(chunk)), chunk.inputs.sum(axis=0))
    return ColumnTotals(float(chunk.weights.sum()), chunk.weights @ chunk.inputs)


class BernoulliDensity(LogLikelihoodMixin, OnePass, Density):
    r"""Independent columns of zeros and ones.

    Parameters
    ----------
    threshold
        Numbers above it count as 1, others as 0. With None, only 0 and 1 are accepted.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_features,)
        Probability of a 1 in each column.
    statistics_ : ColumnTotals
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: \hat p_j = \frac1N \sum_t x_j^t, \qquad
              \ln p(x) = \sum_j x_j \ln \hat p_j + (1 - x_j) \ln(1 - \hat p_j)

    See SIT1305 II.

    Examples
    --------
    >>> from verulam.parametric import BernoulliDensity
    >>> density = BernoulliDensity().fit([[1], [1], [0], [1]])
    >>> density.probabilities_
    array([0.75])
    >>> density.score([[1], [1], [0], [1]])
    -2.249...
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"threshold": [Real, None]}

    def __init__(self, *, threshold: float | None = None) -> None:
        self.threshold = threshold

    @classmethod
    def _example_learners(cls) -> list["BernoulliDensity"]:
        return [cls(threshold=0.0)]

    def _check_inputs(self, X: Any, reset: bool) -> np.ndarray:
        inputs = super()._check_inputs(X, reset)
        if self.threshold is not None:
            return (inputs > self.threshold).astype(np.float64)
        wrong = (inputs != 0) & (inputs != 1)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            raise DataError(
                f"X has {inputs[row, column]:.6g} in row {row}, column {column}; accepted are 0 "
                "and 1, or any numbers with a threshold."
            )
        return inputs

    def _statistics(self, chunk: Chunk, parameters: None) -> ColumnTotals:
        return column_totals(chunk)

    def _update(self, statistics: ColumnTotals) -> Probabilities:
        return Probabilities(statistics.sums / statistics.weight)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-probability of each row."""
        check_is_fitted(self)
        inputs = self._check_inputs(X, reset=False)
        # xlogy counts 0 log 0 as 0: what never happened and does not happen costs nothing.
        terms = xlogy(inputs, self.probabilities_) + xlog1py(1.0 - inputs, -self.probabilities_)
        return terms.sum(axis=1)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows of zeros and ones."""
        check_is_fitted(self)
        shape = (n_samples, len(self.probabilities_))
        return (generator(random_state).random(shape) < self.probabilities_).astype(np.float64)


class MultinomialDensity(LogLikelihoodMixin, OnePass, Density):
    r"""Counts of several outcomes: one draw per row, or many.

    Parameters
    ----------
    alpha
        Pseudo-count added to each outcome; 0 gives the maximum of the likelihood.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_features,)
        Probability of each outcome.
    statistics_ : ColumnTotals
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: \hat p_i = \frac{\sum_t x_i^t + \alpha}{\sum_t\sum_j x_j^t + \alpha K}, \qquad
              \ln p(x) = \ln\frac{(\sum_i x_i)!}{\prod_i x_i!} + \sum_i x_i \ln \hat p_i

    See SIT1305 II.

    Examples
    --------
    >>> from verulam.parametric import MultinomialDensity
    >>> MultinomialDensity().fit([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]]).probabilities_
    array([0.5 , 0.25, 0.25])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, *, alpha: float = 0.0) -> None:
        self.alpha = alpha

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _check_inputs(self, X: Any, reset: bool) -> np.ndarray:
        inputs = super()._check_inputs(X, reset)
        if (inputs < 0).any():
            row, column = np.argwhere(inputs < 0)[0]
            raise DataError(
                "Negative values in data passed to MultinomialDensity: "
                f"{inputs[row, column]:.6g} in row {row}, column {column}; counts are needed."
            )
        return inputs

    def _statistics(self, chunk: Chunk, parameters: None) -> ColumnTotals:
        return column_totals(chunk)

    def _update(self, statistics: ColumnTotals) -> Probabilities:
        sums = statistics.sums + self.alpha
        if sums.sum() == 0:
            raise DataError("All counts are zero; set alpha above 0 or give some counts.")
        return Probabilities(sums / sums.sum())

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-probability of each row of counts."""
        check_is_fitted(self)
        counts = self._check_inputs(X, reset=False)
        # The multinomial coefficient, in logarithms since factorials overflow at 171.
        ways = gammaln(counts.sum(axis=1) + 1.0) - gammaln(counts + 1.0).sum(axis=1)
        return ways + xlogy(counts, self.probabilities_).sum(axis=1)

    def sample(self, n_samples: int = 1, n_draws: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows of counts, each the result of `n_draws` draws."""
        check_is_fitted(self)
        drawn = generator(random_state).multinomial(n_draws, self.probabilities_, size=n_samples)
        return drawn.astype(np.float64)


@dataclass(frozen=True)
class GaussianParameters:
    """The fitted parameters, named as the attributes of the density."""

    mean: np.ndarray
    covariance_matrix: np.ndarray


class GaussianDensity(LogLikelihoodMixin, OnePass, Density):
    r"""A Gaussian in one or many dimensions.

    Parameters
    ----------
    covariance_type
        "full", "diag" or "spherical".
    unbiased
        Divide the scatter by :math:`N - 1` instead of the maximum likelihood's :math:`N`.
    variance_floor
        Least variance, as a fraction of a column's variance, or of 1 for a constant column.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Sample mean :math:`m`.
    covariance_matrix_ : ndarray of shape (n_features, n_features)
        Sample covariance :math:`S`, with zeros where `covariance_type` has them.
    statistics_ : ByClass
        Sums over the training data, to which `partial_fit` adds.

    Notes
    -----
    .. math:: \ln p(x) = -\tfrac d2 \ln 2\pi - \tfrac12 \ln|S| - \tfrac12 (x-m)^T S^{-1} (x-m)

    See SIT1305 II; there the printed one-dimensional density has :math:`\sigma` under the root.

    Examples
    --------
    >>> from verulam.parametric import GaussianDensity
    >>> density = GaussianDensity().fit([[1.0], [3.0], [5.0]])
    >>> density.mean_, density.covariance_matrix_.round(4)
    (array([3.]), array([[2.6667]]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "covariance_type": [StrOptions({"full", "diag", "spherical"})],
        "unbiased": ["boolean"],
        "variance_floor": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        *,
        covariance_type: str = "full",
        unbiased: bool = False,
        variance_floor: float = 1e-7,
    ) -> None:
        self.covariance_type = covariance_type
        self.unbiased = unbiased
        self.variance_floor = variance_floor

    def _statistics(self, chunk: Chunk, parameters: None) -> Any:
        # One class, so that the sums of the classifiers serve here too.
        codes = np.zeros(len(chunk), dtype=np.intp)
        one_class = Chunk(chunk.inputs, codes, chunk.weights, np.zeros(1))
        return class_moments(one_class, _TIED[self.covariance_type])

    def _update(self, statistics: Any) -> GaussianParameters:
        moments, tied_type = statistics.statistics, _TIED[self.covariance_type]
        covariance = raise_to_floor(
            estimate_covariances(moments, tied_type, unbiased=self.unbiased),
            tied_type,
            self.variance_floor * total_variances(moments),
            statistics.classes,
        )
        if covariance.ndim < 2:
            covariance = np.diag(np.broadcast_to(covariance, moments.mean[0].shape))
        return GaussianParameters(moments.mean[0], covariance)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        factor = factorise(self.mean_[None], self.covariance_matrix_, "tied")
        return gaussian_log_density(inputs, factor)[:, 0]

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> np.ndarray:
        """Draw rows from the density."""
        check_is_fitted(self)
        return generator(random_state).multivariate_normal(
            self.mean_, self.covariance_matrix_, size=n_samples, method="cholesky"
        )

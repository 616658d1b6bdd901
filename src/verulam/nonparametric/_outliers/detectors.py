"""One-class detectors: model what is typical, and flag what the model finds improbable."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    RANDOM_STATE,
    HasMethods,
    Interval,
    OutlierDetector,
    Seed,
    check_is_fitted,
    checked_fit,
    checked_fit_with_parts,
    clone,
    generator,
    validate_data,
)
from verulam.nonparametric._density.kernel_density import KernelDensity
from verulam.numerics import factorise, gaussian_log_density

CONTAMINATION = [Interval(Real, 0.0, 0.5, closed="right")]


class Detector(OutlierDetector):
    """What detectors share: scores, high for the typical, and a threshold by contamination."""

    def _typicality(self, inputs: np.ndarray) -> np.ndarray:
        """Return a score of each row, high for typical ones."""
        raise NotImplementedError

    def _set_threshold(self, scores: np.ndarray, contamination: float) -> None:
        ordered = np.sort(scores)
        count = round(contamination * len(scores))
        lowest, typical = ordered[max(count - 1, 0)], ordered[min(count, len(ordered) - 1)]
        # Halfway between flagged and typical, so that rounding moves no one across.
        self.offset_ = float(0.5 * (lowest + typical) if np.isfinite(lowest) else typical)

    def _queries(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, order="C", reset=False)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return a score of each row, high for typical ones."""
        queries = self._queries(X)
        return self._typicality(queries)

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the score of each row above the threshold; negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return 1 for typical rows and -1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


class GaussianDetector(Detector):
    r"""Flag rows that are improbable under one Gaussian.

    Parameters
    ----------
    contamination
        Share of the training rows to flag.
    robust
        Whether mean and covariance come from the most concentrated half of the data, so that
        outliers among the training rows do not move them.
    random_state
        Seed of the search for that half.

    Attributes
    ----------
    mean_, covariance_ : ndarray
        Parameters of the Gaussian.
    offset_ : float
        Threshold of the log-density.

    Notes
    -----
    Low density is the same as a large Mahalanobis distance from the mean. A single far row can
    spoil an ordinary mean and covariance, and hide behind them. See Alpaydin 8.7.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import GaussianDetector
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> GaussianDetector(contamination=0.05).fit(X).predict([[0.0, 0.0], [4.0, -4.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "contamination": CONTAMINATION,
        "robust": ["boolean"],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self, *, contamination: float = 0.1, robust: bool = False, random_state: Seed = None
    ) -> None:
        self.contamination = contamination
        self.robust = robust
        self.random_state = random_state

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Estimate the Gaussian and set the threshold."""
        inputs = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        if self.robust:
            from sklearn.covariance import MinCovDet

            seed = int(generator(self.random_state).integers(2**31 - 1))
            estimate = MinCovDet(random_state=seed).fit(inputs)
            self.mean_, self.covariance_ = estimate.location_, estimate.covariance_
        else:
            self.mean_ = inputs.mean(axis=0)
            self.covariance_ = np.cov(inputs.T, bias=True).reshape(2 * (inputs.shape[1],))
        # A column that hardly varies, or follows from others, must not make the matrix singular.
        floor = 1e-10 * max(float(np.trace(self.covariance_)) / inputs.shape[1], 1e-290)
        self.covariance_ = self.covariance_ + floor * np.eye(inputs.shape[1])
        self._set_threshold(self._typicality(inputs), self.contamination)
        return self

    def _typicality(self, inputs: np.ndarray) -> np.ndarray:
        factor = factorise(self.mean_[None], self.covariance_[None], "full")
        return gaussian_log_density(inputs, factor)[:, 0]


class MixtureDetector(Detector):
    r"""Flag rows that are improbable under a mixture of Gaussians.

    Parameters
    ----------
    n_components
        Number of Gaussians.
    contamination
        Share of the training rows to flag.
    smallest_share
        Components with a smaller share of the rows are not taken for typical: a few rows far from
        all others make a cluster of their own, where their density is high.
    random_state
        Seed of the starting point.

    Attributes
    ----------
    means_, covariances_, shares_ : ndarray
        Parameters of the components that count as typical.
    n_dropped_ : int
        Number of components that do not.
    offset_ : float
        Threshold of the log-density.

    Notes
    -----
    Alpaydin 8.7: an outlier is far from its nearest cluster centre, or forms a cluster by itself.
    The mixture is scikit-learn's.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import MixtureDetector
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(size=(100, 2)), rng.normal(8, 1, size=(100, 2)), [[30, 0]]])
    >>> detector = MixtureDetector(n_components=3, contamination=0.01, random_state=0).fit(X)
    >>> detector.n_dropped_, detector.predict([[0, 0], [8, 8], [4, 4], [30, 0]])
    (1, array([ 1,  1, -1, -1]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "contamination": CONTAMINATION,
        "smallest_share": [Interval(Real, 0.0, 1.0, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        *,
        n_components: int = 2,
        contamination: float = 0.1,
        smallest_share: float = 0.02,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.contamination = contamination
        self.smallest_share = smallest_share
        self.random_state = random_state

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Fit the mixture, drop the smallest components and set the threshold."""
        from sklearn.mixture import GaussianMixture

        inputs = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        seed = int(generator(self.random_state).integers(2**31 - 1))
        mixture = GaussianMixture(self.n_components, random_state=seed).fit(inputs)
        typical = mixture.weights_ >= min(self.smallest_share, float(mixture.weights_.max()))
        self.means_, self.covariances_ = mixture.means_[typical], mixture.covariances_[typical]
        self.shares_ = mixture.weights_[typical] / mixture.weights_[typical].sum()
        self.n_dropped_ = int((~typical).sum())
        self._set_threshold(self._typicality(inputs), self.contamination)
        return self

    def _typicality(self, inputs: np.ndarray) -> np.ndarray:
        factor = factorise(self.means_, self.covariances_, "full")
        logs = gaussian_log_density(inputs, factor) + np.log(self.shares_)
        return np.logaddexp.reduce(logs, axis=1)


class DensityDetector(Detector):
    r"""Flag rows where an estimated density is low.

    Parameters
    ----------
    estimator
        Any learner with `score_samples`. None stands for a kernel density in units of each
        column's standard deviation.
    contamination
        Share of the training rows to flag.

    Attributes
    ----------
    estimator_ : learner
        The fitted density.
    offset_ : float
        Threshold of the log-density.

    Notes
    -----
    The less a density assumes, the less outliers among the training rows can spoil it. See
    Alpaydin 8.7.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.nonparametric import DensityDetector
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(300, 1)) ** 3
    >>> DensityDetector(contamination=0.01).fit(X).predict([[0.0], [1.5]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "score_samples"]), None],
        "contamination": CONTAMINATION,
    }

    def __init__(self, *, estimator: Any = None, contamination: float = 0.1) -> None:
        self.estimator = estimator
        self.contamination = contamination

    @checked_fit_with_parts
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Fit the density and set the threshold."""
        inputs = validate_data(self, X, dtype=np.float64, order="C", ensure_min_samples=2)
        density = KernelDensity(shape="diagonal") if self.estimator is None else self.estimator
        self.estimator_ = clone(density).fit(inputs)
        self._set_threshold(self._typicality(inputs), self.contamination)
        return self

    def _typicality(self, inputs: np.ndarray) -> np.ndarray:
        return np.asarray(self.estimator_.score_samples(inputs))

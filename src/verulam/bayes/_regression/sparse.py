"""Priors with a peak at zero: the likeliest weights of many are zero exactly."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso

from verulam.base import (
    DataError,
    Interval,
    Regressor,
    StrOptions,
    check_is_fitted,
    checked_fit,
    numeric_targets,
    validate_data,
    warn_caller,
)

#: Weights below this share of the largest are zero.
_NOTHING = 1e-9
#: Weights that move predictions by less than this share of the spread of the targets are zero, too.
_NEGLIGIBLE = 1e-5
#: Noise is taken to be no less than this share of the variance of the targets.
_LEAST_NOISE = 1e-12
#: Steps of the search for the weights of one noise variance.
_INNER_STEPS = 10_000


class SparseRegression(Regressor):
    r"""The likeliest weights of a linear function under a prior that prefers zeros.

    Parameters
    ----------
    prior
        "laplace": the prior :math:`\frac\alpha2 e^{-\alpha |w|}`, whose MAP estimate is the lasso;
        "jeffreys": :math:`1 / |w|`, which has no parameter and shrinks large weights less.
    alpha
        Sharpness :math:`\alpha` of the Laplace prior.
    noise_variance
        Variance :math:`\sigma^2` of the noise; None estimates it together with the weights.
    fit_intercept
        Whether there is a constant, with a flat prior.
    max_iter
        Most updates of weights and noise in turn.
    tol
        Largest change of a prediction, in standard deviations of the target, at which to stop.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The likeliest weights, many of them zero.
    intercept_ : float
        The constant.
    noise_variance_ : float
        Variance of the noise.
    n_iter_ : int
        Number of updates.

    Notes
    -----
    .. math:: \min_w \sum_t (r^t - w^T x^t)^2 + 2 \sigma^2 \alpha \sum_i |w_i|

    The vectors (1, 0) and :math:`(1, 1)/\sqrt2` have the same length, but absolute values that sum
    to 1 and to :math:`\sqrt2`: this penalty prefers the first. The prior "jeffreys" is that of
    Figueiredo's adaptive sparseness [figueiredo2003]_. See Alpaydin 16.4.1.

    References
    ----------
    .. [figueiredo2003] M. A. T. Figueiredo, "Adaptive sparseness for supervised learning", IEEE
       Transactions on Pattern Analysis and Machine Intelligence 25, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import SparseRegression
    >>> X = np.random.default_rng(0).normal(size=(50, 4))
    >>> y = 3.0 * X[:, 1] + 0.1 * X[:, 2] ** 2
    >>> SparseRegression(prior="jeffreys").fit(X, y).coef_.round(2)
    array([0.  , 2.99, 0.  , 0.  ])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "prior": [StrOptions({"laplace", "jeffreys"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "noise_variance": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        prior: str = "laplace",
        alpha: float = 1.0,
        noise_variance: float | None = None,
        fit_intercept: bool = True,
        max_iter: int = 200,
        tol: float = 1e-6,
    ) -> None:
        self.prior = prior
        self.alpha = alpha
        self.noise_variance = noise_variance
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows and their targets."""
        inputs, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        targets = numeric_targets(self, y)
        if len(targets) < 2 and self.noise_variance is None:
            raise DataError(
                "one row (n_samples = 1) tells nothing of the noise: give noise_variance, or two "
                "rows or more."
            )
        centre = inputs.mean(axis=0) if self.fit_intercept else np.zeros(inputs.shape[1])
        level = float(targets.mean()) if self.fit_intercept else 0.0
        self.coef_ = self._search(inputs - centre, targets - level)
        self.intercept_ = float(level - centre @ self.coef_)
        return self

    def _search(self, design: np.ndarray, targets: np.ndarray) -> np.ndarray:
        scale = float(targets @ targets) / len(targets)
        least = max(_LEAST_NOISE * scale, 1e-300)
        start = np.linalg.lstsq(design, targets, rcond=None)[0]
        weights = np.asarray(start)
        if self.prior == "jeffreys":
            # From all weights, as one that is zero stays so; of as many as rows none are exact.
            ridge = 1e-2 * max(float((design**2).sum()) / design.shape[1], 1e-300)
            weights = np.linalg.solve(
                design.T @ design + ridge * np.eye(design.shape[1]), design.T @ targets
            )
        self.noise_variance_ = self._noise(design, targets, weights, least)
        for count in range(1, self.max_iter + 1):
            self.n_iter_ = count
            if self.prior == "laplace":
                later = _lasso(design, targets, self.noise_variance_ * self.alpha)
            else:
                later = _adaptive(design, targets, weights, self.noise_variance_)
            change = np.abs(design @ (later - weights)).max(initial=0.0)
            weights = later
            noise = self._noise(design, targets, weights, least)
            settled = abs(noise - self.noise_variance_) <= self.tol * max(noise, least)
            self.noise_variance_ = noise
            if change <= self.tol * np.sqrt(scale) and settled:
                break
        else:
            warn_caller(
                f"SparseRegression had not converged after max_iter={self.max_iter} updates; raise "
                "max_iter or tol.",
                ConvergenceWarning,
            )
        # What was still on its way to zero adds less to a prediction than this.
        sizes = np.abs(weights) * np.sqrt((design**2).mean(axis=0))
        return np.where(sizes > _NEGLIGIBLE * np.sqrt(scale), weights, 0.0)

    def _noise(
        self, design: np.ndarray, targets: np.ndarray, weights: np.ndarray, least: float
    ) -> float:
        if self.noise_variance is not None:
            return float(self.noise_variance)
        residual = targets - design @ weights
        # Weights that are not zero are fitted, too: without them the noise would die out.
        freedom = max(len(targets) - int(np.count_nonzero(weights)), 1)
        return max(float(residual @ residual) / freedom, least)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the value of the linear function at each row."""
        check_is_fitted(self)
        inputs = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return np.asarray(inputs @ self.coef_ + self.intercept_)


def _lasso(design: np.ndarray, targets: np.ndarray, penalty: float) -> np.ndarray:
    """Return the minimum of half the squared errors and of a penalty times absolute weights."""
    solver = Lasso(
        alpha=penalty / len(targets), fit_intercept=False, max_iter=_INNER_STEPS, tol=1e-10
    )
    return np.asarray(solver.fit(design, targets).coef_)


def _adaptive(
    design: np.ndarray, targets: np.ndarray, weights: np.ndarray, noise: float
) -> np.ndarray:
    """Return the next weights of EM under Jeffreys' prior of their variances."""
    alive = np.abs(weights) > _NOTHING * max(np.abs(weights).max(initial=0.0), 1e-300)
    later = np.zeros_like(weights)
    if alive.any():
        # In units of the present weights, so that those near zero do not divide by it.
        scales = np.abs(weights[alive])
        scaled = design[:, alive] * scales
        system = scaled.T @ scaled + noise * np.eye(len(scales))
        later[alive] = scales * np.linalg.solve(system, scaled.T @ targets)
    return later

"""Regression data reduced to a triangular factor, and what its singular values tell."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq, minimize_scalar

#: Ratios of precisions that are tried, in units of the largest squared singular value.
_RATIOS = np.logspace(-14, 10, 97)
#: Noise is taken to be no less than this share of the spread of the targets.
_LEAST_NOISE = 1e-24
#: How far from the best value of the logarithm of the ratio a search by heights may end.
_NEAR = 1e-5


@dataclass(frozen=True, eq=False)
class RegressionFactor:
    r"""The factor :math:`R` of :math:`[1\; \Phi\; r] = QR`: all that regression needs of the data.

    Attributes
    ----------
    factor : ndarray of shape (n_columns, n_columns)
        Upper triangular :math:`R`, padded with zeros while there are fewer rows; without the column
        of ones where there is no intercept.
    weight
        Total weight of the rows.
    """

    factor: np.ndarray
    weight: float

    def __add__(self, other: Self) -> "RegressionFactor":
        # The factor of stacked factors is that of all rows.
        stacked: Any = np.linalg.qr(np.vstack([self.factor, other.factor]), mode="r")
        return RegressionFactor(stacked, self.weight + other.weight)


def regression_factor(
    basis: np.ndarray, targets: np.ndarray, weights: np.ndarray | None, fit_intercept: bool
) -> RegressionFactor:
    """Return the factor of one chunk of rows."""
    ones = [np.ones(len(basis))] if fit_intercept else []
    design = np.column_stack([*ones, basis, targets])
    weight = float(len(design))
    if weights is not None:
        design *= np.sqrt(weights)[:, None]
        weight = float(weights.sum())
    factor = np.linalg.qr(design, mode="r")
    padded = np.zeros((design.shape[1], design.shape[1]))
    padded[: len(factor)] = factor
    return RegressionFactor(padded, weight)


@dataclass(frozen=True, eq=False)
class Spectrum:
    r"""A regression problem along the principal axes of its design.

    Attributes
    ----------
    singular : ndarray of shape (n_weights,)
        Singular values :math:`d_i` of the design, centred where there is an intercept.
    axes : ndarray of shape (n_weights, n_weights)
        Principal axes as rows.
    projections : ndarray of shape (n_weights,)
        Targets along the left singular vectors.
    residual : float
        Squared length of what no weights can reach.
    n_observations : float
        Weight of the rows, less one where an intercept has been fitted.
    weight : float
        Weight of the rows.
    centre : ndarray of shape (n_weights,)
        Mean of the design; zero without an intercept.
    mean : float
        Mean of the targets; zero without an intercept.
    """

    singular: np.ndarray
    axes: np.ndarray
    projections: np.ndarray
    residual: float
    n_observations: float
    weight: float
    centre: np.ndarray
    mean: float

    def weights_at(self, ratio: float) -> np.ndarray:
        r"""Return the MAP weights for the ratio :math:`\lambda` of prior to noise precision."""
        return self.axes.T @ (self.singular * self.projections / (self.singular**2 + ratio))

    def least_squares(self) -> np.ndarray:
        """Return the weights without a prior; of several, the shortest."""
        return self.axes.T @ (self.inverse_singular() * self.projections)

    def inverse_singular(self) -> np.ndarray:
        """Return inverse singular values, zero along axes that the data do not span."""
        least = np.finfo(float).eps * max(self.weight, len(self.singular))
        spanned = self.singular > least * self.singular.max(initial=0.0)
        return np.divide(1.0, self.singular, out=np.zeros_like(self.singular), where=spanned)

    def error(self, ratio: float) -> float:
        r"""Return :math:`\|r - \Phi w\|^2 + \lambda \|w\|^2` at its minimum."""
        shares = ratio / (self.singular**2 + ratio)
        return self.residual + float(shares @ self.projections**2)

    def effective_degrees(self, ratio: float) -> float:
        r"""Return :math:`\sum_i d_i^2 / (d_i^2 + \lambda)`, the trace of the smoother."""
        return float((self.singular**2 / (self.singular**2 + ratio)).sum())

    def log_evidence(self, prior_precision: float, noise_precision: float) -> float:
        r"""Return :math:`\log p(r \mid \alpha, \beta)`, the intercept with a flat prior."""
        ratio = prior_precision / noise_precision
        shares = np.log(ratio / (self.singular**2 + ratio)).sum()
        n = self.n_observations
        # A flat prior of the intercept integrates to a Gaussian normaliser of the mean.
        constant = 0.0 if n == self.weight else np.log(self.weight)
        return 0.5 * float(
            shares
            + n * np.log(noise_precision / (2.0 * np.pi))
            - noise_precision * self.error(ratio)
            - constant
        )

    def most_evident(
        self, prior_precision: float | None, noise_precision: float | None
    ) -> tuple[float, float]:
        """Return the precisions under which the data are likeliest, those given left as they are.

        Parameters
        ----------
        prior_precision, noise_precision
            Values that are fixed; None for those that are chosen.
        """
        largest = float(self.singular.max(initial=0.0))
        rounding = 1e-14 * np.sqrt(self.weight) * float(np.abs(self.centre).max(initial=0.0))
        constant = largest <= rounding
        unit = 1.0 if constant else max(largest**2, 1e-300)
        spread = self.residual + float(self.projections @ self.projections)
        floor = max(_LEAST_NOISE * max(spread, self.mean**2), 1e-200)

        def precisions(ratio: float) -> tuple[float, float]:
            if noise_precision is not None:
                return ratio * noise_precision, noise_precision
            if prior_precision is not None:
                return prior_precision, prior_precision / ratio
            # For a given ratio the best noise precision is known.
            beta = self.n_observations / max(self.error(ratio), floor)
            return ratio * beta, beta

        if prior_precision is not None and noise_precision is not None:
            return prior_precision, noise_precision
        if constant and prior_precision is None:
            # Columns that never vary tell nothing of their weights: any prior is as likely.
            return precisions(1.0)

        def cost(log_ratio: float) -> float:
            return -self.log_evidence(*precisions(float(np.exp(log_ratio))))

        # The evidence may have more than one maximum: look everywhere, then refine the best.
        grid = np.log(unit * _RATIOS)
        best = int(np.argmin([cost(point) for point in grid]))
        bounds = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        refined = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 1e-10})

        def slope(log_ratio: float) -> float:
            return self._slope(*precisions(float(np.exp(log_ratio))), prior_precision is not None)

        # Heights are flat to rounding over a part in 10^8 around the maximum; where the slope
        # changes its sign is known to nearly all digits, in whatever order the rows were added.
        below, above = refined.x - _NEAR, refined.x + _NEAR
        log_ratio = brentq(slope, below, above) if slope(below) > 0 > slope(above) else refined.x
        return precisions(float(np.exp(log_ratio)))

    def _slope(self, prior_precision: float, noise_precision: float, prior_is_fixed: bool) -> float:
        """Return twice the derivative of the log evidence by the logarithm of the ratio.

        Where both precisions are free, that of the noise is at its best, and its own part vanishes.
        """
        ratio = prior_precision / noise_precision
        spread = self.singular**2 + ratio
        error_slope = ratio * float(((self.projections * self.singular / spread) ** 2).sum())
        slope = self.effective_degrees(ratio) - noise_precision * error_slope
        if prior_is_fixed:
            slope -= self.n_observations - noise_precision * self.error(ratio)
        return slope


def spectrum(statistics: RegressionFactor, fit_intercept: bool) -> Spectrum:
    """Return the problem along its principal axes."""
    factor, weight = statistics.factor, statistics.weight
    centre, mean, first = np.zeros(len(factor) - 1), 0.0, 0
    if fit_intercept:
        # Below the row of the constant, the factor is that of deviations from the means.
        centre, mean, first = factor[0, 1:-1] / factor[0, 0], factor[0, -1] / factor[0, 0], 1
    left, singular, axes = np.linalg.svd(factor[first:, first:-1], full_matrices=False)
    targets = factor[first:, -1]
    projections = left.T @ targets
    remainder = targets - left @ projections
    return Spectrum(
        singular,
        axes,
        projections,
        float(remainder @ remainder),
        weight - first,
        weight,
        centre,
        float(mean),
    )

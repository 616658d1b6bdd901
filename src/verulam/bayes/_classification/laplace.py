"""Laplace's method: a Gaussian at the mode of any density."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.optimize import minimize

from verulam.base import (
    FUNCTION,
    NONE,
    NUMBERS,
    DataError,
    DataWarning,
    Seed,
    checked_arguments,
    warn_caller,
)
from verulam.bayes._families.multivariate import MultivariateNormal

#: Step of second differences, in units of the scale of each direction: the fourth root of rounding.
_STEP = np.finfo(float).eps ** 0.25
#: Newton steps that bring the mode nearer than the search did.
_POLISHING_STEPS = 5
#: Falls of the log-density over one standard deviation that are near enough to a Gaussian's, 1/2.
_FALLS = (0.05, 5.0)
#: A search that gets beyond this has no top to come to; squares would overflow soon.
_FARTHEST = 1e100


@dataclass(frozen=True, eq=False)
class LaplaceApproximation:
    r"""A Gaussian that has the place and the curvature of a density at its mode.

    Attributes
    ----------
    mode : ndarray of shape (n_dimensions,)
        Where the density is highest, :math:`x_0`.
    covariance : ndarray of shape (n_dimensions, n_dimensions)
        Inverse of the curvature :math:`A` of the negative logarithm there.
    log_height : float
        Logarithm of the density at the mode, as it was given.
    log_normaliser : float
        Logarithm of the integral of the density, as far as it is Gaussian.
    """

    mode: np.ndarray
    covariance: np.ndarray
    log_height: float
    log_normaliser: float

    @property
    def distribution(self) -> MultivariateNormal:
        """The Gaussian."""
        return MultivariateNormal(self.mode, self.covariance)

    def log_density(self, x: ArrayLike) -> np.ndarray:
        """Return the log-density of the Gaussian at each row."""
        return self.distribution.log_density(x)

    def sample(self, n: int = 1, random_state: Seed = None) -> np.ndarray:
        """Return `n` draws, one row each."""
        return self.distribution.sample(n, random_state)


@checked_arguments(log_density=FUNCTION, start=NUMBERS, hessian=FUNCTION | NONE)
def laplace(
    log_density: Callable[[np.ndarray], Any],
    start: ArrayLike,
    *,
    hessian: Callable[[np.ndarray], Any] | None = None,
) -> LaplaceApproximation:
    r"""Approximate a density, known up to a factor, by a Gaussian at its mode.

    Parameters
    ----------
    log_density
        Logarithm :math:`\log f` of the density at a point, up to a constant.
    start
        Point from which the mode is searched; a number for a density of one number.
    hessian
        Matrix of second derivatives of `log_density` at a point; None takes differences.

    Notes
    -----
    With :math:`A = -\nabla\nabla \log f(x_0)`,

    .. math:: \int f(x)\, dx \approx f(x_0)\, \frac{(2\pi)^{d/2}}{|A|^{1/2}}

    which for one number is :math:`f(x_0) \sqrt{2\pi / a}`. See Alpaydin 16.4.4. A top that is flat,
    has an edge or lies where the support ends has no curvature and is refused; where the density
    falls quite otherwise than a Gaussian, a warning says so.

    Examples
    --------
    The integral of :math:`t^9 e^{-t}` is 9!, by this method 359 537:

    >>> import numpy as np
    >>> from verulam.bayes import laplace
    >>> gamma = laplace(lambda t: 9 * np.log(t[0]) - t[0] if t[0] > 0 else -np.inf, [5.0])
    >>> gamma.mode.round(3), round(float(np.exp(gamma.log_normaliser)))
    (array([9.]), 359537)
    """
    if not callable(log_density):
        raise DataError(f"log_density must be a function of a point; got {log_density!r}.")
    point = np.atleast_1d(np.asarray(start, dtype=np.float64))
    if point.ndim != 1 or not point.size or not np.isfinite(point).all():
        raise DataError(f"start must be a point of finite numbers; got {start!r}.")

    def height(x: np.ndarray) -> float:
        value = np.asarray(log_density(x), dtype=np.float64)
        if value.size != 1 or np.isnan(value).any() or (value == np.inf).any():
            raise DataError(f"log_density must return one number below infinity; got {value!r}.")
        return float(value.reshape(-1)[0])

    if height(point) == -np.inf:
        raise DataError("start must have a positive density; log_density there is -inf.")
    mode = _climb(height, point)
    curvature = _curvature(height, mode, hessian)
    for _ in range(_POLISHING_STEPS):
        later = mode + np.linalg.lstsq(curvature, _gradient(height, mode, curvature), rcond=None)[0]
        if not height(later) > height(mode):
            break
        mode = later
        curvature = _curvature(height, mode, hessian)
    try:
        root = cho_factor(curvature, lower=True)
    except LinAlgError:
        raise DataError(
            f"log_density has no mode near {mode}: its curvature there is "
            f"{np.linalg.eigvalsh(curvature)[0]:.3g}, not above 0. Start elsewhere."
        ) from None
    _check_shape(height, mode, curvature, hessian is not None)
    log_determinant = 2.0 * float(np.log(np.diagonal(root[0])).sum())
    top = height(mode)
    return LaplaceApproximation(
        mode,
        cho_solve(root, np.eye(len(mode))),
        top,
        top + 0.5 * (len(mode) * np.log(2.0 * np.pi) - log_determinant),
    )


def _check_shape(
    height: Callable[[np.ndarray], float], mode: np.ndarray, curvature: np.ndarray, exact: bool
) -> None:
    """Raise where there is no curvature to go by; warn where it says little of the density."""
    finer = _second_differences(height, mode, 0.5 * _fitting_steps(mode, curvature))
    ratios = eigh(finer, curvature, eigvals_only=True)
    # Matrices of second derivatives may be expected ones, which are only near the observed ones.
    widest = 100.0 if exact else 1.5
    for ratio in ratios:
        if not 1.0 / widest < ratio < widest:
            reason = "is that of hessian times" if exact else "changes, from steps half as long,"
            raise DataError(
                f"Near its mode {mode} log_density does not have the shape of a Gaussian: its "
                f"curvature {reason} {ratio:.3g}{'' if exact else '-fold'}. Laplace's method has "
                "no answer there; use a sampler, or a grid."
            )
    values, vectors = np.linalg.eigh(curvature)
    top = height(mode)
    for axis in (vectors / np.sqrt(values)).T:
        drop = top - 0.5 * (height(mode + axis) + height(mode - axis))
        if np.isfinite(drop) and not _FALLS[0] < drop < _FALLS[1]:
            warn_caller(
                f"A standard deviation from its mode {mode} log_density is {drop:.3g} lower, where "
                "a Gaussian's is 0.5 lower: the approximation is poor.",
                DataWarning,
            )
            break


def _climb(height: Callable[[np.ndarray], float], point: np.ndarray) -> np.ndarray:
    """Return a point near the mode."""
    lowest = 1e10

    def cost(x: np.ndarray) -> float:
        if np.abs(x).max() > _FARTHEST:
            raise DataError(
                f"log_density has no mode: it goes on rising from {point} without end, so that it "
                "is no density."
            )
        value = -height(x)
        return value if np.isfinite(value) else lowest

    # A simplex first where gradients meet the border of the support.
    best = minimize(cost, point, method="BFGS")
    if not best.success or not np.isfinite(best.fun):
        simplex = minimize(cost, point, method="Nelder-Mead", options={"xatol": 1e-8})
        best = simplex if simplex.fun < best.fun else best
    return np.asarray(best.x)


def _steps(mode: np.ndarray) -> np.ndarray:
    return _STEP * np.maximum(np.abs(mode), 1.0)


def _fitting_steps(mode: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    scales = 1.0 / np.sqrt(np.maximum(np.abs(np.diagonal(curvature)), 1e-300))
    return np.minimum(2e-3 * scales, 1e3 * _steps(mode))


def _gradient(
    height: Callable[[np.ndarray], float], mode: np.ndarray, curvature: np.ndarray
) -> np.ndarray:
    # As far as the curvature makes a difference, so that rounding does not.
    scales = 1.0 / np.sqrt(np.maximum(np.abs(np.diagonal(curvature)), 1e-300))
    moves = np.diag(np.minimum(_STEP * scales, 1e3 * _steps(mode)))
    return np.array(
        [
            (height(mode + move) - height(mode - move)) / (2.0 * move[i])
            for i, move in enumerate(moves)
        ]
    )


def _curvature(
    height: Callable[[np.ndarray], float], mode: np.ndarray, hessian: Callable[..., Any] | None
) -> np.ndarray:
    """Return the negative matrix of second derivatives."""
    n = len(mode)
    if hessian is not None:
        matrix = -np.asarray(hessian(mode), dtype=np.float64).reshape(n, n)
        return 0.5 * (matrix + matrix.T)
    first = _second_differences(height, mode, _steps(mode))
    # Once more with steps of the size that the curvature suggests.
    return _second_differences(height, mode, _fitting_steps(mode, first))


def _second_differences(
    height: Callable[[np.ndarray], float], mode: np.ndarray, steps: np.ndarray
) -> np.ndarray:
    moves = np.diag(steps)
    matrix = np.empty((len(mode), len(mode)))
    for i, left in enumerate(moves):
        for j, right in enumerate(moves[: i + 1]):
            difference = (
                height(mode + left + right)
                - height(mode + left - right)
                - height(mode - left + right)
                + height(mode - left - right)
            )
            if not np.isfinite(difference):
                raise DataError(
                    f"log_density is -inf beside its highest point near {mode}, where the support "
                    "ends; no Gaussian has this shape. Of another parameter, such as a logarithm, "
                    "there may be a mode."
                )
            matrix[i, j] = matrix[j, i] = -difference / (4.0 * steps[i] * steps[j])
    return matrix

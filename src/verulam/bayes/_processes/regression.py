"""Gaussian process regression: functions with a kernel as prior."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError
from scipy.stats import t as student

from verulam.base import (
    COUNT,
    RANDOM_STATE,
    SEED,
    TABLE,
    DataError,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_arguments,
    checked_fit,
    generator,
    numeric_targets,
    validate_data,
)
from verulam.bayes._processes.exact import (
    evidence_gradient,
    factorise_covariance,
    few_threads,
    maximise_evidence,
    read_kernel,
    refuse_many_rows,
)
from verulam.bayes._regression.predictions import Predictions, PredictsDistributions
from verulam.kernel import Kernel, as_kernel, log_hyperparameters, with_log_hyperparameters

#: Noise that the search begins with, in units of the variance of the targets.
_FIRST_NOISE = 0.1
#: Least noise, in the same units, so that the covariance can be factorised.
_LEAST_NOISE = 1e-10
#: Least degrees of freedom of predictions, with which they have a variance.
_LEAST_DEGREES = 3.0


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Predictions of each training row by the process without that row.

    Attributes
    ----------
    mean, variance : ndarray of shape (n_samples,)
        Moments of the target, noise included.
    log_density : ndarray of shape (n_samples,)
        Log-density of the target that was left out.
    """

    mean: np.ndarray
    variance: np.ndarray
    log_density: np.ndarray


class GaussianProcessRegressor(PredictsDistributions):
    r"""Regression with a prior over functions, which a kernel describes.

    Parameters
    ----------
    kernel
        Covariance of the function at two rows: a kernel of `verulam.kernel`, its name or a function
        of two tables; None for a multiple of the Gaussian kernel.
    noise_variance
        Variance :math:`1 / \beta` of the noise, or "evidence" for the one under which the data are
        likeliest.
    optimise
        Whether the parameters of the kernel are those under which the data are likeliest; otherwise
        they stay as they are.
    normalize_y
        Whether targets are taken about their mean and in units of their standard deviation, which
        the kernel is then in units of, too.
    n_init
        Searches of the parameters, all but the first from random places.
    max_rows
        Most rows that an exact process is made of; more are refused, with what to do instead.
    random_state
        Seed of the places where searches begin.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its parameters.
    noise_variance_ : float
        Variance of the noise, in units of the targets.
    log_evidence_ : float
        Logarithm of the density of the targets.
    dual_coef_ : ndarray of shape (n_samples,)
        Weights :math:`a = C^{-1} r` of the training rows in the mean.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Training rows.
    n_iter_ : int
        Steps of the search.
    noise_degrees_ : float
        Degrees of freedom of predictions: Student's t where the evidence chose parameters, infinite
        where all are known.

    Notes
    -----
    With :math:`C = K + I / \beta`,

    .. math:: r' \sim \mathcal N\left(k^T C^{-1} r,\; K(x', x') + \tfrac1\beta - k^T C^{-1} k\right)

    where :math:`k` are the kernels of :math:`x'` with the training rows; standard deviations and
    intervals are those of a target, noise included. The Gaussian kernel here is :math:`\exp(-d^2 /
    2 s^2)`; the :math:`s^2` of the text is twice that. The joint Gaussian of (16.47) has
    :math:`N + 1` dimensions, not :math:`N` as printed.

    That is for known parameters. With :math:`p` of them chosen by the evidence, which makes
    :math:`r^T C^{-1} r = N`, the common scale of kernel and noise is averaged over, and the
    parameters take degrees of freedom as the weights of least squares do: predictions have
    Student's t with :math:`\nu = N - 1 - p`, and squared scales :math:`N / \nu` times as large. As
    rows rarely tell so much of many parameters, :math:`\nu` is at least :math:`N / 2`, and 3.
    After 12 rows of a wave with noise 95 % intervals cover 96 % of new targets, after 100 rows
    95 %, where Gaussian ones covered 88 % and 94 %; after 6 rows 92 % (73 %). See Alpaydin 16.9
    (16.44-16.49); Rasmussen and Williams (2006).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import GaussianProcessRegressor
    >>> X = np.linspace(0.0, 6.0, 20)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(scale=0.1, size=20)
    >>> process = GaussianProcessRegressor().fit(X, y)
    >>> mean, std = process.predict([[3.0], [20.0]], return_std=True)
    >>> mean.round(1), std.round(1)
    (array([ 0.1, -0. ]), array([0.1, 1.4]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [str, Kernel, callable, None],
        "noise_variance": [Interval(Real, 0, None, closed="neither"), StrOptions({"evidence"})],
        "optimise": ["boolean"],
        "normalize_y": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_rows": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        kernel: str | Kernel | Any | None = None,
        *,
        noise_variance: float | str = "evidence",
        optimise: bool = True,
        normalize_y: bool = True,
        n_init: int = 1,
        max_rows: int = 5000,
        random_state: Seed = 0,
    ) -> None:
        self.kernel = kernel
        self.noise_variance = noise_variance
        self.optimise = optimise
        self.normalize_y = normalize_y
        self.n_init = n_init
        self.max_rows = max_rows
        self.random_state = random_state

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows and their targets."""
        inputs, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        targets = numeric_targets(self, y)
        refuse_many_rows(len(targets), self.max_rows)
        self.mean_, self.scale_ = 0.0, 1.0
        if self.normalize_y:
            self.mean_, self.scale_ = float(targets.mean()), float(targets.std()) or 1.0
        units = (targets - self.mean_) / self.scale_
        kernel, noise, n_chosen = self._hyperparameters(inputs, units)
        n_rows = len(units)
        self.noise_degrees_, self._widening = np.inf, 1.0
        if n_chosen:
            self.noise_degrees_ = max(n_rows - 1.0 - n_chosen, 0.5 * n_rows, _LEAST_DEGREES)
            self._widening = max(n_rows / self.noise_degrees_, 1.0)
        self._store(kernel, noise, inputs.copy(), units)
        return self

    def _hyperparameters(self, inputs: np.ndarray, units: np.ndarray) -> tuple[Kernel, float, int]:
        """Return kernel and noise, as given or as the evidence has them, and how many it chose."""
        kernel = read_kernel(self.kernel, inputs)
        free_noise = isinstance(self.noise_variance, str)
        spread = float(units @ units) / len(units) or 1.0
        noise = _FIRST_NOISE * spread if free_noise else float(self.noise_variance)
        if not free_noise:
            noise /= self.scale_**2
        self.n_iter_ = 0
        start = log_hyperparameters(kernel) if self.optimise else np.empty(0)
        n_kernel = len(start)
        if free_noise:
            start = np.append(start, np.log(noise))
        if not len(start) or (free_noise and len(units) < 2):
            return kernel, noise, 0
        floor = _LEAST_NOISE * spread

        def unpack(logarithms: np.ndarray) -> tuple[Kernel, float]:
            later = with_log_hyperparameters(kernel, logarithms[:n_kernel]) if n_kernel else kernel
            return later, float(np.exp(logarithms[-1])) + floor if free_noise else noise

        def objective(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
            covariance, variance = unpack(logarithms)
            value, gradient = evidence_gradient(covariance, inputs, units, variance)
            if not self.optimise:
                return value, gradient[-1:]
            return value, gradient if free_noise else gradient[:-1]

        with few_threads(len(inputs)):
            search = maximise_evidence(
                objective, start, n_init=self.n_init, random_state=self.random_state
            )
        self.n_iter_ = search.n_iter
        return *unpack(search.logarithms), len(start)

    def _store(self, kernel: Kernel, noise: float, inputs: np.ndarray, units: np.ndarray) -> None:
        try:
            factor = factorise_covariance(kernel(inputs), noise, units)
        except LinAlgError:
            raise DataError(
                "the covariance of the targets is not positive definite: two rows may be alike "
                "with next to no noise, or the kernel is no inner product. Raise noise_variance."
            ) from None
        self.kernel_, self.X_fit_ = kernel, inputs
        self.noise_variance_ = noise * self.scale_**2
        # The density of the targets themselves, not of what is left in other units.
        self.log_evidence_ = factor.log_evidence - len(units) * float(np.log(self.scale_))
        self.dual_coef_ = factor.dual_weights * self.scale_
        self._noise, self._factor, self._units = noise, factor, units

    def _against(self, X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return new rows, and their kernels with the training rows."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return rows, self.kernel_(rows, self.X_fit_)

    def _predict_mean(self, X: ArrayLike) -> np.ndarray:
        # Without deviations no triangular system has to be solved.
        return np.asarray(self._against(X)[1] @ self.dual_coef_ + self.mean_)

    def predict_distribution(self, X: ArrayLike) -> Predictions:
        """Return the distribution of the target of each row: Gaussian, or Student's t."""
        rows, kernels = self._against(X)
        halves = self._factor.half_solve(kernels.T)
        variances = self.kernel_.diagonal(rows) - np.einsum("ij,ij->j", halves, halves)
        variances = np.maximum(variances, 0.0) + self._noise
        return self._distribution(kernels @ self._factor.dual_weights, variances)

    def _distribution(self, means: np.ndarray, variances: np.ndarray) -> Predictions:
        """Return predictions of targets from moments in the units of the kernel."""
        return Predictions.of(
            np.asarray(means * self.scale_ + self.mean_),
            variances * self.scale_**2 * self._widening,
            self.noise_degrees_,
        )

    def interval_reach(self, level: float) -> float:
        """Return half the width of an interval, in deviations with all parameters known.

        Parameters
        ----------
        level
            Probability of the interval.
        """
        return float(student.ppf(0.5 + 0.5 * level, self.noise_degrees_) * self._widening**0.5)

    def equivalent_kernel(self, X: ArrayLike) -> np.ndarray:
        r"""Return the weights :math:`w = C^{-1} k` of the training targets in each prediction."""
        return self._factor.solve(self._against(X)[1].T).T

    def sample_functions(self, X: ArrayLike, n: int = 10, random_state: Seed = None) -> np.ndarray:
        """Return the values at rows of `n` functions that are drawn from the posterior.

        Parameters
        ----------
        X
            Rows.
        n
            Number of functions.
        random_state
            Seed.
        """
        rows, kernels = self._against(X)
        halves = self._factor.half_solve(kernels.T)
        covariance = self.kernel_(rows) - halves.T @ halves
        mean = kernels @ self.dual_coef_ + self.mean_
        rng = generator(random_state)
        draws = _draw(covariance * self._widening, n, rng)
        if np.isfinite(self.noise_degrees_):
            # One chance for a whole function, whose scale is not known.
            chances = rng.chisquare(self.noise_degrees_, size=(n, 1))
            draws *= np.sqrt(self.noise_degrees_ / chances)
        return np.asarray(mean + self.scale_ * draws)

    def leave_one_out(self) -> LeaveOneOut:
        r"""Return predictions of each training row by all others, without fitting again.

        Notes
        -----
        Mean :math:`r_i - [C^{-1} r]_i / [C^{-1}]_{ii}` and variance :math:`1 / [C^{-1}]_{ii}`, with
        the parameters of the kernel as they are. See Alpaydin 16.9 and exercise 6.
        """
        check_is_fitted(self)
        precisions = np.diagonal(self._factor.inverse())
        mean = self._units - self._factor.dual_weights / precisions
        predictions = self._distribution(mean, 1.0 / precisions)
        heights = predictions.log_density(self._units * self.scale_ + self.mean_)
        return LeaveOneOut(predictions.mean, predictions.variance, heights)

    def refit_rows(self, rows: ArrayLike) -> "GaussianProcessRegressor":
        """Return a process of some of the training rows, with kernel and noise as they are.

        Parameters
        ----------
        rows
            Positions of the training rows to go on with.
        """
        check_is_fitted(self)
        places = np.asarray(rows)
        if not places.size or places.ndim != 1:
            raise DataError("rows must be positions of one training row or more.")
        smaller = GaussianProcessRegressor(**self.get_params(deep=False))
        smaller.mean_, smaller.scale_, smaller.n_iter_ = self.mean_, self.scale_, 0
        smaller.noise_degrees_, smaller._widening = self.noise_degrees_, self._widening
        smaller.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            smaller.feature_names_in_ = self.feature_names_in_
        smaller._store(self.kernel_, self._noise, self.X_fit_[places], self._units[places])
        return smaller


@checked_arguments(X=TABLE, n=COUNT, random_state=SEED)
def sample_prior(
    kernel: str | Kernel | Any, X: ArrayLike, n: int = 10, random_state: Seed = None
) -> np.ndarray:
    r"""Return the values at rows of `n` functions drawn from the prior of a Gaussian process.

    Parameters
    ----------
    kernel
        Covariance of the function at two rows.
    X
        Rows.
    n
        Number of functions.
    random_state
        Seed.

    Notes
    -----
    With weights :math:`w \sim \mathcal N(0, I / \alpha)`, values :math:`\Phi w` are Gaussian with
    covariance :math:`\Phi \Phi^T / \alpha`, and the kernel stands for that. See Alpaydin 16.9
    (16.44-16.45).

    Examples
    --------
    >>> from verulam.bayes import sample_prior
    >>> sample_prior("gaussian", [[0.0], [0.01], [9.0]], n=2, random_state=0).round(1).shape
    (2, 3)
    """
    inputs = np.asarray(X, dtype=np.float64)
    if inputs.ndim != 2 or not len(inputs):
        raise DataError(f"X must be a table with one row or more; got shape {inputs.shape}.")
    covariance = as_kernel(kernel).adapted(inputs)(inputs)
    return _draw(covariance, n, generator(random_state))


def _draw(covariance: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return draws of a Gaussian whose covariance may be singular."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(rng.standard_normal((n, len(values))) @ root.T)

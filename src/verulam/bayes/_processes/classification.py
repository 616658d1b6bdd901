"""Gaussian process classification by Laplace's method."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.special import expit, log_expit

from verulam.base import (
    RANDOM_STATE,
    Classifier,
    DataError,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    encode_classes,
    spawn_seeds,
    validate_data,
)
from verulam.bayes._classification.logistic import averaged_probability
from verulam.bayes._processes.exact import (
    few_threads,
    maximise_evidence,
    read_kernel,
    refuse_many_rows,
)
from verulam.kernel import Kernel, gram_gradient, log_hyperparameters, with_log_hyperparameters

#: Most Newton steps to the mode, and the rise of its height at which they end.
_STEPS, _LEAST_RISE = 100, 1e-11


@dataclass(frozen=True, eq=False)
class LatentMode:
    """The likeliest values of the latent function at the training rows, and what goes with them.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        Latent values :math:`f` at the mode.
    dual_weights : ndarray of shape (n_samples,)
        Their gradient :math:`a = K^{-1} f`.
    root_curvature : ndarray of shape (n_samples,)
        Square roots of the curvature :math:`W` of the log-likelihood.
    root : ndarray of shape (n_samples, n_samples)
        Lower Cholesky factor of :math:`B = I + W^{1/2} K W^{1/2}`.
    log_evidence : float
        Laplace's approximation of the log-evidence.
    """

    values: np.ndarray
    dual_weights: np.ndarray
    root_curvature: np.ndarray
    root: np.ndarray
    log_evidence: float


def latent_mode(gram: np.ndarray, signs: np.ndarray, start: np.ndarray | None = None) -> LatentMode:
    """Return the mode of the latent function by Newton's method.

    Parameters
    ----------
    gram
        Gram matrix of the training rows.
    signs
        Labels, -1 or 1.
    start
        Dual weights to begin with, such as those for a similar kernel; None for zero.
    """
    places = np.arange(len(gram))
    weights = np.zeros(len(gram)) if start is None else start
    values = gram @ weights
    height = _height(values, weights, signs)
    if start is not None and height < _height(np.zeros_like(values), np.zeros_like(values), signs):
        weights, values = np.zeros_like(weights), np.zeros_like(values)
        height = _height(values, weights, signs)
    for step in range(_STEPS):
        slope = signs * expit(-signs * values)
        curvature = expit(values) * expit(-values)
        half = np.sqrt(curvature)
        matrix = np.asfortranarray(gram.T * half[:, None])
        matrix *= half
        matrix[places, places] += 1.0
        root, info = dpotrf(matrix, lower=1, overwrite_a=1, clean=0)
        if info:
            raise LinAlgError("B is not positive definite.")
        drive = curvature * values + slope
        inner = solve_triangular(root, half * (gram @ drive), lower=True, check_finite=False)
        later = drive - half * solve_triangular(
            root, inner, lower=True, trans=1, check_finite=False
        )
        values_later = gram @ later
        rise = _height(values_later, later, signs) - height
        # A step too far is halved; the height is concave, so that some step will do.
        while rise < 0.0 and step < _STEPS - 1:
            later = 0.5 * (later + weights)
            values_later = gram @ later
            rise = _height(values_later, later, signs) - height
            if np.abs(later - weights).max() < 1e-14:
                break
        weights, values, height = later, values_later, height + rise
        if abs(rise) <= _LEAST_RISE * max(1.0, abs(height)):
            break
    log_determinant = float(np.log(root[places, places]).sum())
    return LatentMode(values, weights, half, root, height - log_determinant)


def laplace_gradient(
    kernel: Kernel, inputs: np.ndarray, signs: np.ndarray, start: np.ndarray | None = None
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the log-evidence, its gradient by the logarithms of the kernel, and dual weights.

    Notes
    -----
    Rasmussen and Williams (2006), algorithm 5.1, with the derivatives of the Gram matrix collected
    into one matrix of weights, so that they are contracted once for all parameters.
    """
    gradient = gram_gradient(kernel, inputs)
    mode = latent_mode(gradient.gram, signs, start)
    half = mode.root_curvature
    # R = W^1/2 B^-1 W^1/2, its lower triangle from LAPACK, mirrored.
    inverse = np.asarray(dpotri(mode.root, lower=1)[0])
    rest = np.triu(inverse.T, 1)
    rest += rest.T
    rest[np.diag_indices_from(rest)] = np.diagonal(inverse)
    rest *= half[:, None]
    rest *= half
    probability = expit(mode.values)
    third = probability * (1.0 - probability) * (2.0 * probability - 1.0)
    # Posterior variances K - K R K, of which the diagonal alone is needed.
    product = gradient.gram @ rest
    spread = np.diagonal(gradient.gram) - np.einsum("ij,ij->i", product, gradient.gram)
    implicit = 0.5 * spread * third
    slope = signs * expit(-signs * mode.values)
    left = implicit - product.T @ implicit
    weights = rest
    weights *= -0.5
    weights += 0.5 * np.outer(mode.dual_weights, mode.dual_weights)
    cross = np.outer(left, 0.5 * slope)
    weights += cross
    weights += cross.T
    return mode.log_evidence, np.array(gradient.pull_back(weights)), mode.dual_weights


def _height(values: np.ndarray, weights: np.ndarray, signs: np.ndarray) -> float:
    return float(log_expit(signs * values).sum() - 0.5 * weights @ values)


@dataclass(frozen=True, eq=False)
class BinaryProcess:
    """The process of one class against others.

    Attributes
    ----------
    kernel
        Its kernel.
    slope : ndarray of shape (n_samples,)
        Gradient of the log-likelihood at the mode, the weights of the training rows in the mean.
    mode : LatentMode
        The mode.
    n_iter : int
        Steps of the search of the kernel's parameters.
    """

    kernel: Kernel
    slope: np.ndarray
    mode: LatentMode
    n_iter: int

    def moments(self, rows: np.ndarray, training: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the latent function at rows."""
        kernels = self.kernel(rows, training)
        halves = solve_triangular(
            self.mode.root, self.mode.root_curvature[:, None] * kernels.T, lower=True
        )
        variances = self.kernel.diagonal(rows) - np.einsum("ij,ij->j", halves, halves)
        return kernels @ self.slope, np.maximum(variances, 0.0)


class GaussianProcessClassifier(Classifier):
    r"""Classification with a prior over functions, whose sigmoid is the probability of a class.

    Parameters
    ----------
    kernel
        Covariance of the latent function at two rows: a kernel of `verulam.kernel`, its name or a
        function of two tables; None for a multiple of the Gaussian kernel.
    optimise
        Whether the parameters of the kernel are those under which the labels are likeliest.
    integral
        How probabilities are averaged over the latent function: "closed", "quadrature" or
        "sampling", as in `averaged_probability`.
    n_init
        Searches of the parameters, all but the first from random places.
    max_rows
        Most rows that an exact process is made of; more are refused, with what to do instead.
    random_state
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    processes_ : list of BinaryProcess
        One for two classes, otherwise one for each class against the rest.
    log_evidence_ : float
        Logarithm of the probability of the labels by Laplace's method, summed over the processes.
    X_fit_ : ndarray of shape (n_samples, n_features)
        Training rows.
    n_iter_ : int
        Most steps that a search took.

    Notes
    -----
    :math:`P(C_1 \mid x) = \int \mathrm{sigmoid}(f)\, q(f \mid x)\, df`, where the posterior of the
    latent values is a Gaussian at their mode. See Alpaydin 16.9; Rasmussen and Williams (2006),
    algorithms 3.1, 3.2 and 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import GaussianProcessClassifier
    >>> X = np.array([[-2.0], [-1.0], [-0.2], [0.3], [1.0], [2.0]])
    >>> process = GaussianProcessClassifier().fit(X, ["in", "out", "out", "out", "out", "in"])
    >>> process.predict([[0.0], [2.5]]).tolist()
    ['out', 'in']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [str, Kernel, callable, None],
        "optimise": ["boolean"],
        "integral": [StrOptions({"closed", "quadrature", "sampling"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_rows": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        kernel: str | Kernel | Any | None = None,
        *,
        optimise: bool = True,
        integral: str = "quadrature",
        n_init: int = 1,
        max_rows: int = 5000,
        random_state: Seed = 0,
    ) -> None:
        self.kernel = kernel
        self.optimise = optimise
        self.integral = integral
        self.n_init = n_init
        self.max_rows = max_rows
        self.random_state = random_state

    @checked_fit
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows and their labels."""
        inputs, y = validate_data(self, X, y, dtype=np.float64, order="C")
        codes, self.classes_ = encode_classes(self, y)
        if len(self.classes_) < 2:
            raise DataError(f"y must have two classes or more; got 1 class, {self.classes_[0]}.")
        refuse_many_rows(len(codes), self.max_rows)
        kernel = read_kernel(self.kernel, inputs)
        positives = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        seeds = spawn_seeds(self.random_state, len(self.classes_))
        self.processes_ = [
            self._learn(kernel, inputs, np.where(codes == k, 1.0, -1.0), seeds[k])
            for k in positives
        ]
        self.X_fit_ = inputs.copy()
        self.log_evidence_ = float(sum(part.mode.log_evidence for part in self.processes_))
        self.n_iter_ = max(part.n_iter for part in self.processes_)
        return self

    def _learn(
        self, kernel: Kernel, inputs: np.ndarray, signs: np.ndarray, seed: int
    ) -> BinaryProcess:
        start, n_iter = log_hyperparameters(kernel), 0
        warm: list[np.ndarray | None] = [None]

        def objective(logarithms: np.ndarray) -> tuple[float, np.ndarray]:
            candidate = with_log_hyperparameters(kernel, logarithms)
            value, gradient, weights = laplace_gradient(candidate, inputs, signs, warm[0])
            # Kernels of neighbouring steps have neighbouring modes.
            warm[0] = weights
            return value, gradient

        if self.optimise and len(start):
            with few_threads(len(inputs)):
                search = maximise_evidence(objective, start, n_init=self.n_init, random_state=seed)
            kernel, n_iter = with_log_hyperparameters(kernel, search.logarithms), search.n_iter
        mode = latent_mode(kernel(inputs), signs)
        return BinaryProcess(kernel, signs * expit(-signs * mode.values), mode, n_iter)

    def _moments(self, X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        pairs = [process.moments(rows, self.X_fit_) for process in self.processes_]
        return np.column_stack([mean for mean, _ in pairs]), np.column_stack(
            [variance for _, variance in pairs]
        )

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Return the expected latent value of each row, or one for each class."""
        means, _ = self._moments(X)
        return means[:, 0] if len(self.classes_) == 2 else means

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each class for each row."""
        means, variances = self._moments(X)
        table = np.column_stack(
            [
                averaged_probability(
                    mean,
                    np.maximum(variance, 0.0),
                    integral=self.integral,
                    random_state=self.random_state,
                )
                for mean, variance in zip(means.T, variances.T, strict=True)
            ]
        )
        if len(self.classes_) == 2:
            return np.column_stack([1.0 - table[:, 0], table[:, 0]])
        return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most probable class of each row."""
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return self.classes_[(self.decision_function(X) > 0).astype(int)]
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

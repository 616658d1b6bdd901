"""The likelihood of a mixture as an error to descend: its gradient, and descent without EM."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from verulam.base import (
    NONE,
    NUMBER,
    TABLE,
    VECTOR,
    WHOLE,
    Chunk,
    DataError,
    Kind,
    checked_arguments,
)
from verulam.cluster._mixture.components import Components, has_matrices
from verulam.cluster._mixture.expectation import expected_sums, prepare

COMPONENTS = Kind("a record Components", lambda value: isinstance(value, Components))


@dataclass(frozen=True, eq=False)
class MixtureGradient:
    r"""The error of a mixture and its derivatives.

    Attributes
    ----------
    error
        :math:`E = -\sum_t \ln p(x^t)`.
    logits : ndarray of shape (n_components,)
        By :math:`\gamma_j`, where :math:`P_j = e^{\gamma_j} / \sum_i e^{\gamma_i}`: the weights
        sum to 1 whatever these are.
    means : ndarray of shape (n_components, n_features)
        By the means.
    covariances : ndarray
        By the entries of the covariances, of their shape; both halves of a matrix count.
    """

    error: float
    logits: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


@checked_arguments(X=TABLE, components=COMPONENTS, sample_weight=VECTOR | NONE)
def mixture_gradient(
    X: ArrayLike, components: Components, sample_weight: ArrayLike | None = None
) -> MixtureGradient:
    r"""Return the error of a mixture on rows, and its gradient.

    Parameters
    ----------
    X
        Rows.
    components
        The mixture.
    sample_weight
        Weight of each row.

    Notes
    -----
    With :math:`h_j^t` the responsibilities and :math:`\Lambda_j = S_j^{-1}`,

    .. math:: \frac{\partial E}{\partial \gamma_j} = \sum_t P_j - h_j^t, \qquad
              \frac{\partial E}{\partial \mu_j} = -\sum_t h_j^t \Lambda_j (x^t - \mu_j), \qquad
              \frac{\partial E}{\partial S_j} = \tfrac12 \sum_t h_j^t
              \left(\Lambda_j - \Lambda_j (x^t - \mu_j)(x^t - \mu_j)^T \Lambda_j\right)

    All vanish where EM has converged. See Bartkowiak 6 (6.3)-(6.4).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.cluster import GaussianMixture, mixture_gradient
    >>> X = np.r_[np.arange(20) / 10, 8 + np.arange(10) / 10][:, None]
    >>> mixture = GaussianMixture(2, tol=1e-12, random_state=0).fit(X)
    >>> gradient = mixture_gradient(X, mixture.components_)
    >>> bool(abs(gradient.means).max() < 1e-6), round(gradient.error, 3)
    (True, 38.178)
    """
    rows = np.ascontiguousarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != components.means.shape[1]:
        raise DataError(
            f"X has shape {rows.shape}; expected {components.means.shape[1]} columns, as the means."
        )
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    ones = np.ones(rows.shape[1])
    # Deviations from the means are what the derivatives are made of.
    prepared = replace(prepare(components, rows.mean(axis=0), ones), coefficients=None)
    sums = expected_sums(Chunk(rows, weights=weights), prepared)
    total = sums.weight.sum()
    kind = components.covariance_type
    if has_matrices(kind):
        precisions = np.linalg.inv(components.matrices())
        by_means = -(precisions @ sums.deviations[:, :, None])[:, :, 0]
        shared = precisions[0] if kind == "tied" else precisions
        weight = total if kind == "tied" else sums.weight[:, None, None]
        by_covariances = 0.5 * (weight * shared - shared @ sums.scatter @ shared)
    else:
        variances = components.variances()
        by_means = -sums.deviations / variances
        by_covariances = 0.5 * (sums.weight[:, None] / variances - sums.scatter / variances**2)
        if kind.endswith("spherical"):
            by_covariances = by_covariances.sum(axis=1)
        if kind.startswith("tied"):
            by_covariances = np.asarray(by_covariances.sum(axis=0))
    by_logits = total * components.weights - sums.weight
    return MixtureGradient(-sums.log_likelihood, by_logits, by_means, by_covariances)


@dataclass(frozen=True, eq=False)
class MixtureDescent:
    """Where a descent of the error ended.

    Attributes
    ----------
    components
        The mixture.
    error
        Its error.
    n_iter
        Number of steps.
    converged
        Whether the gradient had vanished.
    """

    components: Components
    error: float
    n_iter: int
    converged: bool


@checked_arguments(X=TABLE, start=COMPONENTS, max_iter=WHOLE, tol=NUMBER)
def descend_mixture(
    X: ArrayLike, start: Components, *, max_iter: int = 500, tol: float = 1e-6
) -> MixtureDescent:
    r"""Minimise the error of a mixture directly, by a quasi-Newton method instead of EM.

    Parameters
    ----------
    X
        Rows.
    start
        Where the descent begins.
    max_iter
        Most steps.
    tol
        Largest derivative, by row, at which the descent ends.

    Notes
    -----
    Weights are a softmax of free numbers, variances exponentials, and matrices :math:`LL^T` with
    :math:`L` lower triangular, its diagonal again exponentials: whatever the numbers, the mixture
    is one. See Bartkowiak 6 (6.4).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.cluster import GaussianMixture, descend_mixture
    >>> X = np.r_[np.arange(20) / 10, 8 + np.arange(10) / 10][:, None]
    >>> mixture = GaussianMixture(2, random_state=0).fit(X)
    >>> descent = descend_mixture(X, mixture.components_)
    >>> bool(abs(descent.error + mixture.score(X)) < 1e-4)
    True
    """
    rows = np.ascontiguousarray(X, dtype=np.float64)
    # One unit for all columns, in which spheres stay spheres.
    origin, unit = rows.mean(axis=0), float(np.sqrt(rows.var(axis=0).mean())) or 1.0
    scaled = (rows - origin) / unit
    beginning = Components(
        start.weights,
        (start.means - origin) / unit,
        start.covariances / unit**2,
        start.covariance_type,
    )
    numbers, unpack = _packed(beginning)

    def value_and_gradient(vector: np.ndarray) -> tuple[float, np.ndarray]:
        components, back = unpack(vector)
        gradient = mixture_gradient(scaled, components)
        return gradient.error / len(rows), back(gradient) / len(rows)

    result = minimize(
        value_and_gradient, numbers, jac=True, method="L-BFGS-B",
        options={"maxiter": max_iter, "gtol": tol, "ftol": 0.0},
    )  # fmt: skip
    end, _ = unpack(result.x)
    components = Components(
        end.weights, end.means * unit + origin, end.covariances * unit**2, end.covariance_type
    )
    error = mixture_gradient(rows, components).error
    converged = bool(np.abs(result.jac).max() <= tol)
    return MixtureDescent(components, error, int(result.nit), converged)


Unpack = Callable[[np.ndarray], tuple[Components, Callable[[MixtureGradient], np.ndarray]]]


def _packed(start: Components) -> tuple[np.ndarray, Unpack]:
    """Return a mixture as free numbers, and what turns such numbers and gradients back."""
    kind, (n_components, n_columns) = start.covariance_type, start.means.shape
    n_first = n_components + start.means.size
    lower = np.tril_indices(n_columns)
    diagonal = lower[0] == lower[1]
    if has_matrices(kind):
        factors = np.linalg.cholesky(start.covariances)[..., lower[0], lower[1]]
        factors[..., diagonal] = np.log(factors[..., diagonal])
    else:
        factors = np.log(start.covariances)
    with np.errstate(divide="ignore"):
        # A weight of zero has no logarithm; one of e^-50 is as good as none, and can still grow.
        logits = np.maximum(np.log(start.weights), -50.0)
    numbers = np.concatenate([logits, start.means.ravel(), factors.ravel()])

    def unpack(
        vector: np.ndarray,
    ) -> tuple[Components, Callable[[MixtureGradient], np.ndarray]]:
        weights = np.exp(vector[:n_components] - vector[:n_components].max())
        weights /= weights.sum()
        means = vector[n_components:n_first].reshape(n_components, n_columns)
        free = vector[n_first:].reshape(factors.shape)
        roots = np.zeros((*factors.shape[:-1], n_columns, n_columns))
        if has_matrices(kind):
            roots[..., lower[0], lower[1]] = np.where(diagonal, np.exp(free), free)
            covariances = roots @ np.swapaxes(roots, -1, -2)
        else:
            covariances = np.exp(free)

        def back(gradient: MixtureGradient) -> np.ndarray:
            by_free = gradient.covariances * covariances
            if has_matrices(kind):
                # d tr(G LL') = 2 G L for a symmetric G; the diagonal is exponentials.
                by_roots = 2.0 * gradient.covariances @ roots
                by_free = by_roots[..., lower[0], lower[1]]
                by_free = by_free * np.where(diagonal, roots[..., lower[0], lower[1]], 1.0)
            return np.concatenate(
                [gradient.logits, gradient.means.ravel(), np.asarray(by_free).ravel()]
            )

        return Components(weights, means, covariances, kind), back

    return numbers, unpack

"""Normal-Wishart beliefs about the components of a mixture: sums in, posterior and terms out."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

from verulam.base import DataError

_LOG_TWO = float(np.log(2.0))
_LOG_PI = float(np.log(np.pi))


@dataclass(frozen=True)
class ComponentBeliefs:
    r"""What is believed of means and precisions, component by component.

    Attributes
    ----------
    means : ndarray of shape (n_components, n_columns)
        :math:`\mu_N`.
    mean_precision : ndarray of shape (n_components,)
        :math:`\kappa_N`: rows that the mean counts as.
    degrees_of_freedom : ndarray of shape (n_components,)
        :math:`\nu_N`.
    scatter : ndarray of shape (n_components, n_columns, n_columns) or (n_components, n_columns)
        :math:`V_N^{-1}`; where columns are independent, its diagonal.
    """

    means: np.ndarray
    mean_precision: np.ndarray
    degrees_of_freedom: np.ndarray
    scatter: np.ndarray

    @property
    def has_matrices(self) -> bool:
        """Whether columns may be correlated."""
        return self.scatter.ndim == 3

    @property
    def wishart_columns(self) -> int:
        """Columns of each Wishart distribution: one where columns are independent."""
        return self.means.shape[1] if self.has_matrices else 1

    def updated(self, weight: np.ndarray, means: np.ndarray, scatter: np.ndarray) -> Any:
        """Return the beliefs after rows with these totals, means and scatters around them."""
        mean_precision = self.mean_precision + weight
        safe = np.where(mean_precision > 0, mean_precision, 1.0)
        deviations = means - self.means
        # With no weight on the prior's mean and no rows there is nothing to average.
        shares = np.where(mean_precision > 0, weight / safe, 1.0)
        between = self.mean_precision * shares
        if self.has_matrices:
            outer = deviations[:, :, None] * deviations[:, None, :]
            spread = between[:, None, None] * outer
        else:
            spread = between[:, None] * deviations**2
        return ComponentBeliefs(
            self.means + shares[:, None] * deviations,
            mean_precision,
            self.degrees_of_freedom + weight,
            self.scatter + scatter + spread,
        )

    def in_order(self, order: np.ndarray) -> "ComponentBeliefs":
        """Return the beliefs with components in another order."""
        return ComponentBeliefs(
            self.means[order],
            self.mean_precision[order],
            self.degrees_of_freedom[order],
            self.scatter[order],
        )

    @cached_property
    def log_determinants(self) -> np.ndarray:
        r"""Return :math:`\ln |V^{-1}|` by component, or the logarithms by column."""
        if self.has_matrices:
            return np.linalg.slogdet(self.scatter)[1]
        return np.log(self.scatter)

    def expected_log_precision(self) -> np.ndarray:
        r"""Return :math:`E[\ln |\Lambda_k|]`."""
        columns = np.arange(self.wishart_columns)
        halves = 0.5 * (self.degrees_of_freedom[:, None] - columns)
        constants = digamma(halves).sum(axis=1) + len(columns) * _LOG_TWO
        if self.has_matrices:
            return constants - self.log_determinants
        return (constants[:, None] - self.log_determinants).sum(axis=1)

    def expected_log_volumes(self) -> np.ndarray:
        """Return the log-determinants of the expected covariances."""
        n_columns = self.means.shape[1]
        columns = self.log_determinants if self.has_matrices else self.log_determinants.sum(axis=1)
        return columns - n_columns * np.log(self.degrees_of_freedom)

    def expected_covariances(self) -> np.ndarray:
        r"""Return the inverse of :math:`E[\Lambda_k] = \nu_k V_k`."""
        return self.scatter / _like(self.degrees_of_freedom, self.scatter)

    def modal_covariances(self) -> np.ndarray:
        r"""Return the covariances where the joint density of mean and covariance is largest."""
        width = self.wishart_columns
        return self.scatter / _like(self.degrees_of_freedom + width + 2.0, self.scatter)

    def log_density(self, means: np.ndarray, covariances: np.ndarray) -> float:
        r"""Return :math:`\sum_k \ln p(\mu_k, \Sigma_k)`, without what no parameter changes."""
        deviations = means - self.means
        factors = 0.5 * (self.degrees_of_freedom + self.wishart_columns + 2.0)
        if self.has_matrices:
            precisions = np.linalg.inv(covariances)
            log_volumes = np.linalg.slogdet(covariances)[1]
            traces = np.einsum("kij,kji->k", self.scatter, precisions)
            squares = np.einsum("ki,kij,kj->k", deviations, precisions, deviations)
        else:
            log_volumes = np.log(covariances).sum(axis=1)
            traces = (self.scatter / covariances).sum(axis=1)
            squares = (deviations**2 / covariances).sum(axis=1)
        terms = -factors * log_volumes - 0.5 * (traces + self.mean_precision * squares)
        return float(terms.sum())

    def divergence(self, prior: "ComponentBeliefs") -> float:
        """Return the Kullback-Leibler divergence from a prior, summed over components."""
        n_columns = self.means.shape[1]
        ratio = prior.mean_precision / self.mean_precision
        deviations = self.means - prior.means
        if self.has_matrices:
            inverses = np.linalg.inv(self.scatter)
            squares = np.einsum("ki,kij,kj->k", deviations, inverses, deviations)
            traces = np.einsum(
                "kij,kji->k", np.broadcast_to(prior.scatter, inverses.shape), inverses
            )
        else:
            squares = (deviations**2 / self.scatter).sum(axis=1)
            traces = (prior.scatter / self.scatter).sum(axis=1)
        freedom = self.degrees_of_freedom
        of_means = (
            n_columns * (ratio - 1.0 - np.log(ratio)) + prior.mean_precision * freedom * squares
        )
        # Above that of the means given the precision, expected over the precision; here that of the
        # Wishart distributions, or of the Gammas of each column.
        surplus = freedom - prior.degrees_of_freedom
        of_precisions = (
            0.5 * surplus * self.expected_log_precision()
            + 0.5 * freedom * (traces - n_columns)
            + self._log_normaliser()
            - prior._log_normaliser()
        )
        return float((0.5 * of_means + of_precisions).sum())

    def _log_normaliser(self) -> np.ndarray:
        """Return the logarithm of the constant of each Wishart density."""
        width, freedom = self.wishart_columns, self.degrees_of_freedom
        # The multivariate gamma function of all components at once.
        gammas = gammaln(0.5 * (freedom[:, None] - np.arange(width))).sum(axis=1)
        gammas += 0.25 * width * (width - 1) * _LOG_PI
        constants = -0.5 * freedom * width * _LOG_TWO - gammas
        if self.has_matrices:
            return constants + 0.5 * freedom * self.log_determinants
        columns = constants[:, None] + 0.5 * freedom[:, None] * self.log_determinants
        return columns.sum(axis=1)

    def predictive(self) -> "StudentComponents":
        """Return the density of a further row by component: a Student t, or one by column."""
        freedom = self.degrees_of_freedom - self.wishart_columns + 1.0
        factors = (self.mean_precision + 1.0) / (self.mean_precision * freedom)
        return StudentComponents(self.means, self.scatter * _like(factors, self.scatter), freedom)


@dataclass(frozen=True)
class StudentComponents:
    """Student t distributions: with matrices, or by column where columns are independent.

    Attributes
    ----------
    means, scales, freedom
        Centres, squared scales and degrees of freedom by component.
    """

    means: np.ndarray
    scales: np.ndarray
    freedom: np.ndarray

    def log_densities(self, X: np.ndarray, present: np.ndarray) -> np.ndarray:
        """Return the log-density of some columns of each row, by component."""
        width = int(present.sum())
        result = np.empty((len(X), len(self.means)))
        rows = X[:, present]
        for k, freedom in enumerate(self.freedom):
            deviations = rows - self.means[k, present]
            if self.scales.ndim == 2:
                scales = self.scales[k, present]
                terms = student_log_density(deviations**2 / scales, np.log(scales), freedom, 1)
                result[:, k] = terms.sum(axis=1)
                continue
            factor = np.linalg.cholesky(self.scales[k][np.ix_(present, present)])
            whitened = np.linalg.solve(factor, deviations.T)
            squares = np.einsum("ij,ij->j", whitened, whitened)
            log_determinant = 2.0 * float(np.log(np.diag(factor)).sum())
            result[:, k] = student_log_density(squares, log_determinant, freedom, width)
        return result

    def draw(self, labels: np.ndarray, random: np.random.Generator) -> np.ndarray:
        """Return a row of the component that each label names."""
        rows = random.normal(size=(len(labels), self.means.shape[1]))
        shape = (len(labels), 1) if self.scales.ndim == 3 else rows.shape
        freedom = self.freedom[labels][:, None]
        rows /= np.sqrt(random.chisquare(np.broadcast_to(freedom, shape)) / freedom)
        for k, mean in enumerate(self.means):
            mine = labels == k
            if self.scales.ndim == 3:
                rows[mine] = mean + rows[mine] @ np.linalg.cholesky(self.scales[k]).T
            else:
                rows[mine] = mean + rows[mine] * np.sqrt(self.scales[k])
        return rows


def student_log_density(squares: Any, log_determinant: Any, freedom: Any, width: int) -> Any:
    """Return the log-density of a Student t at squared distances in units of its scale."""
    constant = gammaln(0.5 * (freedom + width)) - gammaln(0.5 * freedom)
    constant = constant - 0.5 * width * (np.log(freedom) + _LOG_PI)
    return constant - 0.5 * log_determinant - 0.5 * (freedom + width) * np.log1p(squares / freedom)


def _like(values: np.ndarray, shape_of: np.ndarray) -> np.ndarray:
    return values.reshape(-1, *[1] * (shape_of.ndim - 1))


def component_prior(
    learner: Any, mean: np.ndarray, scale: np.ndarray, n_components: int, *, proper: bool
) -> ComponentBeliefs:
    """Return the prior that a learner's parameters stand for, the same for all components.

    Parameters
    ----------
    learner
        Has `mean_prior`, `mean_precision_prior`, `degrees_of_freedom_prior`, `covariance_prior`
        and `covariance_type`.
    mean, scale
        Mean and standard deviation of the data's columns, which the defaults refer to.
    n_components
        Number of components.
    proper
        Whether the prior must have a finite integral.
    """
    n_columns, matrices = len(mean), learner.covariance_type == "full"
    width = n_columns if matrices else 1
    centre = mean if learner.mean_prior is None else _vector(learner.mean_prior, n_columns)
    freedom = learner.degrees_of_freedom_prior
    freedom = width + 2.0 if freedom is None else float(freedom)
    least = width - 1.0
    if not freedom > least:
        raise DataError(
            f"degrees_of_freedom_prior must be above {least:g} for {n_columns} columns; got "
            f"{freedom:g}."
        )
    if proper and not learner.mean_precision_prior > 0:
        raise DataError(
            "mean_precision_prior must be above 0, since averaging over the means needs a prior "
            f"with a finite integral; got {learner.mean_precision_prior:g}."
        )
    scatter = _prior_scatter(learner, scale, n_components, matrices)
    return ComponentBeliefs(
        np.repeat(centre[None], n_components, axis=0),
        np.full(n_components, float(learner.mean_precision_prior)),
        np.full(n_components, freedom),
        np.repeat(scatter[None], n_components, axis=0),
    )


def _vector(values: Any, n_columns: int) -> np.ndarray:
    vector = np.asarray(values, dtype=np.float64)
    if vector.shape != (n_columns,) or not np.isfinite(vector).all():
        raise DataError(
            f"mean_prior has shape {vector.shape}; expected {n_columns} finite numbers, one for "
            "each column."
        )
    return vector


def _prior_scatter(
    learner: Any, scale: np.ndarray, n_components: int, matrices: bool
) -> np.ndarray:
    n_columns = len(scale)
    if learner.covariance_prior is None:
        # Components that share the data's volume evenly have this much of its variance each.
        variances = scale**2 / n_components ** (2.0 / n_columns)
        return np.diag(variances) if matrices else variances
    scatter = np.asarray(learner.covariance_prior, dtype=np.float64)
    if scatter.ndim == 0:
        scatter = scatter * (np.eye(n_columns) if matrices else np.ones(n_columns))
    shape = (n_columns, n_columns) if matrices else (n_columns,)
    if scatter.shape != shape:
        raise DataError(
            f"covariance_prior has shape {scatter.shape}; expected one number or shape {shape} "
            f"for covariance_type={learner.covariance_type!r}."
        )
    symmetric = not matrices or np.allclose(scatter, scatter.T)
    values = np.linalg.eigvalsh(scatter) if matrices and symmetric else scatter
    if not (symmetric and np.isfinite(values).all() and (values > 0).all()):
        raise DataError(
            "covariance_prior must be positive definite: symmetric, with positive eigenvalues."
            if matrices
            else "covariance_prior must be positive in all columns."
        )
    return scatter

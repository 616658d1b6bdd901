"""Gaussian emissions: full, tied, diagonal or spherical covariances, with a floor and priors."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from verulam.base import DataError, DataWarning, SumRecord
from verulam.numerics import factorise, gaussian_log_density
from verulam.sequence._data.sequences import Sequences
from verulam.sequence._emissions.emission_loops import diagonal_logarithms, to_relative
from verulam.sequence._model.emission import (
    Emission,
    check_least,
    checked_start_values,
    column_sums,
    hold_fixed,
    refuse_empty_columns,
)
from verulam.sequence._model.inference import EmissionLikelihoods
from verulam.sequence._recursions.scratch import Scratch, fresh_or_scratch

FAMILIES = ("diagonal", "full", "spherical", "tied")
LOG_TWO_PI = float(np.log(2.0 * np.pi))
NAMES = ("means", "covariances")
#: A share of all steps below which a state counts as having no data.
EMPTY = 1e-12


@dataclass(frozen=True)
class GaussianStates:
    """Parameters of Gaussian emissions.

    Attributes
    ----------
    means : ndarray of shape (n_states, n_columns)
        Mean of each state.
    covariances : ndarray
        Variances per column for "diagonal", matrices for "full", one matrix for "tied", one
        variance per state for "spherical".
    origin : ndarray of shape (n_columns,)
        Point that sums are taken around: the mean of the first steps.
    spread : ndarray of shape (n_columns,)
        Variance of each column in the first steps, which floors and priors refer to.
    """

    means: np.ndarray
    covariances: np.ndarray
    origin: np.ndarray
    spread: np.ndarray


@dataclass(frozen=True)
class GaussianSums(SumRecord):
    """Weighted sums per state around the origin.

    Attributes
    ----------
    weight : ndarray of shape (n_states, n_columns)
        Weight of the entries that are present.
    sums : ndarray of shape (n_states, n_columns)
        Their sums.
    squares : ndarray of shape (n_states, n_columns) or (n_states, n_columns, n_columns)
        Their squares or products.
    """

    weight: np.ndarray
    sums: np.ndarray
    squares: np.ndarray


@dataclass(frozen=True)
class GaussianEmission(Emission):
    r"""Each state shows numbers from its own Gaussian.

    Parameters
    ----------
    covariance
        "diagonal", "full", "tied" (one matrix for all states) or "spherical".
    variance_floor
        Least variance, as a fraction of a column's variance over the first steps.
    means, covariances
        Values to start from.
    mean_prior
        Weight :math:`\kappa`, in steps, of the overall mean in each state's mean.
    covariance_prior
        Weight :math:`\nu`, in steps, of the overall variances in each covariance.
    fixed
        Names of parameters to hold at their start, "means" and "covariances".

    Notes
    -----
    .. math:: \hat\mu_j = \frac{\kappa m + \sum_t \gamma_t(j) O_t}{\kappa + \sum_t \gamma_t(j)},
              \qquad \hat\Sigma_j = \frac{\nu S + \kappa (\hat\mu_j - m)(\hat\mu_j - m)^T +
              \sum_t \gamma_t(j) (O_t - \hat\mu_j)(O_t - \hat\mu_j)^T}
              {\nu + \sum_t \gamma_t(j)}

    with the overall mean :math:`m` and variances :math:`S`; Alpaydin 15.8 (15.39) and exercise
    15.7 without priors. Missing entries of a row are integrated out.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import GaussianEmission, HiddenMarkovModel
    >>> levels = np.repeat([0.0, 10.0, 0.0], 20) + np.tile([-0.5, 0.5], 30)
    >>> model = HiddenMarkovModel(2, GaussianEmission(), random_state=0).fit(levels)
    >>> np.sort(model.emission_.means.ravel()).round(1) + 0.0
    array([ 0., 10.])
    """

    covariance: str = "diagonal"
    variance_floor: float = 1e-6
    means: Any = None
    covariances: Any = None
    mean_prior: float = 0.0
    covariance_prior: float = 0.0
    fixed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("variance_floor", "mean_prior", "covariance_prior"):
            check_least(self, name, 0.0)

    @property
    def complete(self) -> bool:
        """Whether means and covariances are given."""
        return self.means is not None and self.covariances is not None

    def encode(self, sequences: Sequences, parameters: Any = None) -> np.ndarray:
        """Return the rows as C-ordered float64."""
        if self.covariance not in FAMILIES:
            raise DataError(
                f"covariance is {self.covariance!r}; expected one of {', '.join(FAMILIES)}."
            )
        return np.ascontiguousarray(sequences.values, dtype=np.float64)

    def blank(self, survey: Any, head: np.ndarray, n_states: int) -> GaussianStates:
        """Return the overall Gaussian for each state."""
        refuse_empty_columns(head)
        origin, spread = np.nanmean(head, axis=0), np.nanvar(head, axis=0)
        # A constant column still needs a scale.
        spread = np.where(spread > 0, spread, np.maximum(origin**2, 1.0) * self.variance_floor)
        means = np.repeat(origin[None], n_states, axis=0)
        covariances: np.ndarray = {
            "diagonal": np.repeat(spread[None], n_states, axis=0),
            "full": np.repeat(np.diag(spread)[None], n_states, axis=0),
            "tied": np.diag(spread),
            "spherical": np.full(n_states, spread.mean()),
        }[self.covariance]
        return GaussianStates(means, covariances, origin, spread)

    def with_start_values(self, parameters: GaussianStates) -> GaussianStates:
        """Return the parameters with the start values that the user has set."""
        states = checked_start_values(self, NAMES, parameters)
        if self.covariances is not None:
            check_covariances(states.covariances, self.covariance)
        return states

    def emissions(
        self, parameters: GaussianStates, values: np.ndarray, scratch: Scratch | None = None
    ) -> EmissionLikelihoods:
        """Return the emissions for the recursions."""
        if self.covariance in ("diagonal", "spherical"):
            relative = self._diagonal(parameters, values, scratch)
        else:
            relative = self.log_likelihoods(parameters, values)
        peaks = np.empty(len(values))
        to_relative(relative, peaks)

        def logarithms(start: int, stop: int) -> np.ndarray:
            return self.log_likelihoods(parameters, values[start:stop])

        return EmissionLikelihoods(relative, peaks, logarithms)

    def log_likelihoods(self, parameters: GaussianStates, values: np.ndarray) -> np.ndarray:
        """Return the log-densities of what is present in each row."""
        if self.covariance in ("diagonal", "spherical"):
            return self._diagonal(parameters, values, None)
        gaps = np.isnan(values)
        if not gaps.any():
            return gaussian_log_density(values, self._factor(parameters, slice(None)))
        result = np.zeros((len(values), len(parameters.means)))
        for present, rows in _patterns(~gaps):
            if present.any():
                factor = self._factor(parameters, present)
                result[rows] = gaussian_log_density(values[rows][:, present], factor)
        return result

    def _diagonal(
        self, parameters: GaussianStates, values: np.ndarray, scratch: Scratch | None
    ) -> np.ndarray:
        variances = self._variances(parameters)
        result = fresh_or_scratch("relative", (len(values), len(parameters.means)), scratch)
        diagonal_logarithms(
            values,
            np.ascontiguousarray(parameters.means.T),
            np.ascontiguousarray(0.5 / variances.T),
            np.ascontiguousarray(-0.5 * (np.log(variances.T) + LOG_TWO_PI)),
            result,
        )
        return result

    def _variances(self, parameters: GaussianStates) -> np.ndarray:
        variances = parameters.covariances
        return (
            variances[:, None] * np.ones_like(parameters.means)
            if variances.ndim == 1
            else variances
        )

    def _factor(self, parameters: GaussianStates, present: Any) -> Any:
        covariances = parameters.covariances[..., present, :][..., :, present]
        family = "tied" if covariances.ndim == 2 else "full"
        return factorise(parameters.means[:, present], covariances, family)

    def statistics(
        self, parameters: GaussianStates, values: np.ndarray, weights: np.ndarray
    ) -> GaussianSums:
        """Return the weighted sums; gaps of matrices are filled by their expectation."""
        rows = values - parameters.origin
        gaps = np.isnan(rows)
        missing = gaps.any()
        if self.covariance in ("diagonal", "spherical"):
            if missing:
                rows = np.where(gaps, 0.0, rows)
                weight = weights.T @ (~gaps).astype(np.float64)
            else:
                weight = np.repeat(column_sums(weights)[:, None], rows.shape[1], axis=1)
            return GaussianSums(weight, weights.T @ rows, weights.T @ rows**2)
        if missing:
            return self._filled_sums(parameters, rows, weights)
        products = np.empty((weights.shape[1], rows.shape[1], rows.shape[1]))
        for k in range(weights.shape[1]):
            products[k] = (rows * weights[:, k : k + 1]).T @ rows
        weight = np.repeat(column_sums(weights)[:, None], rows.shape[1], axis=1)
        return GaussianSums(weight, weights.T @ rows, products)

    def _filled_sums(
        self, parameters: GaussianStates, rows: np.ndarray, weights: np.ndarray
    ) -> GaussianSums:
        n_states, n_columns = parameters.means.shape
        weight, sums = np.zeros((n_states, n_columns)), np.zeros((n_states, n_columns))
        products = np.zeros((n_states, n_columns, n_columns))
        covariances = np.broadcast_to(parameters.covariances, products.shape)
        for present, places in _patterns(~np.isnan(rows)):
            if not present.any():
                continue
            absent, part = ~present, rows[places]
            for k in range(n_states):
                mean = parameters.means[k] - parameters.origin
                share = weights[places, k]
                left_over = covariances[k][np.ix_(absent, absent)]
                if absent.any():
                    # The conditional mean fills the gap; the conditional covariance is added to
                    # the products below, or filled values would make them too small.
                    across = covariances[k][np.ix_(present, absent)]
                    solved = np.linalg.solve(covariances[k][np.ix_(present, present)], across)
                    part[:, absent] = mean[absent] + (part[:, present] - mean[present]) @ solved
                    left_over = left_over - across.T @ solved
                weight[k] += share.sum()
                sums[k] += share @ part
                products[k] += (part * share[:, None]).T @ part
                products[k][np.ix_(absent, absent)] += share.sum() * left_over
        return GaussianSums(weight, sums, products)

    def update(self, parameters: GaussianStates, sums: GaussianSums) -> GaussianStates:
        """Return means and covariances; a state without data keeps its own."""
        total = max(float(sums.weight.sum()), 1e-300)
        filled = np.all(sums.weight > EMPTY * total, axis=1)
        weight = np.where(filled[:, None], sums.weight, 1.0)
        # Around the origin, so that the prior's mean is zero.
        means = sums.sums / (weight + self.mean_prior)
        if "means" in self.fixed:
            means = parameters.means - parameters.origin
        scatter = self._scatter(sums, weight, means, parameters.spread)
        covariances = self._covariances(parameters, scatter, weight, filled)
        means = np.where(filled[:, None], means + parameters.origin, parameters.means)
        new = GaussianStates(means, covariances, parameters.origin, parameters.spread)
        return hold_fixed(self, NAMES, parameters, new)

    def _scatter(
        self, sums: GaussianSums, weight: np.ndarray, means: np.ndarray, spread: np.ndarray
    ) -> np.ndarray:
        """Return the scatter of each state around its mean, the priors' share included."""
        if sums.squares.ndim == 2:
            scatter = sums.squares - 2 * means * sums.sums + (weight + self.mean_prior) * means**2
            return scatter + self.covariance_prior * spread
        cross = np.einsum("ki,kj->kij", means, sums.sums)
        outer = np.einsum("ki,kj->kij", means, means)
        scatter = sums.squares - cross - cross.transpose(0, 2, 1)
        scatter += (weight[:, :1, None] + self.mean_prior) * outer
        return scatter + self.covariance_prior * np.diag(spread)

    def _covariances(
        self,
        parameters: GaussianStates,
        scatter: np.ndarray,
        weight: np.ndarray,
        filled: np.ndarray,
    ) -> np.ndarray:
        divisor = weight + self.covariance_prior
        floor = self.variance_floor * parameters.spread
        if self.covariance == "diagonal":
            variances = np.maximum(scatter / divisor, floor)
            return np.where(filled[:, None], variances, parameters.covariances)
        if self.covariance == "spherical":
            variances = np.maximum(scatter.sum(axis=1) / divisor.sum(axis=1), floor.mean())
            return np.where(filled, variances, parameters.covariances)
        if self.covariance == "tied":
            pooled = scatter[filled].sum(axis=0) / divisor[filled, 0].sum()
            return raise_eigenvalues(pooled, parameters.spread, self.variance_floor)
        matrices = scatter / divisor[:, :1, None]
        return np.stack(
            [
                raise_eigenvalues(matrix, parameters.spread, self.variance_floor) if known else old
                for matrix, old, known in zip(matrices, parameters.covariances, filled, strict=True)
            ]
        )

    def concerns(self, parameters: GaussianStates) -> list[str]:
        """Return which states have a variance at the floor; a full one warns when it is raised."""
        if self.covariance not in ("diagonal", "spherical") or "covariances" in self.fixed:
            return []
        variances = parameters.covariances
        floor = self.variance_floor * parameters.spread
        if self.covariance == "spherical":
            low = variances <= floor.mean() * (1 + 1e-9)
        else:
            low = (variances <= floor * (1 + 1e-9)).any(axis=1)
        if not low.any():
            return []
        note = (
            f"States {np.flatnonzero(low).tolist()} have a variance at variance_floor: their "
            "values are all but equal, or too few for so many states, and the likelihood says "
            "more of the floor than of the fit. Fewer states or a larger floor would help."
        )
        return [note]

    def log_prior(self, parameters: GaussianStates) -> float:
        """Return the logarithm of the prior, up to a constant."""
        if not (self.mean_prior or self.covariance_prior):
            return 0.0
        deviations = parameters.means - parameters.origin
        matrices = self._matrices(parameters)
        inverses = np.linalg.inv(matrices)
        pulls = np.einsum("ki,kij,kj->k", deviations, inverses, deviations)
        sizes = np.linalg.slogdet(matrices)[1] + np.einsum("kii,i->k", inverses, parameters.spread)
        return float(-0.5 * (self.mean_prior * pulls + self.covariance_prior * sizes).sum())

    def _matrices(self, parameters: GaussianStates) -> np.ndarray:
        n_states, n_columns = parameters.means.shape
        if self.covariance in ("full", "tied"):
            return np.broadcast_to(parameters.covariances, (n_states, n_columns, n_columns))
        return self._variances(parameters)[:, :, None] * np.eye(n_columns)

    def sample(
        self, parameters: GaussianStates, states: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return one row per state."""
        noise = random.standard_normal((len(states), parameters.means.shape[1]))
        roots = np.linalg.cholesky(self._matrices(parameters))
        return parameters.means[states] + np.einsum("tij,tj->ti", roots[states], noise)

    def expected(self, parameters: GaussianStates) -> np.ndarray:
        """Return the means."""
        return parameters.means

    def n_columns(self, parameters: GaussianStates) -> int:
        """Return the columns of the means."""
        return parameters.means.shape[1]

    def n_parameters(self, parameters: GaussianStates) -> int:
        """Return the free numbers in means and covariances."""
        n_states, n_columns = parameters.means.shape
        triangle = n_columns * (n_columns + 1) // 2
        sizes = {
            "means": n_states * n_columns,
            "covariances": {
                "diagonal": n_states * n_columns,
                "full": n_states * triangle,
                "tied": triangle,
                "spherical": n_states,
            }[self.covariance],
        }
        return sum(size for name, size in sizes.items() if name not in self.fixed)

    def take(self, parameters: GaussianStates, states: np.ndarray) -> GaussianStates:
        """Return the parameters of some states."""
        shared = self.covariance == "tied"
        covariances = parameters.covariances if shared else parameters.covariances[states]
        return GaussianStates(
            parameters.means[states], covariances, parameters.origin, parameters.spread
        )


def check_covariances(covariances: np.ndarray, family: str) -> None:
    """Raise where variances are not above zero, or matrices not those of any Gaussian."""
    if family in ("diagonal", "spherical"):
        if (covariances <= 0).any():
            raise DataError("covariances of GaussianEmission must be above zero.")
        return
    turned = np.swapaxes(covariances, -1, -2)
    if not np.allclose(covariances, turned) or (np.linalg.eigvalsh(covariances) <= 0).any():
        raise DataError(
            "covariances of GaussianEmission must be symmetric, with eigenvalues above zero."
        )


def raise_eigenvalues(matrix: np.ndarray, spread: np.ndarray, floor: float) -> np.ndarray:
    """Return the matrix, its least eigenvalue in units of the spread raised to the floor."""
    scale = np.sqrt(np.outer(spread, spread))
    values, vectors = np.linalg.eigh(matrix / scale)
    if values[0] >= floor:
        return matrix
    warnings.warn(
        "A covariance became singular: some columns are linear functions of one another within a "
        "state. It was raised to variance_floor; fewer states or columns, or "
        "covariance='diagonal', avoid this.",
        DataWarning,
        stacklevel=2,
    )
    return (vectors * np.maximum(values, floor)) @ vectors.T * scale


def _patterns(present: np.ndarray) -> Any:
    """Yield each pattern of present columns and the rows that have it."""
    patterns, which = np.unique(present, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(which.ravel(), minlength=len(patterns)))
    yield from zip(patterns, np.split(order, ends[:-1]), strict=True)

"""A mixture of spheres that learns row by row, and forgets if asked to."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    RANDOM_STATE,
    Density,
    Interval,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
    validate_data,
)
from verulam.cluster._mixture.components import Components
from verulam.cluster._mixture.expectation import joint_log_densities, normalise, prepare
from verulam.cluster._seeding import check_enough_rows, plus_plus_rows
from verulam.numerics import njit


@njit(cache=True, nogil=True)
def learn_rows(X, counts, means, variances, retention, floor, shares):
    """Move weights, means and variances by each row in turn, by its responsibilities."""
    n_components, n_columns = means.shape
    for t in range(X.shape[0]):
        largest = -np.inf
        for k in range(n_components):
            square = 0.0
            for j in range(n_columns):
                deviation = X[t, j] - means[k, j]
                square += deviation * deviation
            # The common total of the counts cancels in the responsibilities.
            shares[k] = np.log(counts[k]) - 0.5 * (
                n_columns * np.log(variances[k]) + square / variances[k]
            )
            largest = max(largest, shares[k])
        total = 0.0
        for k in range(n_components):
            shares[k] = np.exp(shares[k] - largest)
            total += shares[k]
        for k in range(n_components):
            share = shares[k] / total
            counts[k] = max(retention * counts[k] + share, 1e-300)
            step = share / counts[k]
            square = 0.0
            for j in range(n_columns):
                deviation = X[t, j] - means[k, j]
                # The product of deviations before and after is what the scatter grows by.
                means[k, j] += step * deviation
                square += deviation * (X[t, j] - means[k, j])
            moved = (1.0 - step) * variances[k] + step * square / n_columns
            variances[k] = max(moved, floor)


class OnlineGaussianMixture(Density):
    r"""A mixture of spherical Gaussians that is updated row by row.

    Parameters
    ----------
    n_components
        Number of Gaussians.
    retention
        How much of what was counted before is kept at each row: with 1 all rows count alike;
        below, the mixture forgets, and follows data that drift, over about
        :math:`1/(1 - \text{retention})` rows.
    max_iter
        Passes over the data by `fit`, in a random order each.
    variance_floor
        Least variance, as a fraction of that of the rows that it starts from.
    random_state
        Seed of the start and of the orders.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Shares of the components.
    means_ : ndarray of shape (n_components, n_features)
        Means.
    covariances_ : ndarray of shape (n_components,)
        Variances.
    counts_ : ndarray of shape (n_components,)
        Responsibilities that were added up, as far as they are remembered.

    Notes
    -----
    With :math:`h_j` the responsibilities for a row :math:`x` of :math:`d` numbers,

    .. math:: N_j \leftarrow r N_j + h_j, \qquad
              \mu_j \leftarrow \mu_j + \frac{h_j}{N_j} (x - \mu_j), \qquad
              \sigma_j^2 \leftarrow \sigma_j^2 + \frac{h_j}{N_j}
              \left(\frac{(x - \mu_j^\text{old})^T (x - \mu_j)}{d} - \sigma_j^2\right)

    and :math:`P_j = N_j / \sum_i N_i`. Over many passes the updates go where EM goes. The first
    rows start the components, so the first call needs as many. See Bartkowiak 6.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.cluster import OnlineGaussianMixture
    >>> random = np.random.default_rng(0)
    >>> mixture = OnlineGaussianMixture(2, random_state=0)
    >>> for _ in range(20):
    ...     _ = mixture.partial_fit(random.normal(size=(50, 1)) + random.choice([0, 8], (50, 1)))
    >>> np.sort(mixture.means_.ravel()).round(1)
    array([0. , 7.9])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "retention": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "variance_floor": [Interval(Real, 0, 1, closed="neither")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        retention: float = 1.0,
        max_iter: int = 10,
        variance_floor: float = 1e-6,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.retention = retention
        self.max_iter = max_iter
        self.variance_floor = variance_floor
        self.random_state = random_state

    @checked_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from the rows in random orders, several times.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        rows = validate_data(self, X, dtype=np.float64, order="C")
        random = generator(self.random_state)
        self._begin(rows, random)
        for _ in range(self.max_iter):
            self._learn(rows[random.permutation(len(rows))])
        self.n_iter_ = self.max_iter
        return self

    @checked_fit
    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn from further rows, in their order; the first call also starts the components.

        Parameters
        ----------
        X
            Rows.
        y
            Not used.
        """
        first = not hasattr(self, "counts_")
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=first)
        if first:
            self._begin(rows, generator(self.random_state))
        self._learn(rows)
        return self

    def _begin(self, rows: np.ndarray, random: np.random.Generator) -> None:
        check_enough_rows(self.n_components, len(rows), "n_components")
        self.means_ = plus_plus_rows(rows, np.ones(len(rows)), self.n_components, random).copy()
        spread = float(rows.var(axis=0).mean()) or 1.0
        self._floor = self.variance_floor * spread
        # As wide as the clusters would be if they shared the spread evenly.
        self.covariances_ = np.full(self.n_components, spread / self.n_components)
        self.counts_ = np.ones(self.n_components)

    def _learn(self, rows: np.ndarray) -> None:
        counts, means, variances = self.counts_.copy(), self.means_.copy(), self.covariances_.copy()
        learn_rows(
            rows, counts, means, variances, float(self.retention), self._floor,
            np.empty(len(counts)),
        )  # fmt: skip
        self.counts_, self.means_, self.covariances_ = counts, means, variances
        self.weights_ = counts / counts.sum()

    @property
    def components_(self) -> Components:
        """The parameters as one record."""
        check_is_fitted(self)
        return Components(self.weights_, self.means_, self.covariances_, "spherical")

    def _joint(self, X: ArrayLike) -> np.ndarray:
        components = self.components_
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        scale = np.full(rows.shape[1], np.sqrt(self.covariances_.max()))
        return joint_log_densities(rows, prepare(components, self.means_.mean(axis=0), scale))

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density at each row."""
        return normalise(self._joint(X))

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the responsibility of each component for each row."""
        joint = self._joint(X)
        normalise(joint)
        return joint.T

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most probable component of each row."""
        return self._joint(X).argmax(axis=0)

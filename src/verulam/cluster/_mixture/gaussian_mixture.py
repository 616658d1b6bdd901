"""Gaussian mixtures fitted by expectation-maximisation (EM), also to weighted and missing data."""

from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from verulam.base import (
    RANDOM_STATE,
    Chunk,
    DataError,
    DataWarning,
    Density,
    EMRun,
    Interval,
    ManyPasses,
    MemorySource,
    Seed,
    Source,
    StrOptions,
    check_is_fitted,
    columns_text,
    generator,
    map_rows,
    validate_data,
    warn_caller,
)
from verulam.cluster._mixture.components import (
    COVARIANCE_TYPES,
    Components,
    estimate_covariances,
    first_components,
    inverse_precisions,
    parameter_count,
    raise_to_floor,
    widest,
)
from verulam.cluster._mixture.expectation import (
    MixtureSums,
    PreparedMixture,
    expected_sums,
    joint_log_densities,
    normalise,
    observe,
    prepare,
)
from verulam.cluster._partition.k_means import KMeans, nearest
from verulam.cluster._seeding import (
    Survey,
    array_of_starts,
    check_enough_rows,
    check_width,
    plus_plus_rows,
    random_rows,
    sample_size,
    survey,
)
from verulam.numerics import gap_patterns

#: Share of all weight below which a component has lost its rows.
LEAST_WEIGHT = 1e-12


@dataclass(frozen=True)
class MixtureStep:
    """Parameters of one pass, and the components whose covariances were raised to the floor."""

    prepared: PreparedMixture
    raised: tuple[int, ...] = ()


class GaussianMixture(ManyPasses, Density):
    r"""Model the data as drawn from several Gaussians, each with its share of the rows.

    Parameters
    ----------
    n_components
        Number of Gaussians.
    covariance_type
        Which covariances they have: "full", "diag" and "spherical" differ from one to the next;
        "tied", "tied_diag" and "tied_spherical" are shared by all.
    init_params
        Where passes start: "kmeans" at clusters of k-means; "k-means++" and "random_from_data"
        at rows of a sample, far from one another or any; "random" at random responsibilities.
    weights_init
        First weights, in place of those.
    means_init
        First means, in place of those.
    precisions_init
        First inverse covariances, of the family's shape, in place of those.
    n_init
        Number of starts, the best of which is taken.
    max_iter
        Most passes over the data.
    tol
        Stop when a pass raises the mean log-likelihood of a row by no more than this.
    variance_floor
        Least variance in any direction, as a fraction of a column's variance. A component that
        would shrink below it is held there with a warning.
    random_state
        Seed of the starts.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        Shares of the components, largest first.
    means_ : ndarray of shape (n_components, n_features)
        Means.
    covariances_ : ndarray
        Matrices, vectors of variances or single variances as `covariance_type` has them, with a
        leading axis over components where they are not tied.
    n_parameters_ : int
        Number of free numbers in weights, means and covariances.
    n_singular_ : int
        Number of covariances that are held at the floor.
    objective_curve_ : list of float
        Mean log-likelihood of a row before each pass; it never falls.
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether the last pass met `tol`.

    Notes
    -----
    .. math:: p(x) = \sum_i P_i\, p(x \mid i), \qquad
              h_i^t = \frac{P_i\, p(x^t \mid i)}{\sum_j P_j\, p(x^t \mid j)}

    and then :math:`P_i = \sum_t h_i^t / N`, :math:`m_i = \sum_t h_i^t x^t / \sum_t h_i^t`,
    :math:`S_i = \sum_t h_i^t (x^t - m_i)(x^t - m_i)^T / \sum_t h_i^t`, until the likelihood
    settles. Rows with missing values count by what they have: each component fills the rest with
    its conditional expectation, and adds what is uncertain about it. A pass is a sum over the
    rows: memory, streams and Dask give the same mixture. With hard labels and equal spheres, EM is
    k-means. See SIT1305 III, Bartkowiak 6 (6.1)-(6.4).

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.cluster import GaussianMixture
    >>> X = np.r_[np.arange(20) / 10, 8 + np.arange(10) / 10][:, None]
    >>> mixture = GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> mixture.weights_.round(3), mixture.means_.round(2).ravel()
    (array([0.667, 0.333]), array([0.95, 8.45]))
    >>> mixture.predict([[1.0], [8.0]])
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "init_params": [StrOptions({"kmeans", "k-means++", "random", "random_from_data"})],
        "weights_init": ["array-like", None],
        "means_init": ["array-like", None],
        "precisions_init": ["array-like", Real, None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "variance_floor": [Interval(Real, 0, 1, closed="neither")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        init_params: str = "kmeans",
        weights_init: ArrayLike | None = None,
        means_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        n_init: int = 1,
        max_iter: int = 500,
        tol: float = 1e-5,
        variance_floor: float = 1e-6,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.variance_floor = variance_floor
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["GaussianMixture"]:
        return [cls(n_components=2, covariance_type=kind) for kind in ("full", "tied", "diag")]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _check_inputs(self, X: Any, reset: bool) -> np.ndarray:
        return validate_data(
            self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan"
        )

    def _learn(self, source: Source) -> None:
        if isinstance(source, MemorySource):
            check_enough_rows(self.n_components, len(source.data), "n_components")
        random = generator(self.random_state)
        seed = int(random.integers(2**31))
        view = source.total(partial(survey, seed=seed, most=sample_size(self.n_components)))
        missing = np.flatnonzero(view.moments.weight[0] == 0)
        if len(missing):
            pronoun = "that" if len(missing) == 1 else "them"
            raise DataError(
                f"X: all values are missing in {columns_text(self, missing)}; leave {pronoun} out."
            )
        self._origin, self._scale = view.mean, view.scale
        starts = (self._start_components(view, random) for _ in range(self.n_init))
        runs = [
            self._run(source, MixtureStep(self._prepared(start)), _note)
            for start in self._steps(starts, "start", self.n_init)
        ]
        best = self._conclude(runs)
        for note in best.notes:
            warn_caller(note, DataWarning)

    def _prepared(self, components: Components) -> PreparedMixture:
        return prepare(components, self._origin, self._scale)

    def _start_components(self, view: Survey, random: np.random.Generator) -> Components:
        """Return the first parameters, from a sample of the rows or as the user has them."""
        rows, weights = view.filled(), view.sample.weights
        values = (self.weights_init, self.means_init, self.precisions_init)
        if all(value is not None for value in values):
            # Nothing is taken from the rows but the shapes that these values should have.
            shares = np.full((1, self.n_components), 1.0 / self.n_components)
            return self._with_first_values(
                first_components(
                    rows[:1], shares, self.covariance_type, view.scale, self.variance_floor
                )
            )
        # Distances depend on the units of the columns: clusters may lie apart in their own units
        # or in units of the columns' spread, and the likelihood tells which.
        units = [np.ones_like(view.scale), view.scale]
        if self.init_params == "random":
            units = units[:1]
        starts = []
        for unit in units:
            shares = self._first_shares((rows - view.mean) / unit, weights, random)
            start = first_components(
                rows, shares * weights[:, None], self.covariance_type, view.scale,
                self.variance_floor,
            )  # fmt: skip
            starts.append(self._with_first_values(start))
        return max(starts, key=lambda start: self._log_likelihood(rows, weights, start))

    def _log_likelihood(self, X: np.ndarray, weights: np.ndarray, components: Components) -> float:
        return float(weights @ normalise(joint_log_densities(X, self._prepared(components))))

    def _first_shares(
        self, rows: np.ndarray, weights: np.ndarray, random: np.random.Generator
    ) -> np.ndarray:
        """Return the responsibilities that the sampled rows begin with."""
        n_components = self.n_components
        if self.init_params == "random":
            return random.dirichlet(np.ones(n_components), size=len(rows))
        if self.init_params == "random_from_data":
            centres = random_rows(rows, weights, n_components, random)
        else:
            centres = plus_plus_rows(rows, weights, n_components, random)
        if self.init_params == "kmeans" and len(rows) > n_components:
            clusters = KMeans(n_components, init=centres, tol=1e-3)
            centres = clusters.fit(rows, sample_weight=weights).cluster_centers_
        return np.eye(n_components)[nearest(rows, centres, exact=True)]

    def _with_first_values(self, start: Components) -> Components:
        weights, means, covariances = start.weights, start.means, start.covariances
        if self.weights_init is not None:
            weights = np.asarray(self.weights_init, dtype=np.float64)
            if weights.shape != start.weights.shape or (weights < 0).any():
                raise DataError(
                    f"weights_init has shape {weights.shape}; expected {len(start.weights)} "
                    "numbers that are not negative."
                )
            if not np.isclose(weights.sum(), 1.0):
                raise DataError(f"weights_init must sum to 1; its sum is {weights.sum():.6g}.")
        if self.means_init is not None:
            means = array_of_starts(self.means_init, self.n_components, "means_init")
            check_width(start.means, means, "means_init")
        if self.precisions_init is not None:
            covariances = inverse_precisions(self.precisions_init, start)
        return Components(weights, means, covariances, self.covariance_type)

    def _statistics(self, chunk: Chunk, parameters: MixtureStep) -> MixtureSums:
        return expected_sums(chunk, parameters.prepared)

    def _total(self, source: Source, parameters: MixtureStep) -> MixtureSums:
        # A pass depends on the parameters alone, so that no copy of the learner is made for it.
        return source.total(partial(expected_sums, mixture=parameters.prepared))

    def _update(self, statistics: MixtureSums) -> MixtureStep:
        kind = self.covariance_type
        alive = statistics.weight > LEAST_WEIGHT * statistics.weight.sum()
        weight = np.where(alive, statistics.weight, 1.0)
        shifts = np.where(alive[:, None], statistics.deviations / weight[:, None], 0.0)
        covariances = estimate_covariances(
            np.where(alive, weight, 0.0) if kind.startswith("tied") else weight,
            shifts,
            statistics.scatter,
            kind,
        )
        if not alive.all() and not kind.startswith("tied"):
            # A component without rows is as wide as the data, and has no weight.
            covariances[~alive] = widest(kind, self._scale)
        covariances, low = raise_to_floor(covariances, kind, self._scale, self.variance_floor)
        components = Components(
            np.where(alive, statistics.weight, 0.0) / statistics.weight[alive].sum(),
            statistics.references + shifts,
            covariances,
            kind,
        )
        return MixtureStep(self._prepared(components), tuple(np.flatnonzero(low).tolist()))

    def _objective(self, statistics: MixtureSums) -> float:
        return statistics.log_likelihood / float(statistics.weight.sum())

    def _store(self, parameters: MixtureStep) -> None:
        components = parameters.prepared.components
        # Largest first, so that two runs to the same mixture give it in the same order.
        order = np.argsort(-components.weights, kind="stable")
        self.weights_ = components.weights[order]
        self.means_ = components.means[order]
        covariances = components.covariances
        tied = self.covariance_type.startswith("tied")
        self.covariances_ = covariances if tied else covariances[order]
        self.n_parameters_ = parameter_count(
            self.covariance_type, self.means_.shape[1], len(self.weights_)
        )
        self.n_singular_ = len(parameters.raised)
        # The fitted kind, which a later `set_params` does not change.
        self._fitted_type = self.covariance_type

    @property
    def components_(self) -> Components:
        """The fitted parameters as one record."""
        check_is_fitted(self)
        return Components(self.weights_, self.means_, self.covariances_, self._fitted_type)

    def _joint(self, X: ArrayLike) -> np.ndarray:
        """Return the joint log-densities, a row for each row of `X`."""
        prepared = self._prepared(self.components_)
        inputs = self._check_inputs(X, reset=False)
        shape = len(inputs), len(self.weights_)
        return map_rows(lambda rows: _joint_rows(rows, prepared), inputs, shape)

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of the values that each row has."""
        return normalise(self._joint(X).T)

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the responsibility of each component for each row."""
        joint = self._joint(X)
        normalise(joint.T)
        return joint

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most probable component of each row."""
        return self._joint(X).argmax(axis=1)

    def fit_predict(self, X: ArrayLike, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Learn the mixture, and return the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def bic(self, X: ArrayLike) -> float:
        r"""Return Schwarz's criterion :math:`-2 \ln L + q \ln N`: less is better."""
        log_densities = self.score_samples(X)
        return float(-2 * log_densities.sum() + self.n_parameters_ * np.log(len(log_densities)))

    def aic(self, X: ArrayLike) -> float:
        r"""Return Akaike's criterion :math:`-2 \ln L + 2q`: less is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self.n_parameters_)

    def icl(self, X: ArrayLike) -> float:
        r"""Return the integrated complete likelihood: `bic` and twice the entropy of the labels.

        Parameters
        ----------
        X
            Rows.

        Notes
        -----
        :math:`-2 \sum_t \sum_i h_i^t \ln h_i^t` is added, so that components which overlap, and
        are no clusters, cost more [biernacki2000]_.

        .. [biernacki2000] C. Biernacki, G. Celeux and G. Govaert, "Assessing a mixture model for
           clustering with the integrated completed likelihood", IEEE Transactions on Pattern
           Analysis and Machine Intelligence 22, 2000.
        """
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(shares > 0, shares * np.log(shares), 0.0)
        return self.bic(X) - 2.0 * float(terms.sum())

    def sample(
        self, n_samples: int = 1, random_state: Seed = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows from the mixture; return them, and the component that each came from.

        Parameters
        ----------
        n_samples
            Number of rows.
        random_state
            Seed.
        """
        check_is_fitted(self)
        random = generator(random_state)
        labels = np.sort(random.choice(len(self.weights_), size=n_samples, p=self.weights_))
        rows = random.normal(size=(n_samples, self.means_.shape[1]))
        for k, matrix in enumerate(self.components_.matrices()):
            mine = labels == k
            rows[mine] = self.means_[k] + rows[mine] @ np.linalg.cholesky(matrix).T
        return rows, labels


def _joint_rows(X: np.ndarray, mixture: PreparedMixture) -> np.ndarray:
    complete = ~np.isnan(X.sum(axis=1))
    if complete.all():
        return joint_log_densities(X, mixture).T
    joint = np.empty((len(X), len(mixture.components.weights)))
    for present, rows in gap_patterns(X):
        block = X[rows]
        joint[rows] = (
            joint_log_densities(block, mixture)
            if present.all()
            else observe(block, present, mixture).joint
        ).T
    return joint


def _note(run: EMRun) -> None:
    """Note what to warn of if this run is taken: raised covariances, components without rows."""
    components = run.parameters.prepared.components
    run.notes[:] = []
    if run.parameters.raised:
        whose = "the shared covariance is"
        if not components.covariance_type.startswith("tied"):
            whose = f"{len(run.parameters.raised)} of {len(components.weights)} covariances are"
        run.notes.append(
            f"In the mixture {whose} singular, for lack of different rows or because columns "
            "depend on one another, or narrower than the floor, and held at variance_floor; choose "
            "fewer components, a simpler covariance_type, or a smaller variance_floor if a cluster "
            "is that narrow."
        )
    dead = int((components.weights == 0).sum())
    if dead:
        run.notes.append(
            f"{dead} of {len(components.weights)} components of the mixture lost all rows; choose "
            "fewer components or another start."
        )

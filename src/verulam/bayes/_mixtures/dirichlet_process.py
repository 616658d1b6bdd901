"""Gaussian mixtures with as many components as the data call for: Dirichlet processes."""

from collections import deque
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, multigammaln

from verulam.base import (
    RANDOM_STATE,
    Density,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    checked_fit,
    generator,
    map_rows,
    validate_data,
)
from verulam.bayes._mixtures.checks import check_shape_and_rate, check_sweeps
from verulam.bayes._mixtures.component_priors import ComponentBeliefs, component_prior
from verulam.bayes._mixtures.dirichlet_process_loops import seat_rows
from verulam.bayes._mixtures.restaurant import (
    counts_log_probability,
    draw_concentration,
    likely_concentration,
)
from verulam.bayes._sampling.chains import Chains
from verulam.numerics import announced, log_sum_exp

#: Sweeps after which factors are computed anew, so that rounding does not add up.
REFRESH = 50
_LOG_PI = float(np.log(np.pi))


class SeatedRows:
    """Rows at the tables of a restaurant: counts, means and factors of scatter, by slot."""

    def __init__(self, X: np.ndarray, prior: ComponentBeliefs, labels: np.ndarray) -> None:
        self.X = X
        self.labels = np.array(labels, dtype=np.int64)
        self.prior_mean = np.ascontiguousarray(prior.means[0])
        self.prior_precision = float(prior.mean_precision[0])
        self.prior_freedom = float(prior.degrees_of_freedom[0])
        self.prior_scatter = prior.scatter[0]
        self.prior_factor = np.linalg.cholesky(self.prior_scatter)
        sizes = np.arange(len(X) + 1)
        n_columns = X.shape[1]
        freedom, precision = self.prior_freedom + sizes, self.prior_precision + sizes
        self._densities = (
            gammaln(0.5 * (freedom + 1.0)) - gammaln(0.5 * (freedom - n_columns + 1.0))
            - 0.5 * n_columns * _LOG_PI + 0.5 * n_columns * np.log(precision / (precision + 1.0))
        )  # fmt: skip
        with np.errstate(divide="ignore"):
            self.constants = self._densities + np.log(sizes)
        whitened = np.linalg.solve(self.prior_factor, (X - self.prior_mean).T)
        squares = np.einsum("ij,ij->j", whitened, whitened)
        share = self.prior_precision / (self.prior_precision + 1.0)
        self.log_alone = (
            self._densities[0]
            - np.log(np.diag(self.prior_factor)).sum()
            - 0.5 * (self.prior_freedom + 1.0) * np.log1p(share * squares)
        )
        self.refresh()

    def refresh(self) -> None:
        """Compute all factors from the rows, and name components by the numbers from 0 on."""
        seated = self.labels >= 0
        used, self.labels[seated] = np.unique(self.labels[seated], return_inverse=True)
        n_slots, n_columns = len(used) + 8, self.X.shape[1]
        self.counts = np.zeros(n_slots, dtype=np.int64)
        self.means = np.zeros((n_slots, n_columns))
        self.factors = np.zeros((n_slots, n_columns, n_columns))
        beliefs = self.beliefs(len(used))
        self.counts[: len(used)] = np.bincount(self.labels[seated], minlength=len(used))
        self.means[: len(used)] = beliefs.means
        if len(used):
            self.factors[: len(used)] = np.linalg.cholesky(beliefs.scatter)
        diagonals = np.einsum("kii->ki", self.factors)
        self.halves = np.log(np.where(diagonals > 0, diagonals, 1.0)).sum(axis=1)

    def beliefs(self, n_components: int) -> ComponentBeliefs:
        """Return what the rows tell of the components that labels 0, 1, ... name."""
        prior = ComponentBeliefs(
            np.repeat(self.prior_mean[None], n_components, axis=0),
            np.full(n_components, self.prior_precision),
            np.full(n_components, self.prior_freedom),
            np.repeat(self.prior_scatter[None], n_components, axis=0),
        )
        weight = np.zeros(n_components)
        means, scatter = np.zeros_like(prior.means), np.zeros_like(prior.scatter)
        for k in range(n_components):
            rows = self.X[self.labels == k]
            weight[k], means[k] = len(rows), rows.mean(axis=0)
            deviations = rows - means[k]
            scatter[k] = deviations.T @ deviations
        return prior.updated(weight, means, scatter)

    def sweep(self, concentration: float, random: np.random.Generator) -> None:
        """Seat every row anew, one after another."""
        uniforms = random.random(len(self.X))
        log_new = np.log(concentration) + self.log_alone
        vector = np.zeros(self.X.shape[1])
        start = 0
        while True:
            weights = np.zeros(len(self.counts))
            start = seat_rows(
                self.X, start, self.labels, uniforms, log_new, self.counts, self.means,
                self.factors, self.halves, self.constants, self.prior_mean, self.prior_factor,
                self.prior_precision, self.prior_freedom, weights, vector,
            )  # fmt: skip
            if start == len(self.X):
                return
            self._grow()

    def _grow(self) -> None:
        """Make room for twice as many components."""
        for name in ("counts", "means", "factors", "halves"):
            values = getattr(self, name)
            setattr(self, name, np.concatenate([values, np.zeros_like(values)]))

    @property
    def n_components(self) -> int:
        """Number of components that rows sit at."""
        return int((self.counts > 0).sum())

    def log_evidence(self) -> float:
        """Return the log-density of all rows given their labels, parameters averaged out."""
        n_columns = self.X.shape[1]
        sizes = self.counts[self.counts > 0]
        freedom, precision = self.prior_freedom + sizes, self.prior_precision + sizes
        # The normaliser of the normal-Wishart after the rows over that before; `halves` has half of
        # the logarithms of the determinants.
        prior_half = np.log(np.diag(self.prior_factor)).sum()
        gammas = np.array([multigammaln(0.5 * value, n_columns) for value in freedom])
        terms = (
            -0.5 * n_columns * sizes * _LOG_PI
            + 0.5 * n_columns * np.log(self.prior_precision / precision)
            + gammas
            - multigammaln(0.5 * self.prior_freedom, n_columns)
            + self.prior_freedom * prior_half
            - freedom * self.halves[self.counts > 0]
        )
        return float(terms.sum())


@dataclass(frozen=True)
class PartitionDraw:
    """A partition of the training rows that the sampler passed.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,)
        Component of each row.
    concentration
        Of the process.
    beliefs
        What is believed of each component.
    log_joint
        Log-density of rows and partition.
    """

    labels: np.ndarray
    concentration: float
    beliefs: ComponentBeliefs
    log_joint: float


class DirichletProcessMixture(InSteps, Density):
    r"""Model the data as drawn from as many Gaussians as it takes.

    Parameters
    ----------
    concentration
        :math:`\alpha`: how readily a new component is begun. "average" draws it along with the
        partition, given `concentration_prior`; "empirical" moves it to where the number of
        components is most likely.
    concentration_prior
        Shape and rate of the gamma distribution that "average" takes.
    method
        "gibbs" for sweeps in which every row is seated anew, "sequential" for one pass in which
        every row is seated once, in the order of the data.
    mean_precision_prior
        :math:`\kappa_0`: rows that the prior's mean counts as.
    mean_prior
        :math:`\mu_0`; None for the mean of the data.
    degrees_of_freedom_prior
        :math:`\nu_0`: rows that the prior's covariance counts as; None for the number of columns
        plus 2.
    covariance_prior
        :math:`V_0^{-1}`: the scatter that was seen beforehand, as a matrix or one number; None for
        the variances of the data.
    n_iter
        Sweeps of each chain.
    burn_in
        Sweeps that are not counted.
    n_chains
        Number of chains, which are compared with one another.
    random_state
        Seed of the draws.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Component of each row in the partition with the largest posterior, largest component first.
    n_components_ : int
        Number of components of that partition.
    weights_ : ndarray of shape (n_components_,)
        Its shares of the rows.
    means_ : ndarray of shape (n_components_, n_features)
        Its posterior means.
    covariances_ : ndarray of shape (n_components_, n_features, n_features)
        Inverses of its expected precisions.
    concentration_ : float
        Mean concentration of the draws.
    chains_ : Chains or None
        Draws of the number of components, of the log-density and, where it is averaged, of the
        concentration; None where there was one pass alone.
    sweeps_ : ndarray of shape (n_iter, n_samples)
        Labels after every sweep of the first chain, where there are at most ten million of them,
        else those of the last sweeps.

    Notes
    -----
    Given where all others sit, a row is seated with

    .. math:: P(i) \propto n_i\, p(x \mid X_i), \qquad P(\text{new}) \propto \alpha\, p(x)

    where :math:`p(x \mid X_i)` is the Student t that follows from the component's rows and the
    normal-Wishart prior (Alpaydin 16.10). Means and factors of scatter change by one row at a time,
    so that a sweep takes time in proportion to rows, components and squared columns. A mean-field
    approximation with sticks is
    `BayesianGaussianMixture` with ``weight_concentration_prior_type="dirichlet_process"``.

    Examples
    --------
    One pass, which needs no comparison of chains:

    >>> import numpy as np
    >>> from verulam.bayes import DirichletProcessMixture
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (60, 2)), rng.normal(8, 1, (40, 2))]
    >>> mixture = DirichletProcessMixture(0.5, method="sequential", random_state=0).fit(X)
    >>> mixture.n_components_, mixture.weights_
    (2, array([0.6, 0.4]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "concentration": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"average", "empirical"}),
        ],
        "concentration_prior": [tuple, list],
        "method": [StrOptions({"gibbs", "sequential"})],
        "mean_precision_prior": [Interval(Real, 0, None, closed="neither")],
        "mean_prior": ["array-like", None],
        "degrees_of_freedom_prior": [Interval(Real, 0, None, closed="neither"), None],
        "covariance_prior": ["array-like", Interval(Real, 0, None, closed="neither"), None],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "random_state": RANDOM_STATE,
    }
    #: Draws that densities of new rows are averaged over, and labels that are remembered.
    _n_averaged = 20
    _most_labels = 10_000_000
    covariance_type = "full"
    chains_: Chains | None

    def __init__(
        self,
        concentration: float | str = "average",
        *,
        concentration_prior: tuple[float, float] = (1.0, 1.0),
        method: str = "gibbs",
        mean_precision_prior: float = 0.01,
        mean_prior: ArrayLike | None = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: ArrayLike | None = None,
        n_iter: int = 2000,
        burn_in: int = 500,
        n_chains: int = 2,
        random_state: Seed = None,
    ) -> None:
        self.concentration = concentration
        self.concentration_prior = concentration_prior
        self.method = method
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["DirichletProcessMixture"]:
        # Too few draws to compare, and enough to check what is stored.
        return [cls(n_iter=12, burn_in=9), cls(1.0, method="sequential")]

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw partitions of the rows."""
        X = validate_data(self, X, dtype=np.float64, order="C")
        check_sweeps(self)
        shape_and_rate = check_shape_and_rate(self.concentration_prior, "concentration_prior")
        scale = X.std(axis=0)
        scale = np.where(scale > 1e-12 * np.abs(X).max(axis=0), scale, 1.0)
        prior = component_prior(self, X.mean(axis=0), scale, 1, proper=True)
        generators = generator(self.random_state).spawn(self.n_chains)
        self._prior = prior
        with announced("verulam.bayes"):
            if self.method == "sequential":
                self._fit_once(X, generators[0])
            else:
                runs = [
                    self._chain(X, prior, shape_and_rate, random)
                    for random in self._steps(generators, "chain", self.n_chains)
                ]
                self._adopt(runs)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Draw partitions, and return the component of each row in the best of them."""
        return self.fit(X).labels_

    def _fit_once(self, X: np.ndarray, random: np.random.Generator) -> None:
        concentration = 1.0 if isinstance(self.concentration, str) else self.concentration
        seated = SeatedRows(X, self._prior, np.full(len(X), -1))
        seated.sweep(concentration, random)
        seated.refresh()
        self.chains_, self.sweeps_ = None, seated.labels[None].copy()
        self._averaged_draws = [_draw_of(seated, concentration)]
        self._take(self._averaged_draws[0], concentration)

    def _chain(
        self,
        X: np.ndarray,
        prior: ComponentBeliefs,
        shape_and_rate: tuple[float, float],
        random: np.random.Generator,
    ) -> "ChainRun":
        concentration = 1.0 if isinstance(self.concentration, str) else float(self.concentration)
        seated = SeatedRows(X, prior, np.full(len(X), -1))
        traces: list[tuple[float, float, float]] = []
        draws, best = [], None
        counts_of_components: list[int] = []
        spacing = max(1, (self.n_iter - self.burn_in) // self._n_averaged)
        labels: deque[np.ndarray] = deque(maxlen=max(1, self._most_labels // len(X)))
        for step in self._steps(range(self.n_iter), "sweep", self.n_iter):
            seated.sweep(concentration, random)
            if step % REFRESH == REFRESH - 1:
                seated.refresh()
            counts_of_components.append(seated.n_components)
            concentration = self._next_concentration(
                concentration, counts_of_components, len(X), shape_and_rate, random
            )
            labels.append(seated.labels.astype(np.int32))
            if step < self.burn_in:
                continue
            sizes = seated.counts[seated.counts > 0]
            log_joint = seated.log_evidence() + counts_log_probability(sizes, concentration)
            traces.append((seated.n_components, concentration, log_joint))
            if best is None or log_joint > best.log_joint:
                best = _draw_of(seated, concentration, log_joint)
            if (step - self.burn_in) % spacing == spacing - 1:
                draws.append(_draw_of(seated, concentration, log_joint))
        assert best is not None
        return ChainRun(np.array(traces), draws or [best], best, np.array(labels))

    def _next_concentration(
        self,
        concentration: float,
        sizes: list[int],
        n_rows: int,
        prior: tuple[float, float],
        random: np.random.Generator,
    ) -> float:
        if self.concentration == "average":
            return draw_concentration(concentration, sizes[-1], n_rows, prior, random)
        if self.concentration == "empirical":
            # The mean over recent sweeps: a Monte-Carlo EM step.
            recent = float(np.mean(sizes[-REFRESH:]))
            return likely_concentration(min(max(recent, 1.0 + 1e-3), n_rows), n_rows)
        return concentration

    def _adopt(self, runs: list["ChainRun"]) -> None:
        traces = np.array([run.traces for run in runs])
        quantities = {"n_components": traces[:, :, 0], "log_density": traces[:, :, 2]}
        if self.concentration == "average":
            quantities["concentration"] = traces[:, :, 1]
        self.chains_ = chains = Chains(quantities)
        self.sweeps_ = runs[0].labels
        self._averaged_draws = [draw for run in runs for draw in run.draws]
        best = max((run.best for run in runs), key=lambda draw: draw.log_joint)
        self._take(best, float(traces[:, :, 1].mean()))
        if traces.shape[1] >= 4:
            chains.warn_unless_converged("Raise n_iter and burn_in.")

    def _take(self, draw: PartitionDraw, concentration: float) -> None:
        sizes = np.bincount(draw.labels)
        order = np.argsort(-sizes, kind="stable")
        places = np.empty(len(order), dtype=np.intp)
        places[order] = np.arange(len(order))
        self.labels_ = places[draw.labels]
        self.n_components_ = len(sizes)
        self.weights_ = sizes[order] / len(draw.labels)
        beliefs = draw.beliefs.in_order(order)
        self.means_ = beliefs.means
        self.covariances_ = beliefs.expected_covariances()
        self.concentration_ = concentration
        self._best = PartitionDraw(self.labels_, draw.concentration, beliefs, draw.log_joint)

    def _joint(self, X: np.ndarray, draw: PartitionDraw) -> np.ndarray:
        """Return joint log-densities of rows and components, that of a new component last."""
        beliefs, n_rows = draw.beliefs, len(draw.labels)
        present = np.ones(X.shape[1], dtype=bool)
        sizes = beliefs.mean_precision - self._prior.mean_precision[0]
        log_total = np.log(n_rows + draw.concentration)
        occupied = beliefs.predictive().log_densities(X, present) + np.log(sizes) - log_total
        alone = self._prior.in_order(np.array([0])).predictive().log_densities(X, present)
        return np.hstack([occupied, alone + np.log(draw.concentration) - log_total])

    def score_samples(self, X: ArrayLike) -> np.ndarray:
        """Return the log-density of each row, averaged over partitions."""
        check_is_fitted(self)
        inputs = validate_data(self, X, reset=False, dtype=np.float64, order="C")

        def averaged(rows: np.ndarray) -> np.ndarray:
            densities = [log_sum_exp(self._joint(rows, d), axis=1) for d in self._averaged_draws]
            return log_sum_exp(densities, axis=0) - np.log(len(densities))

        return map_rows(averaged, inputs, (len(inputs),))

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each component of the best partition, a new one last."""
        check_is_fitted(self)
        inputs = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        joint = self._joint(inputs, self._best)
        return np.exp(joint - log_sum_exp(joint, axis=1, keepdims=True))

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the most probable component of each row, -1 where that is a new one."""
        probabilities = self.predict_proba(X)
        labels = probabilities.argmax(axis=1)
        return np.where(labels == probabilities.shape[1] - 1, -1, labels)


@dataclass(frozen=True)
class ChainRun:
    """What one chain leaves: traces by sweep, draws to average, the best draw, labels."""

    traces: np.ndarray
    draws: list[PartitionDraw]
    best: PartitionDraw
    labels: np.ndarray


def _draw_of(seated: SeatedRows, concentration: float, log_joint: float = 0.0) -> PartitionDraw:
    # Summaries of a draw come from slots: rows are not looked at again.
    used = np.flatnonzero(seated.counts)
    factors, sizes = seated.factors[used], seated.counts[used]
    beliefs = ComponentBeliefs(
        seated.means[used].copy(),
        seated.prior_precision + sizes,
        seated.prior_freedom + sizes,
        factors @ factors.transpose(0, 2, 1),
    )
    return PartitionDraw(np.searchsorted(used, seated.labels), concentration, beliefs, log_joint)

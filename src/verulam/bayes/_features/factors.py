"""Binary factors: rows as sums of features that are present or absent, few or without bound."""

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, expit

from verulam.base import (
    RANDOM_STATE,
    DataError,
    DataWarning,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    map_rows,
    validate_data,
    warn_caller,
)
from verulam.bayes._features.buffet import buffet_log_probability
from verulam.bayes._features.factor_loops import MOST_NEW, factor_sweep
from verulam.bayes._mixtures.checks import check_sweeps
from verulam.bayes._sampling.chains import Chains
from verulam.numerics import announced

#: Up to so many combinations of features are all weighed for a new row.
MOST_COMBINATIONS = 4096
#: Steps of the mean field that takes their place beyond.
FIELD_STEPS = 50
#: Factors that an endless search starts with.
FIRST_FACTORS = 5
#: Least variance of the noise at the start, as a share of the data's, and what is left at the end.
HEAT, COOLED = 0.3, 0.01
_LOG_TWO_PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class FactorState:
    r"""A draw of everything that is not known.

    Attributes
    ----------
    present : ndarray of shape (n_rows, n_factors)
        :math:`Z`: which row has which factor.
    loadings : ndarray of shape (n_factors, n_columns)
        :math:`A`: what a factor adds.
    variance
        Of the noise.
    prior_variance
        Of the loadings.
    concentration
        :math:`\alpha`.
    """

    present: np.ndarray
    loadings: np.ndarray
    variance: float
    prior_variance: float
    concentration: float


@dataclass(frozen=True)
class FactorPriors:
    """What is known beforehand.

    Attributes
    ----------
    variance, prior_variance : tuple of two floats
        Shape and scale of the inverse gamma distributions of the two variances.
    concentration : tuple of two floats or None
        Shape and rate of the gamma distribution of the concentration; None where it is fixed.
    n_factors
        Number of factors; None where there is no bound.
    """

    variance: tuple[float, float]
    prior_variance: tuple[float, float]
    concentration: tuple[float, float] | None
    n_factors: int | None


def draw_loadings(X: np.ndarray, state: FactorState, random: np.random.Generator) -> np.ndarray:
    """Return loadings drawn given the factors of all rows."""
    mean, factor = _loadings_posterior(X, state)
    noise = random.normal(size=mean.shape)
    return mean + np.sqrt(state.variance) * np.linalg.solve(factor.T, noise)


def _loadings_posterior(X: np.ndarray, state: FactorState) -> tuple[np.ndarray, np.ndarray]:
    """Return expected loadings, and the factor of their precision in units of the noise."""
    present = state.present.astype(np.float64)
    ratio = state.variance / state.prior_variance
    factor = np.linalg.cholesky(present.T @ present + ratio * np.eye(present.shape[1]))
    halves = np.linalg.solve(factor, present.T @ X)
    return np.linalg.solve(factor.T, halves), factor


def sweep(
    X: np.ndarray, state: FactorState, priors: FactorPriors, random: np.random.Generator
) -> FactorState:
    """Return the next draw: factors, loadings, variances, concentration.

    Parameters
    ----------
    X
        Rows.
    state
        The present draw.
    priors
        What is known beforehand.
    random
        Generator of the draws.
    """
    state = replace(state, present=_draw_factors(X, state, priors, random))
    state = replace(state, loadings=draw_loadings(X, state, random))
    residuals = X - state.present @ state.loadings
    variance = _inverse_gamma(priors.variance, residuals, random)
    prior_variance = _inverse_gamma(priors.prior_variance, state.loadings, random)
    concentration = state.concentration
    if priors.concentration is not None and priors.n_factors is None:
        shape, rate = priors.concentration
        harmonic = (1.0 / np.arange(1, len(X) + 1)).sum()
        n_factors = state.present.shape[1]
        concentration = float(random.gamma(shape + n_factors) / (rate + harmonic))
    return replace(
        state, variance=variance, prior_variance=prior_variance, concentration=concentration
    )


def _draw_factors(
    X: np.ndarray, state: FactorState, priors: FactorPriors, random: np.random.Generator
) -> np.ndarray:
    """Return factors drawn with their loadings averaged out, those that some row has."""
    present, start = state.present.copy(), 0
    seed = random.integers(2**63, size=1, dtype=np.uint64)
    endless = priors.n_factors is None
    extra = 0.0 if priors.n_factors is None else state.concentration / priors.n_factors
    rate = state.concentration / len(X) if endless else 0.0
    while start < len(X):
        if endless:
            spare = np.zeros((len(X), 2 * MOST_NEW), dtype=np.int8)
            present = np.hstack([present, spare])
        counts = present.sum(axis=0, dtype=np.float64)
        means, factor = _loadings_posterior(X, replace(state, present=present))
        root = np.linalg.inv(factor)
        product, residual, masses = (np.zeros(n) for n in (len(means), X.shape[1], MOST_NEW + 1))
        start = factor_sweep(
            X, start, present, counts, extra, rate, state.variance, state.prior_variance,
            root.T @ root, means, product, residual, seed, masses,
        )  # fmt: skip
    return np.ascontiguousarray(present[:, counts > 0]) if endless else present


def _inverse_gamma(
    prior: tuple[float, float], values: np.ndarray, random: np.random.Generator
) -> float:
    shape, scale = prior
    square = float(np.einsum("ij,ij->", values, values))
    return float((scale + 0.5 * square) / random.gamma(shape + 0.5 * values.size))


def log_joint(X: np.ndarray, state: FactorState, priors: FactorPriors) -> float:
    """Return the log-density of rows and factors, loadings averaged out.

    Parameters
    ----------
    X
        Rows.
    state
        A draw.
    priors
        What is known beforehand.
    """
    n_rows, n_columns = X.shape
    n_factors = state.present.shape[1]
    mean, factor = _loadings_posterior(X, state)
    explained = float(np.einsum("ij,ij->", state.present.T.astype(np.float64) @ X, mean))
    square = float(np.einsum("ij,ij->", X, X))
    # With A = Z'Z + r I and r the ratio of the variances, each column has (in units of the noise)
    # the covariance I + Z Z' / r: of the determinant |A| over r once for each factor, and with the
    # square x'x - x'Z A^-1 Z'x.
    half = float(np.log(np.diag(factor)).sum())
    ratio = np.log(state.variance / state.prior_variance)
    value = -0.5 * n_rows * n_columns * (_LOG_TWO_PI + np.log(state.variance))
    value += n_columns * (0.5 * n_factors * ratio - half)
    value -= 0.5 * (square - explained) / state.variance
    if priors.n_factors is None:
        return float(value) + buffet_log_probability(state.present, state.concentration)
    counts = state.present.sum(axis=0)
    extra = state.concentration / priors.n_factors
    terms = betaln(counts + extra, n_rows - counts + 1.0) - betaln(extra, 1.0)
    return float(value + terms.sum())


class _FactorLearner(InSteps, Transformer):
    """What both learners share: sweeps, the best draw, and the factors of new rows."""

    concentration: Any
    n_iter: int
    burn_in: int
    n_chains: int
    random_state: Seed
    components_: np.ndarray

    @classmethod
    def _example_learners(cls) -> list[Any]:
        # Too few draws to compare, and enough to check what is stored.
        return [cls(n_iter=12, burn_in=9)]

    def _fit(self, X: Any, n_factors: int | None) -> None:
        X = validate_data(self, X, dtype=np.float64, order="C")
        check_sweeps(self)
        size = float(np.mean(X**2)) or 1.0
        average = self.concentration == "average"
        priors = FactorPriors(
            # As if one number had been seen: noise of a tenth, loadings of the size of the data.
            (1.0, 0.1 * size), (1.0, size), (1.0, 1.0) if average else None, n_factors,
        )  # fmt: skip
        first = 1.0 if average else float(self.concentration)
        with announced("verulam.bayes"):
            generators = generator(self.random_state).spawn(self.n_chains)
            runs = [
                self._chain(X, priors, first, size, random)
                for random in self._steps(generators, "chain", self.n_chains)
            ]
        traces = np.array([trace for trace, _, _ in runs])
        best = max(runs, key=lambda run: run[2])[1]
        names = ("log_density", "noise_variance", "n_factors")
        quantities = {name: traces[:, :, place] for place, name in enumerate(names)}
        if n_factors is not None:
            del quantities["n_factors"]
        self.chains_ = Chains(quantities)
        self._take(X, best, priors)
        if traces.shape[1] >= 4:
            self.chains_.warn_unless_converged("Raise n_iter and burn_in.")

    def _chain(
        self,
        X: np.ndarray,
        priors: FactorPriors,
        concentration: float,
        size: float,
        random: np.random.Generator,
    ) -> tuple[np.ndarray, FactorState, float]:
        n_factors = priors.n_factors or FIRST_FACTORS
        present = (random.random((len(X), n_factors)) < 0.5).astype(np.int8)
        loadings = np.zeros((n_factors, X.shape[1]))
        state = FactorState(present, loadings, size, size, concentration)
        traces, best, highest = [], state, -np.inf
        hot = 0.9 * self.burn_in
        for step in self._steps(range(self.n_iter), "sweep", self.n_iter):
            state = sweep(X, state, priors, random)
            if step < hot:
                # Much noise at first lets factors part before they freeze; such sweeps are not
                # counted.
                least = HEAT * size * COOLED ** (step / hot)
                state = replace(state, variance=max(state.variance, least))
            if step < self.burn_in:
                continue
            value = log_joint(X, state, priors)
            traces.append((value, state.variance, state.present.shape[1]))
            if value > highest:
                best, highest = state, value
        return np.array(traces), best, highest

    def _take(self, X: np.ndarray, state: FactorState, priors: FactorPriors) -> None:
        order = np.argsort(-state.present.sum(axis=0), kind="stable")
        state = replace(state, present=state.present[:, order])
        self.components_ = _loadings_posterior(X, state)[0]
        self.factors_ = state.present.astype(np.intp)
        self.noise_variance_ = state.variance
        self.concentration_ = state.concentration
        counts, n_rows = self.factors_.sum(axis=0), len(X)
        extra = 0.0 if priors.n_factors is None else state.concentration / priors.n_factors
        self.popularity_ = (counts + extra) / (n_rows + 1.0 + extra)
        if not len(self.components_):
            warn_caller(
                "No factor is supported by the data: all of it is taken for noise.", DataWarning
            )

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the probability that each row has each factor."""
        check_is_fitted(self)
        inputs = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        n_factors = len(self.components_)
        infer = self._weigh_all if 2**n_factors <= MOST_COMBINATIONS else self._field
        return map_rows(infer, inputs, (len(inputs), n_factors))

    def _weigh_all(self, rows: np.ndarray) -> np.ndarray:
        """Return exact probabilities, by weighing every combination of factors."""
        n_factors = len(self.components_)
        codes = (np.arange(2**n_factors)[:, None] >> np.arange(n_factors)) & 1
        means = codes @ self.components_
        log_odds = np.log(self.popularity_) - np.log1p(-self.popularity_)
        logarithms = (rows @ means.T - 0.5 * np.einsum("ij,ij->i", means, means)) / (
            self.noise_variance_
        )
        logarithms += codes @ log_odds
        logarithms -= logarithms.max(axis=1, keepdims=True)
        weights = np.exp(logarithms)
        return (weights @ codes) / weights.sum(axis=1, keepdims=True)

    def _field(self, rows: np.ndarray) -> np.ndarray:
        """Return probabilities as independent factors, updated one by one."""
        shares = np.tile(self.popularity_, (len(rows), 1))
        log_odds = np.log(self.popularity_) - np.log1p(-self.popularity_)
        products, gram = rows @ self.components_.T, self.components_ @ self.components_.T
        for _ in range(FIELD_STEPS):
            for j in range(len(gram)):
                others = shares @ gram[:, j] - shares[:, j] * gram[j, j]
                # A factor is 0 or 1, and so is its square: half of it stays.
                drive = products[:, j] - others - 0.5 * gram[j, j]
                shares[:, j] = expit(log_odds[j] + drive / self.noise_variance_)
        return shares

    def inverse_transform(self, Z: ArrayLike) -> np.ndarray:
        """Return the rows that factors add up to."""
        check_is_fitted(self)
        factors = np.asarray(Z, dtype=np.float64)
        if factors.ndim != 2 or factors.shape[1] != len(self.components_):
            raise DataError(
                f"Z has shape {factors.shape}; expected a column for each of "
                f"{len(self.components_)} factors."
            )
        return factors @ self.components_

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return names of the factors."""
        check_is_fitted(self)
        name = type(self).__name__.lower()
        return np.array([f"{name}{k}" for k in range(len(self.components_))], dtype=object)


_CONSTRAINTS: dict[str, Any] = {
    "n_iter": [Interval(Integral, 1, None, closed="left")],
    "burn_in": [Interval(Integral, 0, None, closed="left")],
    "n_chains": [Interval(Integral, 1, None, closed="left")],
    "random_state": RANDOM_STATE,
}


class BinaryFactors(_FactorLearner):
    r"""Explain rows as sums of a few features that are present or absent.

    Parameters
    ----------
    n_components
        Number of factors.
    concentration
        :math:`\alpha`: expected number of factors of a row, where there are many.
    n_iter
        Sweeps of each chain.
    burn_in
        Sweeps that are not counted.
    n_chains
        Number of chains.
    random_state
        Seed of the draws.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        What each factor adds, given the factors of the likeliest draw; most frequent first.
    factors_ : ndarray of shape (n_samples, n_components)
        Which row has which factor in that draw.
    popularity_ : ndarray of shape (n_components,)
        Probability that a new row has each factor.
    noise_variance_ : float
        Variance of the noise.
    concentration_ : float
        The concentration.
    chains_ : Chains
        Draws of the log-density and of the noise variance.

    Notes
    -----
    .. math:: X = ZA + \varepsilon, \quad z_j^t \sim \text{Bernoulli}(\mu_j), \quad
              \mu_j \sim \text{beta}(\alpha / k, 1), \quad A \sim N(0, \sigma_A^2)

    (Alpaydin 16.12, 16.50-16.51, where the noise is left out and the beta prior lacks the division
    by k). Factors are drawn one by one with :math:`\mu` averaged out, then loadings and variances,
    which have inverse gamma priors in units of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import BinaryFactors
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.integers(2, size=(200, 2))
    >>> X = Z @ [[5.0, 0.0, 5.0], [0.0, 4.0, 0.0]] + 0.1 * rng.normal(size=(200, 3))
    >>> model = BinaryFactors(2, random_state=0).fit(X)
    >>> model.components_[np.argsort(model.components_[:, 1])].round(1) + 0.0
    array([[5., 0., 5.],
           [0., 4., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "concentration": [Interval(Real, 0, None, closed="neither")],
        **_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        concentration: float = 1.0,
        n_iter: int = 1000,
        burn_in: int = 300,
        n_chains: int = 4,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.concentration = concentration
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.random_state = random_state

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw factors and loadings."""
        self._fit(X, int(self.n_components))
        return self


class InfiniteFactors(_FactorLearner):
    r"""Explain rows as sums of features that are present or absent, as many as it takes.

    Parameters
    ----------
    concentration
        :math:`\alpha`: expected number of factors of a row; "average" draws it along with the
        factors, with a gamma prior of shape and rate 1.
    n_iter
        Sweeps of each chain.
    burn_in
        Sweeps that are not counted.
    n_chains
        Number of chains.
    random_state
        Seed of the draws.

    Attributes
    ----------
    n_components_ : int
        Number of factors of the likeliest draw.
    n_factors_draws_ : ndarray of shape (n_chains, n_iter - burn_in)
        Number of factors of every draw.
    components_ : ndarray of shape (n_components_, n_features)
        What each factor adds in that draw; most frequent first.
    factors_ : ndarray of shape (n_samples, n_components_)
        Which row has which factor in that draw.
    popularity_ : ndarray of shape (n_components_,)
        Probability that a new row has each factor.
    noise_variance_ : float
        Variance of the noise.
    concentration_ : float
        The concentration of that draw.
    chains_ : Chains
        Draws of the log-density, of the noise variance and of the number of factors.

    Notes
    -----
    The factors have the prior of `indian_buffet` (Alpaydin 16.12). A row takes a factor that m of
    the others have with prior probability :math:`m / n`, and begins Poisson(:math:`\alpha / n`) new
    ones, whose number is drawn with their loadings averaged out.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import InfiniteFactors
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.integers(2, size=(60, 2))
    >>> X = Z @ [[5.0, 0.0, 5.0], [0.0, 4.0, 0.0]] + 0.3 * rng.normal(size=(60, 3))
    >>> InfiniteFactors(random_state=0).fit(X).n_components_
    2
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "concentration": [Interval(Real, 0, None, closed="neither"), StrOptions({"average"})],
        **_CONSTRAINTS,
    }

    def __init__(
        self,
        concentration: float | str = "average",
        *,
        n_iter: int = 1000,
        burn_in: int = 300,
        n_chains: int = 4,
        random_state: Seed = None,
    ) -> None:
        self.concentration = concentration
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.random_state = random_state

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw factors and loadings."""
        self._fit(X, None)
        self.n_components_ = len(self.components_)
        self.n_factors_draws_ = self.chains_.draws["n_factors"].astype(np.intp)
        return self

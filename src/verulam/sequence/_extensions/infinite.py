"""The infinite hidden Markov model: how many states there are is learned, by Gibbs sampling."""

import warnings
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from verulam.base import (
    RANDOM_STATE,
    DataError,
    DataWarning,
    Density,
    InSteps,
    Interval,
    Seed,
    check_is_fitted,
    checked_fit,
    generator,
)
from verulam.sequence._data.sequences import Sequences, read_sequences, warn_of_words
from verulam.sequence._emissions.categorical import CategoricalEmission, SymbolProbabilities
from verulam.sequence._emissions.gaussian import GaussianEmission, GaussianStates, GaussianSums
from verulam.sequence._learners.hidden_markov import ORDER_MATTERS, HiddenMarkovModel
from verulam.sequence._learners.initialisation import Survey, start_model
from verulam.sequence._learners.queries import SampledSequences
from verulam.sequence._model.emission import checked_sequences
from verulam.sequence._model.inference import draw_paths, filter_states
from verulam.sequence._model.parameters import HMMParts, InitialProbabilities, TransitionMatrix
from verulam.sequence._model.transitions import Transitions

#: Prior of a state: weight of the overall mean in steps, shape of the variance, and its scale as
#: a share of the overall variance.
MEAN_WEIGHT, VARIANCE_SHAPE, VARIANCE_SHARE = 0.05, 2.0, 0.1
#: Prior pseudo-count of a symbol in a state.
SYMBOL_PRIOR = 0.3
#: Keeps draws of tiny shapes, which round to zero, above it.
SMALLEST = 1e-300


@dataclass(frozen=True)
class Draw:
    """One sweep: the parameters, and the states that they were drawn from."""

    initial: np.ndarray
    matrix: np.ndarray
    emission: Any
    log_likelihood: float
    used: np.ndarray


class InfiniteHiddenMarkovModel(InSteps, Density):
    r"""A hidden Markov model with as many states as the data call for.

    Parameters
    ----------
    emission
        A diagonal `GaussianEmission` or a `CategoricalEmission`; None for the first.
    max_states
        Most states that a sweep may use; far more than are expected.
    spread
        :math:`\gamma`: larger values expect more states.
    concentration
        :math:`\alpha`: larger values expect all states to be followed by the same ones.
    stickiness
        :math:`\kappa`: pseudo-count of staying.
    n_iter
        Number of sweeps.
    burn_in
        Sweeps that are not counted.
    least_share
        Share of the steps from which on a state counts as used.
    random_state
        Seed of the draws.

    Attributes
    ----------
    n_states_ : int
        The number of states that most sweeps used.
    n_states_draws_ : ndarray of shape (n_iter - burn_in,)
        The number of states that each sweep used.
    log_likelihood_curve_ : ndarray of shape (n_iter,)
        Log-likelihood of each sweep's parameters.
    best_estimator_ : HiddenMarkovModel
        Parameters of the most likely sweep with `n_states_` states.

    Notes
    -----
    Rows of the transition matrix are drawn around shared proportions of states,
    :math:`\beta \sim \text{Dir}(\gamma / L)` and
    :math:`a_j \sim \text{Dir}(\alpha \beta + \kappa e_j)`: the hierarchical Dirichlet process,
    cut off at :math:`L` = `max_states` (Alpaydin 15.10; [fox2011]_). A sweep draws whole paths by
    filtering forward and sampling backward, then the shared proportions, the rows and the
    emissions. Missing numbers are integrated out.

    References
    ----------
    .. [fox2011] E. B. Fox, E. B. Sudderth, M. I. Jordan and A. S. Willsky, "A sticky HDP-HMM with
       application to speaker diarization", Annals of Applied Statistics 5(2A), 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import InfiniteHiddenMarkovModel
    >>> random = np.random.default_rng(0)
    >>> series = np.repeat([0.0, 6.0, 12.0, 0.0, 12.0], 30) + random.normal(size=150)
    >>> InfiniteHiddenMarkovModel(n_iter=60, burn_in=30, random_state=0).fit(series).n_states_
    3
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "emission": [GaussianEmission, CategoricalEmission, None],
        "max_states": [Interval(Integral, 1, None, closed="left")],
        "spread": [Interval(Real, 0, None, closed="neither")],
        "concentration": [Interval(Real, 0, None, closed="neither")],
        "stickiness": [Interval(Real, 0, None, closed="left")],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left")],
        "least_share": [Interval(Real, 0, 1, closed="left")],
        "random_state": RANDOM_STATE,
    }
    _takes_sequences: ClassVar[bool] = True
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_fit1d": "a one-dimensional X is a sequence of single numbers",
        "check_methods_sample_order_invariance": ORDER_MATTERS,
        "check_methods_subset_invariance": ORDER_MATTERS,
    }

    def __init__(
        self,
        emission: GaussianEmission | CategoricalEmission | None = None,
        *,
        max_states: int = 12,
        spread: float = 1.0,
        concentration: float = 1.0,
        stickiness: float = 5.0,
        n_iter: int = 200,
        burn_in: int = 100,
        least_share: float = 0.01,
        random_state: Seed = None,
    ) -> None:
        self.emission = emission
        self.max_states = max_states
        self.spread = spread
        self.concentration = concentration
        self.stickiness = stickiness
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.least_share = least_share
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["InfiniteHiddenMarkovModel"]:
        return [cls(max_states=8, n_iter=40, burn_in=20)]

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, None]:
        return HiddenMarkovModel._example_data()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any = None, *, lengths: Any = None) -> Self:
        """Draw states and parameters for the sequences.

        Parameters
        ----------
        X
            A list of arrays, or one array.
        y
            Ignored.
        lengths
            Steps of each sequence, where X is one array.
        """
        if self.burn_in >= self.n_iter:
            raise DataError(
                f"burn_in is {self.burn_in}; it must be less than n_iter={self.n_iter}."
            )
        emission, sequences = self._prepared(X, lengths)
        draws = self._sweeps(emission, sequences, generator(self.random_state))
        posterior_draws = draws[self.burn_in :]
        self.n_states_draws_ = np.array([len(draw.used) for draw in posterior_draws])
        self.log_likelihood_curve_ = np.array([draw.log_likelihood for draw in draws])
        numbers, counts = np.unique(self.n_states_draws_, return_counts=True)
        self.n_states_ = int(numbers[np.argmax(counts)])
        likely = [draw for draw in posterior_draws if len(draw.used) == self.n_states_]
        best = max(likely, key=lambda draw: draw.log_likelihood)
        self.best_estimator_ = _model_of(best, emission, self.n_features_in_)
        if hasattr(self, "feature_names_in_"):
            self.best_estimator_.feature_names_in_ = self.feature_names_in_
        if self.n_states_ == self.max_states > 1:
            warnings.warn(
                f"Most sweeps used all max_states={self.max_states} states; more may be needed. "
                "Raise max_states, or n_iter and burn_in where states had not settled.",
                DataWarning,
                stacklevel=3,
            )
        return self

    def _prepared(self, X: Any, lengths: Any) -> tuple[Any, Sequences]:
        if isinstance(self.emission, CategoricalEmission):
            sequences = read_sequences(X, lengths)
            self.n_features_in_ = sequences.values.shape[1]
            emission = self.emission.for_data(sequences.values)
            if emission is not self.emission:
                warn_of_words(sequences, stacklevel=5)
            return emission, sequences.with_values(emission.encode(sequences))
        if self.emission is not None and self.emission.covariance != "diagonal":
            raise DataError(
                f"covariance is {self.emission.covariance!r}; InfiniteHiddenMarkovModel takes "
                "'diagonal'."
            )
        return self.emission or GaussianEmission(), checked_sequences(self, X, lengths, True)

    def _sweeps(
        self, emission: Any, sequences: Sequences, random: np.random.Generator
    ) -> list[Draw]:
        size = self.max_states
        survey = Survey(
            (sequences,), sequences.n_steps, len(sequences), 1, emission.survey(sequences.values)
        )
        parts = HMMParts(InitialProbabilities(), TransitionMatrix(), emission)
        model = start_model(parts, survey, size, "k-means", random)
        initial, matrix, parameters = model.initial, model.transitions.matrix, model.emission
        shared = np.full(size, 1.0 / size)
        draws = []
        for _ in self._steps(range(self.n_iter), "sweep", self.n_iter):
            moves = Transitions.from_matrix(matrix, np.ones_like(matrix, dtype=bool))
            arguments = sequences.starts, initial, moves
            table = emission.emissions(parameters, sequences.values)
            paths = draw_paths(table, *arguments, random)
            weights = np.eye(size)[paths]
            firsts, counts = path_counts(paths, sequences.starts, size)
            # Given the path, everything else is conjugate: counts are added to pseudo-counts.
            shared = self._shared(shared, firsts, counts, random)
            initial = _dirichlet(self.concentration * shared + firsts, random)
            stay = self.stickiness * np.eye(size)
            matrix = _dirichlet(self.concentration * shared + stay + counts, random)
            sums = emission.statistics(parameters, sequences.values, weights)
            parameters = _drawn_emission(parameters, sums, random)
            filtered = filter_states(
                emission.emissions(parameters, sequences.values),
                sequences.starts,
                initial,
                Transitions.from_matrix(matrix, np.ones_like(matrix, dtype=bool)),
            )
            steps = weights.sum(axis=0)
            used = np.flatnonzero(steps >= max(1.0, self.least_share * len(paths)))
            likelihood = float(filtered.log_likelihoods.sum())
            draws.append(Draw(initial, matrix, parameters, likelihood, used))
        return draws

    def _shared(
        self,
        shared: np.ndarray,
        firsts: np.ndarray,
        counts: np.ndarray,
        random: np.random.Generator,
    ) -> np.ndarray:
        """Return shared proportions drawn given how often each row chose from them."""
        size, stickiness = len(shared), self.stickiness
        weights = np.vstack([self.concentration * shared] * (size + 1))
        weights[:size] += stickiness * np.eye(size)
        tables = draw_tables(np.vstack([counts, firsts]), weights, random)
        # Choices to stay that stickiness explains say nothing about the shared proportions.
        stays = np.diag(tables[:size])
        ratio = stickiness / (stickiness + self.concentration * shared)
        tables[np.arange(size), np.arange(size)] = stays - random.binomial(stays, ratio)
        return _dirichlet(self.spread / size + tables.sum(axis=0), random)

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """Return the log-likelihood of all sequences under the chosen parameters."""
        return self._asked(X).score(X, lengths=lengths)

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Return the states of the most probable path of each sequence."""
        return self._asked(X).predict(X, lengths)

    def predict_proba(self, X: Any, lengths: Any = None) -> Any:
        """Return the probability of each state at each step."""
        return self._asked(X).predict_proba(X, lengths)

    def sample(
        self, n_steps: int = 1, n_sequences: int = 1, *, random_state: Seed = None
    ) -> SampledSequences:
        """Return sequences drawn from the chosen parameters.

        Parameters
        ----------
        n_steps
            Steps of each sequence.
        n_sequences
            Number of sequences.
        random_state
            Seed of the draws.
        """
        check_is_fitted(self)
        return self.best_estimator_.sample(n_steps, n_sequences, random_state=random_state)

    def _asked(self, X: Any) -> HiddenMarkovModel:
        check_is_fitted(self)
        if not isinstance(self.emission, CategoricalEmission):
            checked_sequences(self, X, None, False)
        return self.best_estimator_


def draw_tables(counts: np.ndarray, weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return how many tables serve the customers of each cell of a Chinese restaurant.

    Parameters
    ----------
    counts
        Customers of each cell, whole numbers.
    weights
        Concentration of each cell.
    random
        Generator of the draws.
    """
    customers = counts.ravel().astype(np.int64)
    cell = np.repeat(np.arange(len(customers)), customers)
    before = np.arange(len(cell)) - np.repeat(np.cumsum(customers) - customers, customers)
    concentration = weights.ravel()[cell]
    # The n-th customer opens a table with probability a / (a + n - 1), whatever the others did.
    opened = random.random(len(cell)) * (before + concentration) < concentration
    return np.bincount(cell[opened], minlength=len(customers)).reshape(counts.shape)


def path_counts(paths: np.ndarray, starts: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how often each state is first, and each transition happens."""
    inside = np.ones(len(paths), dtype=bool)
    inside[starts[:-1]] = False
    later = np.flatnonzero(inside)
    counts = np.zeros((size, size))
    np.add.at(counts, (paths[later - 1], paths[later]), 1.0)
    return np.bincount(paths[starts[:-1]], minlength=size).astype(np.float64), counts


def _dirichlet(weights: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return rows drawn from Dirichlet distributions."""
    # A Dirichlet draw is Gamma draws over their sum; tiny weights may all underflow to zero.
    parts = random.standard_gamma(np.maximum(weights, 1e-8)) + SMALLEST
    return parts / parts.sum(axis=-1, keepdims=True)


def _drawn_emission(parameters: Any, sums: Any, random: np.random.Generator) -> Any:
    if isinstance(parameters, SymbolProbabilities):
        return replace(parameters, probabilities=_dirichlet(sums.counts.T + SYMBOL_PRIOR, random))
    return draw_gaussians(parameters, sums, random)


def draw_gaussians(
    parameters: GaussianStates, sums: GaussianSums, random: np.random.Generator
) -> GaussianStates:
    """Return means and variances drawn from their posterior, column by column.

    Parameters
    ----------
    parameters
        Gives the overall mean and variance that the prior refers to.
    sums
        Weighted sums around the overall mean.
    random
        Generator of the draws.
    """
    # Normal-inverse-gamma posterior: the prior's mean is the origin, so that it adds nothing here.
    weight = sums.weight + MEAN_WEIGHT
    centres = sums.sums / weight
    scatter = np.maximum(sums.squares - weight * centres**2, 0.0)
    scale = VARIANCE_SHARE * parameters.spread + 0.5 * scatter
    variances = scale / random.standard_gamma(VARIANCE_SHAPE + 0.5 * sums.weight)
    noise = random.standard_normal(centres.shape)
    means = parameters.origin + centres + noise * np.sqrt(variances / weight)
    return replace(parameters, means=means, covariances=variances)


def _model_of(draw: Draw, emission: Any, n_columns: int) -> HiddenMarkovModel:
    """Return the model of the states that a sweep used."""
    used = draw.used
    initial, matrix = draw.initial[used], draw.matrix[np.ix_(used, used)]
    if isinstance(draw.emission, SymbolProbabilities):
        shown: Any = replace(emission, probabilities=draw.emission.probabilities[used])
    else:
        shown = replace(
            emission,
            means=draw.emission.means[used],
            covariances=draw.emission.covariances[used],
        )
    return HiddenMarkovModel.from_parameters(
        initial / initial.sum(), matrix / matrix.sum(axis=1, keepdims=True), shown, n_columns
    )

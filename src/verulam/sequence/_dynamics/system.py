"""Linear dynamical systems as a learner: EM, filtering, smoothing, gaps filled, forecasts."""

from dataclasses import dataclass
from functools import partial, reduce
from numbers import Integral, Real
from operator import add
from typing import Any, ClassVar, Self

import numpy as np

from verulam.base import (
    Chunk,
    DataError,
    Density,
    Interval,
    ManyPasses,
    Seed,
    Source,
    StrOptions,
    check_is_fitted,
    checked_fit,
    generator,
    open_source,
    thread_map,
)
from verulam.sequence._data.sequences import Sequences, check_count, joined
from verulam.sequence._dynamics.kalman import (
    LinearSystem,
    StateEstimates,
    check_system,
    run_filter,
    run_smoother,
    stacked,
)
from verulam.sequence._dynamics.system_sums import (
    PARAMETERS,
    DynamicalSums,
    expected_products,
    start_system,
    updated_systems,
)
from verulam.sequence._emissions.gaussian import GaussianEmission
from verulam.sequence._learners.initialisation import Survey, survey_chunk
from verulam.sequence._learners.queries import SampledSequences
from verulam.sequence._model.emission import checked_sequences
from verulam.sequence._tuning import SYSTEM_GROUP_STEPS

#: Least variance of what is seen, as a share of a column's variance.
FLOOR = 1e-6


@dataclass(frozen=True)
class StateForecast:
    """What is to come after the last step of a sequence.

    Attributes
    ----------
    means : ndarray of shape (n_ahead, n_columns)
        Expected observations.
    covariances : ndarray of shape (n_ahead, n_columns, n_columns)
        Their covariances.
    states : ndarray of shape (n_ahead, n_dimensions)
        Expected states.
    """

    means: np.ndarray
    covariances: np.ndarray
    states: np.ndarray


@dataclass(frozen=True)
class DynamicalPass:
    """What one pass adds up, and the systems that it was made under."""

    systems: tuple[LinearSystem, ...]
    floor: np.ndarray
    sums: DynamicalSums

    def __add__(self, other: "DynamicalPass") -> "DynamicalPass":
        return DynamicalPass(self.systems, self.floor, self.sums + other.sums)


class LinearDynamicalSystem(ManyPasses, Density):
    r"""A state of several numbers moves linearly; what is seen is linear in it. Both with noise.

    Parameters
    ----------
    n_dimensions
        Numbers that make up a state.
    noise
        "diagonal" where the noise of what is seen is independent between columns, or "full".
    init
        A `LinearSystem` to begin from; None to guess one from the data.
    fixed
        Names of parameters to hold at their start, such as ``("transition", "offset")``.
    max_iter
        Most passes over the data.
    tol
        Stop when a pass raises the log-likelihood by no more than this.

    Attributes
    ----------
    system_ : LinearSystem
        The matrices.
    objective_curve_ : list of float
        Log-likelihood before each pass; it never falls.
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether the last pass met `tol`.
    n_parameters_ : int
        Number of free numbers, up to a change of the state's coordinates.

    Notes
    -----
    The system of `kalman_filter` is learned by EM: each pass smooths the states and takes
    regressions of each state on the one before, and of what is seen on the state, in
    expectation (Alpaydin 15.9, 15.11; [shumway1982]_). Missing numbers (NaN) are integrated
    out. Data is a list of arrays, or one array with `lengths`; a stream of chunks (each a list of
    sequences) or a Dask bag gives the same sums.

    References
    ----------
    .. [shumway1982] R. H. Shumway and D. S. Stoffer, "An approach to time series smoothing and
       forecasting using the EM algorithm", Journal of Time Series Analysis 3(4), 1982.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import LinearDynamicalSystem
    >>> times = np.arange(60.0)
    >>> wave = np.sin(times / 3) + 0.1 * np.random.default_rng(0).normal(size=60)
    >>> wave[20:25] = np.nan
    >>> model = LinearDynamicalSystem(2, tol=1e-2).fit(wave)
    >>> filled = model.fill(wave)
    >>> bool(np.abs(filled[20:25, 0] - np.sin(times[20:25] / 3)).max() < 0.3)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_dimensions": [Interval(Integral, 1, None, closed="left")],
        "noise": [StrOptions({"diagonal", "full"})],
        "init": [LinearSystem, None],
        "fixed": [tuple, list],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }
    _takes_sequences: ClassVar[bool] = True
    _skipped_checks: ClassVar[dict[str, str]] = {
        "check_fit1d": "a one-dimensional X is a sequence of single numbers",
    }

    def __init__(
        self,
        n_dimensions: int = 1,
        *,
        noise: str = "diagonal",
        init: LinearSystem | None = None,
        fixed: tuple[str, ...] = (),
        max_iter: int = 200,
        tol: float = 1e-2,
    ) -> None:
        self.n_dimensions = n_dimensions
        self.noise = noise
        self.init = init
        self.fixed = fixed
        self.max_iter = max_iter
        self.tol = tol

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, None]:
        random = np.random.default_rng(0)
        sequences = np.empty(8, dtype=object)
        for place in range(8):
            walk = np.cumsum(random.normal(size=(20, 1)), axis=0)
            sequences[place] = walk * [1.0, -2.0] + random.normal(size=(20, 2))
        return sequences, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @checked_fit
    def fit(self, X: Any, y: Any = None, *, lengths: Any = None) -> Self:
        """Learn from sequences: a list, one array, a stream of chunks or a Dask collection.

        Parameters
        ----------
        X
            A list of arrays, or one array; a callable that returns an iterator of chunks; a Dask
            bag, or a one-dimensional Dask array of sequences.
        y
            Ignored.
        lengths
            Steps of each sequence, where X is one array.
        """
        owner = self._unfitted() if hasattr(X, "__dask_graph__") else self
        self._learn(open_source(X, None, lengths, owner._prepare))
        return self

    def _prepare(self, X: Any, y: Any, lengths: Any, reset: bool) -> Chunk:
        sequences = checked_sequences(self, X, lengths, reset)
        return Chunk(sequences, targets=np.full(len(sequences), sequences.values.shape[1]))

    def _start(self, source: Source) -> tuple[tuple[LinearSystem, ...], np.ndarray]:
        survey: Survey = source.total(partial(survey_chunk, emission=GaussianEmission()))
        self.n_features_in_ = survey.n_columns
        values = joined([piece.values for piece in survey.pieces])
        lengths = np.concatenate([piece.lengths for piece in survey.pieces])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        guess = start_system(values, starts, self.n_dimensions)
        floor = FLOOR * 2.0 * np.diag(guess.observation_noise)
        if self.init is None:
            return (guess,), floor
        check_system(self.init)
        if self.init.n_columns != survey.n_columns:
            raise DataError(
                f"init shows {self.init.n_columns} columns, but X has {survey.n_columns}."
            )
        return (self.init,), floor

    def _statistics(self, chunk: Chunk, parameters: Any) -> DynamicalPass:
        systems, floor = parameters
        groups = chunk.inputs.groups(SYSTEM_GROUP_STEPS)

        def sums(place: int) -> DynamicalSums:
            steps = np.zeros(groups[place].n_steps, dtype=np.int64)
            smoothed = run_smoother(stacked(systems), groups[place], steps)
            return expected_products(systems, groups[place], steps, smoothed)

        return DynamicalPass(systems, floor, reduce(add, thread_map(sums, range(len(groups)))))

    def _objective(self, statistics: DynamicalPass) -> float:
        return statistics.sums.log_likelihood

    def _update(self, statistics: DynamicalPass) -> tuple[tuple[LinearSystem, ...], np.ndarray]:
        systems = updated_systems(
            statistics.systems,
            statistics.sums,
            tuple(self.fixed),
            self.noise == "diagonal",
            statistics.floor,
        )
        return systems, statistics.floor

    def _store(self, parameters: Any) -> None:
        self._adopt(parameters[0][0])

    def _adopt(self, system: LinearSystem) -> None:
        self.system_ = system
        size, width = system.n_dimensions, system.n_columns
        triangle = size * (size + 1) // 2
        sizes = {
            "transition": size * size,
            "state_noise": triangle,
            "observation": size * width,
            "observation_noise": width if self.noise == "diagonal" else width * (width + 1) // 2,
            "initial_mean": size,
            "initial_covariance": triangle,
            "offset": width,
        }
        free = sum(number for name, number in sizes.items() if name not in self.fixed)
        # Any invertible change of coordinates leaves what is seen as it was.
        turns = 0 if set(self.fixed) & {"transition", "state_noise", "observation"} else size * size
        self.n_parameters_ = free - turns

    @classmethod
    def from_parameters(cls, system: LinearSystem) -> "LinearDynamicalSystem":
        """Return a model with known matrices, ready for use without learning.

        Parameters
        ----------
        system
            The system, such as `linear_system` returns.
        """
        check_system(system)
        model = cls(system.n_dimensions, init=system, fixed=PARAMETERS)
        model.n_features_in_ = system.n_columns
        model._adopt(system)
        return model

    def _read(self, X: Any, lengths: Any) -> tuple[Sequences, np.ndarray]:
        check_is_fitted(self)
        sequences = checked_sequences(self, X, lengths, False)
        return sequences, np.zeros(sequences.n_steps, dtype=np.int64)

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """Return the log-likelihood of all sequences together."""
        return float(self.score_sequences(X, lengths).sum())

    def score_sequences(self, X: Any, lengths: Any = None) -> np.ndarray:
        """Return the log-likelihood of each sequence."""
        return self.filter(X, lengths).log_likelihoods

    def filter(self, X: Any, lengths: Any = None) -> StateEstimates:
        """Return the states given the steps so far."""
        sequences, steps = self._read(X, lengths)
        return run_filter(stacked((self.system_,)), sequences, steps).estimates

    def smooth(self, X: Any, lengths: Any = None) -> StateEstimates:
        """Return the states given whole sequences."""
        sequences, steps = self._read(X, lengths)
        return run_smoother(stacked((self.system_,)), sequences, steps)

    def fill(self, X: Any, lengths: Any = None) -> Any:
        """Return the sequences with missing numbers replaced by what is expected of them."""
        sequences, steps = self._read(X, lengths)
        means = run_smoother(stacked((self.system_,)), sequences, steps).means
        values, system = sequences.values.copy(), self.system_
        seen = means @ system.observation.T + system.offset
        # Noise that is correlated between columns makes what is present of a row tell of the rest.
        for pattern in np.unique(np.isnan(values), axis=0):
            rows = np.flatnonzero((np.isnan(values) == pattern).all(axis=1))
            noise = system.observation_noise
            share = np.linalg.pinv(noise[np.ix_(~pattern, ~pattern)])
            share = share @ noise[np.ix_(~pattern, pattern)]
            gaps = values[np.ix_(rows, ~pattern)] - seen[np.ix_(rows, ~pattern)]
            values[np.ix_(rows, pattern)] = seen[np.ix_(rows, pattern)] + gaps @ share
        return sequences.give_back(values)

    def forecast(
        self, X: Any, n_ahead: int = 1, *, lengths: Any = None
    ) -> StateForecast | list[StateForecast]:
        """Return what is to come after the last step of a sequence, or of each of several.

        Parameters
        ----------
        X
            One sequence; or several, for which a list of forecasts is returned.
        n_ahead
            Number of steps to come.
        lengths
            Steps of each sequence, where X is one array.
        """
        count = check_count(n_ahead, "n_ahead")
        sequences, _ = self._read(X, lengths)
        several = sequences.form == "list" or lengths is not None
        forecasts = [
            _forecast(self.system_, sequences[s : s + 1].values, count)
            for s in range(len(sequences))
        ]
        return forecasts if several else forecasts[0]

    def sample(
        self, n_steps: int = 1, n_sequences: int = 1, *, random_state: Seed = None
    ) -> SampledSequences:
        """Return sequences drawn from the system.

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
        check_count(n_steps, "n_steps")
        check_count(n_sequences, "n_sequences")
        random = generator(random_state)
        stack = stacked((self.system_,))
        starts = np.arange(n_sequences + 1) * n_steps
        states, seen = draw_system(stack, starts, np.zeros(starts[-1], dtype=np.int64), random)
        return SampledSequences(np.split(seen, starts[1:-1]), np.split(states, starts[1:-1]))


def _forecast(system: LinearSystem, values: np.ndarray, n_ahead: int) -> StateForecast:
    """Return what is to come after one sequence: steps at which nothing is seen."""
    longer = np.vstack([values, np.full((n_ahead, values.shape[1]), np.nan)])
    ahead = Sequences(longer, np.array([0, len(longer)]))
    steps = np.zeros(len(longer), dtype=np.int64)
    known = run_filter(stacked((system,)), ahead, steps).estimates
    states = known.means[-n_ahead:]
    seen = system.observation @ known.covariances[-n_ahead:] @ system.observation.T
    means = states @ system.observation.T + system.offset
    return StateForecast(means, seen + system.observation_noise, states)


def draw_system(
    stack: LinearSystem, starts: np.ndarray, regimes: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return states and what is seen of them, drawn from systems of which each step uses one."""
    size, width = stack.n_dimensions, stack.offset.shape[1]
    state_noise = random.standard_normal((len(regimes), size, 1))
    noise = random.standard_normal((len(regimes), width, 1))
    roots = np.stack([_root(part) for part in stack.state_noise])
    seen_roots = np.stack([_root(part) for part in stack.observation_noise])
    states = (roots[regimes] @ state_noise)[:, :, 0]
    first = starts[:-1]
    states[first] = (
        stack.initial_mean + state_noise[first, :, 0] @ _root(stack.initial_covariance).T
    )
    opening = np.zeros(len(regimes), dtype=bool)
    opening[first] = True
    for t in np.flatnonzero(~opening):
        states[t] += stack.transition[regimes[t]] @ states[t - 1]
    seen = (stack.observation[regimes] @ states[:, :, None] + seen_roots[regimes] @ noise)[:, :, 0]
    return states, seen + stack.offset[regimes]


def _root(covariance: np.ndarray) -> np.ndarray:
    """Return a matrix whose product with its transpose is the covariance, singular or not."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))

"""Linear dynamical systems as a learner: EM, filtering, smoothing, gaps filled, forecasts."""

from dataclasses import dataclass, replace
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
from verulam.sequence._data.sequences import Sequences, check_count, input_rows, joined
from verulam.sequence._dynamics.kalman import (
    LinearSystem,
    StateEstimates,
    check_system,
    inputs_of,
    run_filter,
    run_smoother,
    stacked,
)
from verulam.sequence._dynamics.simulation import (
    StateForecast,
    draw_system,
    expected_rows,
    forecast_system,
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
class DynamicalPass:
    """What one pass adds up, and the systems that it was made under."""

    systems: tuple[LinearSystem, ...]
    floor: np.ndarray
    sums: DynamicalSums

    def __add__(self, other: "DynamicalPass") -> "DynamicalPass":
        return DynamicalPass(self.systems, self.floor, self.sums + other.sums)


class LinearDynamicalSystem(ManyPasses, Density):
    r"""A state of several numbers moves linearly; what is seen is linear in it. Both with noise.

    Inputs that are known, such as a control, may drive both.

    Parameters
    ----------
    n_dimensions
        Numbers that make up a state.
    noise
        "diagonal" where the noise of what is seen is independent between columns, or "full".
    init
        A `LinearSystem` to begin from; None to guess one from the data.
    fixed
        Names of parameters to hold at their start, such as ``("transition", "offset")``. Where
        ``"state_inputs"`` or ``"observation_inputs"`` are held and `init` says nothing of them,
        they are zero: inputs are left out of that equation.
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
    expectation (Alpaydin 15.9, 15.11; [shumway1982]_). Inputs are further columns of both
    regressions: those of a step move the state of the next. Missing numbers (NaN) are integrated
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

    A room is heated now and then; how warm is it after two more steps without?

    >>> heating = np.tile([1.0, 1.0, 0.0, 0.0, 0.0], 12)
    >>> warmth = [0.0]
    >>> for power in heating[:-1]:
    ...     warmth.append(0.8 * warmth[-1] + 2.0 * power)
    >>> room = LinearDynamicalSystem(fixed=("observation_inputs",))
    >>> room = room.fit(warmth, inputs=heating)
    >>> ahead = room.forecast(warmth, 2, inputs=heating, inputs_ahead=[0.0, 0.0])
    >>> bool(np.allclose(ahead.means[:, 0], [0.8 * warmth[-1], 0.64 * warmth[-1]], atol=0.1))
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
    def fit(self, X: Any, y: Any = None, *, lengths: Any = None, inputs: Any = None) -> Self:
        """Learn from sequences: a list, one array, a stream of chunks or a Dask collection.

        Parameters
        ----------
        X
            A list of arrays, or one array; a callable that returns an iterator of chunks
            ``X`` or ``(X, inputs)``; a Dask bag, or a one-dimensional Dask array of sequences.
        y
            Ignored.
        lengths
            Steps of each sequence, where X is one array.
        inputs
            What is known at each step and drives the system, in the form of X.
        """
        owner = self._unfitted() if hasattr(X, "__dask_graph__") else self
        self._learn(open_source(X, inputs, lengths, owner._prepare))
        return self

    def _prepare(self, X: Any, inputs: Any, lengths: Any, reset: bool) -> Chunk:
        sequences = checked_sequences(self, X, lengths, reset, inputs)
        return Chunk(sequences, targets=np.full(len(sequences), sequences.values.shape[1]))

    def _start(self, source: Source) -> tuple[tuple[LinearSystem, ...], np.ndarray]:
        survey: Survey = source.total(partial(survey_chunk, emission=GaussianEmission()))
        self.n_features_in_ = survey.n_columns
        values = joined([piece.values for piece in survey.pieces])
        lengths = np.concatenate([piece.lengths for piece in survey.pieces])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        known = None
        if survey.pieces[0].inputs is not None:
            known = joined([piece.inputs for piece in survey.pieces])
        drivers = None if "state_inputs" in self.fixed else known
        guess = start_system(values, starts, self.n_dimensions, drivers)
        floor = FLOOR * 2.0 * np.diag(guess.observation_noise)
        if self.init is not None:
            check_system(self.init)
            if self.init.n_columns != survey.n_columns:
                raise DataError(
                    f"init shows {self.init.n_columns} columns, but X has {survey.n_columns}."
                )
            guess = self.init
        return (_with_inputs(guess, known),), floor

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
            "state_inputs": size * system.n_inputs,
            "observation_inputs": width * system.n_inputs,
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

    def _read(self, X: Any, lengths: Any, inputs: Any) -> tuple[Sequences, np.ndarray]:
        check_is_fitted(self)
        sequences = checked_sequences(self, X, lengths, False, inputs)
        return sequences, np.zeros(sequences.n_steps, dtype=np.int64)

    def score(self, X: Any, y: Any = None, *, lengths: Any = None, inputs: Any = None) -> float:
        """Return the log-likelihood of all sequences together."""
        return float(self.score_sequences(X, lengths, inputs).sum())

    def score_sequences(self, X: Any, lengths: Any = None, inputs: Any = None) -> np.ndarray:
        """Return the log-likelihood of each sequence."""
        return self.filter(X, lengths, inputs).log_likelihoods

    def filter(self, X: Any, lengths: Any = None, inputs: Any = None) -> StateEstimates:
        """Return the states given the steps so far."""
        sequences, steps = self._read(X, lengths, inputs)
        return run_filter(stacked((self.system_,)), sequences, steps).estimates

    def smooth(self, X: Any, lengths: Any = None, inputs: Any = None) -> StateEstimates:
        """Return the states given whole sequences."""
        sequences, steps = self._read(X, lengths, inputs)
        return run_smoother(stacked((self.system_,)), sequences, steps)

    def fill(self, X: Any, lengths: Any = None, inputs: Any = None) -> Any:
        """Return the sequences with missing numbers replaced by what is expected of them."""
        sequences, steps = self._read(X, lengths, inputs)
        means = run_smoother(stacked((self.system_,)), sequences, steps).means
        values, system = sequences.values.copy(), self.system_
        seen = expected_rows(system, means, inputs_of(system, sequences))
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
        self,
        X: Any,
        n_ahead: int = 1,
        *,
        lengths: Any = None,
        inputs: Any = None,
        inputs_ahead: Any = None,
    ) -> StateForecast | list[StateForecast]:
        """Return what is to come after the last step of a sequence, or of each of several.

        Parameters
        ----------
        X
            One sequence; or several, for which a list of forecasts is returned.
        n_ahead
            Number of steps to come.
        lengths, inputs
            As in `fit`.
        inputs_ahead
            What is known at the steps to come, where the system has inputs: one row per step, a
            list of such arrays for several sequences.
        """
        count = check_count(n_ahead, "n_ahead")
        sequences, _ = self._read(X, lengths, inputs)
        several = sequences.form == "list" or lengths is not None
        ahead = [inputs_ahead] if inputs_ahead is None or not several else list(inputs_ahead)
        if inputs_ahead is None:
            ahead *= len(sequences)
        if len(ahead) != len(sequences):
            raise DataError(
                f"inputs_ahead needs one array per sequence: {len(sequences)}, not {len(ahead)}."
            )
        forecasts = []
        for s, to_come in enumerate(ahead):
            part = sequences[s : s + 1]
            known = self._known_ahead(part, to_come, count)
            forecasts.append(forecast_system(self.system_, part.values, known, count))
        return forecasts if several else forecasts[0]

    def _known_ahead(self, sequence: Sequences, inputs_ahead: Any, n_ahead: int) -> np.ndarray:
        """Return the inputs of a sequence and of the steps to come after it."""
        known, n_inputs = inputs_of(self.system_, sequence), self.system_.n_inputs
        if inputs_ahead is None:
            if n_inputs:
                raise DataError(
                    "forecast needs inputs_ahead: pass what is known at each step to come."
                )
            return np.empty((len(known) + n_ahead, 0))
        rows = input_rows(inputs_ahead, "inputs_ahead")
        if rows.shape != (n_ahead, n_inputs):
            raise DataError(
                f"inputs_ahead has {rows.shape[0]} steps and {rows.shape[1]} columns; expected "
                f"{n_ahead} and {n_inputs}."
            )
        return np.vstack([known, rows])

    def sample(
        self,
        n_steps: int = 1,
        n_sequences: int = 1,
        *,
        inputs: Any = None,
        random_state: Seed = None,
    ) -> SampledSequences:
        """Return sequences drawn from the system.

        Parameters
        ----------
        n_steps
            Steps of each sequence.
        n_sequences
            Number of sequences.
        inputs
            What is known at each step, one array for all sequences, where the system has inputs.
        random_state
            Seed of the draws.
        """
        check_is_fitted(self)
        check_count(n_steps, "n_steps")
        check_count(n_sequences, "n_sequences")
        random = generator(random_state)
        stack = stacked((self.system_,))
        starts = np.arange(n_sequences + 1) * n_steps
        known = None if inputs is None else input_rows(inputs, "inputs")
        if known is not None and len(known) != n_steps:
            raise DataError(f"inputs has {len(known)} steps, but n_steps is {n_steps}.")
        once = Sequences(np.empty((n_steps, 0)), starts[:2], known)
        rows = np.tile(inputs_of(self.system_, once), (n_sequences, 1))
        regimes = np.zeros(starts[-1], dtype=np.int64)
        states, seen = draw_system(stack, starts, regimes, random, rows)
        return SampledSequences(np.split(seen, starts[1:-1]), np.split(states, starts[1:-1]))


def _with_inputs(system: LinearSystem, known: np.ndarray | None) -> LinearSystem:
    """Return the system with effects of zero for inputs that it does not have yet, or raise."""
    if system.n_inputs or known is None:
        if known is None and system.n_inputs:
            raise DataError(
                f"init has {system.n_inputs} inputs: pass inputs= beside X, one row per step."
            )
        return system
    n_inputs = known.shape[1]
    return replace(
        system,
        state_inputs=np.zeros((system.n_dimensions, n_inputs)),
        observation_inputs=np.zeros((system.n_columns, n_inputs)),
    )

"""Hidden Markov models as a learner: Baum-Welch, best paths, posteriors, forecasts."""

import warnings
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    RANDOM_STATE,
    Additive,
    Chunk,
    DataError,
    DataWarning,
    Density,
    Interval,
    Seed,
    Source,
    StrOptions,
    check_is_fitted,
    checked_fit,
    generator,
    kept_threads,
    open_source,
    validate_data,
)
from verulam.sequence._data.sequences import Sequences, named_table, read_sequences, warn_of_words
from verulam.sequence._emissions.gaussian import GaussianEmission
from verulam.sequence._learners.initialisation import Survey, fresh_state, start_model, survey_chunk
from verulam.sequence._learners.queries import SequenceTasks
from verulam.sequence._model.checkpoint import checkpointed_sums
from verulam.sequence._model.emission import Emission, refuse_labels
from verulam.sequence._model.expectation import expected_sums
from verulam.sequence._model.inference import Smoothed
from verulam.sequence._model.initial_and_transition import InitialProbabilities, TransitionMatrix
from verulam.sequence._model.parameters import Model, ModelSums, Parts, updated
from verulam.sequence._recursions.scratch import SCRATCH

#: Expected steps below which a state counts as having no data.
NO_DATA = 1e-3
MOST_RESETS = 3
ORDER_MATTERS = "the states of a sequence depend on the order of its steps"


def chunk_sums(chunk: Chunk, parameters: Model, checkpoint: int | None) -> ModelSums:
    """Return the expected sums over the sequences of a chunk."""
    if checkpoint is not None:
        return checkpointed_sums(parameters, chunk.inputs, checkpoint)
    return expected_sums(parameters, chunk.inputs)


@dataclass(frozen=True)
class Run:
    """One run of Baum-Welch."""

    model: Model
    curve: list[float]
    converged: bool
    notes: list[str]


class HiddenMarkovModel(SequenceTasks, Additive, Density):
    r"""States that cannot be seen follow one another; each shows something that can.

    Parameters
    ----------
    n_states
        Number of states.
    emission
        What states show; None stands for `GaussianEmission()`.
    initial
        Where sequences begin: an `InitialProbabilities`, or None for its defaults.
    transitions
        How states follow one another: a `TransitionMatrix` or `LogisticTransitions`, or None for
        all transitions.
    shared_emissions
        For each state the number of its emission, where states share some; None where each has
        its own.
    init
        "k-means" to group steps by what they show, "random" to begin from random runs of steps.
        Models from left to right begin from equal stretches.
    n_init
        Number of starts; the best model is kept.
    max_iter
        Most passes over the data.
    tol
        Stop when a pass raises the objective by no more than this per step.
    empty_states
        What to do with a state that no data belongs to: "keep" it, "reset" it, or "remove" it.
        A warning says so.
    checkpoint
        Steps per block, to fit long sequences in bounded memory; None for the quickest way.
    random_state
        Seed of the starts.

    Attributes
    ----------
    model_ : Model
        The parts and their parameters.
    initial_ : ndarray of shape (n_states,)
        Probability of each first state :math:`\pi_i`.
    transitions_ : ndarray of shape (n_states, n_states)
        Transition matrix :math:`a_{ij}`, or what `transitions` has as parameters.
    emission_ : record
        Parameters of the emission, such as means and covariances.
    n_states_ : int
        Number of states, fewer than asked for where some were removed.
    objective_curve_ : list of float
        Log-likelihood before each pass, plus the logarithm of the priors; it never falls.
    n_iter_ : int
        Number of passes.
    converged_ : bool
        Whether the last pass met `tol`.
    n_parameters_ : int
        Number of free numbers.
    n_steps_ : int
        Steps that were learned from.

    Notes
    -----
    Each pass computes posteriors :math:`\gamma_t(i)` of the states and :math:`\xi_t(i, j)` of the
    transitions, and sets the parameters to the weighted proportions and moments; the likelihood
    never falls (Alpaydin 15.5-15.8). The posteriors are sums over the data, so that `fit` takes
    sequences in memory, a stream of chunks (each a list of sequences) or a Dask bag or array of
    sequences.

    Data is a list of arrays, or one array with `lengths`. Missing values (NaN) are integrated
    out.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.sequence import HiddenMarkovModel
    >>> quiet, loud = [0.0, 0.1, -0.1, 0.0], [5.0, 5.2, 4.9]
    >>> model = HiddenMarkovModel(2, random_state=0).fit([quiet + loud, loud + quiet])
    >>> states = model.predict([0.0, 0.1, 5.0, 0.0])
    >>> (states == states[0]).tolist()
    [True, True, False, True]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_states": [Interval(Integral, 1, None, closed="left")],
        "emission": [Emission, None],
        "initial": [InitialProbabilities, None],
        "transitions": "no_validation",
        "shared_emissions": ["array-like", None],
        "init": [StrOptions({"k-means", "random"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "empty_states": [StrOptions({"keep", "reset", "remove"})],
        "checkpoint": [Interval(Integral, 1, None, closed="left"), None],
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
        n_states: int = 2,
        emission: Emission | None = None,
        *,
        initial: InitialProbabilities | None = None,
        transitions: Any = None,
        shared_emissions: Any = None,
        init: str = "k-means",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-6,
        empty_states: str = "keep",
        checkpoint: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_states = n_states
        self.emission = emission
        self.initial = initial
        self.transitions = transitions
        self.shared_emissions = shared_emissions
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.empty_states = empty_states
        self.checkpoint = checkpoint
        self.random_state = random_state

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, None]:
        random = np.random.default_rng(0)
        sequences = np.empty(12, dtype=object)
        for place in range(12):
            states = np.repeat(random.permutation(3)[:2], 8)
            sequences[place] = 2.0 * states[:, None] + random.normal(0.0, 0.6, size=(16, 2))
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
            ``X`` or ``(X, inputs)``; a Dask bag, or a Dask array of sequences. A list of words
            is one sequence of labels; for letters, split each word by ``list(word)``.
        y
            Ignored.
        lengths
            Steps of each sequence, where X is one array.
        inputs
            What is known at each step beside the observations, in the form of X.
        """
        self._parts = self._compose(X, lengths)
        self._learn(self._open(X, inputs, lengths))
        return self

    def fit_from(self, start: Model, X: Any, *, lengths: Any = None, inputs: Any = None) -> Self:
        """Learn on from a model, such as one fitted to other data.

        Parameters
        ----------
        start
            The model of the first pass.
        X, lengths, inputs
            As in `fit`.
        """
        self._parts = start.parts
        self._learn(self._open(X, inputs, lengths), start)
        return self

    def _compose(self, X: Any = None, lengths: Any = None) -> Parts:
        emission = self.emission if self.emission is not None else GaussianEmission()
        in_memory = X is not None and not (hasattr(X, "__dask_graph__") or callable(X))
        if in_memory and not emission.numeric:
            sequences = read_sequences(X, lengths)
            known, emission = emission, emission.for_data(sequences.values)
            if emission is not known:
                warn_of_words(sequences, stacklevel=5)
        shared = self.shared_emissions
        if shared is not None:
            shared = np.asarray(shared)
            is_whole = shared.dtype.kind in "iu" and shared.shape == (self.n_states,)
            if not is_whole or set(shared) != set(range(shared.max() + 1)):
                raise DataError(
                    "shared_emissions needs one number per state, and every number from 0 up to "
                    "the largest."
                )
        transitions = self.transitions if self.transitions is not None else TransitionMatrix()
        if isinstance(transitions, type) or not hasattr(transitions, "prepared"):
            raise DataError(
                f"transitions is {transitions!r}; expected a part such as "
                "TransitionMatrix('left-to-right') or LogisticTransitions()."
            )
        return Parts(
            self.initial if self.initial is not None else InitialProbabilities(),
            transitions,
            emission,
            shared,
        )

    def _open(self, X: Any, inputs: Any, lengths: Any) -> Source:
        owner = self._unfitted() if hasattr(X, "__dask_graph__") else self
        if hasattr(X, "__dask_graph__") and getattr(X, "ndim", 1) != 1:
            raise DataError(
                "A Dask array of rows does not say where sequences begin; pass a Dask bag of "
                "sequences, or a one-dimensional Dask array of them."
            )
        return open_source(X, inputs, lengths, owner._prepare)

    def _prepare(self, X: Any, inputs: Any, lengths: Any, reset: bool) -> Chunk:
        sequences = read_sequences(X, lengths, inputs)
        emission = self._parts.emission if hasattr(self, "_parts") else self._compose().emission
        width = np.full(len(sequences), sequences.values.shape[1])
        return Chunk(self._encoded(X, sequences, emission, reset), targets=width)

    def _encoded(
        self, X: Any, sequences: Sequences, emission: Emission, reset: bool, parameters: Any = None
    ) -> Sequences:
        values = sequences.values
        if emission.numeric:
            table = named_table(X, values)
            refuse_labels(values, emission, "; for labels use CategoricalEmission()")
            values = validate_data(
                self,
                table,
                reset=reset,
                dtype=np.float64,
                order="C",
                ensure_all_finite="allow-nan",
            )
        elif reset:
            self.n_features_in_ = values.shape[1]
        elif values.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {values.shape[1]} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )
        sequences = sequences.with_values(values)
        return sequences.with_values(emission.encode(sequences, parameters))

    def _read(self, X: Any, lengths: Any, inputs: Any = None) -> Sequences:
        """Return the sequences of a question to the fitted model."""
        check_is_fitted(self)
        plain = isinstance(X, np.ndarray) and X.dtype != object and X.ndim == 1
        if plain and self.n_features_in_ > 1:
            raise DataError(
                f"X has one value per step, but the model has {self.n_features_in_} columns. "
                "Reshape your data to one row per step."
            )
        sequences = read_sequences(X, lengths, inputs)
        return self._encoded(X, sequences, self.model_.parts.emission, False, self.model_.emission)

    def _statistics(self, chunk: Chunk, parameters: Model) -> ModelSums:
        return chunk_sums(chunk, parameters, self.checkpoint)

    def _total(self, source: Source, parameters: Model) -> ModelSums:
        # A function alone needs no copy of the learner at each pass.
        return source.total(partial(chunk_sums, parameters=parameters, checkpoint=self.checkpoint))

    def _update(self, statistics: ModelSums) -> Model:
        return updated(statistics)

    def _learn(self, source: Source, start: Model | None = None) -> None:
        survey = source.total(partial(survey_chunk, emission=self._parts.emission))
        self.n_features_in_ = survey.n_columns
        self._check_amounts(survey)
        width = None if start is None else self._parts.emission.n_columns(start.emission)
        if width is not None and width != survey.n_columns:
            raise DataError(f"start has {width} columns, but X has {survey.n_columns}.")
        random = generator(self.random_state)
        starts = (
            start or start_model(self._parts, survey, self.n_states, self.init, random)
            for _ in range(1 if start else self.n_init)
        )
        try:
            with kept_threads():
                runs = [self._run(source, survey, model, random) for model in starts]
        finally:
            SCRATCH.release()
        best = max(runs, key=lambda run: run.curve[-1])
        if not best.converged:
            warnings.warn(
                f"{type(self).__name__} had not converged after max_iter={self.max_iter} passes; "
                "raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        concerns = best.model.parts.emission.concerns(best.model.emission)
        for note in (*best.notes, *concerns):
            warnings.warn(note, DataWarning, stacklevel=4)
        self.objective_curve_ = best.curve
        self.n_iter_ = len(best.curve)
        self.converged_ = best.converged
        self.n_steps_ = survey.n_steps
        self._adopt(best.model)

    def _check_amounts(self, survey: Survey) -> None:
        """Warn of data that cannot show all states, and of inputs that no part reads."""
        is_plain = isinstance(self._parts.transitions, TransitionMatrix)
        if is_plain and self._parts.shared is None and survey.n_steps < self.n_states:
            warnings.warn(
                f"X has {survey.n_steps} steps for {self.n_states} states: some states cannot be "
                "told apart.",
                DataWarning,
                stacklevel=5,
            )
        reads = self._parts.emission.uses_inputs or not is_plain
        if survey.pieces[0].inputs is not None and not reads:
            warnings.warn(
                "inputs are not used: neither the emission nor the transitions read them.",
                DataWarning,
                stacklevel=5,
            )

    def _adopt(self, model: Model) -> None:
        self.model_ = model
        self.initial_ = model.initial
        self.transitions_ = getattr(model.transitions, "matrix", model.transitions)
        self.emission_ = model.emission
        self.n_states_ = model.n_states
        self.n_parameters_ = model.n_parameters

    def _run(
        self, source: Source, survey: Survey, model: Model, random: np.random.Generator
    ) -> Run:
        curve: list[float] = []
        notes: list[str] = []
        converged, resets = False, 0
        for _ in range(self.max_iter):
            sums = self._total(source, model)
            curve.append(sums.log_likelihood + model.log_prior())
            model = self._update(sums)
            empty = np.flatnonzero(sums.visits < NO_DATA)
            if len(empty) and self.empty_states == "reset" and resets < MOST_RESETS:
                resets += 1
                notes.append(f"State {empty[0]} had no data and was reset.")
                model = fresh_state(model, survey, int(empty[0]), random)
                curve.clear()
                continue
            if len(empty) and self.empty_states == "remove":
                notes.append(f"States without data were removed: {empty.tolist()}.")
                model = model.take(np.flatnonzero(sums.visits >= NO_DATA))
            if len(curve) > 1 and curve[-1] - curve[-2] <= self.tol * survey.n_steps:
                converged = True
                break
        if len(empty) and self.empty_states != "remove":
            notes.append(
                f"States without data were kept as they were: {empty.tolist()}. Fewer states, "
                "or empty_states='reset' or 'remove', would use them better."
            )
        return Run(model, curve, converged, notes)

    @classmethod
    def from_parameters(
        cls,
        initial: Any,
        transitions: Any,
        emission: Emission,
        n_columns: int = 1,
        shared_emissions: Any = None,
    ) -> "HiddenMarkovModel":
        """Return a model with known parameters, ready for use without learning.

        Parameters
        ----------
        initial
            Probability of each first state.
        transitions
            Transition matrix.
        emission
            An emission constructed with all its parameters.
        n_columns
            Columns of the observations.
        shared_emissions
            For each state the number of its emission; None where each has its own.

        Examples
        --------
        >>> from verulam.sequence import CategoricalEmission, HiddenMarkovModel
        >>> model = HiddenMarkovModel.from_parameters(
        ...     [0.5, 0.5],
        ...     [[0.9, 0.1], [0.2, 0.8]],
        ...     CategoricalEmission(probabilities=[[0.9, 0.1], [0.3, 0.7]]),
        ... )
        >>> round(model.score([0, 0, 1]), 4)
        -2.3931
        """
        n_states = len(initial)
        if not emission.complete and type(emission).complete is not Emission.complete:
            raise DataError(
                f"{type(emission).__name__} has no values for all its parameters; construct it "
                "with them, or learn them by fit."
            )
        model = cls(
            n_states,
            emission,
            initial=InitialProbabilities(initial),
            transitions=TransitionMatrix(values=transitions),
            shared_emissions=shared_emissions,
        )
        parts = model._compose()
        n_emissions = n_states if parts.shared is None else int(parts.shared.max()) + 1
        model.n_features_in_ = n_columns
        model._adopt(
            Model(
                parts,
                parts.initial.start(n_states, parts.transitions),
                parts.transitions.start(n_states, np.random.default_rng(0)),
                emission.given(emission.ready(n_emissions, n_columns)),
            )
        )
        return model

    def smooth(self, X: Any, lengths: Any = None, inputs: Any = None) -> Smoothed:
        """Return the posteriors of states and transitions as a record."""
        sequences = self._read(X, lengths, inputs)
        return self.model_.smooth(sequences)

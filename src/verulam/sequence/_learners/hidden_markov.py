"""Hidden Markov models as a learner: Baum-Welch, best paths, posteriors, forecasts."""

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from verulam.base import (
    RANDOM_STATE,
    Chunk,
    DataError,
    DataWarning,
    Density,
    EMRun,
    Interval,
    ManyPasses,
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
from verulam.sequence._learners.initialisation import (
    Survey,
    empty_states,
    remove_empty_states,
    reset_empty_state,
    start_model,
    survey_chunk,
)
from verulam.sequence._learners.queries import HMMQueries
from verulam.sequence._model.emission import Emission, refuse_labels
from verulam.sequence._model.expectation import chunk_sums
from verulam.sequence._model.parameters import (
    HMMParameters,
    HMMParts,
    HMMStatistics,
    InitialProbabilities,
    TransitionMatrix,
    check_shared,
    updated,
)
from verulam.sequence._recursions.scratch import SCRATCH

ORDER_MATTERS = "the states of a sequence depend on the order of its steps"


class HiddenMarkovModel(HMMQueries, ManyPasses, Density):
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
    model_ : HMMParameters
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

    def fit_from(
        self, start: HMMParameters, X: Any, *, lengths: Any = None, inputs: Any = None
    ) -> Self:
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

    def _compose(self, X: Any = None, lengths: Any = None) -> HMMParts:
        emission = self.emission if self.emission is not None else GaussianEmission()
        in_memory = X is not None and not (hasattr(X, "__dask_graph__") or callable(X))
        if in_memory and not emission.numeric:
            sequences = read_sequences(X, lengths)
            known, emission = emission, emission.for_data(sequences.values)
            if emission is not known:
                warn_of_words(sequences, stacklevel=5)
        transitions = self.transitions if self.transitions is not None else TransitionMatrix()
        if isinstance(transitions, type) or not hasattr(transitions, "prepared"):
            raise DataError(
                f"transitions is {transitions!r}; expected a part such as "
                "TransitionMatrix('left-to-right') or LogisticTransitions()."
            )
        return HMMParts(
            self.initial if self.initial is not None else InitialProbabilities(),
            transitions,
            emission,
            check_shared(self.shared_emissions, self.n_states),
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

    def _statistics(self, chunk: Chunk, parameters: HMMParameters) -> HMMStatistics:
        return chunk_sums(chunk, parameters, self.checkpoint)

    def _total(self, source: Source, parameters: HMMParameters) -> HMMStatistics:
        # A function alone needs no copy of the learner at each pass.
        return source.total(partial(chunk_sums, parameters=parameters, checkpoint=self.checkpoint))

    def _update(self, statistics: HMMStatistics) -> HMMParameters:
        return updated(statistics)

    def _objective(self, statistics: HMMStatistics) -> float:
        return statistics.log_likelihood + statistics.model.log_prior()

    def _least_gain(self, statistics: HMMStatistics) -> float:
        return self.tol * statistics.n_steps

    def _learn(self, source: Source, start: HMMParameters | None = None) -> None:
        survey = source.total(partial(survey_chunk, emission=self._parts.emission))
        self.n_features_in_ = survey.n_columns
        self._check_amounts(survey)
        width = None if start is None else self._parts.emission.n_columns(start.emission)
        if width is not None and width != survey.n_columns:
            raise DataError(f"start has {width} columns, but X has {survey.n_columns}.")
        random = generator(self.random_state)
        revise = self._revision(survey, random)
        # Each start is drawn when its run begins: runs that reset states draw from it, too.
        n_starts = 1 if start else self.n_init
        starts = (
            start or start_model(self._parts, survey, self.n_states, self.init, random)
            for _ in self._steps(range(n_starts), "start", n_starts)
        )
        try:
            with kept_threads():
                best = self._conclude(self._run(source, model, revise) for model in starts)
        finally:
            SCRATCH.release()
        self.n_steps_ = survey.n_steps
        concerns = self.model_.parts.emission.concerns(self.model_.emission)
        for note in (*best.notes, *concerns):
            warnings.warn(note, DataWarning, stacklevel=4)

    def _revision(
        self, survey: Survey, random: np.random.Generator
    ) -> Callable[[EMRun], None] | None:
        """Return what is done about empty states after each pass of a run."""
        if self.empty_states == "reset":
            return partial(reset_empty_state, survey=survey, random=random)
        return remove_empty_states if self.empty_states == "remove" else None

    def _run(
        self,
        source: Source,
        parameters: HMMParameters,
        revise: Callable[[EMRun], None] | None = None,
    ) -> EMRun:
        run = super()._run(source, parameters, revise)
        if self.empty_states != "remove":
            run.notes += self._empty_notes(source, run)
        return run

    def _empty_notes(self, source: Source, run: EMRun) -> list[str]:
        """Return what to say of the states that are empty at the end of a run."""
        empty = empty_states(run.statistics)
        # A cleared curve says that the last pass of all ended with a reset.
        if not len(empty) or not run.curve:
            return []
        note = (
            f"States without data were kept as they were: {empty.tolist()}. Fewer states, "
            "or empty_states='reset' or 'remove', would use them better."
        )
        return [note]

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

    def _store(self, parameters: HMMParameters) -> None:
        self.model_ = parameters
        self.initial_ = parameters.initial
        self.transitions_ = getattr(parameters.transitions, "matrix", parameters.transitions)
        self.emission_ = parameters.emission
        self.n_states_ = parameters.n_states
        self.n_parameters_ = parameters.n_parameters

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
            Probability of each first state, or an `InitialProbabilities` with its values.
        transitions
            Transition matrix, or a part with its values, such as `LogisticTransitions` with
            weights.
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
        first = (
            initial if isinstance(initial, InitialProbabilities) else InitialProbabilities(initial)
        )
        if first.values is None:
            raise DataError("initial has no values: pass the probability of each first state.")
        n_states = len(first.values)
        if not emission.complete and type(emission).complete is not Emission.complete:
            raise DataError(
                f"{type(emission).__name__} has no values for all its parameters; construct it "
                "with them, or learn them by fit."
            )
        model = cls(
            n_states,
            emission,
            initial=first,
            transitions=transitions
            if hasattr(transitions, "prepared")
            else TransitionMatrix(values=transitions),
            shared_emissions=shared_emissions,
        )
        parts = model._compose()
        n_emissions = n_states if parts.shared is None else int(parts.shared.max()) + 1
        model.n_features_in_ = n_columns
        model._store(
            HMMParameters(
                parts,
                parts.initial.start(n_states, parts.transitions),
                parts.transitions.start(n_states, np.random.default_rng(0)),
                emission.with_start_values(emission.ready(n_emissions, n_columns)),
            )
        )
        return model

"""What networks with feedback for classes and for numbers have in common."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from verulam.base import (
    DataError,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    check_weights,
    generator,
    spawn_seeds,
)
from verulam.neural._perceptron.perceptron import MultilayerPerceptron, Problem
from verulam.neural._time.recurrence import (
    FEEDBACKS,
    STEP_ACTIVATIONS,
    RecurrentNetwork,
    Steps,
    Unfolding,
    recurrent_layout,
)
from verulam.neural._time.tasks import StepTargets, read_series, read_targets
from verulam.neural._time.unfolding import SequenceError
from verulam.numerics import AdaptiveRate, Epoch, Schedule
from verulam.sequence import Sequences

_SHARED = (
    "hidden_layer_sizes", "solver", "learning_rate", "momentum", "batch_size", "max_iter", "tol",
    "n_iter_no_change", "shuffle", "alpha", "combine", "early_stopping", "validation_fraction",
    "init", "n_init", "random_state",
)  # fmt: skip
#: Sequences of a step where nothing else is said.
BATCH = 32


class RecurrentPerceptron(MultilayerPerceptron):
    """Fitting and running a network with feedback; learners say what its outputs are."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: MultilayerPerceptron._parameter_constraints[name] for name in _SHARED},
        "feedback": [StrOptions({*FEEDBACKS}), list, tuple],
        "activation": [StrOptions({*STEP_ACTIVATIONS})],
        "gradient": [StrOptions({"unfolding", "real-time"})],
        "online": ["boolean"],
        "truncate": [Interval(Integral, 1, None, closed="left"), None],
    }
    _takes_sequences: ClassVar[bool] = True
    gain = 1.0
    skip = False
    nesterov = False
    decay_biases = False
    masks = None
    tied = None
    penalties = None

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = 32,
        *,
        feedback: str | Sequence[str] = "hidden",
        activation: str = "tanh",
        gradient: str = "unfolding",
        online: bool = False,
        combine: str = "sum",
        truncate: int | None = None,
        solver: str = "adam",
        learning_rate: float | Schedule | AdaptiveRate | str = "auto",
        momentum: float = 0.9,
        batch_size: int | str = "auto",
        max_iter: int = 200,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        shuffle: bool = True,
        alpha: float = 0.0001,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        init: Any = "glorot",
        n_init: int = 1,
        random_state: Seed = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.feedback = feedback
        self.activation = activation
        self.gradient = gradient
        self.online = online
        self.combine = combine
        self.truncate = truncate
        self.solver = solver
        self.learning_rate = learning_rate
        self.momentum = momentum
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.alpha = alpha
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.init = init
        self.n_init = n_init
        self.random_state = random_state

    def _recurrent_network(self, n_inputs: int) -> RecurrentNetwork:
        hidden = self._hidden_sizes()
        if len(hidden) != 1:
            raise DataError(
                "hidden_layer_sizes: a network with feedback has one hidden layer; got "
                f"{self.hidden_layer_sizes!r}."
            )
        output, n_outputs = self._outputs()
        layout = recurrent_layout((n_inputs, hidden[0], n_outputs), self.feedback)
        return RecurrentNetwork(layout, self.activation, output)

    def _batch(self, n_rows: int) -> int:
        return min(BATCH, n_rows) if self.batch_size == "auto" else super()._batch(n_rows)

    def _check_gradient(self) -> None:
        if self.online and (self.gradient != "real-time" or self.solver not in ("adam", "sgd")):
            raise DataError(
                "online: weights can follow each step of a sequence where gradient='real-time' and "
                f"solver is 'adam' or 'sgd'; got {self.gradient!r} and {self.solver!r}."
            )
        if self.truncate is not None and self.gradient == "real-time":
            raise DataError(
                "truncate: derivatives that are carried forward are never cut; take "
                "gradient='unfolding', or truncate=None."
            )

    def _sequence_problem(
        self, sequences: Sequences, targets: StepTargets, weights: Any, random: np.random.Generator
    ) -> Problem:
        self._check_gradient()
        self._by_step = targets.by_step
        network = self._recurrent_network(sequences.values.shape[1])
        shares = check_weights(weights, np.zeros((len(sequences), 1)))
        firsts, lengths = sequences.starts[:-1], sequences.lengths
        numbers = np.arange(len(sequences))

        def error_of(part: Any) -> SequenceError:
            places = numbers[part]
            steps = np.concatenate([np.arange(f, f + n) for f, n in
                                    zip(firsts[places], lengths[places], strict=True)])  # fmt: skip
            return SequenceError(
                network,
                sequences.values[steps],
                np.concatenate([[0], np.cumsum(lengths[places])]),
                targets.values[steps],
                targets.mask[steps],
                None if shares is None else shares[places],
                float(self.alpha),
                combine=self.combine,
                truncate=None if self.truncate is None else int(self.truncate),
                gradient=self.gradient,
                online=bool(self.online),
            )

        labels = np.zeros(len(sequences), dtype=np.int64)
        if not targets.by_step and targets.values.ndim == 1:
            labels = targets.values[firsts]
        return self._split(error_of, labels, shares, random)

    def _coded(self, targets: StepTargets, sequences: Sequences) -> StepTargets:
        """Return the targets as the network takes them, and remember what they are."""
        raise NotImplementedError

    def _prepared_sequences(
        self, X: Any, y: Any, lengths: Any, mask: Any
    ) -> tuple[Sequences, StepTargets]:
        self._forget()
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        sequences = read_series(self, X, lengths, reset=True)
        return sequences, self._coded(read_targets(y, sequences, mask), sequences)

    def _fit_sequences(self, X: Any, y: Any, sample_weight: Any, lengths: Any, mask: Any) -> Any:
        sequences, targets = self._prepared_sequences(X, y, lengths, mask)
        seeds = spawn_seeds(self.random_state, self.n_init + 1)
        problem = self._sequence_problem(sequences, targets, sample_weight, generator(seeds[-1]))
        return self._train(problem, seeds)

    def epochs(
        self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Any = None, mask: Any = None
    ) -> Iterator[Epoch]:
        """Train the network while somebody watches: yield after each epoch."""
        cast(Any, self)._validate_params()
        sequences, targets = self._prepared_sequences(X, y, lengths, mask)
        seeds = spawn_seeds(self.random_state, self.n_init + 1)
        problem = self._sequence_problem(sequences, targets, sample_weight, generator(seeds[-1]))
        yield from self._watch(problem, generator(seeds[0]))

    def _run(self, X: Any, lengths: Any) -> tuple[Sequences, Unfolding]:
        """Return sequences and what the units give at their steps, sequence after sequence."""
        check_is_fitted(self)
        sequences = read_series(self, X, lengths, reset=False)
        values = sequences.values.astype(self.parameters_.dtype, copy=False)
        steps = Steps.of(sequences.starts[:-1], sequences.lengths)
        states = self.network_.run(self.parameters_, values[steps.rows], steps)
        back = np.argsort(steps.rows)
        return sequences, Unfolding(
            states.hidden[back], states.hidden_before[back], states.outputs[back],
            states.outputs_before[back], states.sums[back],
        )  # fmt: skip

    def _given_back(self, sequences: Sequences, rows: NDArray[Any]) -> Any:
        """Return answers by step, or those of the last steps, in the form of the sequences."""
        if not self._by_step:
            return rows[sequences.starts[1:] - 1]
        if sequences.form == "rows":
            return rows
        return [rows[begin:end] for begin, end in pairwise(sequences.starts)]

    def hidden_outputs(self, X: Any, layer: int = -1, *, lengths: Any = None) -> Any:
        """Return the outputs of the hidden units at each step: what the network remembers.

        Parameters
        ----------
        X
            A list of sequences, or one array with lengths.
        layer
            There is one hidden layer: 0 or -1.
        lengths
            Steps of each sequence, where X is one array.
        """
        if layer not in (0, -1):
            raise DataError(f"layer: {layer}; the network has 1 hidden layer.")
        sequences, states = self._run(X, lengths)
        if sequences.form == "rows":
            return states.hidden
        return [states.hidden[begin:end] for begin, end in pairwise(sequences.starts)]

    def size_report(self) -> pd.DataFrame:
        """Return for each layer and each feedback its inputs, units, weights and biases."""
        check_is_fitted(self)
        layout = self.network_.layout
        table = layout.perceptron.size_report()
        for kind, weights in self.feedback_coefs_.items():
            n_inputs, n_units = weights.shape
            table.loc[f"{kind} feedback"] = [n_inputs, n_units, weights.size, 0, weights.size]
        return table

    @property
    def coefs_(self) -> list[NDArray[np.floating]]:
        """Weights of each layer, inputs by units, without feedback."""
        layout = self.network_.layout.perceptron
        return [layout.weights(self.parameters_, layer) for layer in range(layout.n_layers)]

    @property
    def intercepts_(self) -> list[NDArray[np.floating]]:
        """Biases of each layer."""
        layout = self.network_.layout.perceptron
        return [layout.biases(self.parameters_, layer) for layer in range(layout.n_layers)]

    @property
    def feedback_coefs_(self) -> dict[str, NDArray[np.floating]]:
        """Weights of each kind of feedback, sources by targets."""
        layout = self.network_.layout
        kinds = {kind: layout.feedback_weights(self.parameters_, kind) for kind in FEEDBACKS}
        return {kind: weights for kind, weights in kinds.items() if weights is not None}

"""What multilayer perceptrons for classes and for numbers have in common."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral, Real
from threading import Event
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    RANDOM_STATE,
    DataError,
    DataWarning,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    check_is_fitted,
    check_weights,
    generator,
    iterate_in_threads,
    may_end_early,
    one_blas_thread,
    spawn_seeds,
    validate_data,
    warn_caller,
)
from verulam.neural._network.layout import layout_of
from verulam.neural._network.network import ACTIVATIONS, Network, TrainingError
from verulam.neural._scale import check_scale, largest_numbers, scale_advice
from verulam.numerics import (
    SEARCHES,
    AdaptiveRate,
    DivergenceError,
    Epoch,
    History,
    RuleMemory,
    Schedule,
    Stopping,
    announced,
    rule_of,
    train,
    train_by_search,
)

POSITIVE = Interval(Real, 0, None, closed="neither")
SHARE = Interval(Real, 0, 1, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")
#: Rows of a step where nothing else is said.
BATCH = 200


@dataclass(frozen=True)
class Problem:
    """What is minimised, and the error on rows set aside.

    Attributes
    ----------
    training
        The error of the training rows: a `verulam.neural.TrainingError`, or whatever another kind
        of network has in its place.
    unseen
        The same of the rows set aside; None where there are none.
    """

    training: Any
    unseen: Any = None

    def copy(self) -> "Problem":
        """Return the same problem with a workspace of its own, for another thread."""
        return Problem(self.training.copy(), self.unseen)


@dataclass
class _Training:
    """One network while it is trained."""

    theta: NDArray[np.floating]
    memory: RuleMemory
    history: History
    interrupted: bool = False


class MultilayerPerceptron(InSteps):
    """Fitting, watching and inspecting a network; learners say what its outputs are."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "hidden_layer_sizes": ["array-like", COUNT],
        "activation": [StrOptions({*ACTIVATIONS})],
        "gain": [POSITIVE],
        "skip": ["boolean"],
        "solver": [StrOptions({"adam", "sgd", *SEARCHES})],
        "learning_rate": [POSITIVE, Schedule, AdaptiveRate, StrOptions({"auto"})],
        "momentum": [SHARE],
        "nesterov": ["boolean"],
        "batch_size": [COUNT, StrOptions({"auto", "all"})],
        "max_iter": [COUNT],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_iter_no_change": [COUNT],
        "shuffle": ["boolean"],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "decay_biases": ["boolean"],
        "masks": [list, tuple, None],
        "tied": [list, tuple, None],
        "combine": [StrOptions({"mean", "sum"})],
        "penalties": [list, tuple, None],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "init": [StrOptions({"glorot", "small"}), "array-like"],
        "n_init": [COUNT],
        "random_state": RANDOM_STATE,
    }

    hidden_layer_sizes: int | Sequence[int]
    activation: str
    gain: float
    skip: bool
    solver: str
    learning_rate: float | Schedule | AdaptiveRate | str
    momentum: float
    nesterov: bool
    batch_size: int | str
    max_iter: int
    tol: float
    n_iter_no_change: int
    shuffle: bool
    alpha: float
    decay_biases: bool
    masks: Sequence[Any] | None
    tied: Sequence[Any] | None
    combine: str
    penalties: Sequence[Any] | None
    early_stopping: bool
    validation_fraction: float
    init: Any
    n_init: int
    random_state: Seed
    #: Another kind of network may stand in its place.
    network_: Any

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "network_")

    def _forget(self) -> None:
        """Remove what an earlier fit left, so that a fit that fails leaves nothing to answer."""
        for name in ("network_", "_training", "_shuffling"):
            if hasattr(self, name):
                delattr(self, name)

    def _network(self, n_inputs: int) -> Network:
        hidden = self._hidden_sizes()
        output, n_outputs = self._outputs()
        layout = layout_of(
            (n_inputs, *hidden, n_outputs), skip=self.skip, masks=self.masks, tied=self.tied,
            combine=self.combine,
        )  # fmt: skip
        return Network(layout, self.activation, output, float(self.gain))

    def _hidden_sizes(self) -> tuple[int, ...]:
        """Return the units of each hidden layer."""
        hidden = np.atleast_1d(np.asarray(self.hidden_layer_sizes))
        if hidden.ndim != 1 or hidden.dtype.kind not in "iu" or (hidden < 1).any():
            raise DataError(
                "hidden_layer_sizes must be whole numbers of at least 1, one for each hidden "
                f"layer; got {self.hidden_layer_sizes!r}."
            )
        return tuple(int(size) for size in hidden)

    def _outputs(self) -> tuple[str, int]:
        """Return the kind of the outputs and how many there are."""
        raise NotImplementedError

    def _read(self, X: Any, *, reset: bool) -> NDArray[np.floating]:
        rows: NDArray[np.floating] = validate_data(
            self, X, dtype=[np.float64, np.float32], order="C", reset=reset
        )
        # Compiled for arrays that may be written, though none is.
        return np.require(rows, requirements=["C", "W"])

    def _problem(
        self,
        rows: NDArray[np.floating],
        targets: NDArray[Any],
        weights: NDArray[np.float64] | None,
        random: np.random.Generator,
    ) -> Problem:
        """Set rows aside where training is to stop by them."""
        network = self._network(rows.shape[1])
        for penalty in self.penalties or ():
            if not hasattr(penalty, "value_and_gradient"):
                raise DataError(
                    "penalties: expected hints or priors of verulam.neural, such as SoftSharing(); "
                    f"got {penalty!r}."
                )

        def error_of(part: Any) -> TrainingError:
            shares = None if weights is None else weights[part]
            return self._error(network, rows[part], targets[part], shares)

        return self._split(error_of, targets, weights, random)

    def _error(
        self, network: Network, rows: NDArray[Any], targets: NDArray[Any], weights: Any
    ) -> TrainingError:
        return TrainingError(
            network, rows, targets, weights, float(self.alpha), self.decay_biases,
            tuple(self.penalties or ()),
        )  # fmt: skip

    def _split(
        self,
        error_of: Callable[[Any], Any],
        targets: NDArray[Any],
        weights: NDArray[np.float64] | None,
        random: np.random.Generator,
    ) -> Problem:
        """Return the errors of the training rows and of those set aside, by a function of rows."""
        if weights is not None and not weights.sum() > 0:
            raise DataError("sample_weight: all weights are zero; at least one must be positive.")
        if not self.early_stopping:
            return Problem(error_of(slice(None)))
        held_out = self._held_out(targets, random)
        if not 0 < held_out.sum() < len(targets):
            raise DataError(
                f"early_stopping: {len(targets)} rows are too few to set "
                f"{self.validation_fraction:g} of them aside."
            )
        if weights is not None and not (weights[held_out].any() and weights[~held_out].any()):
            raise DataError(
                "sample_weight: all rows that were set aside, or all others, have no weight; leave "
                "out rows without weight, or early_stopping."
            )
        return Problem(error_of(~held_out), error_of(held_out))

    def _held_out(self, targets: NDArray[Any], random: np.random.Generator) -> NDArray[np.bool_]:
        """Return which rows are set aside; by class where targets are classes."""
        held_out = np.zeros(len(targets), dtype=bool)
        for group in self._strata(targets):
            count = round(self.validation_fraction * len(group))
            held_out[random.choice(group, size=count, replace=False)] = True
        return held_out

    def _strata(self, targets: NDArray[Any]) -> list[NDArray[np.intp]]:
        return [np.arange(len(targets))]

    def _start(self, problem: Any, random: np.random.Generator) -> _Training:
        layout, dtype = problem.network.layout, problem.inputs.dtype
        if isinstance(self.init, str):
            theta = layout.start(random, self.init, self.activation, dtype)
        else:
            theta = np.array(self.init, dtype=dtype)
            if theta.shape != (layout.n_parameters,):
                raise DataError(
                    f"init: {theta.size} numbers for the {layout.n_parameters} weights and biases "
                    "of the network; give one flat array (parameters_ of a fitted one)."
                )
        theta = problem.extended(theta)
        rule = rule_of(self.solver, self._first_rate(), self.momentum, self.nesterov)
        return _Training(theta, RuleMemory.of(rule, theta), History())

    def _first_rate(self) -> Any:
        if isinstance(self.learning_rate, str):
            return 0.001 if self.solver == "adam" else 0.01
        return self.learning_rate

    def _batch(self, n_rows: int) -> int:
        if self.batch_size == "all":
            return n_rows
        return min(BATCH if self.batch_size == "auto" else int(self.batch_size), n_rows)

    def _passes(
        self, problem: Problem, training: _Training, random: np.random.Generator, max_iter: int
    ) -> Generator[Epoch]:
        for part in (problem.training, problem.unseen):
            if part is not None:
                check_scale(self, part.inputs, getattr(part, "targets", None))
        stopping = Stopping(max_iter, float(self.tol), int(self.n_iter_no_change))
        validation = None if problem.unseen is None else problem.unseen.mean_error
        if self.solver in SEARCHES:
            yield from train_by_search(
                problem.training, training.theta, self.solver, stopping, validation,
                training.history,
            )  # fmt: skip
            return
        try:
            yield from train(
                problem.training,
                training.theta,
                training.memory,
                batch_size=self._batch(problem.training.n_rows),
                stopping=stopping,
                shuffle=random if self.shuffle else None,
                learning_rate=self._first_rate(),
                validation=validation,
                history=training.history,
            )
        except DivergenceError as error:
            part = problem.training
            words = largest_numbers(self, part.inputs, getattr(part, "targets", None))
            raise DivergenceError(f"{error} {words}") from None

    def _fit(self, rows: NDArray[np.floating], targets: NDArray[Any], weights: Any) -> Any:
        """Train on rows of a table."""
        seeds = spawn_seeds(self.random_state, self.n_init + 1)
        checked = check_weights(weights, rows)
        return self._train(self._problem(rows, targets, checked, generator(seeds[-1])), seeds)

    def _train(self, problem: Problem, seeds: Sequence[int]) -> Any:
        """Train `n_init` networks and keep the one with the least error."""
        interrupted = Event()

        def trained(seed: int) -> _Training:
            random = generator(seed)
            part = problem.copy()
            training = self._start(part.training, random)
            passes = self._passes(part, training, random, int(self.max_iter))
            try:
                for _ in self._steps(passes, "epoch", int(self.max_iter)):
                    # Ctrl-C reaches one thread alone.
                    if interrupted.is_set():
                        passes.throw(KeyboardInterrupt())
            except KeyboardInterrupt:
                interrupted.set()
                training.interrupted = True
                # It may have come amid a callback, when the best weights have yet to be put back.
                with suppress(KeyboardInterrupt):
                    passes.throw(KeyboardInterrupt())
                if not may_end_early():
                    raise
            return training

        with announced("verulam.neural"), one_blas_thread():
            threads = 0 if self.n_init > 1 else 1
            starts = iterate_in_threads(trained, seeds[:-1], threads=threads)
            trainings = list(self._steps(starts, "start", int(self.n_init)))
        rows = [self._restart_row(part) for part in trainings]
        best = int(np.argmin([_known(row[2 if self.early_stopping else 1]) for row in rows]))
        self._keep(problem.training.network, trainings[best])
        self.loss_ = rows[best][1]
        if not self.n_iter_:
            # A search may find nothing to do where it starts.
            self.loss_ = problem.training.value_and_gradient(self._training.theta)[0]
        self._restarts = np.array([(*row, place == best) for place, row in enumerate(rows)])
        if interrupted.is_set():
            self._warn_interrupted()
        else:
            self._warn_unfinished(problem.training)
        return self

    def _warn_unfinished(self, error: Any) -> None:
        """Warn of a training that was too short, or whose numbers have no scale to learn from."""
        at_end = self.n_iter_ == self.max_iter
        settled = not (at_end and (self.tol or self.n_iter_no_change < self.max_iter))
        advice = scale_advice(self, error, self.loss_, settled=settled)
        if not settled:
            words = (
                f"Training ended at max_iter={self.max_iter} before the error had settled; raise "
                "max_iter, or tol."
            )
            warn_caller(f"{words} {advice}".rstrip(), ConvergenceWarning)
        elif advice:
            warn_caller(f"The network has hardly learned. {advice}", ConvergenceWarning)

    def _warn_interrupted(self) -> None:
        if not self._training.interrupted:
            words = "Training was interrupted; the weights are those of a start that was over."
            warn_caller(words, DataWarning)
            return
        history = self._training.history
        error = "validation_loss" if self.early_stopping else "loss"
        best = min(history, key=lambda epoch: getattr(epoch, error), default=None)
        rest = (
            "before its first epoch was over; the weights are near where they started."
            if best is None
            else f"in epoch {len(history) + 1}; the weights are the best until then, those of "
            f"epoch {best.number}."
        )
        warn_caller(f"Training was interrupted {rest}", DataWarning)

    def _keep(self, network: Network, training: _Training) -> None:
        self.network_ = network
        # Penalties may have parameters of their own, which come last.
        self.parameters_ = training.theta[: network.layout.n_parameters]
        self._training = training
        self.n_iter_ = len(training.history)
        self.n_layers_ = network.layout.n_layers + 1
        self.n_outputs_ = network.layout.sizes[-1]
        self.loss_ = training.history[-1].loss if self.n_iter_ else np.nan

    def _restart_row(self, training: _Training) -> tuple[int, float, float]:
        """Return the epochs of a start, its error, and the least on unseen rows."""
        history = training.history
        if not len(history):
            return 0, np.nan, np.nan
        if self.early_stopping:
            unseen = min(epoch.validation_loss for epoch in history)
            return len(history), history[-1].loss, unseen
        # What was interrupted has the weights of its best epoch, all else those of the last.
        loss = min(history.losses) if training.interrupted else history[-1].loss
        return len(history), loss, np.nan

    @property
    def history_(self) -> pd.DataFrame:
        """A row for each epoch: error, validation error, learning rate, length of the weights."""
        check_is_fitted(self)
        return self._training.history.to_frame()

    @property
    def restarts_(self) -> pd.DataFrame:
        """A row for each start: epochs, errors, and which was kept."""
        check_is_fitted(self)
        table = pd.DataFrame(self._restarts, columns=["epochs", "loss", "validation_loss", "kept"])
        return table.astype({"epochs": int, "kept": bool})

    def _watched(
        self, rows: NDArray[np.floating], targets: NDArray[Any], weights: Any
    ) -> Iterator[Epoch]:
        """Train on rows of a table, yielding after each epoch."""
        seeds = spawn_seeds(self.random_state, self.n_init + 1)
        checked = check_weights(weights, rows)
        problem = self._problem(rows, targets, checked, generator(seeds[-1]))
        yield from self._watch(problem, generator(seeds[0]))

    def _watch(self, problem: Problem, random: np.random.Generator) -> Iterator[Epoch]:
        """Yield after each epoch of one training; the learner can be used meanwhile."""
        training = self._start(problem.training, random)
        passes = self._passes(problem, training, random, int(self.max_iter))
        try:
            with announced("verulam.neural"), one_blas_thread():
                for epoch in passes:
                    self._keep(problem.training.network, training)
                    yield epoch
        finally:
            passes.close()
            self._keep(problem.training.network, training)

    def _continue(self, rows: NDArray[np.floating], targets: NDArray[Any], weights: Any) -> Any:
        """Train one epoch more on further rows."""
        if self.solver in SEARCHES or self.early_stopping:
            what = "early_stopping" if self.early_stopping else f"solver={self.solver!r}"
            raise DataError(f"partial_fit takes single steps, which {what} does not.")
        network = self._network(rows.shape[1])
        weights = check_weights(weights, rows)
        problem = Problem(self._error(network, rows, targets, weights))
        if not hasattr(self, "_shuffling"):
            self._shuffling = generator(self.random_state)
        if not hasattr(self, "_training"):
            self._training = self._start(problem.training, self._shuffling)
        with announced("verulam.neural"), one_blas_thread():
            for _ in self._passes(problem, self._training, self._shuffling, 1):
                pass
        self._keep(network, self._training)
        return self

    def hidden_outputs(self, X: Any, layer: int = -1) -> NDArray[np.floating]:
        """Return the outputs of the hidden units for each row: the network's own features.

        Parameters
        ----------
        X
            Rows.
        layer
            Hidden layer, counted from 0; -1 is the last.
        """
        check_is_fitted(self)
        n_hidden = self.network_.layout.n_layers - 1
        if not -n_hidden <= layer < n_hidden:
            raise DataError(f"layer: {layer}; the network has {n_hidden} hidden layers.")
        rows = self._read(X, reset=False)
        return self.network_.hidden(self.parameters_, rows, layer % n_hidden)

    def size_report(self) -> pd.DataFrame:
        """Return for each layer its inputs, units, weights and biases."""
        check_is_fitted(self)
        return self.network_.layout.size_report()

    @property
    def coefs_(self) -> list[NDArray[np.floating]]:
        """Weights of each layer, inputs by units."""
        layout = self.network_.layout
        return [layout.weights(self.parameters_, layer) for layer in range(layout.n_layers)]

    @property
    def intercepts_(self) -> list[NDArray[np.floating]]:
        """Biases of each layer."""
        layout = self.network_.layout
        return [layout.biases(self.parameters_, layer) for layer in range(layout.n_layers)]


def _known(error: float) -> float:
    """Return an error to compare, where none is the worst."""
    return np.inf if np.isnan(error) else error

r"""The error of a network with feedback over sequences, by back-propagation through time."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from verulam.neural._network.batches import BatchError
from verulam.neural._network.network import OUTPUTS
from verulam.neural._network.units import batch_errors
from verulam.neural._time.real_time import Sensitivities
from verulam.neural._time.recurrence import Floats, RecurrentNetwork, Steps, Unfolding
from verulam.numerics import RuleMemory

_NO_NUMBERS = np.empty((0, 0))
_NO_CODES = np.empty(0, dtype=np.int64)


@dataclass
class SequenceError(BatchError):
    r"""The error of a network with feedback, a mean over sequences of sums over their steps.

    Attributes
    ----------
    network : RecurrentNetwork
        What is trained.
    inputs
        Steps of all sequences, one sequence after the other.
    starts
        Where each sequence begins, and at the end the number of steps.
    targets
        Numbers to predict at each step, steps by outputs, or codes of classes.
    mask : ndarray of bool, or None
        Steps whose error counts; None for all.
    weights
        Weights of the sequences, or None.
    alpha, decay_biases
        Weight decay, as in `verulam.neural.TrainingError`.
    combine
        Whether the copies of a weight at all steps are changed by the "sum" of their gradients or,
        as in Alpaydin 11.12.2, by their "mean", each sequence by its own number of steps.
    truncate : int or None
        Steps after which errors are not passed back any further: sequences are cut into pieces of
        that many, and states alone cross from one to the next.
    gradient
        "unfolding" passes errors back through all steps; "real-time" carries derivatives forward.
    online
        Whether "real-time" takes a step of the weights at each step of a sequence.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.neural import RecurrentNetwork, SequenceError, recurrent_layout
    >>> network = RecurrentNetwork(recurrent_layout((1, 1, 1), "hidden"), "identity")
    >>> error = SequenceError(network, np.array([[1.0], [0.0]]), [0, 2], np.zeros((2, 1)))
    >>> theta = np.array([1.0, 0.0, 1.0, 0.0, 0.5])  # into and out of the unit, and its feedback
    >>> value, gradient = error.value_and_gradient(theta)
    >>> value, gradient.tolist()
    (0.625, [1.25, 1.75, 1.25, 1.5, 0.5])
    """

    network: RecurrentNetwork
    inputs: Floats
    starts: NDArray[np.int64]
    targets: NDArray[np.generic]
    mask: NDArray[np.bool_] | None = None
    weights: NDArray[np.float64] | None = None
    alpha: float = 0.0
    decay_biases: bool = False
    combine: str = "sum"
    truncate: int | None = None
    gradient: str = "unfolding"
    online: bool = False

    def __post_init__(self) -> None:
        self.starts = np.asarray(self.starts, dtype=np.int64)
        self.lengths = np.diff(self.starts)
        by_class = self.network.output in ("softmax", "binary")
        self.codes = np.asarray(self.targets).astype(np.int64) if by_class else _NO_CODES
        numbers = _NO_NUMBERS if by_class else self.targets
        self.numbers = np.ascontiguousarray(numbers, dtype=self.inputs.dtype)
        self._weigh(len(self.starts) - 1, self.weights)
        shares = self.shares / self.lengths if self.combine == "mean" else self.shares
        self.step_weights = np.repeat(shares, self.lengths)
        if self.mask is not None:
            self.step_weights = self.step_weights * self.mask

    def mean_error(self, theta: Floats) -> float:
        """Return the error over all sequences without its penalty."""
        steps = Steps.of(self.starts[:-1], self.lengths)
        states = self.network.run(theta, self.inputs[steps.rows], steps)
        return self.local_errors(states.sums, steps.rows)[0] / self.mass

    def _step(self, theta: Floats, memory: RuleMemory, batch: NDArray[np.int64]) -> float:
        if self.online:
            return sum(self._run_online(theta, memory, int(place)) for place in batch)
        return super()._step(theta, memory, batch)

    def _batch(self, theta: Floats, batch: NDArray[np.int64]) -> tuple[float, Floats]:
        """Return the summed error of some sequences and its gradient."""
        if self.gradient == "real-time":
            parts = [self._carried_forward(theta, int(place)) for place in batch]
            return sum(part[0] for part in parts), np.sum([part[1] for part in parts], axis=0)
        steps = Steps.of(self.starts[:-1][batch], self.lengths[batch])
        inputs = self.inputs[steps.rows]
        states = self.network.run(theta, inputs, steps)
        total, errors = self.local_errors(states.sums, steps.rows)
        to_hidden, errors = self._pass_back(theta, states, errors, steps)
        return total, self._collect(theta, inputs, states, to_hidden, errors)

    def _carried_forward(self, theta: Floats, place: int) -> tuple[float, Floats]:
        """Return the summed error of one sequence and its gradient, carried forward."""
        total, gradient = 0.0, np.zeros_like(theta)
        state = Sensitivities(self.network, theta.dtype)
        for row in range(self.starts[place], self.starts[place + 1]):
            state.advance(theta, self.inputs[row])
            value, slopes = self.local_errors(state.sums[None], np.array([row]))
            gradient += slopes[0] @ state.by_sums
            total += value
        return total, gradient

    def _run_online(self, theta: Floats, memory: RuleMemory, place: int) -> float:
        """Take a step of the weights at each step of a sequence; return the error on the way.

        The derivatives carried forward are those of weights that have changed since, which is
        harmless while steps are small.
        """
        total, state = 0.0, Sensitivities(self.network, theta.dtype)
        # The penalty of an epoch is spread over its steps.
        decay = self.decay * (self.mass / len(self.inputs))
        for row in range(self.starts[place], self.starts[place + 1]):
            state.advance(theta, self.inputs[row])
            value, slopes = self.local_errors(state.sums[None], np.array([row]))
            total += value
            if self.step_weights[row]:
                memory.step(theta, slopes[0] @ state.by_sums + decay * theta)
        return total

    def local_errors(self, sums: Floats, rows: NDArray[np.int64]) -> tuple[float, Floats]:
        """Return the summed error of steps and its derivatives by the outputs' sums."""
        errors, zeros = np.empty_like(sums), np.zeros(sums.shape[1], dtype=sums.dtype)
        total = batch_errors(
            sums.ravel(), zeros, self.numbers, self.codes, self.step_weights, rows,
            OUTPUTS[self.network.output], errors.ravel(),
        )  # fmt: skip
        return total, errors

    def _pass_back(
        self, theta: Floats, states: Unfolding, errors: Floats, steps: Steps
    ) -> tuple[Floats, Floats]:
        """Return the derivatives by the sums of hidden units and outputs, through all steps."""
        layout, slices = self.network.layout, steps.slices()
        hidden_feedback = layout.feedback_weights(theta, "hidden")
        output_feedback = layout.feedback_weights(theta, "output")
        mixed_feedback = layout.feedback_weights(theta, "output-hidden")
        by_step = output_feedback is not None or mixed_feedback is not None
        slopes = self.network.hidden_slopes(states.hidden)
        weights = np.ascontiguousarray(layout.perceptron.weights(theta, 1).T)
        back = errors @ weights if not by_step else np.empty_like(states.hidden)
        cut = self.truncate or len(slices)
        for number in range(len(slices) - 1, -1, -1):
            now = slices[number]
            # Of the sequences at this step, the first ones go on.
            later = slices[number + 1] if number + 1 < len(slices) else slice(now.stop, now.stop)
            goes_on = slice(now.start, now.start + later.stop - later.start)
            linked = (number + 1) % cut != 0
            if by_step:
                if linked:
                    arriving = np.zeros_like(errors[goes_on])
                    if output_feedback is not None:
                        arriving += errors[later] @ output_feedback.T
                    if mixed_feedback is not None:
                        arriving += back[later] @ mixed_feedback.T
                    errors[goes_on] += self.network.pull_back(states.outputs[goes_on], arriving)
                back[now] = errors[now] @ weights
            if linked and hidden_feedback is not None:
                back[goes_on] += back[later] @ hidden_feedback.T
            back[now] *= slopes[now]
        return back, errors

    def step_norms(self, theta: Floats) -> NDArray[np.float64]:
        """Return by step, from the end, how much of the error of the last ones arrives there.

        Lengths of the derivatives by the sums of the hidden units, where only the last step of each
        sequence has an error; sequences that have not begun yet do not count.
        """
        last = np.zeros(len(self.inputs), dtype=bool)
        last[self.starts[1:] - 1] = True
        error = replace(self, mask=last)
        steps = Steps.of(self.starts[:-1], self.lengths)
        states = self.network.run(theta, self.inputs[steps.rows], steps)
        errors = error.local_errors(states.sums, steps.rows)[1]
        back = error._pass_back(theta, states, errors, steps)[0]
        ends = np.repeat(self.starts[1:] - 1, self.lengths)
        distance = (ends - np.arange(len(ends)))[steps.rows]
        return np.sqrt(np.bincount(distance, (back.astype(np.float64) ** 2).sum(axis=1)))

    def _collect(
        self, theta: Floats, inputs: Floats, states: Unfolding, to_hidden: Floats, errors: Floats
    ) -> Floats:
        """Return the gradient: the changes of all copies of each weight, summed."""
        layout, gradient = self.network.layout, np.empty_like(theta)
        base = layout.perceptron
        np.dot(inputs.T, to_hidden, out=base.weights(gradient, 0))
        # Sums of the columns of a tall matrix are much quicker as a product.
        ones = np.ones(len(errors), dtype=theta.dtype)
        np.dot(ones, to_hidden, out=base.biases(gradient, 0))
        np.dot(states.hidden.T, errors, out=base.weights(gradient, 1))
        np.dot(ones, errors, out=base.biases(gradient, 1))
        for kind, sources, slopes in (
            ("hidden", states.hidden_before, to_hidden),
            ("output", states.outputs_before, errors),
            ("output-hidden", states.outputs_before, to_hidden),
        ):
            slot = layout.feedback_weights(gradient, kind)
            if slot is not None:
                np.dot(sources.T, slopes, out=slot)
        return gradient

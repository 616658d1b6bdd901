"""Networks with feedback: their weights in one flat vector, and what they compute step by step."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from verulam.base import COLLECTION, TEXT, DataError, checked_arguments, unknown_name
from verulam.neural._arguments import WHOLES
from verulam.neural._network.layout import SMALL, Layout, layout_of
from verulam.neural._network.network import unit_outputs
from verulam.numerics import softmax

#: Feedback of figure 11.21: (a) hidden units to themselves, (b) outputs to themselves, (c) outputs
#: to hidden units.
FEEDBACKS = ("hidden", "output", "output-hidden")
#: Hidden units whose slope is a function of their output.
STEP_ACTIVATIONS = ("identity", "logistic", "relu", "tanh")

Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class RecurrentLayout:
    """Places of the weights of a network with one hidden layer and feedback.

    The weights of the perceptron without feedback come first, in the order of
    `verulam.neural.Layout`; those of the feedback follow, sources by targets.

    Attributes
    ----------
    sizes : tuple of int
        Inputs, hidden units, outputs.
    feedback : tuple of str
        Which of "hidden", "output" and "output-hidden" there are.
    """

    sizes: tuple[int, int, int]
    feedback: tuple[str, ...] = ("hidden",)

    @cached_property
    def perceptron(self) -> Layout:
        """The layers without feedback."""
        return layout_of(self.sizes)

    @cached_property
    def _shapes(self) -> dict[str, tuple[int, int]]:
        _, n_hidden, n_outputs = self.sizes
        shapes = {
            "hidden": (n_hidden, n_hidden),
            "output": (n_outputs, n_outputs),
            "output-hidden": (n_outputs, n_hidden),
        }
        return {kind: shapes[kind] for kind in FEEDBACKS if kind in self.feedback}

    @property
    def n_layers(self) -> int:
        """Layers of weights."""
        return self.perceptron.n_layers

    @cached_property
    def n_parameters(self) -> int:
        """Length of the vector."""
        counts = [rows * columns for rows, columns in self._shapes.values()]
        return self.perceptron.n_parameters + sum(counts)

    @cached_property
    def is_weight(self) -> NDArray[np.bool_]:
        """Whether a parameter is a weight and not a bias."""
        weights = np.ones(self.n_parameters, dtype=bool)
        weights[: self.perceptron.n_parameters] = self.perceptron.is_weight
        return weights

    def feedback_weights(self, theta: NDArray[Any], kind: str) -> NDArray[Any] | None:
        """Return a view of the weights of one kind of feedback; None where there is none."""
        place = self.perceptron.n_parameters
        for name, shape in self._shapes.items():
            size = shape[0] * shape[1]
            if name == kind:
                return theta[place : place + size].reshape(shape)
            place += size
        return None

    def start(self, random: np.random.Generator, init: str, activation: str, dtype: Any) -> Floats:
        """Return random parameters to start from, as `Layout.start` does."""
        first = self.perceptron.start(random, init, activation, np.float64)
        parts = []
        for rows, columns in self._shapes.values():
            spread = (2.0 if activation == "logistic" else 6.0) / (rows + columns)
            bound = SMALL if init == "small" else np.sqrt(spread)
            parts.append(random.uniform(-bound, bound, rows * columns))
        return np.concatenate([first, *parts]).astype(dtype)


@checked_arguments(sizes=WHOLES, feedback=TEXT | COLLECTION)
def recurrent_layout(sizes: Sequence[int], feedback: str | Sequence[str]) -> RecurrentLayout:
    """Return the layout of a network with feedback, checked.

    Parameters
    ----------
    sizes
        Inputs, hidden units, outputs.
    feedback
        Kinds of feedback: one of `FEEDBACKS`, or several.
    """
    kinds = (feedback,) if isinstance(feedback, str) else tuple(map(str, feedback))
    for kind in kinds:
        if kind not in FEEDBACKS:
            raise unknown_name("feedback", kind, FEEDBACKS)
    if len(sizes) != 3 or min(sizes) < 1:
        raise DataError(f"sizes: inputs, hidden units and outputs, at least 1 each; got {sizes}.")
    return RecurrentLayout((int(sizes[0]), int(sizes[1]), int(sizes[2])), kinds)


@dataclass(frozen=True, eq=False)
class Steps:
    """Sequences side by side, all their first steps, then all their second steps, and so on.

    Longer sequences stand first, so that those that still run at a step are the first ones of the
    step before, and no place is wasted on sequences that have ended.

    Attributes
    ----------
    rows : ndarray of int
        Where the steps come from: places in the sequences one after the other.
    starts : ndarray of int
        Where each step begins, and at the end how many there are.
    """

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, firsts: NDArray[np.int64], lengths: NDArray[np.int64]) -> "Steps":
        """Return the steps of sequences that begin at some rows and have some lengths."""
        order = np.argsort(-lengths, kind="stable")
        firsts, lengths = firsts[order], lengths[order]
        step = np.arange(lengths[0])[:, None]
        running = step < lengths
        counts = running.sum(axis=1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return cls((firsts + step)[running], starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def slices(self) -> list[slice]:
        """Return where each step stands."""
        return [slice(begin, end) for begin, end in pairwise(self.starts.tolist())]


@dataclass(frozen=True, eq=False)
class Unfolding:
    """What the units of a network gave at all steps, in the order of `Steps`.

    Attributes
    ----------
    hidden, hidden_before
        Outputs of the hidden units, and those of the step before: zero at the first.
    outputs, outputs_before
        The same of the outputs.
    sums
        Weighted sums of the outputs, before their function.
    """

    hidden: Floats
    hidden_before: Floats
    outputs: Floats
    outputs_before: Floats
    sums: Floats


@dataclass(frozen=True, eq=False)
class RecurrentNetwork:
    r"""A perceptron whose hidden units or outputs are fed back with a delay of one step.

    .. math::
        z_t = s(W x_t + U z_{t-1} + F y_{t-1}), \qquad y_t = g(V z_t + S y_{t-1})

    Attributes
    ----------
    layout : RecurrentLayout
        Places of the weights.
    activation
        Function of the hidden units: "tanh", "logistic", "relu" or "identity".
    output
        Function of the outputs: "identity", "softmax", "binary", "logistic" or "tanh".
    """

    layout: RecurrentLayout
    activation: str = "tanh"
    output: str = "identity"

    def run(
        self,
        theta: Floats,
        inputs: Floats,
        steps: Steps,
        past_state: tuple[Floats, Floats] | None = None,
    ) -> Unfolding:
        """Return what all units give, step after step.

        Parameters
        ----------
        theta
            Weights and biases, flat.
        inputs
            Inputs in the order of the steps.
        steps
            Which sequences run at each of them.
        past_state
            Outputs of the hidden units and of the network before the first step; None for zeros.
        """
        layout, slices = self.layout, steps.slices()
        base = layout.perceptron
        to_hidden = layout.feedback_weights(theta, "hidden")
        outputs_to_hidden = layout.feedback_weights(theta, "output-hidden")
        to_outputs = layout.feedback_weights(theta, "output")
        output_weights, output_biases = base.weights(theta, 1), base.biases(theta, 1)
        hidden = inputs @ base.weights(theta, 0)
        hidden += base.biases(theta, 0)
        before = np.zeros_like(hidden)
        sums = np.empty((len(inputs), layout.sizes[2]), dtype=hidden.dtype)
        outputs, outputs_before = np.empty_like(sums), np.zeros_like(sums)
        by_step = outputs_to_hidden is not None or to_outputs is not None
        for number, now in enumerate(slices):
            values = hidden[now]
            if number:
                # The sequences that still run are the first ones of the step before.
                last = slices[number - 1].start
                past = slice(last, last + now.stop - now.start)
                before[now] = hidden[past]
                outputs_before[now] = outputs[past] if by_step else 0.0
            elif past_state is not None:
                before[now], outputs_before[now] = past_state
            if number or past_state is not None:
                if to_hidden is not None:
                    values += before[now] @ to_hidden
                if outputs_to_hidden is not None:
                    values += outputs_before[now] @ outputs_to_hidden
            _activate_in_place(values, self.activation)
            if by_step:
                sums[now] = values @ output_weights + output_biases
                if to_outputs is not None:
                    sums[now] += outputs_before[now] @ to_outputs
                outputs[now] = self.answer(sums[now])
        # Outputs that nothing feeds back are computed for all steps at once.
        if not by_step:
            np.dot(hidden, output_weights, out=sums)
            sums += output_biases
            outputs = self.answer(sums)
        return Unfolding(hidden, before, outputs, outputs_before, sums)

    def answer(self, sums: Floats) -> Floats:
        """Return the outputs for their weighted sums."""
        if self.output == "softmax":
            return softmax(sums, axis=1)
        if self.output == "binary":
            return expit(sums)
        return unit_outputs(sums, self.output)

    def pull_back(self, outputs: Floats, slopes: Floats) -> Floats:
        """Return derivatives by the outputs' sums, from those by the outputs."""
        if self.output == "softmax":
            return outputs * (slopes - (slopes * outputs).sum(axis=1, keepdims=True))
        if self.output in ("binary", "logistic"):
            return slopes * outputs * (1.0 - outputs)
        if self.output == "tanh":
            return slopes * (1.0 - outputs * outputs)
        return slopes

    def hidden_slopes(self, hidden: Floats) -> Floats:
        """Return the slopes of the hidden units where they give some outputs."""
        if self.activation == "tanh":
            return 1.0 - hidden * hidden
        if self.activation == "logistic":
            return hidden * (1.0 - hidden)
        if self.activation == "relu":
            return (hidden > 0.0).astype(hidden.dtype)
        return np.ones_like(hidden)


def _activate_in_place(values: Floats, activation: str) -> None:
    if activation == "tanh":
        np.tanh(values, out=values)
    elif activation != "identity":
        values[:] = unit_outputs(values, activation)

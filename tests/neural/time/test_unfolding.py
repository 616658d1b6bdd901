"""Back-propagation through time against differences, carried derivatives and plain perceptrons."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest

from verulam.base import DataError, UnknownNameError
from verulam.neural import (
    Network,
    RecurrentLayout,
    RecurrentNetwork,
    Sensitivities,
    SequenceError,
    TrainingError,
    layout_of,
    recurrent_layout,
)
from verulam.neural._time.recurrence import FEEDBACKS, STEP_ACTIVATIONS, Steps
from verulam.numerics import Adam, GradientDescent, RuleMemory

RANDOM = np.random.default_rng(0)
LENGTHS = np.array([4, 7, 1, 5])
STARTS = np.concatenate([[0], np.cumsum(LENGTHS)])
INPUTS = RANDOM.normal(size=(17, 3))
NUMBERS = RANDOM.uniform(0.1, 0.9, size=(17, 2))
CODES = np.arange(17) % 3
KINDS = [kinds for count in range(4) for kinds in combinations(FEEDBACKS, count)]
FULL = tuple(FEEDBACKS)


def problem(feedback=("hidden",), activation="tanh", output="identity", **options):
    n_outputs = {"binary": 1, "softmax": 3}.get(output, 2)
    targets = {"binary": CODES % 2, "softmax": CODES}.get(output, NUMBERS)
    network = RecurrentNetwork(recurrent_layout((3, 4, n_outputs), feedback), activation, output)
    return SequenceError(network, INPUTS, STARTS, targets, **options)


def start_of(error):
    layout = error.network.layout
    return layout.start(np.random.default_rng(5), "glorot", "tanh", np.float64)


def differences(error, theta, step=1e-6):
    ends = [
        [error.value_and_gradient(theta + sign * step * unit)[0] for sign in (1, -1)]
        for unit in np.eye(len(theta))
    ]
    return np.array([(up - down) / (2 * step) for up, down in ends])


class TestGradient:
    @pytest.mark.parametrize("feedback", KINDS, ids="+".join)
    @pytest.mark.parametrize("output", ["identity", "softmax", "binary", "tanh", "logistic"])
    def test_every_feedback_with_every_output(self, output, feedback):
        error = problem(
            feedback, output=output, alpha=0.3, combine="mean", mask=np.arange(17) % 4 != 1,
            weights=np.array([1.0, 2.0, 0.5, 1.0]),
        )  # fmt: skip
        theta = start_of(error)
        gradient = error.value_and_gradient(theta)[1]
        np.testing.assert_allclose(gradient, differences(error, theta), atol=1e-6)

    @pytest.mark.parametrize("activation", STEP_ACTIVATIONS)
    def test_every_unit(self, activation):
        error = problem(FULL, activation, "softmax")
        theta = start_of(error)
        gradient = error.value_and_gradient(theta)[1]
        np.testing.assert_allclose(gradient, differences(error, theta), atol=1e-6)

    @pytest.mark.parametrize("feedback", KINDS, ids="+".join)
    @pytest.mark.parametrize("output", ["identity", "softmax", "binary"])
    def test_derivatives_carried_forward_are_the_same(self, output, feedback):
        error = problem(feedback, output=output, alpha=0.2, mask=np.arange(17) % 5 != 2)
        theta = start_of(error)
        value, gradient = error.value_and_gradient(theta)
        carried_value, carried = replace(error, gradient="real-time").value_and_gradient(theta)
        assert carried_value == pytest.approx(value, rel=1e-13)
        np.testing.assert_allclose(carried, gradient, rtol=1e-11, atol=1e-11)

    def test_derivatives_of_each_step_are_differences_of_its_outputs(self):
        error = problem(FULL, "logistic", "softmax")
        theta, network = start_of(error), error.network
        state = Sensitivities(network, theta.dtype)
        for count in range(1, 5):
            state.advance(theta, INPUTS[count - 1])
            steps = Steps.of(np.array([0]), np.array([count]))
            for place in (0, 13, 20, 35, 50, 60):
                ends = []
                for sign in (1, -1):
                    moved = theta.copy()
                    moved[place] += sign * 1e-6
                    ends.append(network.run(moved, INPUTS[:count], steps))
                slopes = (ends[0].outputs[-1] - ends[1].outputs[-1]) / 2e-6
                np.testing.assert_allclose(state.by_outputs[:, place], slopes, atol=1e-8)
                slopes = (ends[0].hidden[-1] - ends[1].hidden[-1]) / 2e-6
                np.testing.assert_allclose(state.by_hidden[:, place], slopes, atol=1e-8)

    def test_without_feedback_it_is_a_perceptron(self):
        error = problem((), output="softmax")
        theta = start_of(error)
        peer = TrainingError(Network(layout_of((3, 4, 3)), "tanh", "softmax"), INPUTS, CODES)
        value, gradient = error.value_and_gradient(theta)
        peer_value, peer_gradient = peer.value_and_gradient(theta)
        # A mean over 4 sequences here, over 17 rows there.
        assert value == pytest.approx(peer_value * 17 / 4, abs=1e-13)
        np.testing.assert_allclose(gradient, peer_gradient * 17 / 4, atol=1e-13)

    def test_zero_feedback_is_a_perceptron(self):
        error = problem(FULL, output="softmax")
        theta = start_of(error)
        n_plain = error.network.layout.perceptron.n_parameters
        theta[n_plain:] = 0.0
        plain = problem((), output="softmax").value_and_gradient(theta[:n_plain])
        assert error.value_and_gradient(theta)[0] == pytest.approx(plain[0], abs=1e-14)

    def test_copies_are_averaged_or_summed(self):
        """Alpaydin 11.12.2: weights change by the average of the changes of their copies."""
        lengths = np.array([0, 5, 10, 15])
        network = problem().network
        options = (network, INPUTS[:15], lengths, NUMBERS[:15])
        theta = start_of(problem())
        total = SequenceError(*options, combine="sum").value_and_gradient(theta)[1]
        mean = SequenceError(*options, combine="mean").value_and_gradient(theta)[1]
        np.testing.assert_allclose(mean, total / 5, atol=1e-15)

    def test_only_steps_that_count_add_to_the_error(self):
        mask = np.arange(17) % 4 != 1
        error = problem(FULL, mask=mask)
        theta = start_of(error)
        steps = Steps.of(STARTS[:-1], LENGTHS)
        states = error.network.run(theta, INPUTS[steps.rows], steps)
        outputs = states.outputs[np.argsort(steps.rows)]
        squares = 0.5 * ((outputs - NUMBERS) ** 2).sum(axis=1)
        expected = squares[mask].sum() / 4
        assert error.value_and_gradient(theta)[0] == pytest.approx(expected, rel=1e-12)
        assert error.mean_error(theta) == pytest.approx(expected, rel=1e-12)
        assert expected < 0.95 * squares.sum() / 4

    def test_weights_of_sequences_are_repeats(self):
        theta = start_of(problem())
        weighted = problem(weights=np.array([2.0, 0.0, 1.0, 1.0]))
        order = np.r_[0:4, 0:4, 11:12, 12:17]
        repeated = SequenceError(weighted.network, INPUTS[order], [0, 4, 8, 9, 14], NUMBERS[order])
        for one, other in zip(
            weighted.value_and_gradient(theta), repeated.value_and_gradient(theta), strict=True
        ):
            np.testing.assert_allclose(one, other, atol=1e-13)


class TestTruncation:
    @pytest.mark.parametrize("feedback", [("hidden",), FULL], ids="+".join)
    def test_long_pieces_change_nothing(self, feedback):
        theta = start_of(problem(feedback))
        whole = problem(feedback).value_and_gradient(theta)[1]
        cut = problem(feedback, truncate=7).value_and_gradient(theta)[1]
        np.testing.assert_array_equal(cut, whole)

    @pytest.mark.parametrize("feedback", [("hidden",), FULL], ids="+".join)
    def test_states_cross_pieces_and_errors_do_not(self, feedback):
        """Pieces of two steps, each differentiated alone from the state that it starts with."""
        theta = start_of(problem(feedback))
        network = problem(feedback).network
        error = SequenceError(network, INPUTS[:6], [0, 6], NUMBERS[:6], truncate=2)
        states = network.run(theta, INPUTS[:6], Steps.of(np.array([0]), np.array([6])))
        expected = np.zeros_like(theta)
        for begin in (0, 2, 4):
            expected += _differences_from(
                network, theta, INPUTS[begin : begin + 2], NUMBERS[begin : begin + 2],
                states.hidden_before[begin], states.outputs_before[begin],
            )  # fmt: skip
        np.testing.assert_allclose(error.value_and_gradient(theta)[1], expected, atol=1e-7)


def _differences_from(network, theta, inputs, targets, hidden, outputs, step=1e-6):
    """Return the slopes of the error of some steps that start from given states."""
    layout = network.layout
    base = layout.perceptron

    def value(point):
        z, y, total = hidden, outputs, 0.0
        parts = {kind: layout.feedback_weights(point, kind) for kind in FEEDBACKS}
        for row, target in zip(inputs, targets, strict=True):
            sums = row @ base.weights(point, 0) + base.biases(point, 0)
            answer = base.biases(point, 1).copy()
            if parts["hidden"] is not None:
                sums = sums + z @ parts["hidden"]
            if parts["output-hidden"] is not None:
                sums = sums + y @ parts["output-hidden"]
            if parts["output"] is not None:
                answer += y @ parts["output"]
            z = np.tanh(sums)
            y = answer + z @ base.weights(point, 1)
            total += 0.5 * ((y - target) ** 2).sum()
        return total

    units = np.eye(len(theta)) * step
    return np.array([(value(theta + u) - value(theta - u)) / (2 * step) for u in units])


class TestUnfoldedNetwork:
    def test_four_copies_give_the_same_outputs(self):
        """Alpaydin fig. 11.22: the unfolded network behaves identically in four steps."""
        network = problem(("hidden",)).network
        theta, layout = start_of(problem(("hidden",))), network.layout
        states = network.run(theta, INPUTS[:4], Steps.of(np.array([0]), np.array([4])))
        weights, feedback = (
            layout.perceptron.weights(theta, 0),
            layout.feedback_weights(theta, "hidden"),
        )
        biases = layout.perceptron.biases(theta, 0)
        first = np.tanh(INPUTS[0] @ weights + biases)
        second = np.tanh(INPUTS[1] @ weights + first @ feedback + biases)
        third = np.tanh(INPUTS[2] @ weights + second @ feedback + biases)
        fourth = np.tanh(INPUTS[3] @ weights + third @ feedback + biases)
        np.testing.assert_allclose(states.hidden, [first, second, third, fourth], atol=1e-14)
        answer = fourth @ layout.perceptron.weights(theta, 1) + layout.perceptron.biases(theta, 1)
        np.testing.assert_allclose(states.outputs[3], answer, atol=1e-14)

    def test_sequences_side_by_side_are_sequences_alone(self):
        error = problem(FULL, output="softmax")
        network, theta = error.network, start_of(error)
        steps = Steps.of(STARTS[:-1], LENGTHS)
        assert steps.starts.tolist() == [0, 4, 7, 10, 13, 15, 16, 17]
        together = network.run(theta, INPUTS[steps.rows], steps)
        back = np.argsort(steps.rows)
        for begin, end in pairwise(STARTS):
            alone = network.run(
                theta, INPUTS[begin:end], Steps.of(np.array([0]), np.array([end - begin]))
            )
            np.testing.assert_allclose(together.outputs[back][begin:end], alone.outputs, atol=1e-14)

    def test_places_of_the_weights(self):
        layout = recurrent_layout((3, 4, 2), FULL)
        assert isinstance(layout, RecurrentLayout)
        assert layout.n_parameters == 3 * 4 + 4 + 4 * 2 + 2 + 4 * 4 + 2 * 2 + 2 * 4
        assert layout.is_weight.sum() == layout.n_parameters - 6
        numbers = np.arange(layout.n_parameters)
        ends = [layout.feedback_weights(numbers, kind) for kind in FEEDBACKS]
        assert [part.ravel()[0] for part in ends] == [26, 42, 46]
        assert recurrent_layout((3, 4, 2), "output").feedback_weights(numbers, "hidden") is None
        with pytest.raises(UnknownNameError, match="feedback"):
            recurrent_layout((3, 4, 2), "input")
        with pytest.raises(DataError, match="at least 1 each"):
            recurrent_layout((3, 0, 2), "hidden")


class TestSteps:
    def test_batches_follow_the_mean_gradient(self):
        error = problem(output="softmax", alpha=0.1)
        theta = start_of(error)
        moved, memory = theta.copy(), RuleMemory.of(GradientDescent(0.5), theta)
        error.run_epoch(moved, memory, np.arange(4), 4)
        gradient = error.value_and_gradient(theta)[1]
        np.testing.assert_allclose(moved, theta - 0.5 * gradient, atol=1e-14)

    def test_tiny_steps_online_sum_up_to_the_gradient(self):
        error = problem(FULL, alpha=0.2)
        online = replace(error, gradient="real-time", online=True)
        theta = start_of(error)
        rate, moved = 1e-7, theta.copy()
        online.run_epoch(moved, RuleMemory.of(GradientDescent(rate), moved), np.arange(4), 1)
        gradient = error.value_and_gradient(theta)[1] * error.mass
        np.testing.assert_allclose((theta - moved) / rate, gradient, rtol=1e-3, atol=1e-4)

    def test_sequences_of_weight_zero_move_nothing(self):
        error = problem(weights=np.array([0.0, 1.0, 1.0, 1.0]))
        theta = start_of(error)
        moved = theta.copy()
        error.run_epoch(moved, RuleMemory.of(Adam(0.1), moved), np.array([0, 0, 0, 0]), 4)
        np.testing.assert_array_equal(moved, theta)

    def test_single_precision(self):
        error = problem(FULL, output="softmax")
        theta = start_of(error)
        single = replace(error, inputs=INPUTS.astype(np.float32))
        value, gradient = single.value_and_gradient(theta.astype(np.float32))
        assert gradient.dtype == np.float32
        expected_value, expected = error.value_and_gradient(theta)
        assert value == pytest.approx(expected_value, rel=1e-5)
        np.testing.assert_allclose(gradient, expected, atol=1e-5)


def test_steps_of_sequences_side_by_side_go_forward_in_time():
    steps = Steps.of(np.array([0, 2, 6]), np.array([2, 4, 1]))
    # The longest sequence stands first: rows 2, 3, 4, 5, beside 0, 1 and 6.
    assert steps.rows.tolist() == [2, 0, 6, 3, 1, 4, 5]
    assert steps.starts.tolist() == [0, 3, 5, 6, 7]

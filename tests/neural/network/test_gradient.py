"""Outputs, errors and gradients of networks against numbers, differences and plain NumPy."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax

from verulam.base import UnknownNameError
from verulam.neural import Network, TrainingError, activate, layout_of, mean_error
from verulam.neural._network.exponential_loops import take_exponentials
from verulam.neural._network.gradient_loops import activate_units
from verulam.neural._network.network import ACTIVATIONS, OUTPUTS
from verulam.neural._network.units import activate_batch, batch_errors
from verulam.numerics import Adam, GradientDescent, RuleMemory

RANDOM = np.random.default_rng(3)
ROWS = RANDOM.normal(size=(9, 3))
WEIGHTS = RANDOM.uniform(0.2, 2.0, size=9)
NUMBERS = RANDOM.uniform(0.1, 0.9, size=(9, 2))
CODES = np.arange(9) % 3


def problem(
    activation="tanh", output="identity", hidden=(4,), *, weights=None, rows=ROWS, **options
):
    n_outputs = {"binary": 1, "softmax": 3}.get(output, 2)
    decay = {name: options.pop(name) for name in ("alpha", "decay_biases") if name in options}
    gain = options.pop("gain", 1.0)
    layout = layout_of((3, *hidden, n_outputs), **options)
    network = Network(layout, activation, output, gain)
    targets = {"binary": CODES % 2, "softmax": CODES}.get(output, NUMBERS)
    return TrainingError(network, rows, targets[: len(rows)], weights, **decay)


def start_of(error, scale=1.0):
    theta = error.network.layout.start(np.random.default_rng(5), "glorot", "tanh", np.float64)
    return scale * theta


def differences(error, theta, step=1e-6):
    slopes = np.empty_like(theta)
    for place in range(len(theta)):
        ends = []
        for sign in (1, -1):
            moved = theta.copy()
            moved[place] += sign * step
            ends.append(error.value_and_gradient(moved)[0])
        slopes[place] = (ends[0] - ends[1]) / (2 * step)
    return slopes


class TestGradient:
    @pytest.mark.parametrize("output", OUTPUTS)
    @pytest.mark.parametrize("activation", ACTIVATIONS)
    def test_every_unit_with_every_output(self, activation, output):
        error = problem(activation, output, skip=True, weights=WEIGHTS, alpha=0.3, gain=1.7)
        theta = start_of(error)
        np.testing.assert_allclose(
            error.value_and_gradient(theta)[1], differences(error, theta), atol=1e-6
        )

    @pytest.mark.parametrize("hidden", [(4,), (3, 4), (4, 3, 2), (2, 3, 3, 2)])
    def test_every_depth(self, hidden):
        error = problem("logistic", "softmax", hidden, alpha=0.1, decay_biases=True)
        theta = start_of(error, 2.0)
        np.testing.assert_allclose(
            error.value_and_gradient(theta)[1], differences(error, theta), atol=1e-6
        )

    def test_the_value_is_the_mean_error_with_its_penalty(self):
        for output in OUTPUTS:
            error = problem("gaussian", output, weights=WEIGHTS, alpha=0.5)
            theta = start_of(error)
            network = error.network
            plain = mean_error(network, theta, ROWS, error.targets, WEIGHTS)
            penalty = 0.25 * (theta[network.layout.is_weight] ** 2).sum() / WEIGHTS.sum()
            assert error.value_and_gradient(theta)[0] == pytest.approx(plain + penalty, abs=1e-13)

    def test_weights_are_repeated_rows(self):
        counts = np.array([1, 0, 2, 3, 1, 0, 1, 2, 1])
        error = problem("tanh", "softmax", weights=counts.astype(float))
        repeated = TrainingError(
            error.network, np.repeat(ROWS, counts, axis=0), np.repeat(CODES, counts)
        )
        theta = start_of(error)
        for one, other in zip(
            error.value_and_gradient(theta), repeated.value_and_gradient(theta), strict=True
        ):
            np.testing.assert_allclose(one, other, atol=1e-14)

    def test_large_sums_do_not_overflow(self):
        for output in ("binary", "softmax"):
            error = problem("identity", output, rows=1e4 * ROWS)
            value, gradient = error.value_and_gradient(start_of(error, 100.0))
            assert np.isfinite([value, *gradient]).all()

    def test_absent_weights_have_none_and_tied_ones_their_mean(self):
        free = problem("tanh", "identity")
        mask = np.ones((3, 4), dtype=bool)
        mask[1, 2] = mask[0, 0] = False
        labels = np.full((4, 2), -1)
        labels[0, 0] = labels[2, 1] = labels[3, 1] = 7
        error = problem("tanh", "identity", masks=[mask, None], tied=[None, labels])
        theta = start_of(error)
        gradient, layout = error.value_and_gradient(theta)[1], error.network.layout
        plain = free.value_and_gradient(theta)[1]
        assert (layout.weights(gradient, 0)[~mask] == 0).all()
        np.testing.assert_allclose(
            layout.weights(gradient, 0)[mask], layout.weights(plain, 0)[mask], atol=1e-15
        )
        tied = labels >= 0
        np.testing.assert_allclose(
            layout.weights(gradient, 1)[tied], layout.weights(plain, 1)[tied].mean(), atol=1e-15
        )
        np.testing.assert_allclose(
            layout.weights(gradient, 1)[~tied], layout.weights(plain, 1)[~tied], atol=1e-15
        )

    def test_tied_weights_may_follow_the_sum(self):
        labels = np.full((4, 2), -1)
        labels[0, 0] = labels[2, 1] = labels[3, 1] = 7
        mean = problem("tanh", "identity", tied=[None, labels])
        total = problem("tanh", "identity", tied=[None, labels], combine="sum")
        theta, layout = start_of(mean), mean.network.layout
        one, other = (error.value_and_gradient(theta)[1] for error in (mean, total))
        tied = labels >= 0
        np.testing.assert_allclose(
            layout.weights(other, 1)[tied], 3 * layout.weights(one, 1)[tied], atol=1e-15
        )
        np.testing.assert_array_equal(
            layout.weights(one, 1)[~tied], layout.weights(other, 1)[~tied]
        )
        # The sum is the slope of the error by the one number that they share.
        ends = []
        for sign in (1, -1):
            moved = theta.copy()
            layout.weights(moved, 1)[tied] += sign * 1e-6
            ends.append(total.value_and_gradient(moved)[0])
        slope = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(layout.weights(other, 1)[tied], slope, atol=1e-8)
        with pytest.raises(UnknownNameError, match="combine"):
            layout_of((1, 1), combine="product")


class TestForwardPass:
    def test_linear_units_collapse_to_one_layer(self):
        error = problem("identity", "identity", (4, 5))
        network, theta = error.network, start_of(error)
        layout = network.layout
        weights = np.linalg.multi_dot([layout.weights(theta, layer) for layer in range(3)])
        bias = network.outputs(theta, np.zeros((1, 3)))
        np.testing.assert_allclose(network.outputs(theta, ROWS), ROWS @ weights + bias, atol=1e-14)

    def test_tanh_is_a_logistic_unit_of_other_scales(self):
        """tanh(a) = 2 s(2a) - 1, so that the outer weights double and the biases move."""
        error = problem("tanh", "identity")
        layout, theta = error.network.layout, start_of(error)
        other = theta.copy()
        layout.weights(other, 1)[:] *= 2
        layout.biases(other, 1)[:] -= layout.weights(theta, 1).sum(axis=0)
        logistic = Network(layout, "logistic", "identity", gain=2.0)
        np.testing.assert_allclose(
            logistic.outputs(other, ROWS), error.network.outputs(theta, ROWS), atol=1e-14
        )

    def test_threshold_units_compute_exclusive_or(self):
        """Alpaydin fig. 11.7: z1 = x1 and not x2, z2 = x2 and not x1, y = z1 or z2."""
        layout = layout_of((2, 2, 1))
        theta = np.zeros(layout.n_parameters)
        layout.weights(theta, 0)[:] = [[1, -1], [-1, 1]]
        layout.biases(theta, 0)[:] = -0.5
        layout.weights(theta, 1)[:] = 1
        layout.biases(theta, 1)[:] = -0.5
        rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
        network = Network(layout, "threshold", "identity")
        np.testing.assert_array_equal(
            activate(network.outputs(theta, rows), "threshold")[:, 0], [0, 1, 1, 0]
        )
        np.testing.assert_array_equal(
            network.hidden(theta, rows, 0), [[0, 0], [0, 1], [1, 0], [0, 0]]
        )

    @pytest.mark.parametrize(
        ("activation", "values"),
        [
            ("identity", [-1.5, 0.0, 2.0]),
            ("logistic", [1 / (1 + np.exp(3.0)), 0.5, 1 / (1 + np.exp(-4.0))]),
            ("tanh", np.tanh([-1.5, 0.0, 2.0])),
            ("relu", [0.0, 0.0, 2.0]),
            ("gaussian", [np.exp(-1.125), 1.0, np.exp(-2.0)]),
            ("threshold", [0.0, 0.0, 1.0]),
        ],
    )
    def test_units(self, activation, values):
        np.testing.assert_allclose(
            activate(np.array([-1.5, 0.0, 2.0]), activation, gain=2.0), values, rtol=1e-15
        )

    def test_outputs(self):
        for output in OUTPUTS:
            error = problem("tanh", output, skip=True)
            layout, theta = error.network.layout, start_of(error)
            hidden = np.tanh(ROWS @ layout.weights(theta, 0) + layout.biases(theta, 0))
            sums = hidden @ layout.weights(theta, 1) + layout.biases(theta, 1)
            sums = sums + ROWS @ layout.skip_weights(theta)
            powers = np.exp(sums)
            expected = {
                "identity": sums,
                "binary": expit(sums),
                "logistic": expit(sums),
                "tanh": np.tanh(sums),
                "softmax": powers / powers.sum(axis=1, keepdims=True),
            }[output]
            np.testing.assert_allclose(error.network.outputs(theta, ROWS), expected, atol=1e-14)


class TestSteps:
    def test_worked_example(self):
        """Course notes, unit IV: x = (1, 0, 1), target 1, rate 0.9; exact values of the spec."""
        layout = layout_of((3, 2, 1))
        theta = np.zeros(layout.n_parameters)
        layout.weights(theta, 0)[:] = [[0.2, -0.3], [0.4, 0.1], [-0.5, 0.2]]
        layout.biases(theta, 0)[:] = [-0.4, 0.2]
        layout.weights(theta, 1)[:] = [[-0.3], [-0.2]]
        layout.biases(theta, 1)[:] = 0.1
        rows = np.array([[1.0, 0.0, 1.0]])
        network = Network(layout, "logistic", "logistic")
        np.testing.assert_allclose(
            network.hidden(theta, rows, 0), [[0.331812, 0.524979]], atol=1e-6
        )
        np.testing.assert_allclose(network.outputs(theta, rows), [[0.473889]], atol=1e-6)
        error = TrainingError(network, rows, np.array([[1.0]]))
        memory = RuleMemory.of(GradientDescent(0.9), theta)
        error.run_epoch(theta, memory, np.arange(1), 1)
        np.testing.assert_allclose(
            layout.weights(theta, 0),
            [[0.192148, -0.305888], [0.4, 0.1], [-0.507852, 0.194112]],
            atol=1e-6,
        )
        np.testing.assert_allclose(layout.biases(theta, 0), [-0.407852, 0.194112], atol=1e-6)
        np.testing.assert_allclose(
            layout.weights(theta, 1)[:, 0], [-0.260829, -0.138025], atol=1e-6
        )
        np.testing.assert_allclose(layout.biases(theta, 1), [0.218052], atol=1e-6)
        np.testing.assert_allclose(network.outputs(theta, rows), [[0.515248]], atol=1e-6)

    def test_a_batch_step_is_the_mean_of_the_steps_of_its_rows(self):
        error = problem("logistic", "softmax", alpha=0.0)
        theta = start_of(error)
        steps = []
        for row in range(len(ROWS)):
            single = TrainingError(error.network, ROWS[row : row + 1], CODES[row : row + 1])
            steps.append(single.value_and_gradient(theta)[1])
        moved, memory = theta.copy(), RuleMemory.of(GradientDescent(0.5), theta)
        error.run_epoch(moved, memory, np.arange(len(ROWS)), len(ROWS))
        np.testing.assert_allclose(moved - theta, -0.5 * np.mean(steps, axis=0), atol=1e-15)

    # Layers narrow, wide, and behind more than four units; a decay that takes all, and more.
    @pytest.mark.parametrize(
        ("hidden", "alpha"), [((4, 3), 0.4), ((20, 17), 0.4), ((3, 7), 30.0), ((6,), 40.0)]
    )
    @pytest.mark.parametrize("momentum", [0.0, 0.8])
    @pytest.mark.parametrize("output", OUTPUTS)
    def test_single_rows_without_a_stored_gradient(self, output, momentum, hidden, alpha):
        """The loop for online learning does what steps of one row do."""
        error = problem("gaussian", output, hidden, alpha=alpha, decay_biases=True)
        order = np.random.default_rng(0).permutation(len(ROWS))
        fused, stepped = start_of(error), start_of(error)
        memory = RuleMemory.of(GradientDescent(0.3, momentum), fused)
        loss = error.run_epoch(fused, memory, order, 1)
        memory = RuleMemory.of(GradientDescent(0.3, momentum), stepped)
        total = sum(
            error._step(stepped, memory, order[place : place + 1], []) for place in range(9)
        )
        np.testing.assert_allclose(fused, stepped, atol=1e-13)
        assert loss == pytest.approx(total / 9 + error._penalty(stepped), rel=1e-11, abs=1e-13)

    @pytest.mark.parametrize("batch_size", [1, 9])
    def test_weights_shrink_by_a_share_where_the_error_is_flat(self, batch_size):
        """Alpaydin 11.32: each step takes away the rate times alpha/N of every weight."""
        network = Network(layout_of((3, 2, 1)), "identity", "identity")
        theta = np.zeros(network.layout.n_parameters)
        network.layout.weights(theta, 0)[:] = 2.0
        error = TrainingError(network, ROWS, np.zeros((9, 1)), alpha=0.9)
        memory = RuleMemory.of(GradientDescent(0.5), theta)
        error.run_epoch(theta, memory, np.arange(9), batch_size)
        steps = 9 // batch_size
        np.testing.assert_allclose(
            network.layout.weights(theta, 0), 2.0 * (1 - 0.5 * 0.9 / 9) ** steps, rtol=1e-14
        )

    def test_rows_of_weight_zero_move_nothing(self):
        error = problem("tanh", "identity", weights=np.array([0.0] * 4 + [1.0] * 5))
        theta = start_of(error)
        memory = RuleMemory.of(Adam(0.1), theta)
        assert error._step(theta, memory, np.arange(4), []) == 0.0
        np.testing.assert_array_equal(theta, start_of(error))

    @pytest.mark.parametrize("batch_size", [1, 4])
    def test_absent_and_tied_weights_stay_so(self, batch_size):
        mask = np.arange(12).reshape(3, 4) % 3 > 0
        tied = np.where(np.arange(12).reshape(4, 3) % 2, 0, -1)
        error = problem("tanh", "softmax", (4,), masks=[mask, None], tied=[None, tied])
        theta, layout = start_of(error), error.network.layout
        memory = RuleMemory.of(GradientDescent(0.1, 0.9), theta)
        for _ in range(20):
            error.run_epoch(theta, memory, np.arange(9), batch_size)
        assert (layout.weights(theta, 0)[~mask] == 0.0).all()
        assert np.ptp(layout.weights(theta, 1)[tied == 0]) < 1e-15
        assert np.ptp(layout.weights(theta, 1)[tied < 0]) > 0.01

    def test_single_precision(self):
        exact, rough = problem("tanh", "softmax"), problem("tanh", "softmax", rows=ROWS.astype("f"))
        theta = start_of(exact)
        value, gradient = rough.value_and_gradient(theta.astype("f"))
        assert gradient.dtype == np.float32
        assert value == pytest.approx(exact.value_and_gradient(theta)[0], rel=1e-5)
        np.testing.assert_allclose(gradient, exact.value_and_gradient(theta)[1], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("activation", list(ACTIVATIONS.values()))
def test_units_of_a_batch_are_those_of_the_compiled_loop(activation, dtype):
    sums = np.array([-1e30, -200.0, -3.0, -1e-9, 0.0, 0.5, 2.0, 90.0, 200.0, 1e30], dtype)
    bias = np.array([0.25, -1.0], dtype)
    ours, theirs = sums.copy(), sums.copy()
    slopes, others = np.zeros_like(sums), np.zeros_like(sums)
    with np.errstate(all="raise", under="ignore"):
        activate_batch(ours, slopes, bias, activation, 1.5)
    activate_units(theirs, others, bias, activation, 1.5)
    np.testing.assert_allclose(ours, theirs, rtol=4 * np.finfo(dtype).eps, atol=1e-30)
    np.testing.assert_array_equal(slopes, others)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_softmax_errors_are_those_of_scipy(dtype):
    random = np.random.default_rng(0)
    sums, bias = (300 * random.normal(size=(10, 3))).astype(dtype), np.array([1, -2, 0.5], dtype)
    codes, weights, rows = np.arange(12) % 3, random.uniform(size=12), np.arange(1, 11)
    errors, few_bits = np.empty(30, dtype), 10 * float(np.finfo(dtype).eps)
    none = np.empty((0, 0), dtype)
    loss = batch_errors(
        sums.ravel().copy(), bias, none, codes, weights, rows, OUTPUTS["softmax"], errors
    )
    logarithms = log_softmax((sums + bias).astype(np.float64), axis=1)
    own = np.arange(10), codes[rows]
    assert loss == pytest.approx(-weights[rows] @ logarithms[own], rel=few_bits)
    slopes = np.exp(logarithms)
    slopes[own] -= 1.0
    np.testing.assert_allclose(errors.reshape(10, 3), weights[rows, None] * slopes, atol=few_bits)


def test_the_exponential_of_loops_is_the_library_s_to_the_last_digits():
    near, far = np.linspace(-1.0, 1.0, 2001), np.linspace(-708.0, 709.0, 20_001)
    for exponents in (near, far):
        ours = exponents.copy()
        take_exponentials(ours)
        np.testing.assert_allclose(ours, np.exp(exponents), rtol=4e-16)
    ends = np.array([0.0, -1e300, -np.inf, np.inf, np.nan])
    take_exponentials(ends)
    np.testing.assert_array_equal(ends[:3], [1.0, 0.0, 0.0])
    assert np.isfinite(ends[3])
    assert np.isnan(ends[4])

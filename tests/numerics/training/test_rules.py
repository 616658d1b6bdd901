"""Rules of a training step, against their formulas in plain NumPy."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.numerics import (
    Adam,
    AdaptiveRate,
    GradientDescent,
    RuleMemory,
    constant,
    inverse,
    rule_of,
    take_step,
)

START = np.array([1.0, -2.0, 0.5])


def stepped(rule, gradients, dtype=np.float64):
    theta = START.astype(dtype)
    memory = RuleMemory.of(rule, theta)
    for gradient in gradients:
        memory.step(theta, np.asarray(gradient, dtype=dtype))
    return theta, memory


@pytest.fixture
def gradients():
    return np.random.default_rng(0).normal(size=(7, 3))


class TestDescent:
    def test_plain(self, gradients):
        theta, _ = stepped(GradientDescent(0.1), gradients)
        np.testing.assert_allclose(theta, START - 0.1 * gradients.sum(axis=0), atol=1e-15)

    @pytest.mark.parametrize("nesterov", [False, True])
    def test_momentum(self, gradients, nesterov):
        expected, change = START.copy(), np.zeros(3)
        for gradient in gradients:
            change = 0.8 * change - 0.1 * gradient
            expected += 0.8 * change - 0.1 * gradient if nesterov else change
        theta, _ = stepped(GradientDescent(0.1, 0.8, nesterov), gradients)
        np.testing.assert_allclose(theta, expected, atol=1e-15)

    def test_changes_grow_to_their_limit_under_a_constant_gradient(self):
        gradient = np.array([1.0, -2.0, 0.0])
        _, memory = stepped(GradientDescent(0.1, 0.75), [gradient] * 200)
        np.testing.assert_allclose(memory.first, -0.1 * gradient / (1 - 0.75), atol=1e-15)


class TestAdam:
    @pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-14), (np.float32, 1e-6)])
    def test_formula(self, gradients, dtype, tolerance):
        expected, mean, square = START.copy(), np.zeros(3), np.zeros(3)
        for step, gradient in enumerate(gradients, start=1):
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            unbiased = mean / (1 - 0.9**step)
            # Epsilon stands beside the biased root, as in scikit-learn and in the paper's footnote.
            root = np.sqrt(square) + 1e-8
            expected -= 0.01 * unbiased * np.sqrt(1 - 0.999**step) / root
        theta, memory = stepped(Adam(0.01), gradients, dtype)
        np.testing.assert_allclose(theta, expected, atol=tolerance)
        assert theta.dtype == memory.second.dtype == dtype

    def test_the_first_step_has_the_length_of_the_rate(self):
        theta, _ = stepped(Adam(0.01), [[5.0, -0.3, 1e-3]])
        np.testing.assert_allclose(theta - START, [-0.01, 0.01, -0.01], rtol=1e-3)


class TestAdaptiveRate:
    def test_scripted_errors(self):
        """Up by a where the error fell, down by the share b where it did not (11.31)."""
        rule, rate, rates = AdaptiveRate(0.1, increase=0.02, decrease=0.5), 0.1, []
        errors = [1.0, 0.8, 0.9, 0.7, 0.7]
        for count in range(1, 6):
            rate = rule.following(rate, errors[:count])
            rates.append(rate)
        np.testing.assert_allclose(rates, [0.1, 0.12, 0.06, 0.08, 0.04], atol=1e-15)

    def test_lag_and_mean(self):
        rule = AdaptiveRate(0.1, increase=0.02, decrease=0.5, lag=2, averaged=2)
        assert rule.following(0.1, [1.0, 0.8, 0.9]) == 0.1
        # (0.9 + 0.85) / 2 against (1.0 + 0.8) / 2.
        assert rule.following(0.1, [1.0, 0.8, 0.9, 0.85]) == pytest.approx(0.12)
        assert rule.following(0.1, [1.0, 0.8, 0.9, 0.95]) == pytest.approx(0.05)

    @pytest.mark.parametrize(
        "numbers",
        [
            {"learning_rate": 0.0},
            {"increase": -1.0},
            {"decrease": 1.0},
            {"lag": 0},
            {"averaged": 0},
        ],
    )
    def test_refused(self, numbers):
        with pytest.raises(DataError, match="AdaptiveRate"):
            AdaptiveRate(**numbers)


def test_rules_by_name():
    assert rule_of("adam", 0.2, 0.9, False) == Adam(0.2)
    assert rule_of("sgd", 0.2, 0.9, True) == GradientDescent(0.2, 0.9, True)
    assert rule_of("sgd", inverse(0.4), 0.0, False).learning_rate == 0.4
    assert rule_of("sgd", constant(0.3), 0.0, False).learning_rate == 0.3
    assert rule_of("sgd", AdaptiveRate(0.05), 0.0, False).learning_rate == 0.05


def test_compiled_and_plain_steps_agree(gradients):
    for rule in (GradientDescent(0.1, 0.5), GradientDescent(0.1, 0.5, True), Adam(0.1)):
        plain, compiled = START.copy(), START.copy()
        one, other = RuleMemory.of(rule, plain), RuleMemory.of(rule, compiled)
        for gradient in gradients:
            take_step.py_func(plain, gradient, one.first, one.second, one.numbers)
            other.step(compiled, gradient)
        np.testing.assert_allclose(plain, compiled, rtol=1e-14)

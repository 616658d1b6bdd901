"""Penalties: their values by hand, their slopes by differences, their limits."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.neural import (
    IntervalHint,
    InvarianceHint,
    MLPClassifier,
    MLPRegressor,
    Network,
    TangentHint,
    TrainingError,
    layout_of,
    tangent_vectors,
)
from verulam.neural._network.network import ACTIVATIONS, OUTPUTS
from verulam.numerics import GradientDescent, RuleMemory

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(9, 3))
CODES = np.arange(9) % 3
NUMBERS = RANDOM.uniform(0.1, 0.9, size=(9, 2))
SOME, OTHERS = RANDOM.normal(size=(2, 5, 3))
HINTS = {
    "invariance": InvarianceHint(SOME, OTHERS, 0.7),
    "interval": IntervalHint(SOME, 0.3, 0.4, 0.9),
    "tangent": TangentHint(SOME, OTHERS, 0.6),
}


def problem(hint, activation="tanh", output="identity", hidden=(4,), **options):
    n_outputs = {"binary": 1, "softmax": 3}.get(output, 2)
    targets = {"binary": CODES % 2, "softmax": CODES}.get(output, NUMBERS)
    layout = layout_of((3, *hidden, n_outputs), skip=True)
    network = Network(layout, activation, output, 1.3)
    return TrainingError(network, ROWS, targets, None, 0.2, penalties=(hint,), **options)


def start_of(error):
    layout = error.network.layout
    theta = layout.start(np.random.default_rng(5), "glorot", "tanh", np.float64)
    return error.extended(theta)


def differences(error, theta, step=1e-6):
    ends = [
        [error.value_and_gradient(theta + sign * step * unit)[0] for sign in (1, -1)]
        for unit in np.eye(len(theta))
    ]
    return np.array([(up - down) / (2 * step) for up, down in ends])


class TestGradient:
    @pytest.mark.parametrize("hint", HINTS)
    @pytest.mark.parametrize("output", OUTPUTS)
    def test_every_output(self, output, hint):
        error = problem(HINTS[hint], "logistic", output)
        theta = start_of(error)
        gradient = error.value_and_gradient(theta)[1]
        np.testing.assert_allclose(gradient, differences(error, theta), atol=1e-6)

    @pytest.mark.parametrize("hint", HINTS)
    @pytest.mark.parametrize("activation", ACTIVATIONS)
    def test_every_unit(self, activation, hint):
        error = problem(HINTS[hint], activation, "softmax", (3, 4))
        theta = start_of(error)
        gradient = error.value_and_gradient(theta)[1]
        np.testing.assert_allclose(gradient, differences(error, theta), atol=1e-6)

    def test_batches_have_their_share(self):
        error = problem(HINTS["invariance"], output="softmax")
        theta = start_of(error)
        moved, memory = theta.copy(), RuleMemory.of(GradientDescent(0.5), theta)
        error._step(moved, memory, np.arange(3), [(HINTS["invariance"], 1)])
        part = TrainingError(error.network, ROWS[:3], CODES[:3])
        penalty = HINTS["invariance"].value_and_gradient(error.network, theta, np.empty(0))[1]
        expected = (
            part.value_and_gradient(theta)[1]
            + (penalty + 0.2 * theta * error.network.layout.is_weight) / 9
        )
        np.testing.assert_allclose(moved, theta - 0.5 * expected, atol=1e-14)

    def test_the_value_stands_beside_the_summed_error(self):
        hint = HINTS["interval"]
        error = problem(hint)
        theta = start_of(error)
        without = TrainingError(error.network, ROWS, NUMBERS, None, 0.2)
        penalty = hint.value_and_gradient(error.network, theta, np.empty(0))[0]
        assert error.value_and_gradient(theta)[0] == pytest.approx(
            without.value_and_gradient(theta)[0] + penalty / 9, abs=1e-14
        )


class TestInvariance:
    def test_the_penalty_is_the_squared_difference(self):
        error = problem(HINTS["invariance"], output="softmax")
        theta = start_of(error)
        one, other = (error.network.outputs(theta, rows) for rows in (SOME, OTHERS))
        penalty = HINTS["invariance"].value_and_gradient(error.network, theta, np.empty(0))[0]
        assert penalty == pytest.approx(0.7 * ((one - other) ** 2).sum(), abs=1e-14)

    def test_a_strong_hint_makes_outputs_equal(self):
        x = np.linspace(-2, 2, 30)[:, None]
        y = x[:, 0]
        differ = []
        for alpha in (0.0, 1.0, 1e4):
            hint = InvarianceHint(x, -x, alpha)
            net = MLPRegressor(
                5, activation="tanh", solver="lbfgs", alpha=0, tol=1e-4, random_state=0,
                penalties=[hint],
            ).fit(x, y)  # fmt: skip
            differ.append(np.abs(net.predict(x) - net.predict(-x)).max())
        assert differ[0] > 3
        assert differ[0] > differ[1] > differ[2]
        assert differ[2] < 0.01

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_every_solver_takes_it(self):
        for solver in ("sgd", "adam", "cg"):
            hint = InvarianceHint(ROWS, -ROWS, 1e3)
            net = MLPClassifier(
                4, activation="tanh", solver=solver, learning_rate=0.01, batch_size=3, max_iter=300,
                penalties=[hint], tol=1e-6, random_state=0,
            )  # fmt: skip
            net.fit(ROWS, CODES)
            gap = np.abs(net.predict_proba(ROWS) - net.predict_proba(-ROWS)).max()
            assert gap < 0.1


class TestInterval:
    @pytest.mark.parametrize(
        ("output", "penalty"), [(0.5, 0.0), (0.2, 0.04), (0.9, 0.09), (0.4, 0.0), (0.6, 0.0)]
    )
    def test_it_is_the_squared_excess(self, output, penalty):
        network = Network(layout_of((1, 1)))
        hint = IntervalHint([[1.0]], 0.4, 0.6)
        value, slopes, _ = hint.value_and_gradient(network, np.array([0.0, output]), np.empty(0))
        assert value == pytest.approx(penalty, abs=1e-15)
        excess = max(output - 0.6, 0) - max(0.4 - output, 0)
        np.testing.assert_allclose(slopes, 2 * excess, atol=1e-15)

    def test_sides_may_be_open_and_rows_have_their_own(self):
        network = Network(layout_of((1, 1)))
        hint = IntervalHint([[1.0], [1.0]], [-np.inf, 2.0], [0.0, np.inf], 3.0)
        value = hint.value_and_gradient(network, np.array([0.0, 1.0]), np.empty(0))[0]
        assert value == pytest.approx(3.0 * (1.0 + 1.0))


class TestTangents:
    def test_the_penalty_is_the_squared_slope(self):
        error = problem(HINTS["tangent"], output="softmax")
        theta, step = start_of(error), 1e-6
        ends = [error.network.outputs(theta, SOME + sign * step * OTHERS) for sign in (1, -1)]
        slopes = (ends[0] - ends[1]) / (2 * step)
        penalty = HINTS["tangent"].value_and_gradient(error.network, theta, np.empty(0))[0]
        assert penalty == pytest.approx(0.6 * (slopes**2).sum(), rel=1e-7)

    @pytest.mark.parametrize("output", OUTPUTS)
    def test_it_is_the_limit_of_small_transformations(self, output):
        error = problem(HINTS["tangent"], output=output)
        theta, small = start_of(error), 1e-4
        pairs = InvarianceHint(SOME + small / 2 * OTHERS, SOME - small / 2 * OTHERS, 0.6 / small**2)
        for one, other in zip(
            HINTS["tangent"].value_and_gradient(error.network, theta, np.empty(0))[:2],
            pairs.value_and_gradient(error.network, theta, np.empty(0))[:2],
            strict=True,
        ):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)

    def test_a_network_gains_by_tangents_of_images(self):
        images = np.random.default_rng(0).normal(size=(40, 4, 4))
        flat, tangents = images.reshape(40, -1), tangent_vectors(images, "turn")
        settings = {"activation": "tanh", "solver": "lbfgs", "tol": 1e-3, "max_iter": 6000}
        slopes = []
        for alpha in (0.0, 10.0):
            hint = TangentHint(flat, tangents, alpha)
            net = MLPRegressor(4, penalties=[hint], random_state=0, **settings).fit(
                flat, flat[:, 5]
            )
            moved = net.predict(flat + 0.01 * tangents) - net.predict(flat - 0.01 * tangents)
            slopes.append(np.abs(moved).mean())
        assert slopes[1] < 0.2 * slopes[0]


def test_refusals():
    with pytest.raises(DataError, match="InvarianceHint: rows and others are pairs"):
        InvarianceHint(SOME, OTHERS[:2])
    with pytest.raises(DataError, match="TangentHint: a row has one tangent"):
        TangentHint(SOME, OTHERS[:, :2])
    with pytest.raises(DataError, match="TangentHint: rows needs rows of finite numbers"):
        TangentHint([[np.nan, 1.0]], [[1.0, 1.0]])
    with pytest.raises(DataError, match="InvarianceHint: rows needs rows of numbers"):
        InvarianceHint([["a"]], [["b"]])
    with pytest.raises(DataError, match="alpha must be a number of at least 0; got -1"):
        IntervalHint(SOME, 0, 1, alpha=-1)
    with pytest.raises(DataError, match="alpha must be"):
        IntervalHint(SOME, 0, 1, alpha="much")
    with pytest.raises(DataError, match="low must not exceed high"):
        MLPRegressor(2, penalties=[IntervalHint(SOME, 1, 0)]).fit(ROWS, CODES)
    with pytest.raises(DataError, match="low and high must be known"):
        IntervalHint(SOME, np.nan, 0)
    with pytest.raises(DataError, match="low needs numbers"):
        IntervalHint(SOME, "a", 0)
    with pytest.raises(DataError, match=r"rows by outputs are \(5, 1\)"):
        MLPRegressor(2, penalties=[IntervalHint(SOME, [1, 2], 3)]).fit(ROWS, CODES)
    with pytest.raises(DataError, match="have 3 columns, those of the network 2"):
        MLPRegressor(2, penalties=[HINTS["tangent"]]).fit(ROWS[:, :2], CODES)
    with pytest.raises(DataError, match="penalties"):
        MLPRegressor(2, penalties=["strong"]).fit(ROWS, CODES)


@pytest.mark.parametrize("kind", HINTS)
def test_parts_of_a_hint_add_up_to_it(kind):
    hint = HINTS[kind]
    error = problem(hint)
    theta = RANDOM.normal(size=error.network.layout.n_parameters)
    parts = hint.parts(2)
    assert sum(len(part.rows) for part in parts) == len(hint.rows)
    assert max(len(part.rows) for part in parts) <= 2
    whole, *_ = hint.value_and_gradient(error.network, theta, np.empty(0))
    shares = [part.value_and_gradient(error.network, theta, np.empty(0)) for part in parts]
    assert sum(value for value, *_ in shares) == pytest.approx(whole, abs=1e-13)
    assert hint.parts(len(hint.rows)) == [hint]


def test_batches_meet_as_many_rows_of_a_hint_in_turn(monkeypatch):
    monkeypatch.setattr("verulam.neural._network.network.HINT_ROWS", 1)
    rows = RANDOM.normal(size=(8, 3))
    seen = []

    class Spy(IntervalHint):
        def value_and_gradient(self, network, theta, extra):
            seen.append(self.rows)
            return super().value_and_gradient(network, theta, extra)

    hint = Spy(rows, -0.1, 0.1)
    error = problem(hint)
    theta = np.zeros(error.network.layout.n_parameters)
    error.run_epoch(theta, RuleMemory.of(GradientDescent(1e-12), theta), np.arange(9), 3)
    assert [len(part) for part in seen] == [3, 2, 3]
    assert sorted(np.vstack(seen)[:, 0].tolist()) == sorted(rows[:, 0].tolist())

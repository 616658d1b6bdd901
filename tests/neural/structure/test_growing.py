"""Networks to which units are added."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from verulam.base import DataError
from verulam.neural import Growth, MLPClassifier, MLPRegressor, RecurrentClassifier, grow, layout_of
from verulam.neural._network import network
from verulam.neural._structure.growing import with_one_more

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


def test_exclusive_or_needs_more_than_one_unit():
    settings = MLPClassifier(activation="tanh", solver="lbfgs", alpha=0.0, tol=1e-7, random_state=0)
    grown = grow(settings, XOR, [0, 1, 1, 0], goal=1e-3)
    assert isinstance(grown, Growth)
    assert grown.learner.predict(XOR).tolist() == [0, 1, 1, 0]
    units = grown.path["units"].tolist()
    assert units == list(range(1, len(units) + 1))
    assert len(units) > 1
    assert (grown.path["loss"].diff().dropna() < 1e-6).all()
    assert grown.path["loss"].iloc[-1] <= 1e-3 < grown.path["loss"].iloc[-2]


def test_the_most_units():
    x = np.linspace(-3, 3, 60)[:, None]
    settings = MLPRegressor(activation="tanh", solver="lbfgs", max_iter=50, random_state=0)
    grown = grow(settings, x, np.sin(3 * x[:, 0]), goal=1e-9, max_units=3)
    assert grown.path["units"].tolist() == [1, 2, 3]
    assert grown.learner.coefs_[0].shape == (1, 3)


@pytest.mark.parametrize("skip", [False, True])
def test_a_new_unit_leaves_the_others_alone(skip):
    layout, larger = layout_of((3, 2, 1), skip=skip), layout_of((3, 3, 1), skip=skip)
    random = np.random.default_rng(0)
    theta = random.normal(size=layout.n_parameters)
    grown = with_one_more(layout, theta, random)
    np.testing.assert_array_equal(larger.weights(grown, 0)[:, :2], layout.weights(theta, 0))
    np.testing.assert_array_equal(larger.weights(grown, 1)[:2], layout.weights(theta, 1))
    np.testing.assert_array_equal(larger.biases(grown, 1), layout.biases(theta, 1))
    assert np.abs(larger.weights(grown, 1)[2]).max() <= 0.01
    assert np.abs(larger.weights(grown, 0)[:, 2]).min() > 0.01
    if skip:
        np.testing.assert_array_equal(larger.skip_weights(grown), layout.skip_weights(theta))


def test_a_plateau_is_left():
    x = np.linspace(-3, 3, 80)[:, None]
    settings = MLPRegressor(activation="tanh", solver="lbfgs", random_state=0)
    grown = grow(settings, x, np.sin(2 * x[:, 0]), goal=0.01, max_units=8)
    assert grown.learner.loss_ <= 0.01
    assert grown.path["loss"].notna().all()


def test_refused():
    with pytest.raises(DataError, match="expected an MLPClassifier"):
        grow(LogisticRegression(), XOR, [0, 1, 1, 0], goal=0.1)
    with pytest.raises(DataError, match="goal must be positive"):
        grow(MLPClassifier(), XOR, [0, 1, 1, 0], goal=0.0)
    with pytest.raises(DataError, match="masks and tied"):
        grow(MLPClassifier(masks=[None, None]), XOR, [0, 1, 1, 0], goal=0.1)


def test_networks_with_feedback_are_refused():
    with pytest.raises(DataError, match=r"MLPRegressor of .*, not RecurrentClassifier"):
        grow(RecurrentClassifier(2), XOR, [0, 1, 1, 0], goal=0.1)


def test_an_interrupt_ends_growing(monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(network, "finish_gradient", interrupt)
    with pytest.raises(KeyboardInterrupt):
        grow(MLPClassifier(random_state=0), [[0.0], [1.0]], ["a", "b"], goal=0.1)

"""Deep networks layer by layer: weights come from autoencoders, unlabelled rows help."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, spawn_seeds
from verulam.neural import (
    Autoencoder,
    ConvolutionalClassifier,
    MLPClassifier,
    MLPRegressor,
    Pretraining,
    RecurrentClassifier,
    pretrain,
)

PIXELS, LABELS = load_digits(return_X_y=True)
PIXELS = PIXELS / 16
NET = MLPClassifier(
    (24, 12), activation="tanh", solver="lbfgs", alpha=0.01, tol=1e-3, max_iter=300, random_state=0
)


@pytest.fixture(scope="module")
def result():
    return pretrain(NET, PIXELS[:80], LABELS[:80], unlabelled=PIXELS[200:600])


def test_layers_are_those_of_autoencoders(result):
    assert isinstance(result, Pretraining)
    everything = np.vstack([PIXELS[:80], PIXELS[200:600]])
    layout = result.learner.network_.layout
    seed = spawn_seeds(0, 2)[0]
    first = Autoencoder(24, tol=1e-3, random_state=seed).fit(everything)
    np.testing.assert_array_equal(layout.weights(result.init, 0), first.coefs_[0])
    second = Autoencoder(12, tol=1e-3, random_state=seed).fit(first.transform(everything))
    np.testing.assert_array_equal(layout.weights(result.init, 1), second.coefs_[0])
    assert result.layers["units"].tolist() == [24, 12]
    assert (result.layers["explained"] > 0.7).all()


def test_the_top_is_trained_before_the_rest(result):
    start = clone(NET).set_params(init=result.init, max_iter=1)
    with pytest.warns(UserWarning, match="max_iter=1"):
        start.fit(PIXELS[:80], LABELS[:80])
    assert start.score(PIXELS[:80], LABELS[:80]) > 0.9


def test_fewer_epochs_than_from_a_random_start(result):
    alone = clone(NET).fit(PIXELS[:80], LABELS[:80])
    assert result.learner.n_iter_ < alone.n_iter_
    test = PIXELS[600:], LABELS[600:]
    assert result.learner.score(*test) > alone.score(*test) - 0.02


def test_numbers_and_coders():
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 5))
    coder = Autoencoder(solver="lbfgs", max_iter=20, random_state=3)
    net = MLPRegressor((4,), activation="tanh", solver="lbfgs", tol=1e-2, random_state=0)
    with pytest.warns(UserWarning, match="max_iter=20"):
        result = pretrain(net, rows, rows[:, 0], coder=coder)
    assert result.learner.score(rows, rows[:, 0]) > 0.8
    assert result.layers["epochs"].tolist() == [20]


def test_refusals():
    with pytest.raises(DataError, match=r"MLPClassifier or MLPRegressor.*got Autoencoder"):
        pretrain(Autoencoder(), PIXELS[:9], LABELS[:9])
    masked = MLPClassifier((3,), masks=[np.ones((64, 3)), None])
    with pytest.raises(DataError, match="neither masks nor ties"):
        pretrain(masked, PIXELS[:9], LABELS[:9])
    with pytest.raises(ValueError, match="64"):
        pretrain(NET, PIXELS[:80], LABELS[:80], unlabelled=PIXELS[:5, :9])


def test_networks_of_other_kinds_are_refused_and_the_learner_stays_as_it_came():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    for other in (RecurrentClassifier(3), ConvolutionalClassifier(2)):
        with pytest.raises(DataError, match="MLPClassifier or MLPRegressor"):
            pretrain(other, X, y)
    net = MLPClassifier(2, max_iter=3, random_state=0)
    with pytest.raises(DataError, match="coder: expected an Autoencoder"):
        pretrain(net, X, y, coder="tanh")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        pretrain(net, X, y)
    assert not hasattr(net, "n_features_in_")

"""Functions of any form, with and without a prior of their weights."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from verulam.base import DataError
from verulam.bayes import CurveFit, fit_curve

RNG = np.random.default_rng(4)
X = RNG.normal(size=(30, 2))
Y = X @ [2.0, -1.0] + RNG.normal(scale=0.3, size=30)


def line(rows, weights):
    return rows @ weights


def network(rows, weights):
    """Two hidden units: six weights to them, two from them and a bias."""
    hidden = np.tanh(rows @ weights[:4].reshape(2, 2) + weights[4:6])
    return hidden @ weights[6:8] + weights[8]


@pytest.mark.parametrize("solver", ["lbfgs", "gradient"])
def test_a_line_is_least_squares_or_ridge(solver):
    plain = fit_curve(line, X, Y, [0.0, 0.0], solver=solver)
    assert isinstance(plain, CurveFit)
    assert plain.converged
    np.testing.assert_allclose(plain.weights, np.linalg.lstsq(X, Y, rcond=None)[0], atol=1e-4)
    shrunk = fit_curve(
        line, X, Y, [0.0, 0.0], prior_precision=3.0, noise_precision=0.5, solver=solver
    )
    ridge = Ridge(alpha=6.0, fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(shrunk.weights, ridge.coef_, atol=1e-4)
    assert shrunk.error == pytest.approx(((Y - X @ shrunk.weights) ** 2).sum())
    np.testing.assert_allclose(shrunk.predict(X), X @ shrunk.weights)


def test_weight_decay_of_a_network():
    start = RNG.normal(scale=0.5, size=9)
    targets = np.sin(X[:, 0]) + 0.5 * X[:, 1]
    fits = [
        fit_curve(network, X, targets, start, prior_precision=precision, noise_precision=10.0)
        for precision in (0.02, 0.1, 5.0)
    ]
    lengths = [float(fit.weights @ fit.weights) for fit in fits]
    assert lengths[0] > lengths[1] > lengths[2]
    assert fits[0].error < fits[1].error < fits[2].error
    # At the optimum the pull of the prior balances that of the data.
    weights, step = fits[1].weights, 1e-5
    pull = [
        (((targets - network(X, weights + move)) ** 2).sum()
         - ((targets - network(X, weights - move)) ** 2).sum()) / (2 * step)
        for move in step * np.eye(9)
    ]  # fmt: skip
    np.testing.assert_allclose(5.0 * np.array(pull) + 0.1 * weights, 0.0, atol=5e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": Y[:5]}, "a target for each of the 30 rows"),
        ({"start": [np.nan]}, "start must be"),
        ({"prior_precision": -1.0}, "prior_precision must be a number of at least 0"),
        ({"noise_precision": 0.0}, "noise_precision must be a number above 0"),
        ({"solver": "newton"}, 'solver must be "lbfgs" or "gradient"'),
        ({"function": lambda rows, w: rows}, "a value for each of the 30 rows"),
        ({"X": np.full((30, 2), np.inf)}, "X must be finite numbers"),
    ],
)
def test_wrong_input_is_refused(change, message):
    arguments = {"function": line, "X": X, "y": Y, "start": [0.0, 0.0]} | change
    with pytest.raises((DataError, ValueError), match=message):
        fit_curve(**arguments)

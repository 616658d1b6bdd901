"""Model, loss and optimiser: the same optimum from several optimisers, and known solutions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, rosen
from sklearn.linear_model import LogisticRegression

from verulam.base import DataError, UnknownNameError
from verulam.parametric import MinimumLoss, minimise_loss

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(80, 2))
Y = 1.0 + X @ [2.0, -3.0] + RANDOM.normal(0, 0.3, 80)
LABELS = (X @ [1.0, -1.0] + RANDOM.logistic(size=80) > 0).astype(float)
OPTIMISERS = ["quasi-newton", "conjugate gradient", "simplex"]


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_every_optimiser_finds_least_squares(optimiser):
    minimum = minimise_loss(X, Y, optimiser=optimiser)
    design = np.column_stack([np.ones(80), X])
    assert_allclose(minimum.parameters, np.linalg.lstsq(design, Y, rcond=None)[0], atol=1e-4)
    assert minimum.loss == pytest.approx(np.mean((Y - minimum.predict(X)) ** 2))


@pytest.mark.parametrize(
    ("optimiser", "theirs"),
    [("quasi-newton", "BFGS"), ("conjugate gradient", "CG"), ("simplex", "Nelder-Mead")],
)
def test_every_optimiser_goes_its_own_way(optimiser, theirs):
    """It asks for the losses that SciPy's method of that name asks for, and no other's."""

    def asked(way):
        points = []

        def valley(inputs, parameters):
            points.append(parameters.copy())
            return np.full(len(inputs), np.sqrt(rosen(parameters)))

        way(valley)
        return np.array(points[:30])

    def ours(name):
        start = [-1.2, 1.0]
        return asked(lambda m: minimise_loss([0.0], [0.0], model=m, optimiser=name, init=start))

    def objective(model):
        return lambda point: float(model(np.zeros(1), point)[0] ** 2)

    options = {"adaptive": True} if theirs == "Nelder-Mead" else {}
    points = asked(
        lambda m: minimize(objective(m), np.array([-1.2, 1.0]), method=theirs, options=options)
    )
    for name in OPTIMISERS:
        assert np.allclose(ours(name), points, atol=1e-6) == (name == optimiser)


@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_every_optimiser_finds_the_largest_likelihood(optimiser):
    minimum = minimise_loss(X, LABELS, model="logistic", loss="cross entropy", optimiser=optimiser)
    theirs = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(X, LABELS)
    assert_allclose(minimum.parameters, [theirs.intercept_[0], *theirs.coef_[0]], atol=2e-3)


def test_absolute_loss_of_a_constant_is_least_at_the_median():
    values = np.array([1.0, 2.0, 3.0, 10.0, 100.0])
    minimum = minimise_loss(
        np.zeros(5),
        values,
        model=lambda inputs, p: np.full(len(inputs), p[0]),
        loss="absolute",
        optimiser="simplex",
        init=[0.0],
    )
    assert minimum.parameters[0] == pytest.approx(3.0, abs=1e-3)


def test_parts_of_ones_own():
    def halving(objective, start):
        """Take the best of ever finer steps in each direction."""
        best, step = start, 1.0
        while step > 1e-6:
            trials = [best + sign * step * unit for unit in np.eye(len(best)) for sign in (-1, 1)]
            better = min(trials, key=objective)
            if objective(better) < objective(best):
                best = better
            else:
                step /= 2
        return best

    def wave(inputs, parameters):
        return parameters[0] * np.sin(inputs[:, 0]) + parameters[1]

    x = np.linspace(0, 6, 50)
    minimum = minimise_loss(x, 2 * np.sin(x) - 1, model=wave, optimiser=halving, init=[0.0, 0.0])
    assert_allclose(minimum.parameters, [2, -1], atol=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": "cubic"}, "model 'cubic'"),
        ({"loss": "hinge loss"}, "loss 'hinge loss'"),
        ({"optimiser": "luck"}, "optimiser 'luck'"),
    ],
)
def test_unknown_parts(change, message):
    with pytest.raises(UnknownNameError, match=message):
        minimise_loss(X, Y, **change)


def test_bad_samples():
    with pytest.raises(DataError, match=r"y has shape \(3,\)"):
        minimise_loss(X, [1, 2, 3])
    with pytest.raises(DataError, match="must be finite"):
        minimise_loss([1.0, np.nan], [1.0, 2.0])
    with pytest.raises(DataError, match="X has shape"):
        minimise_loss(np.zeros((2, 2, 2)), [1.0, 2.0])


def test_a_minimum_predicts_with_its_parameters():
    line = MinimumLoss(np.array([1.0, 2.0]), 0.0, lambda x, w: w[0] + x @ w[1:])
    assert line.predict([0.0, 10.0]).tolist() == [1.0, 21.0]
    assert isinstance(minimise_loss([0, 1], [0, 1]), MinimumLoss)

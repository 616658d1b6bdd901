"""Networks from which weights and units are taken."""

import numpy as np
import pytest

from verulam.base import DataError, UnknownNameError
from verulam.neural import (
    MLPClassifier,
    MLPRegressor,
    Pruning,
    RecurrentRegressor,
    SammonNetwork,
    hessian_diagonal,
    prune,
)
from verulam.neural._structure.pruning import _importance, _problem, _units, _weights

RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(240, 4))
NUMBERS = np.tanh(2 * ROWS[:, 0]) + 0.05 * RANDOM.normal(size=240)
TRAINING, VALIDATION = slice(0, 120), slice(120, 240)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def net():
    learner = MLPRegressor(4, activation="tanh", solver="lbfgs", alpha=0.05, max_iter=300,
                           tol=1e-3, random_state=0)  # fmt: skip
    return learner.fit(ROWS[TRAINING], NUMBERS[TRAINING])


def pruned(net, **options):
    validation = ROWS[VALIDATION], NUMBERS[VALIDATION]
    return prune(net, ROWS[TRAINING], NUMBERS[TRAINING], validation, **options)


@pytest.mark.parametrize("by", ["magnitude", "saliency", "trial"])
def test_weights_go_and_the_error_does_not_rise(net, by):
    result = pruned(net, by=by, share=0.25, tol=1e-4)
    assert isinstance(result, Pruning)
    path = result.path
    assert path["weights"].iloc[0] == 20
    assert path["weights"].is_monotonic_decreasing
    weights = int(result.learner.size_report()["weights"].sum())
    assert weights < 15
    reached = path.loc[path["weights"] == weights, "validation_error"].iloc[0]
    assert reached <= path["validation_error"].min() + 1e-4
    for mask, matrix in zip(result.learner.masks, result.learner.coefs_, strict=True):
        assert (matrix[~mask] == 0.0).all()
    # The network it came from is as it was.
    assert net.masks is None


def test_units_go_with_all_their_weights(net):
    result = pruned(net, what="units", share=0.01, tol=1e-3)
    first, second = result.learner.masks
    assert (first.all(axis=0) == second[:, 0]).all()
    assert (first.any(axis=0) == second[:, 0]).all()
    assert 1 <= second.sum() < 4


def test_what_goes_first(net):
    layout = net.network_.layout
    theta = net.parameters_
    known = _problem(net, ROWS[TRAINING], NUMBERS[TRAINING])
    unseen = _problem(net, ROWS[VALIDATION], NUMBERS[VALIDATION])
    parts = _weights(layout)
    places = np.concatenate(parts)
    np.testing.assert_allclose(
        _importance(net, known, unseen, "magnitude", parts), theta[places] ** 2
    )
    curvature = hessian_diagonal(known, theta)
    np.testing.assert_allclose(
        _importance(net, known, unseen, "saliency", parts),
        0.5 * curvature[places] * theta[places] ** 2,
    )
    first = _importance(net, known, unseen, "trial", _units(layout))[0]
    without = theta.copy()
    layout.weights(without, 0)[:, 0] = layout.weights(without, 1)[0] = 0.0
    predicted = net.network_.outputs(without, ROWS[VALIDATION])[:, 0]
    assert first == pytest.approx(0.5 * np.mean((predicted - NUMBERS[VALIDATION]) ** 2))


def test_it_ends_where_the_error_rises(net):
    strict = pruned(net, share=1.0)
    assert len(strict.path) == 2
    assert strict.learner is net


def test_what_pruning_gained_is_not_given_away():
    # A network that has learned the noise gets better as it shrinks, and then worse.
    noisy = NUMBERS + 0.6 * np.random.default_rng(1).normal(size=240)
    learner = MLPRegressor(12, activation="tanh", solver="lbfgs", alpha=0.0, max_iter=300,
                           tol=1e-3, random_state=0).fit(ROWS[:60], noisy[:60])  # fmt: skip
    unseen = ROWS[60:], noisy[60:]
    result = prune(learner, ROWS[:60], noisy[:60], unseen, share=0.2, tol=0.01)
    errors = result.path["validation_error"]
    assert errors.min() + 0.05 < errors.iloc[0]
    weights = int(result.learner.size_report()["weights"].sum())
    reached = errors[result.path["weights"] == weights].iloc[0]
    assert reached <= errors.min() + 0.01


def test_classes():
    labels = np.where(NUMBERS > 0, "up", "down")
    learner = MLPClassifier(4, activation="tanh", solver="lbfgs", max_iter=200, random_state=0)
    learner.fit(ROWS[TRAINING], labels[TRAINING])
    result = prune(
        learner, ROWS[TRAINING], labels[TRAINING], (ROWS[VALIDATION], labels[VALIDATION]),
        share=0.3, tol=0.5,
    )  # fmt: skip
    assert result.learner.score(ROWS[VALIDATION], labels[VALIDATION]) > 0.85
    assert result.path["weights"].min() < 8


def test_refused(net):
    with pytest.raises(UnknownNameError, match="magnitud"):
        pruned(net, by="magnitud")
    with pytest.raises(UnknownNameError, match="layers"):
        pruned(net, what="layers")
    with pytest.raises(DataError, match="share: 0"):
        pruned(net, share=0.0)
    with pytest.raises(DataError, match="validation: expected other rows and their targets"):
        prune(net, ROWS, NUMBERS, ROWS)
    with pytest.raises(DataError, match="expected rows of 4 columns"):
        prune(net, ROWS, NUMBERS, (ROWS[:, :2], NUMBERS))


@pytest.mark.parametrize("learner", [RecurrentRegressor(2), SammonNetwork(2), "net"])
def test_other_networks_are_refused(learner):
    with pytest.raises(DataError, match="expected a fitted MLPClassifier or MLPRegressor"):
        prune(learner, ROWS, NUMBERS, (ROWS, NUMBERS))

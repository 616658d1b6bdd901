"""Large margin metrics: better neighbours, a metric that is one, rank, restrictions."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from verulam.base import DataError
from verulam.kernel import LargeMarginComponents, LargeMarginNeighbours

X, Y = make_classification(
    900, 12, n_informative=4, n_redundant=2, n_classes=3, n_clusters_per_class=1, random_state=3
)
TRAIN, TEST = slice(0, 400), slice(400, None)


def euclidean_score(n_neighbors=3):
    return KNeighborsClassifier(n_neighbors).fit(X[TRAIN], Y[TRAIN]).score(X[TEST], Y[TEST])


def test_neighbours_err_less_than_euclidean_ones():
    learner = LargeMarginNeighbours().fit(X[TRAIN], Y[TRAIN])
    assert learner.score(X[TEST], Y[TEST]) > euclidean_score() + 0.01


def test_metric_is_positive_semidefinite_and_that_of_the_projection():
    learner = LargeMarginNeighbours().fit(X[TRAIN], Y[TRAIN])
    assert np.linalg.eigvalsh(learner.metric_).min() > -1e-10
    first, second = X[0] - X[1], learner.transform(X[:1]) - learner.transform(X[1:2])
    assert_allclose(first @ learner.metric_ @ first, (second**2).sum())


def test_objective_falls_with_every_round():
    learner = LargeMarginNeighbours(tol=1e-6).fit(X[TRAIN], Y[TRAIN])
    before = LargeMarginNeighbours(max_iter=1, tol=0.9).fit(X[TRAIN], Y[TRAIN])
    assert (np.diff(learner.loss_curve_) <= 0.0).all()
    assert learner.loss_curve_[-1] < before.loss_curve_[-1] < before.loss_curve_[0]


def order_of(rows, allowed):
    """Return the other rows of each row, the nearest first and those not allowed last."""
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    return np.argsort(np.where(allowed, squares, np.inf), axis=1)


def targets_of(rows, classes, n_neighbors=3):
    return order_of(rows, classes[:, None] == classes)[:, :n_neighbors]


def leads(rows, classes, targets):
    """By how much each row of another class is farther than each target; the rest is infinite."""
    squares = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    near = np.take_along_axis(squares, targets, axis=1)
    others = np.where(classes[:, None] == classes, np.inf, squares)
    return near, others[:, None, :] - near[:, :, None]


def test_the_metric_leaves_fewer_impostors_than_the_euclidean_one():
    rows, classes = X[:200], Y[:200]
    targets = targets_of(rows, classes)
    learner = LargeMarginNeighbours().fit(rows, classes)
    before = (leads(rows, classes, targets)[1] < 0).sum()
    after = (leads(learner.transform(rows), classes, targets)[1] < 0).sum()
    assert after < 0.9 * before


def test_the_push_weight_is_that_of_the_objective():
    """Written out for the learned metric: pulls of the targets, pushes of all impostors."""
    rows, classes, weight = X[:60], Y[:60], 0.9
    learner = LargeMarginNeighbours(push_weight=weight).fit(rows, classes)
    near, lead = leads(learner.transform(rows), classes, targets_of(rows, classes))
    pushes = np.maximum(0.0, 1.0 - lead).sum()
    assert learner.loss_curve_[-1] == pytest.approx((1 - weight) * near.sum() + weight * pushes)
    even = LargeMarginNeighbours().fit(rows, classes)
    assert learner.n_violations_ < even.n_violations_


@pytest.mark.parametrize("kind", [LargeMarginNeighbours, LargeMarginComponents])
@pytest.mark.parametrize("impostors", ["any", "nearby"])
@pytest.mark.parametrize(("n_neighbors", "weight"), [(5, 0.9), (8, 0.2)])
def test_the_objective_is_that_of_the_parameters(kind, impostors, n_neighbors, weight):
    """Written out for the learned metric, impostors being all rows or the nearest of all."""
    rows, classes = X[:60], Y[:60]
    learner = kind(n_neighbors=n_neighbors, push_weight=weight, impostors=impostors)
    learner.fit(rows, classes)
    targets = targets_of(rows, classes, n_neighbors)
    near, lead = leads(learner.transform(rows), classes, targets)
    if impostors == "nearby":
        nearest = np.zeros((60, 60), dtype=bool)
        np.put_along_axis(nearest, order_of(rows, True)[:, :n_neighbors], True, axis=1)
        lead = np.where(nearest[:, None, :], lead, np.inf)
    expected = (1 - weight) * near.sum() + weight * np.maximum(0.0, 1.0 - lead).sum()
    assert learner.loss_curve_[-1] == pytest.approx(expected)
    assert learner.n_violations_ == (lead < 1.0).sum() > 0


def test_random_start_ends_with_the_same_objective():
    ends = [
        LargeMarginNeighbours(init=init, tol=1e-7, random_state=0).fit(X[:150], Y[:150])
        for init in ("identity", "random")
    ]
    assert ends[0].loss_curve_[-1] == pytest.approx(ends[1].loss_curve_[-1], rel=1e-3)


def test_units_of_the_inputs_do_not_matter():
    plain = LargeMarginNeighbours(tol=1e-5).fit(X[:200], Y[:200])
    scaled = LargeMarginNeighbours(tol=1e-5).fit(1000 * X[:200], Y[:200])
    assert scaled.loss_curve_[-1] == pytest.approx(plain.loss_curve_[-1], rel=1e-2)


def test_units_of_single_columns_cost_few_steps():
    """Targets are those of the inputs, so the objective may differ; the number of steps may not."""
    units = np.ones(X.shape[1])
    units[0] = 1e3
    plain = LargeMarginNeighbours(tol=1e-4).fit(X[:150], Y[:150])
    scaled = LargeMarginNeighbours(tol=1e-4).fit(X[:150] * units, Y[:150])
    assert scaled.n_iter_ < 5 * plain.n_iter_


def test_restriction_to_nearby_impostors_has_fewer_constraints():
    every = LargeMarginNeighbours().fit(X[:200], Y[:200])
    nearby = LargeMarginNeighbours(impostors="nearby").fit(X[:200], Y[:200])
    assert nearby.loss_curve_[-1] < every.loss_curve_[-1]
    assert nearby.n_violations_ < every.n_violations_


def test_components_have_their_rank_and_a_falling_objective():
    learner = LargeMarginComponents(2, n_init=2, random_state=0).fit(X[TRAIN], Y[TRAIN])
    assert learner.components_.shape == (2, 12)
    assert np.linalg.matrix_rank(learner.metric_) == 2
    assert (np.diff(learner.loss_curve_) <= 1e-9 * learner.loss_curve_[0]).all()
    plane = make_pipeline(PCA(2), KNeighborsClassifier(3)).fit(X[TRAIN], Y[TRAIN])
    assert learner.score(X[TEST], Y[TEST]) > plane.score(X[TEST], Y[TEST])


def test_squared_distance_of_projections_is_that_of_the_low_rank_metric():
    learner = LargeMarginComponents(2).fit(X[:200], Y[:200])
    projected = learner.transform(X[:10])
    assert projected.shape == (10, 2)
    assert np.linalg.matrix_rank(learner.metric_) == 2
    assert np.linalg.matrix_rank(projected) == 2
    for i in range(10):
        gap = X[i] - X[0]
        assert_allclose(
            ((projected[i] - projected[0]) ** 2).sum(), gap @ learner.metric_ @ gap, atol=1e-10
        )


def test_restarts_never_end_worse():
    once = LargeMarginComponents(1).fit(X[:150], Y[:150])
    often = LargeMarginComponents(1, n_init=4, random_state=0).fit(X[:150], Y[:150])
    assert often.loss_curve_[-1] <= once.loss_curve_[-1]


def test_a_restart_leaves_a_bad_start_behind():
    """Rows with their mirror images: nothing at the widest direction says which way to turn."""
    rng = np.random.default_rng(0)
    half = np.column_stack(
        [10 * rng.normal(size=40), np.repeat([0.0, 1.0], 20) + 0.1 * rng.normal(size=40)]
    )
    half -= half.mean(axis=0)
    rows, classes = np.vstack([half, half * [-1, 1]]), np.tile(np.repeat([0, 1], 20), 2)
    once = LargeMarginComponents(1).fit(rows, classes)
    often = LargeMarginComponents(1, n_init=2, random_state=0).fit(rows, classes)
    assert often.loss_curve_[-1] < 0.1 * once.loss_curve_[-1]


def test_the_start_that_ends_best_is_kept(monkeypatch):
    plain, ends = LargeMarginComponents._learn, iter([[3.0, 1.0, 2.0], [3.0, 2.0, 1.0]])
    monkeypatch.setattr(
        LargeMarginComponents,
        "_learn",
        lambda *arguments: replace(plain(*arguments), losses=next(ends)),
    )
    learner = LargeMarginComponents(1, n_init=2, random_state=0).fit(X[:60], Y[:60])
    assert learner.loss_curve_.tolist() == [3.0, 2.0, 1.0]


def test_probabilities_are_shares_of_the_votes():
    learner = LargeMarginNeighbours(4).fit(X[:100], Y[:100])
    shares = learner.predict_proba(X[100:120])
    theirs = KNeighborsClassifier(4).fit(learner.transform(X[:100]), Y[:100])
    assert_allclose(shares, theirs.predict_proba(learner.transform(X[100:120])))


def test_limit_on_steps_is_told():
    with pytest.warns(ConvergenceWarning, match="still improving after max_iter=2"):
        LargeMarginNeighbours(max_iter=2).fit(X[:100], Y[:100])


def test_one_class_only():
    with pytest.raises(DataError, match="two classes or more; got 1 class"):
        LargeMarginNeighbours().fit(X[:10], np.zeros(10))

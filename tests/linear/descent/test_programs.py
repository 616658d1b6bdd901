"""Trainers by linear programming."""

import numpy as np
import pytest
from tests.linear.examples import AND, CORNERS, XOR, overlapping, separable

from verulam.linear import LinearProgramDiscriminant, sign_normalise


@pytest.mark.parametrize("slack", ["own", "shared"])
def test_separable_classes_have_no_shortfall(slack):
    rows, classes = separable(gap=0.1)
    trainer = LinearProgramDiscriminant(slack=slack).fit(rows, classes)
    assert trainer.objective_ == pytest.approx(0.0, abs=1e-9)
    assert trainer.score(rows, classes) == 1.0


def test_the_objective_is_the_least_perceptron_criterion():
    rows, classes = overlapping(80)
    trainer = LinearProgramDiscriminant().fit(rows, classes)
    signed = sign_normalise(rows, classes == 1)

    def criterion(weights):
        return np.maximum(1 - signed @ weights, 0.0).sum()

    best = np.r_[trainer.intercept_, trainer.coef_[0]]
    assert criterion(best) == pytest.approx(trainer.objective_)
    random = np.random.default_rng(0)
    others = best + 0.1 * random.normal(size=(200, 4))
    assert min(map(criterion, others)) >= trainer.objective_ - 1e-9


def test_primal_and_dual_agree():
    rows, classes = overlapping(80)
    primal = LinearProgramDiscriminant().fit(rows, classes)
    dual = LinearProgramDiscriminant(dual=True).fit(rows, classes)
    assert primal.objective_ == pytest.approx(dual.objective_)
    assert np.allclose(primal.coef_, dual.coef_)
    assert dual.dual_.sum() == pytest.approx(dual.objective_)


def test_many_rows_agree_with_the_dual_too():
    """So many slacks are left to the interior point method."""
    rows, classes = overlapping(1500)
    primal = LinearProgramDiscriminant(dual=False).fit(rows, classes)
    dual = LinearProgramDiscriminant(dual=True).fit(rows, classes)
    automatic = LinearProgramDiscriminant().fit(rows, classes)
    assert np.array_equal(automatic.coef_, dual.coef_)
    assert np.allclose(automatic.slacks_, primal.slacks_, atol=1e-6)
    assert primal.objective_ == pytest.approx(dual.objective_)
    assert np.allclose(primal.coef_, dual.coef_, atol=1e-6)
    assert primal.dual_.sum() == pytest.approx(primal.objective_)


def test_shared_slack_proves_that_exclusive_or_is_not_separable():
    assert LinearProgramDiscriminant(slack="shared").fit(CORNERS, XOR).objective_ == pytest.approx(
        1
    )
    assert LinearProgramDiscriminant(slack="shared").fit(CORNERS, AND).objective_ == 0


@pytest.mark.parametrize("slack", ["own", "shared"])
def test_the_way_is_one_step_from_zero(slack):
    rows, classes = overlapping(80)
    trainer = LinearProgramDiscriminant(slack=slack, record="steps").fit(rows, classes)
    way = trainer.trajectory_
    assert np.allclose(way.weights, [np.zeros(4), [*trainer.intercept_, *trainer.coef_[0]]])
    assert np.allclose(way.criterion, [80.0 if slack == "own" else 1.0, trainer.objective_])
    assert LinearProgramDiscriminant().fit(rows, classes).trajectory_ is None


def test_scales_of_columns_do_not_matter():
    rows, classes = overlapping(80)
    scales = np.array([1e-5, 1.0, 1e5])
    plain = LinearProgramDiscriminant().fit(rows, classes)
    scaled = LinearProgramDiscriminant().fit(rows * scales, classes)
    assert np.allclose(scaled.coef_ * scales, plain.coef_)


@pytest.mark.parametrize("dual", [False, True])
@pytest.mark.parametrize("offset", [1e6, 1e8, 1e9])
def test_offsets_of_columns_do_not_matter(dual, offset):
    rows, classes = separable(gap=0.4)
    trainer = LinearProgramDiscriminant(dual=dual).fit(rows + offset, classes)
    assert trainer.score(rows + offset, classes) == 1.0
    overlapped, labels = overlapping(80)
    plain = LinearProgramDiscriminant(dual=dual).fit(overlapped, labels)
    moved = LinearProgramDiscriminant(dual=dual).fit(overlapped + offset, labels)
    assert moved.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    assert np.allclose(moved.coef_, plain.coef_, rtol=1e-3, atol=1e-4)


def test_many_separable_rows_are_separated_by_the_dual():
    rows, classes = separable(1500, gap=0.1)
    trainer = LinearProgramDiscriminant().fit(rows, classes)
    assert trainer.objective_ == pytest.approx(0.0, abs=1e-9)
    assert trainer.score(rows, classes) == 1.0

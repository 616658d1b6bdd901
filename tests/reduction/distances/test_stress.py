"""Stress: the formula in three weightings, its gradient, descent, and maps of new rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.spatial.distance import cdist, pdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import smacof
from sklearn.preprocessing import PolynomialFeatures

from verulam.base import DataError
from verulam.data import dataset
from verulam.reduction import StressGradient, StressProjection, StressScaling, stress

IRIS = dataset("iris").inputs.drop_duplicates().to_numpy(dtype=float)
WEIGHTINGS = {"none": 0, "sammon": 1, "squared": 2}


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_stress_by_its_formula_and_gradient_by_differences(weighting):
    random = np.random.default_rng(0)
    rows, places = random.normal(size=(9, 4)), random.normal(size=(9, 2))
    target, length = pdist(rows), pdist(places)
    weights = target ** -float(WEIGHTINGS[weighting])
    expected = (weights * (length - target) ** 2).sum() / (weights * target**2).sum()
    matrix = cdist(rows, rows)
    outcome = stress(matrix, places, weighting=weighting)
    assert isinstance(outcome, StressGradient)
    assert outcome.stress == pytest.approx(expected)

    def value(flat):
        return stress(matrix, flat.reshape(9, 2), weighting=weighting).stress

    assert_allclose(outcome.gradient.ravel(), approx_fprime(places.ravel(), value, 1e-7), atol=1e-6)


def test_sammons_stress_is_that_of_the_paper():
    """E = (1 / sum d) sum (d - d*)^2 / d."""
    random = np.random.default_rng(1)
    rows, places = random.normal(size=(12, 5)), random.normal(size=(12, 2))
    d, found = pdist(rows), pdist(places)
    expected = ((d - found) ** 2 / d).sum() / d.sum()
    assert stress(cdist(rows, rows), places, weighting="sammon").stress == pytest.approx(expected)


def test_rows_at_one_place_have_finite_weights():
    matrix = np.array([[0.0, 0, 2], [0, 0, 2], [2, 2, 0]])
    outcome = stress(matrix, [[0.0], [1.0], [2.0]], weighting="squared")
    assert outcome.stress == pytest.approx((0.25 * 1 + 0.25 * 0 + 0.25 * 1) / 2)
    assert np.isfinite(outcome.gradient).all()


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_steps_never_raise_the_stress_and_end_at_a_minimum(weighting):
    scaling = StressScaling(weighting=weighting, tol=1e-13, max_iter=5000).fit(IRIS[::3])
    assert (np.diff(scaling.stress_curve_) <= 1e-15).all()
    matrix = cdist(IRIS[::3], IRIS[::3])
    outcome = stress(matrix, scaling.embedding_, weighting=weighting)
    assert outcome.stress == pytest.approx(scaling.stress_)
    assert np.abs(outcome.gradient).max() < 1e-6

    def objective(flat):
        result = stress(matrix, flat.reshape(-1, 2), weighting=weighting)
        return result.stress, result.gradient.ravel()

    again = minimize(objective, scaling.embedding_.ravel(), jac=True, method="L-BFGS-B")
    assert again.fun >= scaling.stress_ - 1e-7


def test_points_of_a_plane_are_recovered():
    points = np.random.default_rng(0).normal(size=(30, 2))
    for weighting in WEIGHTINGS:
        scaling = StressScaling(weighting=weighting, tol=1e-14, max_iter=5000).fit(points)
        assert scaling.stress_ < 1e-12
        assert_allclose(pdist(scaling.embedding_), pdist(points), atol=1e-4)


def test_metric_scaling_is_scikit_learns_step_by_step():
    random = np.random.default_rng(0)
    rows, start = random.normal(size=(60, 5)), random.normal(size=(60, 2))
    matrix = cdist(rows, rows)
    places, raw = smacof(
        matrix, n_components=2, init=start, n_init=1, max_iter=25, eps=0, normalized_stress=False
    )

    class Started(StressScaling):
        def _starts(self, targets):
            return [start]

    with pytest.warns(ConvergenceWarning, match="max_iter=25"):
        ours = Started(tol=0.0, max_iter=25).fit(rows)
    assert_allclose(ours.embedding_, places - places.mean(axis=0), atol=1e-9)
    assert ours.stress_ * (pdist(rows) ** 2).sum() == pytest.approx(raw)


def test_small_distances_count_for_more_with_weights():
    errors = {}
    lengths = pdist(IRIS)
    near = lengths < np.quantile(lengths, 0.1)
    for weighting in WEIGHTINGS:
        places = StressScaling(weighting=weighting).fit(IRIS).embedding_
        errors[weighting] = np.abs(pdist(places) - lengths)[near].mean()
    assert errors["none"] > errors["sammon"] > errors["squared"]


def test_more_random_starts_are_never_worse_and_seeded():
    one, many = (
        StressScaling(init="random", n_init=count, random_state=0).fit(IRIS[::4])
        for count in (1, 4)
    )
    assert many.stress_ <= one.stress_
    again = StressScaling(init="random", n_init=4, random_state=0).fit(IRIS[::4])
    assert_allclose(again.embedding_, many.embedding_)


def test_new_rows_find_their_place():
    plane = np.random.default_rng(0).normal(size=(40, 2))
    scaling = StressScaling().fit(plane[:35])
    placed = np.vstack([scaling.embedding_, scaling.transform(plane[35:])])
    assert_allclose(cdist(placed, placed), cdist(plane, plane), atol=1e-4)
    assert_allclose(scaling.transform(plane[:35]), scaling.embedding_)
    given = StressScaling(metric="precomputed").fit(cdist(plane[:35], plane[:35]))
    new = given.transform(cdist(plane[35:], plane[:35]))
    assert_allclose(new, scaling.transform(plane[35:]), atol=1e-8)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_a_fitted_map_is_at_a_minimum_and_applies_to_new_rows(weighting):
    mapped = StressProjection(weighting=weighting, tol=1e-9, max_iter=2000).fit(IRIS)
    places = mapped.transform(IRIS)
    matrix = cdist(IRIS, IRIS)
    assert stress(matrix, places, weighting=weighting).stress == pytest.approx(mapped.stress_)
    random = np.random.default_rng(0)
    for _ in range(10):
        other = mapped.coef_ + 1e-2 * random.normal(size=mapped.coef_.shape)
        assert stress(matrix, IRIS @ other, weighting=weighting).stress > mapped.stress_
    # Free places do at least as well as those that a linear map reaches.
    assert StressScaling(weighting=weighting).fit(IRIS).stress_ < mapped.stress_
    assert mapped.transform(IRIS[:3] + 0.1).shape == (3, 2)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_projections_do_not_depend_on_units(unit):
    plain, scaled = StressProjection().fit(IRIS), StressProjection().fit(unit * IRIS)
    assert scaled.n_iter_ == plain.n_iter_ > 3
    assert scaled.stress_ == pytest.approx(plain.stress_)
    assert_allclose(scaled.transform(unit * IRIS), unit * plain.transform(IRIS), atol=1e-6 * unit)


def test_basis_functions_bend_the_map():
    angle = np.linspace(0, 3, 50)
    arc = np.column_stack([np.cos(angle), np.sin(angle)])
    straight = StressProjection(1).fit(arc)
    bent = StressProjection(1, basis=PolynomialFeatures(3, include_bias=False)).fit(arc)
    assert bent.stress_ < straight.stress_


def test_bad_input():
    with pytest.raises(DataError, match="embedding: expected 2 rows"):
        stress([[0, 1], [1, 0]], [[0.0]])
    with pytest.raises(DataError, match="weighting='log'"):
        stress([[0, 1], [1, 0]], [[0.0], [1.0]], weighting="log")
    with pytest.raises(DataError, match="does not vary"):
        StressScaling().fit(np.ones((4, 2)))
    with pytest.raises(DataError, match="does not vary"):
        StressProjection().fit(np.ones((4, 2)))
    with pytest.warns(ConvergenceWarning, match="StressProjection had not converged"):
        StressProjection(max_iter=1).fit(IRIS)

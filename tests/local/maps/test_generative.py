"""Generative topographic mapping: EM never falls, both projections, three scales."""

import warnings

import dask.array
import numpy as np
import pytest
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataWarning
from verulam.data import dataset
from verulam.local import GenerativeTopographicMap, Sheet
from verulam.local._maps.generative import sheet_sums, updated_sheet


@pytest.fixture(scope="module")
def bent():
    rng = np.random.default_rng(0)
    t, u = rng.uniform(-1, 1, size=(2, 400))
    return np.column_stack([t, u, t**2]) + 0.05 * rng.normal(size=(400, 3)) + [10.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def fitted(bent):
    return GenerativeTopographicMap((8, 8), n_functions=4).fit(bent)


@pytest.mark.parametrize("alpha", [0.0, 1e-2, 10.0])
@pytest.mark.parametrize("name", ["iris", "wine"])
def test_passes_never_lower_the_objective(alpha, name):
    X = dataset(name).inputs.to_numpy()
    learner = GenerativeTopographicMap((6, 5), n_functions=3, alpha=alpha, max_iter=60, tol=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        learner.fit(X)
    curve = np.array(learner.objective_curve_)
    assert len(curve) > 10
    assert np.diff(curve).min() > -1e-10


def test_without_a_prior_the_objective_is_the_log_likelihood(bent):
    learner = GenerativeTopographicMap(9, n_functions=3, alpha=0.0, max_iter=500, tol=1e-12)
    learner.fit(bent)
    assert learner.objective_curve_[-1] == pytest.approx(learner.score(bent), rel=1e-8)


def test_densities_are_those_of_the_mixture(fitted, bent):
    parts = [
        multivariate_normal(mean, fitted.variance_ * np.eye(3)).pdf(bent[:20])
        for mean in fitted.means_
    ]
    np.testing.assert_allclose(fitted.score_samples(bent[:20]), np.log(np.mean(parts, axis=0)))
    posterior = np.array(parts).T / np.sum(parts, axis=0)[:, None]
    np.testing.assert_allclose(fitted.responsibilities(bent[:20]), posterior, atol=1e-10)


def test_a_density_on_a_line_has_area_one():
    x = np.random.default_rng(0).normal(size=(100, 1))
    learner = GenerativeTopographicMap(5, n_functions=2).fit(x)
    grid = np.linspace(-15.0, 15.0, 4001)
    area = trapezoid(np.exp(learner.score_samples(grid[:, None])), grid)
    assert area == pytest.approx(1.0, abs=1e-6)


def test_the_sheet_follows_the_rows_and_places_keep_their_order(fitted, bent):
    assert 0.03**2 < fitted.variance_ < 0.12**2
    places = fitted.transform(bent)
    correlation = np.abs(np.corrcoef(places.T, bent[:, :2].T)[:2, 2:])
    assert (correlation.max(axis=0) > 0.95).all()


def test_the_mode_is_the_most_probable_point_and_the_mean_their_average(fitted, bent):
    shares = fitted.responsibilities(bent)
    np.testing.assert_allclose(fitted.transform(bent), shares @ fitted.latent_points_)
    fitted_mode = GenerativeTopographicMap((8, 8), n_functions=4, projection="mode").fit(bent)
    np.testing.assert_array_equal(
        fitted_mode.transform(bent), fitted.latent_points_[shares.argmax(axis=1)]
    )


def test_the_maximisation_step_solves_its_equations(bent):
    learner = GenerativeTopographicMap((4, 4), n_functions=3)
    source = learner._open(bent, None, None)
    sheet = learner._start(source)
    assert isinstance(sheet, Sheet)
    sums = sheet_sums(source.data, sheet)
    new = updated_sheet(sums, 0.5)
    Z = sheet.measured(bent)
    joint = -((Z[:, None] - sheet.means) ** 2).sum(axis=2) / (2 * sheet.variance)
    R = np.exp(joint - joint.max(axis=1, keepdims=True))
    R /= R.sum(axis=1, keepdims=True)
    penalty = 0.5 * sheet.variance * np.eye(10)
    penalty[-1, -1] = 0.0
    left = sheet.basis.T @ np.diag(R.sum(axis=0)) @ sheet.basis + penalty
    np.testing.assert_allclose(left @ new.weights, sheet.basis.T @ R.T @ Z, atol=1e-8)
    errors = (R * ((Z[:, None] - new.means) ** 2).sum(axis=2)).sum()
    assert new.variance == pytest.approx(errors / Z.size)


def test_memory_stream_and_dask_give_the_same_sheet(bent, fitted):
    options = {"grid_shape": (8, 8), "n_functions": 4}
    stream = GenerativeTopographicMap(**options).fit(lambda: np.array_split(bent, 3))
    lazy = GenerativeTopographicMap(**options).fit(dask.array.from_array(bent, chunks=(150, 3)))
    for other in (stream, lazy):
        np.testing.assert_allclose(other.means_, fitted.means_, rtol=1e-8, atol=1e-8)
        assert other.n_iter_ == fitted.n_iter_


def test_odd_data():
    constant = np.column_stack([np.arange(30.0), np.full(30, 4.0)])
    learner = GenerativeTopographicMap((3, 3), n_functions=2, max_iter=500).fit(constant)
    np.testing.assert_allclose(learner.means_[:, 1], 4.0, atol=1e-6)
    with pytest.warns(DataWarning, match="16 units and X has 10 rows"):
        GenerativeTopographicMap((4, 4), n_functions=2).fit(
            np.random.default_rng(0).normal(size=(10, 2))
        )
    same = np.repeat([[1.0, 2.0]], 12, axis=0)
    single = GenerativeTopographicMap(3, n_functions=2).fit(same)
    np.testing.assert_allclose(single.means_, [[1.0, 2.0]] * 3, atol=1e-3)


def test_the_unit_of_the_columns_changes_no_place(bent):
    options = {"n_functions": 4, "max_iter": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        places, scaled = (
            GenerativeTopographicMap((8, 8), **options).fit(factor * bent).transform(factor * bent)
            for factor in (1.0, 1000.0)
        )
    np.testing.assert_allclose(places, scaled, atol=1e-6)

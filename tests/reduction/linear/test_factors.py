"""Factor analysis: numbers of R's factanal, the formula, rotations and streams."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.decomposition import FactorAnalysis as TheirFactorAnalysis
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.reduction import FactorAnalysis, FactorFit

WINE = dataset("wine").inputs.to_numpy(dtype=float)
#: R's `ability.cov`: six tests of 112 people (general, picture, blocks, maze, reading, vocabulary).
ABILITY = np.array(
    [
        [24.641, 5.991, 33.520, 6.023, 20.755, 29.701],
        [5.991, 6.700, 18.137, 1.782, 4.936, 7.204],
        [33.520, 18.137, 149.831, 19.424, 31.430, 50.753],
        [6.023, 1.782, 19.424, 12.711, 4.757, 9.075],
        [20.755, 4.936, 31.430, 4.757, 52.604, 66.762],
        [29.701, 7.204, 50.753, 9.075, 66.762, 135.292],
    ]
)


def rows_with_covariance(covariance, n_rows):
    """Return rows whose sample covariance is exactly the one asked for."""
    rows = np.random.default_rng(0).normal(size=(n_rows, len(covariance)))
    rows -= rows.mean(axis=0)
    white = rows @ np.linalg.inv(np.linalg.cholesky(np.cov(rows.T))).T
    return white @ np.linalg.cholesky(covariance).T + 50.0


@pytest.fixture(scope="module")
def ability():
    return rows_with_covariance(ABILITY, 112)


def test_one_factor_is_that_of_factanal(ability):
    factors = FactorAnalysis(1).fit(ability)
    expected = [0.535, 0.853, 0.748, 0.910, 0.232, 0.280]
    assert_allclose(factors.uniquenesses_, expected, atol=6e-4)
    assert_allclose(factors.loadings_[:, 0], [0.682, 0.384, 0.502, 0.300, 0.877, 0.849], atol=6e-4)
    assert factors.fit_test_.statistic == pytest.approx(75.18, abs=0.006)
    assert factors.fit_test_.degrees_of_freedom == 9
    assert factors.fit_test_.p_value == pytest.approx(1.46e-12, rel=0.005)


def test_two_factors_are_those_of_factanal(ability):
    factors = FactorAnalysis(2, rotation="varimax").fit(ability)
    expected = [0.455, 0.589, 0.218, 0.769, 0.052, 0.334]
    assert_allclose(factors.uniquenesses_, expected, atol=6e-4)
    # R ends its rotation early, at a relative gain of 1e-5.
    loadings = [
        [0.499, 0.543], [0.156, 0.622], [0.206, 0.860],
        [0.109, 0.468], [0.956, 0.182], [0.785, 0.225],
    ]  # fmt: skip
    assert_allclose(factors.loadings_, loadings, atol=4e-3)
    test = factors.fit_test_
    assert isinstance(test, FactorFit)
    assert (round(test.statistic, 2), test.degrees_of_freedom, round(test.p_value, 3)) == (
        6.11,
        4,
        0.191,
    )


def test_promax_is_that_of_factanal(ability):
    factors = FactorAnalysis(2, rotation="promax").fit(ability)
    assert_allclose(factors.loadings_[[0, 2, 4], [0, 1, 0]], [0.364, 0.932, 1.023], atol=2e-3)
    assert factors.factor_covariance_[0, 1] == pytest.approx(0.557, abs=2e-3)


@pytest.mark.parametrize("method", ["likelihood", "principal"])
@pytest.mark.parametrize("rotation", [None, "varimax", "promax"])
def test_rotations_leave_the_model_as_it_is(ability, method, rotation):
    plain = FactorAnalysis(2, method=method).fit(ability)
    turned = FactorAnalysis(2, method=method, rotation=rotation).fit(ability)
    assert_allclose(turned.get_covariance(), plain.get_covariance(), rtol=1e-10)
    common = turned.loadings_ @ turned.factor_covariance_ @ turned.loadings_.T
    assert_allclose(common, plain.loadings_ @ plain.loadings_.T, atol=1e-12)
    assert_allclose(np.diag(common), turned.communalities_)
    assert_allclose(plain.loadings_ @ turned.rotation_matrix_, turned.loadings_)
    assert_allclose(turned.communalities_ + turned.uniquenesses_, 1.0, atol=1e-6)


def test_likelihood_is_at_its_maximum(ability):
    factors = FactorAnalysis(2).fit(ability)
    correlation = factors.correlation_

    def discrepancy(parameters):
        loadings, log_psi = parameters[:12].reshape(6, 2), parameters[12:]
        model = loadings @ loadings.T + np.diag(np.exp(log_psi))
        ratio = np.linalg.solve(model, correlation)
        return np.trace(ratio) - np.linalg.slogdet(ratio)[1] - 6

    start = np.r_[factors.loadings_.ravel(), np.log(factors.uniquenesses_)]
    ours = discrepancy(start)
    again = minimize(discrepancy, start + 0.05 * np.sin(np.arange(18)), method="BFGS")
    assert again.fun == pytest.approx(ours, abs=1e-7)


def test_agrees_with_the_likelihood_of_scikit_learn():
    random = np.random.default_rng(0)
    rows = random.normal(size=(600, 3)) @ random.normal(size=(3, 9))
    rows += random.normal(size=rows.shape) * random.uniform(0.5, 2, 9)
    ours = FactorAnalysis(3).fit(rows)
    theirs = TheirFactorAnalysis(3, tol=1e-12, max_iter=20_000, svd_method="lapack").fit(rows)
    assert ours.score(rows) / len(rows) == pytest.approx(theirs.score(rows), abs=1e-7)
    assert ours.score(rows) / len(rows) >= theirs.score(rows) - 1e-12
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=2e-3)
    assert_allclose(
        ours.transform(rows) @ (ours.loadings_.T * ours.scale_),
        theirs.transform(rows) @ theirs.components_,
        atol=2e-2,
    )


def test_scores_by_their_formulas():
    rows = WINE[:, [0, 5, 6, 9, 10, 12]]
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    regression = FactorAnalysis(2).fit(rows)
    # At the maximum the sample's correlations serve as well as the model's, as in factanal.
    expected = z @ np.linalg.solve(regression.correlation_, regression.loadings_)
    assert_allclose(regression.transform(rows), expected, atol=1e-6)
    bartlett = FactorAnalysis(2, scores="bartlett").fit(rows)
    weights = np.diag(1 / bartlett.uniquenesses_)
    loadings = bartlett.loadings_
    expected = z @ weights @ loadings @ np.linalg.inv(loadings.T @ weights @ loadings)
    assert_allclose(bartlett.transform(rows), expected, atol=1e-8)
    # Bartlett's scores are unbiased: they give back factors of rows without noise.
    factors = np.random.default_rng(0).normal(size=(5, 2))
    assert_allclose(bartlett.transform(bartlett.inverse_transform(factors)), factors, atol=1e-9)
    # Scores by regression of oblique factors are those of the orthogonal ones, slanted.
    oblique = FactorAnalysis(2, rotation="promax").fit(rows)
    precision = np.linalg.inv(oblique.get_covariance() / np.outer(oblique.scale_, oblique.scale_))
    expected = z @ precision @ oblique.loadings_ @ oblique.factor_covariance_
    assert_allclose(oblique.transform(rows), expected, atol=1e-8)


def test_principal_factors_are_components_of_the_reduced_correlations(ability):
    factors = FactorAnalysis(2, method="principal").fit(ability)
    reduced = factors.correlation_ - np.diag(factors.uniquenesses_)
    values, vectors = np.linalg.eigh(reduced)
    best = (vectors[:, -2:] * values[-2:]) @ vectors[:, -2:].T
    assert_allclose(factors.loadings_ @ factors.loadings_.T, best, atol=1e-8)
    assert_allclose(1 - (factors.loadings_**2).sum(axis=1), factors.uniquenesses_, atol=1e-8)


@pytest.mark.parametrize("method", ["likelihood", "principal"])
def test_stream_and_pieces_agree_with_memory(ability, method):
    whole = FactorAnalysis(2, method=method, rotation="promax").fit(ability)
    streamed = FactorAnalysis(2, method=method, rotation="promax").fit(
        lambda: iter(np.array_split(ability, 4))
    )
    assert_allclose(streamed.loadings_, whole.loadings_, atol=1e-8)
    assert_allclose(streamed.uniquenesses_, whole.uniquenesses_, atol=1e-8)


def test_units_do_not_matter(ability):
    first = FactorAnalysis(2).fit(ability)
    second = FactorAnalysis(2).fit(ability * [1.0, 10.0, 0.1, 1000.0, 3.0, 1.0] + 7.0)
    assert_allclose(first.loadings_, second.loadings_, atol=1e-7)


def test_samples_follow_the_model(ability):
    factors = FactorAnalysis(2).fit(ability)
    drawn = factors.sample(50_000, random_state=1)
    scale = np.sqrt(np.diag(factors.get_covariance()))
    assert_allclose(
        np.corrcoef(drawn.T), factors.get_covariance() / np.outer(scale, scale), atol=0.02
    )


def test_heywood_cases_are_warned_of_and_floored():
    crime = dataset("state_crime").inputs.to_numpy(dtype=float)
    with pytest.warns(DataWarning, match=r"Heywood case.*column 3.*uniqueness_floor=0.005"):
        factors = FactorAnalysis(1).fit(crime)
    assert factors.uniquenesses_.min() == pytest.approx(0.005)
    with pytest.warns(DataWarning, match="uniqueness_floor=0.1"):
        assert FactorAnalysis(1, uniqueness_floor=0.1).fit(crime).uniquenesses_.min() >= 0.1 - 1e-12


def test_dependent_columns_still_have_a_model():
    rows = np.random.default_rng(0).normal(size=(60, 5))
    rows = np.column_stack([rows, rows[:, 0]])
    with pytest.warns(DataWarning, match="Heywood"):
        factors = FactorAnalysis(1).fit(rows)
    assert np.isfinite(factors.loadings_).all()
    assert factors.fit_test_.p_value == 0.0


def test_bad_input(ability):
    with pytest.raises(DataError, match=r"n_components=7.*n_features=6"):
        FactorAnalysis(7).fit(ability)
    with pytest.raises(DataError, match=r"X is constant in column 2 \(counted from 0\)"):
        FactorAnalysis(1).fit(np.column_stack([ability[:, :2], np.ones(112)]))
    table = pd.DataFrame({"a": 1.0, "b": ability[:, 1], "c": 2.0})
    with pytest.raises(DataError, match="X is constant in columns 'a', 'c'; factors explain"):
        FactorAnalysis(1).fit(table)
    with pytest.warns(DataWarning, match="too many for 4 columns"):
        FactorAnalysis(2).fit(ability[:, :4])
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        FactorAnalysis(2, method="principal", max_iter=3).fit(ability)
    with pytest.raises(ValueError, match="rotation"):
        FactorAnalysis(2, rotation="quartimax").fit(ability)


@pytest.mark.filterwarnings("ignore:Heywood case")
@pytest.mark.parametrize("n_rows", [8, 10])
def test_fewer_rows_than_columns_leave_nothing_to_test(n_rows):
    noise = np.random.default_rng(0).normal(size=(n_rows, 10))
    fit = FactorAnalysis(2).fit(noise).fit_test_
    assert np.isnan([fit.statistic, fit.p_value]).all()


@pytest.mark.filterwarnings("ignore:Heywood case")
def test_dependent_columns_leave_nothing_to_test():
    noise = np.random.default_rng(0).normal(size=(100, 6))
    noise[:, 5] = noise[:, 3] + noise[:, 4]
    fit = FactorAnalysis(2).fit(noise).fit_test_
    assert np.isnan([fit.statistic, fit.p_value]).all()

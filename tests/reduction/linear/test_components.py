"""Principal components: variances, shares, reconstruction, streams; the probabilistic model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from verulam.base import DataError, DataWarning
from verulam.data import dataset
from verulam.reduction import PrincipalComponents, ProbabilisticComponents, reconstruction_error

WINE = dataset("wine").inputs.to_numpy(dtype=float)


def test_variances_of_the_coordinates_are_the_eigenvalues():
    components = PrincipalComponents().fit(WINE)
    z = components.transform(WINE)
    assert_allclose(np.cov(z.T), np.diag(components.eigenvalues_), atol=1e-7)
    assert_allclose(components.components_ @ components.components_.T, np.eye(13), atol=1e-12)
    covariance = np.cov(WINE.T)
    for direction, value in zip(components.components_, components.eigenvalues_, strict=True):
        assert_allclose(covariance @ direction, value * direction, atol=1e-7)


def test_proportions_of_variance_sum_to_one_and_stop_at_the_share_asked_for():
    whole = PrincipalComponents(standardise=True).fit(WINE)
    shares = whole.explained_variance_ratio_
    assert shares.sum() == pytest.approx(1.0)
    assert (np.diff(shares) <= 0).all()
    part = PrincipalComponents(0.9, standardise=True).fit(WINE)
    assert shares[: part.n_components_].sum() >= 0.9 > shares[: part.n_components_ - 1].sum()
    # Standardised columns have variance one each.
    assert whole.eigenvalues_.sum() == pytest.approx(13.0)


def test_reconstruction_errs_by_the_discarded_eigenvalues():
    for count in (1, 4, 12):
        components = PrincipalComponents(count).fit(WINE)
        discarded = components.eigenvalues_[count:].sum() * (len(WINE) - 1) / len(WINE)
        assert reconstruction_error(components, WINE) == pytest.approx(discarded, rel=1e-8)
    with pytest.raises(DataError, match="has no inverse_transform"):
        reconstruction_error(object(), WINE)


@pytest.mark.parametrize("whiten", [False, True])
def test_agrees_with_scikit_learn(whiten):
    scaled = StandardScaler().fit_transform(WINE)
    ours = PrincipalComponents(4, whiten=whiten).fit(scaled)
    theirs = PCA(4, whiten=whiten, svd_solver="full").fit(scaled)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_)
    assert_allclose(np.abs(ours.transform(scaled)), np.abs(theirs.transform(scaled)), atol=1e-9)
    assert_allclose(
        ours.inverse_transform(ours.transform(scaled)),
        theirs.inverse_transform(theirs.transform(scaled)),
        atol=1e-9,
    )


def test_whitened_coordinates_have_unit_variance():
    z = PrincipalComponents(5, whiten=True, standardise=True).fit_transform(WINE)
    assert_allclose(np.cov(z.T), np.eye(5), atol=1e-9)


def test_loadings_are_correlations_of_standardised_columns():
    components = PrincipalComponents(3, standardise=True).fit(WINE)
    z = components.transform(WINE)
    expected = np.corrcoef(WINE.T, z.T)[:13, 13:]
    assert_allclose(components.loadings_, expected, atol=1e-10)


def test_largest_loading_is_positive():
    directions = PrincipalComponents().fit(WINE).components_
    assert (directions[np.arange(13), np.abs(directions).argmax(axis=1)] > 0).all()


def test_memory_stream_and_pieces_agree_where_means_are_large():
    rows = np.random.default_rng(0).normal(size=(500, 4)) @ np.diag([3, 2, 1, 0.5]) + 1e6
    whole = PrincipalComponents(3).fit(rows)
    streamed = PrincipalComponents(3).fit(lambda: iter(np.array_split(rows, 7)))
    pieces = PrincipalComponents(3)
    for part in np.array_split(rows, 5):
        pieces.partial_fit(part)
    centred = PrincipalComponents(3).fit(rows - 1e6)
    for other in (streamed, pieces, centred):
        assert_allclose(other.components_, whole.components_, atol=1e-8)
        assert_allclose(other.explained_variance_, whole.explained_variance_, rtol=1e-8)
    assert_allclose(whole.components_, centred.components_, atol=1e-8)


def test_an_outlying_first_row_costs_no_digits():
    rows = np.random.default_rng(0).normal(size=(400, 2))
    rows[0] = 1e5
    expected = np.linalg.eigvalsh(np.cov(rows.T))[::-1]
    assert_allclose(PrincipalComponents().fit(rows).eigenvalues_, expected, rtol=1e-7)


def test_weights_are_repeated_rows():
    weights = np.arange(len(WINE)) % 3
    weighted = PrincipalComponents(3).fit(WINE, sample_weight=weights)
    repeated = PrincipalComponents(3).fit(np.repeat(WINE, weights, axis=0))
    assert_allclose(weighted.components_, repeated.components_, atol=1e-9)
    assert weighted.n_samples_ == weights.sum()


def test_directions_without_variance_are_no_components():
    rows = np.random.default_rng(0).normal(size=(30, 2)) @ np.ones((2, 5))
    rows[:, 4] = 7.0
    assert PrincipalComponents().fit(rows).n_components_ == 1
    with pytest.warns(DataWarning, match="varies in 1 directions only"):
        assert PrincipalComponents(3).fit(rows).n_components_ == 1
    few = np.random.default_rng(1).normal(size=(4, 6))
    assert PrincipalComponents().fit(few).n_components_ == 3


def test_bad_input():
    with pytest.raises(DataError, match=r"n_components=14.*n_features=13"):
        PrincipalComponents(14).fit(WINE)
    with pytest.raises(DataError, match="does not vary"):
        PrincipalComponents().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="NaN"):
        PrincipalComponents().fit([[1.0, np.nan], [2.0, 3.0]])
    with pytest.raises(DataError, match="at least two rows"):
        PrincipalComponents().fit([[1.0, 2.0]])
    with pytest.raises(ValueError, match="0 sample"):
        PrincipalComponents().fit(np.empty((0, 3)))
    with pytest.raises(DataError, match="beyond floating point"):
        PrincipalComponents().fit([[1e200, 1.0], [2.0, 3.0]])
    with pytest.raises(DataError, match="must have 2 columns"):
        PrincipalComponents(2).fit(WINE).inverse_transform(np.ones((3, 4)))


def test_probabilistic_components_maximise_the_likelihood():
    scaled = StandardScaler().fit_transform(WINE)
    model = ProbabilisticComponents(3).fit(scaled)
    eigenvalues = np.linalg.eigvalsh(np.cov(scaled.T, bias=True))[::-1]
    assert model.noise_variance_ == pytest.approx(eigenvalues[3:].mean())
    covariance = model.get_covariance()
    assert_allclose(np.linalg.eigvalsh(covariance)[::-1][:3], eigenvalues[:3])
    expected = multivariate_normal(model.mean_, covariance).logpdf(scaled)
    assert_allclose(model.score_samples(scaled), expected)
    best = model.score(scaled)
    random = np.random.default_rng(0)
    for _ in range(10):
        loadings = model.loadings_ + 0.05 * random.normal(size=model.loadings_.shape)
        noise = model.noise_variance_ * np.exp(0.05 * random.normal())
        other = loadings @ loadings.T + noise * np.eye(13)
        assert multivariate_normal(model.mean_, other).logpdf(scaled).sum() < best


def test_hidden_coordinates_are_posterior_means_and_become_whitened_components():
    scaled = StandardScaler().fit_transform(WINE)
    model = ProbabilisticComponents(2).fit(scaled)
    precision = np.linalg.inv(model.get_covariance())
    expected = (scaled - model.mean_) @ precision @ model.loadings_
    assert_allclose(model.transform(scaled), expected, atol=1e-10)
    random = np.random.default_rng(0)
    thin = random.normal(size=(300, 2)) @ random.normal(size=(2, 5))
    thin += 1e-4 * random.normal(size=thin.shape)
    hidden = ProbabilisticComponents(2).fit(thin)
    white = PrincipalComponents(2, whiten=True).fit_transform(thin) * np.sqrt(300 / 299)
    assert_allclose(hidden.transform(thin), white, atol=1e-5)
    assert_allclose(hidden.inverse_transform(hidden.transform(thin)), thin, atol=1e-3)


def test_samples_follow_the_probabilistic_model():
    model = ProbabilisticComponents(2).fit(StandardScaler().fit_transform(WINE))
    drawn = model.sample(40_000, random_state=0)
    assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.06)


def test_noise_needs_a_direction():
    with pytest.raises(DataError, match="fewer components than columns"):
        ProbabilisticComponents(2).fit([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0]])
    line = np.outer(np.arange(6.0), [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="no noise is left"):
        ProbabilisticComponents(1).fit(line)

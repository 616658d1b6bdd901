"""Row by row: the updates by the formula, where they lead, and what is forgotten."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.cluster import GaussianMixture, OnlineGaussianMixture
from verulam.cluster._mixture.online import learn_rows


def stream(n_rows, seed, centres=(-4.0, 4.0)):
    random = np.random.default_rng(seed)
    return random.normal(size=(n_rows, 2)) + random.choice(centres, (n_rows, 1))


def test_one_row_by_the_formula():
    counts, means = np.array([3.0, 5.0]), np.array([[0.0, 0.0], [2.0, 1.0]])
    variances = np.array([1.0, 2.0])
    x = np.array([1.0, 0.5])
    densities = counts * np.exp(-0.5 * ((x - means) ** 2).sum(1) / variances) / variances
    shares = densities / densities.sum()
    after_counts = 0.9 * counts + shares
    steps = (shares / after_counts)[:, None]
    after_means = means + steps * (x - means)
    squares = ((x - means) * (x - after_means)).sum(axis=1) / 2
    after_variances = variances + steps[:, 0] * (squares - variances)
    learn_rows(x[None], counts, means, variances, 0.9, 1e-9, np.empty(2))
    np.testing.assert_allclose(counts, after_counts)
    np.testing.assert_allclose(means, after_means)
    # With the share of the step that the old mean kept, squares are those about the new mean.
    expected = (1 - steps[:, 0]) * np.array([1.0, 2.0]) + steps[:, 0] * squares
    np.testing.assert_allclose(variances, expected)
    np.testing.assert_allclose(variances, after_variances)


def test_one_component_is_the_mean_and_variance_so_far():
    X = stream(200, 0)
    mixture = OnlineGaussianMixture(1, random_state=0)
    for part in np.array_split(X, 5):
        mixture.partial_fit(part)
    # The start counts as one row: a mean at some row of the first part.
    start = OnlineGaussianMixture(1, random_state=0)
    start._begin(X[:40], np.random.default_rng(0))
    mean = (start.means_[0] + X.sum(axis=0)) / 201
    np.testing.assert_allclose(mixture.means_[0], mean)
    scatter = ((X - mean) ** 2).sum() + ((start.means_[0] - mean) ** 2).sum()
    assert mixture.covariances_[0] == pytest.approx((scatter / 2 + start.covariances_[0]) / 201)
    assert mixture.counts_[0] == pytest.approx(201)


def test_many_passes_lead_to_batch_em():
    X = stream(600, 1)
    batch = GaussianMixture(2, covariance_type="spherical", tol=1e-10, random_state=0).fit(X)
    online = OnlineGaussianMixture(2, max_iter=60, random_state=0).fit(X)
    order = np.argsort(online.means_[:, 0])
    target = np.argsort(batch.means_[:, 0])
    np.testing.assert_allclose(online.means_[order], batch.means_[target], atol=0.03)
    np.testing.assert_allclose(online.covariances_[order], batch.covariances_[target], rtol=0.03)
    np.testing.assert_allclose(online.weights_[order], batch.weights_[target], atol=0.01)
    assert online.score(X) == pytest.approx(batch.score(X), rel=1e-3)


def test_a_mixture_that_forgets_follows_the_data():
    random = np.random.default_rng(2)
    drift = np.linspace(0.0, 20.0, 4000)[:, None]
    X = random.normal(size=(4000, 2)) + random.choice([-4.0, 4.0], (4000, 1)) + drift
    means = {}
    for retention in (1.0, 0.99):
        mixture = OnlineGaussianMixture(2, retention=retention, random_state=0)
        for part in np.split(X, 40):
            mixture.partial_fit(part)
        means[retention] = np.sort(mixture.means_[:, 0])
    np.testing.assert_allclose(means[0.99], [16.0, 24.0], atol=1.0)
    assert np.abs(means[1.0] - [16.0, 24.0]).max() > 4.0


def test_densities_agree_with_the_batch_mixture():
    X = stream(100, 4, (-4.0, 0.0, 4.0))
    online = OnlineGaussianMixture(3, random_state=0).fit(X)
    batch = GaussianMixture(3, covariance_type="spherical", random_state=0).fit(X)
    batch.weights_, batch.means_, batch.covariances_ = (
        online.weights_, online.means_, online.covariances_,
    )  # fmt: skip
    np.testing.assert_allclose(online.score_samples(X), batch.score_samples(X))
    np.testing.assert_allclose(online.predict_proba(X), batch.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(online.predict(X), batch.predict(X))


def test_too_few_first_rows_are_refused():
    with pytest.raises(DataError, match="n_components=3 is more than the data has"):
        OnlineGaussianMixture(3).partial_fit([[1.0], [2.0]])


def test_equal_rows_have_a_floor():
    mixture = OnlineGaussianMixture(2, random_state=0).fit(np.ones((10, 2)))
    assert np.isfinite(mixture.score_samples(np.ones((1, 2)))).all()

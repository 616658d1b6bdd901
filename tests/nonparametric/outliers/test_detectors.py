"""One-class detectors: rankings, thresholds by contamination, robustness, clusters of their own."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import mahalanobis
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity as PeerDensity

from verulam.base import DataError
from verulam.nonparametric import (
    DensityDetector,
    GaussianDetector,
    KernelDensity,
    MixtureDetector,
)

DETECTORS = [GaussianDetector(), MixtureDetector(random_state=0), DensityDetector()]


@pytest.fixture
def typical():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 2)) @ [[2.0, 0.5], [0.0, 1.0]]


@pytest.mark.parametrize("detector", DETECTORS)
@pytest.mark.parametrize("contamination", [0.005, 0.05, 0.25])
def test_as_many_are_flagged_as_expected(typical, detector, contamination):
    answers = detector.set_params(contamination=contamination).fit(typical).predict(typical)
    assert (answers == -1).sum() == round(200 * contamination)
    scores = detector.score_samples(typical)
    assert scores[answers == -1].max() < detector.offset_ < scores[answers == 1].min()
    assert_allclose(detector.decision_function(typical), scores - detector.offset_)


def test_gaussian_density_ranks_as_mahalanobis_distance(typical):
    detector = GaussianDetector().fit(typical)
    scores = detector.score_samples(typical)
    inverse = np.linalg.inv(np.cov(typical.T, bias=True))
    distances = [mahalanobis(row, typical.mean(axis=0), inverse) for row in typical]
    assert_array_equal(np.argsort(scores), np.argsort(distances)[::-1])
    expected = multivariate_normal(typical.mean(axis=0), np.cov(typical.T, bias=True))
    assert_allclose(scores, expected.logpdf(typical), rtol=1e-6)


def test_robust_gaussian_sees_what_hides_behind_its_own_weight(typical):
    X = np.vstack([typical, np.full((40, 2), [30.0, -30.0])])
    plain = GaussianDetector(contamination=0.2).fit(X)
    robust = GaussianDetector(contamination=0.2, robust=True, random_state=0).fit(X)
    assert np.linalg.norm(robust.mean_) < 0.5 < np.linalg.norm(plain.mean_)
    probe = [[12.0, -12.0]]
    assert plain.predict(probe) == [1]
    assert robust.predict(probe) == [-1]


def test_kernel_density_is_less_corrupted_by_one_outlier(typical):
    """One far row among the training data moves the Gaussian's scores more than the density's."""
    X = np.vstack([typical, [[60.0, 60.0]]])
    moves = []
    for detector in (GaussianDetector(), DensityDetector(estimator=PeerDensity(bandwidth=0.7))):
        clean = detector.fit(typical).score_samples(typical)
        moves.append(np.abs(detector.fit(X).score_samples(typical) - clean).mean())
    assert moves[1] < 0.1 * moves[0]


def test_mixture_drops_clusters_of_outliers(typical):
    far = np.array([[40.0, 40.0], [40.1, 40.0]])
    X = np.vstack([typical, typical + np.array([15.0, 0.0]), far])
    plain = GaussianMixture(3, random_state=0).fit(X)
    assert plain.score_samples(far).min() > np.median(plain.score_samples(typical))
    detector = MixtureDetector(n_components=3, contamination=0.01, random_state=0).fit(X)
    assert detector.n_dropped_ == 1
    assert_array_equal(detector.predict(far), [-1, -1])
    assert (detector.predict(typical) == 1).mean() > 0.98


def test_mixture_without_small_components_is_scikit_learns(typical):
    X = np.vstack([typical, typical + 9.0])
    detector = MixtureDetector(random_state=0).fit(X)
    seed = int(np.random.default_rng(0).integers(2**31 - 1))
    peer = GaussianMixture(2, random_state=seed).fit(X)
    assert detector.n_dropped_ == 0
    assert_allclose(detector.score_samples(X), peer.score_samples(X))


def test_default_density_is_in_units_of_each_column(typical):
    plain = DensityDetector(contamination=0.05).fit(typical)
    scaled = DensityDetector(contamination=0.05).fit(typical * [1000.0, 0.01])
    assert_array_equal(plain.predict(typical), scaled.predict(typical * [1000.0, 0.01]))


def test_windows_without_tails_leave_no_doubt(typical):
    """Where the density is zero the score is minus infinity, and the row is an outlier."""
    density = KernelDensity(kernel="tophat", bandwidth=2.0)
    detector = DensityDetector(estimator=density, contamination=0.05).fit(typical)
    assert detector.score_samples([[99.0, 99.0]]) == [-np.inf]
    assert_array_equal(detector.predict([[99.0, 99.0], [0.0, 0.0]]), [-1, 1])


def test_constant_and_dependent_columns(typical):
    X = np.column_stack([typical, np.full(200, 3.0), typical.sum(axis=1)])
    for detector in (GaussianDetector(), MixtureDetector(random_state=0)):
        assert np.isfinite(detector.fit(X).score_samples(X)).all()
    with pytest.raises(DataError, match="are constant"):
        DensityDetector().fit(X)
    assert GaussianDetector().fit(X).predict([[0.0, 0.0, 5.0, 0.0]]) == [-1]


@pytest.mark.parametrize("contamination", [0.0, 0.6, -0.1])
def test_contamination_is_a_small_share(typical, contamination):
    with pytest.raises(ValueError, match="contamination"):
        GaussianDetector(contamination=contamination).fit(typical)

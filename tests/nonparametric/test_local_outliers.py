"""Local outlier factors: the worked numbers, scikit-learn's factors, repeated points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import LocalOutlierFactor as Peer

from verulam.nonparametric import LocalOutlierFactor, compare_outlier_factors


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(60, 3)), 5 + 0.2 * rng.normal(size=(60, 3)), [[9, 9, 9]]])


def test_worked_numbers():
    """d_2 of 0, 1, 2, 3 is 2, 1, 1, 2; LOF(10) = 8 / 1.5 and LOF(4) = 2 / 1.5."""
    detector = LocalOutlierFactor(n_neighbors=2).fit([[0.0], [1.0], [2.0], [3.0]])
    assert_allclose(detector.distances_, [2.0, 1.0, 1.0, 2.0])
    assert_allclose(detector.outlier_factors([[10.0], [4.0]]), [8 / 1.5, 2 / 1.5])
    assert_allclose(detector.factors_, [2.0, 1 / 1.5, 1 / 1.5, 2.0])


def test_textbook_formula(data):
    detector = LocalOutlierFactor(n_neighbors=7).fit(data)
    distances = np.linalg.norm(data[:, None] - data, axis=2)
    order = np.argsort(distances, axis=1)[:, 1:8]
    radii = np.take_along_axis(distances, order, axis=1)[:, -1]
    assert_allclose(detector.factors_, radii / radii[order].mean(axis=1))


@pytest.mark.parametrize("n_neighbors", [1, 5, 20])
def test_breunig_is_scikit_learns(data, n_neighbors):
    ours = LocalOutlierFactor(n_neighbors=n_neighbors, kind="breunig").fit(data)
    peer = Peer(n_neighbors=n_neighbors).fit(data)
    assert_allclose(ours.factors_, -peer.negative_outlier_factor_, rtol=1e-8)
    new = np.random.default_rng(1).normal(2, 3, size=(30, 3))
    novelty = Peer(n_neighbors=n_neighbors, novelty=True).fit(data)
    assert_allclose(ours.score_samples(new), novelty.score_samples(new), rtol=1e-8)
    assert_array_equal(ours.predict(new), novelty.predict(new))


def test_contamination_sets_the_threshold(data):
    for kind in ("textbook", "breunig"):
        detector = LocalOutlierFactor(kind=kind, contamination=0.05).fit(data)
        answers = detector.predict(data)
        assert (answers == -1).sum() == 6
        assert answers[-1] == -1


def test_training_rows_are_not_their_own_neighbours(data):
    for kind in ("textbook", "breunig"):
        detector = LocalOutlierFactor(kind=kind, n_neighbors=5).fit(data)
        assert_allclose(detector.outlier_factors(data), detector.factors_)


def test_local_and_not_global():
    """A point at the edge of a dense cluster stands out beside a wide cluster's."""
    rng = np.random.default_rng(0)
    wide, dense = rng.normal(size=(100, 2)), 20 + 0.01 * rng.normal(size=(100, 2))
    detector = LocalOutlierFactor(n_neighbors=10).fit(np.vstack([wide, dense]))
    factors = detector.outlier_factors([[20.3, 20.3], [1.0, 1.0]])
    assert factors[0] > 10 > 2 > factors[1]
    assert np.median(detector.factors_) == pytest.approx(1.0, abs=0.1)


def test_repeated_points_never_give_nan():
    X = np.vstack([np.zeros((10, 2)), np.ones((1, 2)), [[5.0, 5.0]]])
    for kind in ("textbook", "breunig"):
        detector = LocalOutlierFactor(n_neighbors=3, kind=kind).fit(X)
        assert np.isfinite(detector.factors_).all()
        assert_allclose(detector.factors_[:10], 1.0)
        assert detector.factors_[10] > 1e6
        assert_array_equal(detector.predict([[0.0, 0.0], [9.0, 9.0]]), [1, -1])


def test_more_neighbours_than_rows_are_all_of_them():
    detector = LocalOutlierFactor(n_neighbors=50).fit([[0.0], [1.0], [2.0]])
    assert detector.n_neighbors_ == 2
    with pytest.raises(ValueError, match="minimum of 2"):
        LocalOutlierFactor().fit([[0.0]])


def test_both_kinds_side_by_side(data):
    both = compare_outlier_factors(data, n_neighbors=10, contamination=0.05)
    assert_allclose(both.breunig, -Peer(n_neighbors=10).fit(data).negative_outlier_factor_)
    assert both.textbook.argmax() == both.breunig.argmax() == 120
    assert 0.3 < both.rank_correlation < 1.0
    assert 0.3 < both.agreement <= 1.0

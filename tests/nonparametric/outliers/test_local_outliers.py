"""Local outlier factors: the worked numbers, scikit-learn's factors, repeated points."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import LocalOutlierFactor as Peer

from verulam.nonparametric import FactorComparison, LocalOutlierFactor, compare_outlier_factors
from verulam.nonparametric._outliers import local_outliers as _local_outliers


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


@pytest.mark.parametrize("kind", ["textbook", "breunig"])
def test_neighbourhoods_within_a_radius(data, kind):
    """By definition, with d_k of the fifth neighbour and all rows within 1.5 as neighbours."""
    detector = LocalOutlierFactor(n_neighbors=5, radius=1.5, kind=kind).fit(data)
    new = np.random.default_rng(1).normal(2, 3, size=(30, 3))
    table = np.linalg.norm(data[:, None] - data, axis=2)
    np.fill_diagonal(table, np.inf)
    radii = np.sort(table, axis=1)[:, 4]

    def neighbours(row):
        within = np.flatnonzero(row <= 1.5)
        return within if len(within) else np.argsort(row)[:5]

    def reach(row):
        places = neighbours(row)
        return np.maximum(radii[places], row[places]).mean()

    reaches = np.array([reach(row) for row in table])

    def factor(row):
        if kind == "textbook":
            return np.sort(row)[4] / radii[neighbours(row)].mean()
        return reach(row) * (1.0 / reaches[neighbours(row)]).mean()

    assert len({len(neighbours(row)) for row in table}) > 10
    assert_allclose(detector.factors_, [factor(row) for row in table], rtol=1e-8)
    assert_allclose(detector.outlier_factors(data), detector.factors_)
    distances = np.linalg.norm(new[:, None] - data, axis=2)
    assert (distances.min(axis=1) > 1.5).any()
    assert_allclose(detector.outlier_factors(new), [factor(row) for row in distances], rtol=1e-8)


def test_blocks_do_not_change_the_factors(data, monkeypatch):
    whole = LocalOutlierFactor(n_neighbors=5, radius=1.5).fit(data)
    monkeypatch.setattr(_local_outliers, "DISTANCES_AT_ONCE", 7 * len(data))
    in_blocks = LocalOutlierFactor(n_neighbors=5, radius=1.5).fit(data)
    assert_allclose(in_blocks.factors_, whole.factors_)


@pytest.mark.parametrize(
    ("ours", "theirs"), [("manhattan", "cityblock"), ("chebyshev", "chebyshev")]
)
def test_other_metrics(data, ours, theirs):
    by_name = LocalOutlierFactor(n_neighbors=7, kind="breunig", metric=ours).fit(data)
    peer = Peer(n_neighbors=7, metric=theirs, novelty=True).fit(data)
    assert_allclose(by_name.factors_, -peer.negative_outlier_factor_, rtol=1e-8)
    new = np.random.default_rng(1).normal(2, 3, size=(30, 3))
    assert_allclose(by_name.score_samples(new), peer.score_samples(new), rtol=1e-8)


def test_any_distance_of_two_rows(data):
    def first_column(a, b):
        return abs(a[0] - b[0])

    by_function = LocalOutlierFactor(n_neighbors=7, radius=0.5, metric=first_column).fit(data)
    one_column = LocalOutlierFactor(n_neighbors=7, radius=0.5).fit(data[:, :1])
    assert_allclose(by_function.factors_, one_column.factors_)
    with pytest.raises(ValueError, match="'radius' parameter"):
        LocalOutlierFactor(radius=0.0).fit(data)


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
        within = LocalOutlierFactor(n_neighbors=3, kind=kind, radius=0.1).fit(X)
        assert_allclose(within.factors_[:10], 1.0)
        assert np.isfinite(within.factors_).all()
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


def test_comparison_holds_the_factors_of_both_kinds(data):
    both = compare_outlier_factors(data, n_neighbors=9)
    assert isinstance(both, FactorComparison)
    assert_allclose(both.textbook, LocalOutlierFactor(n_neighbors=9).fit(data).factors_)
    breunig = LocalOutlierFactor(n_neighbors=9, kind="breunig").fit(data)
    assert_allclose(both.breunig, breunig.factors_)
    assert 0.0 <= both.agreement <= 1.0

"""Canonical correlations: by their definition, and beside scikit-learn's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cross_decomposition import CCA

from verulam.base import DataError, DataWarning
from verulam.reduction import CanonicalCorrelations

RANDOM = np.random.default_rng(0)
HIDDEN = RANDOM.normal(size=(200, 2))
FIRST = HIDDEN @ RANDOM.normal(size=(2, 4)) + RANDOM.normal(size=(200, 4))
SECOND = HIDDEN @ RANDOM.normal(size=(2, 3)) + 5.0 + RANDOM.normal(size=(200, 3))


def test_projections_have_the_correlations_and_unit_variance():
    learner = CanonicalCorrelations().fit(FIRST, SECOND)
    u, v = learner.transform(FIRST), learner.transform_target(SECOND)
    assert_allclose(np.cov(u.T), np.eye(3), atol=1e-10)
    assert_allclose(np.cov(v.T), np.eye(3), atol=1e-10)
    cross = np.corrcoef(u.T, v.T)[:3, 3:]
    assert_allclose(cross, np.diag(learner.correlations_), atol=1e-10)
    assert (np.diff(learner.correlations_) <= 0).all()


def test_correlations_are_roots_of_the_eigenvalue_problem():
    both = np.cov(FIRST.T, SECOND.T)
    xx, xy, yy = both[:4, :4], both[:4, 4:], both[4:, 4:]
    product = np.linalg.solve(xx, xy) @ np.linalg.solve(yy, xy.T)
    roots = np.sqrt(np.sort(np.linalg.eigvals(product).real)[::-1][:3])
    assert_allclose(CanonicalCorrelations().fit(FIRST, SECOND).correlations_, roots)


def test_agrees_with_scikit_learn():
    theirs = CCA(2, max_iter=5000, tol=1e-12).fit(FIRST, SECOND)
    u, v = theirs.transform(FIRST, SECOND)
    expected = [np.corrcoef(u[:, k], v[:, k])[0, 1] for k in range(2)]
    ours = CanonicalCorrelations(2).fit(FIRST, SECOND)
    assert_allclose(ours.correlations_, expected, atol=1e-6)


def test_no_other_directions_correlate_more():
    best = CanonicalCorrelations(1).fit(FIRST, SECOND).correlations_[0]
    random = np.random.default_rng(3)
    for _ in range(100):
        u, v = FIRST @ random.normal(size=4), SECOND @ random.normal(size=3)
        assert abs(np.corrcoef(u, v)[0, 1]) <= best


def test_stream_pieces_and_dask_agree_with_memory():
    import dask.array

    whole = CanonicalCorrelations(2).fit(FIRST, SECOND)
    chunks = list(zip(np.array_split(FIRST, 4), np.array_split(SECOND, 4), strict=True))
    streamed = CanonicalCorrelations(2).fit(lambda: iter(chunks))
    pieces = CanonicalCorrelations(2)
    for first, second in chunks:
        pieces.partial_fit(first, second)
    lazy = CanonicalCorrelations(2).fit(
        dask.array.from_array(FIRST, chunks=(50, 4)), dask.array.from_array(SECOND, chunks=(50, 3))
    )
    for other in (streamed, pieces, lazy):
        assert_allclose(other.components_, whole.components_, atol=1e-8)
        assert_allclose(other.target_components_, whole.target_components_, atol=1e-8)


def test_a_ridge_tames_many_columns():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(20, 30)), random.normal(size=(20, 2))
    with pytest.warns(DataWarning, match="2 of the canonical correlations are 1 whatever"):
        full = CanonicalCorrelations(1).fit(first, second)
    assert full.correlations_[0] == pytest.approx(1.0)
    assert CanonicalCorrelations(1, alpha=1.0).fit(first, second).correlations_[0] < 0.98


def test_as_many_correlations_are_certain_as_the_warning_says():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(9, 5)), random.normal(size=(9, 4))
    message = "1 of .*: 9 rows are too few for 5 columns of X and 4 of y.*more than 9"
    with pytest.warns(DataWarning, match=message):
        values = CanonicalCorrelations().fit(first, second).correlations_
    assert values[0] == pytest.approx(1.0)
    assert values[1] < 0.99
    # One row more leaves no direction in common; the suite makes an error of any warning.
    more = np.vstack([first, random.normal(size=5)]), np.vstack([second, random.normal(size=4)])
    assert CanonicalCorrelations().fit(*more).correlations_[0] < 0.999


def test_rows_that_suffice_are_no_cause_for_a_warning():
    random = np.random.default_rng(0)
    first, second = random.normal(size=(200, 4)), random.normal(size=(200, 3))
    # The weights sum to 4, and the suite makes an error of any warning.
    light = CanonicalCorrelations().fit(first, second, sample_weight=np.full(200, 0.02))
    assert light.correlations_[0] < 0.5
    wide = random.normal(size=(61, 30)), random.normal(size=(61, 30))
    with pytest.warns(DataWarning, match="for 30 columns of X and 30 of y. Take more than 60 rows"):
        CanonicalCorrelations().fit(wide[0][:10], wide[1][:10])
    assert CanonicalCorrelations().fit(*wide).correlations_[0] < 1.0 - 1e-6


def test_bad_input():
    with pytest.raises(DataError, match="n_components=4: there are at most 3 pairs"):
        CanonicalCorrelations(4).fit(FIRST, SECOND)
    with pytest.raises(DataError, match="y does not vary"):
        CanonicalCorrelations().fit(FIRST, np.ones(200))
    with pytest.raises(DataError, match="must hold numbers"):
        CanonicalCorrelations().fit(FIRST, np.array(["a", "b"] * 100))
    with pytest.raises(DataError, match="NaN or infinity"):
        CanonicalCorrelations().fit(FIRST, np.full(200, np.nan))
    with pytest.raises(DataError, match="X has 200 rows and y has 3"):
        CanonicalCorrelations().fit(FIRST, [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="y must have 3 columns"):
        CanonicalCorrelations().fit(FIRST, SECOND).transform_target(SECOND[:, :2])

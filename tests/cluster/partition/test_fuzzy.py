"""Fuzzy k-means: its formulas, its limits, and the same clusters at every scale."""

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from verulam.base import DataError
from verulam.cluster import FuzzyKMeans, KMeans


@pytest.fixture
def groups():
    random = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    return centres[random.integers(3, size=200)] + random.normal(size=(200, 2))


def plain_passes(X, centres, fuzziness, n_passes):
    """Return centres and the error before the last step, written as the book has it."""
    for _ in range(n_passes):
        distances = np.sqrt(((X[:, None] - centres) ** 2).sum(axis=2))
        ratios = distances[:, :, None] / distances[:, None, :]
        shares = 1.0 / (ratios ** (2.0 / (fuzziness - 1.0))).sum(axis=2)
        powers = shares**fuzziness
        error = (powers * distances**2).sum()
        centres = powers.T @ X / powers.sum(axis=0)[:, None]
    return centres, error


@pytest.mark.parametrize("fuzziness", [1.5, 2.0, 3.0])
@pytest.mark.filterwarnings("ignore:FuzzyKMeans had not converged")
def test_passes_are_the_formulas(groups, fuzziness):
    start = groups[:3] + 0.01  # at a row the book's formula divides by zero
    learner = FuzzyKMeans(3, fuzziness=fuzziness, init=start, max_iter=6, tol=0.0).fit(groups)
    centres, error = plain_passes(groups, start, fuzziness, 6)
    assert_allclose(learner.cluster_centers_, centres)
    assert_allclose(-learner.objective_curve_[-1] * len(groups), error)


def test_the_error_never_rises_and_memberships_sum_to_one(groups):
    learner = FuzzyKMeans(3, random_state=0).fit(groups)
    assert (np.diff(learner.objective_curve_) >= -1e-12).all()
    assert_allclose(learner.memberships_.sum(axis=1), 1.0)
    assert_array_equal(learner.labels_, learner.predict(groups))
    assert_allclose(learner.partition_coefficient_, (learner.memberships_**2).sum() / 200)
    assert learner.converged_


def test_little_fuzziness_is_k_means_and_much_makes_all_alike(groups):
    start = groups[:3]
    sharp = FuzzyKMeans(3, fuzziness=1.0005, init=start).fit(groups)
    hard = KMeans(3, init=start).fit(groups)
    assert_allclose(sharp.cluster_centers_, hard.cluster_centers_, atol=1e-3)
    assert_array_equal(sharp.labels_, hard.labels_)
    vague = FuzzyKMeans(3, fuzziness=50.0, init=start).fit(groups)
    assert vague.partition_coefficient_ < 0.35


def test_vague_memberships_do_not_hold_centres_at_the_rows_they_start_from(groups):
    fuzzy = FuzzyKMeans(8, fuzziness=20.0, random_state=0).fit(groups)
    assert fuzzy.n_iter_ > 5
    starts = cdist(fuzzy.cluster_centers_, groups).argmin(axis=1)
    held = FuzzyKMeans(8, fuzziness=20.0, init=groups[starts]).fit(groups)
    assert held.n_iter_ <= 5


def test_a_row_at_a_centre_and_one_between_two():
    learner = FuzzyKMeans(2, init=[[0.0], [10.0]]).fit([[0.0], [1.0], [5.0], [9.0], [10.0]])
    at, between = learner.predict_proba([learner.cluster_centers_[0], [5.0]])
    assert_array_equal(at, [1.0, 0.0])
    assert_allclose(between, [0.5, 0.5])


def test_weights_are_repeated_rows(groups):
    weights = np.arange(200) % 3
    options = {"init": groups[:3]}
    weighted = FuzzyKMeans(3, **options).fit(groups, sample_weight=weights)
    repeated = FuzzyKMeans(3, **options).fit(np.repeat(groups, weights, axis=0))
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)
    assert_allclose(weighted.inertia_, repeated.inertia_)
    assert_allclose(weighted.partition_coefficient_, repeated.partition_coefficient_)


def test_streams_and_dask_give_the_clusters_of_memory(groups):
    learner = FuzzyKMeans(3, random_state=0)
    centres = learner.fit(groups).cluster_centers_
    chunks = np.array_split(groups, [30, 110])
    assert_allclose(learner.fit(lambda: iter(chunks)).cluster_centers_, centres, rtol=1e-9)
    blocks = da.from_array(groups, chunks=(70, 2))
    assert_allclose(learner.fit(blocks).cluster_centers_, centres, rtol=1e-9)


def test_units_and_places_do_not_matter(groups):
    far = 1e6 + 1e-2 * groups
    near = FuzzyKMeans(3, init=groups[:3]).fit(groups)
    learner = FuzzyKMeans(3, init=far[:3]).fit(far)
    assert_allclose(learner.cluster_centers_, 1e6 + 1e-2 * near.cluster_centers_, rtol=1e-10)
    assert_allclose(learner.memberships_, near.memberships_, atol=1e-5)


def test_bad_input_is_refused_by_name(groups):
    with pytest.raises(ValueError, match="'fuzziness' parameter of FuzzyKMeans must be"):
        FuzzyKMeans(3, fuzziness=1.0).fit(groups)
    with pytest.raises(DataError, match="n_clusters=9 is more than the data has"):
        FuzzyKMeans(9).fit(groups[:8])
    with pytest.raises(DataError, match="init has 3 columns and X has 2"):
        FuzzyKMeans(2, init=np.eye(3)[:2]).fit(groups)
    with pytest.raises(DataError, match="contains NaN"):
        FuzzyKMeans(2).fit([[np.nan], [1.0]])


def test_equal_rows_alone():
    learner = FuzzyKMeans(2, random_state=0).fit(np.ones((5, 2)))
    assert_allclose(learner.cluster_centers_, 1.0)
    assert_allclose(learner.memberships_, 0.5)

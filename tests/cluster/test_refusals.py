"""What every way of clustering says to data that cannot be divided as asked."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from verulam.base import DataError, DataWarning
from verulam.cluster import (
    AgglomerativeClustering,
    Chameleon,
    DivisiveClustering,
    GaussianMixture,
    KMeans,
    KMedoids,
    OnlineGaussianMixture,
    silhouettes,
)

ROWS = np.random.default_rng(0).normal(size=(8, 3))
BY_NUMBER = {
    "k-means": lambda k: KMeans(k, random_state=0),
    "k-medoids": lambda k: KMedoids(k, random_state=0),
    "CLARANS": lambda k: KMedoids(k, method="clarans", random_state=0),
    "mixture": lambda k: GaussianMixture(k, random_state=0),
    "online mixture": lambda k: OnlineGaussianMixture(k, random_state=0),
    "agglomerative": lambda k: AgglomerativeClustering(k),
    "divisive": lambda k: DivisiveClustering(k),
    "Chameleon": lambda k: Chameleon(k),
}
by_number = pytest.mark.parametrize("name", BY_NUMBER)


@by_number
def test_more_clusters_than_rows(name):
    argument = "n_components" if "mixture" in name else "n_clusters"
    with pytest.raises(DataError, match=rf"{argument}=9 is more .*n_samples=8 .* from 1 to 8\.$"):
        BY_NUMBER[name](9).fit(ROWS)


@pytest.mark.parametrize("name", ["k-medoids", "CLARANS", "agglomerative", "divisive", "Chameleon"])
def test_equal_rows_are_divided_with_a_warning(name):
    equal = np.repeat([[1.0, 2.0], [3.0, 4.0]], 6, axis=0)
    message = "n_clusters=3, but the number of different rows is 2; equal rows are divided"
    with pytest.warns(DataWarning, match=message) as caught:
        learner = BY_NUMBER[name](3).fit(equal)
    assert len(caught) == 1
    assert set(learner.labels_) == {0, 1, 2}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = BY_NUMBER[name](2).fit(equal).labels_
    assert len(set(labels[:6])) == len(set(labels[6:])) == 1


@by_number
def test_constant_columns_change_no_clusters(name):
    groups = np.repeat([0.0, 10.0], 8) + np.random.default_rng(1).normal(size=16)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        plain, padded = (
            BY_NUMBER[name](2).fit(X)
            for X in (groups[:, None], np.column_stack([groups, np.full(16, 5.0)]))
        )
    if "mixture" in name:
        assert np.isfinite(padded.means_).all()
        return
    np.testing.assert_array_equal(plain.labels_, padded.labels_)


@by_number
def test_missing_values_are_named_or_used(name):
    table = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    table.loc[3, "b"] = np.nan
    if name == "mixture":
        learner = GaussianMixture(2, covariance_type="diag", random_state=0).fit(table)
        assert np.isfinite(learner.score_samples(table)).all()
        return
    with pytest.raises(DataError, match="Input X contains NaN, first in row 3 of column 'b'"):
        BY_NUMBER[name](2).fit(table)


def _changed(place, value):
    matrix = cdist(ROWS, ROWS)
    matrix[place] = value
    return matrix


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (cdist(ROWS, ROWS)[:, :4], r"its shape is \(8, 4\), and it should be square"),
        (_changed((0, 1), 9.0), "it is not symmetric: entry 0, 1 is 9 and entry 1, 0"),
        (_changed((2, 2), 1.0), "row 2 has distance 1 from itself instead of 0"),
        (_changed(([0, 1], [1, 0]), -1.0), "the entry 0, 1 is negative: -1"),
    ],
)
@pytest.mark.parametrize(
    "cluster",
    [
        lambda matrix: KMedoids(2, metric="precomputed").fit(matrix),
        lambda matrix: AgglomerativeClustering(2, metric="precomputed").fit(matrix),
        lambda matrix: DivisiveClustering(2, metric="precomputed").fit(matrix),
        lambda matrix: silhouettes(matrix, [0, 1] * 4, metric="precomputed"),
    ],
)
def test_matrices_that_hold_no_distances(cluster, matrix, message):
    with pytest.raises(DataError, match=rf"X is no matrix of distances .*: {message}"):
        cluster(matrix)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_singular_covariances_are_held_at_the_floor_and_said(covariance_type):
    flat = np.column_stack([ROWS[:, 0], np.zeros(8)]) if covariance_type != "spherical" else None
    rows = np.repeat([[1.0, 2.0], [3.0, 4.0]], 6, axis=0) if flat is None else flat
    with pytest.warns(DataWarning, match="singular.* held at variance_floor"):
        learner = GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(rows)
    assert np.isfinite(learner.score(rows))

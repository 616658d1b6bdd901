"""Clusters by any metric are those of the matrix of its distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from verulam.cluster import AgglomerativeClustering, DivisiveClustering, KMedoids

RANDOM = np.random.default_rng(0)
NUMBERS, CODES = RANDOM.normal(size=(40, 3)), RANDOM.integers(3, size=(40, 5)).astype(float)


@pytest.mark.parametrize(
    "learner",
    [AgglomerativeClustering(4), DivisiveClustering(4), KMedoids(4, random_state=0)],
    ids=lambda learner: type(learner).__name__,
)
@pytest.mark.parametrize(("metric", "rows"), [("sqeuclidean", NUMBERS), ("hamming", CODES)])
@pytest.mark.filterwarnings("ignore:n_clusters=.*equal rows are divided")
def test_a_metric_is_the_matrix_of_its_distances(learner, metric, rows):
    direct = learner.set_params(metric=metric).fit(rows).labels_
    table = cdist(rows, rows, metric)
    np.testing.assert_array_equal(
        direct, learner.set_params(metric="precomputed").fit(table).labels_
    )
    assert len(set(direct)) == 4

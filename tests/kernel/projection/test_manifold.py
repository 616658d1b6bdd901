"""Gram matrices of Isomap and locally linear embedding: scikit-learn's embeddings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.manifold import Isomap, LocallyLinearEmbedding

from verulam.base import DataError, DataWarning
from verulam.kernel import KernelPrincipalComponents, isomap_gram, locally_linear_gram

ANGLE = np.sort(np.random.default_rng(0).uniform(0, 5, 60))
SPIRAL = np.column_stack([ANGLE * np.cos(ANGLE), ANGLE * np.sin(ANGLE)])


def embedded(gram):
    return KernelPrincipalComponents(2, kernel="precomputed").fit_transform(gram)


def test_isomap_is_kernel_pca_of_geodesic_distances():
    with pytest.warns(DataWarning, match="indefinite"):
        ours = embedded(isomap_gram(SPIRAL, 5))
    theirs = Isomap(n_neighbors=5, n_components=2).fit_transform(SPIRAL)
    assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-6)


def test_locally_linear_embedding_is_kernel_pca_of_its_costs():
    learner = KernelPrincipalComponents(2, kernel="precomputed").fit(locally_linear_gram(SPIRAL, 6))
    embedding = LocallyLinearEmbedding(n_neighbors=6, n_components=2, eigen_solver="dense")
    assert_allclose(
        np.abs(learner.eigenvectors_), np.abs(embedding.fit_transform(SPIRAL)), atol=1e-5
    )


def test_graph_in_pieces():
    with pytest.raises(DataError, match="falls apart with n_neighbors=1"):
        isomap_gram([[0.0], [0.1], [9.0], [9.1]], 1)


@pytest.mark.parametrize("function", [isomap_gram, locally_linear_gram])
def test_too_many_neighbours(function):
    with pytest.raises(DataError, match="from 1 to 3"):
        function([[0.0], [1.0], [2.0], [3.0]], 4)

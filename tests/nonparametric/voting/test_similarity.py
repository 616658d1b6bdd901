"""Similarity representation: the Gram matrix, landmarks, and learners on top."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import cosine_similarity, linear_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline

from verulam.nonparametric import SimilarityRepresentation

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))


@pytest.mark.parametrize(
    ("name", "gram"),
    [
        ("linear", linear_kernel(X)),
        ("cosine", cosine_similarity(X)),
        ("gaussian", rbf_kernel(X, gamma=0.5 / 0.7**2)),
    ],
)
def test_training_matrix_is_the_gram_matrix(name, gram):
    represented = SimilarityRepresentation(similarity=name, bandwidth=0.7).fit_transform(X)
    assert_allclose(represented, gram)


def test_any_function_of_two_objects():
    custom = SimilarityRepresentation(similarity=lambda a, b: -np.abs(a - b).sum()).fit(X)
    assert_allclose(custom.transform(X[:2])[0, 1], -np.abs(X[0] - X[1]).sum())
    distance = SimilarityRepresentation(similarity="distance").fit(X)
    assert_allclose(distance.transform(X[:1])[0, 5], -np.linalg.norm(X[0] - X[5]))


def test_feeds_any_learner():
    y = (np.linalg.norm(X, axis=1) > 1.6).astype(int)
    pipeline = make_pipeline(SimilarityRepresentation(), LogisticRegression(C=100.0))
    assert pipeline.fit(X, y).score(X, y) > LogisticRegression().fit(X, y).score(X, y) + 0.1


def test_landmarks():
    learner = SimilarityRepresentation(n_landmarks=7, random_state=0).fit(X)
    assert learner.transform(X).shape == (60, 7)
    assert list(learner.get_feature_names_out()[:2]) == ["similarity0", "similarity1"]
    with pytest.raises(ValueError, match="n_landmarks=61 is larger than n_samples = 60"):
        SimilarityRepresentation(n_landmarks=61).fit(X)

"""Vector quantisation before a discrete model."""

import numpy as np
from numpy.testing import assert_array_equal
from sklearn.metrics import pairwise_distances_argmin
from sklearn.pipeline import make_pipeline

from verulam.sequence import (
    CategoricalEmission,
    HiddenMarkovModel,
    VectorQuantiser,
    align_states,
)

RANDOM = np.random.default_rng(0)
STATES = np.repeat(RANDOM.integers(2, size=30), 10)
X = 3.0 * STATES[:, None] + RANDOM.normal(size=(300, 2))


def test_symbols_are_the_nearest_reference_vectors():
    quantiser = VectorQuantiser(6, random_state=0).fit(X)
    symbols = quantiser.transform(X)
    assert symbols.shape == (300, 1)
    assert_array_equal(symbols[:, 0], pairwise_distances_argmin(X, quantiser.codebook_))


def test_pipeline_finds_the_states():
    model = HiddenMarkovModel(
        2, CategoricalEmission(prior=0.1), n_init=5, max_iter=500, random_state=0
    )
    pipeline = make_pipeline(VectorQuantiser(6, random_state=0), model).fit(X)
    assert align_states(STATES, pipeline.predict(X)).agreement > 0.95


def test_sequences_stay_sequences():
    pieces = [X[:100], X[100:]]
    quantiser = VectorQuantiser(6, random_state=0)
    symbols = quantiser.fit(pieces).transform(pieces)
    assert [part.shape for part in symbols] == [(100, 1), (200, 1)]
    assert_array_equal(np.concatenate(symbols), quantiser.fit(X).transform(X))
    model = HiddenMarkovModel(
        2, CategoricalEmission(prior=0.1), n_init=5, max_iter=500, random_state=0
    )
    paths = make_pipeline(quantiser, model).fit(pieces).predict(pieces)
    assert [len(path) for path in paths] == [100, 200]
    assert align_states(STATES, np.concatenate(paths)).agreement > 0.95

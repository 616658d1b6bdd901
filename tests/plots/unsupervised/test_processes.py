"""Pictures of topics, sweeps, buffets and factors show the numbers that they are made of."""

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from verulam.base import DataError
from verulam.bayes import (
    BinaryFactors,
    DirichletProcessMixture,
    LatentDirichletAllocation,
    indian_buffet,
)
from verulam.plots import (
    buffet_table,
    cluster_sweeps,
    document_topics,
    factor_plane,
    topic_words,
)


@pytest.fixture(scope="module")
def topics():
    texts = ["ball goal ball ball", "paint brush paint paint", "ball paint"] * 5
    return LatentDirichletAllocation(2, method="variational", random_state=0).fit(texts)


def test_bars_of_words_are_as_long_as_their_probabilities(topics):
    axes = topic_words(topics, 3)
    lengths = np.array([bar.get_width() for bar in axes.patches]).reshape(2, 3)
    expected = -np.sort(-topics.components_, axis=1)[:, :3]
    np.testing.assert_allclose(lengths, 0.92 * expected / expected.max())
    words = [text.get_text() for text in axes.texts]
    assert words == [*topics.top_words(3)["topic 0"], *topics.top_words(3)["topic 1"]]


def test_some_topics_may_be_chosen(topics):
    axes = topic_words(topics, 1, topics=[1])
    assert [label.get_text() for label in axes.get_xticklabels()] == ["topic 1"]


def test_documents_are_divided_by_their_topics(topics):
    shares = topics.transform(["ball", "paint paint"])
    axes = document_topics(shares)
    widths = np.array([bar.get_width() for bar in axes.patches]).reshape(2, 2)
    np.testing.assert_allclose(widths, shares.T)


def test_sweeps_are_stacked_to_one():
    X = np.r_[np.zeros((6, 1)), np.full((4, 1), 50.0)] + np.arange(10)[:, None] / 100
    mixture = DirichletProcessMixture(
        0.1, covariance_prior=0.1, n_iter=10, burn_in=8, random_state=0
    ).fit(X)
    axes = cluster_sweeps(mixture)
    # Each sweep's clusters reach up to one together.
    tops = np.array([patch.get_data().values for patch in axes.patches])
    np.testing.assert_allclose(tops.max(axis=0), 1.0)
    assert tops[0, -1] == pytest.approx(0.6, abs=0.21)


def test_a_buffet_is_its_table():
    buffet = indian_buffet(8, 2.0, random_state=0)
    image = buffet_table(buffet).images[0]
    np.testing.assert_array_equal(image.get_array(), buffet.dishes)
    assert buffet_table(buffet.dishes).images


def test_two_factors_are_drawn_with_their_rows():
    rng = np.random.default_rng(0)
    Z = rng.integers(2, size=(60, 2))
    X = Z @ [[5.0, 0.0, 1.0], [0.0, 4.0, -2.0]] + 0.1 * rng.normal(size=(60, 3))
    model = BinaryFactors(2, n_iter=60, burn_in=57, n_chains=1, random_state=0).fit(X)
    axes = factor_plane(model, X)
    points = [part for part in axes.collections if isinstance(part, PathCollection)]
    offsets = np.concatenate([part.get_offsets() for part in points])
    assert len(offsets) == 60
    assert np.abs(offsets - offsets.round()).max() < 0.2
    labels = [part.get_label() for part in points]
    assert labels == ["neither", "1", "0", "0 and 1"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: topic_words(3), "model is a int; expected a fitted topic model"),
        (lambda: document_topics([[0.5, 0.2]]), "proportions must have a row of shares"),
        (lambda: document_topics([[1.0]], names=["a", "b"]), "names must be 1 names"),
        (lambda: cluster_sweeps(None), "mixture must be a fitted DirichletProcessMixture"),
        (lambda: buffet_table([[2]]), "buffet must be a Buffet"),
        (lambda: factor_plane(None, [[1.0]]), "model must be a fitted BinaryFactors"),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises(DataError, match=message):
        call()


def test_topics_out_of_range_are_named(topics):
    with pytest.raises(DataError, match="topics must be numbers from 0 to 1"):
        topic_words(topics, topics=[2])

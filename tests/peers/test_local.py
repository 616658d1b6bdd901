"""Maps beside MiniSom: the same online step, and errors that are no higher."""

import numpy as np
import pytest

from verulam.data import dataset
from verulam.local import OnlineSelfOrganisingMap, SelfOrganisingMap
from verulam.numerics import constant

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def rows():
    X = dataset("wine").inputs.to_numpy()
    return (X - X.mean(axis=0)) / X.std(axis=0)


def peer(X, radius, **options):
    from minisom import MiniSom

    return MiniSom(6, 5, X.shape[1], sigma=radius, random_seed=0, **options)


def no_decay(value, step, last):
    return value


def test_a_pass_with_constant_radius_and_rate_is_minisoms(rows):
    start = np.random.default_rng(0).normal(size=(30, rows.shape[1]))
    theirs = peer(rows, 1.5, learning_rate=0.2, decay_function=no_decay)
    theirs._sigma_decay_function = no_decay
    theirs._weights = start.reshape(6, 5, -1).copy()
    theirs.train(rows, len(rows))
    ours = OnlineSelfOrganisingMap(
        (6, 5), init=start, first_radius=1.5, last_radius=1.5,
        learning_rate=constant(0.2), shuffle=False, max_iter=1,
    ).fit(rows)  # fmt: skip
    np.testing.assert_allclose(
        ours.cluster_centers_, theirs.get_weights().reshape(30, -1), rtol=1e-9, atol=1e-12
    )
    assert ours.quantisation_error_ == pytest.approx(theirs.quantization_error(rows))
    assert ours.topographic_error_ == pytest.approx(theirs.topographic_error(rows))
    np.testing.assert_array_equal(ours.hits_, theirs.activation_response(rows))


def test_errors_are_no_higher(rows):
    theirs = peer(rows, 3.0, learning_rate=0.5)
    theirs.pca_weights_init(rows)
    theirs.train_random(rows, 10 * len(rows))
    error = theirs.quantization_error(rows)
    online = OnlineSelfOrganisingMap((6, 5), max_iter=10, random_state=0).fit(rows)
    batch = SelfOrganisingMap((6, 5)).fit(rows)
    assert online.quantisation_error_ <= error
    assert batch.quantisation_error_ <= error

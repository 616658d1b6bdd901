"""Condensing and editing beside imbalanced-learn, on the same rows."""

import time

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from verulam.nonparametric import (
    CondensedNeighbours,
    EditedNeighbours,
    KNeighborsClassifier,
    condense,
)

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("default")]
sampling = pytest.importorskip("imblearn.under_sampling")


def classes(n_rows=400, gap=1.2):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_rows)
    return rng.normal(size=(n_rows, 4)) + gap * y[:, None], y


@pytest.mark.parametrize("k", [1, 3, 5])
def test_wilsons_editing_keeps_the_same_rows(k):
    X, y = classes()
    peer = sampling.EditedNearestNeighbours(sampling_strategy="all", n_neighbors=k, kind_sel="mode")
    peer.fit_resample(X, y)
    assert_array_equal(
        EditedNeighbours(n_neighbors=k).fit(X, y).rows_, np.sort(peer.sample_indices_)
    )


def test_condensed_set_is_consistent_where_theirs_is_not():
    """Theirs makes one pass for each class, so that some rows stay misclassified."""
    X, y = classes()
    peer = sampling.CondensedNearestNeighbour(sampling_strategy="all", random_state=0)
    plain = KNeighborsClassifier(n_neighbors=1)
    theirs = plain.fit(*peer.fit_resample(X, y)).score(X, y)
    ours = CondensedNeighbours(random_state=0)
    kept = ours.fit_resample(X, y)
    assert plain.fit(*kept).score(X, y) == 1.0 > theirs
    assert len(ours.rows_) < 200


def test_condensing_is_much_faster():
    X, y = classes(600)
    condense(X, y, random_state=0)
    start = time.perf_counter()
    condense(X, y, random_state=0)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    sampling.CondensedNearestNeighbour(random_state=0).fit_resample(X, y)
    assert time.perf_counter() - start > 5 * ours

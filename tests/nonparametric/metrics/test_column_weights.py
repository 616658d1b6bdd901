"""Learned weights of columns: the sum by hand, noise left out, better neighbours."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.nonparametric import KNeighborsClassifier, learn_column_weights


def by_hand(X, y, k):
    """Add up the definition, row by row."""
    scaled = X / np.ptp(X, axis=0)
    gains = np.zeros(X.shape[1])
    for row, label in enumerate(y):
        for other in np.unique(y):
            members = np.flatnonzero((y == other) & (np.arange(len(y)) != row))
            distances = np.abs(scaled[members] - scaled[row]).sum(axis=1)
            nearest = members[np.argsort(distances)[:k]]
            difference = np.abs(scaled[nearest] - scaled[row]).mean(axis=0)
            factor = -1.0 if other == label else np.mean(y == other) / (1 - np.mean(y == label))
            gains += factor * difference
    useful = np.maximum(gains, 0.0)
    return useful / useful.sum()


def test_definition():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=40)
    X = rng.normal(size=(40, 4)) + np.outer(y, [1.0, 0.5, 0.0, 0.0])
    assert_allclose(learn_column_weights(X, y, n_neighbors=3), by_hand(X, y, 3))


def test_categories_by_definition():
    """The same sum, over a table of differences of each column."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=40)
    kinds = np.where(rng.random(40) < 0.6, np.array(["p", "q", "r"])[y], "s")
    frame = pd.DataFrame(
        {"kind": kinds, "size": rng.normal(size=40) + y, "noise": rng.choice(["u", "v"], 40)}
    )
    frame = frame.astype({"kind": "category", "noise": "category"})
    size = frame["size"].to_numpy()
    differences = np.stack(
        [
            kinds[:, None] != kinds,
            np.abs(size[:, None] - size) / np.ptp(size),
            frame["noise"].to_numpy()[:, None] != frame["noise"].to_numpy(),
        ]
    )
    gains = np.zeros(3)
    for row, label in enumerate(y):
        for other in range(3):
            members = np.flatnonzero((y == other) & (np.arange(40) != row))
            # All of a class are neighbours: no ties among categories are left to chance.
            mean = differences[:, row, members].mean(axis=1)
            factor = -1.0 if other == label else np.mean(y == other) / (1 - np.mean(y == label))
            gains += factor * mean
    expected = np.maximum(gains, 0.0) / np.maximum(gains, 0.0).sum()
    assert_allclose(learn_column_weights(frame, y, n_neighbors=40), expected)
    assert expected[2] < 0.1 < expected.min(where=[True, True, False], initial=1.0)


def test_weights_of_categories_help_neighbours():
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=(600, 10))
    y = (codes[:, 3] < 2) ^ (codes[:, 7] == 0)
    weights = learn_column_weights(pd.DataFrame(codes[:400]).astype("category"), y[:400])
    assert weights[[3, 7]].sum() > 0.8
    plain = KNeighborsClassifier(metric="hamming").fit(codes[:400], y[:400])
    weighted = KNeighborsClassifier(metric="hamming", column_weights=weights)
    weighted.fit(codes[:400], y[:400])
    assert weighted.score(codes[400:], y[400:]) > plain.score(codes[400:], y[400:]) + 0.05


def test_noise_is_left_out_and_neighbours_err_less():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    weights = learn_column_weights(X[:400], y[:400])
    assert weights[:2].sum() > 0.8
    plain = KNeighborsClassifier().fit(X[:400], y[:400])
    weighted = KNeighborsClassifier(column_weights=weights).fit(X[:400], y[:400])
    assert weighted.score(X[400:], y[400:]) > plain.score(X[400:], y[400:]) + 0.05


def test_constant_columns_and_units_do_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] > 0
    weights = learn_column_weights(X, y)
    wider = np.column_stack([X * [1e6, 1e-6], np.ones(80)])
    assert_allclose(learn_column_weights(wider, y)[:2], weights, rtol=1e-9)
    assert learn_column_weights(wider, y)[2] == 0.0
    assert_allclose(learn_column_weights(np.ones((6, 2)), [0, 0, 0, 1, 1, 1]), 0.5)


def test_bad_requests():
    with pytest.raises(DataError, match="two classes with two rows"):
        learn_column_weights([[0.0], [1.0], [2.0]], [0, 0, 0])
    with pytest.raises(DataError, match="n_neighbors must be at least 1"):
        learn_column_weights([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], n_neighbors=0)
    with pytest.raises(ValueError, match="NaN"):
        learn_column_weights([[0.0], [np.nan]], [0, 1])
    gap = pd.DataFrame({"kind": pd.Categorical(["a", None, "b", "a"])})
    with pytest.raises(DataError, match="fill the gaps of its categories"):
        learn_column_weights(gap, [0, 0, 1, 1])


def test_text_that_is_not_declared_as_categories():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 5.0], "kind": ["a", "b", "a", "b"]})
    y = [0, 0, 1, 1]
    with pytest.raises(DataError, match="'kind' holds text") as ours:
        learn_column_weights(frame, y)
    with pytest.raises(DataError, match="'kind' holds text") as of_gower:
        KNeighborsClassifier(n_neighbors=1, metric="gower").fit(frame, y)
    assert str(ours.value) == str(of_gower.value)
    with pytest.raises(DataError, match="'when'"):
        learn_column_weights(frame[["size"]].assign(when=pd.Timestamp("2020-01-01")), y)
    as_objects = frame[["size"]].astype(object)
    assert_allclose(learn_column_weights(as_objects, y), [1.0])


def test_huge_weights_leave_each_row_one_vote():
    """All but the first row are too far to be measured; three rows vote, not the first twice."""
    X = np.zeros((5, 2))
    X[1:] = 1e150
    model = KNeighborsClassifier(n_neighbors=3, column_weights=[1e20, 1.0])
    votes = model.fit(X, [0, 1, 1, 1, 1]).predict_proba(np.zeros((1, 2)))
    assert_allclose(votes, [[1 / 3, 2 / 3]])

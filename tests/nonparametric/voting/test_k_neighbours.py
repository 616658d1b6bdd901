"""KNeighborsClassifier: scikit-learn's answers, class densities, reasons, any distance."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier as PeerNeighbours

from verulam.nonparametric import (
    KNeighborsClassifier,
    NeighbourCurve,
    NeighbourReason,
    ball_volume,
    select_neighbour_count,
)

RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
Y = RNG.integers(3, size=300)
X = CENTRES[Y] + RNG.normal(size=(300, 2))
QUERIES = RNG.normal(size=(80, 2)) + 0.7


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 4, 15])
def test_agrees_with_scikit_learn(weights, k):
    ours = KNeighborsClassifier(n_neighbors=k, weights=weights).fit(X, Y)
    theirs = PeerNeighbours(n_neighbors=k, weights=weights).fit(X, Y)
    assert_allclose(ours.predict_proba(QUERIES), theirs.predict_proba(QUERIES))
    assert_array_equal(ours.predict(QUERIES), theirs.predict(QUERIES))


def test_posterior_is_the_share_of_neighbours():
    classifier = KNeighborsClassifier(n_neighbors=3).fit([[0.0], [1], [3], [7]], list("aabb"))
    assert_allclose(classifier.predict_proba([[1.9]]), [[2 / 3, 1 / 3]])


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_class_densities_and_bayes_rule(n_columns):
    inputs = RNG.normal(size=(60, n_columns))
    labels = RNG.integers(2, size=60)
    classifier = KNeighborsClassifier(n_neighbors=7).fit(inputs, labels)
    queries = RNG.normal(size=(10, n_columns))
    reach = np.sort(cdist(queries, inputs), axis=1)[:, 6]
    near = cdist(queries, inputs) <= reach[:, None]
    counts = np.stack([near[:, labels == c].sum(axis=1) for c in (0, 1)], axis=1)
    sizes = np.bincount(labels)
    expected = counts / (sizes * ball_volume(n_columns) * reach[:, None] ** n_columns)
    densities = np.exp(classifier.class_log_density(queries))
    assert_allclose(densities, expected)
    joint = densities * sizes / 60
    posterior = joint / joint.sum(axis=1, keepdims=True)
    assert_allclose(posterior, classifier.predict_proba(queries))


def test_reasons_reproduce_the_answer():
    classifier = KNeighborsClassifier(n_neighbors=5, weights="distance").fit(X, Y)
    for reason, shares, label in zip(
        classifier.explain(QUERIES),
        classifier.predict_proba(QUERIES),
        classifier.predict(QUERIES),
        strict=True,
    ):
        assert reason.label == label
        assert_array_equal(reason.labels, Y[reason.rows])
        sums = [reason.weights[reason.labels == c].sum() for c in range(3)]
        assert_allclose(sums, shares)


def test_one_example_per_class_is_enough():
    classifier = KNeighborsClassifier(n_neighbors=1).fit([[0.0], [5.0]], ["a", "b"])
    assert classifier.predict([[2.4], [2.6]]).tolist() == ["a", "b"]
    assert "row 1: b" in str(classifier.explain([[6.0]])[0])


def test_ties():
    data = ([[0.0], [1.0], [-2.0], [-4.0], [9.0]], ["b", "a", "a", "b", "b"])
    for ties, expected in (("nearest", "b"), ("first", "a"), ("prior", "b")):
        classifier = KNeighborsClassifier(n_neighbors=4, ties=ties).fit(*data)
        assert classifier.predict([[0.0]])[0] == expected


def test_precomputed_distances_equal_direct_ones():
    direct = KNeighborsClassifier(metric="manhattan").fit(X, Y)
    table = KNeighborsClassifier(metric="precomputed").fit(cdist(X, X, "cityblock"), Y)
    assert_array_equal(table.predict(cdist(QUERIES, X, "cityblock")), direct.predict(QUERIES))
    with pytest.raises(ValueError, match="must be a square table"):
        KNeighborsClassifier(metric="precomputed").fit(X, Y)


def test_the_largest_similarities_are_the_nearest():
    """Inner products of rows of length 1 fall as distances grow, and half of them are negative."""
    rows, queries = (part / np.linalg.norm(part, axis=1)[:, None] for part in (X, QUERIES))
    options = {"n_neighbors": 7, "metric": "precomputed-similarity"}
    similar = KNeighborsClassifier(**options).fit(rows @ rows.T, Y)
    direct = KNeighborsClassifier(n_neighbors=7).fit(rows, Y)
    assert_allclose(similar.predict_proba(queries @ rows.T), direct.predict_proba(queries))
    products = queries @ rows.T
    assert_allclose(-similar.kneighbors(products).distances, -np.sort(-products, axis=1)[:, :7])
    # Added constants and other scales change nothing.
    moved = KNeighborsClassifier(**options).fit(3.0 * rows @ rows.T - 40.0, Y)
    assert_array_equal(moved.predict(3.0 * products - 40.0), similar.predict(products))


def test_votes_by_similarity_and_folds_of_a_table_of_similarities():
    table = X @ X.T
    voted = KNeighborsClassifier(
        n_neighbors=2, metric="precomputed-similarity", weights=lambda distances: np.exp(-distances)
    ).fit([[1.0, 0.0], [0.0, 1.0]], ["a", "b"])
    shares = np.exp([1.0, -2.0]) / np.exp([1.0, -2.0]).sum()
    assert_allclose(voted.predict_proba([[1.0, -2.0]]), [shares])
    learner = KNeighborsClassifier(metric="precomputed-similarity")
    scores = cross_val_score(learner, table, Y, cv=3)
    rows = np.arange(len(Y))
    by_hand = [
        learner.fit(table[np.ix_(train, train)], Y[train]).score(
            table[np.ix_(test, train)], Y[test]
        )
        for train, test in StratifiedKFold(3).split(rows, Y)
    ]
    assert_allclose(scores, by_hand)
    with pytest.raises(ValueError, match="has no distances to invert"):
        KNeighborsClassifier(metric="precomputed-similarity", weights="distance").fit(table, Y)
    with pytest.raises(ValueError, match="square table of similarities"):
        KNeighborsClassifier(metric="precomputed-similarity").fit(X, Y)
    with pytest.raises(ValueError, match="'precomputed-similarity' takes similarities"):
        KNeighborsClassifier(metric="precomputed").fit(table, Y)


def test_scores_of_strings_can_be_a_distance():
    """Edit-like distance on coded words: any function of two rows serves."""
    words = ["cat", "car", "dog", "dot"]
    codes = np.array([[ord(letter) for letter in word] for word in words], dtype=float)

    def differing(a, b):
        return float((a != b).sum())

    classifier = KNeighborsClassifier(n_neighbors=1, metric=differing).fit(
        codes, ["c"] * 2 + ["d"] * 2
    )
    query = np.array([[ord(letter) for letter in "cot"]], dtype=float)
    hamming = KNeighborsClassifier(n_neighbors=1, metric="hamming").fit(
        codes, ["c"] * 2 + ["d"] * 2
    )
    assert classifier.kneighbors(query).distances[0, 0] == 1.0
    assert hamming.kneighbors(query).distances[0, 0] * 3 == pytest.approx(1.0)


def test_mahalanobis_classifies_what_euclid_does_not():
    """Figure 8.7: classes are long and parallel; the ellipse sees along them."""
    rng = np.random.default_rng(3)
    labels = np.repeat([0, 1], 150)
    inputs = np.column_stack([rng.normal(size=300) * 20, rng.normal(size=300) * 0.5 + 2 * labels])
    test = np.column_stack([rng.normal(size=300) * 20, rng.normal(size=300) * 0.5 + 2 * labels])
    scores = {
        metric: KNeighborsClassifier(n_neighbors=3, metric=metric)
        .fit(inputs, labels)
        .score(test, labels)
        for metric in ("euclidean", "mahalanobis")
    }
    assert scores["mahalanobis"] > scores["euclidean"] + 0.05


def test_column_weights():
    weights = np.array([4.0, 1.0])
    weighted = KNeighborsClassifier(column_weights=weights).fit(X, Y)
    scaled = KNeighborsClassifier().fit(X * [2.0, 1.0], Y)
    assert_array_equal(weighted.predict(QUERIES), scaled.predict(QUERIES * [2.0, 1.0]))
    only_first = KNeighborsClassifier(metric="gower", column_weights=[1.0, 0.0]).fit(X, Y)
    one_column = KNeighborsClassifier().fit(X[:, :1], Y)
    inside = np.clip(QUERIES, X.min(axis=0), X.max(axis=0))
    assert_array_equal(only_first.predict(inside), one_column.predict(inside[:, :1]))


def test_column_weights_of_hammings_distance():
    rng = np.random.default_rng(0)
    codes, queries = rng.integers(3, size=(200, 5)), rng.integers(3, size=(40, 5))
    labels = rng.integers(2, size=200)
    weights = np.array([3.0, 0.0, 1.5, 0.1, 0.01])
    model = KNeighborsClassifier(metric="hamming", column_weights=weights).fit(codes, labels)
    table = (weights * (queries[:, None] != codes)).sum(axis=2) / weights.sum()
    assert_allclose(model.kneighbors(queries).distances, np.sort(table, axis=1)[:, :5])
    even = KNeighborsClassifier(metric="hamming", column_weights=np.ones(5)).fit(codes, labels)
    plain = KNeighborsClassifier(metric="hamming").fit(codes, labels)
    assert_array_equal(even.kneighbors(queries).rows, plain.kneighbors(queries).rows)


def test_mixed_table_with_gaps():
    frame = pd.DataFrame({"x": X[:, 0], "kind": pd.Categorical(np.array(["p", "q", "r"])[Y])})
    frame.loc[::10, "x"] = np.nan
    classifier = KNeighborsClassifier(metric="gower").fit(frame, Y)
    assert classifier.score(frame, Y) > 0.99
    assert not np.isnan(classifier.predict_proba(frame)).any()


def test_duplicates_and_one_class():
    copies = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)
    labels = np.tile([0, 1], 10)
    proba = KNeighborsClassifier(weights="distance").fit(copies, labels).predict_proba(copies)
    assert not np.isnan(proba).any()
    alone = KNeighborsClassifier().fit(X, np.zeros(300))
    assert_allclose(alone.predict_proba(QUERIES), 1.0)


def test_leave_one_out_curve():
    inputs, labels = X[:60], Y[:60]
    curve = select_neighbour_count(inputs, labels, 12)
    for k in (1, 5, 12):
        wrong = [
            KNeighborsClassifier(n_neighbors=k, ties="nearest")
            .fit(np.delete(inputs, row, axis=0), np.delete(labels, row))
            .predict(inputs[[row]])[0]
            != labels[row]
            for row in range(60)
        ]
        assert curve.errors[k - 1] == pytest.approx(np.mean(wrong))
    assert curve.errors[curve.best - 1] == curve.errors.min()


def test_memory_is_bounded_by_blocks():
    stored, queries = RNG.normal(size=(20_000, 20)), RNG.normal(size=(4_000, 20))
    classifier = KNeighborsClassifier().fit(stored, RNG.integers(2, size=20_000))
    classifier.predict(queries[:300])
    tracemalloc.start()
    classifier.predict(queries)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All distances at once would be 640 MB.
    assert peak < 40e6


@pytest.mark.parametrize(
    ("options", "data", "message"),
    [
        ({"n_neighbors": 301}, X, "there are n_samples = 300 rows, and 301 are needed"),
        ({"n_neighbors": 0}, X, "'n_neighbors' parameter"),
        ({"column_weights": [1.0]}, X, "column_weights must be 2 numbers"),
        ({"column_weights": [1.0, np.nan]}, X, "column_weights must be 2 numbers"),
        ({"column_weights": [1.0, 1.0], "metric": "cosine"}, X, "column_weights needs metric"),
        ({"metric": "mahalanobis"}, np.ones((300, 2)), "covariance that can be inverted"),
        ({}, np.full((300, 2), np.nan), "NaN"),
    ],
)
def test_bad_input(options, data, message):
    with pytest.raises(ValueError, match=message):
        KNeighborsClassifier(**options).fit(data, Y)


def test_densities_need_euclidean_distances():
    classifier = KNeighborsClassifier(metric="manhattan").fit(X, Y)
    with pytest.raises(ValueError, match="needs metric='euclidean'"):
        classifier.class_log_density(X)


def test_of_several_best_numbers_the_largest_is_taken():
    assert NeighbourCurve(np.array([1, 2, 3, 4]), np.array([0.3, 0.1, 0.1, 0.2])).best == 3


def test_a_reason_in_words():
    reason = NeighbourReason(
        "up", np.array([4, 1]), np.array([1.0, 2.5]), np.array(["up", "low"]), np.array([0.7, 0.3])
    )
    assert str(reason).splitlines() == [
        "up, because of",
        "  row 4: up, distance 1, vote 0.700",
        "  row 1: low, distance 2.5, vote 0.300",
    ]

"""Rows that are no vectors: Gower's distance of mixed tables, and functions of two objects."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from verulam.base import DataError
from verulam.nonparametric import KNeighborsClassifier, SimilarityRepresentation
from verulam.nonparametric._neighbours.dissimilarity_index import (
    compare_objects,
    encode_queries,
    gower_distances,
    gower_index,
    objects_of,
)

FRAME = pd.DataFrame(
    {
        "age": [20.0, 40.0, 60.0],
        "job": pd.Categorical(["a", "b", "a"]),
        "pay": [1.0, np.nan, 3.0],
    }
)


def measure(queries, index):
    return index.measure(encode_queries(queries, index.table.schema))


def test_gower_by_hand():
    index = gower_index(FRAME)
    expected = [[0, (0.5 + 1) / 2, 2 / 3], [1.5 / 2, 0, 1.5 / 2], [2 / 3, 1.5 / 2, 0]]
    assert_allclose(measure(FRAME, index), expected)


def test_gower_with_weights_of_columns():
    index = gower_index(FRAME, np.array([2.0, 1.0, 0.0]))
    assert_allclose(measure(FRAME, index)[0], [0.0, (1.0 + 1.0) / 3, 2.0 / 3])


def test_rows_without_a_common_column_are_as_far_as_can_be():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 2.0]})
    assert_allclose(measure(frame, gower_index(frame)), [[0.0, 1.0], [1.0, 0.0]])


def test_unknown_categories_differ_from_all():
    index = gower_index(FRAME[["job"]])
    strange = pd.DataFrame({"job": pd.Categorical(["z", None])})
    assert_allclose(measure(strange, index), [[1, 1, 1], [1, 1, 1]])


def test_categories_alone_are_hammings_distance():
    codes = np.random.default_rng(0).integers(0, 3, size=(20, 4))
    frame = pd.DataFrame(codes).astype("category")
    assert_allclose(measure(frame, gower_index(frame)), cdist(codes, codes, "hamming"))


def test_numbers_far_outside_the_range_count_as_one():
    index = gower_index(FRAME[["age"]])
    assert_allclose(measure(pd.DataFrame({"age": [500.0]}), index), [[1, 1, 1]])


def test_compiled_loop_equals_its_python_source():
    table = gower_index(FRAME).table
    arguments = (table.numbers, table.codes, table.numbers, table.codes, np.ones(2), np.ones(3))
    assert_allclose(gower_distances(*arguments), gower_distances.py_func(*arguments))


def test_a_column_that_changes_its_kind_is_refused():
    index = gower_index(FRAME)
    with pytest.raises(ValueError, match="was numeric in training and is now categorical"):
        measure(FRAME.astype({"age": "category"}), index)


WORDS = ["cat", "cart", "card", "dog", "dogs", "dug"]
LABELS = ["c", "c", "c", "d", "d", "d"]


def edits(first, second):
    """Levenshtein's distance."""
    row = list(range(len(second) + 1))
    for i, one in enumerate(first, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(second, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (one != other))
    return row[-1]


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Series, lambda w: np.array(w, object)])
def test_words_are_classified_by_a_function_of_two(kind):
    model = KNeighborsClassifier(n_neighbors=3, metric=edits).fit(kind(WORDS), LABELS)
    assert_array_equal(model.predict(kind(["carts", "doug"])), ["c", "d"])
    neighbours = model.kneighbors(["cat"])
    assert_array_equal(neighbours.rows, [[0, 1, 2]])
    assert_array_equal(neighbours.distances, [[0.0, 1.0, 2.0]])
    assert model.explain(["cat"])[0].label == "c"


def test_words_agree_with_precomputed_distances():
    table = compare_objects(edits, objects_of(WORDS), objects_of(WORDS))
    by_table = KNeighborsClassifier(n_neighbors=3, metric="precomputed").fit(table, LABELS)
    by_words = KNeighborsClassifier(n_neighbors=3, metric=edits).fit(WORDS, LABELS)
    assert_array_equal(by_words.predict_proba(WORDS), by_table.predict_proba(table))


def test_the_query_is_compared_with_the_stored_and_not_the_other_way_round():
    def missing(query, stored):
        return len(set(query) - set(stored))

    model = KNeighborsClassifier(n_neighbors=1, metric=missing).fit(["abcd", "a"], ["all", "one"])
    assert_array_equal(model.predict(["ab"]), ["all"])
    assert_array_equal(model.kneighbors(["ab"]).distances, [[0.0]])
    similar = SimilarityRepresentation(similarity=missing).fit(["abcd", "a"])
    assert_array_equal(similar.transform(["ab"]), [[0.0, 1.0]])


def test_sequences_of_different_lengths():
    def lengths(first, second):
        return abs(len(first) - len(second))

    short_and_long = [[1.0], [1.0, 2.0], [1.0] * 8, [2.0] * 9]
    model = KNeighborsClassifier(n_neighbors=1, metric=lengths).fit(short_and_long, [0, 0, 1, 1])
    assert_array_equal(model.predict([[5.0, 5.0, 5.0], [0.0] * 7]), [0, 1])


def test_vectors_stay_vectors():
    def gap(first, second):
        assert first.dtype == np.float64
        return np.abs(first - second).sum()

    model = KNeighborsClassifier(n_neighbors=1, metric=gap).fit([[0, 0], [5, 5]], [0, 1])
    assert_array_equal(model.predict([[4, 4]]), [1])


def test_similarities_of_words():
    def shared(first, second):
        return len(set(first) & set(second))

    representation = SimilarityRepresentation(similarity=shared)
    assert_array_equal(
        representation.fit(["ab", "bcd"]).transform(["abc", "x"]), [[2.0, 2.0], [0.0, 0.0]]
    )
    some = SimilarityRepresentation(similarity=shared, n_landmarks=2, random_state=0).fit(WORDS)
    assert some.transform(WORDS).shape == (6, 2)
    assert list(some.get_feature_names_out()) == ["similarity0", "similarity1"]


def test_bad_requests():
    model = KNeighborsClassifier(n_neighbors=1, metric=edits).fit(WORDS, LABELS)
    with pytest.raises(DataError, match="list of objects"):
        model.predict([[1.0, 2.0]])
    with pytest.raises(DataError, match="n_neighbors is larger"):
        KNeighborsClassifier(n_neighbors=9, metric=edits).fit(WORDS, LABELS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KNeighborsClassifier(n_neighbors=1, metric=edits).fit(WORDS, LABELS[:3])
    with pytest.raises(DataError, match="a number for every pair"):
        KNeighborsClassifier(n_neighbors=1, metric=lambda a, b: np.nan).fit(WORDS, LABELS).predict(
            WORDS
        )
    with pytest.raises(ValueError, match="could not convert"):
        KNeighborsClassifier(n_neighbors=1).fit([["a", "b"], ["c", "d"]], [0, 1])

"""Objects without coordinates: neighbours and similarities of strings and of sequences."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from verulam.base import DataError
from verulam.nonparametric import KNeighboursClassifier, SimilarityRepresentation
from verulam.nonparametric._neighbours.object_index import compare_objects, objects_of

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
    model = KNeighboursClassifier(n_neighbors=3, metric=edits).fit(kind(WORDS), LABELS)
    assert_array_equal(model.predict(kind(["carts", "doug"])), ["c", "d"])
    found = model.kneighbours(["cat"])
    assert_array_equal(found.rows, [[0, 1, 2]])
    assert_array_equal(found.distances, [[0.0, 1.0, 2.0]])
    assert model.explain(["cat"])[0].label == "c"


def test_words_agree_with_precomputed_distances():
    table = compare_objects(edits, objects_of(WORDS), objects_of(WORDS))
    by_table = KNeighboursClassifier(n_neighbors=3, metric="precomputed").fit(table, LABELS)
    by_words = KNeighboursClassifier(n_neighbors=3, metric=edits).fit(WORDS, LABELS)
    assert_array_equal(by_words.predict_proba(WORDS), by_table.predict_proba(table))


def test_the_query_is_compared_with_the_stored_and_not_the_other_way_round():
    def missing(query, stored):
        return len(set(query) - set(stored))

    model = KNeighboursClassifier(n_neighbors=1, metric=missing).fit(["abcd", "a"], ["all", "one"])
    assert_array_equal(model.predict(["ab"]), ["all"])
    assert_array_equal(model.kneighbours(["ab"]).distances, [[0.0]])
    similar = SimilarityRepresentation(similarity=missing).fit(["abcd", "a"])
    assert_array_equal(similar.transform(["ab"]), [[0.0, 1.0]])


def test_sequences_of_different_lengths():
    def lengths(first, second):
        return abs(len(first) - len(second))

    short_and_long = [[1.0], [1.0, 2.0], [1.0] * 8, [2.0] * 9]
    model = KNeighboursClassifier(n_neighbors=1, metric=lengths).fit(short_and_long, [0, 0, 1, 1])
    assert_array_equal(model.predict([[5.0, 5.0, 5.0], [0.0] * 7]), [0, 1])


def test_vectors_stay_vectors():
    def gap(first, second):
        assert first.dtype == np.float64
        return np.abs(first - second).sum()

    model = KNeighboursClassifier(n_neighbors=1, metric=gap).fit([[0, 0], [5, 5]], [0, 1])
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
    model = KNeighboursClassifier(n_neighbors=1, metric=edits).fit(WORDS, LABELS)
    with pytest.raises(DataError, match="list of objects"):
        model.predict([[1.0, 2.0]])
    with pytest.raises(DataError, match="n_neighbors is larger"):
        KNeighboursClassifier(n_neighbors=9, metric=edits).fit(WORDS, LABELS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KNeighboursClassifier(n_neighbors=1, metric=edits).fit(WORDS, LABELS[:3])
    with pytest.raises(DataError, match="a number for every pair"):
        KNeighboursClassifier(n_neighbors=1, metric=lambda a, b: np.nan).fit(WORDS, LABELS).predict(
            WORDS
        )
    with pytest.raises(ValueError, match="could not convert"):
        KNeighboursClassifier(n_neighbors=1).fit([["a", "b"], ["c", "d"]], [0, 1])

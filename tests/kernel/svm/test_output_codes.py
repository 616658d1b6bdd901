"""Codes of classes: special cases, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from verulam.base import DataError
from verulam.kernel import SupportVectorClassifier, add_confused_pair, code_matrix
from verulam.kernel._svm.output_codes import decode


def test_one_vs_all_codes_given_as_a_matrix_make_the_same_machines():
    X, y = load_iris(return_X_y=True)
    named = SupportVectorClassifier(strategy="one_vs_all").fit(X, y)
    coded = SupportVectorClassifier(strategy=2 * np.eye(3) - 1).fit(X, y)
    assert_allclose(named.machine_outputs(X), coded.machine_outputs(X))
    assert (named.predict(X) == coded.predict(X)).mean() > 0.98
    pairs = SupportVectorClassifier().fit(X, y)
    coded = SupportVectorClassifier(strategy=code_matrix(3, "pairwise")).fit(X, y)
    assert_allclose(pairs.machine_outputs(X), coded.machine_outputs(X))
    assert (pairs.predict(X) == coded.predict(X)).mean() > 0.98


def test_two_classes_need_one_machine():
    assert_array_equal(code_matrix(2, "one_vs_all"), [[-1], [1]])


def test_votes_and_losses():
    outputs = np.array([[0.5, 0.4, -0.1]])
    codes = code_matrix(3, "pairwise")
    votes = decode(outputs, codes, "pairwise")
    assert votes.argmax() == 1
    assert_array_equal(np.round(votes), [[0, 2, 1]])
    losses = decode(np.array([[2.0, -2.0]]), np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 0.0]]), None)
    assert_allclose(losses, [[0.0, -1.5, -3.0]])


def test_a_machine_for_the_most_confused_pair():
    confusion = np.array([[5, 2, 0], [4, 5, 1], [0, 0, 9]])
    assert_array_equal(add_confused_pair(code_matrix(3, "pairwise"), confusion)[:, -1], [-1, 1, 0])


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ([[1], [-1]], "a row for each of the 3 classes"),
        ([[2, 1], [1, -1], [-1, 1]], "entries -1, 0 and 1"),
        ([[1, 1], [1, -1], [1, 1]], "both sides"),
        ([[1, -1], [1, -1], [-1, 1]], "same code"),
    ],
)
def test_refused_codes(codes, message):
    with pytest.raises(DataError, match=message):
        code_matrix(3, codes)

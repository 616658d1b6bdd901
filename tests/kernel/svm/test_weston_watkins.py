"""One machine for all classes: two classes, zero gap, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from verulam.base import DataError
from verulam.kernel import (
    FunctionKernel,
    Gaussian,
    SpectrumKernel,
    SupportVectorClassifier,
    WestonWatkinsClassifier,
)

X, Y = load_iris(return_X_y=True)


def test_two_classes_are_the_binary_machine():
    rows, labels = X[50:], Y[50:]
    ours = WestonWatkinsClassifier(kernel=Gaussian(1.0), C=2.0, tol=1e-7).fit(rows, labels)
    kernel = FunctionKernel(lambda a, b: Gaussian(1.0)(a, b) + 1.0)
    binary = SupportVectorClassifier(kernel=kernel, C=2.0, fit_intercept=False, tol=1e-7).fit(
        rows, labels
    )
    assert_allclose(ours.decision_function(rows), binary.decision_function(rows), atol=1e-5)
    assert_allclose(ours.dual_coef_[0], -ours.dual_coef_[1])


def test_primal_equals_dual():
    machine = WestonWatkinsClassifier(kernel=Gaussian(1.0), C=0.5, tol=1e-7).fit(X, Y)
    scores = machine.class_scores(X)
    weights = np.zeros((3, len(X)))
    weights[:, machine.support_] = machine.dual_coef_
    squares = np.einsum("it,ts,is->", weights, Gaussian(1.0)(X) + 1.0, weights)
    lack = np.maximum(0.0, 2.0 - scores[np.arange(150), Y][:, None] + scores)
    lack[np.arange(150), Y] = 0.0
    primal = 0.5 * squares + 0.5 * lack.sum()
    alphas = weights[Y, np.arange(150)].sum()
    assert primal == pytest.approx(2.0 * alphas - 0.5 * squares, rel=1e-5)
    assert machine.score(X, Y) > 0.95


def test_refusals():
    with pytest.raises(DataError, match="1 class only"):
        WestonWatkinsClassifier().fit(X[:50], Y[:50])


def test_given_matrix_and_objects():
    kernel = Gaussian(1.0)
    rows = WestonWatkinsClassifier(kernel=kernel).fit(X[::2], Y[::2])
    by_matrix = WestonWatkinsClassifier(kernel="precomputed").fit(kernel(X[::2]), Y[::2])
    assert_allclose(by_matrix.class_scores(kernel(X, X[::2])), rows.class_scores(X), atol=1e-8)
    words = ["aab", "aba", "bbb", "bab", "ccb", "acc"]
    strings = WestonWatkinsClassifier(kernel=SpectrumKernel(1), C=10.0).fit(words, list("aabbcc"))
    assert strings.predict(words).tolist() == list("aabbcc")

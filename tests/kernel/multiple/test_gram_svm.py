"""Machines on Gram matrices: scikit-learn's solution, one row of signs for each machine."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from verulam.kernel import Gaussian
from verulam.kernel._multiple.gram_svm import class_signs, gram_machines

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
SIGNS = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, 1.0, -1.0)
GRAM = Gaussian(1.0)(X)


def test_two_classes_have_one_machine_and_three_have_three():
    codes = np.array([0, 1, 2, 1])
    assert_array_equal(class_signs(codes % 2, 2), [[-1, 1, -1, 1]])
    assert_array_equal(class_signs(codes, 3), [[1, -1, -1, -1], [-1, 1, -1, 1], [-1, -1, 1, -1]])


def test_agrees_with_libsvm():
    machines = gram_machines(GRAM, SIGNS[None], 3.0, 1e-6)
    theirs = SVC(C=3.0, kernel="precomputed", tol=1e-8).fit(GRAM, SIGNS)
    values = GRAM @ machines.coefficients[0] + machines.biases[0]
    assert_allclose(values, theirs.decision_function(GRAM), atol=1e-4)
    dual = np.abs(theirs.dual_coef_).sum() - 0.5 * (
        theirs.dual_coef_ @ GRAM[np.ix_(theirs.support_, theirs.support_)] @ theirs.dual_coef_.T
    )
    assert_allclose(machines.objective, dual.item(), rtol=1e-6)


def test_objective_adds_up_over_machines():
    both = gram_machines(GRAM, np.array([SIGNS, -SIGNS]), 1.0, 1e-6)
    one = gram_machines(GRAM, SIGNS[None], 1.0, 1e-6)
    assert_allclose(both.objective, 2 * one.objective, rtol=1e-6)
    grams = np.array([GRAM, GRAM**2])
    images = one.gram_products(grams)
    assert_allclose(images[1], one.coefficients @ GRAM**2, atol=1e-12)
    assert_allclose(
        both.squared_norms(both.gram_products(grams)), 2 * one.squared_norms(images), rtol=1e-3
    )

"""One description per class: scores, priors, rejection."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataWarning
from verulam.kernel import ClassDescriptions, Gaussian, OneClassMachine, SpectrumKernel


def two_clouds():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, size=(90, 2)), rng.normal(3, 1, size=(30, 2))])
    return X, np.repeat(["a", "b"], [90, 30])


def test_scores_are_those_of_each_class():
    X, y = two_clouds()
    learner = ClassDescriptions(kernel=Gaussian(1.0), nu=0.3).fit(X, y)
    description = OneClassMachine(kernel=Gaussian(1.0), nu=0.3).fit(X[y == "b"])
    assert_allclose(learner.class_scores(X)[:, 1], description.score_samples(X))
    assert learner.score(X, y) > 0.9
    assert_allclose(learner.priors_, [0.75, 0.25])


def test_all_support_is_a_kernel_density():
    """With nu = 1 every row carries the same weight: the Parzen classifier."""
    X, y = two_clouds()
    learner = ClassDescriptions(kernel=Gaussian(1.0), nu=1.0, priors="equal").fit(X, y)
    density = Gaussian(1.0)(X, X[y == "a"]).mean(axis=1)
    assert_allclose(learner.class_scores(X)[:, 0], density)
    assert_allclose(learner.priors_, 0.5)


def test_the_class_of_largest_prior_times_density_is_predicted():
    X, y = two_clouds()
    scores = np.column_stack([Gaussian(1.0)(X, X[y == name]).mean(axis=1) for name in "ab"])
    for priors, weights in ((None, [0.75, 0.25]), ("equal", [0.5, 0.5])):
        learner = ClassDescriptions(kernel=Gaussian(1.0), nu=1.0, priors=priors).fit(X, y)
        expected = np.array(["a", "b"])[(scores * weights).argmax(axis=1)]
        assert (learner.predict(X) == expected).all()
    assert (expected != np.array(["a", "b"])[(scores * [0.75, 0.25]).argmax(axis=1)]).any()


def test_far_rows_may_be_rejected():
    X, y = two_clouds()
    learner = ClassDescriptions(kernel=Gaussian(2.0), nu=0.1).fit(X, y)
    assert learner.outside([[20.0, -20.0], [0.0, 0.0]]).tolist() == [True, False]


def test_given_matrix_and_objects():
    X, y = two_clouds()
    kernel = Gaussian(1.0)
    plain = ClassDescriptions(kernel=kernel, nu=0.3, tol=1e-8).fit(X[::2], y[::2])
    by_matrix = ClassDescriptions(kernel="precomputed", nu=0.3, tol=1e-8).fit(
        kernel(X[::2]), y[::2]
    )
    later = kernel(X[1::2], X[::2])
    assert_allclose(by_matrix.class_scores(later), plain.class_scores(X[1::2]), atol=1e-7)
    assert (by_matrix.outside(later) == plain.outside(X[1::2])).all()
    words = ["aab", "aba", "aaa", "bbb", "bba", "bab"]
    strings = ClassDescriptions(kernel=SpectrumKernel(1), nu=0.5).fit(words, list("aaabbb"))
    assert strings.predict(["aa", "bb"]).tolist() == ["a", "b"]


def test_an_indefinite_matrix_is_said_once():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.warns(DataWarning, match="smallest eigenvalue") as warnings:
        ClassDescriptions(kernel="precomputed").fit(X @ X.T - np.eye(20), [0, 1] * 10)
    assert len(warnings) == 1

"""Multiple kernel learning: no worse than single or equal kernels, noise left out, reports."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from verulam.base import DataError
from verulam.kernel import Gaussian, Linear, MultipleKernelClassifier, ObjectKernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 6))
Y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
VIEWS = [
    Gaussian(1.0).on_columns([0, 1]),
    Gaussian(1.0).on_columns([2, 3]),
    Linear().on_columns([4, 5]),
]


@pytest.mark.parametrize("cost", [0.5, 10.0])
def test_objective_is_no_worse_than_single_kernels_or_their_mean(cost):
    inputs, targets = load_breast_cancer(return_X_y=True)
    inputs, targets = scale(inputs)[:200], targets[:200]
    kernels = ["linear", "polynomial", Gaussian(2.0), Gaussian(6.0)]
    learned = MultipleKernelClassifier(kernels, C=cost).fit(inputs, targets)
    rivals = [MultipleKernelClassifier([kernel], rule="uniform", C=cost) for kernel in kernels] + [
        MultipleKernelClassifier(kernels, rule="uniform", C=cost)
    ]
    for rival in rivals:
        assert learned.objective_ <= rival.fit(inputs, targets).objective_ * (1 + 1e-3)


@pytest.mark.parametrize("rule", ["convex", "conic", "alignment", "maximal alignment"])
def test_views_of_noise_get_little_weight(rule):
    learner = MultipleKernelClassifier(VIEWS, rule=rule).fit(X[:160], Y[:160])
    shares = learner.weights_ / learner.weights_.sum()
    assert shares[0] > 0.85
    assert learner.score(X[160:], Y[160:]) > 0.9


def test_one_kernel_is_a_plain_machine():
    learner = MultipleKernelClassifier([Gaussian(1.0)], C=2.0, tol=1e-6).fit(X, Y)
    scaled = 2.0 / learner.kernels_.scales[0]
    theirs = SVC(C=scaled, gamma=0.5, tol=1e-8).fit(X, Y)
    assert_allclose(learner.decision_function(X), theirs.decision_function(X), atol=2e-3)


def test_three_classes_share_their_weights():
    labels = np.digitize(X[:, 0] ** 2 + X[:, 1] ** 2, [1.0, 3.0])
    learner = MultipleKernelClassifier(VIEWS, C=5.0).fit(X, labels)
    assert learner.decision_function(X).shape == (240, 3)
    assert learner.weights_.argmax() == 0
    assert learner.score(X, labels) > 0.9


def test_weight_table_names_the_kernels():
    table = MultipleKernelClassifier(VIEWS).fit(X, Y).weight_table()
    assert "columns=(0, 1)" in table["kernel"][0]
    assert table["weight"].is_monotonic_decreasing


def test_kernels_of_objects():
    words = ["aab", "aba", "baa", "aaa", "ccd", "cdc", "dcc", "ccc"] * 3
    labels = [0, 0, 0, 0, 1, 1, 1, 1] * 3
    letters = ObjectKernel(lambda first, second: len(set(first) & set(second)))
    length = ObjectKernel(lambda first, second: len(first) * len(second))
    learner = MultipleKernelClassifier([letters, length]).fit(words, labels)
    assert learner.predict(["abb", "cdd"]).tolist() == [0, 1]


def test_one_class_only():
    with pytest.raises(DataError, match="two classes or more"):
        MultipleKernelClassifier().fit(X, np.ones(240))


def test_cost_that_is_not_positive():
    with pytest.raises(ValueError, match=r"'C' parameter .* must be a float in the range"):
        MultipleKernelClassifier(C=0.0).fit(X, Y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_given_matrices_are_the_kernels_that_made_them(n_classes):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    labels = np.digitize(rows[:, 0] * rows[:, 1], [-0.2, 0.2][: n_classes - 1])
    kernels = [Gaussian(0.7), Gaussian(1.0).on_columns([0]), Linear()]
    plain = MultipleKernelClassifier(kernels).fit(rows[:40], labels[:40])
    training = np.array([kernel(rows[:40]) for kernel in kernels])
    by_matrices = MultipleKernelClassifier("precomputed").fit(training, labels[:40])
    assert_allclose(by_matrices.weights_, plain.weights_, atol=1e-9)
    later = [kernel(rows[40:], rows[:40]) for kernel in kernels]
    assert_allclose(
        by_matrices.decision_function(later), plain.decision_function(rows[40:]), atol=1e-8
    )
    assert set(by_matrices.weight_table()["kernel"]) == {"matrix 0", "matrix 1", "matrix 2"}
    with pytest.raises(DataError, match=r"40 training inputs, one table for each of 3"):
        by_matrices.predict(training[:2])
    with pytest.raises(DataError, match="three dimensions; got shape"):
        MultipleKernelClassifier("precomputed").fit(training[0], labels[:40])

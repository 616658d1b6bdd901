"""Localised kernels: the gates' gradient, constant gates, piecewise boundaries."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import (
    Gates,
    Gaussian,
    Linear,
    LocalisedKernelClassifier,
    MultipleKernelClassifier,
    ObjectKernel,
    SupportVectorClassifier,
    gram_report,
)
from verulam.kernel._multiple.gram_svm import gram_machines
from verulam.kernel._multiple.localised_mkl import gate_gradient, gated_gram

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(150, 2))
Y = X[:, 1] > np.abs(X[:, 0]) - 0.5
GRAMS = np.array([Linear()(X), Gaussian(1.0)(X)])
SIGNS = np.where(Y, 1.0, -1.0)[None]


def gates(kind, slopes):
    return Gates(kind, X.mean(axis=0), X.std(axis=0), slopes)


@pytest.mark.parametrize("kind", ["softmax", "sigmoid", "gaussian"])
def test_gradient_by_finite_differences(kind):
    slopes, step = np.random.default_rng(1).normal(size=(2, 3)), 1e-4
    features = gates(kind, slopes).features(X)

    def machines(values):
        gram = gated_gram(gates(kind, values).openings(features), GRAMS)
        return gram_machines(gram, SIGNS, 1.0, 1e-8)

    gradient = gate_gradient(gates(kind, slopes), features, GRAMS, machines(slopes).coefficients)
    for place in np.ndindex(2, 3):
        move = np.zeros((2, 3))
        move[place] = step
        slope = machines(slopes + move).objective - machines(slopes - move).objective
        assert_allclose(gradient[place], slope / (2 * step), rtol=2e-3, atol=1e-4)


def test_constant_gates_are_weights_of_kernels():
    """Gates of 0.3 and 0.7 everywhere weigh the kernels by their squares."""
    constant = np.zeros((2, 3))
    constant[:, 2] = np.log([0.3, 0.7])
    openings = gates("softmax", constant).openings(gates("softmax", constant).features(X))
    gram = 0.09 * GRAMS[0] + 0.49 * GRAMS[1]
    assert_allclose(gated_gram(openings, GRAMS), gram)
    gated = gram_machines(gated_gram(openings, GRAMS), SIGNS, 1.0, 1e-8)
    weighted = SupportVectorClassifier(kernel="precomputed", tol=1e-8).fit(gram, Y)
    outputs = gram @ gated.coefficients[0] + gated.biases[0]
    assert_allclose(outputs, weighted.decision_function(gram), atol=1e-5)


def test_gates_about_centres():
    """Each opens by the Gaussian of its centre, as a share of all; columns are standardised."""
    parameters = np.array([[-0.5, 0.2, np.log(0.7)], [1.0, 0.0, np.log(2.0)]])
    about = gates("gaussian", parameters)
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    bumps = np.column_stack(
        [
            np.exp(-0.5 * ((rows - gate[:2]) ** 2).sum(axis=1) / np.exp(gate[2]) ** 2)
            for gate in parameters
        ]
    )
    assert_allclose(about.openings(about.features(X)), bumps / bumps.sum(axis=1, keepdims=True))
    # As wide as the world and about one centre, they are open to the same degree everywhere.
    wide = gates("gaussian", np.array([[0.0, 0.0, 9.0], [0.0, 0.0, 9.0]]))
    assert_allclose(wide.openings(wide.features(X)), 0.5)


def test_gated_sum_is_a_gram_matrix():
    openings = np.random.default_rng(2).uniform(size=(150, 2))
    assert gram_report(gated_gram(openings, GRAMS)).positive_semidefinite


@pytest.mark.parametrize("gate", ["softmax", "sigmoid", "gaussian"])
def test_two_lines_make_a_corner_that_one_cannot(gate):
    kernels = [Linear(), Linear()]
    local = LocalisedKernelClassifier(kernels, gate=gate, C=100.0, tol=1e-4, random_state=0)
    plain = MultipleKernelClassifier(kernels, C=100.0).fit(X, Y)
    assert local.fit(X, Y).score(X, Y) > 0.95 > plain.score(X, Y) + 0.02
    assert (np.diff(local.objective_curve_) < 0).all()


def test_gates_of_new_rows():
    local = LocalisedKernelClassifier(["linear", "rbf"], random_state=0).fit(X, Y)
    assert_allclose(local.gate_openings(X), local.openings_)
    assert_allclose(local.gate_openings(X).sum(axis=1), 1.0)


def test_three_classes():
    labels = np.digitize(X[:, 0], [-0.3, 0.3])
    local = LocalisedKernelClassifier(["linear", "rbf"], C=10.0, random_state=0)
    assert local.fit(X, labels).decision_function(X).shape == (150, 3)
    assert local.score(X, labels) > 0.9


def test_objects_have_no_gates():
    kernel = ObjectKernel(lambda first, second: 1.0)
    with pytest.raises(DataError, match="rows of numbers"):
        LocalisedKernelClassifier([kernel]).fit(["a", "b"], [0, 1])


def test_an_offset_of_the_columns_changes_nothing():
    kernels = ["linear", Gaussian(1.0)]
    plain = LocalisedKernelClassifier(kernels, random_state=0).fit(X, Y)
    moved = LocalisedKernelClassifier(kernels, random_state=0).fit(X + 1e4, Y)
    assert_allclose(moved.decision_function(X + 1e4), plain.decision_function(X), atol=1e-2)

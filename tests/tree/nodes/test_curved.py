"""Curved nodes: ellipses, discs and XOR in one split; Gaussian branches as in LDA."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import check_grad
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from verulam.data import dataset
from verulam.tree._nodes.curved import (
    _network_loss,
    fit_ellipsoid,
    fit_gaussian,
    fit_network,
    fit_quadratic,
    fit_sphere,
)
from verulam.tree._nodes.problem import split_impurity_of


def in_ellipse(matrix, n_rows=150):
    inputs = np.random.default_rng(0).uniform(-1.5, 1.5, size=(n_rows, 2))
    values = np.einsum("ti,ij,tj->t", inputs, matrix, inputs)
    keep = np.abs(values - 1.0) > 0.1
    return inputs[keep], (values < 1.0)[keep].astype(np.int64)


def test_a_quadratic_node_separates_an_ellipse(make):
    inputs, codes = in_ellipse(np.array([[2.0, 0.9], [0.9, 1.0]]))
    test = fit_quadratic(make(inputs, codes))
    assert_array_equal(test.branches(inputs), codes)


def test_a_sphere_separates_a_disc(make):
    inputs, codes = in_ellipse(np.eye(2))
    test = fit_sphere(make(inputs, codes))
    assert_array_equal(test.branches(inputs), codes)
    assert_allclose(test.centre, 0.0, atol=0.2)
    assert_allclose(test.radius, 1.0, atol=0.1)
    assert_allclose(test.root, np.eye(2))


def test_an_ellipsoid_is_purer_than_a_sphere_on_an_ellipse(make):
    inputs, codes = in_ellipse(np.array([[6.0, 2.0], [2.0, 1.5]]), 250)
    problem = make(inputs, codes)
    impurities = [
        split_impurity_of(problem, fit(problem).branches(inputs), 2)
        for fit in (fit_sphere, fit_ellipsoid)
    ]
    assert impurities[1] < 0.5 * impurities[0]


def test_a_network_solves_xor_in_one_node(make):
    inputs = np.random.default_rng(0).uniform(-1, 1, size=(160, 2))
    inputs = inputs[np.abs(inputs).min(axis=1) > 0.05]
    codes = (inputs[:, 0] * inputs[:, 1] > 0).astype(np.int64)
    test = fit_network(make(inputs, codes))
    assert_array_equal(test.branches(inputs), codes)


def test_classes_are_grouped_as_a_curve_can_separate_them(make):
    """The inner of three classes is the one to set apart: half of the rows are in it."""
    random = np.random.default_rng(1)
    angle = random.uniform(0, 2 * np.pi, size=80)
    ring = 3.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    inputs = np.vstack([0.5 * random.normal(size=(80, 2)), ring])
    codes = np.repeat([0, 1, 2], [80, 40, 40])
    codes[80:] = 1 + (ring[:, 0] > 0)
    for fit in (fit_quadratic, fit_network):
        branches = fit(make(inputs, codes)).branches(inputs)
        assert len(set(branches[:80])) == 1
        assert (branches[80:] != branches[0]).all()


def test_the_gradient_of_a_network_is_that_of_its_loss():
    random = np.random.default_rng(0)
    inputs, groups = random.normal(size=(20, 3)), random.integers(2, size=20)
    shares = random.dirichlet(np.ones(20))
    flat = random.normal(size=5 * 2 + 1)

    def part(which):
        return lambda flat: _network_loss(flat, inputs, groups, shares, 2)[which]

    assert check_grad(part(0), part(1), flat) < 1e-5


def test_gaussian_branches_are_the_decisions_of_lda(make):
    iris = dataset("iris")
    inputs = iris.inputs.to_numpy(float)
    codes = np.unique(iris.target_values, return_inverse=True)[1]
    test = fit_gaussian(make(inputs, codes))
    theirs = LinearDiscriminantAnalysis().fit(inputs, codes)
    assert test.n_branches == 3
    assert_array_equal(test.classes[test.branches(inputs)], theirs.predict(inputs))


def test_classes_that_are_never_decided_for_have_no_branch(make):
    random = np.random.default_rng(0)
    inputs = np.vstack([random.normal(size=(50, 2)), random.normal(size=(50, 2)) + 5.0, [[0, 0]]])
    codes = np.repeat([0, 1, 2], [50, 50, 1])
    test = fit_gaussian(make(inputs, codes))
    assert test.classes.tolist() == [0, 1]
    assert fit_gaussian(make(inputs, codes, min_rows=60)) is None


def test_nothing_to_split_on(make):
    problem = make(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    for fit in (fit_quadratic, fit_sphere, fit_ellipsoid, fit_network, fit_gaussian):
        assert fit(problem) is None

"""Kernel discriminants: Fisher's direction, the criterion in plain NumPy, rings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from verulam.base import DataError
from verulam.kernel import Gaussian, KernelDiscriminants

RNG = np.random.default_rng(1)
Y = np.repeat([0, 1, 2], 30)
X = RNG.normal(size=(90, 4)) + np.array([[0, 0, 0, 0], [2, 1, 0, 0], [0, 2, 2, 0]])[Y]


def test_linear_kernel_gives_fishers_directions():
    ours = KernelDiscriminants(kernel="linear", alpha=1e-12).fit(X, Y).transform(X)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, Y).transform(X)
    for column in range(2):
        assert abs(np.corrcoef(ours[:, column], theirs[:, column])[0, 1]) == pytest.approx(1.0)


def test_alpha_is_added_to_the_scatter_of_the_space():
    alpha = 0.3
    centred = X - X.mean(axis=0)
    means = np.array([centred[k == Y].mean(axis=0) for k in range(3)])
    inside = centred - means[Y]
    within = inside.T @ inside + alpha * (centred**2).sum() * np.eye(4)
    values, vectors = np.linalg.eig(np.linalg.solve(within, 30 * means.T @ means))
    first = centred @ vectors[:, values.real.argmax()].real
    ours = KernelDiscriminants(kernel="linear", alpha=alpha).fit(X, Y).transform(X)[:, 0]
    assert abs(np.corrcoef(ours, first)[0, 1]) == pytest.approx(1.0)


def test_rings_are_told_apart():
    angle = RNG.uniform(0, 2 * np.pi, 200)
    radius = np.where(np.arange(200) < 100, 1.0, 3.0) + 0.2 * RNG.normal(size=200)
    rings = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    labels = np.repeat(["in", "out"], 100)
    learner = KernelDiscriminants(kernel=Gaussian(1.0)).fit(rings[::2], labels[::2])
    assert learner.score(rings[1::2], labels[1::2]) > 0.97
    assert learner.transform(rings).shape == (200, 1)


def test_fewer_components_are_the_first_ones():
    both = KernelDiscriminants().fit(X, Y).transform(X)
    one = KernelDiscriminants(1).fit(X, Y).transform(X)
    assert_allclose(np.abs(one), np.abs(both[:, :1]), atol=1e-8)


def test_one_class_only():
    with pytest.raises(DataError, match="two classes or more; got 1 class"):
        KernelDiscriminants().fit(X, np.zeros(90))


def test_inputs_that_are_all_the_same():
    with pytest.raises(DataError, match="nothing tells the classes apart"):
        KernelDiscriminants().fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_labels_for_other_rows():
    with pytest.raises(DataError, match="one label for each of the 90 inputs; got 3"):
        KernelDiscriminants().fit(X, [0, 1, 2])

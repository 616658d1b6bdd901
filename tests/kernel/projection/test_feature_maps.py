"""Empirical kernel maps and feature maps: templates, inner products, approximation."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.kernel_approximation import Nystroem, RBFSampler

from verulam.base import DataError, DataWarning
from verulam.kernel import (
    Anova,
    ChiSquare,
    EditKernel,
    EmpiricalKernelMap,
    Gaussian,
    KernelPrincipalComponents,
    Laplace,
    MultipleKernelClassifier,
    Polynomial,
    Sigmoid,
    feature_map,
    gram_report,
)
from verulam.kernel._kernels import inputs as _inputs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))


def test_scores_with_all_training_inputs():
    map_ = EmpiricalKernelMap(Gaussian(1.0)).fit(X)
    assert_allclose(map_.transform(X[:5]), Gaussian(1.0)(X[:5], X))


@pytest.mark.parametrize("score", [Sigmoid(1.0, -2.0), lambda left, right: -(left @ right.T)])
def test_inner_products_are_a_kernel_whatever_the_score(score):
    features = EmpiricalKernelMap(score).fit_transform(X)
    assert not gram_report(features)
    assert gram_report(features @ features.T)


@pytest.mark.parametrize("templates", ["random", "covering", "k-means"])
def test_number_of_templates(templates):
    map_ = EmpiricalKernelMap(templates=templates, n_templates=7, random_state=0).fit(X)
    assert map_.transform(X).shape == (40, 7)
    assert len(np.unique(map_.templates_, axis=0)) == 7


def test_covering_templates_come_from_every_cluster():
    centres = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0], [9.0, 9.0]], 25, axis=0)
    rows = centres + 0.1 * RNG.normal(size=(100, 2))
    map_ = EmpiricalKernelMap("linear", templates="covering", n_templates=4).fit(rows)
    assert len({tuple(template) for template in map_.templates_.round(-1).tolist()}) == 4


def test_objects():
    words = ["cat", "cart", "dog", "dig"]
    map_ = EmpiricalKernelMap(EditKernel(2.0)).fit(words)
    assert_allclose(map_.transform(words), EditKernel(2.0)(words))
    with pytest.raises(DataError, match="needs rows of numbers"):
        EmpiricalKernelMap(EditKernel(), templates="k-means").fit(words)


def test_precomputed_scores_have_no_templates():
    with pytest.raises(DataError, match="no templates"):
        EmpiricalKernelMap("precomputed").fit(np.eye(3))


@pytest.mark.parametrize(
    ("kernel", "kind", "tolerance"),
    [
        (Gaussian(2.0), RBFSampler, 0.15),
        (Polynomial(2), Nystroem, 1e-6),
        (Laplace(1.5), Nystroem, 1e-6),
        (Anova(), Nystroem, 1e-3),
    ],
)
def test_feature_maps_approximate_the_kernel(kernel, kind, tolerance):
    count = 3000 if kind is RBFSampler else 40
    transformer = feature_map(kernel, X, count, random_state=0)
    features = transformer.fit_transform(X)
    assert isinstance(transformer, kind)
    assert_allclose(features @ features.T, kernel.adapted(X)(X), atol=tolerance)
    # It goes to other processes with the machine behind it.
    again = pickle.loads(pickle.dumps(transformer))
    assert_allclose(again.transform(X[:3]), transformer.transform(X[:3]))


def test_feature_map_of_histograms():
    counts = np.abs(X)
    features = feature_map(ChiSquare(0.7), counts, 40, random_state=0).fit_transform(counts)
    assert_allclose(features @ features.T, ChiSquare(0.7)(counts), atol=1e-6)


def test_feature_maps_need_rows():
    with pytest.raises(DataError, match="this one compares objects"):
        feature_map(EditKernel(), ["a", "b"])


def test_many_rows_are_pointed_to_feature_maps(monkeypatch):
    monkeypatch.setattr(_inputs, "MANY_HELD_ROWS", 30)
    with pytest.warns(DataWarning, match=r"verulam\.kernel\.feature_map"):
        KernelPrincipalComponents().fit(X)
    with pytest.warns(DataWarning, match="40 inputs take"):
        MultipleKernelClassifier().fit(X, X[:, 0] > 0)

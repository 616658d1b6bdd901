"""Sums over support vectors, and inputs of every kind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError, DataWarning
from verulam.kernel import Gaussian, ObjectKernel, SupportVectorClassifier
from verulam.kernel._solvers import inputs as module
from verulam.kernel._solvers.inputs import expansion


def test_expansion_in_blocks():
    rng = np.random.default_rng(0)
    queries, supports = rng.normal(size=(1500, 3)), rng.normal(size=(700, 3))
    weights = rng.normal(size=(700, 2))
    found = expansion(Gaussian(1.0), queries, supports, np.arange(700), weights)
    assert_allclose(found, Gaussian(1.0)(queries, supports) @ weights, atol=1e-10)


def test_objects_of_any_kind_are_classified():
    shared = ObjectKernel(lambda first, second: float(len(set(first) & set(second))))
    words, labels = ["aaa", "aab", "xyz", "xyy"], ["a", "a", "x", "x"]
    machine = SupportVectorClassifier(kernel=shared, C=10.0).fit(words, labels)
    assert machine.predict(["ab", "zy"]).tolist() == ["a", "x"]
    with pytest.raises(DataError, match="3 labels, but X has 4"):
        machine.fit(words, labels[:3])
    with pytest.raises(DataError, match="no inputs"):
        machine.fit([], [])


def test_strings_where_numbers_are_needed():
    with pytest.raises(DataError, match=r"table of numbers .*'a'.* SpectrumKernel"):
        SupportVectorClassifier().fit([["a", "b"], ["c", "d"]], [0, 1])


def test_many_rows_are_pointed_to_explicit_features(monkeypatch):
    monkeypatch.setattr(module, "MANY_ROWS", 5)
    X, y = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    with pytest.warns(DataWarning, match="random Fourier features"):
        SupportVectorClassifier().fit(X, y)
    with pytest.warns(DataWarning, match="Nystroem"):
        SupportVectorClassifier(kernel="laplace").fit(X, y)
    assert SupportVectorClassifier(kernel="linear").fit(X, y).score(X, y) == 1.0

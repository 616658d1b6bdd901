"""What machines share: weights of rows, kernel expansions, options and tags."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from verulam.base import DataError
from verulam.kernel import (
    ClassDescriptions,
    Gaussian,
    OneClassMachine,
    RankingMachine,
    SpectrumKernel,
    SupportVectorClassifier,
    SupportVectorDescription,
    SupportVectorRegressor,
    WestonWatkinsClassifier,
)
from verulam.kernel._svm.base import SHARED_CONSTRAINTS, expansion, row_weights

MACHINES = [
    ClassDescriptions,
    OneClassMachine,
    RankingMachine,
    SupportVectorClassifier,
    SupportVectorDescription,
    SupportVectorRegressor,
    WestonWatkinsClassifier,
]


def test_row_weights():
    assert row_weights(None, np.ones((3, 2))).tolist() == [1, 1, 1]
    assert row_weights([1, 0, 2], np.empty(3, dtype=object)).tolist() == [1, 0, 2]
    with pytest.raises(DataError, match="all weights are zero"):
        row_weights([0, 0], np.ones((2, 1)))


def test_expansion_in_blocks():
    rng = np.random.default_rng(0)
    queries, support_vectors = rng.normal(size=(1500, 3)), rng.normal(size=(700, 3))
    weights = rng.normal(size=(700, 2))
    sums = expansion(Gaussian(1.0), queries, support_vectors, np.arange(700), weights)
    assert_allclose(sums, Gaussian(1.0)(queries, support_vectors) @ weights, atol=1e-10)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_family_has_the_same_options_and_tags(machine):
    assert SHARED_CONSTRAINTS.items() <= machine._parameter_constraints.items()
    assert set(SHARED_CONSTRAINTS) <= set(machine().get_params())
    assert machine(kernel="precomputed").__sklearn_tags__().input_tags.pairwise
    tags = machine(kernel=SpectrumKernel()).__sklearn_tags__()
    assert tags.no_validation
    assert not tags.input_tags.two_d_array

"""The family of covariances: counts, nesting, mixing and the floor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import Chunk, DataWarning
from verulam.parametric import FAMILIES, parameter_count
from verulam.parametric._covariances import (
    class_moments,
    estimate_covariances,
    mix_covariances,
    raise_to_floor,
    total_variances,
)


@pytest.fixture
def chunk():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=500)
    return Chunk(rng.normal(size=(500, 4)) + codes[:, None], codes, None, np.arange(3))


@pytest.mark.parametrize(
    ("family", "count"),
    [
        ("shared_spherical", 1),
        ("shared_diagonal", 4),
        ("shared_full", 10),
        ("own_full", 30),
        ("own_diagonal", 12),
        ("own_spherical", 3),
    ],
)
def test_parameter_counts(family, count):
    assert parameter_count(family, n_columns=4, n_classes=3) == count


@pytest.mark.parametrize("owner", ["own", "shared"])
def test_simpler_families_are_projections_of_richer_ones(chunk, owner):
    full, diagonal, spherical = (
        estimate_covariances(class_moments(chunk, family).statistics, family, unbiased=False)
        for family in (f"{owner}_full", f"{owner}_diagonal", f"{owner}_spherical")
    )
    assert_allclose(np.diagonal(full, axis1=-2, axis2=-1), diagonal)
    assert_allclose(diagonal.mean(axis=-1), spherical)


def test_shared_is_the_weighted_mean_of_own(chunk):
    own = estimate_covariances(
        class_moments(chunk, "own_full").statistics, "own_full", unbiased=False
    )
    shared = estimate_covariances(
        class_moments(chunk, "shared_full").statistics, "shared_full", unbiased=False
    )
    shares = np.bincount(chunk.targets) / len(chunk)
    assert_allclose(np.einsum("k,kij->ij", shares, own), shared)


def test_divisors(chunk):
    rows = chunk.inputs[chunk.targets == 1]
    moments = class_moments(chunk, "own_full").statistics
    for unbiased in (False, True):
        found = estimate_covariances(moments, "own_full", unbiased=unbiased)[1]
        assert_allclose(found, np.cov(rows.T, ddof=int(unbiased)))


def test_mixing_formula():
    own = np.array([[[2.0, 1.0], [1.0, 4.0]]])
    shared = np.array([[4.0, 0.0], [0.0, 2.0]])
    mixed = mix_covariances(own, shared, shared_weight=0.5, spherical_weight=0.25)
    assert_allclose(mixed, 0.25 * 3.0 * np.eye(2) + 0.5 * shared + 0.25 * own)


@pytest.mark.parametrize("family", FAMILIES)
def test_total_variance_whatever_the_moments(chunk, family):
    moments = class_moments(chunk, family).statistics
    assert_allclose(total_variances(moments), chunk.inputs.var(axis=0))


def test_floor_leaves_sound_matrices_alone_and_names_the_degenerate_class():
    sound, flat = np.diag([1.0, 1.0]), np.array([[1.0, 1.0], [1.0, 1.0]])
    classes = np.array(["good", "bad"])
    with pytest.warns(DataWarning, match=r"class bad is degenerate \(too few rows"):
        raised = raise_to_floor(np.array([sound, flat]), "own_full", np.full(2, 0.01), classes)
    assert_array_equal(raised[0], sound)
    assert_allclose(np.linalg.eigvalsh(raised[1]), [0.01, 2.0])


def test_floor_names_constant_columns():
    with pytest.warns(DataWarning, match=r"constant columns, counted from 0: \[1\]"):
        raised = raise_to_floor(
            np.array([1.0, 0.0]), "shared_diagonal", np.full(2, 0.1), np.arange(2)
        )
    assert_allclose(raised, [1.0, 0.1])

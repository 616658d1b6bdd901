"""Class priors, and the family of covariances: counts, nesting, mixing and the floor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from verulam.base import Chunk, DataError, DataWarning
from verulam.parametric import COVARIANCE_TYPES, parameter_count
from verulam.parametric._class_parameters import (
    class_moments,
    class_priors,
    estimate_covariances,
    log_priors,
    mix_covariances,
    raise_to_floor,
    total_variances,
)

WEIGHTS = np.array([1.0, 3.0])


@pytest.fixture
def chunk():
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=500)
    return Chunk(rng.normal(size=(500, 4)) + codes[:, None], codes, None, np.arange(3))


@pytest.mark.parametrize(
    ("family", "count"),
    [
        ("tied_spherical", 1),
        ("tied_diag", 4),
        ("tied", 10),
        ("full", 30),
        ("diag", 12),
        ("spherical", 3),
    ],
)
def test_parameter_counts(family, count):
    assert parameter_count(family, n_columns=4, n_classes=3) == count


@pytest.mark.parametrize(
    "types", [("full", "diag", "spherical"), ("tied", "tied_diag", "tied_spherical")]
)
def test_simpler_families_are_projections_of_richer_ones(chunk, types):
    full, diagonal, spherical = (
        estimate_covariances(class_moments(chunk, kind).statistics, kind, unbiased=False)
        for kind in types
    )
    assert_allclose(np.diagonal(full, axis1=-2, axis2=-1), diagonal)
    assert_allclose(diagonal.mean(axis=-1), spherical)


def test_tied_is_the_weighted_mean_of_those_by_class(chunk):
    by_class = estimate_covariances(class_moments(chunk, "full").statistics, "full", unbiased=False)
    tied = estimate_covariances(class_moments(chunk, "tied").statistics, "tied", unbiased=False)
    shares = np.bincount(chunk.targets) / len(chunk)
    assert_allclose(np.einsum("k,kij->ij", shares, by_class), tied)


def test_divisors(chunk):
    rows = chunk.inputs[chunk.targets == 1]
    moments = class_moments(chunk, "full").statistics
    for unbiased in (False, True):
        covariance = estimate_covariances(moments, "full", unbiased=unbiased)[1]
        assert_allclose(covariance, np.cov(rows.T, ddof=int(unbiased)))


def test_mixing_formula():
    by_class = np.array([[[2.0, 1.0], [1.0, 4.0]]])
    shared = np.array([[4.0, 0.0], [0.0, 2.0]])
    mixed = mix_covariances(by_class, shared, shared_weight=0.5, spherical_weight=0.25)
    assert_allclose(mixed, 0.25 * 3.0 * np.eye(2) + 0.5 * shared + 0.25 * by_class)


@pytest.mark.parametrize("family", COVARIANCE_TYPES)
def test_total_variance_whatever_the_moments(chunk, family):
    moments = class_moments(chunk, family).statistics
    assert_allclose(total_variances(moments), chunk.inputs.var(axis=0))


def test_floor_leaves_sound_matrices_alone_and_names_the_degenerate_class():
    sound, flat = np.diag([1.0, 1.0]), np.array([[1.0, 1.0], [1.0, 1.0]])
    classes = np.array(["good", "bad"])
    with pytest.warns(DataWarning, match=r"class bad is degenerate \(too few rows"):
        raised = raise_to_floor(np.array([sound, flat]), "full", np.full(2, 0.01), classes)
    assert_array_equal(raised[0], sound)
    assert_allclose(np.linalg.eigvalsh(raised[1]), [0.01, 2.0])


def test_floor_names_constant_columns():
    with pytest.warns(DataWarning, match=r"constant columns, counted from 0: \[1\]"):
        raised = raise_to_floor(np.array([1.0, 0.0]), "tied_diag", np.full(2, 0.1), np.arange(2))
    assert_allclose(raised, [1.0, 0.1])


def test_priors_are_stated_equal_or_estimated():
    assert_allclose(class_priors(None, WEIGHTS), [0.25, 0.75])
    assert_allclose(class_priors("equal", WEIGHTS), [0.5, 0.5])
    assert_allclose(class_priors([0.9, 0.1], WEIGHTS), [0.9, 0.1])
    # What a class without rows was to have goes to the others.
    assert_allclose(class_priors([0.5, 0.3, 0.2], np.array([3.0, 1.0, 0.0])), [0.625, 0.375, 0.0])


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ([-0.5, 1.5], "must not be negative"),
        ([np.nan, 1.0], "must not be negative or missing"),
        ([0.5, 0.6], r"must sum to 1; they sum to 1\.1"),
        ([1.0], r"shape \(1,\); expected one number for each of the 2 classes"),
    ],
)
def test_bad_priors(priors, message):
    with pytest.raises(DataError, match=message):
        class_priors(priors, WEIGHTS)


def test_a_class_that_cannot_occur():
    assert log_priors(np.array([0.0, 1.0]))[0] == -np.inf

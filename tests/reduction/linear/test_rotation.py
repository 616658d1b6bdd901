"""Varimax and promax: the criterion is largest, and the common part stays."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition._factor_analysis import _ortho_rotation

from verulam.base import DataError
from verulam.reduction import Rotation, promax, varimax

LOADINGS = np.random.default_rng(0).normal(size=(9, 3))


def criterion(loadings):
    return (loadings**2).var(axis=0).sum()


def test_varimax_is_scikit_learns():
    ours = varimax(LOADINGS, normalise=False).loadings
    theirs = _ortho_rotation(LOADINGS, tol=1e-12, max_iter=5000).T
    assert criterion(ours) == pytest.approx(criterion(theirs), rel=1e-8)
    order = np.argsort(-(theirs**2).sum(axis=0))
    assert_allclose(np.abs(ours), np.abs(theirs[:, order]), atol=1e-5)


def test_no_turn_of_two_factors_does_better():
    lengths = np.linalg.norm(LOADINGS, axis=1, keepdims=True)
    rotated = varimax(LOADINGS).loadings / lengths
    for angle in np.linspace(-0.7, 0.7, 15):
        for i, j in ((0, 1), (0, 2), (1, 2)):
            turn = np.eye(3)
            turn[[i, j], [i, j]] = np.cos(angle)
            turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
            assert criterion(rotated @ turn) <= criterion(rotated) + 1e-12


def test_rotation_is_orthogonal_and_keeps_the_common_part():
    rotation = varimax(LOADINGS)
    assert isinstance(rotation, Rotation)
    assert_allclose(rotation.matrix.T @ rotation.matrix, np.eye(3), atol=1e-12)
    assert_allclose(rotation.loadings @ rotation.loadings.T, LOADINGS @ LOADINGS.T)
    assert (rotation.loadings.sum(axis=0) >= 0).all()


def test_a_worst_start_is_left():
    """Every row at 45 degrees: the gradient is zero there, and the criterion smallest."""
    mixed = np.array([[0.6, 0.6], [0.5, 0.5], [-0.4, 0.4], [-0.7, 0.7]])
    rotated = varimax(mixed).loadings
    assert (np.abs(rotated).min(axis=1) < 1e-12).all()


def test_promax_gives_unit_variances_and_keeps_the_common_part():
    rotation = promax(LOADINGS)
    assert_allclose(np.diag(rotation.factor_covariance), 1.0)
    common = rotation.loadings @ rotation.factor_covariance @ rotation.loadings.T
    assert_allclose(common, LOADINGS @ LOADINGS.T, atol=1e-10)
    assert_allclose(promax(LOADINGS, power=1.0).loadings, varimax(LOADINGS).loadings, atol=1e-8)


def test_bad_input():
    with pytest.raises(DataError, match="loadings"):
        varimax([1.0, 2.0])
    with pytest.raises(DataError, match="power=0"):
        promax(LOADINGS, power=0)

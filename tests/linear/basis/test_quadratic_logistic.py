"""Quadratic discriminants, full and of low rank."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from verulam.linear import BasisExpansion, LogisticDiscriminant, QuadraticLogistic
from verulam.linear._basis.quadratic_logistic import leading_directions

IRIS, SPECIES = load_iris(return_X_y=True)


def test_it_is_linear_in_the_products():
    model = QuadraticLogistic(alpha=0.5).fit(IRIS, SPECIES)
    scaled = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)
    expanded = BasisExpansion().fit_transform(scaled)
    expected = LogisticDiscriminant(alpha=0.5).fit(expanded, SPECIES).predict_proba(expanded)
    assert np.allclose(model.predict_proba(IRIS), expected, atol=1e-5)


def test_matrices_give_the_discriminant():
    model = QuadraticLogistic().fit(IRIS, SPECIES)
    scaled = (IRIS - model.means_) / model.scales_
    quadratic = np.einsum("ti,kij,tj->tk", scaled, model.matrices_, scaled)
    linear = scaled @ model.model_.coef_[:, :4].T + model.model_.intercept_
    posterior = np.exp(quadratic + linear)
    posterior /= posterior.sum(axis=1, keepdims=True)
    assert np.allclose(model.predict_proba(IRIS), posterior)


@pytest.mark.parametrize("rank", [1, 2])
def test_matrices_have_the_wished_rank(rank):
    random = np.random.default_rng(0)
    rows = random.normal(size=(500, 6))
    classes = (np.abs(rows @ [1, 1, 0, 0, 0, 0]) > 1.2).astype(int)
    model = QuadraticLogistic(rank=rank).fit(rows, classes)
    values = np.linalg.eigvalsh(model.matrices_[0])
    assert (np.abs(values) > 1e-9).sum() == rank
    assert model.score(rows, classes) > 0.95
    assert model.model_.coef_.shape[1] == 6 + rank


def test_the_leading_direction_is_the_one_that_bends():
    direction = np.array([0.6, 0.8])
    directions = leading_directions(-3.0 * np.outer(direction, direction) + 0.1 * np.eye(2), 1)
    assert np.abs(directions[0] @ direction) == pytest.approx(1.0)


def test_a_rank_beyond_the_inputs_keeps_all_products():
    model = QuadraticLogistic(rank=10).fit(IRIS, SPECIES)
    assert model.directions_ is None

"""Hebbian rules: the plain one diverges, the others find principal components."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from verulam.base import DataError
from verulam.local import HebbianComponents


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    return (rng.normal(size=(200, 4)) * [3.0, 1.5, 0.7, 0.3]) @ turn.T + [5.0, 1.0, 0.0, -3.0]


def leading(rows, count):
    return np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)[2][:count]


def test_ojas_rule_finds_principal_components_of_length_one(rows):
    learner = HebbianComponents(2, max_iter=300, random_state=0).fit(rows)
    np.testing.assert_allclose(np.linalg.norm(learner.components_, axis=1), 1.0, atol=1e-3)
    cosines = np.abs(np.sum(learner.components_ * leading(rows, 2), axis=1))
    np.testing.assert_allclose(cosines, 1.0, atol=1e-3)


def test_weights_that_are_normalised_stay_in_bounds(rows):
    learner = HebbianComponents(rule="normalised", max_iter=300, random_state=0).fit(rows)
    np.testing.assert_allclose(learner.norms_, 1.0)
    assert abs(learner.components_[0] @ leading(rows, 1)[0]) == pytest.approx(1.0, abs=1e-4)


def test_the_plain_rule_diverges_and_says_so(rows):
    with pytest.warns(ConvergenceWarning, match="rule='plain' has no bound"):
        learner = HebbianComponents(rule="plain", learning_rate=0.1, random_state=0).fit(rows)
    assert (np.diff(learner.norms_[:, 0]) > 0).all()
    assert learner.norms_[-1, 0] > 1e50
    assert learner.n_iter_ < 100
    direction = learner.components_[0] / np.linalg.norm(learner.components_[0])
    assert abs(direction @ leading(rows, 1)[0]) > 0.98


@pytest.mark.parametrize("rule", ["plain", "normalised", "oja"])
def test_one_pass_is_the_rule_by_hand(rows, rule):
    learner = HebbianComponents(rule=rule, learning_rate=0.05, max_iter=1, random_state=3).fit(
        rows[:20]
    )
    rng = np.random.default_rng(3)
    deviations = rows[:20] - rows[:20].mean(axis=0)
    Z = deviations / np.sqrt((deviations**2).sum() / 20)
    w = np.linalg.qr(rng.normal(size=(1, 4)).T)[0][:, 0]
    for t in rng.permutation(20):
        output = w @ Z[t]
        decay = output * w if rule == "oja" else 0.0
        w = w + 0.05 * output * (Z[t] - decay)
        if rule == "normalised":
            w = w / np.linalg.norm(w)
    w = w * np.sign(w[np.abs(w).argmax()])
    np.testing.assert_allclose(learner.components_[0], w, rtol=1e-10)


def test_outputs_are_inner_products_with_deviations(rows):
    learner = HebbianComponents(2, random_state=0).fit(rows)
    expected = (rows - rows.mean(axis=0)) @ learner.components_.T
    np.testing.assert_allclose(learner.transform(rows), expected)


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"n_components": 3}, [[1.0, 2.0], [2.0, 1.0]], "n_components=3, but X has 2 columns"),
        ({}, [[1.0, 2.0], [1.0, 2.0]], "X does not vary"),
        ({"rule": "delta"}, [[1.0], [2.0]], "rule"),
    ],
)
def test_wrong_arguments_are_named(options, X, message):
    with pytest.raises((DataError, ValueError), match=message):
        HebbianComponents(**options).fit(X)

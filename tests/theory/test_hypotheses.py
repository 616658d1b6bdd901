"""Reweighting: Bayes' rule on a grid of thresholds, and elimination as its limit."""

import numpy as np
import pytest

from verulam.base import DataError
from verulam.theory import HypothesisPosterior

CUTS = np.linspace(0.05, 0.95, 19)


def thresholds(**options):
    hypotheses = [lambda X, cut=cut: X[:, 0] > cut for cut in CUTS]
    return HypothesisPosterior(hypotheses, [False, True], **options)


@pytest.fixture
def examples():
    random = np.random.default_rng(0)
    X = random.random((30, 1))
    return X, X[:, 0] > 0.5


def test_probabilities_by_bayes_rule(examples):
    X, y = examples
    noise = 0.1
    likelihoods = [np.where((X[:, 0] > cut) == y, 1 - noise, noise).prod() for cut in CUTS]
    posterior = thresholds().update(X, y, noise=noise)
    np.testing.assert_allclose(
        posterior.probabilities_, np.array(likelihoods) / sum(likelihoods), atol=1e-14
    )


def test_examples_one_at_a_time_give_the_same(examples):
    X, y = examples
    together = thresholds().update(X, y, noise=0.2).probabilities_
    single = thresholds()
    for row, label in zip(X, y, strict=True):
        single.update(row[None], [label], noise=0.2)
    np.testing.assert_allclose(single.probabilities_, together, atol=1e-14)


def test_no_noise_is_elimination_and_the_limit_of_little(examples):
    X, y = examples
    low, high = X[~y].max(), X[y].min()
    exact = thresholds().update(X, y).probabilities_
    assert ((exact > 0) == ((low <= CUTS) & (high > CUTS))).all()
    np.testing.assert_allclose(
        thresholds().update(X, y, noise=1e-9).probabilities_, exact, atol=1e-7
    )


def test_the_prior_counts():
    prior = np.zeros(len(CUTS))
    prior[[3, 5]] = 3, 1
    posterior = thresholds(prior=prior)
    np.testing.assert_allclose(posterior.probabilities_[[3, 5]], [0.75, 0.25])
    assert posterior.entropy_ == pytest.approx(-(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25)))


def test_predictions_are_averaged(examples):
    posterior = thresholds().update(*examples, noise=0.1)
    rows = np.array([[0.2], [0.5], [0.9]])
    expected = [posterior.probabilities_[row > CUTS].sum() for row in rows[:, 0]]
    np.testing.assert_allclose(posterior.predict_proba(rows)[:, 1], expected)
    assert posterior.predict(rows).tolist()[::2] == [False, True]


def test_wrong_labels_are_spread_over_the_others():
    hypotheses = [lambda X, k=k: np.full(len(X), k) for k in "abc"]
    posterior = HypothesisPosterior(hypotheses, list("abc")).update([[0]], ["a"], noise=0.4)
    np.testing.assert_allclose(posterior.probabilities_, [0.6, 0.2, 0.2])


def test_a_thousand_examples_do_not_underflow():
    X = np.full((100_000, 1), 0.5)
    posterior = thresholds().update(X, np.tile([True, False], 50_000), noise=0.3)
    assert np.isfinite(posterior.probabilities_).all()


def test_bad_input_is_named(examples):
    X, y = examples
    with pytest.raises(DataError, match="disagrees with some example"):
        thresholds().update([[0.5], [0.5]], [True, False])
    with pytest.raises(DataError, match=r"at least 0 and below 0\.5"):
        thresholds().update(X, y, noise=0.5)
    with pytest.raises(DataError, match="none of the labels"):
        thresholds().update(X, np.full(30, 7))
    with pytest.raises(DataError, match="30 rows and y 29"):
        thresholds().update(X, y[1:])
    with pytest.raises(DataError, match="expected a table"):
        thresholds().update([0.5], [True])
    with pytest.raises(DataError, match="at least one"):
        HypothesisPosterior([], [0, 1])
    with pytest.raises(DataError, match="at least two"):
        HypothesisPosterior([len], [0])
    with pytest.raises(DataError, match="none of them negative"):
        thresholds(prior=-np.ones(19))
    with pytest.raises(DataError, match="must be possible"):
        thresholds(prior=np.zeros(19))

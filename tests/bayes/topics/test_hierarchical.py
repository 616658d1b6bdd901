"""Hierarchical topics: their number is inferred, levels are drawn rightly, messages."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.bayes.geweke import geweke_scores

from verulam.base import DataError, DataWarning
from verulam.bayes import HierarchicalTopics, draw_documents, expected_tables
from verulam.bayes._topics.corpus import Tokens
from verulam.bayes._topics.hierarchical import (
    SharedTopics,
    broken_sticks,
    draw_shared,
    draw_tables,
)
from verulam.bayes._topics.sampler import TopicSampler

PLANTED = np.kron(np.eye(3), np.full((1, 4), 0.25))


def test_the_number_of_topics_is_inferred():
    corpus = draw_documents(40, lengths=40, topics=PLANTED, random_state=0)
    model = HierarchicalTopics(random_state=1).fit(corpus.counts)
    assert model.n_topics_ == 3
    assert (model.n_topics_draws_ == 3).mean() > 0.9
    assert sorted(model.components_.argmax(axis=1) // 4) == [0, 1, 2]
    assert model.chains_.converged
    proportions = model.transform(corpus.counts)
    assert proportions.shape == (40, 3)
    assert model.perplexity(corpus.counts) < 8


@pytest.mark.filterwarnings("ignore:the chains have not converged")
@pytest.mark.parametrize("seed", [0, 2, 3, 4])
def test_the_number_of_topics_does_not_hang_on_the_seed(seed):
    """Of the default sweeps some chains are too short to converge; the number is right in all."""
    corpus = draw_documents(40, lengths=40, topics=PLANTED, random_state=0)
    model = HierarchicalTopics(random_state=seed).fit(corpus.counts)
    assert model.n_topics_ == 3
    assert (model.n_topics_draws_ == 3).mean() > 0.7


def test_sticks_sum_to_one_and_shrink():
    rng = np.random.default_rng(0)
    sticks = np.array([broken_sticks(12, 2.0, rng) for _ in range(4000)])
    np.testing.assert_allclose(sticks.sum(axis=1), 1.0)
    np.testing.assert_allclose(sticks.mean(axis=0)[:3], [1 / 3, 2 / 9, 4 / 27], atol=0.01)


def test_tables_have_their_expected_number():
    rng = np.random.default_rng(0)
    counts, priors = np.array([[30, 0], [10, 5]]), np.array([1.5, 0.5])
    tables = np.mean([draw_tables(counts, priors, rng) for _ in range(4000)], axis=0)
    first = expected_tables(30, 1.5) + expected_tables(10, 1.5)
    np.testing.assert_allclose(tables, [first, expected_tables(5, 0.5)], atol=0.1)


def geweke(concentration_prior=(2.0, 1.0)):
    """Draw topics of nine words in three documents, shared proportions and concentrations."""
    starts, beta, size = np.array([0, 3, 6, 9]), 0.5, 10

    def prior(rng):
        spread, concentration = rng.gamma(2.0), rng.gamma(2.0)
        shares = np.maximum(broken_sticks(size, spread, rng), 1e-12)
        level = SharedTopics(shares, spread, concentration)
        topics = [rng.choice(size, size=3, p=rng.dirichlet(level.priors + 1e-9)) for _ in range(3)]
        return level, np.concatenate(topics).astype(np.int32)

    def data(parameters, rng):
        phi = rng.dirichlet(np.full(4, beta), size=size)
        cumulative = np.cumsum(phi[parameters[1]], axis=1)
        return np.minimum((rng.random((9, 1)) > cumulative).sum(axis=1), 3).astype(np.int32)

    def transition(parameters, words, rng):
        level, topics = parameters
        doc_topic = np.zeros((3, size), dtype=np.int32)
        sampler = TopicSampler(Tokens(words, starts, None, 4), topics, beta, doc_topic, rng)
        sampler.sweep(level.priors)
        level = draw_shared(level, doc_topic, ((2.0, 1.0), concentration_prior), rng)
        return level, sampler.topics.copy()

    def statistics(parameters):
        level, topics = parameters
        return [len(np.unique(topics)), level.spread, level.concentration, topics[0] == topics[4]]

    return geweke_scores(prior, data, transition, statistics, n=3000, seed=0)


def test_geweke():
    assert np.abs(geweke()).max() < 4


def test_geweke_sees_a_wrong_conditional():
    assert np.abs(geweke(concentration_prior=(4.0, 1.0))).max() > 4


def test_all_topics_in_use_are_told():
    corpus = draw_documents(40, lengths=40, topics=PLANTED, random_state=0)
    with pytest.warns(DataWarning, match="Most sweeps used all max_topics=2 topics"):
        HierarchicalTopics(2, n_iter=10, burn_in=7, random_state=0).fit(corpus.counts)


def test_chains_that_go_on_moving_are_told():
    corpus = draw_documents(40, 5, 30, lengths=40, random_state=0)
    with pytest.warns(ConvergenceWarning, match="R-hat"):
        HierarchicalTopics(n_iter=12, burn_in=2, random_state=0).fit(corpus.counts)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fixed_concentrations_stay():
    corpus = draw_documents(20, lengths=10, topics=PLANTED, random_state=0)
    model = HierarchicalTopics(
        spread=0.7, concentration=2.5, n_iter=10, burn_in=5, random_state=0
    ).fit(corpus.counts)
    assert (model.spread_, model.concentration_) == pytest.approx((0.7, 2.5))


def test_fractions_are_rounded_up_with_a_word():
    with pytest.warns(DataWarning, match="fractional counts, which are rounded up"):
        HierarchicalTopics(n_iter=4, burn_in=2, random_state=0).fit([[0.5, 2.0], [1.0, 0.0]])


def test_a_burn_in_without_end_is_refused():
    with pytest.raises(DataError, match="burn_in is 9; it must be less than n_iter=9"):
        HierarchicalTopics(n_iter=9, burn_in=9).fit([[1, 2]])

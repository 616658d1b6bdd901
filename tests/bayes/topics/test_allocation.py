"""Latent Dirichlet allocation: exact posteriors by enumeration, Geweke's test, planted topics."""

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import linear_sum_assignment
from scipy.special import digamma, gammaln
from sklearn.decomposition import LatentDirichletAllocation as TheirAllocation
from sklearn.exceptions import ConvergenceWarning
from tests.bayes.geweke import geweke_scores

from verulam.base import DataError
from verulam.bayes import LatentDirichletAllocation, draw_documents
from verulam.bayes._topics import sampler as sampler_module
from verulam.bayes._topics.allocation import sweeps_of
from verulam.bayes._topics.corpus import Tokens, cut_into_tokens
from verulam.bayes._topics.row_loops import row_sweep
from verulam.bayes._topics.sampler import TopicSampler, samplers_of
from verulam.bayes._topics.sampling_loops import (
    digamma_exp,
    sparse_sweep,
    spread_lists,
    weighted_sweep,
)

WORDS = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
STARTS = np.array([0, 3, 6])


def log_joint(topics, alpha, beta, words=WORDS, starts=STARTS, n_words=3):
    """Return ln p(words, topics), proportions and words of topics averaged out."""
    n_topics = len(alpha)
    value = 0.0
    for first, last in pairwise(starts):
        counts = np.bincount(topics[first:last], minlength=n_topics)
        value += gammaln(alpha.sum()) - gammaln(alpha.sum() + last - first)
        value += (gammaln(counts + alpha) - gammaln(alpha)).sum()
    for k in range(n_topics):
        counts = np.bincount(words[topics == k], minlength=n_words)
        value += gammaln(n_words * beta) - gammaln(n_words * beta + counts.sum())
        value += (gammaln(counts + beta) - gammaln(beta)).sum()
    return value


def sampler_of(words, starts, topics, n_topics, beta, rng, weights=None, n_words=3):
    dtype = np.int32 if weights is None else np.float64
    doc_topic = np.zeros((len(starts) - 1, n_topics), dtype=dtype)
    return TopicSampler(Tokens(words, starts, weights, n_words), topics, beta, doc_topic, rng)


@pytest.fixture
def in_lists(monkeypatch):
    """Let few topics be sampled as many are: by lists of the topics that a word has."""
    monkeypatch.setattr(sampler_module, "MOST_IN_ROWS", 0)


@pytest.fixture
def all_in_the_table(monkeypatch, in_lists):
    """Let every word be one that many topics have."""
    monkeypatch.setattr(sampler_module, "LONGEST_LIST", 0)
    monkeypatch.setattr(sampler_module, "LONGEST_SHARE", 0.0)


@pytest.mark.parametrize("weights", [None, np.ones(6)])
def test_draws_have_the_exact_posterior(weights):
    check_exact_posterior(weights)


def test_draws_of_words_in_lists_have_the_exact_posterior(in_lists):
    check_exact_posterior(None)


def test_draws_of_words_in_the_table_have_the_exact_posterior(all_in_the_table):
    check_exact_posterior(None)


def check_exact_posterior(weights):
    """All 3^6 topics of six words in two documents, with uneven priors."""
    alpha, beta = np.array([0.3, 0.8, 0.1]), 0.4
    every = list(product(range(3), repeat=6))
    logs = np.array([log_joint(np.array(topics), alpha, beta) for topics in every])
    exact = np.exp(logs - np.logaddexp.reduce(logs))
    rng = np.random.default_rng(0)
    sampler = sampler_of(WORDS, STARTS, rng.integers(3, size=6), 3, beta, rng, weights)
    counts = np.zeros(len(every))
    codes = 3 ** np.arange(5, -1, -1)
    n_sweeps = 60_000 if weights is None else 20_000
    for _ in range(n_sweeps):
        sampler.sweep(alpha)
        counts[sampler.topics @ codes] += 1
    top = np.argsort(-exact)[:40]
    np.testing.assert_allclose(counts[top] / n_sweeps, exact[top], atol=0.006)
    # One word, one topic: marginals are known far better.
    for place in range(6):
        shares = [exact[[t[place] == k for t in every]].sum() for k in range(3)]
        mine = [counts[[t[place] == k for t in every]].sum() / n_sweeps for k in range(3)]
        np.testing.assert_allclose(mine, shares, atol=0.02)


def geweke(alpha, beta_of_sampler, weighted=False, shared=False):
    starts, beta = np.array([0, 4, 8, 12]), 0.5
    blocks = [slice(0, 12)] if not shared else [slice(0, 6), slice(6, 12)]

    def prior(rng):
        return np.concatenate(
            [rng.choice(3, size=4, p=rng.dirichlet(alpha)) for _ in range(3)]
        ).astype(np.int32)

    def data(topics, rng):
        words = np.empty(12, dtype=np.int32)
        # With two languages, even words of a document are of the first and odd ones of the second.
        for language in (0, 1) if shared else (None,):
            phi = rng.dirichlet(np.full(4, beta), size=3)
            mine = slice(None) if language is None else slice(language, None, 2)
            cumulative = np.cumsum(phi[topics[mine]], axis=1)
            draws = rng.random(len(topics[mine]))[:, None]
            words[mine] = np.minimum((draws > cumulative).sum(axis=1), 3)
        return words

    def transition(topics, words, rng):
        doc_topic = np.zeros((3, 3), dtype=np.float64 if weighted else np.int32)
        parts = [slice(0, 12, 2), slice(1, 12, 2)] if shared else [slice(0, 12)]
        samplers = []
        for part in parts:
            n = len(words[part])
            tokens = Tokens(
                np.ascontiguousarray(words[part]), starts * n // 12,
                np.ones(n) if weighted else None, 4,
            )  # fmt: skip
            samplers.append(TopicSampler(tokens, topics[part], beta_of_sampler, doc_topic, rng))
        following = topics.copy()
        for part, sampler in zip(parts, samplers, strict=True):
            sampler.sweep(alpha)
            following[part] = sampler.topics
        return following

    def statistics(topics):
        counts = np.bincount(topics, minlength=3)
        return [counts[0], counts[1], len(np.unique(topics[:4])), (topics[0] == topics[5])]

    assert len(blocks) == (2 if shared else 1)
    return geweke_scores(prior, data, transition, statistics, n=2500, seed=1)


@pytest.mark.parametrize(("weighted", "shared"), [(False, False), (True, False), (False, True)])
def test_geweke(weighted, shared):
    assert np.abs(geweke(np.array([0.5, 1.0, 0.2]), 0.5, weighted, shared)).max() < 4


def test_geweke_of_words_in_lists(in_lists):
    assert np.abs(geweke(np.array([0.5, 1.0, 0.2]), 0.5)).max() < 4


def test_geweke_of_words_in_lists_sees_a_wrong_conditional(in_lists):
    assert np.abs(geweke(np.array([0.5, 1.0, 0.2]), 0.02)).max() > 4


def test_geweke_of_words_in_the_table(all_in_the_table):
    assert np.abs(geweke(np.array([0.5, 1.0, 0.2]), 0.5)).max() < 4


@pytest.mark.parametrize("weighted", [False, True])
def test_geweke_sees_a_wrong_conditional(weighted):
    assert np.abs(geweke(np.array([0.5, 1.0, 0.2]), 0.02, weighted)).max() > 4


@pytest.mark.parametrize("n_topics", [1, 3, 8, 19])
def test_the_sweep_over_rows_agrees_with_plain_python_and_keeps_its_counts(n_topics):
    corpus = draw_documents(20, 3, 15, lengths=12, random_state=1)
    tokens = cut_into_tokens(scipy.sparse.csr_array(corpus.counts.astype(float)))
    topics = np.random.default_rng(3).integers(n_topics, size=len(tokens.words))
    results = []
    for loop in (row_sweep, row_sweep.py_func):
        sampler = sampler_of(
            tokens.words, tokens.starts, topics, n_topics, 0.1, np.random.default_rng(5), n_words=15
        )
        with np.errstate(over="ignore"):
            for _ in range(3):
                loop(
                    tokens.words, sampler.topics, tokens.starts, sampler.doc_topic, sampler._table,
                    sampler.totals, np.full(n_topics, 0.2), 0.1, 1.5, sampler._state,
                    sampler._inverses, *sampler._floats,
                )  # fmt: skip
        results.append((sampler.topics, sampler.totals, sampler.doc_topic, sampler._table))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, plain)
    assert sampler._in_rows
    np.testing.assert_array_equal(sampler._table[:, :n_topics], sampler.word_topic().toarray())
    np.testing.assert_array_equal(sampler.totals, np.bincount(sampler.topics, minlength=n_topics))
    assert not sampler._table[:, n_topics:].any()
    totals, counts = sampler.totals, sampler.word_topic().toarray()
    value = (gammaln(counts + 0.1) - gammaln(0.1)).sum()
    value += (gammaln(1.5) - gammaln(totals + 1.5)).sum()
    assert sampler.log_likelihood() == pytest.approx(value)


def test_rows_are_not_made_of_words_far_more_than_the_texts_have():
    rng = np.random.default_rng(0)
    few = sampler_of(WORDS, STARTS, rng.integers(3, size=6), 3, 0.1, rng)
    many = sampler_of(WORDS, STARTS, rng.integers(3, size=6), 3, 0.1, rng, n_words=1000)
    assert few._in_rows
    assert not many._in_rows
    many.sweep(np.full(3, 0.2))
    assert len(many._lists) < 2000


def test_loops_agree_with_plain_python(in_lists):
    check_loops()


def test_loops_over_the_table_agree_with_plain_python(all_in_the_table):
    check_loops()


def check_loops():
    """Both sweeps are the same where the same numbers are drawn."""
    rng = np.random.default_rng(3)
    corpus = draw_documents(20, 3, 15, lengths=12, random_state=1)
    tokens = cut_into_tokens(scipy.sparse.csr_array(corpus.counts.astype(float)))
    topics = rng.integers(3, size=len(tokens.words))
    results = []
    for spread, loop in (
        (spread_lists, sparse_sweep),
        (spread_lists.py_func, sparse_sweep.py_func),
    ):
        sampler = sampler_of(
            tokens.words, tokens.starts, topics, 3, 0.1, np.random.default_rng(5), n_words=15
        )
        with np.errstate(over="ignore"):
            spread(
                sampler._word_begins, sampler._rows, sampler._lists, sampler._table,
                sampler._longest,
            )  # fmt: skip
            loop(
                sampler._begins, sampler.topics, tokens.starts, sampler.doc_topic, sampler._lists,
                sampler._table, sampler.totals, np.full(3, 0.2), 0.1, 1.5, sampler._state,
                np.zeros(3), sampler._floats[0], np.zeros(3, dtype=np.int64), sampler._floats[1],
                sampler._floats[2],
            )  # fmt: skip
        results.append((sampler.topics, sampler.totals, sampler._lists, sampler._table))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, plain)
    assert weighted_sweep.py_func is not weighted_sweep


@pytest.mark.parametrize("longest", [100, 3, 0])
def test_counts_stay_those_of_the_topics(monkeypatch, in_lists, longest):
    """Whether words are lists, rows of the table, or move between them from sweep to sweep."""
    monkeypatch.setattr(sampler_module, "LONGEST_LIST", longest)
    corpus = draw_documents(50, 4, 60, lengths=40, random_state=0)
    counts = scipy.sparse.csr_array(corpus.counts.astype(float))
    rng = np.random.default_rng(0)
    (sampler,) = samplers_of(counts, [slice(0, 60)], 6, 0.1, rng)
    in_table = []
    for _ in range(20):
        sampler.sweep(np.full(6, 0.2))
        in_table.append(int((sampler._lists[sampler._word_begins] < 0).sum()))
    n_words = len(np.unique(sampler.tokens.words))
    expected = {100: 0, 0: n_words}
    assert in_table[0] == expected.get(longest, in_table[0])
    if longest == 3:
        # At random all frequent words have all topics; later most have few.
        assert in_table[0] > 2 * in_table[-1] > 0
    table = np.zeros((60, 6))
    np.add.at(table, (sampler.tokens.words, sampler.topics), 1)
    np.testing.assert_array_equal(sampler.totals, table.sum(axis=0))
    documents = np.zeros((50, 6))
    np.add.at(documents, (sampler.tokens.documents, sampler.topics), 1)
    np.testing.assert_array_equal(sampler.doc_topic, documents)
    for word, begin in enumerate(sampler._word_begins):
        size = sampler._lists[begin]
        pairs = sampler._lists[begin + 1 : begin + 1 + 2 * max(size, 0)].reshape(-1, 2)
        if size < 0:
            pairs = enumerate(sampler._table[sampler._lists[begin + 1]].tolist())
        assert {k: n for k, n in pairs if n} == {k: n for k, n in enumerate(table[word]) if n}
    from_lists = sampler.log_likelihood()
    beta, totals = 0.1, table.sum(axis=0)
    plain = (gammaln(60 * beta) - gammaln(totals + 60 * beta)).sum()
    assert from_lists == pytest.approx(plain + (gammaln(table + beta) - gammaln(beta)).sum())
    assert len(sampler._lists) <= 2 * len(sampler.topics) + 60 + 1


def distance(components, topics):
    """Return the total variation between topics and planted ones, matched as well as can be."""
    differences = 0.5 * np.abs(components[:, None] - topics[None]).sum(axis=2)
    return differences[linear_sum_assignment(differences)]


@pytest.fixture(scope="module")
def corpus():
    return draw_documents(200, 4, 80, lengths=80, random_state=1)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("fraction", [1.0, 0.5])
def test_gibbs_recovers_planted_topics(corpus, fraction):
    model = LatentDirichletAllocation(
        4, doc_topic_prior=0.1, topic_word_prior=0.1, n_iter=200, burn_in=100, random_state=0
    ).fit(corpus.counts * fraction)
    assert distance(model.components_, corpus.topics).max() < 0.08
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    assert model.objective_curve_[-1] > model.objective_curve_[0]
    np.testing.assert_allclose(model.doc_topic_, model.transform(corpus.counts), atol=0.25)
    assert np.abs(model.doc_topic_ - model.transform(corpus.counts)).mean() < 0.02


def test_variational_recovers_planted_topics(corpus):
    models = [
        LatentDirichletAllocation(4, method="variational", random_state=seed).fit(corpus.counts)
        for seed in range(4)
    ]
    for model in models:
        assert np.diff(model.objective_curve_).min() > 0
        assert model.lower_bound_ == model.objective_curve_[-1]
    best = max(models, key=lambda model: model.lower_bound_)
    assert distance(best.components_, corpus.topics).max() < 0.1


def test_the_bound_stays_below_the_exact_evidence():
    alpha, beta = np.full(2, 0.4), 0.5
    logs = [log_joint(np.array(t), alpha, beta) for t in product(range(2), repeat=6)]
    # Counts do not tell the order of the words in a document: these are the orders of one.
    counts = np.array([[2, 1, 0], [0, 1, 2]])
    model = LatentDirichletAllocation(
        2, method="variational", doc_topic_prior=0.4, topic_word_prior=0.5, tol=1e-12,
        max_iter=2000, random_state=0,
    ).fit(counts)  # fmt: skip
    assert model.lower_bound_ < np.logaddexp.reduce(logs)
    assert np.logaddexp.reduce(logs) - model.lower_bound_ < 3.0
    assert np.diff(model.objective_curve_).min() > -1e-9


def test_variational_agrees_with_another_implementation(corpus):
    ours = LatentDirichletAllocation(
        4, method="variational", doc_topic_prior=0.3, topic_word_prior=0.2, tol=1e-9, max_iter=2000,
        random_state=0,
    ).fit(corpus.counts)  # fmt: skip
    theirs = TheirAllocation(
        4, doc_topic_prior=0.3, topic_word_prior=0.2, max_iter=1, mean_change_tol=1e-6,
        max_doc_update_iter=500, random_state=0,
    ).fit(corpus.counts)  # fmt: skip
    # From where ours ended, one pass of theirs changes nothing.
    pseudo = ours.components_ * (corpus.counts.T @ ours.doc_topic_).sum(axis=0)[:, None]
    pseudo = pseudo * (1 + 0.2 * 80 / pseudo.sum(axis=1, keepdims=True))
    theirs.components_ = pseudo
    theirs.exp_dirichlet_component_ = np.exp(
        digamma(pseudo) - digamma(pseudo.sum(axis=1, keepdims=True))
    )
    np.testing.assert_allclose(theirs.transform(corpus.counts), ours.doc_topic_, atol=0.03)


def test_exponentials_of_digamma():
    for value in (1e-3, 0.1, 1.0, 3.7, 50.0, 1e6):
        assert digamma_exp(value) == pytest.approx(np.exp(digamma(value)), rel=1e-9)


def test_several_languages_share_proportions(corpus):
    """The second language is the first with its words in another order; a third is noise."""
    order = np.random.default_rng(0).permutation(80)
    other = draw_documents(200, topics=corpus.topics, lengths=60, random_state=2)
    proportions = corpus.proportions
    rng = np.random.default_rng(3)
    second = np.array([rng.multinomial(60, p @ corpus.topics[:, order]) for p in proportions])
    third = np.array([rng.multinomial(10, np.full(20, 0.05)) for _ in proportions])
    table = scipy.sparse.hstack([corpus.counts, second, third]).tocsr()
    for method in ("gibbs", "variational"):
        best = None
        for seed in range(4):
            model = LatentDirichletAllocation(
                4, method=method, languages=(80, 80, 20), doc_topic_prior=0.1,
                topic_word_prior=0.1, n_iter=200, burn_in=190, random_state=seed,
            ).fit(table)  # fmt: skip
            score = model.score(table)
            if best is None or score > best[0]:
                best = score, model
            if method == "gibbs":
                break
        model = best[1]
        blocks = model.components_[:, :80], model.components_[:, 80:160]
        assert distance(blocks[0], corpus.topics).max() < 0.15
        # A topic is the same in both languages.
        differences = 0.5 * np.abs(blocks[0][:, order] - blocks[1]).sum(axis=1)
        assert differences.max() < 0.2
        np.testing.assert_allclose(model.components_[:, 160:].sum(axis=1), 1.0)
    words = [model.top_words(1, language=k).iloc[0, 0] for k in range(3)]
    assert 80 <= int(words[1].split()[1]) < 160 <= int(words[2].split()[1])
    assert other.counts.shape == (200, 80)


def test_perplexity_is_that_of_the_formula(corpus):
    model = LatentDirichletAllocation(4, method="variational", random_state=0).fit(corpus.counts)
    counts = corpus.counts.toarray()
    proportions = model.transform(corpus.counts)
    plain = (counts * np.log(proportions @ model.components_)).sum()
    assert model.score(corpus.counts) == pytest.approx(plain)
    assert model.perplexity(corpus.counts) == pytest.approx(np.exp(-plain / counts.sum()))


def test_top_words_are_the_most_probable():
    texts = ["ball goal ball ball", "paint brush paint paint"] * 10
    model = LatentDirichletAllocation(2, method="variational", random_state=0).fit(texts)
    table = model.top_words(2)
    assert sorted(table.iloc[0]) == ["ball", "paint"]
    assert table.columns.tolist() == ["topic 0", "topic 1"]
    assert model.get_feature_names_out().tolist() == [
        "latentdirichletallocation0", "latentdirichletallocation1",
    ]  # fmt: skip


def test_several_chains_are_compared(corpus):
    with pytest.warns(ConvergenceWarning, match="R-hat of 'log_likelihood'"):
        model = LatentDirichletAllocation(9, n_chains=3, n_iter=40, burn_in=0, random_state=0).fit(
            corpus.counts
        )
    assert model.chains_.draws["log_likelihood"].shape == (3, 8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_iter": 5, "burn_in": 5}, "burn_in is 5; it must be less than n_iter=5"),
        ({"languages": (1, 5)}, "languages has 6 columns in all and X has 3"),
        ({"languages": (1.5, 1.5)}, "languages must be numbers of columns"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(DataError, match=message):
        LatentDirichletAllocation(2, **options).fit([[1, 0, 2], [0, 2, 1]])


def test_questions_out_of_range_are_named():
    model = LatentDirichletAllocation(2, method="variational").fit([[1, 0, 2], [0, 2, 1]])
    with pytest.raises(DataError, match="n_words must be a whole number"):
        model.top_words(0)
    with pytest.raises(DataError, match="language must be a number from 0 to 0"):
        model.top_words(language=1)
    with pytest.raises(DataError, match="no perplexity can be told"):
        model.perplexity([[0, 0, 0]])


def test_too_few_passes_are_told():
    with pytest.warns(ConvergenceWarning, match="had not converged after max_iter=1"):
        LatentDirichletAllocation(2, method="variational", max_iter=1).fit([[1, 0, 2], [0, 2, 1]])


def test_sweeps_are_looked_at_every_fifth_time_and_at_the_end():
    assert list(sweeps_of([], np.empty(0), 12)) == [5, 10, 12]
    assert list(sweeps_of([], np.empty(0), 10)) == [5, 10]

"""Topics whose number is inferred: the hierarchical Dirichlet process."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from verulam.base import (
    RANDOM_STATE,
    DataWarning,
    HasMethods,
    Interval,
    Seed,
    StrOptions,
    checked_fit,
    generator,
    warn_caller,
)
from verulam.bayes._mixtures.checks import check_sweeps
from verulam.bayes._sampling.chains import Chains
from verulam.bayes._topics.allocation import TopicModel, check_words
from verulam.bayes._topics.corpus import read_counts, warn_of_empty
from verulam.bayes._topics.sampler import TopicSampler, samplers_of
from verulam.numerics import announced


@dataclass(frozen=True)
class SharedTopics:
    r"""The level above documents.

    Attributes
    ----------
    shares : ndarray of shape (max_topics,)
        :math:`\beta`: proportions of topics that documents are drawn around.
    spread
        :math:`\gamma`: how readily topics are begun.
    concentration
        :math:`\alpha_0`: how close documents are to the shared proportions.
    """

    shares: np.ndarray
    spread: float
    concentration: float

    @property
    def priors(self) -> np.ndarray:
        """Prior counts of topics in a document."""
        return self.concentration * self.shares


def broken_sticks(size: int, spread: float, random: np.random.Generator) -> np.ndarray:
    """Return shares of sticks broken one after another; the last is what remains."""
    parts = random.beta(1.0, spread, size=size)
    parts[-1] = 1.0
    return parts * np.append(1.0, np.cumprod(1.0 - parts[:-1]))


def draw_tables(counts: np.ndarray, priors: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Return how many tables serve the words of each topic, summed over documents.

    Parameters
    ----------
    counts : ndarray of shape (n_documents, n_topics)
        Words by document and topic.
    priors
        Concentration of each topic in a document.
    random
        Generator of the draws.
    """
    rows, topics = np.nonzero(counts)
    sizes = counts[rows, topics]
    tokens = np.repeat(topics, sizes)
    before = np.arange(len(tokens)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # The n-th word opens a table with probability a / (a + n - 1), whatever the others did.
    opened = random.random(len(tokens)) * (before + priors[tokens]) < priors[tokens]
    return np.bincount(tokens[opened], minlength=counts.shape[1])


def draw_shared(
    level: SharedTopics,
    counts: np.ndarray,
    hyperpriors: tuple[tuple[float, float], tuple[float, float]] | None,
    random: np.random.Generator,
) -> SharedTopics:
    """Draw shared proportions, and the two concentrations where they have priors.

    Parameters
    ----------
    level
        The present level.
    counts : ndarray of shape (n_documents, n_topics)
        Words by document and topic.
    hyperpriors
        Shape and rate of the gamma priors of spread and concentration; None where both are fixed.
    random
        Generator of the draws.
    """
    tables = draw_tables(counts, level.priors, random)
    spread, concentration = level.spread, level.concentration
    used = np.flatnonzero(tables)
    if hyperpriors is not None:
        (shape, rate), (shape_0, rate_0) = hyperpriors
        sizes = counts.sum(axis=1)
        sizes = sizes[sizes > 0]
        # Auxiliary variables make both conditionals gamma distributions (Teh et al. 2006).
        log_shares = np.log(random.beta(concentration + 1.0, sizes))
        extra = random.random(len(sizes)) * (sizes + concentration) < sizes
        concentration = random.gamma(shape_0 + tables.sum() - extra.sum())
        concentration /= rate_0 - log_shares.sum()
        total = int(tables.sum())
        log_share = np.log(random.beta(spread + 1.0, total))
        odds = (shape + len(used) - 1.0) / (total * (rate - log_share))
        more = random.random() * (1.0 + odds) < odds
        spread = random.gamma(shape + len(used) - (0.0 if more else 1.0)) / (rate - log_share)
    shares = np.zeros(len(tables))
    weights = random.dirichlet(np.append(tables[used], spread))
    shares[used] = weights[:-1]
    empty = np.flatnonzero(tables == 0)
    if len(empty):
        shares[empty] = weights[-1] * broken_sticks(len(empty), spread, random)
    else:
        shares /= shares.sum()
    return SharedTopics(np.maximum(shares, 1e-12), float(spread), float(concentration))


class HierarchicalTopics(TopicModel):
    r"""Explain documents by topics that they share, as many as it takes.

    Parameters
    ----------
    max_topics
        Most topics that a sweep may use; far more than are expected.
    spread
        :math:`\gamma`: how readily topics are begun; "average" draws it, with a gamma prior of
        shape and rate 1.
    concentration
        :math:`\alpha_0`: how close the topics of documents are to the shared proportions;
        "average" draws it likewise.
    topic_word_prior
        Count of each word in a topic beforehand.
    vectorizer
        What counts the words of texts; None for scikit-learn's `CountVectorizer`.
    n_iter
        Number of sweeps.
    burn_in
        Sweeps that are not counted.
    least_share
        Share of the words from which on a topic counts as used.
    random_state
        Seed of the draws.

    Attributes
    ----------
    n_topics_ : int
        The number of topics that most sweeps used.
    n_topics_draws_ : ndarray of shape (n_iter - burn_in,)
        The number of topics that each sweep used.
    components_ : ndarray of shape (n_topics_, n_features)
        Probabilities of words in the topics of the likeliest sweep with that number.
    doc_topic_prior_ : ndarray of shape (n_topics_,)
        Prior counts of these topics in a document.
    spread_, concentration_ : float
        Means of the draws.
    vectorizer_
        Fitted vectoriser, where texts came; None where counts did.
    chains_ : Chains
        Draws of the number of topics and of the log-likelihood.

    Notes
    -----
    Documents are restaurants whose dishes come from one shared menu, a Dirichlet process too:

    .. math:: \beta \sim \text{GEM}(\gamma), \qquad \pi^d \sim \text{DP}(\alpha_0, \beta)

    (Alpaydin 16.11, [teh2006]_). Given the shared proportions, words are seated as in
    `LatentDirichletAllocation`; then tables are drawn, shared proportions given these, and sticks
    for the topics that no word has. Only the length of these sticks is cut, at `max_topics`. The
    number of topics moves slowly from sweep to sweep: of twelve chains like the example's, four had
    not converged after the default number of sweeps, and said so.

    References
    ----------
    .. [teh2006] Y. W. Teh, M. I. Jordan, M. J. Beal and D. M. Blei, "Hierarchical Dirichlet
       processes", Journal of the American Statistical Association 101, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from verulam.bayes import HierarchicalTopics, draw_documents
    >>> topics = np.kron(np.eye(3), np.full((1, 4), 0.25))
    >>> corpus = draw_documents(40, lengths=40, topics=topics, random_state=0)
    >>> HierarchicalTopics(random_state=1).fit(corpus.counts).n_topics_
    3
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_topics": [Interval(Integral, 2, None, closed="left")],
        "spread": [Interval(Real, 0, None, closed="neither"), StrOptions({"average"})],
        "concentration": [Interval(Real, 0, None, closed="neither"), StrOptions({"average"})],
        "topic_word_prior": [Interval(Real, 0, None, closed="neither")],
        "vectorizer": [HasMethods(["fit_transform", "transform", "get_feature_names_out"]), None],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left")],
        "least_share": [Interval(Real, 0, 1, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        max_topics: int = 30,
        *,
        spread: float | str = "average",
        concentration: float | str = "average",
        topic_word_prior: float = 0.1,
        vectorizer: Any = None,
        n_iter: int = 2000,
        burn_in: int = 1000,
        least_share: float = 0.01,
        random_state: Seed = None,
    ) -> None:
        self.max_topics = max_topics
        self.spread = spread
        self.concentration = concentration
        self.topic_word_prior = topic_word_prior
        self.vectorizer = vectorizer
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.least_share = least_share
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["HierarchicalTopics"]:
        # Too few draws to compare, and enough to check what is stored.
        return [cls(n_iter=12, burn_in=9)]

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw topics for counts of words, dense or sparse, or for texts."""
        check_sweeps(self)
        counts = read_counts(self, X, reset=True)
        check_words(counts)
        if (counts.data != np.round(counts.data)).any():
            counts.data = np.ceil(counts.data)
            warn_caller(
                "X has fractional counts, which are rounded up: words are drawn one by one.",
                DataWarning,
            )
        warn_of_empty(counts)
        random = generator(self.random_state)
        with announced("verulam.bayes"):
            whole = [slice(0, counts.shape[1])]
            (sampler,) = samplers_of(
                counts, whole, self.max_topics, self.topic_word_prior, random, n_first=1
            )
            self._sweep(sampler, random)
        return self

    def _sweep(self, sampler: TopicSampler, random: np.random.Generator) -> None:
        level = SharedTopics(
            np.full(self.max_topics, 1.0 / self.max_topics),
            1.0 if isinstance(self.spread, str) else float(self.spread),
            1.0 if isinstance(self.concentration, str) else float(self.concentration),
        )
        traces: list[tuple[float, ...]] = []
        best: dict[int, Any] = {}
        least = self.least_share * len(sampler.topics)
        for step in self._steps(range(self.n_iter), "sweep", self.n_iter):
            sampler.sweep(level.priors)
            level = self._next_level(level, sampler.doc_topic, random)
            if step < self.burn_in:
                continue
            likelihood = sampler.log_likelihood()
            used = int((sampler.totals >= max(least, 1.0)).sum())
            traces.append((used, likelihood, level.spread, level.concentration))
            if used not in best or likelihood > best[used][0]:
                best[used] = likelihood, sampler.topics.copy(), level
        draws = np.array(traces)
        self.n_topics_draws_ = draws[:, 0].astype(np.intp)
        numbers, often = np.unique(self.n_topics_draws_, return_counts=True)
        self.n_topics_ = int(numbers[np.argmax(often)])
        self.spread_, self.concentration_ = (float(value) for value in draws[:, 2:].mean(axis=0))
        self._take(sampler, *best[self.n_topics_][1:])
        self.chains_ = Chains({"n_topics": draws[None, :, 0], "log_likelihood": draws[None, :, 1]})
        if self.n_topics_ == self.max_topics:
            warn_caller(
                f"Most sweeps used all max_topics={self.max_topics} topics; more may be needed. "
                "Raise max_topics.",
                DataWarning,
            )
        if len(draws) >= 4:
            self.chains_.warn_unless_converged("Raise n_iter and burn_in.")

    def _next_level(
        self, level: SharedTopics, counts: np.ndarray, random: np.random.Generator
    ) -> SharedTopics:
        following = draw_shared(level, counts, ((1.0, 1.0), (1.0, 1.0)), random)
        spread = following.spread if self.spread == "average" else level.spread
        concentration = (
            following.concentration if self.concentration == "average" else level.concentration
        )
        return SharedTopics(following.shares, spread, concentration)

    def _take(self, sampler: TopicSampler, topics: np.ndarray, level: SharedTopics) -> None:
        sampler.topics = topics
        table = sampler.word_topic().toarray().T
        order = np.argsort(-table.sum(axis=1), kind="stable")[: self.n_topics_]
        words = table[order] + self.topic_word_prior
        self.components_ = words / words.sum(axis=1, keepdims=True)
        self.doc_topic_prior_ = level.priors[order]

"""Latent Dirichlet allocation: topics that documents share, in one language or several."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import scipy.sparse
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln
from sklearn.exceptions import ConvergenceWarning

from verulam.base import (
    RANDOM_STATE,
    DataError,
    HasMethods,
    InSteps,
    Interval,
    Seed,
    StrOptions,
    Transformer,
    check_is_fitted,
    checked_fit,
    generator,
    warn_caller,
)
from verulam.bayes._mixtures.checks import check_sweeps, check_whole
from verulam.bayes._sampling.chains import Chains
from verulam.bayes._topics.corpus import read_counts, warn_of_empty
from verulam.bayes._topics.sampler import TopicSampler, samplers_of
from verulam.bayes._topics.sampling_loops import infer_documents
from verulam.numerics import announced

#: Sweeps from one draw that counts to the next: neighbours are much alike.
THIN = 5
#: Most steps, and the relative change that ends them, of the topics of one document.
DOCUMENT_STEPS, DOCUMENT_CHANGE = 100, 1e-4


@dataclass(frozen=True)
class TopicFit:
    """What training leaves, whatever the method.

    Attributes
    ----------
    topics : ndarray of shape (n_topics, n_words)
        Probabilities of words by topic, with sum 1 in each language.
    doc_topic : ndarray of shape (n_documents, n_topics)
        Expected proportions of topics.
    curve
        Log-likelihood of sweeps, or the bound after each pass.
    chains
        Draws of the log-likelihood, where there are any.
    """

    topics: np.ndarray
    doc_topic: np.ndarray
    curve: list[float]
    chains: Chains | None = None


class TopicModel(InSteps, Transformer):
    """What topic models share once words have their probabilities in each topic."""

    components_: np.ndarray
    doc_topic_prior_: np.ndarray
    vectorizer_: Any
    n_features_in_: int
    languages: Any = None

    @classmethod
    def _example_data(cls) -> tuple[np.ndarray, None]:
        topics = np.kron(np.eye(2), np.full((1, 3), 1 / 3))
        labels = np.arange(30) % 2
        return np.random.default_rng(0).multinomial(20, topics[labels]).astype(float), None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags

    def transform(self, X: Any) -> np.ndarray:
        """Return the proportions of topics of each document."""
        check_is_fitted(self)
        counts = read_counts(self, X, reset=False)
        warn_of_empty(counts)
        return self._proportions(counts)

    def _proportions(self, counts: scipy.sparse.csr_array) -> np.ndarray:
        gamma = document_starts(counts, self.doc_topic_prior_)
        words = np.ascontiguousarray(self.components_.T)
        infer(counts, words, self.doc_topic_prior_, gamma, None)
        return gamma / gamma.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the log-likelihood of the words, given each document's proportions of topics."""
        check_is_fitted(self)
        counts = read_counts(self, X, reset=False)
        return words_log_likelihood(counts, self._proportions(counts), self.components_)

    def perplexity(self, X: Any) -> float:
        r"""Return :math:`\exp(-\ln L / n)` over the n words of documents: less is better."""
        check_is_fitted(self)
        counts = read_counts(self, X, reset=False)
        if not counts.data.sum() > 0:
            raise DataError("X: all documents are empty, so that no perplexity can be told.")
        value = words_log_likelihood(counts, self._proportions(counts), self.components_)
        return float(np.exp(-value / counts.data.sum()))

    def words(self) -> np.ndarray:
        """Return the words that the columns stand for."""
        check_is_fitted(self)
        if self.vectorizer_ is not None:
            return np.asarray(self.vectorizer_.get_feature_names_out(), dtype=object)
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return np.asarray(names, dtype=object)
        return np.array([f"word {place}" for place in range(self.n_features_in_)], dtype=object)

    def top_words(self, n_words: int = 10, *, language: int = 0) -> pd.DataFrame:
        """Return the most probable words of each topic, a column for each, best first.

        Parameters
        ----------
        n_words
            Number of words.
        language
            Which language, counted from 0, where there are several.
        """
        check_is_fitted(self)
        check_whole(n_words, "n_words")
        blocks = language_slices(self.languages, self.n_features_in_)
        if language not in range(len(blocks)):
            raise DataError(
                f"language must be a number from 0 to {len(blocks) - 1}; got {language!r}."
            )
        block = blocks[language]
        order = np.argsort(-self.components_[:, block], axis=1, kind="stable")[:, :n_words]
        words = self.words()[block][order]
        return pd.DataFrame(words.T, columns=[f"topic {k}" for k in range(len(words))])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return names of the topics."""
        check_is_fitted(self)
        name = type(self).__name__.lower()
        return np.array([f"{name}{k}" for k in range(len(self.components_))], dtype=object)


class LatentDirichletAllocation(TopicModel):
    r"""Explain documents as mixtures of topics, and topics as distributions over words.

    Parameters
    ----------
    n_components
        Number of topics.
    method
        "gibbs" draws a topic for every word, sweep after sweep, and averages over sweeps;
        "variational" fits independent factors to the posterior, pass after pass.
    doc_topic_prior
        :math:`\alpha`: count of each topic in a document beforehand. None for 1 / n_components.
    topic_word_prior
        :math:`\beta`: count of each word in a topic beforehand. None for 1 / n_components.
    languages
        Numbers of columns of each language, from left to right, where documents are
        translations of one another side by side; None for one language.
    vectorizer
        What counts the words of texts, with the protocol of
        `sklearn.feature_extraction.text.CountVectorizer`; None for that one.
    n_iter
        Sweeps of each chain of "gibbs".
    burn_in
        Sweeps that are not counted.
    n_chains
        Number of chains of "gibbs"; the topics are those of the likeliest.
    max_iter
        Most passes of "variational".
    tol
        Stop "variational" when a pass raises the bound by no more than this for each word.
    random_state
        Seed.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Probabilities of words in each topic; where there are several languages, with sum 1 in each.
        The most frequent topic comes first.
    doc_topic_ : ndarray of shape (n_samples, n_components)
        Proportions of topics in the documents of training.
    doc_topic_prior_, topic_word_prior_
        Prior counts: of each topic, and of each word.
    vectorizer_
        Fitted vectoriser, where texts came; None where counts did.
    objective_curve_ : list of float
        Log-likelihood of the words given their topics after every fifth sweep, or the bound on
        the log-evidence after every pass, which never falls.
    chains_ : Chains or None
        Log-likelihood of the draws of "gibbs".
    lower_bound_ : float or None
        The bound that "variational" reached.
    n_iter_ : int
        Number of sweeps or passes.

    Notes
    -----
    The model is that of `draw_documents` (Alpaydin 16.11, [blei2003]_). "gibbs" averages over
    proportions and words and draws

    .. math:: P(z = k) \propto (n_{dk} + \alpha) \frac{n_{kw} + \beta}{n_k + M\beta}

    in time that depends on how many topics a word has, not on how many there are. With several
    languages, documents share their proportions, and each topic has a distribution over the words
    of each language (exercise 8; [mimno2009]_). Counts may be fractions, as after weighting; a
    count of 2.5 is then taken as three words that count 5/6 each. Topics always come out, whether
    they mean something is for the reader to say.

    References
    ----------
    .. [blei2003] D. M. Blei, A. Y. Ng and M. I. Jordan, "Latent Dirichlet allocation", Journal of
       Machine Learning Research 3, 2003.
    .. [mimno2009] D. Mimno, H. M. Wallach, J. Naradowsky, D. A. Smith and A. McCallum, "Polylingual
       topic models", Empirical Methods in Natural Language Processing, 2009.

    Examples
    --------
    >>> from verulam.bayes import LatentDirichletAllocation
    >>> texts = ["knee ball goal", "paint brush", "goal ball ball", "brush paint paint"] * 5
    >>> model = LatentDirichletAllocation(2, method="variational", random_state=0).fit(texts)
    >>> model.top_words(2)
      topic 0 topic 1
    0    ball   paint
    1    goal   brush
    >>> model.transform(["ball goal goal"]).argmax()
    np.int64(0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"gibbs", "variational"})],
        "doc_topic_prior": [Interval(Real, 0, None, closed="neither"), None],
        "topic_word_prior": [Interval(Real, 0, None, closed="neither"), None],
        "languages": ["array-like", None],
        "vectorizer": [HasMethods(["fit_transform", "transform", "get_feature_names_out"]), None],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "burn_in": [Interval(Integral, 0, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        method: str = "gibbs",
        doc_topic_prior: float | None = None,
        topic_word_prior: float | None = None,
        languages: ArrayLike | None = None,
        vectorizer: Any = None,
        n_iter: int = 1000,
        burn_in: int = 500,
        n_chains: int = 1,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.languages = languages
        self.vectorizer = vectorizer
        self.n_iter = n_iter
        self.burn_in = burn_in
        self.n_chains = n_chains
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @classmethod
    def _example_learners(cls) -> list["LatentDirichletAllocation"]:
        return [cls(2, method="variational"), cls(2, n_iter=24, burn_in=15)]

    @checked_fit
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn topics from counts of words, dense or sparse, or from texts.

        Parameters
        ----------
        X
            A row of counts, or a string, for each document.
        y
            Ignored.
        """
        counts = read_counts(self, X, reset=True)
        check_words(counts)
        warn_of_empty(counts)
        blocks = language_slices(self.languages, counts.shape[1])
        even = 1.0 / self.n_components
        alpha = even if self.doc_topic_prior is None else float(self.doc_topic_prior)
        beta = even if self.topic_word_prior is None else float(self.topic_word_prior)
        priors = np.full(self.n_components, alpha)
        with announced("verulam.bayes"):
            if self.method == "gibbs":
                check_sweeps(self)
                fit = self._draw(counts, blocks, priors, beta)
            else:
                fit = self._approximate(counts, blocks, priors, beta)
        order = np.argsort(-(np.diff(counts.indptr) @ fit.doc_topic), kind="stable")
        self.components_, self.doc_topic_ = fit.topics[order], fit.doc_topic[:, order]
        self.doc_topic_prior_, self.topic_word_prior_ = priors, beta
        self.objective_curve_, self.chains_ = fit.curve, fit.chains
        self.lower_bound_ = fit.curve[-1] if self.method == "variational" else None
        self.n_iter_ = self.n_iter if self.method == "gibbs" else len(fit.curve)
        if self.chains_ is not None and self.chains_.n_draws >= 4:
            self.chains_.warn_unless_converged("Raise n_iter and burn_in.")
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Learn topics, and return the proportions of topics of each document."""
        return self.fit(X).transform(X)

    def _draw(self, counts: Any, blocks: list[slice], priors: np.ndarray, beta: float) -> TopicFit:
        random = generator(self.random_state)
        runs = []
        for chain in self._steps(random.spawn(self.n_chains), "chain", self.n_chains):
            samplers = samplers_of(counts, blocks, len(priors), beta, chain)
            runs.append(self._chain(samplers, priors))
        best = max(runs, key=lambda run: float(np.mean(run.curve[-len(run.curve) // 2 :])))
        skipped = self.burn_in // THIN
        curves = np.array([run.curve[skipped:] or run.curve[-1:] for run in runs])
        chains = Chains({"log_likelihood": curves})
        return TopicFit(best.topics, best.doc_topic, best.curve, chains)

    def _chain(self, samplers: list[TopicSampler], priors: np.ndarray) -> TopicFit:
        topics: Any = 0.0
        proportions: Any = 0.0
        curve: list[float] = []
        n_draws = 0
        for _ in self._steps(
            sweeps_of(samplers, priors, self.n_iter), "sweeps", -(-self.n_iter // THIN)
        ):
            curve.append(sum(sampler.log_likelihood() for sampler in samplers))
            if len(curve) * THIN > self.burn_in or len(curve) == -(-self.n_iter // THIN):
                topics = topics + np.hstack([sampler.topic_words() for sampler in samplers])
                rows = samplers[0].doc_topic + priors
                proportions = proportions + rows / rows.sum(axis=1, keepdims=True)
                n_draws += 1
        return TopicFit(np.asarray(topics / n_draws), np.asarray(proportions / n_draws), curve)

    def _approximate(
        self, counts: Any, blocks: list[slice], priors: np.ndarray, beta: float
    ) -> TopicFit:
        random = generator(self.random_state)
        n_topics = len(priors)
        pseudo = _first_words(counts, n_topics, random) + beta
        gamma = document_starts(counts, priors)
        total = float(counts.data.sum())
        curve: list[float] = []
        converged = False
        for _ in self._steps(range(self.max_iter), "pass", self.max_iter):
            expected, divergence = expected_words(pseudo, blocks, beta)
            sums = np.zeros_like(pseudo)
            bound = infer(counts, expected, priors, gamma, sums)
            curve.append(bound - _document_divergence(gamma, priors) - divergence)
            pseudo = beta + sums
            if len(curve) > 1 and curve[-1] - curve[-2] <= self.tol * total:
                converged = True
                break
        if not converged:
            warn_caller(
                "LatentDirichletAllocation had not converged after max_iter="
                f"{self.max_iter} passes; raise max_iter or tol.",
                ConvergenceWarning,
            )
        topics = np.hstack([(pseudo[b] / pseudo[b].sum(axis=0)).T for b in blocks])
        return TopicFit(topics, gamma / gamma.sum(axis=1, keepdims=True), curve)


def _first_words(
    counts: scipy.sparse.csr_array, n_topics: int, random: np.random.Generator
) -> np.ndarray:
    """Return counts of words with which topics begin: those of a few documents, and of all."""
    filled = np.flatnonzero(np.diff(counts.indptr))
    # Few enough to differ, and more where documents are short.
    n_seeds = max(1, min(len(filled) // n_topics, 10))
    overall = np.asarray(counts.sum(axis=0)).ravel()
    overall = overall * counts[filled].sum() / len(filled) / overall.sum()
    pseudo = np.empty((counts.shape[1], n_topics))
    for k in range(n_topics):
        rows = random.choice(filled, n_seeds, replace=False)
        pseudo[:, k] = np.asarray(counts[rows].sum(axis=0)).ravel() + overall
    return pseudo * random.gamma(100.0, 0.01, size=pseudo.shape)


def sweeps_of(samplers: list[TopicSampler], priors: np.ndarray, n_iter: int) -> Iterator[int]:
    """Sweep over all languages, and stop at every fifth sweep and at the last."""
    for step in range(1, n_iter + 1):
        for sampler in samplers:
            sampler.sweep(priors)
        if step % THIN == 0 or step == n_iter:
            yield step


def infer(
    counts: scipy.sparse.csr_array,
    words: np.ndarray,
    priors: np.ndarray,
    gamma: np.ndarray,
    sums: np.ndarray | None,
) -> float:
    """Fit the topics of documents in place; return the words' part of the bound.

    Parameters
    ----------
    counts
        Documents.
    words : ndarray of shape (n_words, n_topics)
        Probability of a word in each topic, or the exponential of its expected logarithm.
    priors
        Prior counts of topics.
    gamma : ndarray of shape (n_documents, n_topics)
        Counts of topics, from a start on.
    sums : ndarray of shape (n_words, n_topics) or None
        Receives the expected counts of words by topic.
    """
    scratch = np.zeros((2, len(priors)))
    sums = np.zeros((1, 1)) if sums is None else sums
    bound = infer_documents(
        counts.indptr.astype(np.int64), counts.indices.astype(np.int64), counts.data, words, priors,
        gamma, np.int64(DOCUMENT_STEPS), DOCUMENT_CHANGE, scratch[0], scratch[1], sums,
    )  # fmt: skip
    return float(bound)


def document_starts(counts: scipy.sparse.csr_array, priors: np.ndarray) -> np.ndarray:
    """Return even counts of topics for each document, with which its inference begins."""
    sizes = np.asarray(counts.sum(axis=1)).ravel()
    return priors + sizes[:, None] / len(priors)


def expected_words(
    pseudo: np.ndarray, blocks: list[slice], beta: float
) -> tuple[np.ndarray, float]:
    """Return exponentials of expected logarithms of words' probabilities, and the divergence."""
    # Of a Dirichlet distribution E log p_w = psi(n_w) - psi(sum of all n).
    logarithms = digamma(pseudo)
    divergence = 0.0
    for block in blocks:
        counts = pseudo[block]
        totals, n_words = counts.sum(axis=0), len(counts)
        logarithms[block] -= digamma(totals)
        constants = gammaln(totals).sum() - gammaln(counts).sum()
        constants -= counts.shape[1] * (gammaln(n_words * beta) - n_words * gammaln(beta))
        divergence += float(constants + ((counts - beta) * logarithms[block]).sum())
    return np.exp(logarithms), divergence


def _document_divergence(gamma: np.ndarray, priors: np.ndarray) -> float:
    totals = gamma.sum(axis=1)
    logarithms = digamma(gamma) - digamma(totals)[:, None]
    constants = gammaln(totals).sum() - gammaln(gamma).sum()
    constants -= len(gamma) * (gammaln(priors.sum()) - gammaln(priors).sum())
    return float(constants + ((gamma - priors) * logarithms).sum())


def words_log_likelihood(
    counts: scipy.sparse.csr_array, proportions: np.ndarray, topics: np.ndarray
) -> float:
    """Return the log-probability of words, given proportions and topics, row block by row block."""
    total = 0.0
    words = np.ascontiguousarray(topics.T)
    step = max(
        1, 2_000_000 // max(1, topics.shape[0] * (counts.nnz // max(1, counts.shape[0]) + 1))
    )
    for start in range(0, counts.shape[0], step):
        part = counts[start : start + step]
        rows = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)) + start
        likelihood = np.einsum("ij,ij->i", proportions[rows], words[part.indices])
        total += float(part.data @ np.log(np.maximum(likelihood, 1e-300)))
    return total


def language_slices(languages: Any, n_words: int) -> list[slice]:
    """Return the columns of each language, after checking that they are all columns."""
    if languages is None:
        return [slice(0, n_words)]
    widths = np.asarray(languages)
    if widths.ndim != 1 or widths.dtype.kind not in "iu" or not len(widths) or (widths < 1).any():
        raise DataError("languages must be numbers of columns, 1 or more for each language.")
    if widths.sum() != n_words:
        raise DataError(
            f"languages has {widths.sum()} columns in all and X has {n_words}; they must be the "
            "same."
        )
    ends = np.append(0, np.cumsum(widths)).tolist()
    return [slice(first, last) for first, last in pairwise(ends)]


def check_words(counts: scipy.sparse.csr_array) -> None:
    """Refuse a corpus without a word."""
    if not counts.nnz:
        raise DataError("X: all documents are empty; topics need some words to learn from.")

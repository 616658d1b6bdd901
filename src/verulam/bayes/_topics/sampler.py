"""The collapsed Gibbs sampler of topics: state, sweeps, and the counts that they leave."""

import numpy as np
import scipy.sparse
from scipy.special import gammaln

from verulam.bayes._topics.corpus import Tokens, cut_into_tokens
from verulam.bayes._topics.row_loops import LANES, row_sweep
from verulam.bayes._topics.sampling_loops import (
    REGISTER,
    sparse_sweep,
    spread_lists,
    sum_over_counts,
    weighted_sweep,
)

#: The longest list of topics that is quicker than a row of all of them, and how it grows with them.
LONGEST_LIST, LONGEST_SHARE = 8, 0.1
#: Up to so many topics all words have rows, unless these took so much more room than the tokens.
MOST_IN_ROWS, MOST_ROOM = 32, 8


class TopicSampler:
    r"""Topics of tokens, drawn one by one given all others.

    .. math:: P(z = k) \propto (n_{dk} + \alpha_k) \frac{n_{kw} + \beta}{n_k + M\beta}

    (Alpaydin 16.11). Of few topics all are summed, eight at a time. Of more the sum is split into
    three, of which only the one over the topics that the word has is nearly always all of it
    [yao2009]_; words that many topics have take the whole sum, sixteen topics at a time.

    .. [yao2009] L. Yao, D. Mimno and A. McCallum, "Efficient methods for topic model inference on
       streaming document collections", Knowledge Discovery and Data Mining, 2009.
    """

    def __init__(
        self,
        tokens: Tokens,
        topics: np.ndarray,
        beta: float,
        doc_topic: np.ndarray,
        random: np.random.Generator,
    ) -> None:
        self.tokens, self.beta = tokens, float(beta)
        self.topics = np.ascontiguousarray(topics, dtype=np.int32)
        self.n_topics = doc_topic.shape[1]
        #: Shared by the samplers of several languages.
        self.doc_topic = doc_topic
        self._random = random
        self._state = random.integers(2**63, size=1, dtype=np.uint64)
        weights = tokens.weights
        np.add.at(doc_topic, (tokens.documents, self.topics), 1 if weights is None else weights)
        table = self.word_topic()
        self.totals = np.asarray(table.sum(axis=0), dtype=np.float64).ravel()
        self._scratch = [np.zeros(self.n_topics) for _ in range(2)]
        self._present = np.zeros(self.n_topics, dtype=np.int64)
        width = -(-self.n_topics // LANES) * LANES
        most = MOST_ROOM * len(tokens.words)
        self._in_rows = self.n_topics <= MOST_IN_ROWS and tokens.n_words * width <= most
        if weights is None:
            largest = int(np.bincount(tokens.words, minlength=1).max())
            self._logarithms = gammaln(np.arange(largest + 1) + self.beta) - gammaln(self.beta)
        if weights is not None:
            self._table = np.ascontiguousarray(table.toarray(), dtype=np.float64)
        elif self._in_rows:
            self._table = np.zeros((tokens.n_words, width), dtype=np.float32)
            self._table[:, : self.n_topics] = table.toarray()
            self._inverses = np.empty((3, self.n_topics))
            self._floats = [np.zeros(size, dtype=np.float32) for size in (width, width, LANES)]
        else:
            self._word_begins, self._lists = _topic_lists(table, tokens, self.n_topics)
            self._begins = self._word_begins[tokens.words]
            self._rows, self._table = self._room_for_rows()
            width = self._table.shape[1]
            self._floats = [
                np.zeros(size, dtype=np.float32) for size in (width, width, width // REGISTER)
            ]

    def _room_for_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the row of each word that may have many topics, and the table, empty."""
        self._longest = LONGEST_LIST + int(LONGEST_SHARE * self.n_topics)
        frequencies = np.bincount(self.tokens.words, minlength=self.tokens.n_words)
        often = np.flatnonzero(frequencies > self._longest)
        rows = np.full(self.tokens.n_words, -1, dtype=np.int64)
        rows[often] = np.arange(len(often))
        width = -(-self.n_topics // REGISTER) * REGISTER
        return rows, np.zeros((max(len(often), 1), width), dtype=np.float32)

    def word_topic(self) -> scipy.sparse.csr_array:
        """Return how often each word has each topic."""
        tokens = self.tokens
        values = np.ones(len(tokens.words)) if tokens.weights is None else tokens.weights
        shape = (tokens.n_words, self.n_topics)
        return scipy.sparse.csr_array((values, (tokens.words, self.topics)), shape=shape)

    def sweep(self, alpha: np.ndarray) -> None:
        """Draw all topics anew, given the prior counts of topics."""
        tokens, vocabulary = self.tokens, self.beta * self.tokens.n_words
        inverses, mass = self._scratch
        if tokens.weights is not None:
            weighted_sweep(
                tokens.words, tokens.weights, self.topics, tokens.starts, self.doc_topic,
                self._table, self.totals, alpha, self.beta, vocabulary,
                self._random.random(len(tokens.words)), mass,
            )  # fmt: skip
        elif self._in_rows:
            row_sweep(
                tokens.words, self.topics, tokens.starts, self.doc_topic, self._table, self.totals,
                alpha, self.beta, vocabulary, self._state, self._inverses, *self._floats,
            )  # fmt: skip
        else:
            spread_lists(
                self._word_begins, self._rows, self._lists, self._table, np.int64(self._longest)
            )
            sparse_sweep(
                self._begins, self.topics, tokens.starts, self.doc_topic, self._lists, self._table,
                self.totals, alpha, self.beta, vocabulary, self._state, inverses, self._floats[0],
                self._present, self._floats[1], self._floats[2],
            )  # fmt: skip

    def topic_words(self) -> np.ndarray:
        """Return the expected probabilities of words in each topic, given the present counts."""
        counts = self.word_topic().T.toarray() + self.beta
        return counts / counts.sum(axis=1, keepdims=True)

    def log_likelihood(self) -> float:
        """Return the log-probability of the words given all topics, their words averaged out."""
        n_words, beta = self.tokens.n_words, self.beta
        if self.tokens.weights is not None:
            words = (gammaln(self._table + beta) - gammaln(beta)).sum()
        elif self._in_rows:
            words = self._logarithms[self._table.astype(np.int64)].sum()
        else:
            words = sum_over_counts(self._word_begins, self._lists, self._table, self._logarithms)
        totals = gammaln(n_words * beta) - gammaln(self.totals + n_words * beta)
        return float(words + totals.sum())


def _topic_lists(
    table: scipy.sparse.csr_array, tokens: Tokens, n_topics: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return where the list of each word begins, and the lists one after another."""
    table.sum_duplicates()
    # A word has at most as many topics as it has tokens: lists take memory as the corpus does.
    most_topics = np.minimum(np.bincount(tokens.words, minlength=tokens.n_words), n_topics)
    begins = np.append(0, np.cumsum(1 + 2 * most_topics))
    lists = np.zeros(begins[-1] + 1, dtype=np.int32)
    sizes = np.diff(table.indptr)
    lists[begins[:-1]] = sizes
    within = np.arange(len(table.data)) - np.repeat(table.indptr[:-1], sizes)
    places = np.repeat(begins[:-1], sizes) + 1 + 2 * within
    lists[places], lists[places + 1] = table.indices, table.data.astype(np.int32)
    return begins[:-1], lists


def samplers_of(
    counts: scipy.sparse.csr_array,
    languages: list[slice],
    n_topics: int,
    beta: float,
    random: np.random.Generator,
    n_first: int | None = None,
) -> list[TopicSampler]:
    """Return a sampler for each language, which share the counts of topics by document.

    Words begin with random ones of the first `n_first` topics, or of all.
    """
    tokens = [cut_into_tokens(counts[:, language]) for language in languages]
    n_first = n_first or n_topics
    whole = all(part.weights is None for part in tokens)
    doc_topic = np.zeros((counts.shape[0], n_topics), dtype=np.int32 if whole else np.float64)
    if not whole:
        tokens = [_weighted(part) for part in tokens]
    return [
        TopicSampler(part, random.integers(n_first, size=len(part.words)), beta, doc_topic, random)
        for part in tokens
    ]


def _weighted(tokens: Tokens) -> Tokens:
    if tokens.weights is not None:
        return tokens
    return Tokens(tokens.words, tokens.starts, np.ones(len(tokens.words)), tokens.n_words)

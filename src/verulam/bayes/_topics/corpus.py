"""Documents as counts of words: read, checked, cut into tokens, and drawn from a model."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from numpy.typing import ArrayLike
from sklearn.feature_extraction.text import CountVectorizer

from verulam.base import (
    NONE,
    NUMBERS,
    SEED,
    TABLE,
    DataError,
    DataWarning,
    Seed,
    checked_arguments,
    generator,
    validate_data,
    warn_caller,
)
from verulam.bayes._mixtures.checks import check_positive, check_whole


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents drawn from a topic model, with what they were drawn from.

    Attributes
    ----------
    counts : sparse array of shape (n_documents, n_words)
        How often each document has each word.
    topics : ndarray of shape (n_topics, n_words)
        Probabilities of the words in each topic.
    proportions : ndarray of shape (n_documents, n_topics)
        Probabilities of the topics in each document.
    """

    counts: scipy.sparse.csr_array
    topics: np.ndarray
    proportions: np.ndarray


@checked_arguments(lengths=NUMBERS, topics=TABLE | NONE, random_state=SEED)
def draw_documents(
    n_documents: int = 100,
    n_topics: int = 5,
    n_words: int = 200,
    *,
    lengths: ArrayLike = 100,
    doc_topic_prior: float = 0.1,
    topic_word_prior: float = 0.1,
    topics: ArrayLike | None = None,
    random_state: Seed = None,
) -> Corpus:
    r"""Draw documents as latent Dirichlet allocation supposes them to be written.

    Parameters
    ----------
    n_documents
        Number of documents.
    n_topics
        Number of topics.
    n_words
        Number of words of the vocabulary.
    lengths
        Words of a document: one number for all, or one for each.
    doc_topic_prior
        :math:`\alpha`: smaller values give documents of fewer topics.
    topic_word_prior
        :math:`\beta`: smaller values give topics of fewer words.
    topics
        Probabilities of words by topic, in place of drawn ones.
    random_state
        Seed.

    Notes
    -----
    .. math:: \pi^d \sim \text{Dirichlet}(\alpha), \quad w_k \sim \text{Dirichlet}(\beta), \quad
              z_i^d \sim \text{Mult}(\pi^d), \quad x_i^d \sim \text{Mult}(w_{z_i^d})

    See Alpaydin 16.11.

    Examples
    --------
    >>> corpus = draw_documents(3, 2, 10, lengths=[20, 5, 0], random_state=0)
    >>> corpus.counts.shape, corpus.counts.sum(axis=1)
    ((3, 10), array([20,  5,  0]))
    """
    check_whole(n_documents, "n_documents")
    check_whole(n_topics, "n_topics")
    check_whole(n_words, "n_words")
    check_positive(doc_topic_prior, "doc_topic_prior")
    check_positive(topic_word_prior, "topic_word_prior")
    sizes = np.asarray(lengths)
    if sizes.dtype.kind not in "iu" or sizes.shape not in ((), (n_documents,)) or (sizes < 0).any():
        raise DataError(
            f"lengths must be a whole number, 0 or more, or {n_documents} of them, one for each "
            "document."
        )
    random = generator(random_state)
    if topics is None:
        matrix = random.dirichlet(np.full(n_words, float(topic_word_prior)), size=n_topics)
    else:
        matrix = _check_topics(topics)
    proportions = random.dirichlet(np.full(len(matrix), float(doc_topic_prior)), size=n_documents)
    sizes = np.broadcast_to(sizes, n_documents)
    # Tokens that share a document and a topic are one multinomial draw.
    by_topic = random.multinomial(sizes, proportions)
    counts = np.zeros((n_documents, matrix.shape[1]), dtype=np.int64)
    for topic, words in enumerate(matrix):
        counts += random.multinomial(by_topic[:, topic], words)
    return Corpus(scipy.sparse.csr_array(counts), matrix, proportions)


def _check_topics(topics: ArrayLike) -> np.ndarray:
    matrix = np.asarray(topics, dtype=np.float64)
    if matrix.ndim != 2 or (matrix < 0).any() or not np.allclose(matrix.sum(axis=1), 1.0):
        raise DataError("topics must have a row of probabilities for each topic, with sum 1.")
    return matrix / matrix.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Tokens:
    """Documents word by word.

    Attributes
    ----------
    words : ndarray of shape (n_tokens,)
        Word of each token, document after document.
    starts : ndarray of shape (n_documents + 1,)
        Where documents begin.
    weights : ndarray or None
        What each token counts as; None where all count as 1.
    n_words
        Size of the vocabulary.
    """

    words: np.ndarray
    starts: np.ndarray
    weights: np.ndarray | None
    n_words: int

    @property
    def documents(self) -> np.ndarray:
        """Document of each token."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def cut_into_tokens(counts: scipy.sparse.csr_array) -> Tokens:
    """Return counts as tokens: a count of 2.5 is three tokens that share it evenly."""
    whole = np.ceil(counts.data).astype(np.int64)
    words = np.repeat(counts.indices.astype(np.int32), whole)
    ends = np.append(0, np.cumsum(whole))
    fractional = bool((whole != counts.data).any())
    weights = np.repeat(counts.data / np.maximum(whole, 1), whole) if fractional else None
    return Tokens(words, ends[counts.indptr], weights, counts.shape[1])


def is_texts(X: Any) -> bool:
    """Tell texts, one string for each document, from counts."""
    if isinstance(X, str) or scipy.sparse.issparse(X) or hasattr(X, "columns"):
        return False
    if isinstance(X, np.ndarray | pd.Series) and X.ndim != 1:
        return False
    try:
        items = list(X)
    except TypeError:
        return False
    return bool(items) and all(isinstance(text, str) for text in items)


def read_counts(learner: Any, X: Any, *, reset: bool) -> scipy.sparse.csr_array:
    """Return documents as a sparse table of counts, from counts or texts.

    Parameters
    ----------
    learner
        Has `vectorizer`; in training gets `vectorizer_` where texts came.
    X
        Counts, dense or sparse, or texts.
    reset
        Whether the learner is in training.
    """
    if isinstance(X, Iterator):
        X = list(X)
    if isinstance(X, str):
        raise DataError("X is one string; expected a list of texts, or a table of counts.")
    if isinstance(X, pd.DataFrame):
        for place, name in enumerate(X.columns):
            if is_texts(X.iloc[:, place]):
                raise DataError(
                    f"X is a table whose column {name!r} holds texts; pass that column alone, "
                    "or a table of counts."
                )
    if isinstance(X, list | tuple) and not X:
        raise DataError("X has no documents; expected a list of texts, or a table of counts.")
    _refuse_odd_texts(X)
    if is_texts(X):
        X = _counted_texts(learner, list(X), reset)
    elif reset:
        learner.vectorizer_ = None
    table = validate_data(
        learner, X, reset=reset, accept_sparse="csr", dtype=np.float64, ensure_min_features=1
    )
    counts = scipy.sparse.csr_array(table)
    if len(counts.data) and counts.data.min() < 0:
        row = int(np.searchsorted(counts.indptr, int(counts.data.argmin()), "right")) - 1
        raise DataError(
            f"Negative values in data passed to {type(learner).__name__}: X has a count of "
            f"{counts.data.min():g} in row {row} (counted from 0); counts are 0 or more."
        )
    counts.eliminate_zeros()
    counts.sort_indices()
    return counts


def _refuse_odd_texts(X: Any) -> None:
    """Refuse texts that are cut into words already, and gaps among texts."""
    if not isinstance(X, list | tuple | pd.Series | np.ndarray) or np.ndim(X[:0]) != 1:
        return
    items = list(X)
    for place, item in enumerate(items):
        if isinstance(item, list | tuple) and any(isinstance(word, str) for word in item):
            raise DataError(
                f"X: document {place} (counted from 0) is a {type(item).__name__} of words; "
                "expected one string for each document, as ' '.join(words) makes it, or counts."
            )
        if not isinstance(item, str) and any(isinstance(text, str) for text in items[:100]):
            raise DataError(
                f"X: document {place} (counted from 0) is {item!r}, which is no text; expected "
                "a string for each document, '' for one without words."
            )


def _counted_texts(learner: Any, texts: list[str], reset: bool) -> Any:
    if reset:
        learner.vectorizer_ = learner.vectorizer or CountVectorizer()
        try:
            counts = learner.vectorizer_.fit_transform(texts)
        except ValueError as error:
            raise DataError(f"X: the texts hold no word to count ({error}).") from None
        if hasattr(learner, "feature_names_in_"):
            del learner.feature_names_in_
        return counts
    vectorizer = getattr(learner, "vectorizer_", None)
    if vectorizer is None:
        raise DataError(
            f"X holds texts, but {type(learner).__name__} was trained on counts; count the same "
            "words first."
        )
    counts = vectorizer.transform(texts)
    tokens = vectorizer.build_analyzer()
    unknown = sum(word not in vectorizer.vocabulary_ for text in texts for word in tokens(text))
    if unknown:
        some = "1 word of the texts is" if unknown == 1 else f"{unknown} words of the texts are"
        warn_caller(
            f"X: {some} not in the vocabulary of training and left out.",
            DataWarning,
        )
    return counts


def warn_of_empty(counts: scipy.sparse.csr_array) -> None:
    """Warn where documents have no words: nothing but the prior speaks for their topics."""
    empty = np.flatnonzero(np.diff(counts.indptr) == 0)
    if len(empty):
        shown = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
        warn_caller(
            f"X: {len(empty)} of {counts.shape[0]} documents are empty ({shown}, counted from 0); "
            "their topics are those of the prior.",
            DataWarning,
        )

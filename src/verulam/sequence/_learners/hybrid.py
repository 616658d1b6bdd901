"""A classifier looks at a window around each step; the chain puts its answers in order."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import DataError, clone
from verulam.sequence._data.sequences import Sequences, check_count, read_sequences, windows
from verulam.sequence._model.inference import best_paths
from verulam.sequence._model.transitions import Transitions


@dataclass(frozen=True)
class HybridModel:
    """A classifier of windows and a chain of its classes.

    Attributes
    ----------
    classifier
        A fitted classifier with `predict_proba`.
    classes : ndarray of shape (n_classes,)
        The labels.
    priors : ndarray of shape (n_classes,)
        Share of each label, by which posteriors are divided.
    initial : ndarray of shape (n_classes,)
        Probability of each first label.
    transitions
        Transitions between labels.
    width
        Steps to each side that the classifier sees.
    """

    classifier: Any
    classes: np.ndarray
    priors: np.ndarray
    initial: np.ndarray
    transitions: Transitions
    width: int

    def log_scores(self, X: Any, lengths: Any = None) -> tuple[np.ndarray, Sequences]:
        """Return the logarithm of posterior over prior for each step and label."""
        sequences = read_sequences(X, lengths)
        posteriors = self.classifier.predict_proba(windows(sequences, self.width, self.width))
        return np.log(np.maximum(posteriors, 1e-12)) - np.log(self.priors), sequences

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """Return the most probable labels of each sequence as a whole."""
        scores, sequences = self.log_scores(X, lengths)
        best = best_paths(scores, sequences.starts, self.initial, self.transitions)
        return sequences.give_back(self.classes[best.states])


def fit_hybrid(
    classifier: Any, X: Any, labels: Any, *, width: int = 1, alpha: float = 1.0, lengths: Any = None
) -> HybridModel:
    r"""Fit a classifier to windows and a Markov chain to the labels.

    Parameters
    ----------
    classifier
        A classifier with `predict_proba`, such as a multilayer perceptron; a copy is fitted.
    X
        Sequences: a list, or one array with lengths.
    labels
        The label of each step, in the same form.
    width
        Steps to each side that the classifier sees.
    alpha
        Pseudo-count of each first label and transition.
    lengths
        Steps of each sequence, where X is one array.

    Notes
    -----
    The network gives :math:`P(q_t \mid x_t)`; divided by the prior it is proportional to
    :math:`p(x_t \mid q_t)`, which the chain needs (Alpaydin 15.10).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from verulam.sequence import fit_hybrid
    >>> X, labels = [np.array([0.0, 0.2, 0.1, 5.0, 5.1, 4.9])], [list("aaabbb")]
    >>> hybrid = fit_hybrid(LogisticRegression(), X, labels, width=0)
    >>> "".join(hybrid.predict(X)[0])
    'aaabbb'
    """
    check_count(width, "width", 0)
    if not 0 <= alpha < np.inf:
        raise DataError(f"alpha is {alpha!r}; expected a number of at least 0.")
    if not hasattr(classifier, "predict_proba"):
        raise DataError(f"{type(classifier).__name__} has no predict_proba, which scores need.")
    sequences = read_sequences(X, lengths)
    named = read_sequences(labels, lengths)
    if pd.isna(named.values).any():
        raise DataError("labels has missing ones; leave those steps out, or cut sequences there.")
    if not np.array_equal(sequences.starts, named.starts):
        raise DataError("labels needs one label per step of X, in the same form.")
    classes, codes = np.unique(named.values[:, 0], return_inverse=True)
    codes = codes.ravel()
    if len(classes) < 2:
        raise DataError(f"labels has one label only: {str(classes[0])!r}.")
    fitted = clone(classifier).fit(windows(sequences, width, width), codes)
    initial = np.full(len(classes), float(alpha))
    np.add.at(initial, codes[sequences.starts[:-1]], 1.0)
    counts = np.full((len(classes), len(classes)), float(alpha))
    inside = np.setdiff1d(np.arange(1, len(codes)), sequences.starts)
    np.add.at(counts, (codes[inside - 1], codes[inside]), 1.0)
    # A label that nothing follows goes anywhere.
    counts[counts.sum(axis=1) == 0] = 1.0
    return HybridModel(
        fitted,
        classes,
        np.bincount(codes) / len(codes),
        initial / initial.sum(),
        Transitions.from_matrix(counts / counts.sum(axis=1, keepdims=True)),
        width,
    )

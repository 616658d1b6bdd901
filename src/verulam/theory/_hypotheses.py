"""Reweighting hypotheses: every example scales the probability of those it is likely under."""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from verulam.base import DataError

Predict = Callable[[NDArray[Any]], ArrayLike]
"""Returns the label of each row of a table."""


class HypothesisPosterior:
    r"""Probabilities of finitely many hypotheses, updated example by example.

    Parameters
    ----------
    hypotheses
        Functions that return the label of each row of a table.
    labels
        The labels that can occur.
    prior
        Probability of each hypothesis; None for equal ones.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_hypotheses,)
        Probability of each hypothesis after the examples so far.

    Notes
    -----
    With a share :math:`\eta` of wrong labels, spread evenly over the K - 1 other labels,

    .. math:: P(h) \propto P(h) \prod_t (1 - \eta)^{[h(x^t) = r^t]}
              \left(\frac{\eta}{K - 1}\right)^{[h(x^t) \ne r^t]}

    Without noise, hypotheses that disagree with an example are ruled out. See SIT1305 I,
    "Hypothesis space".

    Examples
    --------
    Thresholds between 0 and 1:

    >>> import numpy as np
    >>> from verulam.theory import HypothesisPosterior
    >>> cuts = np.linspace(0.1, 0.9, 9)
    >>> posterior = HypothesisPosterior(
    ...     [lambda X, cut=cut: X[:, 0] > cut for cut in cuts], labels=[False, True]
    ... )
    >>> posterior = posterior.update([[0.32], [0.71]], [False, True])
    >>> cuts[posterior.probabilities_ > 0].round(1).tolist()
    [0.4, 0.5, 0.6, 0.7]
    >>> posterior.predict_proba([[0.55]]).tolist()
    [[0.5, 0.5]]
    """

    def __init__(
        self, hypotheses: Sequence[Predict], labels: ArrayLike, *, prior: ArrayLike | None = None
    ) -> None:
        self.hypotheses = list(hypotheses)
        self.labels = np.unique(np.asarray(labels))
        if not self.hypotheses:
            raise DataError("hypotheses: expected at least one.")
        if len(self.labels) < 2:
            raise DataError("labels: expected at least two.")
        self._logarithms = self._checked_prior(prior)

    def _checked_prior(self, prior: ArrayLike | None) -> NDArray[np.float64]:
        count = len(self.hypotheses)
        weights = np.full(count, 1.0) if prior is None else np.asarray(prior, dtype=np.float64)
        if weights.shape != (count,) or not np.isfinite(weights).all() or (weights < 0).any():
            raise DataError(f"prior: expected {count} numbers, none of them negative.")
        if not weights.any():
            raise DataError("prior: at least one hypothesis must be possible.")
        with np.errstate(divide="ignore"):
            return np.log(weights / weights.sum())

    @property
    def probabilities_(self) -> NDArray[np.float64]:
        """Probability of each hypothesis after the examples so far."""
        # Logarithms are kept: products over many examples would underflow for all hypotheses alike.
        weights = np.exp(self._logarithms - self._logarithms.max())
        return weights / weights.sum()

    @property
    def entropy_(self) -> float:
        """Doubt that is left, in bits."""
        positive = self.probabilities_[self.probabilities_ > 0]
        # The last sum turns the -0.0 of a certain hypothesis into 0.0.
        return float(-(positive * np.log2(positive)).sum()) + 0.0

    def update(self, X: ArrayLike, y: ArrayLike, *, noise: float = 0.0) -> Self:
        """Take examples into account, and return the posterior.

        Parameters
        ----------
        X
            Rows.
        y
            Their labels.
        noise
            Share of labels that are wrong; 0 rules out whatever disagrees.
        """
        most = 1.0 - 1.0 / len(self.labels)
        if not 0.0 <= noise < most:
            raise DataError(f"noise must be at least 0 and below {most:g}, but is {noise}.")
        targets = np.asarray(y)
        unknown = targets[~np.isin(targets, self.labels)]
        if len(unknown):
            raise DataError(f"y has {unknown[0]!r}, which is none of the labels.")
        predicted = self.predictions(X)
        if predicted.shape[1] != len(targets):
            raise DataError(f"X has {predicted.shape[1]} rows and y {len(targets)}.")
        wrong = (predicted != targets).sum(axis=1)
        right = len(targets) - wrong
        with np.errstate(divide="ignore", invalid="ignore"):
            miss = np.log(noise / (len(self.labels) - 1))
            # No error at all costs nothing, also where an error is impossible.
            scaled = right * np.log1p(-noise) + np.where(wrong > 0, wrong * miss, 0.0)
        updated = self._logarithms + scaled
        if not np.isfinite(updated).any():
            raise DataError(
                "Every hypothesis disagrees with some example: allow for noise, or for more "
                "hypotheses."
            )
        self._logarithms = updated - updated.max()
        return self

    def predictions(self, X: ArrayLike) -> NDArray[Any]:
        """Return what each hypothesis says of each row: a row per hypothesis."""
        table = np.asarray(X)
        if table.ndim != 2:
            raise DataError("X: expected a table, an example in each row.")
        return np.stack([np.asarray(hypothesis(table)) for hypothesis in self.hypotheses])

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each label, averaged over the hypotheses."""
        predicted = self.predictions(X)
        weights = self.probabilities_
        return np.stack([weights @ (predicted == label) for label in self.labels], axis=1)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable label of each row."""
        return self.labels[self.predict_proba(X).argmax(axis=1)]

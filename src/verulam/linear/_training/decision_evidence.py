"""Discriminant, posterior, odds and log-odds: one decision between two classes, four times."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError


@dataclass(frozen=True)
class TwoClassEvidence:
    r"""What a classifier says for the second of two classes.

    Attributes
    ----------
    discriminant : ndarray of shape (n_rows,)
        :math:`g(x)`.
    posterior : ndarray of shape (n_rows,)
        :math:`y = P(C_2|x)`.
    odds : ndarray of shape (n_rows,)
        :math:`y / (1 - y)`.
    log_odds : ndarray of shape (n_rows,)
        Their logarithm, which a logistic discriminant's :math:`g` is.
    """

    discriminant: np.ndarray
    posterior: np.ndarray
    odds: np.ndarray
    log_odds: np.ndarray

    def decisions(self) -> pd.DataFrame:
        """Return whether each rule chooses the second class, one column for each."""
        return pd.DataFrame(
            {
                "g > 0": self.discriminant > 0,
                "y > 1/2": self.posterior > 0.5,
                "odds > 1": self.odds > 1,
                "log-odds > 0": self.log_odds > 0,
            }
        )

    def table(self) -> pd.DataFrame:
        """Return the four numbers of each row."""
        return pd.DataFrame(
            {
                "g": self.discriminant,
                "posterior": self.posterior,
                "odds": self.odds,
                "log-odds": self.log_odds,
            }
        )


def two_class_evidence(estimator: Any, X: ArrayLike) -> TwoClassEvidence:
    r"""Return discriminant, posterior, odds and log-odds of the second class.

    Parameters
    ----------
    estimator
        Fitted classifier of two classes with `decision_function` and `predict_proba`.
    X
        Rows.

    Notes
    -----
    Choosing by :math:`g > 0`, by :math:`y > 1/2`, by odds above one or by log-odds above zero is
    the same decision, for :math:`y = \sigma(g)` and :math:`g = \mathrm{logit}(y)`. See Alpaydin
    10.5 (10.13-10.15).

    Examples
    --------
    >>> from verulam.linear import LogisticDiscriminant, two_class_evidence
    >>> model = LogisticDiscriminant().fit([[0.0], [1.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> two_class_evidence(model, [[1.0], [2.5]]).decisions()
       g > 0  y > 1/2  odds > 1  log-odds > 0
    0  False    False     False         False
    1   True     True      True          True
    """
    classes = getattr(estimator, "classes_", ())
    if len(classes) != 2:
        raise DataError(f"the classifier must have two classes; it has {len(classes)}.")
    posteriors = np.asarray(estimator.predict_proba(X), dtype=np.float64)
    with np.errstate(divide="ignore"):
        odds = posteriors[:, 1] / posteriors[:, 0]
        log_odds = np.log(posteriors[:, 1]) - np.log(posteriors[:, 0])
    discriminant = np.asarray(estimator.decision_function(X), dtype=np.float64)
    return TwoClassEvidence(discriminant, posteriors[:, 1], odds, log_odds)

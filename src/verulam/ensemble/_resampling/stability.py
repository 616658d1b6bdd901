"""How stable a learner is: what it says when it is taught with other rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from verulam.base import (
    LEARNER,
    NUMBER,
    SEED,
    WHOLE,
    DataError,
    Seed,
    checked_arguments,
    generator,
    is_classifier,
)
from verulam.ensemble._fusion.diversity import diversity
from verulam.ensemble._members.members import TARGETS
from verulam.ensemble._members.tables import take_rows
from verulam.ensemble._resampling.bagging import BaggingClassifier, BaggingRegressor


@dataclass(frozen=True, eq=False)
class Stability:
    """How alike learners are that the same algorithm makes of other samples.

    Attributes
    ----------
    correlation
        Mean correlation of their predictions; for classes, of being right.
    disagreement
        Mean share of fresh rows on which two classifiers differ; for numbers, the mean squared
        difference over the variance of the target.
    error
        Their mean error on fresh rows.
    """

    correlation: float
    disagreement: float
    error: float


@checked_arguments(
    estimator=LEARNER, y=TARGETS, n_samples=WHOLE, test_share=NUMBER, random_state=SEED
)
def stability(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_samples: int = 20,
    test_share: float = 0.3,
    random_state: Seed = None,
) -> Stability:
    """Measure how much a learner changes with its training rows.

    Parameters
    ----------
    estimator
        Classifier or regressor.
    X
        Inputs.
    y
        Labels, or numbers.
    n_samples
        Bootstrap samples that it is taught with.
    test_share
        Share of the rows on which the learners are compared, and which none of them sees.
    random_state
        Seed.

    Notes
    -----
    An algorithm is stable where learners from resampled sets are highly correlated: nearest
    neighbours are, trees and condensed neighbours are not, and gain from bagging. See Alpaydin
    17.6.

    Examples
    --------
    >>> from verulam.data import dataset
    >>> from verulam.ensemble import stability
    >>> from verulam.nonparametric import KNeighborsClassifier
    >>> from verulam.tree import DecisionTreeClassifier
    >>> digits = dataset("digits")
    >>> X, y = digits.inputs[:500], digits.target_values[:500]
    >>> for learner in (KNeighborsClassifier(n_neighbors=1), DecisionTreeClassifier()):
    ...     record = stability(learner, X, y, n_samples=5, random_state=0)
    ...     print(type(learner).__name__, round(record.disagreement, 2))
    KNeighborsClassifier 0.03
    DecisionTreeClassifier 0.33
    """
    if n_samples < 2 or not 0 < test_share < 1:
        raise DataError(
            f"n_samples={n_samples}, test_share={test_share}: take two samples or more, and a "
            "share between 0 and 1."
        )
    random = generator(random_state)
    table = X if isinstance(X, pd.DataFrame) else np.asarray(X, dtype=np.float64)
    targets = np.asarray(y)
    order = random.permutation(len(targets))
    n_test = max(1, round(test_share * len(targets)))
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    maker: Any = BaggingClassifier if is_classifier(estimator) else BaggingRegressor
    bag = maker(estimator, n_estimators=n_samples, random_state=random)
    bag.fit(take_rows(table, train), targets[train])
    responses = bag.member_outputs(take_rows(table, test))
    if responses.classes is not None:
        report = diversity(responses, targets[test])
        labels = responses.labels
        apart = np.array([[(a != b).mean() for b in labels] for a in labels])
        return Stability(_off_diagonal(report.correlation), _off_diagonal(apart),
                         float(report.errors.mean()))  # fmt: skip
    values = responses.values[:, :, 0]
    spread = max(float(np.var(targets[test])), 1e-300)
    apart = ((values[:, None] - values[None, :]) ** 2).mean(axis=2) / spread
    moving = values.std(axis=1).min() > 0
    likeness = _off_diagonal(np.corrcoef(values)) if moving else 1.0
    return Stability(
        likeness, _off_diagonal(apart), float(((values - targets[test]) ** 2).mean() / spread)
    )


def _off_diagonal(matrix: NDArray[Any]) -> float:
    return float(matrix[~np.eye(len(matrix), dtype=bool)].mean())

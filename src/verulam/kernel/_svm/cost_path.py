"""Machines along a path of costs, each from the solution of the last."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from verulam.base import DataError, clone
from verulam.kernel._svm.classifier import SupportVectorClassifier

#: Costs from one in a million to a million, one for each power of ten.
COSTS = tuple(10.0**power for power in range(-6, 7))


@dataclass(frozen=True, eq=False)
class CostPath:
    """Classifiers for a sequence of costs.

    Attributes
    ----------
    costs : ndarray of shape (n_costs,)
        The costs, rising.
    classifiers
        A fitted classifier for each.
    n_iter : ndarray of shape (n_costs,)
        Blocks that the solver needed for each.
    """

    costs: np.ndarray
    classifiers: list[SupportVectorClassifier]
    n_iter: np.ndarray

    def scores(self, X: ArrayLike, y: ArrayLike) -> pd.DataFrame:
        """Return accuracy on some rows, and the share of support vectors, for each cost."""
        return pd.DataFrame(
            {
                "accuracy": [each.score(X, y) for each in self.classifiers],
                "support_share": [each.support_share_ for each in self.classifiers],
            },
            index=pd.Index(self.costs, name="C"),
        )

    def best(self, X: ArrayLike, y: ArrayLike) -> SupportVectorClassifier:
        """Return the classifier of the smallest cost with the highest accuracy on some rows."""
        return self.classifiers[int(self.scores(X, y)["accuracy"].to_numpy().argmax())]


def cost_path(
    classifier: SupportVectorClassifier,
    X: ArrayLike,
    y: ArrayLike,
    costs: Sequence[float] = COSTS,
    sample_weight: ArrayLike | None = None,
) -> CostPath:
    """Train a classifier for each of several costs, with shared kernel values and warm starts.

    Parameters
    ----------
    classifier
        Machine of form "cost", without calibration; it is not changed.
    X, y
        Training data.
    costs
        The costs, in any order.
    sample_weight
        Weight of each row.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from verulam.kernel import SupportVectorClassifier, cost_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = cost_path(SupportVectorClassifier(), X[::2], y[::2], [0.01, 1.0, 100.0])
    >>> path.scores(X[1::2], y[1::2]).round(2)
            accuracy  support_share
    C
    0.01        0.93           1.00
    1.00        0.93           0.53
    100.00      0.96           0.17
    """
    if classifier.form != "cost" or classifier.calibration is not None:
        raise DataError('cost_path needs a classifier of form "cost" without calibration.')
    if not len(costs) or not all(np.isfinite(cost) and cost > 0 for cost in costs):
        raise DataError(f"costs must be finite numbers above 0; got {list(costs)}.")
    rising = sorted(float(cost) for cost in costs)
    trained = clone(classifier).set_params(C=rising[-1])
    trained._validate_params()
    paths, inputs = trained._fit_path(X, y, sample_weight, rising)
    classifiers = []
    for place, cost in enumerate(rising):
        each = clone(classifier).set_params(C=cost)
        each.__dict__ |= {
            name: value for name, value in vars(trained).items() if name not in each.__dict__
        }
        each._keep([path[place] for path in paths], inputs)
        classifiers.append(each)
    return CostPath(np.array(rising), classifiers, np.array([each.n_iter_ for each in classifiers]))

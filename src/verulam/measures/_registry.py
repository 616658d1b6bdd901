"""Every measure by name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from verulam.base import unknown_name
from verulam.measures import _classification as classification
from verulam.measures import _intervals as intervals
from verulam.measures import _ranking as ranking
from verulam.measures import _regression as regression
from verulam.measures import _unsupervised as unsupervised
from verulam.measures._measure import Measure, MeasureScorer, Task

UNIT = (0.0, 1.0)
POSITIVE = (0.0, np.inf)
REAL = (-np.inf, np.inf)
TABLE = "Alpaydin 19.7 (Table 19.2)"

MEASURES = (
    Measure("error", "Error", "classification", False, UNIT, "labels",
            classification.error, 0.0, "(fp + fn) / N", TABLE, rows=classification.misses),
    Measure("accuracy", "Accuracy", "classification", True, UNIT, "labels",
            classification.accuracy, 1.0, "(tp + tn) / N", TABLE, rows=classification.hits),
    Measure("balanced_accuracy", "Balanced accuracy", "classification", True, UNIT, "labels",
            classification.balanced_accuracy, 1.0, "mean over classes of tp / p"),
    Measure("risk", "Risk", "classification", False, (-np.inf, np.inf), "labels",
            classification.risk, 0.0, "mean of loss[action, class]", "Alpaydin 19.1, 3.3",
            rows=classification.losses_of_actions),
    Measure("tp_rate", "True positive rate", "classification", True, UNIT, "labels",
            classification.tp_rate, 1.0, "tp / p", TABLE),
    Measure("fp_rate", "False positive rate", "classification", False, UNIT, "labels",
            classification.fp_rate, 0.0, "fp / n", TABLE),
    Measure("precision", "Precision", "classification", True, UNIT, "labels",
            classification.precision, 1.0, "tp / p'", TABLE),
    Measure("specificity", "Specificity", "classification", True, UNIT, "labels",
            classification.specificity, 1.0, "tn / n", TABLE),
    Measure("f_score", "F score", "classification", True, UNIT, "labels",
            classification.f_score, 1.0, "(1 + b²) tp / ((1 + b²) tp + b² fn + fp)"),
    Measure("kappa", "Cohen's kappa", "classification", True, (-1.0, 1.0), "labels",
            classification.kappa, 1.0, "(agreement - chance) / (1 - chance)"),
    Measure("matthews", "Matthews correlation", "classification", True, (-1.0, 1.0), "labels",
            classification.matthews, 1.0, "correlation of true and predicted class"),
    Measure("log_loss", "Log loss", "classification", False, POSITIVE, "probabilities",
            classification.log_loss, 0.0, "mean of -log P(true class)",
            rows=classification.negative_logs),
    Measure("brier", "Brier score", "classification", False, (0.0, 2.0), "probabilities",
            classification.brier, 0.0, "mean over rows of sum over classes of (P - 1[class])²",
            rows=classification.squared_distances),
    Measure("auc", "Area under the ROC curve", "classification", True, UNIT, "scores",
            ranking.auc, 1.0, "P(positive scores above negative) + P(tie) / 2",
            "Alpaydin 19.7 (Figure 19.3)"),
    Measure("average_precision", "Average precision", "classification", True, UNIT, "scores",
            ranking.average_precision, 1.0, "sum of precision times gain in recall",
            "Alpaydin 19.7"),
    Measure("mean_squared_error", "Mean squared error", "regression", False, POSITIVE, "values",
            regression.mean_squared_error, 0.0, "mean of e²", rows=regression.squared_errors),
    Measure("root_mean_squared_error", "Root mean squared error", "regression", False, POSITIVE,
            "values", regression.root_mean_squared_error, 0.0, "square root of the mean of e²",
            rows=regression.squared_errors, root=True),
    Measure("mean_absolute_error", "Mean absolute error", "regression", False, POSITIVE, "values",
            regression.mean_absolute_error, 0.0, "mean of |e|", "SIT1305 II",
            rows=regression.absolute_errors),
    Measure("half_sum_of_squares", "Half the sum of squares", "regression", False, POSITIVE,
            "values", regression.half_sum_of_squares, 0.0, "sum of e² / 2", "SIT1305 II"),
    Measure("relative_square_error", "Relative square error", "regression", False, POSITIVE,
            "values", regression.relative_square_error, 0.0,
            "sum of e² / sum of (r - mean r)²", "SIT1305 II"),
    Measure("r2", "Coefficient of determination", "regression", True, (-np.inf, 1.0), "values",
            regression.r2, 1.0, "1 - relative square error", "SIT1305 II"),
    Measure("epsilon_error", "Epsilon-sensitive error", "regression", False, POSITIVE, "values",
            regression.epsilon_error, 0.0, "sum over |e| > epsilon of |e| - epsilon", "SIT1305 II"),
    Measure("mean_epsilon_error", "Mean epsilon-sensitive error", "regression", False, POSITIVE,
            "values", regression.mean_epsilon_error, 0.0,
            "mean of max(|e| - epsilon, 0)", "SIT1305 II", rows=regression.excess_errors),
    Measure("max_error", "Largest error", "regression", False, POSITIVE, "values",
            regression.max_error, 0.0, "largest |e|"),
    Measure("median_absolute_error", "Median absolute error", "regression", False, POSITIVE,
            "values", regression.median_absolute_error, 0.0, "median of |e|"),
    Measure("interval_coverage", "Coverage of 95 % intervals", "regression", True, UNIT,
            "intervals", intervals.interval_coverage, 1.0,
            "share of targets inside", rows=intervals.covered),
    Measure("interval_width", "Width of 95 % intervals", "regression", False, POSITIVE,
            "intervals", intervals.interval_width, 0.0, "mean of upper end - lower end",
            rows=intervals.widths),
    Measure("interval_score", "Interval score", "regression", False, POSITIVE, "intervals",
            intervals.interval_score, 0.0, "mean of width + 40 times the distance outside",
            rows=intervals.interval_scores),
    Measure("predictive_log_loss", "Predictive log loss", "regression", False, REAL,
            "predictive densities", intervals.predictive_log_loss, -np.inf,
            "mean of -log p(target)", rows=intervals.negative_log_densities),
    Measure("log_likelihood", "Log-likelihood", "density", True, REAL, "log densities",
            unsupervised.log_likelihood, np.inf, "mean of log p(row)", "Alpaydin 16.2",
            rows=unsupervised.log_densities),
    Measure("silhouette", "Silhouette", "clustering", True, (-1.0, 1.0), "silhouettes",
            unsupervised.silhouette, 1.0, "mean of (other - own) / larger mean distance"),
    Measure("stability", "Stability", "clustering", True, (-1.0, 1.0), "two clusterings",
            unsupervised.stability, 1.0, "adjusted Rand index of clusterings of two halves"),
    Measure("mean_return", "Mean return", "control", True, REAL, "returns",
            unsupervised.mean_return, np.inf, "mean over episodes of the sum of rewards",
            "Alpaydin 19.16 (exercise 10)"),
    Measure("learning_return", "Mean return while learning", "control", True, REAL,
            "learning curves", unsupervised.learning_return, np.inf,
            "area under the learning curve / episodes", "Alpaydin 19.16 (exercise 10)"),
    Measure("learning_steps", "Steps of training", "control", False, POSITIVE, "learning curves",
            unsupervised.learning_steps, 0.0, "sum of the lengths of episodes"),
)  # fmt: skip
TASKS = tuple(dict.fromkeys(entry.task for entry in MEASURES))
BY_NAME = {entry.name: entry for entry in MEASURES}
ALIASES = {
    "recall": "tp_rate",
    "sensitivity": "tp_rate",
    "hit_rate": "tp_rate",
    "false_alarm_rate": "fp_rate",
    "f1": "f_score",
    "roc_auc": "auc",
    "expected_cost": "risk",
    "mean_cost": "risk",
    "mse": "mean_squared_error",
    "rmse": "root_mean_squared_error",
    "mae": "mean_absolute_error",
}


def measure(name: str, **options: Any) -> Measure:
    """Return the measure called `name`, with `options` fixed.

    Parameters
    ----------
    name
        A name of `measures`, or an alias such as ``"recall"``; blanks and hyphens count as
        underscores.
    options
        Keyword arguments of the measure, such as ``beta`` or ``loss``.

    Examples
    --------
    >>> from verulam.measures import measure
    >>> measure("f_score", beta=2.0)([0, 1, 1], [1, 0, 1])
    0.5
    >>> measure("acuracy")
    Traceback (most recent call last):
    verulam.base.UnknownNameError: Unknown measure 'acuracy'. Nearest: accuracy, ...
    """
    plain = name.lower().replace("-", "_").replace(" ", "_")
    entry = BY_NAME.get(ALIASES.get(plain, plain))
    if entry is None:
        raise unknown_name("measure", name, [*BY_NAME, *ALIASES])
    return entry.with_options(**options) if options else entry


def measures(task: Task | None = None) -> pd.DataFrame:
    """Return the table of measures, all or those of one `task`, indexed by name.

    Examples
    --------
    >>> from verulam.measures import measures
    >>> measures("regression").loc[["r2", "max_error"], ["greater_is_better", "range"]]
               greater_is_better        range
    name
    r2                      True  (-inf, 1.0)
    max_error              False   (0.0, inf)
    """
    if task not in (None, *TASKS):
        raise unknown_name("task", str(task), TASKS)
    fields = ["title", "task", "greater_is_better", "range", "perfect", "needs", "formula"]
    rows = [entry for entry in MEASURES if task in (None, entry.task)]
    table = pd.DataFrame([[getattr(row, name) for name in fields] for row in rows], columns=fields)
    table["citation"] = [row.citation for row in rows]
    table.index = pd.Index([row.name for row in rows], name="name")
    return table


def as_measure(scoring: str | Measure | Callable[..., float]) -> Measure:
    """Return a measure for a name, a measure, or a function of this package.

    Your own function has no known direction: wrap it with `Measure.from_function`.
    """
    if isinstance(scoring, Measure):
        return scoring
    if isinstance(scoring, str):
        return measure(scoring)
    for entry in MEASURES:
        if entry.function is scoring:
            return entry
    if callable(scoring):
        raise TypeError(
            f"The direction of {getattr(scoring, '__name__', scoring)!r} is not known: use "
            "Measure.from_function(function, greater_is_better=...)."
        )
    raise TypeError(f"A measure is a name, a Measure or a function, not {type(scoring).__name__}.")


def to_scorer(scoring: str | Measure | Callable[..., float]) -> MeasureScorer:
    """Return a scorer for scikit-learn's searches and cross-validation: larger is better.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.model_selection import cross_val_score
    >>> from verulam.measures import to_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> cross_val_score(DummyClassifier(), X, y, scoring=to_scorer("error"), cv=3).round(3)
    array([-0.68, -0.68, -0.68])
    """
    return MeasureScorer(as_measure(scoring))

"""Predictive distributions of numbers: intervals, and the densities of what was to predict."""

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from verulam.measures import INTERVAL_LEVEL


def gives_intervals(estimator: Any) -> bool:
    """Return whether a regressor says how sure it is, by intervals or standard deviations.

    Parameters
    ----------
    estimator
        The learner, perhaps at the end of a pipeline.

    Examples
    --------
    >>> from sklearn.linear_model import BayesianRidge, Ridge
    >>> gives_intervals(BayesianRidge()), gives_intervals(Ridge())
    (True, False)
    """
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    return hasattr(last, "predict_interval") or _gives_deviations(last)


def predicted_intervals(
    estimator: Any, inputs: Any, targets: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return ends of the intervals and the log-density of each target; None where none are given.

    Parameters
    ----------
    estimator
        A fitted regressor.
    inputs, targets
        Held-out rows, and what there was to predict.

    Notes
    -----
    A learner that tells its distribution (`predict_distribution`) is taken at its word; of one that
    tells standard deviations alone, the distribution is normal. One with intervals alone has no
    densities, which are NaN then.
    """
    densities = np.full(len(targets), np.nan)
    if hasattr(estimator, "predict_interval"):
        intervals = estimator.predict_interval(inputs, INTERVAL_LEVEL)
        lower, upper = np.asarray(intervals.lower), np.asarray(intervals.upper)
        if hasattr(estimator, "predict_distribution"):
            densities = estimator.predict_distribution(inputs).log_density(targets)
    elif _gives_deviations(estimator):
        means, deviations = estimator.predict(inputs, return_std=True)
        half = stats.norm.ppf(0.5 + INTERVAL_LEVEL / 2) * deviations
        lower, upper = means - half, means + half
        densities = stats.norm.logpdf(targets, means, deviations)
    else:
        return None
    return np.column_stack([lower, upper, densities]).astype(np.float64)


def _gives_deviations(estimator: Any) -> bool:
    predict = getattr(estimator, "predict", None)
    # Those of a baseline of scikit-learn are zeros, which say nothing.
    if predict is None or type(estimator).__module__.startswith("sklearn.dummy"):
        return False
    return "return_std" in inspect.signature(predict).parameters

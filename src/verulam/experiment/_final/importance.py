"""How much a model goes by each column: what shuffling the column costs on rows not learnt from."""

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from verulam.base import generator
from verulam.experiment._final.choice import Rebuilt
from verulam.experiment._final.estimate import predictions_of, score_of
from verulam.experiment._resampling.rows import Split
from verulam.measures import Measure

#: Splits that the learner is fitted to again, and columns that are then shuffled.
MOST_SPLITS, MOST_COLUMNS = 5, 50
#: Seconds after which no further split is begun.
PATIENCE = 30.0
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Importance:
    """How much worse a model is without what one column tells.

    Attributes
    ----------
    column
        The column that was shuffled.
    mean
        By how much the measure gets worse, on average over splits.
    low, high
        95 % interval of the mean; None for a single split.
    """

    column: str
    mean: float
    low: float | None = None
    high: float | None = None


def column_importances(
    rebuilt: Rebuilt, estimator: Any, measure: Measure
) -> tuple[Importance, ...]:
    """Return what shuffling each column costs, the costliest first.

    The learner is fitted to the training rows of up to five splits of the study again; on the
    other rows of each, one column after the other is shuffled.

    Parameters
    ----------
    rebuilt
        The data of the study with its splits.
    estimator
        The learner with the parameters of the final model; it is cloned.
    measure
        What decided.

    Notes
    -----
    The permutation importance of Breiman (2001), of the whole pipeline: a date, a text or a
    category is one column, whatever it becomes. The interval allows for the overlap of the
    training rows as the corrected resampled t test does. Columns that tell the same share what
    they tell: shuffling one of them costs little.
    """
    planned = rebuilt.planned
    columns = list(planned.inputs.columns)
    splits = [split for split in planned.splits if split.repeat == 0][:MOST_SPLITS]
    if not columns or len(columns) > MOST_COLUMNS or not splits:
        return ()
    begun, costs = time.monotonic(), []
    # One thread, as in the runs of the study: threads that wait for busy cores take far longer.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for split in splits:
            costs.append(_costs_on(rebuilt, clone(estimator), split, measure))
            if time.monotonic() - begun > PATIENCE:
                break
    table = np.array(costs)
    if not np.isfinite(table).all():
        return ()
    shares = [len(split.test) / max(1, len(split.train)) for split in splits[: len(table)]]
    importances = [
        _importance(str(name), table[:, place], float(np.mean(shares)))
        for place, name in enumerate(columns)
    ]
    return tuple(sorted(importances, key=lambda importance: -importance.mean))


def _costs_on(
    rebuilt: Rebuilt, estimator: Any, split: Split, measure: Measure
) -> NDArray[np.float64]:
    """Return for each column how much worse the measure is where the column is shuffled."""
    planned = rebuilt.planned
    estimator.fit(rebuilt.inputs(split.train), planned.targets[split.train])
    rows = split.test
    table, targets = rebuilt.inputs(rows), planned.targets[rows]
    intact = score_of(measure, predictions_of(estimator, table, targets, rebuilt.classes))
    random = generator(split.fold)
    costs = []
    for place in range(planned.inputs.shape[1]):
        shuffled = _with_shuffled(table, place, random.permutation(len(rows)))
        value = score_of(measure, predictions_of(estimator, shuffled, targets, rebuilt.classes))
        costs.append(intact - value if measure.greater_is_better else value - intact)
    return np.array(costs)


def _with_shuffled(table: Any, place: int, order: NDArray[np.intp]) -> Any:
    changed = table.copy()
    if isinstance(changed, pd.DataFrame):
        values = changed.iloc[:, place].iloc[order].to_numpy(copy=True)
        column = pd.Series(values, index=changed.index, dtype=changed.dtypes.iloc[place])
        return changed.assign(**{changed.columns[place]: column})
    changed[:, place] = changed[order, place]
    return changed


def _importance(name: str, costs: NDArray[np.float64], test_ratio: float) -> Importance:
    mean, count = float(costs.mean()), len(costs)
    if count < 2:
        return Importance(name, mean)
    # Training parts that overlap make costs look more alike than they are.
    spread = float(np.sqrt((1 / count + test_ratio) * costs.var(ddof=1)))
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, count - 1)) * spread
    return Importance(name, mean, mean - half, mean + half)

"""How much of what a final model knows each column accounts for, and what else it goes by."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from threadpoolctl import threadpool_limits

from verulam.experiment._analysis.analysis import Analysis
from verulam.experiment._final.estimate import CONFIDENCE
from verulam.experiment._final.insight import ModelInsight
from verulam.experiment._final.understanding import coefficients, dependences, model_text
from verulam.experiment._resampling.rows import Split
from verulam.experiment._store.predictions import hardest_rows
from verulam.experiment._store.responses import StoredContestant
from verulam.measures import Measure, to_scorer

if TYPE_CHECKING:
    from verulam.experiment._final.choice import Rebuilt

#: Splits that the learner is fitted to again, and columns that are then shuffled.
MOST_SPLITS, MOST_COLUMNS = 5, 50
#: Seconds after which no further split is begun.
PATIENCE = 30.0


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


@dataclass(frozen=True, eq=False)
class Refit:
    """The learner of a final model, fitted to the training rows of a split of the study."""

    split: Split
    estimator: Any

    @property
    def test_ratio(self) -> float:
        """Tested rows over those learnt from."""
        return len(self.split.test) / max(1, len(self.split.train))


def split_refits(rebuilt: "Rebuilt", estimator: Any) -> list[Refit]:
    """Return a learner fitted to the training rows of up to five splits of the study again.

    Parameters
    ----------
    rebuilt
        The data of the study with its splits.
    estimator
        The learner with the parameters of the final model; it is cloned.
    """
    splits = [split for split in rebuilt.planned.splits if split.repeat == 0][:MOST_SPLITS]
    begun, refits = time.monotonic(), []
    # One thread, as in the runs of the study: threads that wait for busy cores take far longer.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for split in splits:
            refits.append(Refit(split, rebuilt.fit(clone(estimator), split.train)))
            if time.monotonic() - begun > PATIENCE:
                break
    return refits


def column_importances(
    rebuilt: "Rebuilt", refits: Sequence[Refit], measure: Measure
) -> tuple[Importance, ...]:
    """Return what shuffling each column costs, the costliest first.

    On the rows of each split that were not learnt from, one column after the other is shuffled.

    Parameters
    ----------
    rebuilt
        The data of the study with its splits.
    refits
        The learner, fitted to the training rows of several splits.
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
    if not columns or len(columns) > MOST_COLUMNS or not refits:
        return ()
    begun, costs = time.monotonic(), []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for refit in refits:
            costs.append(_costs_on(rebuilt, refit, measure))
            if time.monotonic() - begun > PATIENCE:
                break
    table = np.array(costs)
    if not np.isfinite(table).all():
        return ()
    ratio = mean_test_ratio(refits[: len(table)])
    importances = [
        _importance(str(name), table[:, place], ratio) for place, name in enumerate(columns)
    ]
    return tuple(sorted(importances, key=lambda importance: -importance.mean))


def mean_test_ratio(refits: Sequence[Refit]) -> float:
    """Return the tested rows over those learnt from, on average over splits; 0 without any."""
    return float(np.mean([refit.test_ratio for refit in refits])) if refits else 0.0


def _costs_on(rebuilt: "Rebuilt", refit: Refit, measure: Measure) -> NDArray[np.float64]:
    """Return for each column how much worse the measure is where the column is shuffled."""
    split = refit.split
    shuffled = permutation_importance(
        refit.estimator,
        rebuilt.inputs(split.test),
        rebuilt.planned.targets[split.test],
        scoring=to_scorer(measure),
        n_repeats=1,
        random_state=split.fold,
        sample_weight=_weights_of(rebuilt, split.test, measure),
    )
    return np.asarray(shuffled.importances_mean)


def _weights_of(
    rebuilt: "Rebuilt", rows: NDArray[np.intp], measure: Measure
) -> NDArray[np.float64] | None:
    """Return what rows count in a measure; None where they, or it, make no difference."""
    weights = rebuilt.planned.weights
    if weights is None or not measure.takes_weights or not weights[rows].any():
        return None
    return weights[rows]


def _importance(name: str, costs: NDArray[np.float64], test_ratio: float) -> Importance:
    mean, count = float(costs.mean()), len(costs)
    if count < 2:
        return Importance(name, mean)
    # Training parts that overlap make costs look more alike than they are.
    spread = float(np.sqrt((1 / count + test_ratio) * costs.var(ddof=1)))
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, count - 1)) * spread
    return Importance(name, mean, mean - half, mean + half)


def model_insight(
    rebuilt: "Rebuilt", estimator: Any, analysis: Analysis, contestant: StoredContestant
) -> tuple[ModelInsight, list[str]]:
    """Return what a model goes by; where that cannot be measured, why, and nothing.

    Parameters
    ----------
    rebuilt
        The data of the study with its splits.
    estimator
        The final model.
    analysis, contestant
        What the study found, and who it is that became the model.
    """
    columns = list(map(str, rebuilt.planned.inputs.columns))
    worst = _worst_rows(analysis, rebuilt.planned.label, contestant)
    try:
        refits = split_refits(rebuilt, estimator)
        importances = column_importances(rebuilt, refits, analysis.measure)
        weights = coefficients(
            estimator, [refit.estimator for refit in refits], columns, mean_test_ratio(refits)
        )
        ranked = [row.column for row in importances if row.mean > 0] or columns
        return ModelInsight(
            tuple(map(asdict, importances)),
            tuple(map(asdict, weights)),
            model_text(estimator, columns),
            tuple(map(asdict, dependences(rebuilt, estimator, ranked))),
            worst,
        ), []
    # Any learner is fitted again, to fewer rows, which may break it in any way; the model stands.
    except Exception as error:
        words = " ".join(str(error).split())[:200]
        return ModelInsight(worst=worst), [
            f"What each column accounts for could not be measured: {words}"
        ]


def _worst_rows(
    analysis: Analysis, label: str, contestant: StoredContestant
) -> tuple[Mapping[str, Any], ...]:
    """Return the rows that the contestant predicted worst in the runs of the study."""
    pooled = analysis.predictions.pooled(label, contestant.learner, contestant.setting)
    return () if pooled is None else tuple(map(asdict, hardest_rows(pooled)))

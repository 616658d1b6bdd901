"""Predictions that a store holds, put together over the splits of a data set."""

import json
from dataclasses import dataclass

import numpy as np

from verulam.experiment._results import Results
from verulam.experiment._store import Store, unpack

_PREDICTIONS = """
SELECT d.classes, d.targets, s.test, r.predicted, r.probabilities
FROM planned p JOIN data d ON d.data = p.data JOIN splits s ON s.split = p.split
JOIN runs r ON r.run = p.run
WHERE p.study = ? AND p.label = ? AND p.learner = ? AND p.setting = ? AND r.status = 'done'
  AND p.share = (SELECT max(share) FROM planned WHERE study = p.study)
ORDER BY s.repeat, s.fold
"""


@dataclass(frozen=True, eq=False)
class PooledPredictions:
    """What a contestant predicted for every validated row, one split after the other.

    Attributes
    ----------
    classes
        Labels of the classes; none where the target is a number.
    targets, predicted
        True and predicted labels or numbers.
    probabilities
        One column per class; None where the learner gives none.
    """

    classes: tuple[str, ...]
    targets: np.ndarray
    predicted: np.ndarray
    probabilities: np.ndarray | None


def pooled_predictions(
    results: Results, data: str, learner: str, setting: str = ""
) -> PooledPredictions | None:
    """Return the predictions of a contestant on a data set; None where no run has finished.

    Parameters
    ----------
    results
        The study.
    data
        Label of the data set.
    learner, setting
        The contestant.
    """
    with Store(results.path, read_only=True) as store:
        rows = store.read(_PREDICTIONS, (results.study, data, learner, setting))
    if rows.empty:
        return None
    classes = np.array([str(label) for label in json.loads(rows["classes"].iloc[0])])
    stored = unpack(rows["targets"].iloc[0])
    assert stored is not None
    targets = np.concatenate([stored[unpack(test)] for test in rows["test"]])
    predicted = np.concatenate([np.atleast_1d(unpack(each)) for each in rows["predicted"]])
    probabilities = None
    if rows["probabilities"].notna().all():
        probabilities = np.concatenate([np.asarray(unpack(p)) for p in rows["probabilities"]])
    if len(classes):
        targets, predicted = classes[targets], classes[predicted]
    return PooledPredictions(tuple(classes.tolist()), targets, predicted, probabilities)

"""Names, aliases and the promises that every entry makes."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from verulam.base import UnknownNameError
from verulam.measures import (
    Measure,
    MeasureScorer,
    accuracy,
    as_measure,
    measure,
    measures,
    to_scorer,
)

TRUE = np.array([0, 1, 2, 1, 0, 2])
EXTRA = {"risk": {"loss": 1 - np.eye(3)}}
#: Measures of one prediction for each row.
PREDICTIVE = [
    name
    for name in measures().index
    if measure(name).needs in ("labels", "probabilities", "scores", "values")
]


def prediction_for(entry, codes):
    """Return a prediction that says `codes` in the form that the measure needs."""
    if entry.needs in ("probabilities", "scores"):
        return np.eye(3)[codes]
    return codes


@pytest.mark.parametrize("name", PREDICTIVE)
def test_perfect_prediction_has_the_perfect_value(name):
    entry = measure(name, **EXTRA.get(name, {}))
    assert entry(TRUE, prediction_for(entry, TRUE)) == pytest.approx(entry.perfect, abs=1e-12)


@pytest.mark.parametrize("name", PREDICTIVE)
def test_poor_prediction_is_worse_and_in_range(name):
    entry = measure(name, **EXTRA.get(name, {}))
    value = entry(TRUE, prediction_for(entry, np.array([2, 0, 1, 1, 1, 0])))
    assert entry.is_better(entry.perfect, value)
    assert entry.range[0] <= value <= entry.range[1]
    assert entry.perfect == (entry.range[1] if entry.greater_is_better else 0.0)


@pytest.mark.parametrize("name", PREDICTIVE)
def test_unit_weights_change_nothing(name):
    entry = measure(name, **EXTRA.get(name, {}))
    prediction = prediction_for(entry, np.array([0, 1, 1, 1, 1, 2]))
    weighted = entry(TRUE, prediction, sample_weight=np.ones(6))
    assert weighted == pytest.approx(entry(TRUE, prediction))


def test_lookup():
    assert measure("recall") is measure("tp-rate") is measure("Hit rate")
    assert measure("mse").name == "mean_squared_error"
    with pytest.raises(UnknownNameError, match=r"Unknown measure 'kapa'. Nearest: kappa, \w+, \w+"):
        measure("kapa")


def test_table():
    table = measures()
    tasks = ("classification", "regression", "density", "clustering", "control")
    assert len(table) == sum(len(measures(task)) for task in tasks)
    assert set(measures("regression")["task"]) == {"regression"}
    with pytest.raises(UnknownNameError, match="Unknown task 'ranking'"):
        measures("ranking")


def test_as_measure():
    assert as_measure("error") is as_measure(measure("error"))
    assert as_measure(accuracy) is measure("accuracy")
    assert isinstance(to_scorer(accuracy).measure, Measure)
    with pytest.raises(TypeError, match="direction of 'len' is not known"):
        as_measure(len)
    with pytest.raises(TypeError, match="not int"):
        as_measure(3)


def test_a_scorer_turns_what_should_be_small():
    learner = DummyClassifier().fit([[0], [1], [2]], [0, 0, 1])
    scorer = to_scorer("error")
    assert scorer == MeasureScorer(measure("error"))
    assert scorer(learner, [[0], [1], [2]], [0, 0, 1]) == pytest.approx(-1 / 3)

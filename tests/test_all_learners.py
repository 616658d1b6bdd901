"""Every learner of ours passes the public suite, check by check."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError
from verulam.catalogue import our_entries
from verulam.testing import learner_checks
from verulam.testing._samples import sample_for


def examples(entry):
    own = getattr(entry.learner_class, "_example_learners", None)
    return own() if own else [entry.make()]


def marks(check, number):
    """Leave scikit-learn's own checks of further configurations, the longest, to the long run."""
    return [pytest.mark.slow] if number and check.name == "scikit_learn" else []


CASES = [
    pytest.param(
        learner, check, id=f"{entry.name}-{number}-{check.name}", marks=marks(check, number)
    )
    for entry in our_entries()
    for number, learner in enumerate(examples(entry))
    for check in learner_checks(learner)
]


def test_there_are_learners():
    assert {"parametric.NaiveBayes", "parametric.GaussianClassifier"} <= {
        entry.name for entry in our_entries()
    }


@pytest.mark.parametrize(("learner", "check"), CASES)
def test_check(learner, check):
    check(learner)


def takes_tables(learner):
    inputs = sample_for(learner).inputs
    return isinstance(inputs, np.ndarray) and inputs.ndim == 2 and inputs.dtype.kind == "f"


@pytest.mark.parametrize(
    "learner",
    [
        pytest.param(learner, id=f"{entry.name}-{number}")
        for entry in our_entries()
        for number, learner in enumerate(examples(entry))
        if takes_tables(learner)
    ],
)
def test_columns_of_one_name_are_refused(learner):
    sample = sample_for(learner)
    columns = [f"c{number}" for number in range(sample.inputs.shape[1])]
    table = pd.DataFrame(np.hstack([sample.inputs, sample.inputs]), columns=columns * 2)
    listing = ", ".join(columns[:5])
    with pytest.raises(DataError, match=rf"Duplicate column names: {listing}.*Each must be unique"):
        learner.fit(table, *sample.arguments[1:])

"""Every learner of ours passes the public suite, check by check."""

import numpy as np
import pandas as pd
import pytest

from verulam.base import DataError, InSteps, clone
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


class Steps:
    """A callback of scikit-learn's that counts the steps of a training."""

    number = 0

    def setup(self, estimator, context):
        """Nothing is needed."""

    def teardown(self, estimator, context):
        """Nothing is needed."""

    def on_fit_task_begin(self, estimator, context):
        """Nothing is counted yet."""

    def on_fit_task_end(self, estimator, context):
        self.number += context.parent is not None


@pytest.mark.parametrize(
    "learner",
    [
        pytest.param(examples(entry)[0], id=entry.name)
        for entry in our_entries()
        if hasattr(entry.learner_class, "set_callbacks")
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_progress_is_told_of_long_trainings(learner):
    steps = Steps()
    fitted = clone(learner).set_callbacks(steps).fit(*sample_for(learner).arguments)
    assert steps.number > 0
    assert "_callback_fit_ctx" not in vars(fitted)


@pytest.mark.parametrize(
    "learner",
    [
        pytest.param(learner.set_params(**dict.fromkeys(repeats, 2)), id=f"{entry.name}-{number}")
        for entry in our_entries()
        if hasattr(entry.learner_class, "set_callbacks")
        for number, learner in enumerate(examples(entry))
        if (repeats := {"n_init", "n_chains"} & {*learner.get_params(deep=False)})
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_progress_is_told_of_all_starts_and_chains(learner, monkeypatch):
    known, fitted, loops, depth = InSteps._steps, clone(learner), [], 0

    def noted(self, items, name, total):
        nonlocal depth
        # Parts have loops of their own, and a loop of one step leaves the telling to those in it.
        if self is not fitted or total == 1:
            yield from known(self, items, name, total)
            return
        if not depth:
            loops.append(name)
        depth += 1
        try:
            yield from known(self, items, name, total)
        finally:
            depth -= 1

    monkeypatch.setattr(InSteps, "_steps", noted)
    fitted.set_callbacks(Steps()).fit(*sample_for(learner).arguments)
    # After the first, loops that do not lie in it are told to nobody.
    assert len(loops) <= 1

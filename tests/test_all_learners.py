"""Every learner of ours passes the public suite, check by check."""

import pytest

from verulam.catalogue import our_entries
from verulam.testing import learner_checks


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

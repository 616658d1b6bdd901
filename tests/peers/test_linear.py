"""Linear trainers beside Weka's, on the same rows."""

import numpy as np
import pandas as pd
import pytest
from tests.peers.conftest import classes_of

from verulam.linear import BalancedWinnow, LogisticDiscriminant, VotedPerceptron

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("default")]

SEEDS = range(5)


def _numbers(name):
    """Return scaled numbers of a data set in two parts, and whether each row is of one class."""
    X, y = classes_of(name)
    numbers = X.select_dtypes("number")
    scaled = (numbers - numbers.mean()) / numbers.std()
    first = y == sorted(set(y))[0]
    half = len(y) // 2
    return scaled[:half], first[:half], scaled[half:], first[half:]


@pytest.mark.parametrize("name", ["breast_cancer", "iris", "wine"])
@pytest.mark.parametrize("degree", [1, 2])
def test_votes_are_as_right_as_wekas(name, degree, weka_accuracy):
    data = _numbers(name)
    X, y, X_test, y_test = data
    ours = [
        VotedPerceptron(kernel="polynomial", degree=degree, max_iter=5, random_state=seed)
        .fit(X, y)
        .score(X_test, y_test)
        for seed in SEEDS
    ]
    theirs = weka_accuracy(
        "weka.classifiers.functions.VotedPerceptron", *data, ["-E", str(degree), "-I", "5"]
    )
    assert abs(np.mean(ours) - theirs) < 0.03


def test_winnow_is_as_right_as_wekas_among_irrelevant_inputs(weka_accuracy):
    random = np.random.default_rng(0)
    rows = (random.random(size=(2600, 60)) < 0.25).astype(int)
    classes = rows[:, :3].any(axis=1)
    table = pd.DataFrame(rows).add_prefix("x").astype("category")
    parts = table[:600], classes[:600], table[600:], classes[600:]
    theirs = weka_accuracy("weka.classifiers.functions.Winnow", *parts, ["-L", "-I", "50"])
    ours = [BalancedWinnow(random_state=seed).fit(rows[:600], classes[:600]) for seed in SEEDS]
    assert np.mean([each.score(rows[600:], classes[600:]) for each in ours]) > theirs - 0.02
    assert theirs > 0.8


@pytest.mark.parametrize("name", ["breast_cancer", "wine"])
def test_logistic_discrimination_is_as_right_as_wekas(name, weka_accuracy):
    data = _numbers(name)
    X, y, X_test, y_test = data
    ours = LogisticDiscriminant(alpha=0.1).fit(X, y).score(X_test, y_test)
    theirs = weka_accuracy("weka.classifiers.functions.Logistic", *data, ["-R", "0.1"])
    assert abs(ours - theirs) < 0.01

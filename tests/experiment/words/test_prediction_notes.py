"""Classes that are never predicted and measures without a value are told."""

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import LinearSVC

from verulam.data import Dataset
from verulam.experiment import analyse, compare


@pytest.fixture(scope="module")
def rare():
    """Return rows of two clear classes and a rare one inside of the first."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": np.r_[rng.normal(0, 1, 200), rng.normal(6, 1, 100)]})
    table["kind"] = ["a"] * 190 + ["rare"] * 10 + ["b"] * 100
    return Dataset.from_frame(table, target="kind", name="kinds")


def overlooked(data, *learners):
    comparison = compare(data, list(learners), progress=False)
    return [line for line in comparison.analysis.notes if "never predicts" in line]


def test_a_class_without_predictions_is_named_with_its_share(rare):
    (line,) = overlooked(rare, "majority class", "naive bayes")
    assert line.startswith("Naive Bayes never predicts 'rare' on kinds, which is 3.3% of the rows.")
    assert "balanced_accuracy" in line


def test_nothing_is_said_of_baselines_and_where_all_classes_are_predicted(rare):
    assert overlooked(rare, "majority class") == []
    assert overlooked("iris", "majority class", "naive bayes") == []


def test_why_a_contestant_has_no_value_of_a_measure(tmp_path):
    path = tmp_path / "iris.sqlite"
    compare("iris", ["naive bayes", LinearSVC()], resampling="3-fold", progress=False, store=path)
    notes = analyse(path, "log_loss").notes
    assert "LinearSVC has no log loss: it gives no probabilities here." in notes
    assert not any("has no error" in line for line in analyse(path, "error").notes)

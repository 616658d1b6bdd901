"""Classes that the recommended contestant never predicts are told."""

import numpy as np
import pandas as pd
import pytest

from verulam.data import Dataset
from verulam.experiment import compare


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
    assert line.startswith("parametric.NaiveBayes never predicts 'rare' on kinds, which is 3.3% of")
    assert "balanced_accuracy" in line


def test_nothing_is_said_of_baselines_and_where_all_classes_are_predicted(rare):
    assert overlooked(rare, "majority class") == []
    assert overlooked("iris", "majority class", "naive bayes") == []

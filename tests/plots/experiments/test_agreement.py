"""Agreement: cells of a matrix of shares, and reliability against scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.calibration import calibration_curve

from verulam.base import DataError
from verulam.plots import calibration_curves, share_matrix
from verulam.plots._experiments.agreement import reliability


def test_own_cells_are_left_out():
    table = pd.DataFrame(np.full((3, 3), 0.5), list("abc"), list("abc"))
    table.loc["a", "b"] = np.nan
    axes = share_matrix(table, label="shared errors")
    assert len(axes.texts) == 5
    assert axes.get_title(loc="left") == "shared errors"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a [1]", "b [2]", "c [3]"]


def test_reliability_matches_scikit_learn():
    rng = np.random.default_rng(0)
    forecast = rng.uniform(size=400)
    positive = rng.uniform(size=400) < forecast**2
    promised, happened = reliability(positive, forecast)
    share, mean = calibration_curve(positive, forecast, n_bins=10, strategy="quantile")
    assert_allclose(promised, mean)
    assert_allclose(happened, share)


def test_honest_probabilities_lie_on_the_diagonal():
    rng = np.random.default_rng(1)
    forecast = rng.uniform(size=20_000)
    promised, happened = reliability(rng.uniform(size=20_000) < forecast, forecast)
    assert_allclose(promised, happened, atol=0.03)


def test_equal_probabilities_stay_together():
    promised, happened = reliability([1, 0, 1, 1], [0.2, 0.2, 0.9, 0.9], bins=5)
    assert_allclose(promised, [0.2, 0.9])
    assert_allclose(happened, [0.5, 1.0])


def test_one_curve_each_beside_the_diagonal():
    curves = {name: ([0, 1, 1], [0.1, 0.6, 0.9]) for name in ("one", "other")}
    axes = calibration_curves(curves)
    assert len(axes.lines) == 3
    assert axes.get_legend_handles_labels()[1] == ["one", "other"]


def test_a_rare_class_fills_the_picture():
    axes = calibration_curves({"rare": ([0, 0, 0, 1], [0.01, 0.02, 0.03, 0.2])})
    assert 0.2 < axes.get_xlim()[1] == axes.get_ylim()[1]
    common = calibration_curves({"common": ([0, 1, 1, 1], [0.1, 0.5, 0.7, 0.9])})
    assert common.get_xlim() == (-0.02, 1.02)


def test_unequal_columns():
    with pytest.raises(DataError, match="must be columns of equal length"):
        reliability([0, 1], [0.5])

"""Pictures of the theory of learning: what is drawn is what the records say."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from verulam.base import DataError
from verulam.plots import bias_and_variance, bound_and_simulation, labelings_grid, version_space
from verulam.rule import BoxClassifier
from verulam.theory import LearningSimulation, bias_variance, shatters


def test_labelings_without_a_hypothesis_are_crossed_out():
    axes = labelings_grid(shatters([[0, 0], [0, 1], [1, 0], [1, 1]]))
    assert len(axes.patches) == 16
    assert len(axes.lines) == 2
    with pytest.raises(DataError, match="not of 1"):
        labelings_grid(shatters([[0], [1]]))


def test_boxes_of_the_version_space():
    X, y = [[2, 2], [3, 4], [0, 3], [5, 3], [3, 0], [2, 6]], [1, 1, 0, 0, 0, 0]
    learner = BoxClassifier().fit(X, y)
    axes = version_space(learner, X, y)
    assert len(axes.patches) == 2 + len(learner.general_)
    tightest = axes.patches[0]
    assert tightest.get_xy() == (2, 2)
    assert (tightest.get_width(), tightest.get_height()) == (1, 2)
    with pytest.raises(DataError, match="no most general boxes"):
        version_space(BoxClassifier(hypothesis="specific").fit(X, y), X, y)
    with pytest.raises(DataError, match="two columns"):
        version_space(learner, [[1], [2]], [0, 1])


def test_the_bound_stands_beside_the_simulated_shares():
    runs = [
        LearningSimulation(np.array([0.2, 0.0]), 0.1, 10, 0.5, (0.1, 0.9)),
        LearningSimulation(np.array([0.0, 0.0]), 0.1, 50, 0.0, (0.0, 0.6)),
    ]
    axes = bound_and_simulation(runs, [1.0, 0.3])
    assert axes.lines[0].get_ydata().tolist() == [1.0, 0.3]
    assert axes.lines[1].get_ydata().tolist() == [0.5, 0.0]
    with pytest.raises(DataError, match="2 simulations, but 1 bounds"):
        bound_and_simulation(runs, [1.0])


def test_fits_their_mean_and_the_target():
    points = np.linspace(0, 1, 9)[:, None]
    parts = bias_variance(
        LinearRegression(),
        lambda X: X[:, 0] ** 2,
        lambda count, random: random.random((count, 1)),
        points,
        noise=0.1,
        n_samples=10,
        n_repeats=5,
    )
    axes = bias_and_variance({"line": parts, "again": parts}, points[:, 0] ** 2)
    assert len(axes) == 2
    assert len(axes[0].lines) == 5 + 2
    np.testing.assert_allclose(axes[0].lines[5].get_ydata(), parts.mean)
    np.testing.assert_allclose(axes[0].lines[6].get_ydata(), points[:, 0] ** 2)

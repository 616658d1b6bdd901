"""The picture of a comparison."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from verulam.plots._experiments.comparison import comparison


@pytest.fixture
def compared():
    scores = pd.DataFrame(
        {
            "learner": ["simple"] * 3 + ["fancy"] * 3 + ["broken"] * 3,
            "score": [0.1, 0.2, 0.3, 0.05, 0.1, 0.15, np.nan, np.nan, np.nan],
        }
    )
    return SimpleNamespace(
        scores=lambda: scores, measure=SimpleNamespace(title="Error", range=(0.0, 1.0))
    )


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_points_means_and_labels(compared, ax):
    assert comparison(compared, ax=ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == ["simple", "fancy", "broken"]
    assert ax.get_xlabel() == "Error"
    points = [line for line in ax.lines if line.get_marker() == "o"]
    assert_allclose(points[0].get_xdata(), [0.1, 0.2, 0.3])
    means = [container.lines[0].get_xdata()[0] for container in ax.containers]
    assert_allclose(means, [0.2, 0.1])


def test_the_first_learner_is_on_top(compared, ax):
    comparison(compared, ax=ax)
    bottom, top = ax.get_ylim()
    assert bottom > top


def test_axes_are_made_where_none_are_given(compared):
    axes = comparison(compared)
    assert len(axes.containers) == 2
    plt.close(axes.figure)


def test_a_single_run_has_no_spread(ax):
    one = SimpleNamespace(
        scores=lambda: pd.DataFrame({"learner": ["only"], "score": [0.5]}),
        measure=SimpleNamespace(title="Error", range=(0.0, 1.0)),
    )
    comparison(one, ax=ax)
    assert_allclose(ax.lines[0].get_xdata(), [0.5])
    assert_allclose(ax.containers[0].lines[2][0].get_segments()[0][:, 0], [0.5, 0.5])

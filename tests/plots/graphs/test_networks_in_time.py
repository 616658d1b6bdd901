"""Diagrams of networks for sequences: what is drawn for each kind, and refusals."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, Rectangle

from verulam.base import DataError
from verulam.neural import MLPRegressor, RecurrentRegressor, TimeDelayRegressor
from verulam.plots import delay_diagram, recurrent_diagram

SIGNALS = list(np.random.default_rng(0).normal(size=(4, 6, 1)))


def recurrent(*feedback):
    return RecurrentRegressor(3, feedback=feedback, tol=1.0, random_state=0).fit(SIGNALS, SIGNALS)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def arrows(axes):
    """Return whether each arrow is dashed."""
    return [p.get_linestyle() == "--" for p in axes.patches if isinstance(p, FancyArrowPatch)]


@pytest.mark.parametrize("feedback", ["hidden", "output", "output-hidden"])
def test_each_kind_of_feedback_is_one_dashed_arrow(feedback):
    axes = recurrent_diagram(recurrent(feedback))
    assert axes.get_title() == f"1-3-1, feedback: {feedback}"
    assert arrows(axes) == [False, False, True]
    assert [text.get_text() for text in axes.texts] == ["$x$ (1)", "$z$ (3)", "$y$ (1)"]


def test_unfolding_leads_all_feedback_to_the_next_step():
    axes = recurrent_diagram(recurrent("hidden", "output-hidden"), n_steps=4)
    boxes = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert len(boxes) == 12
    assert sum(arrows(axes)) == 2 * 3
    assert len(arrows(axes)) == 2 * 4 + 6
    starts = [p._posA_posB for p in axes.patches if isinstance(p, FancyArrowPatch)][-6:]
    assert all(end[0] > start[0] for start, end in starts)


def test_a_window_is_a_chain_of_delays_below_a_perceptron():
    net = MLPRegressor(2, tol=1.0, random_state=0)
    short = TimeDelayRegressor(net, window_size=3).fit(SIGNALS, SIGNALS)
    texts = [text.get_text() for text in delay_diagram(short).texts]
    assert texts[:5] == ["$x^{t}$", "$x^{t-1}$", "$x^{t-2}$", "$z$ (2)", "$y^{t}$"]
    assert texts[5:] == ["delay", "delay"]
    long = TimeDelayRegressor(net, window_size=9).fit(
        [np.arange(12.0)[:, None]], [np.ones((12, 1))]
    )
    texts = [text.get_text() for text in delay_diagram(long).texts]
    assert "$x^{t-8}$" in texts
    assert "4 delays" in texts


def test_refusals():
    flat = MLPRegressor(2, tol=1.0, random_state=0).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(DataError, match="expected a recurrent network, not MLPRegressor"):
        recurrent_diagram(flat)
    with pytest.raises(DataError, match="expected a time-delay network, not MLPRegressor"):
        delay_diagram(flat)
    with pytest.raises(DataError, match="n_steps must be a whole number of at least 1; got 0"):
        recurrent_diagram(recurrent("hidden"), n_steps=0)

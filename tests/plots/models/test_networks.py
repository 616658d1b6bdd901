"""Pictures of networks: what is drawn is what the network has."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from verulam.base import DataError
from verulam.neural import (
    CascadeCorrelationClassifier,
    ConvolutionalClassifier,
    MLPClassifier,
    MLPRegressor,
    RecurrentClassifier,
)
from verulam.plots import (
    film_strip,
    hidden_unit_curves,
    network_diagram,
    training_curves,
    weight_templates,
)

ROWS = np.random.default_rng(0).normal(size=(40, 3))
LABELS = np.arange(40) % 2

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_curves_and_the_best_epoch():
    history = pd.DataFrame(
        {"epoch": [1, 2, 3], "loss": [3.0, 2.0, 1.0], "validation_loss": [3.0, 2.5, 2.7]}
    )
    axes = training_curves(history)
    assert axes.lines[0].get_ydata().tolist() == [3.0, 2.0, 1.0]
    assert axes.lines[1].get_ydata().tolist() == [3.0, 2.5, 2.7]
    assert axes.lines[2].get_xdata() == [2, 2]
    assert axes.lines[2].get_label() == "least, epoch 2"
    alone = training_curves(history.assign(validation_loss=np.nan))
    assert len(alone.lines) == 1
    with pytest.raises(DataError, match="history_ of a fitted network"):
        training_curves(history.iloc[:0])


def test_lines_are_weights():
    mask = np.ones((3, 2), dtype=bool)
    mask[0, 1] = False
    table = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    net = MLPClassifier(2, masks=[mask, None], max_iter=3, random_state=0).fit(table, LABELS)
    axes = network_diagram(net)
    first = axes.collections[0]
    assert len(first.get_segments()) == 5
    largest = max(np.abs(weights).max() for weights in net.coefs_)
    widths = np.abs(net.coefs_[0][mask]) / largest * 3.0
    np.testing.assert_allclose(first.get_linewidths(), widths)
    assert [text.get_text() for text in axes.texts] == ["a", "b", "c"]
    with pytest.raises(DataError, match="2 names for 3 inputs"):
        network_diagram(net, input_names=["x", "y"])


def test_large_layers_are_shortened():
    net = MLPClassifier(40, max_iter=1, random_state=0).fit(ROWS, LABELS)
    axes = network_diagram(net)
    assert len(axes.collections[0].get_segments()) == 3 * 12
    assert [text.get_text() for text in axes.texts] == ["\u22ee"]


def test_units_of_a_cascade_see_all_before_them():
    table = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    net = CascadeCorrelationClassifier(max_units=2, goal=0.0, tol=0.0, random_state=0)
    axes = network_diagram(net.fit(table, ROWS[:, 0] * ROWS[:, 1] > 0))
    assert axes.get_title() == "3-1-1-2"
    lines = [segment for part in axes.collections for segment in _segments(part)]
    widths = [
        width for part in axes.collections if _segments(part) for width in part.get_linewidths()
    ]
    # Three inputs to two units, one unit to the next, and all five to two outputs.
    assert len(lines) == len(widths) == 2 * 3 + 1 + 5 * 2
    into_second = np.abs(net.hidden_[1][1:])
    np.testing.assert_allclose(widths[3:7], 3.0 * into_second / into_second.max())
    assert [text.get_text() for text in axes.texts] == ["a", "b", "c"]
    # No two lines lie on one another.
    assert len({tuple(np.round(segment, 6).ravel()) for segment in lines}) == len(lines)


def _segments(part):
    return part.get_segments() if hasattr(part, "get_segments") else []


def test_other_learners_have_no_diagram():
    with pytest.raises(DataError, match="expected a fitted network of verulam"):
        network_diagram(LogisticRegression().fit(ROWS, LABELS))


def test_parts_of_hidden_units_add_up_to_the_fit():
    x = np.linspace(-1, 1, 30)
    net = MLPRegressor(2, activation="tanh", solver="lbfgs", random_state=0)
    net.fit(x[:, None], x**2)
    axes = hidden_unit_curves(net, x)
    *parts, fit = [curve.get_ydata() for curve in axes[2].lines]
    np.testing.assert_allclose(np.sum(parts, axis=0) + net.intercepts_[1], fit)
    np.testing.assert_allclose(np.tanh(axes[0].lines[1].get_ydata()), axes[1].lines[1].get_ydata())
    with pytest.raises(DataError, match="not 3-4-1"):
        hidden_unit_curves(MLPRegressor(4, max_iter=1).fit(ROWS, LABELS), x)


def test_templates_are_weights():
    net = MLPClassifier(3, max_iter=2, random_state=0).fit(np.hstack([ROWS, ROWS]), LABELS)
    axes = weight_templates(net, (2, 3))
    assert [ax.get_title() for ax in axes] == ["unit 1", "unit 2", "unit 3"]
    for unit, ax in enumerate(axes):
        image = ax.images[0]
        np.testing.assert_allclose(image.get_array(), net.coefs_[0][:, unit].reshape(2, 3))
        assert image.get_clim() == (-np.abs(net.coefs_[0]).max(), np.abs(net.coefs_[0]).max())
    assert len(weight_templates(net, (2, 3), most=2)) == 2
    with pytest.raises(DataError, match="2 by 2 are 4 weights; a unit has 6"):
        weight_templates(net, (2, 2))


class TestFilmStrip:
    def test_fits_by_epoch(self):
        x = np.linspace(-1, 1, 20)
        net = MLPRegressor(3, activation="tanh", solver="sgd", random_state=0, max_iter=50)
        axes = film_strip(net, x[:, None], x**2, [1, 3, 10])
        assert [ax.get_title() for ax in axes] == ["epoch 1", "epoch 3", "epoch 10"]
        assert net.n_iter_ == 10
        again = MLPRegressor(3, activation="tanh", solver="sgd", random_state=0, max_iter=50)
        for epoch in again.epochs(x[:, None], x**2):
            if epoch.number == 3:
                break
        curve = axes[1].lines[1]
        np.testing.assert_array_equal(
            curve.get_ydata(), again.predict(np.asarray(curve.get_xdata())[:, None])
        )

    def test_regions_by_epoch(self):
        net = MLPClassifier(3, random_state=0, max_iter=5)
        axes = film_strip(net, ROWS[:, :2], LABELS, [2, 5])
        assert [len(ax.images) for ax in axes] == [1, 1]
        assert all(ax.get_legend() is None for ax in axes)

    def test_an_early_end_is_told(self):
        x = np.linspace(-1, 1, 20)
        net = MLPRegressor(2, random_state=0, max_iter=4)
        axes = film_strip(net, x[:, None], x, [2, 10, 20])
        assert [ax.get_title() for ax in axes] == ["epoch 2", "epoch 4, the last"]

    def test_refusals(self):
        with pytest.raises(DataError, match=r"classifier of 2 input\(s\)"):
            film_strip(MLPClassifier(), ROWS, LABELS, [1])
        with pytest.raises(DataError, match="rising numbers"):
            film_strip(MLPClassifier(), ROWS[:, :2], LABELS, [3, 1])


class TestOtherNetworks:
    def test_feedback_is_named(self):
        table = pd.DataFrame(ROWS, columns=["first", "second", "third"])
        net = RecurrentClassifier(2, max_iter=2, random_state=0).fit(table, LABELS)
        assert network_diagram(net).get_title() == "1-2-1, feedback: hidden"
        with pytest.raises(DataError, match="not 1-2-1 with feedback"):
            hidden_unit_curves(net, np.linspace(0, 1, 5))

    def test_patches_are_not_drawn_as_layers(self):
        images = np.random.default_rng(0).normal(size=(6, 25))
        net = ConvolutionalClassifier(2, max_iter=2, random_state=0).fit(images, LABELS[:6])
        with pytest.raises(DataError, match="ConvolutionalClassifier see patches"):
            network_diagram(net)

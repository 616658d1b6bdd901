"""Pictures of densities: curves, strips of decisions, areas of error, contours."""

import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection, PathCollection
from matplotlib.contour import ContourSet
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal, norm, poisson
from sklearn.mixture import GaussianMixture

from verulam.decision import KnownDensities
from verulam.parametric import GaussianClassifier
from verulam.plots import densities_1d, density_contours, log_odds_curve


@pytest.fixture
def attack():
    return KnownDensities([0.6, 0.4], {"normal": norm(0, 1), "attack": norm(2, 1)})


def names_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_curves_are_prior_times_density(attack):
    ax = densities_1d(attack)
    first, second, boundary = ax.lines
    assert_allclose(first.get_ydata(), 0.6 * norm(0, 1).pdf(first.get_xdata()))
    assert_allclose(second.get_ydata(), 0.4 * norm(2, 1).pdf(second.get_xdata()))
    assert_allclose(boundary.get_xdata(), attack.regions().boundaries[0])
    assert names_of(ax) == ["normal", "attack"]


def test_strip_shows_each_decision_and_names_the_rejection(attack):
    ax = densities_1d(attack, reject_cost=0.2)
    edges = attack.regions(reject_cost=0.2).boundaries
    strips = sorted((patch.get_x(), patch.get_x() + patch.get_width()) for patch in ax.patches)
    low, high = ax.get_xlim()
    assert_allclose(strips, [(low, edges[0]), tuple(edges), (edges[1], high)])
    assert set(names_of(ax)) == {"normal", "attack", "reject"}


def test_threshold_fills_both_kinds_of_error(attack):
    ax = densities_1d(attack, threshold=0.5)
    areas = [c for c in ax.collections if isinstance(c, FillBetweenPolyCollection)]
    assert [area.get_label() for area in areas] == [
        "normal taken for attack",
        "attack taken for normal",
    ]
    corners = [area.get_paths()[0].vertices[:, 0] for area in areas]
    assert_allclose(corners[0].min(), 0.5)
    assert_allclose(corners[1].max(), 0.5)


def test_integers_are_marked_and_cut_halfway():
    ax = densities_1d(KnownDensities(None, [poisson(2), poisson(9)]), threshold=5)
    assert ax.lines[0].get_marker() == "o"
    assert_allclose(ax.lines[2].get_xdata(), 4.5)
    assert ax.get_ylabel() == "prior × probability"


def test_what_cannot_be_drawn_on_a_line_is_refused(attack):
    flat = multivariate_normal([0, 0])
    with pytest.raises(ValueError, match="needs one input, but the model has 2"):
        densities_1d(KnownDensities(None, [flat, flat]))
    with pytest.raises(ValueError, match="threshold is for two classes"):
        densities_1d(KnownDensities(None, [norm(0), norm(1), norm(2)]), threshold=1)


def test_log_odds_cross_zero_at_the_boundary(attack):
    """Between equal variances they fall in a straight line: log(6/4) + 2 - 2x."""
    ax = log_odds_curve(attack)
    curve, zero, boundary = ax.lines
    assert_allclose(curve.get_ydata(), np.log(1.5) + 2.0 - 2.0 * curve.get_xdata())
    assert_allclose(zero.get_ydata(), 0.0)
    assert_allclose(boundary.get_xdata(), 1.0 + 0.5 * np.log(1.5))
    strips = sorted((patch.get_x(), patch.get_facecolor()) for patch in ax.patches)
    assert len(strips) == 2
    assert strips[0][1][2] > strips[0][1][0]  # blue, the first class, on the left
    assert [text.get_text() for text in ax.texts] == ["normal", "attack"]
    assert ax.get_ylabel() == "log odds of normal"


def test_log_odds_of_two_classes_of_one_input_only():
    with pytest.raises(ValueError, match=r"one input and two classes .* but it has 1 and 3"):
        log_odds_curve(KnownDensities(None, [norm(0), norm(1), norm(2)]))
    flat = multivariate_normal([0, 0])
    with pytest.raises(ValueError, match=r"one input and two classes .* but it has 2 and 2"):
        log_odds_curve(KnownDensities(None, [flat, flat]))


def contours_of(ax):
    return [c for c in ax.collections if isinstance(c, ContourSet)]


def test_contours_of_a_gaussian_run_at_the_deviations():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.repeat(["a", "b"], 200)
    model = KnownDensities(
        None, {"a": multivariate_normal([0, 0]), "b": multivariate_normal([0, 0])}
    )
    ax = density_contours(model, X, y, deviations=(2.0, 1.0))
    first, second = contours_of(ax)
    for path, radius in zip(first.get_paths(), (2, 1), strict=True):
        assert_allclose(np.hypot(*path.vertices.T), radius, atol=0.02)
    assert not np.allclose(first.get_edgecolor(), second.get_edgecolor())
    assert names_of(ax) == ["a", "b"]


def test_density_without_classes_has_one_set_of_contours():
    X = np.random.default_rng(1).normal(size=(60, 2))
    ax = density_contours(GaussianMixture(2, random_state=0).fit(X), X)
    assert len(contours_of(ax)) == 1
    assert sum(isinstance(c, PathCollection) for c in ax.collections) == 1
    assert ax.get_legend() is None


def test_class_densities_of_a_fitted_classifier():
    rng = np.random.default_rng(2)
    X, y = (
        rng.normal(size=(90, 2)) + np.repeat(np.eye(3)[:, :2] * 4, 30, axis=0),
        np.repeat([0, 1, 2], 30),
    )
    ax = density_contours(GaussianClassifier().fit(X, y), X, y)
    assert len(contours_of(ax)) == 3


def test_bad_densities_are_refused():
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="must have score_samples or class_log_density"):
        density_contours(object(), X)
    with pytest.raises(ValueError, match=r"X must have two columns, but its shape is \(3, 3\)"):
        density_contours(object(), np.zeros((3, 3)))
